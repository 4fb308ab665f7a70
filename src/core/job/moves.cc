#include "core/job/moves.h"

#include <algorithm>

#include "base/check.h"

namespace sluice {

namespace {

struct Move {
    JobState from;
    JobState to;
};

constexpr Move kJobMoves[] = {
    {JobState::Pending, JobState::Running},        // started by a scheduling pass
    {JobState::Pending, JobState::Cancelled},      // cancelled before it started
    {JobState::Pending, JobState::Failed},         // can never start
    {JobState::Pending, JobState::Deadline},       // could no longer end in time
    {JobState::Running, JobState::Completed},      // the script exited 0
    {JobState::Running, JobState::Failed},         // it did not, or could not be launched
    {JobState::Running, JobState::Cancelled},      // by its owner or an operator
    {JobState::Running, JobState::Timeout},        // out of time
    {JobState::Running, JobState::NodeFail},       // lost a node and may not run again
    {JobState::Running, JobState::OutOfMemory},    // killed by the kernel for its memory
    {JobState::Running, JobState::Preempted},      // preempted, and may not run again
    {JobState::Running, JobState::Pending},        // requeued
    {JobState::Running, JobState::Suspended},      // scontrol suspend, or preempted
    {JobState::Suspended, JobState::Running},      // resumed, or continued to be ended
    {JobState::Completed, JobState::OutOfMemory},  // a step's end was reported later
    {JobState::Failed, JobState::OutOfMemory},     // the same
    {JobState::Completed, JobState::Pending},      // requeued after its end
    {JobState::Failed, JobState::Pending},        {JobState::Cancelled, JobState::Pending},
    {JobState::Timeout, JobState::Pending},       {JobState::NodeFail, JobState::Pending},
    {JobState::OutOfMemory, JobState::Pending},   {JobState::Preempted, JobState::Pending},
    {JobState::Deadline, JobState::Pending},
};

}  // namespace

bool is_legal_move(JobState from, JobState to) {
    return std::any_of(std::begin(kJobMoves), std::end(kJobMoves),
                       [&](const Move& move) { return move.from == from && move.to == to; });
}

void move_to(Job& job, JobState to) {
    CHECK(is_legal_move(job.state, to), state_name(to));
    job.state = to;
}

}  // namespace sluice
