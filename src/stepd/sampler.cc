// stepd/sampler.cc
#include "stepd/sampler.h"

#include <algorithm>

#include "base/text.h"
#include "model/sampling.h"
#include "protocol/convert.h"
#include "stepd/environment.h"

namespace sluice {

namespace {

bool has_word(std::string_view list, std::string_view word) {
    for (std::string_view each : split(list, ',')) {
        if (equals_ignoring_case(trim(each), word)) return true;
    }
    return false;
}

// Nothing: the text names no interval of tasks.
std::optional<Seconds> interval_in(const std::string& text) {
    const Result<std::optional<Seconds>> interval = parse_task_sampling(text);
    return interval ? *interval : std::nullopt;
}

// What was asked for, but no less often than slurm.conf says: slurmctld refuses jobs that ask for
// that, and does not see the option of a single step.
Seconds interval_of(const wire::StepOrder& order) {
    const Seconds most = interval_in(order.sampling().frequency()).value_or(kSamplingDefault);
    const std::optional<Seconds> asked =
        interval_in(order.has_batch() ? request_of(order.batch().job()).acctg_freq
                                      : order.tasks().spec().acctg_freq());
    if (!asked) return most;
    const bool is_too_rare = most.count() > 0 && (asked->count() == 0 || *asked > most);
    return is_too_rare ? most : *asked;
}

std::uint64_t milliseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
           static_cast<std::uint64_t>(time.tv_usec) / 1000;
}

}  // namespace

SamplingDemand sampling_of(const wire::StepOrder& order) {
    const wire::Sampling& wanted = order.sampling();
    SamplingDemand demand;
    demand.enabled = wanted.type() != "jobacct_gather/none";
    demand.by_cgroup = wanted.type() == "jobacct_gather/cgroup";
    demand.interval = interval_of(order);
    if (has_word(wanted.params(), "UsePss")) {
        demand.memory_count = MemoryCount::Proportional;
    } else if (has_word(wanted.params(), "NoShared")) {
        demand.memory_count = MemoryCount::Unshared;
    }
    if (has_word(wanted.params(), "OverMemoryKill") && !order.has_container()) {
        demand.memory_kb_max = order.share().memory() * 1024;
    }
    if (demand.enabled && !has_word(wanted.params(), "DisableGPUAcct")) {
        demand.gpus = gpus_of(order.share());
    }
    demand.node = order.node();
    demand.tasks = {order.tasks().task_ids().begin(), order.tasks().task_ids().end()};
    if (order.has_batch()) demand.tasks = {0};
    return demand;
}

void Sampler::Amounts::add(const Amounts& other) {
    cpu_ms += other.cpu_ms;
    pages += other.pages;
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
}

void Sampler::Amounts::raise_to(const Amounts& other) {
    cpu_ms = std::max(cpu_ms, other.cpu_ms);
    pages = std::max(pages, other.pages);
    read_bytes = std::max(read_bytes, other.read_bytes);
    written_bytes = std::max(written_bytes, other.written_bytes);
}

Sampler::Sampler(SamplingDemand demand, Read read)
    : demand_(std::move(demand)), read_(std::move(read)) {
    for (std::uint32_t id : demand_.tasks) {
        tasks_.emplace_back();
        tasks_.back().id = id;
    }
    if (tasks_.empty()) tasks_.emplace_back();
}

// An orphan that no sample has seen counts as a process of the first task: sums stay right.
Sampler::Task& Sampler::owner_of(const std::vector<TaskProcess>& tasks, pid_t pid) {
    for (const TaskProcess& process : tasks) {
        if (process.pid != pid) continue;
        for (Task& task : tasks_) {
            if (task.id == process.task) return task;
        }
    }
    const auto known = owners_.find(pid);
    return tasks_[known == owners_.end() ? 0 : known->second];
}

// What a task has used never becomes less, although a process that is gone may be counted nowhere
// (its parent ignores SIGCHLD).
void Sampler::settle(Task& task) {
    Amounts now = task.ended;
    for (const auto& [pid, amounts] : task.alive) now.add(amounts);
    task.most.raise_to(now);
}

// The task of the nearest ancestor that is the process of a task, or whose task is known.
std::size_t Sampler::owner_in_tree(const std::vector<TaskProcess>& tasks, const Processes& found,
                                   pid_t pid) {
    pid_t at = pid;
    for (std::size_t i = 0; i <= found.size(); ++i) {
        const bool is_task = std::any_of(tasks.begin(), tasks.end(),
                                         [&](const TaskProcess& each) { return each.pid == at; });
        if (is_task || owners_.contains(at)) break;
        const auto process = found.find(at);
        if (process == found.end()) break;
        at = process->second.parent;
    }
    return static_cast<std::size_t>(&owner_of(tasks, at) - tasks_.data());
}

