// See limit_book.h.
#include "core/limits/limit_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cluster.h"
#include "core/limits/access.h"
#include "core/limits/qos.h"
#include "core/limits/tres.h"

namespace sluice {

namespace {

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
    entry.use.submitted = is_array_record(job) ? job.array_tasks.size() : 1;
    if (!job.run.allocation) return entry;
    entry.use.running = 1;
    entry.use.tres = tres_of(*job.run.allocation);
    if (partition)
        entry.use.tres["billing"] =
            billing_of(entry.use.tres, partition->config.tres_billing_weights);
    std::erase_if(entry.use.tres,
                  [](const auto& amount) { return amount.second == 0; });  // weights may make it 0
    entry.use.tres.erase("node");
    for (const NodeShare& share : job.run.allocation->nodes) entry.use.nodes[share.node] = 1;
    return entry;
}

void add_use(LimitUse& sum, const LimitUse& part) {
    for (const auto& [name, amount] : part.tres) sum.tres[name] += amount;
    for (const auto& [node, jobs] : part.nodes) sum.nodes[node] += jobs;
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

const QosUse* LimitBook::find(const std::string& qos) const {
    auto found = by_qos_.find(qos);
    return found == by_qos_.end() ? nullptr : &found->second;
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
    if (book.by_qos_ != by_qos_) return "what counts against limits does not add up";
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

void count_anew(Cluster& cluster) {
    LimitBook book = book_of(cluster);
    book.has_more_room_ = true;
    cluster.limits() = std::move(book);
}

}  // namespace sluice
