#include "core/limits/usage_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace sluice {

const UsedAmounts* UsageBook::find(Key key) const {
    auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second.current;
}

const UsedAmounts* UsageBook::of_association(std::uint32_t id) const {
    return find({UsageOf::Association, id});
}

const UsedAmounts* UsageBook::of_qos(std::uint32_t id) const {
    return find({UsageOf::Qos, id});
}

UsedAmounts UsageBook::current_of(const StoredUsage& row) const {
    if (!row.decays || clock_.half_life == Seconds{0} || clock_.as_of <= row.as_of)
        return row.amounts;
    return scaled(row.amounts, decay(clock_.as_of - row.as_of, clock_.half_life));
}

void UsageBook::settle(Entry& entry) {
    entry.row.amounts = entry.current;
    entry.row.as_of = clock_.as_of;
    changed_.insert({entry.row.of, entry.row.id});
}

void UsageBook::add(Key key, const UsedAmounts& amounts) {
    auto [place, is_new] = entries_.try_emplace(key);
    Entry& entry = place->second;
    if (is_new) entry.row = {.of = key.first, .id = key.second};
    for (const auto& [name, amount] : amounts.tres_seconds)
        entry.current.tres_seconds[name] += amount;
    entry.current.wall_seconds += amounts.wall_seconds;
    settle(entry);
}

void UsageBook::add_to_association(std::uint32_t id, const UsedAmounts& amounts) {
    add({UsageOf::Association, id}, amounts);
}

void UsageBook::add_to_qos(std::uint32_t id, const UsedAmounts& amounts) {
    add({UsageOf::Qos, id}, amounts);
}

void UsageBook::set_qos_decays(std::uint32_t id, bool decays) {
    auto found = entries_.find({UsageOf::Qos, id});
    if (found == entries_.end() || found->second.row.decays == decays) return;
    settle(found->second);
    found->second.row.decays = decays;
}

void UsageBook::advance(Time now, Seconds half_life) {
    if (clock_.as_of == Time{}) {  // nothing has decayed yet
        for (auto& [key, entry] : entries_) entry.row.as_of = now;
        for (const auto& [key, entry] : entries_) changed_.insert(key);
    }
    clock_.as_of = std::max(clock_.as_of, now);
    for (auto& [key, entry] : entries_) entry.current = current_of(entry.row);
    if (half_life != clock_.half_life) {
        for (auto& [key, entry] : entries_) settle(entry);
        clock_.half_life = half_life;
    }
    clock_changed();
}

void UsageBook::reset(Time now) {
    for (auto& [key, entry] : entries_) {
        if (!entry.row.decays) continue;
        entry.current = {};
        settle(entry);
    }
    clock_.last_reset = now;
    clock_changed();
}

void UsageBook::begin_period(Time now) {
    clock_.last_reset = now;
    clock_changed();
}

void UsageBook::note_import(std::uint64_t number) {
    clock_.last_import = number;
    clock_changed();
}

void UsageBook::shift(Seconds by) {
    if (clock_.as_of == Time{}) return;
    clock_.as_of += by;
    for (auto& [key, entry] : entries_) {
        entry.row.as_of += by;
        changed_.insert(key);
    }
    clock_changed();
}

void UsageBook::forget_associations(const std::set<std::uint32_t>& ids) {
    for (std::uint32_t id : ids) {
        auto found = entries_.find({UsageOf::Association, id});
        if (found == entries_.end()) continue;
        found->second.current = {};
        settle(found->second);
    }
}

std::set<std::uint32_t> UsageBook::associations() const {
    std::set<std::uint32_t> ids;
    for (const auto& [key, entry] : entries_) {
        if (key.first == UsageOf::Association) ids.insert(key.second);
    }
    return ids;
}

std::vector<StoredUsage> UsageBook::take_changes() {
    std::vector<StoredUsage> rows;
    rows.reserve(changed_.size());
    for (const Key& key : changed_) {
        if (key.first == UsageOf::Clock) {
            rows.push_back(clock_);
            continue;
        }
        auto found = entries_.find(key);
        CHECK(found != entries_.end());
        rows.push_back(found->second.row);
        if (is_gone(found->second.row)) entries_.erase(found);
    }
    changed_.clear();
    return rows;
}

std::vector<StoredUsage> UsageBook::rows() const {
    std::vector<StoredUsage> all;
    for (const auto& [key, entry] : entries_) all.push_back(entry.row);
    if (clock_ != StoredUsage{}) all.push_back(clock_);
    return all;
}

void UsageBook::restore(const std::vector<StoredUsage>& rows) {
    entries_.clear();
    clock_ = {};
    for (const StoredUsage& row : rows) {
        if (row.of == UsageOf::Clock)
            clock_ = row;
        else
            entries_[{row.of, row.id}].row = row;
    }
    for (auto& [key, entry] : entries_) entry.current = current_of(entry.row);
    changed_.clear();
}

std::optional<std::string> UsageBook::broken() const {
    for (const auto& [key, entry] : entries_) {
        if (key != Key{entry.row.of, entry.row.id} || entry.current != current_of(entry.row))
            return fmt::format("the usage of {} does not follow from its row",
                               usage_key(entry.row));
        const auto& amounts = entry.current.tres_seconds;
        const bool is_valid = std::all_of(amounts.begin(), amounts.end(),
                                          [](const auto& each) { return each.second >= 0; }) &&
                              entry.current.wall_seconds >= 0;
        if (!is_valid) return fmt::format("the usage of {} is negative", usage_key(entry.row));
    }
    return {};
}

}  // namespace sluice
