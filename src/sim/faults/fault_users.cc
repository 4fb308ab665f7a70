// sim/faults/fault_users.cc
//
// Submissions are repeated until they are answered. Whoever waits for an allocation asks again when
// the connection breaks, works in it for a while and gives it back; or is gone without a word.
#include <fmt/format.h>

#include "model/errors.h"
#include "sim/faults/fault_world.h"
#include "sim/faults/workload.h"

namespace sluice {
namespace {

constexpr Seconds kClientTimeout{20};
constexpr double kLostClient = 0.15;
constexpr UserId kUsers[] = {UserId{1000}, UserId{1000}, UserId{1001}};

}  // namespace

// A request that is lost on its way is as one whose connection breaks.
RequestId FaultWorld::ask(std::string what, std::function<Event(RequestId)> event,
                          std::function<void(const Answer&)> on_answer, double lost) {
    RequestId request{next_request_++};
    bool is_lost = !calm_ && dice("requests").chance(lost);
    asked_[request.value] = {std::move(what), incarnation_, std::move(on_answer), is_lost};
    if (is_lost) return request;
    later(delay(dice("requests")), [this, request, me = incarnation_, event = std::move(event)] {
        if (me == incarnation_) push({event(request), {}});
    });
    return request;
}

bool FaultWorld::is_heard(RequestId request) {
    auto found = asked_.find(request.value);
    return found != asked_.end() && !found->second.lost &&
           found->second.incarnation == incarnation_ && cluster_;
}

void FaultWorld::hang_up_on(RequestId request) {
    auto found = asked_.find(request.value);
    if (found == asked_.end()) return;
    bool is_noticed = found->second.incarnation == incarnation_ && cluster_;
    asked_.erase(found);
    if (is_noticed) push({RequestDropped{request}, {}});
}

Dice& FaultWorld::dice_of(std::size_t client) {
    return dice(fmt::format("client {}", client));
}

void FaultWorld::plan_users() {
    Seconds span = calm_from_ - now_;
    for (std::uint32_t i = 0; i < options_.jobs; ++i) {
        Dice& random = dice_of(i);
        clients_.push_back({random_request(random, options_.nodes, options_.with_preemption),
                            false,
                            {},
                            kUsers[0]});
        later(Seconds{random.between(0, span.count())}, [this, i] { submit(i); });
    }
    for (std::uint32_t i = 0; i < options_.jobs / 4; ++i) {
        later(Seconds{dice("commands").between(0, span.count())}, [this] { command(); });
    }
    if (!options_.wide) return;
    for (std::uint32_t i = 0; i < options_.jobs / 2; ++i) {
        later(Seconds{dice("commands").between(0, span.count())}, [this] { command(); });
    }
    for (std::uint32_t i = 0; i < options_.jobs / 3; ++i) {
        later(Seconds{dice("admin").between(0, span.count())}, [this] { administrate(); });
    }
}

// Repeated with the same key until there is an answer.
void FaultWorld::submit(std::size_t index) {
    Client& client = clients_[index];
    if (client.answered) return;
    if (options_.wide && !client.asked) {
        std::vector<JobId> known;
        for (const Client& other : clients_) {
            if (other.job) known.push_back(*other.job);
        }
        Dice& random = dice_of(index);
        client.user = kUsers[random.below(std::size(kUsers))];
        client.request = widened(random, *client.request, known);
    }
    client.asked = true;
    const std::uint32_t attempt = ++client.tries;
    Caller caller{client.user, GroupId{client.user.value}};
    ask(
        "submit",
        [this, index, caller](RequestId request) {
            return SubmitJob{request, caller, clients_[index].request, fmt::format("key{}", index),
                             false};
        },
        [this, index, attempt](const Answer& answer) {
            if (attempt == clients_[index].tries) on_answer(index, answer);
        },
        kLostMessage);
    later(kClientTimeout, [this, index] { submit(index); });
}

void FaultWorld::on_answer(std::size_t index, const Answer& answer) {
    Client& client = clients_[index];
    bool is_first = !client.answered;
    client.answered = true;
    if (const auto* accepted = std::get_if<Submitted>(&answer)) {
        if (client.job && *client.job != accepted->job) {
            fail(fmt::format("submission {} became jobs {} and {}", index, client.job->value,
                             accepted->job.value));
        }
        client.job = accepted->job;
        if (!is_first || client.request->kind == JobKind::Batch) return;
        Dice& random = dice_of(index);
        if (!calm_ && random.chance(kLostClient))
            later(Seconds{random.between(0, 200)}, [this, index] { lose_client(index); });
        await_allocation(index);
    } else if (client.job) {
        fail(fmt::format("submission {} was accepted as job {}, then refused", index,
                         client.job->value));
    }
}

// ---- interactive jobs

void FaultWorld::await_allocation(std::size_t index) {
    Client& client = clients_[index];
    if (client.gone || client.has) return;
    if (!cluster_) return later(Seconds{5}, [this, index] { await_allocation(index); });
    Caller caller{client.user, GroupId{client.user.value}};
    client.waits = ask(
        "wait",
        [job = *client.job, caller](RequestId request) {
            return WaitJob{request, caller, job, WaitFor::Allocated};
        },
        [this, index](const Answer& answer) {
            const auto* shown = std::get_if<AllocationShown>(&answer);
            if (shown) return on_allocation(index, *shown->job);
            clients_[index].gone = true;  // forgotten long ago
        },
        kLostMessage);
    auto look = [this, index, request = client.waits](auto self) -> void {
        if (clients_[index].gone || clients_[index].has) return;
        if (is_heard(request)) return later(kClientTimeout, [self] { self(self); });
        hang_up_on(request);
        await_allocation(index);
    };
    later(kClientTimeout, [look] { look(look); });
}

void FaultWorld::on_allocation(std::size_t index, const Job& job) {
    Client& client = clients_[index];
    if (client.gone || client.has) return;
    if (!is_live(job)) {
        client.gone = true;
        return;
    }
    client.has = JobKey{job.id, job.run.restarts};
    Seconds duration = script_of({*client.has, kBatchStep}).duration;
    plan_sruns(*client.has, Srun::Home::Client, index, duration);
    later(duration, [this, index] { give_back(index); });
}

void FaultWorld::give_back(std::size_t index) {
    Client& client = clients_[index];
    if (client.gone) return;
    Caller caller{client.user, GroupId{client.user.value}};
    RequestId request = ask(
        "give back",
        [job = *client.job, caller](RequestId id) {
            return CompleteJob{id, caller, job, {}};
        },
        [this, index](const Answer&) { clients_[index].gone = true; }, kLostMessage);
    later(kClientTimeout, [this, index, request] {
        if (is_heard(request)) hang_up_on(request);
        give_back(index);
    });
}

void FaultWorld::lose_client(std::size_t index) {
    Client& client = clients_[index];
    if (client.gone) return;
    log(fmt::format("client {} of job {} is gone", index, client.job->value));
    client.gone = true;
    hang_up_on(client.waits);
}

}  // namespace sluice
