// See limit_book.h.
#include "core/limits/limit_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cluster.h"
#include "core/limits/access.h"
#include "core/limits/associations.h"
#include "core/limits/qos.h"
#include "core/limits/tres.h"

namespace sluice {

namespace {

// Amounts and ends for limits on minutes, if there are such limits.
void weigh(const Cluster& cluster, const Job& job, LimitUse& use) {
    const AssociationTree& tree = cluster.associations();
    const bool counts = tree.limits_run_minutes() ||
                        (cluster.settings().enforce_safe && tree.limits_used_minutes());
    if (!counts || !is_live(job) || is_completing(job)) return;
    const Qos* qos = find_qos(cluster, qos_in_force(cluster, job.request->qos));
    const std::uint64_t factor = qos ? qos->usage_factor : kUnitFactor;
    const auto end = static_cast<std::uint64_t>(
        to_unix(*job.run.start_time + job.run.suspended + counted_length(job.time_limit)));
    for (const auto& [name, amount] : use.tres) use.weighed[name] = amount * factor;
    use.weighed["node"] = use.nodes.size() * factor;
    for (const auto& [name, amount] : use.weighed) use.weighed_ends[name] = amount * end;
}

void add_associations(const Cluster& cluster, const Job& job, LimitBook::Entry& entry) {
    const AssociationTree& tree = cluster.associations();
    if (!tree.has_limits()) return;
    for (const Association* each : associations_of(cluster, job)) {
        const std::vector<std::uint32_t>& counted = tree.counted(each->id);
        entry.associations.insert(entry.associations.end(), counted.begin(), counted.end());
    }
    std::sort(entry.associations.begin(), entry.associations.end());
    entry.associations.erase(std::unique(entry.associations.begin(), entry.associations.end()),
                             entry.associations.end());
}

LimitBook::Entry entry_for(const Cluster& cluster, const Job& job) {
    LimitBook::Entry entry{.qos = {qos_in_force(cluster, job.request->qos)},
                           .user = job.user,
                           .account = job.request->account};
    const Partition* partition = nullptr;
    for (const std::string& name : partitions_of(job)) {
        const Partition* each = cluster.find_partition(name);
        if (!partition) partition = each;
        if (each && !each->config.qos.empty()) entry.qos.push_back(each->config.qos);
    }
    std::sort(entry.qos.begin(), entry.qos.end());
    entry.qos.erase(std::unique(entry.qos.begin(), entry.qos.end()), entry.qos.end());
    add_associations(cluster, job, entry);
    entry.use.submitted = is_array_record(job) ? job.array_tasks.size() : 1;
    if (!job.run.allocation) return entry;
    entry.use.running = 1;
    entry.use.tres = tres_of(*job.run.allocation);
    if (partition)
        entry.use.tres["billing"] =
            billing_of(entry.use.tres, partition->config.tres_billing_weights,
                       cluster.settings().priority.billing);
    std::erase_if(entry.use.tres,
                  [](const auto& amount) { return amount.second == 0; });  // weights may make it 0
    entry.use.tres.erase("node");
    for (const NodeShare& share : job.run.allocation->nodes) entry.use.nodes[share.node] = 1;
    weigh(cluster, job, entry.use);
    return entry;
}

void add_use(LimitUse& sum, const LimitUse& part) {
    for (const auto& [name, amount] : part.tres) sum.tres[name] += amount;
    for (const auto& [node, jobs] : part.nodes) sum.nodes[node] += jobs;
    for (const auto& [name, amount] : part.weighed) sum.weighed[name] += amount;
    for (const auto& [name, amount] : part.weighed_ends) sum.weighed_ends[name] += amount;
    sum.running += part.running;
    sum.submitted += part.submitted;
}

template <typename Map>
void take_amounts(Map& sum, const Map& part) {
    for (const auto& [name, amount] : part) {
        auto held = sum.find(name);
        CHECK(held != sum.end() && held->second >= amount);
        held->second -= amount;
        if (held->second == 0) sum.erase(held);
    }
}

// Returns whether nothing is left.
bool take_use(LimitUse& sum, const LimitUse& part) {
    take_amounts(sum.tres, part.tres);
    take_amounts(sum.nodes, part.nodes);
    for (const auto& [name, amount] : part.weighed) {
        sum.weighed_ends[name] -= part.weighed_ends.at(name);
        sum.weighed[name] -= amount;
        if (sum.weighed[name] != 0) continue;
        sum.weighed.erase(name);
        sum.weighed_ends.erase(name);
    }
    CHECK(sum.running >= part.running && sum.submitted >= part.submitted);
    sum.running -= part.running;
    sum.submitted -= part.submitted;
    return sum == LimitUse{};
}

template <typename Map, typename Key>
void take_use(Map& map, const Key& key, const LimitUse& part) {
    auto found = map.find(key);
    CHECK(found != map.end());
    if (take_use(found->second, part)) map.erase(found);
}

LimitBook book_of(const Cluster& cluster) {
    LimitBook book;
    if (!cluster.settings().enforce_limits) return book;
    cluster.jobs().for_each([&](const Job& job) {
        if (!is_over(job)) book.put(job.id, entry_for(cluster, job));
    });
    return book;
}

}  // namespace

std::uint64_t LimitUse::held(const std::string& name) const {
    if (name == "node") return nodes.size();
    auto found = tres.find(name);
    return found == tres.end() ? 0 : found->second;
}

std::uint64_t LimitUse::seconds_left(const std::string& name, Time now) const {
    auto amount = weighed.find(name);
    if (amount == weighed.end()) return 0;
    const std::uint64_t left =
        weighed_ends.at(name) - amount->second * static_cast<std::uint64_t>(to_unix(now));
    // Jobs past their limits, which are about to end, may outweigh the others.
    return static_cast<std::int64_t>(left) < 0 ? 0 : left / kUnitFactor;
}

const QosUse* LimitBook::find(const std::string& qos) const {
    auto found = by_qos_.find(qos);
    return found == by_qos_.end() ? nullptr : &found->second;
}

const LimitUse* LimitBook::find_association(std::uint32_t id) const {
    auto found = by_association_.find(id);
    return found == by_association_.end() ? nullptr : &found->second;
}

const LimitBook::Entry* LimitBook::find(JobId job) const {
    auto found = jobs_.find(job.value);
    return found == jobs_.end() ? nullptr : &found->second;
}

void LimitBook::put(JobId job, Entry entry) {
    drop(job);
    for (const std::string& name : entry.qos) {
        QosUse& use = by_qos_[name];
        add_use(use.all, entry.use);
        add_use(use.of_user[entry.user], entry.use);
        add_use(use.of_account[entry.account], entry.use);
    }
    for (std::uint32_t id : entry.associations) add_use(by_association_[id], entry.use);
    jobs_.emplace(job.value, std::move(entry));
}

void LimitBook::drop(JobId job) {
    auto found = jobs_.find(job.value);
    if (found == jobs_.end()) return;
    const Entry& entry = found->second;
    has_more_room_ = has_more_room_ || entry.use.running > 0;
    for (const std::string& name : entry.qos) {
        auto use = by_qos_.find(name);
        CHECK(use != by_qos_.end());
        take_use(use->second.of_user, entry.user, entry.use);
        take_use(use->second.of_account, entry.account, entry.use);
        if (take_use(use->second.all, entry.use)) by_qos_.erase(use);
    }
    for (std::uint32_t id : entry.associations) take_use(by_association_, id, entry.use);
    jobs_.erase(found);
}

std::optional<std::string> LimitBook::broken(const Cluster& cluster) const {
    const LimitBook book = book_of(cluster);
    for (const auto& [id, entry] : jobs_) {
        const Entry* counted = book.find(JobId{id});
        if (!counted || *counted != entry)
            return fmt::format("job {} counts wrongly against limits", id);
    }
    if (book.jobs_.size() != jobs_.size()) return "a job does not count against limits";
    if (book.by_qos_ != by_qos_ || book.by_association_ != by_association_)
        return "what counts against limits does not add up";
    return {};
}

void count_job(Cluster& cluster, const Job& job) {
    if (!cluster.settings().enforce_limits) return;
    LimitBook& book = cluster.limits();
    if (is_over(job)) return book.drop(job.id);
    LimitBook::Entry entry = entry_for(cluster, job);
    const LimitBook::Entry* known = book.find(job.id);
    if (!known || *known != entry) book.put(job.id, std::move(entry));
}

Seconds counted_length(TimeLimit limit) {
    constexpr Seconds kYear{365 * 24 * 3600};
    return limit.unlimited() ? kYear : limit.length();
}

void count_anew(Cluster& cluster) {
    LimitBook book = book_of(cluster);
    book.has_more_room_ = true;
    cluster.limits() = std::move(book);
}

}  // namespace sluice
