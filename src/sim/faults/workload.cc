#include "sim/faults/workload.h"

#include "model/job_id.h"
#include "sim/world.h"

namespace sluice {
namespace {

constexpr std::uint32_t kCpus = 4, kGpus = 2;
constexpr std::int64_t kDurationMost = 240;  // seconds

// Some of the ways in which a site lets jobs make room for others, or share.
void add_preemption(Dice& random, Settings& settings) {
    settings.partitions.front().priority_tier = 1;
    PartitionConfig urgent = settings.partitions.front();
    urgent.name = kUrgent;
    urgent.is_default = false;
    urgent.priority_tier = 2;
    settings.partitions.push_back(std::move(urgent));
    constexpr const char* kModes[] = {"REQUEUE", "CANCEL", "SUSPEND,GANG", "REQUEUE,GANG"};
    const PreemptWords words = parse_preempt_words(kModes[random.below(std::size(kModes))]);
    settings.preempt.by = PreemptSettings::By::Partition;
    settings.preempt.mode = words.mode;
    settings.preempt.gang = words.gang;
    settings.partitions.front().grace_time = Seconds{random.between(0, 20)};
    if (random.chance(0.5))
        settings.partitions.front().oversubscribe = {OverSubscription::Rule::Force, 2};
}

}  // namespace

Settings random_settings(Dice& random, std::uint32_t nodes, bool with_preemption) {
    Settings settings = plain_settings(nodes, kCpus, kGpus);
    settings.config_overrides = true;
    settings.return_to_service = random.chance(0.5) ? 1 : 2;
    settings.slurmd_timeout = Seconds{60};
    settings.kill_wait = Seconds{5};
    settings.max_job_count = 0xffffffff;
    // Long enough that no client still repeats the submission of a job that is forgotten.
    settings.min_job_age = random.chance(0.5) ? Seconds{1800} : Seconds{1'000'000};
    settings.requeue_delay = Seconds{random.between(0, 3)};
    if (with_preemption) add_preemption(random, settings);
    return settings;
}

std::shared_ptr<const JobRequest> random_request(Dice& random, std::uint32_t nodes,
                                                 bool with_preemption) {
    auto request = std::make_shared<JobRequest>();
    if (with_preemption && random.chance(0.2))
        request->partition = request->qos = kUrgent;
    else if (with_preemption)
        request->qos = kPatient;
    request->name = "job";
    request->requeue = random.chance(0.7);
    request->hold = random.chance(0.03);
    if (random.chance(0.8)) request->time_limit = TimeLimit{Seconds{random.between(30, 300)}};
    Shape& shape = request->shape;
    shape.ntasks =
        static_cast<std::uint32_t>(1 + random.below(random.chance(0.2) ? 3 * kCpus : kCpus));
    if (random.chance(0.2)) shape.nodes_min = 2;
    if (shape.nodes_min > nodes) shape.nodes_min = nodes;
    shape.ntasks = std::max(shape.nodes_min, std::min(*shape.ntasks, nodes * kCpus));
    if (random.chance(0.3))
        shape.gres_per_node = {{"gpu", "", static_cast<std::uint64_t>(random.between(1, kGpus))}};
    if (random.chance(0.1)) shape.exclusive = Exclusive::Node;
    if (random.chance(0.1)) {
        std::string text = "0-" + std::to_string(random.between(1, 5));
        if (random.chance(0.5)) text += "%2";
        request->array = parse_array(text).value();
    }
    return request;
}

Script random_script(std::uint64_t seed, const RunKey& run, bool wide) {
    std::uint64_t step = run.step == kBatchStep ? 0 : run.step.value + 1;
    Random random(seed ^ (std::uint64_t{run.job.job.value} << 32) ^ (step << 16));
    Script script{.duration = Seconds{random.between(0, kDurationMost)}, .exit = {}};
    if (random.chance(0.1)) script.exit.code = 1;
    if (!wide) return script;
    if (step > 0) script.duration /= 3;
    script.cannot_start = random.chance(0.01);
    return script;
}

}  // namespace sluice
