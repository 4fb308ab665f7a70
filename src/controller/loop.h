// controller/loop.h
//
// The core's thread: the only one that accesses the cluster. It takes what has arrived, lets the
// core decide, and passes the decisions to the committer; the next batch is decided while the last
// one is written.
#pragma once

#include <string>
#include <thread>
#include <unordered_map>

#include "base/loop_clock.h"
#include "controller/committer.h"
#include "controller/inbox.h"
#include "controller/io_pulse.h"
#include "controller/statistics.h"
#include "turn/decider.h"

namespace sluice {

class Loop {
public:
    // `clock_step`: how much the clock of this host is ahead of the one by which the cluster was
    // restored. The first turn finds that the clock was set.
    Loop(std::unique_ptr<Cluster> cluster, Inbox& inbox, Committer& committer,
         const IoPulse& io_pulse, StatisticsBook& statistics, Seconds clock_step = Seconds{0});
    ~Loop();

    // Decides what is left in the (closed) inbox, then ends.
    void stop();

private:
    void run();
    LoopClock::Turn next_turn();
    std::vector<Incoming> wait();
    void wait_for_company(std::vector<Incoming>& batch);
    Decided decide(std::vector<Incoming> batch, const LoopClock::Turn& turn);
    void decide_one(Incoming& incoming, Decided& decided);
    std::optional<Error> no_room(const Incoming& incoming);
    void run_pass();
    void pack_answer(Reply reply, Decided& decided);
    void hand_out_questions(Decided& decided);

    Decider decider_;
    Inbox& inbox_;
    Committer& committer_;
    const IoPulse& io_pulse_;
    StatisticsBook& statistics_;
    std::unordered_map<RequestId, std::shared_ptr<Asker>> askers_;
    LoopClock clock_;
    const Seconds clock_step_;
    std::vector<Incoming> questions_;                      // for which no copy was made yet
    std::chrono::steady_clock::time_point copies_from_{};  // no copy is made earlier
    std::size_t new_bytes_ = 0;                            // of the submissions in this batch
    bool is_crowded_ = false;                              // the last submission did not fit
    std::thread thread_;
};

}  // namespace sluice
