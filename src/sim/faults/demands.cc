// sim/faults/demands.cc: what users and administrators of wide worlds come up with.
#include <fmt/format.h>

#include <algorithm>

#include "sim/faults/workload.h"

namespace sluice {
namespace {

constexpr const char* kLicense = "matlab";
constexpr std::uint32_t kLicenses = 3;
constexpr std::uint32_t kReservations = 3;  // r1, r2, r3
constexpr UserId kReservationUsers[] = {UserId{1000}, UserId{1001}};

std::string random_dependency(Dice& random, const std::vector<JobId>& known) {
    if (known.empty() || random.chance(0.2)) return "singleton";
    constexpr const char* kKinds[] = {"afterok", "afterany",  "afternotok",
                                      "after",   "aftercorr", "aftercorr"};
    std::size_t last =
        std::min<std::size_t>(known.size(), 8);  // among the latest: others have ended
    std::string text = kKinds[random.below(std::size(kKinds))];
    std::size_t count = 1 + random.below(2);
    for (std::size_t i = 0; i < count; ++i)
        text += fmt::format(":{}", known[known.size() - 1 - random.below(last)].value);
    return text;
}

}  // namespace

void widen(Dice& random, Settings& settings) {
    PartitionConfig half = settings.partitions.front();
    half.name = "half";
    half.is_default = false;
    half.nodes.resize((half.nodes.size() + 1) / 2);
    if (random.chance(0.5)) half.max_time = TimeLimit{Seconds{240}};
    if (random.chance(0.3)) half.max_nodes = 2;
    settings.partitions.push_back(std::move(half));
    settings.licenses = {{kLicense, kLicenses}};
    settings.reboot_program = "reboot";
    settings.kill_invalid_depend = random.chance(0.5);
    settings.resv_over_run = Seconds{random.chance(0.5) ? 0 : 60};
    settings.preempt.time_slice = Seconds{random.chance(0.5) ? 10 : 30};
    settings.priority.multifactor = random.chance(0.5);
    settings.priority.weight_age = 1000;
    settings.priority.max_age = Seconds{600};
    settings.priority.calc_period = Seconds{60};
    if (random.chance(0.2)) settings.backfill.enabled = false;
    if (random.chance(0.2)) settings.backfill.max_job_test = 3;
}

Settings changed(Dice& random, Settings settings) {
    if (random.chance(0.5) && settings.nodes.size() > 2) {
        std::string gone = settings.nodes[random.below(settings.nodes.size())].name;
        std::erase_if(settings.nodes, [&](const NodeConfig& node) { return node.name == gone; });
        for (PartitionConfig& partition : settings.partitions) std::erase(partition.nodes, gone);
    }
    if (random.chance(0.3)) settings.partitions.pop_back();
    PartitionConfig& one = settings.partitions[random.below(settings.partitions.size())];
    if (random.chance(0.3)) one.priority_tier = static_cast<std::uint32_t>(random.between(1, 3));
    if (random.chance(0.3)) one.max_time = TimeLimit{Seconds{random.between(60, 300)}};
    if (random.chance(0.3)) one.nodes.resize((one.nodes.size() + 1) / 2);
    if (random.chance(0.3)) {
        one.oversubscribe = {};
        if (!random.chance(0.5)) one.oversubscribe = {OverSubscription::Rule::Force, 2};
    }
    if (random.chance(0.2)) settings.licenses.front().second = 2;
    if (random.chance(0.2)) settings.preempt.gang = !settings.preempt.gang;
    return settings;
}

std::shared_ptr<const JobRequest> widened(Dice& random, const JobRequest& request,
                                          const std::vector<JobId>& known) {
    auto wide = std::make_shared<JobRequest>(request);
    wide->name = fmt::format("name{}", random.below(4));
    if (random.chance(0.15)) wide->licenses = fmt::format("{}:{}", kLicense, random.between(1, 2));
    if (random.chance(0.15))
        wide->reservation = fmt::format("r{}", random.between(1, kReservations));
    if (random.chance(0.2)) wide->dependency = random_dependency(random, known);
    if (random.chance(0.1) && wide->partition.empty())
        wide->partition = random.chance(0.5) ? "half" : "half,all";
    if (random.chance(0.1)) wide->kill_on_invalid_dep = random.chance(0.5);
    if (random.chance(0.1) && wide->time_limit) wide->time_min = TimeLimit{Seconds{30}};
    if (random.chance(0.05)) wide->warn_signal = WarnSignal{.signal = 10, .before = Seconds{20}};
    if (random.chance(0.2) && !wide->array) {
        wide->kind = JobKind::Interactive;
        wide->requeue = false;
        // Who disappears leaves it behind: it ends with its time.
        if (!wide->time_limit) wide->time_limit = TimeLimit{Seconds{random.between(60, 300)}};
        wide->hold = false;
        wide->immediate = random.chance(0.1);
    }
    return wide;
}

StepDemand random_step(Dice& random, JobId job) {
    StepDemand demand;
    demand.job = job;
    demand.name = "step";
    if (random.chance(0.5)) demand.ntasks = static_cast<std::uint32_t>(random.between(1, 3));
    if (random.chance(0.3)) demand.nodes_min = demand.nodes_max = 1;
    demand.exact = random.chance(0.5);
    demand.overlap = random.chance(0.2);
    if (random.chance(0.3)) demand.mem_per_cpu = random.between(1, 200);
    demand.immediate = random.chance(0.1);
    if (random.chance(0.1)) demand.gres_per_node = {{"gpu", "", 1}};
    return demand;
}

ReservationChange random_reservation(Dice& random, Time now, std::uint32_t nodes) {
    ReservationChange change;
    change.name = fmt::format("r{}", random.between(1, kReservations));
    if (random.chance(0.2)) {
        change.verb = ReservationChange::Verb::Delete;
        return change;
    }
    change.verb =
        random.chance(0.7) ? ReservationChange::Verb::Create : ReservationChange::Verb::Update;
    bool is_new = change.verb == ReservationChange::Verb::Create;
    if (is_new || random.chance(0.3)) change.start = now + Seconds{random.between(0, 300)};
    if (is_new || random.chance(0.5)) change.duration = Seconds{random.between(60, 600)};
    if (is_new || random.chance(0.2)) {
        change.users = ListChange<UserId>{};
        change.users->items = {kReservationUsers[random.below(std::size(kReservationUsers))]};
    }
    if (is_new || random.chance(0.3))
        change.node_count = static_cast<std::uint32_t>(random.between(1, std::max(1u, nodes / 3)));
    if (is_new && random.chance(0.2)) {
        change.node_count.reset();
        change.nodes = ListChange<std::string>{};
        change.nodes->items = {fmt::format("n{}", random.between(1, nodes))};
    }
    constexpr std::uint32_t kFlags[] = {
        kResvMaint,       kResvFlex,        kResvOverlap,  kResvIgnoreJobs, kResvDaily,
        kResvHourly,      kResvAnyNodes,    kResvMagnetic, kResvNoHoldJobs, kResvReplace,
        kResvReplaceDown, kResvStaticAlloc, kResvTimeFloat};
    while (random.chance(0.4)) change.flags_set |= kFlags[random.below(std::size(kFlags))];
    if (is_new && random.chance(0.2))
        change.licenses = fmt::format("{}:{}", kLicense, random.between(1, 2));
    if (is_new && random.chance(0.1))
        change.core_counts = {static_cast<std::uint32_t>(random.between(1, 4))};
    if (random.chance(0.1)) change.purge_after = Seconds{60};
    if (!is_new && random.chance(0.1)) change.skip = true;
    return change;
}

}  // namespace sluice
