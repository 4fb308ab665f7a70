// core/limits/admission.h
//
// Which account, QOS and wckey a job may be charged to (AccountingStorageEnforce), and which it
// gets if it names none. Checked at submission and when one of them, or the partition, is changed;
// an accepted job stays when the policy changes, but starts only while its association exists.
#pragma once

#include <string>

#include "core/cluster.h"

namespace sluice {

// Whether jobs need an association. Until accounting has sent the first ones, they do not.
bool needs_association(const Cluster& cluster);

// Account, QOS and wckey as the job gets them: in lower case, with the defaults of the user.
struct ChargedTo {
    std::string account, qos, wckey;
    bool operator==(const ChargedTo&) const = default;
};
ChargedTo charged_to(const Cluster& cluster, UserId user, const JobTerms& demand,
                     std::string_view partitions);

// Whether the user's jobs in the partition may be charged so. `demand` has no absent values.
Result<void> check_charge(const Cluster& cluster, UserId user, const JobTerms& demand,
                          std::string_view partition);
// The same for a list of partitions, one of which must allow it.
Result<void> check_charge_in_any(const Cluster& cluster, UserId user, const JobTerms& demand,
                                 std::string_view partitions);
Result<void> check_wckey(const Cluster& cluster, UserId user, const std::string& wckey);

}  // namespace sluice
