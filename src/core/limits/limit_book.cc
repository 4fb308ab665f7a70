// See limit_book.h.
#include "core/limits/limit_book.h"

#include <algorithm>

#include "core/cluster.h"
#include "core/limits/qos.h"
#include "core/query/columns_of.h"
#include "core/schedule/queue.h"

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

void put_entry(LimitBook& book, std::uint32_t id, LimitBook::Entry entry) {
    for (const std::string& name : entry.qos) {
        QosUse& use = book.by_qos[name];
        add_use(use.all, entry.use);
        add_use(use.of_user[entry.user], entry.use);
        add_use(use.of_account[entry.account], entry.use);
    }
    book.jobs.emplace(id, std::move(entry));
}

void drop_entry(LimitBook& book, std::uint32_t id) {
    auto found = book.jobs.find(id);
    if (found == book.jobs.end()) return;
    const LimitBook::Entry& entry = found->second;
    book.has_more_room = book.has_more_room || entry.use.running > 0;
    for (const std::string& name : entry.qos) {
        auto use = book.by_qos.find(name);
        CHECK(use != book.by_qos.end());
        take_use(use->second.of_user, entry.user, entry.use);
        take_use(use->second.of_account, entry.account, entry.use);
        if (take_use(use->second.all, entry.use)) book.by_qos.erase(use);
    }
    book.jobs.erase(found);
}

LimitBook book_of(const Cluster& cluster) {
    LimitBook book;
    if (!cluster.settings().enforce_limits) return book;
    cluster.jobs().for_each([&](const Job& job) {
        if (!is_over(job)) put_entry(book, job.id.value, entry_for(cluster, job));
    });
    return book;
}

}  // namespace

void count_job(Cluster& cluster, const Job& job) {
    if (!cluster.settings().enforce_limits) return;
    LimitBook& book = cluster.limits;
    auto known = book.jobs.find(job.id.value);
    if (is_over(job)) return drop_entry(book, job.id.value);
    LimitBook::Entry entry = entry_for(cluster, job);
    if (known != book.jobs.end() && known->second == entry) return;
    drop_entry(book, job.id.value);
    put_entry(book, job.id.value, std::move(entry));
}

void count_anew(Cluster& cluster) {
    cluster.limits = book_of(cluster);
    cluster.limits.has_more_room = true;
}

bool is_counted_right(const Cluster& cluster) {
    const LimitBook book = book_of(cluster);
    return book.by_qos == cluster.limits.by_qos && book.jobs == cluster.limits.jobs;
}

}  // namespace sluice
