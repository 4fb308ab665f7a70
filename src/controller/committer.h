// controller/committer.h
//
// The store's thread: commits the core's decisions, then publishes them to readers, then carries
// them out. While the store refuses a batch, nothing of it happens and no client is told that it
// did: it is tried again every second, and meanwhile new changes are refused. A repeated request is
// not refused, as its first copy may be part of such a batch: it waits (controller/undecided.h).
//
// When another controller has taken over the store, nothing that is not committed happens any more,
// and this controller must end. Where several controllers share the store, nothing at all happens
// once the lease may have ended: what was committed is carried out by the next active controller.
// Such a store is not reported as trouble: either it takes changes again soon, or another
// controller becomes active, and clients wait for that.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "controller/inbox.h"
#include "controller/job_programs.h"
#include "controller/lease_keeper.h"
#include "controller/mailer.h"
#include "controller/power_programs.h"
#include "controller/published.h"
#include "controller/trigger_programs.h"
#include "core/effect.h"
#include "turn/decider.h"

namespace sluice {

struct DueAnswer {
    std::shared_ptr<Asker> asker;
    RequestId request;
    Answer answer;
};

struct DueQuestion {
    std::shared_ptr<Asker> asker;
    RequestId request;
    OpenQuestion question;
};

// One batch of decisions.
struct Decided {
    Batch batch;
    std::shared_ptr<const Snapshot> snapshot;  // null: nothing visible has changed
    std::vector<DueAnswer> answers;
    std::vector<DueQuestion> questions;
    std::vector<NodeOrder> orders;
    std::vector<Ack> acks;
    std::vector<SendMail> mails;
    std::vector<RunJobProgram> programs;
    std::vector<RunPowerProgram> power_programs;
    std::vector<RunTrigger> triggers;
    std::vector<std::function<void()>> then;  // before answers are sent
    std::vector<std::string> audit_lines;
    std::vector<std::shared_ptr<const Undecided::Mark>> marks;  // released when all is done
};

// Carries out what concerns the nodes.
class OrderTaker {
public:
    virtual ~OrderTaker() = default;
    virtual void deliver(std::vector<NodeOrder> orders, std::vector<Ack> acks) = 0;
};

// This process as the writer of the store.
struct Writership {
    Epoch epoch = 0;
    std::function<void()> on_fenced = [] {};  // called at most once, by the store's thread
    std::function<void()> on_facts = [] {};   // facts for accounting were committed
    const LeaseKeeper* lease = nullptr;       // of a state that several controllers share

    bool may_act() const { return !lease || lease->may_act(); }
};

class Committer {
public:
    Committer(Store& store, PublishedState& published, OrderTaker& fleet, Mailer& mailer,
              JobPrograms& programs, PowerPrograms& power_programs, TriggerPrograms& triggers,
              Writership writership);
    ~Committer();

    // Waits while the last batch but one is still being written. With nothing else to do, the
    // caller writes the batch itself: passing it to another thread and back would take longer.
    void take(Decided decided, bool nothing_else_to_do);
    // Whether there is room for so many bytes more. See Store.
    Result<void> room_for(std::size_t bytes) { return store_.room_for(bytes); }
    // From now on a store that refuses is not retried for long.
    void give_up_soon() { stopping_ = true; }
    // Writes what was taken, then ends.
    void stop();

private:
    void run();
    bool try_commit(const Batch& batch);
    bool commit(const Batch& batch);
    bool wait_to_retry(const CommitOutcome& outcome);
    void stop_for_other_writer(const CommitOutcome& outcome);
    void release(Decided decided);

    Store& store_;
    PublishedState& published_;
    OrderTaker& fleet_;
    Mailer& mailer_;
    JobPrograms& programs_;
    PowerPrograms& power_programs_;
    TriggerPrograms& triggers_;
    const Writership writership_;
    Queue<Decided> queue_{1};  // one is being written, one waits
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> handed_over_{0};  // batches that the thread has not released yet
    std::thread thread_;
};

}  // namespace sluice
