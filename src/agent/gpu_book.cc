#include "agent/gpu_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sluice {

namespace {

constexpr std::size_t kNumbersOfGpu = 8;

GpuUse& use_of(NodeUse& use, std::uint32_t gpu) {
    for (GpuUse& each : use.gpus) {
        if (each.gpu == gpu) return each;
    }
    use.gpus.push_back({.gpu = gpu});
    return use.gpus.back();
}

// The batch script and the container have all GPUs of the job: a step of srun is more precise.
bool is_of_srun(StepId step) {
    return step != kBatchStep && step != kExternStep;
}

}  // namespace

void GpuBook::run_begins(const RunKey& run, std::uint32_t user,
                         const std::set<std::uint32_t>& gpus) {
    if (gpus.empty() && !jobs_.contains(run.job)) return;
    JobGpus& job = jobs_[run.job];
    job.user = user;
    job.gpus.insert(gpus.begin(), gpus.end());
    job.runs[run.step] = gpus;
}

void GpuBook::run_ends(const RunKey& run, const Usage& usage) {
    const auto job = jobs_.find(run.job);
    if (job == jobs_.end()) return;
    NodeUse& use = job->second.use;
    use.cpu_ms += static_cast<std::uint64_t>((usage.cpu_user + usage.cpu_system).count() / 1000);
    use.memory_kb = std::max(use.memory_kb, usage.rss_max_kb);
    job->second.runs.erase(run.step);
}

NodeUse GpuBook::job_leaves(const JobKey& job) {
    const auto left = jobs_.extract(job);
    return left.empty() ? NodeUse{} : std::move(left.mapped().use);
}

std::vector<GpuHolder> GpuBook::holders_of(std::uint32_t gpu) const {
    std::vector<GpuHolder> holders;
    for (const auto& [key, job] : jobs_) {
        if (!job.gpus.contains(gpu)) continue;
        StepId step = kBatchStep;
        bool found = false;
        for (const auto& [id, gpus] : job.runs) {
            if (!gpus.contains(gpu) || (found && is_of_srun(step) && !is_of_srun(id))) continue;
            step = id;
            found = true;
        }
        holders.push_back({key.job.value, key.restarts, job.user, step.value});
    }
    return holders;
}

void GpuBook::count(const Sample& sample) {
    for (auto& [_, job] : jobs_) {
        for (const GpuSample& each : sample.gpus) {
            if (!job.gpus.contains(each.gpu) || !each.failure.empty()) continue;
            GpuUse& use = use_of(job.use, each.gpu);
            const std::uint32_t percent = each.reading.percent.value_or(0);
            ++use.samples;
            use.percent_sum += percent;
            use.percent_most = std::max(use.percent_most, percent);
            if (percent < kGpuIdlePercent) ++use.idle_samples;
            use.memory_sum += each.reading.memory_mb;
            use.memory_most = std::max(use.memory_most, each.reading.memory_mb);
            use.memory_all = each.reading.memory_all_mb;
        }
    }
}

GpuReport GpuBook::report(const Sample& sample, const CleanRules& rules) {
    GpuReport report{.has_health = rules.checks && sample.problem.empty()};
    for (const auto& [key, job] : jobs_) {
        JobGpuLoad load{.job = key.job, .restarts = key.restarts};
        for (const GpuSample& each : sample.gpus) {
            if (!job.gpus.contains(each.gpu) || !each.reading.percent) continue;
            ++load.gpus;
            load.percent_sum += *each.reading.percent;
        }
        const auto io = sample.io_bytes.find(key);
        if (io != sample.io_bytes.end()) load.io_bytes = io->second;
        report.jobs.push_back(load);
    }
    if (!report.has_health) return report;
    for (const GpuSample& each : sample.gpus) {
        const auto fatal = std::find_if(each.xids.begin(), each.xids.end(), [&](std::uint32_t xid) {
            return rules.fatal_xids.contains(xid);
        });
        if (fatal != each.xids.end()) {
            report.unfit.push_back({each.gpu, fmt::format("XID {}", *fatal), true});
        } else if (!each.failure.empty()) {
            report.unfit.push_back({each.gpu, each.failure});
        } else if (holders_of(each.gpu).empty()) {
            std::string why = unclean_words(each, rules);
            if (!why.empty()) report.unfit.push_back({each.gpu, std::move(why)});
        }
    }
    return report;
}

std::string unclean_words(const GpuSample& sample, const CleanRules& rules) {
    if (!sample.failure.empty()) return sample.failure;
    if (!sample.reading.processes.empty())
        return fmt::format("process {} uses it", sample.reading.processes.front().pid);
    if (sample.reading.memory_mb > rules.memory_mb_most)
        return fmt::format("{} MB of its memory are in use", sample.reading.memory_mb);
    return {};
}

// ---- the file: "job 12 0 USER CPU_MS MEMORY_KB", "run STEP GPU...", "gpu GPU SAMPLES ..."

std::string GpuBook::print() const {
    std::string text;
    for (const auto& [key, job] : jobs_) {
        text += fmt::format("job {} {} {} {} {}\n", key.job.value, key.restarts, job.user,
                            job.use.cpu_ms, job.use.memory_kb);
        for (const auto& [step, gpus] : job.runs)
            text += fmt::format("run {} {}\n", step.value, fmt::join(gpus, " "));
        for (const std::uint32_t gpu : job.gpus) {
            NodeUse copy = job.use;
            const GpuUse& use = use_of(copy, gpu);
            text += fmt::format("gpu {} {} {} {} {} {} {} {}\n", gpu, use.samples, use.percent_sum,
                                use.percent_most, use.idle_samples, use.memory_sum, use.memory_most,
                                use.memory_all);
        }
    }
    return text;
}

GpuBook GpuBook::parse(std::string_view text) {
    GpuBook book;
    JobGpus* job = nullptr;
    for (std::string_view line : split(text, '\n')) {
        std::vector<std::uint64_t> numbers;
        const std::vector<std::string_view> words = split(line, ' ');
        for (std::size_t i = 1; i < words.size(); ++i)
            numbers.push_back(to_number(words[i]).value_or(0));
        const auto small = [&](std::size_t i) { return static_cast<std::uint32_t>(numbers[i]); };
        if (words[0] == "job" && numbers.size() == 5) {
            job = &book.jobs_[{JobId{small(0)}, small(1)}];
            job->user = small(2);
            job->use.cpu_ms = numbers[3];
            job->use.memory_kb = numbers[4];
        } else if (job && words[0] == "run" && !numbers.empty()) {
            std::set<std::uint32_t>& gpus = job->runs[StepId{small(0)}];
            for (std::size_t i = 1; i < numbers.size(); ++i) gpus.insert(small(i));
        } else if (job && words[0] == "gpu" && numbers.size() == kNumbersOfGpu) {
            job->gpus.insert(small(0));
            job->use.gpus.push_back({small(0), numbers[1], numbers[2], small(3), numbers[4],
                                     numbers[5], numbers[6], numbers[7]});
        }
    }
    return book;
}

}  // namespace sluice
