// core/limits/usage_book.h
//
// What the jobs of each association (with those below it) and of each QOS have used. Amounts halve
// every PriorityDecayHalfLife, in steps: at each calculation the clock of the book advances.
//
// An amount is kept as it was when it last grew, with that time; what it is now is computed from
// those two and the clock, always in the same way. So a step of the clock changes one stored row,
// and a restart gives the same numbers, bit by bit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/used.h"

namespace sluice {

class UsageBook {
public:
    // Null: nothing was used.
    const UsedAmounts* of_association(std::uint32_t id) const;
    const UsedAmounts* of_qos(std::uint32_t id) const;
    Time clock() const { return clock_.as_of; }  // of the last step; Time{}: there was none
    Time last_reset() const { return clock_.last_reset; }
    std::uint64_t last_import() const { return clock_.last_import; }

    void add_to_association(std::uint32_t id, const UsedAmounts& amounts);
    void add_to_qos(std::uint32_t id, const UsedAmounts& amounts);
    // NoDecay of a QOS: from now on its amounts stay, also with a reset.
    void set_qos_decays(std::uint32_t id, bool decays);

    // A step of the clock, never back. Amounts have decayed by the half-life before; the new one
    // counts from now on.
    void advance(Time now, Seconds half_life);
    // All that decays is 0 from now on.
    void reset(Time now);
    // The first reset period begins, without a reset.
    void begin_period(Time now);
    void note_import(std::uint64_t number);
    // The controller's clock was set.
    void shift(Seconds by);
    // Associations that are gone for good leave no rows.
    void forget_associations(const std::set<std::uint32_t>& ids);
    std::set<std::uint32_t> associations() const;  // that have used something

    std::vector<StoredUsage> take_changes();  // since the last call
    std::vector<StoredUsage> rows() const;    // all of them, as they are stored
    void restore(const std::vector<StoredUsage>& rows);

    // Amounts are what rows and clock say; the text tells which are not.
    std::optional<std::string> broken() const;
    bool operator==(const UsageBook&) const = default;

private:
    struct Entry {
        StoredUsage row;
        UsedAmounts current;  // at the time of the clock
        bool operator==(const Entry&) const = default;
    };
    using Key = std::pair<UsageOf, std::uint32_t>;

    void add(Key key, const UsedAmounts& amounts);
    const UsedAmounts* find(Key key) const;
    UsedAmounts current_of(const StoredUsage& row) const;
    void settle(Entry& entry);  // its row is as of the clock
    void clock_changed() { changed_.insert({UsageOf::Clock, 0}); }

    std::map<Key, Entry> entries_;
    StoredUsage clock_;
    std::set<Key> changed_;  // not stored yet
};

}  // namespace sluice
