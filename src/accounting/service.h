// accounting/service.h
//
// The accounting database for several threads: slurmctld has one, or slurmdbd. Facts and changes
// are written by one thread at a time; questions are answered on a connection of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/accounting.h"
#include "accounting/view.h"
#include "model/statistics.h"
#include "policy/apply.h"

namespace sluice {

struct ServiceOptions {
    sql::Target target;
    std::string cluster;  // of questions and changes that name none
    HiddenData hidden = {};
    std::vector<std::string> tracked_tres = {};  // resources that limits may name
    QosDefinitions qos = {};                     // of a new database; all accounts may use them
    // What a new database begins with, if it has associations; else it gives only its QOS.
    std::shared_ptr<const Policy> first = nullptr;
};

class AccountingService {
public:
    // Makes the first policy of a new database.
    static Result<std::unique_ptr<AccountingService>> open(ServiceOptions options, Time now);

    // ---- facts. Returns the number of the last fact that the database has.
    Result<std::uint64_t> deliver(const std::string& cluster,
                                  const std::vector<NumberedFact>& facts);
    Result<std::uint64_t> last_delivered(const std::string& cluster);
    Result<void> keep_script(const std::string& hash, std::string_view bytes);
    // The cluster has a record and associations from now on. `controller`: its name, and what it
    // tells about itself (control_host, control_port, has_gang).
    Result<void> register_cluster(const ClusterRecord& controller, Time now);

    // ---- the policy
    std::shared_ptr<const Policy> policy() const;
    // `bytes`: a PolicyChange. `facts` is asked for while no other change can happen.
    Result<void> change(std::string_view bytes, const AccountingCaller& actor,
                        const std::function<Result<PolicyFacts>(const PolicyChange&)>& facts,
                        Time now);

    // ---- rows of the answer; `bytes`: an AccountingQuestion
    Result<std::vector<std::string>> answer(std::string_view bytes, const AccountingCaller& viewer,
                                            Time now);

    Result<std::vector<LiveJob>> live_jobs(
        Time now);  // of all clusters; with no policy change meanwhile

    Result<void> roll_up(Time now);  // of all clusters
    Result<void> purge(const std::vector<PurgeRule>& rules, Time now,
                       const std::string& archive_directory);
    // Purge, LoadArchive and Import, of an administrator; ModifyJobs (modify_jobs.cc). Returns rows
    // of the answer.
    Result<std::vector<std::string>> obey(const AccountingOrder& order,
                                          const AccountingCaller& viewer, Time now);
    Result<std::vector<UsageImport>> imports_after(const std::string& cluster,
                                                   std::uint64_t number);
    Result<void> check_is_administrator(const AccountingCaller& viewer) const;
    Result<void> check_is_operator(const AccountingCaller& viewer) const;  // or administrator
    PassStatistics roll_ups() const;                                       // how long they took
    void clear_statistics();

private:
    AccountingService(ServiceOptions options, std::unique_ptr<Accounting> writer,
                      std::unique_ptr<Accounting> reader);
    Result<void> store_policy(Policy policy, const std::vector<Transaction>& why);
    Result<std::vector<std::string>> job_rows(JobSelection selection, const AccountingView& view,
                                              Time now);
    Result<std::vector<std::string>> usage_rows(const AccountingQuestion& question,
                                                const UsageQuestion& usage,
                                                const AccountingView& view);
    std::vector<std::string> cluster_names() const;
    Result<std::vector<std::string>> modify_jobs(const AccountingOrder& order,
                                                 const AccountingCaller& actor, Time now);

    const ServiceOptions options_;
    std::mutex writer_mutex_;
    std::unique_ptr<Accounting> writer_;
    std::mutex reader_mutex_;
    std::unique_ptr<Accounting> reader_;
    mutable std::mutex roll_ups_mutex_;
    PassStatistics roll_ups_;
    mutable std::mutex policy_mutex_;
    std::shared_ptr<const Policy> policy_;
};

// Of the users that the change names, as far as this host knows them.
std::map<std::string, UserId> uids_in(const PolicyChange& change);

// The policy of one cluster: its associations and wckeys, and records that are not deleted.
Policy policy_of_cluster(const Policy& policy, const std::string& cluster);

}  // namespace sluice
