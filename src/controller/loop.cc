// controller/loop.cc
#include "controller/loop.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "controller/audit.h"
#include "core/question.h"
#include "model/errors.h"

namespace sluice {
namespace {

constexpr std::size_t kBatchMost = 4096;   // events decided before a commit
constexpr std::size_t kRecordSize = 4096;  // of a job without its script, roughly
// Short, so that a changed clock or a stopped process is noticed.
constexpr Seconds kWaitMost{1};
constexpr Seconds kToldFrom{5};    // shorter times are not logged
constexpr int kRestAfterCopy = 9;  // times the duration of a copy for questions: a tenth of time
constexpr auto kCompanyMost =
    std::chrono::milliseconds(3);  // that a report without a waiting client waits for more reports

bool are_all_reports(const std::vector<Incoming>& batch) {
    return std::all_of(batch.begin(), batch.end(), [](const Incoming& incoming) {
        return std::holds_alternative<JobEnded>(incoming.event) ||
               std::holds_alternative<LaunchReported>(incoming.event);
    });
}

}  // namespace

Loop::Loop(std::unique_ptr<Cluster> cluster, Inbox& inbox, Committer& committer,
           const IoPulse& io_pulse, StatisticsBook& statistics, Seconds clock_step)
    : decider_(std::move(cluster)),
      inbox_(inbox),
      committer_(committer),
      io_pulse_(io_pulse),
      statistics_(statistics),
      clock_(kWaitMost),
      clock_step_(clock_step),
      thread_([this] { run(); }) {}

Loop::~Loop() {
    stop();
}

void Loop::stop() {
    inbox_.close();
    if (thread_.joinable()) thread_.join();
}

void Loop::run() {
    clock_.turn(std::chrono::floor<Seconds>(std::chrono::system_clock::now()) - clock_step_,
                std::chrono::steady_clock::now().time_since_epoch());
    while (true) {
        std::vector<Incoming> batch = wait();
        if (batch.empty() && inbox_.finished()) return;
        committer_.take(decide(std::move(batch), next_turn()), inbox_.size() == 0);
    }
}

LoopClock::Turn Loop::next_turn() {
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    const auto wall = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
    const LoopClock::Turn turn =
        clock_.turn(wall, steady, io_pulse_.read_until().time_since_epoch());
    if (turn.step != Seconds{0}) {
        log_error("the clock was set by {} s; time limits and timeouts go on as before",
                  turn.step.count());
    }
    if (turn.blocked >= kToldFrom)
        log_info("no node could be heard for {} s: that does not count as silence",
                 turn.blocked.count());
    return turn;
}

// Until something arrives, a timer is due or a copy for questions may be made.
std::vector<Incoming> Loop::wait() {
    const auto wall = std::chrono::system_clock::now();
    auto most = std::chrono::duration_cast<std::chrono::nanoseconds>(kWaitMost);
    if (const auto due = decider_.next_tick()) {
        most = std::clamp(std::chrono::nanoseconds(*due - wall), std::chrono::nanoseconds(0), most);
    }
    auto until = std::chrono::steady_clock::now() + most;
    if (!questions_.empty()) until = std::min(until, copies_from_);
    std::vector<Incoming> batch = inbox_.take_until(kBatchMost, until);
    if (!batch.empty()) wait_for_company(batch);
    return batch;
}

// Batches reports, since every commit costs a flush of the disk.
void Loop::wait_for_company(std::vector<Incoming>& batch) {
    const auto until = std::chrono::steady_clock::now() + kCompanyMost;
    while (batch.size() < kBatchMost && are_all_reports(batch) &&
           !decider_.cluster().is_end_awaited()) {
        std::vector<Incoming> more = inbox_.take_until(kBatchMost - batch.size(), until);
        if (more.empty()) return;
        std::move(more.begin(), more.end(), std::back_inserter(batch));
    }
}

// Other threads answer them, from a copy of the current cluster.
void Loop::hand_out_questions(Decided& decided) {
    const auto begin = std::chrono::steady_clock::now();
    if (questions_.empty() || begin < copies_from_) return;
    const std::shared_ptr<const Cluster> copy = decider_.cluster().copy_for_questions();
    const auto end = std::chrono::steady_clock::now();
    copies_from_ = end + kRestAfterCopy * (end - begin);
    for (Incoming& question : questions_) {
        const auto found = askers_.find(question.request);
        if (found == askers_.end()) continue;  // the client has gone
        decided.questions.push_back({std::move(found->second), question.request,
                                     OpenQuestion{std::move(question.event), copy, decider_.time(),
                                                  std::move(question.charge)}});
        askers_.erase(found);
    }
    questions_.clear();
}

Decided Loop::decide(std::vector<Incoming> batch, const LoopClock::Turn& turn) {
    Decided decided;
    new_bytes_ = 0;
    decider_.begin(turn);
    for (Incoming& incoming : batch) {
        decide_one(incoming, decided);
        incoming.timer.stop();
    }
    decider_.tick(batch.size(), inbox_.size());
    run_pass();
    Decisions decisions = decider_.finish();
    decided.batch.changes = std::move(decisions.changes);
    decided.batch.node_names = std::move(decisions.node_names);
    decided.snapshot = decider_.cluster().take_snapshot(turn.now);
    decided.orders = std::move(decisions.orders);
    decided.mails = std::move(decisions.mails);
    decided.programs = std::move(decisions.programs);
    decided.power_programs = std::move(decisions.power_programs);
    decided.triggers = std::move(decisions.triggers);
    for (Reply& reply : decisions.replies) pack_answer(std::move(reply), decided);
    hand_out_questions(decided);
    return decided;
}

void Loop::run_pass() {
    const auto begin = std::chrono::steady_clock::now();
    const PassReport report = decider_.pass();
    const auto end = std::chrono::steady_clock::now();
    statistics_.add(decider_.time(), decider_.cluster().take_tally(), report,
                    std::chrono::duration_cast<std::chrono::microseconds>(end - begin));
}

void Loop::decide_one(Incoming& incoming, Decided& decided) {
    if (const auto* dropped = std::get_if<RequestDropped>(&incoming.event)) {
        askers_.erase(dropped->request);
    } else if (incoming.asker) {
        askers_.emplace(incoming.request, std::move(incoming.asker));
    }
    if (is_question(incoming.event)) {
        questions_.push_back(std::move(incoming));
        return;
    }
    std::optional<Error> refusal = no_room(incoming);
    const Answer* answer = refusal ? decider_.refuse(incoming.request, std::move(*refusal))
                                   : decider_.decide(incoming.event, incoming.request);
    if (auto line = answer ? audit_line(incoming.event, *answer) : std::nullopt)
        decided.audit_lines.push_back(*std::move(line));
    // The script of a refused submission is not stored.
    const bool is_refused = answer && std::holds_alternative<Error>(*answer);
    if (!incoming.blobs.empty() && !is_refused) {
        std::move(incoming.blobs.begin(), incoming.blobs.end(),
                  std::back_inserter(decided.batch.blobs));
    }
    if (incoming.then && !is_refused) decided.then.push_back(std::move(incoming.then));
    if (incoming.ack) decided.acks.push_back(std::move(*incoming.ack));
    if (incoming.mark) decided.marks.push_back(std::move(incoming.mark));
}

// A submission that would not fit on the disk is refused before it is decided. A repeated
// submission of an accepted job is only answered again.
std::optional<Error> Loop::no_room(const Incoming& incoming) {
    const auto* submission = std::get_if<SubmitJob>(&incoming.event);
    if (!submission) return std::nullopt;
    if (decider_.cluster().find_submission(submission->idempotency_key)) return std::nullopt;
    std::size_t bytes = kRecordSize;
    for (const Blob& blob : incoming.blobs) bytes += blob.bytes.size();
    const auto room = committer_.room_for(new_bytes_ + bytes);
    if (is_crowded_ != !room) {
        is_crowded_ = !room;
        if (is_crowded_) {
            log_error("submissions are refused: {}", to_string(room.error()));
        } else {
            log_info("there is room for submissions again");
        }
    }
    if (!room) return room.error();
    new_bytes_ += bytes;
    return std::nullopt;
}

void Loop::pack_answer(Reply reply, Decided& decided) {
    const auto found = askers_.find(reply.request);
    if (found == askers_.end()) return;  // the client has gone
    decided.answers.push_back({std::move(found->second), reply.request, std::move(reply.answer)});
    askers_.erase(found);
}

}  // namespace sluice
