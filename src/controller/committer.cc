// controller/committer.cc
#include "controller/committer.h"

#include "base/audit_log.h"
#include "base/log.h"
#include "controller/change_lines.h"
#include "model/errors.h"

namespace sluice {
namespace {

constexpr auto kRetryDelay = std::chrono::seconds(1);
constexpr auto kRetryDelayOfSeveral = std::chrono::milliseconds(200);
constexpr auto kStopCheck = std::chrono::milliseconds(50);

}  // namespace

Committer::Committer(Store& store, PublishedState& published, OrderTaker& fleet, Mailer& mailer,
                     JobPrograms& programs, PowerPrograms& power_programs,
                     TriggerPrograms& triggers, Writership writership)
    : store_(store),
      published_(published),
      fleet_(fleet),
      mailer_(mailer),
      programs_(programs),
      power_programs_(power_programs),
      triggers_(triggers),
      writership_(std::move(writership)),
      thread_([this] { run(); }) {}

Committer::~Committer() {
    stop();
}

void Committer::stop() {
    give_up_soon();
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

void Committer::take(Decided decided, bool nothing_else_to_do) {
    decided.batch.epoch = writership_.epoch;
    // Keeps the order: the thread must have nothing left, and only this function gives it work.
    if (nothing_else_to_do && handed_over_ == 0 && try_commit(decided.batch)) {
        return release(std::move(decided));
    }
    ++handed_over_;
    queue_.push(std::move(decided));
}

bool Committer::try_commit(const Batch& batch) {
    if (batch.changes.empty() && batch.blobs.empty()) return true;
    return bool(store_.commit(batch));
}

void Committer::run() {
    while (true) {
        auto next = queue_.take(1);
        if (next.empty()) return;
        if (!commit(next.front().batch)) {
            log_error("stopping: the store does not have the last changes");
            queue_.close();  // the core's thread must not wait for this one
            return;
        }
        release(std::move(next.front()));
        --handed_over_;
    }
}

bool Committer::commit(const Batch& batch) {
    if (batch.changes.empty() && batch.blobs.empty()) return true;
    while (true) {
        const CommitOutcome outcome = store_.commit(batch);
        switch (outcome.kind) {
            case CommitOutcome::Kind::Done:
                if (!published_.store_trouble.get()) return true;
                log_info("the store takes changes again");
                published_.store_trouble.set(nullptr);
                return true;
            case CommitOutcome::Kind::Retry:
            case CommitOutcome::Kind::Full:
                if (!wait_to_retry(outcome)) return false;
                break;
            case CommitOutcome::Kind::Fenced:
                stop_for_other_writer(outcome);
                return false;
        }
    }
}

// Meanwhile new changes are refused. Returns false if this process stops.
bool Committer::wait_to_retry(const CommitOutcome& outcome) {
    const bool is_full = outcome.kind == CommitOutcome::Kind::Full;
    const bool is_waited_for = writership_.lease && !is_full;
    if (!published_.store_trouble.get()) {
        log_error("the store refuses changes{}; trying again every second: {}",
                  is_full ? " because it is full" : "", outcome.why);
    }
    if (!is_waited_for) {
        published_.store_trouble.set(
            std::make_shared<const Error>(Error{ErrorCode::StoreFailed, outcome.why}));
    }
    const auto retry =
        std::chrono::steady_clock::now() + (is_waited_for ? kRetryDelayOfSeveral : kRetryDelay);
    while (std::chrono::steady_clock::now() < retry) {
        if (stopping_) return false;
        std::this_thread::sleep_for(kStopCheck);
    }
    return true;
}

// What the other controller decides is true from now on. What this one has decided since its last
// commit is dropped: no client and no node hears of it.
void Committer::stop_for_other_writer(const CommitOutcome& outcome) {
    log_error("stopping at once: {}", outcome.why);
    published_.store_trouble.set(
        std::make_shared<const Error>(Error{ErrorCode::StoreFailed, outcome.why}));
    writership_.on_fenced();
}

void Committer::release(Decided decided) {
    if (!writership_.may_act()) return;
    const auto before = published_.snapshot.get(), after = decided.snapshot;
    if (decided.snapshot) published_.snapshot.set(std::move(decided.snapshot));
    for (const auto& then : decided.then) then();
    for (DueAnswer& due : decided.answers) due.asker->answered(due.request, std::move(due.answer));
    for (DueAnswer& due : decided.answers) due.asker->all_told();
    for (DueQuestion& due : decided.questions)
        due.asker->to_be_answered(due.request, std::move(due.question));
    if (!decided.orders.empty() || !decided.acks.empty()) {
        fleet_.deliver(std::move(decided.orders), std::move(decided.acks));
    }
    if (!decided.batch.changes.facts.empty()) writership_.on_facts();
    for (SendMail& mail : decided.mails) mailer_.take(std::move(mail));
    for (RunJobProgram& program : decided.programs) programs_.take(std::move(program));
    for (RunPowerProgram& program : decided.power_programs)
        power_programs_.take(std::move(program));
    for (RunTrigger& trigger : decided.triggers) triggers_.take(std::move(trigger));
    // Last, as no client waits for the log.
    write_audit(decided.audit_lines);
    if (before && after && log_enabled(LogLevel::Info)) {
        write_log(LogLevel::Info, change_lines(*before, *after, decided.batch.changes));
    }
}

}  // namespace sluice
