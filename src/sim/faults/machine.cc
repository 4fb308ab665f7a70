#include "sim/faults/machine.h"

#include <fmt/format.h>

#include "model/errors.h"

namespace sluice {

namespace {

constexpr Seconds kAfterTheScript{2};  // what steps that it leaves behind are given
constexpr ExitStatus kTerminated{0, 15, false}, kKilled{0, 9, false};

}  // namespace

std::string to_string(const RunKey& run) {
    std::string step = run.step == kBatchStep ? "" : "." + print_step(run.step);
    return fmt::format("{}{}/{}", run.job.job, step, run.job.restarts);
}

Usage used_on(NodeIndex node) {
    constexpr std::uint32_t kDigits = 15;
    const std::int64_t digit = node.value < kDigits ? std::int64_t{1} << (4 * node.value) : 0;
    return {Microseconds{digit}, Microseconds{100}, 4096, {}};
}

bool counts_nodes_once(const Usage& usage) {
    constexpr std::int64_t kOnes = 0x111111111111111;
    return (usage.cpu_user.count() & ~kOnes) == 0;
}

Machine::Live* Machine::find(const RunKey& run) {
    auto job = jobs_.find(run.job);
    if (job == jobs_.end()) return nullptr;
    auto live = job->second.runs.find(run.step);
    return live == job->second.runs.end() ? nullptr : &live->second;
}

bool Machine::runs(const RunKey& run) const {
    auto job = jobs_.find(run.job);
    return job != jobs_.end() && job->second.runs.contains(run.step);
}

bool Machine::is_stopped(const RunKey& run) const {
    return runs(run) && jobs_.at(run.job).runs.at(run.step).left.has_value();
}

std::vector<RunKey> Machine::running() const {
    std::vector<RunKey> runs;
    for (const auto& [key, job] : jobs_) {
        for (const auto& [step, live] : job.runs) runs.push_back({key, step});
    }
    return runs;
}

NodeFacts Machine::facts() const {
    NodeFacts facts;
    facts.boot_id = fmt::format("boot{}", boots_);
    facts.boot_time = booted_;
    return facts;
}

void Machine::report(Event event) {
    outbox_.push_back({next_sequence_++, std::move(event)});
    if (registered_) host_.send(node_, outbox_.back());
}

// ---- launching

void Machine::on_launch(const JobKey& job) {
    RunKey run{job, kBatchStep};
    if (find(run)) return report(LaunchReported{node_, run_of(run), {}});
    if (ended_.contains(run)) return;  // its end is on the way already
    if (auto here = jobs_.find(job); here != jobs_.end() && here->second.ending) return;
    if (host_.script_of(run).cannot_start) {
        ended_[run] = {1, 0, false};
        return report(
            JobEnded{node_, run_of(run), {1, 0, false}, Error{ErrorCode::LaunchFailed, {}}});
    }
    start(run);
    report(LaunchReported{node_, run_of(run), {}});
}

bool Machine::launch_step(const RunKey& run) {
    if (!is_up() || never_start_.contains(run) || over_.contains(run.job)) return false;
    if (find(run) || ended_.contains(run)) return false;
    if (auto here = jobs_.find(run.job);
        here != jobs_.end() && (here->second.ending || here->second.batch_end)) {
        return false;
    }
    start(run);
    report(LaunchReported{node_, run_of(run), {}});
    return true;
}

void Machine::start(const RunKey& run) {
    jobs_[run.job].runs[run.step].start = ++counter_;
    host_.on_started(node_, run);
    plan_end(run, host_.script_of(run).duration);
}

void Machine::plan_end(const RunKey& run, Seconds left) {
    Live& live = *find(run);
    live.left.reset();
    live.ends = host_.now() + left;
    live.plan = ++counter_;
    host_.later(left, [this, run, start = live.start, plan = live.plan] {
        const Live* found = find(run);
        if (!found || found->plan != plan || found->left) return;
        end(run, start, host_.script_of(run).exit);
    });
}

void Machine::on_stop(const JobKey& job) {
    auto here = jobs_.find(job);
    if (here == jobs_.end()) return;
    for (auto& [step, live] : here->second.runs) {
        if (!live.left) live.left = live.ends - host_.now();
    }
}

void Machine::on_continue(const JobKey& job) {
    auto here = jobs_.find(job);
    if (here == jobs_.end()) return;
    for (auto& [step, live] : here->second.runs) {
        if (live.left) plan_end({job, step}, *live.left);
    }
}

// ---- ending

void Machine::kill_later(const RunKey& run, Seconds delay) {
    host_.later(delay, [this, run, start = find(run)->start] { end(run, start, kTerminated); });
}

void Machine::on_terminate(const JobKey& job, Seconds kill_delay) {
    auto here = jobs_.find(job);
    if (here == jobs_.end()) {
        std::erase_if(never_start_, [&](const RunKey& run) { return run.job == job; });
        over_.insert(job);
        if (!ended_.contains({job, kBatchStep}))
            report(NodeCleaned{node_, run_of({job, kBatchStep})});
        return;
    }
    here->second.ending = true;
    for (const auto& [step, live] : here->second.runs) kill_later({job, step}, kill_delay);
    close_if_clean(job);
}

void Machine::on_terminate_step(const RunKey& run, Seconds kill_delay) {
    if (find(run)) return kill_later(run, kill_delay);
    if (ended_.contains(run)) return;
    never_start_.insert(run);  // it never came here, or its end was heard before
    report(StepEnded{node_, run_of(run), kKilled});
}

void Machine::kill_step(const RunKey& run) {
    if (const Live* live = find(run)) end(run, live->start, kKilled);
}

// Nothing when that start of it is gone already.
void Machine::end(const RunKey& run, std::uint64_t start, ExitStatus exit) {
    const Live* live = find(run);
    if (!live || live->start != start) return;
    jobs_[run.job].runs.erase(run.step);
    ended_[run] = exit;
    host_.on_finished(node_, run, exit);
    if (slurmd_) see_end(run, exit);
}

void Machine::see_end(const RunKey& run, ExitStatus exit) {
    JobHere& job = jobs_[run.job];
    if (run.step != kBatchStep) {
        report(StepEnded{node_, run_of(run), exit, false, used_on(node_)});
    } else {
        job.batch_end = exit;
        for (const auto& [step, live] : job.runs) kill_later({run.job, step}, kAfterTheScript);
    }
    close_if_clean(run.job);
}

void Machine::close_if_clean(const JobKey& key) {
    const JobHere& job = jobs_.at(key);
    if (!job.runs.empty() || (!job.batch_end && !job.ending)) return;
    std::optional<ExitStatus> batch_end = job.batch_end;
    jobs_.erase(key);
    over_.insert(key);
    std::erase_if(never_start_, [&](const RunKey& run) { return run.job == key; });
    RunId run = run_of({key, kBatchStep});
    if (batch_end)
        report(JobEnded{node_, run, *batch_end, {}, false, used_on(node_)});
    else
        report(NodeCleaned{node_, run});
}

void Machine::on_ack(std::uint64_t sequence) {
    while (!outbox_.empty() && outbox_.front().sequence <= sequence) {
        if (const auto* done = std::get_if<JobEnded>(&outbox_.front().event))
            ended_.erase(key_of(done->run));
        if (const auto* done = std::get_if<StepEnded>(&outbox_.front().event))
            ended_.erase(key_of(done->run));
        outbox_.pop_front();
    }
}

// A repeated order is carried out once.
void Machine::on_reboot(Time issued) {
    if (reboot_order_ == issued) return;
    reboot_order_ = issued;
    host_.reboot(node_);
}

void Machine::on_welcome() {
    registered_ = true;
    for (const Report& pending : outbox_) host_.send(node_, pending);
}

std::vector<RunId> Machine::announce() const {
    std::vector<RunId> runs;
    for (const RunKey& run : running()) runs.push_back(run_of(run));
    for (const auto& [run, exit] : ended_) runs.push_back(run_of(run));
    return runs;
}

// ---- faults

void Machine::stop_slurmd() {
    slurmd_ = registered_ = false;
    outbox_.clear();
    never_start_.clear();
    over_.clear();
    next_sequence_ = 1;
    for (auto& [key, job] : jobs_) {
        job.ending = false;
        job.batch_end.reset();
    }
    std::erase_if(jobs_, [](const auto& entry) { return entry.second.runs.empty(); });
}

// Finds on disk what has ended meanwhile, or what the controller has not confirmed.
void Machine::start_slurmd() {
    slurmd_ = true;
    for (const RunKey& run : died_) ended_[run] = kKilled;
    died_.clear();
    std::map<RunKey, ExitStatus> ended = ended_;
    for (const auto& [run, exit] : ended) see_end(run, exit);
}

void Machine::power_off() {
    stop_slurmd();
    powered_ = false;
    for (const RunKey& run : running()) {
        died_.insert(run);
        host_.on_swept_away(node_, run);
    }
    jobs_.clear();
}

void Machine::power_on(bool disk_is_kept) {
    powered_ = true;
    ++boots_;
    booted_ = host_.now();
    if (!disk_is_kept) {
        // Nobody will ever hear of them.
        for (const auto& [run, exit] : ended_) host_.on_swept_away(node_, run);
        died_.clear();
        ended_.clear();
    }
    start_slurmd();
}

}  // namespace sluice
