#include "sim/faults/machine.h"

namespace sluice {

std::vector<RunKey> Machine::running() const {
    std::vector<RunKey> runs;
    for (const auto& [run, start] : live_) runs.push_back(run);
    return runs;
}

void Machine::report(Event event) {
    outbox_.push_back({next_sequence_++, std::move(event)});
    if (registered_) host_.send(node_, outbox_.back());
}

void Machine::report_end(RunKey run, ExitStatus exit) {
    report(JobEnded{node_, run_of(run), exit, {}});
}

void Machine::on_launch(RunKey run) {
    if (live_.contains(run)) return report(LaunchReported{node_, run_of(run), {}});
    if (ended_.contains(run)) return;  // its end is on the way already
    live_[run].start = ++counter_;
    host_.on_started(node_, run);
    report(LaunchReported{node_, run_of(run), {}});
    plan_end(run, host_.script_of(JobId{run.job}).duration);
}

void Machine::plan_end(RunKey run, Seconds left) {
    Live& live = live_.at(run);
    live.left.reset();
    live.ends = host_.now() + left;
    live.plan = ++counter_;
    host_.later(left, [this, run, start = live.start, plan = live.plan] {
        auto found = live_.find(run);
        if (found == live_.end() || found->second.plan != plan || found->second.left) return;
        end(run, start, host_.script_of(JobId{run.job}).exit);
    });
}

void Machine::on_stop(RunKey run) {
    auto found = live_.find(run);
    if (found == live_.end() || found->second.left) return;
    found->second.left = found->second.ends - host_.now();
}

void Machine::on_continue(RunKey run) {
    auto found = live_.find(run);
    if (found != live_.end() && found->second.left) plan_end(run, *found->second.left);
}

void Machine::on_terminate(RunKey run, Seconds kill_delay) {
    auto found = live_.find(run);
    if (found == live_.end()) {
        if (!ended_.contains(run)) report(NodeCleaned{node_, run_of(run)});
        return;
    }
    host_.later(kill_delay, [this, run, start = found->second.start] {
        end(run, start, {0, 15, false});
    });
}

// Nothing when that start of it is gone already.
void Machine::end(RunKey run, std::uint64_t start, ExitStatus exit) {
    auto found = live_.find(run);
    if (found == live_.end() || found->second.start != start) return;
    live_.erase(found);
    ended_[run] = exit;
    host_.on_finished(node_, run, exit);
    if (slurmd_) report_end(run, exit);
}

void Machine::on_ack(std::uint64_t sequence) {
    while (!outbox_.empty() && outbox_.front().sequence <= sequence) {
        if (const auto* done = std::get_if<JobEnded>(&outbox_.front().event))
            ended_.erase(key_of(done->run));
        outbox_.pop_front();
    }
}

void Machine::on_welcome() {
    registered_ = true;
    for (const Report& pending : outbox_) host_.send(node_, pending);
}

std::vector<RunId> Machine::known() const {
    std::vector<RunId> runs;
    for (const auto& [run, start] : live_) runs.push_back(run_of(run));
    for (const auto& [run, exit] : ended_) runs.push_back(run_of(run));
    return runs;
}

void Machine::stop_slurmd() {
    slurmd_ = registered_ = false;
    outbox_.clear();
    next_sequence_ = 1;
}

// Finds on disk what has ended meanwhile, or what the controller has not confirmed.
void Machine::start_slurmd() {
    slurmd_ = true;
    for (RunKey run : died_) ended_[run] = ExitStatus{0, 9, false};
    died_.clear();
    for (const auto& [run, exit] : ended_) report_end(run, exit);
}

void Machine::power_off() {
    stop_slurmd();
    powered_ = false;
    for (const auto& [run, start] : live_) {
        died_.insert(run);
        host_.on_swept_away(node_, run);
    }
    live_.clear();
}

void Machine::power_on(bool disk_is_kept) {
    powered_ = true;
    if (!disk_is_kept) {
        died_.clear();
        ended_.clear();
    }
    start_slurmd();
}

}  // namespace sluice