void Sampler::sample(const std::vector<TaskProcess>& tasks, const std::vector<pid_t>& pids,
                     const CgroupCount& cgroup) {
    Processes found;
    for (pid_t pid : pids) {
        if (std::optional<ProcessUsage> usage = read_(pid)) found.emplace(pid, *usage);
    }
    std::map<pid_t, std::size_t> owners;
    for (const auto& [pid, usage] : found) owners[pid] = owner_in_tree(tasks, found, pid);
    owners_ = std::move(owners);
    std::vector<std::uint64_t> rss(tasks_.size()), vm(tasks_.size());
    for (Task& task : tasks_) task.alive.clear();
    for (const auto& [pid, usage] : found) {
        const std::size_t owner = owners_.at(pid);
        Task& task = tasks_[owner];
        task.alive[pid] = {usage.cpu_ms, usage.pages, usage.read_bytes, usage.written_bytes};
        rss[owner] += usage.rss_kb;
        vm[owner] += usage.vm_kb;
        if (const std::uint32_t frequency = cpu_frequency(usage.cpu)) {
            task.frequency_sum += frequency;
            ++task.frequency_count;
        }
    }
    if (counts_by_cgroup() && cgroup.memory_kb > 0) rss[0] = cgroup.memory_kb;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        settle(tasks_[i]);
        tasks_[i].rss_kb = rss[i];
        tasks_[i].rss_peak_kb = std::max(tasks_[i].rss_peak_kb, rss[i]);
        tasks_[i].vm_peak_kb = std::max(tasks_[i].vm_peak_kb, vm[i]);
    }
    if (counts_by_cgroup()) tasks_[0].most.cpu_ms = std::max(tasks_[0].most.cpu_ms, cgroup.cpu_ms);
}

void Sampler::on_exit(const std::vector<TaskProcess>& tasks, pid_t pid, const rusage& usage,
                      const ProcessBytes& bytes) {
    Task& task = owner_of(tasks, pid);
    task.ended.add({milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
                    static_cast<std::uint64_t>(usage.ru_majflt), bytes.read, bytes.written});
    task.alive.erase(pid);
    owners_.erase(pid);
    task.rss_peak_kb = std::max(task.rss_peak_kb, static_cast<std::uint64_t>(usage.ru_maxrss));
    settle(task);
}

void Sampler::note_gpus(const GpuShares& shares) {
    ++gpu_samples_;
    std::vector<std::uint64_t> memory(tasks_.size()), percent(tasks_.size());
    for (const auto& [pid, share] : shares) {
        const auto owner = owners_.find(pid);
        if (owner == owners_.end()) continue;  // of another step or job
        percent[owner->second] += share.percent;
        memory[owner->second] += share.memory_kb;
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        tasks_[i].gpu_percent_sum += percent[i];
        tasks_[i].gpu_percent_most = std::max(tasks_[i].gpu_percent_most, percent[i]);
        tasks_[i].gpu_memory_peak_kb = std::max(tasks_[i].gpu_memory_peak_kb, memory[i]);
    }
}

void Sampler::note_peak(std::uint64_t memory_kb) {
    if (!counts_by_cgroup()) return;
    tasks_[0].rss_peak_kb = std::max(tasks_[0].rss_peak_kb, memory_kb);
}

std::uint64_t Sampler::memory_kb() const {
    std::uint64_t sum = 0;
    for (const Task& task : tasks_) sum += task.rss_kb;
    return sum;
}

TaskUsage Sampler::usage() const {
    TaskUsage total;
    for (const Task& task : tasks_) {
        const auto amounts = [&](std::uint64_t value) {
            return TaskAmounts{value, value, demand_.node, task.id, value, demand_.node, task.id};
        };
        TaskUsage part;
        part.tasks = 1;
        part.cpu_ms = amounts(task.most.cpu_ms);
        part.rss_kb = amounts(task.rss_peak_kb);
        part.vm_kb = amounts(task.vm_peak_kb);
        part.pages = amounts(task.most.pages);
        part.read_bytes = amounts(task.most.read_bytes);
        part.written_bytes = amounts(task.most.written_bytes);
        if (gpu_samples_ > 0) {
            part.gpu_percent = amounts(task.gpu_percent_sum / gpu_samples_);  // the mean
            part.gpu_percent.most = task.gpu_percent_most;
            part.gpu_memory_kb = amounts(task.gpu_memory_peak_kb);
        }
        if (task.frequency_count > 0) {
            part.cpu_khz = static_cast<std::uint32_t>(task.frequency_sum / task.frequency_count);
        }
        add_tasks(total, part);
    }
    return total;
}

}  // namespace sluice
