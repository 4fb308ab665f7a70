// controller/client_session.h
//
// The conversation with one command. Requests may be sent without waiting for the answers, which
// come in order; a question about the cluster waits until all earlier changes are answered, so that
// it sees them.
#pragma once

#include <asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <mutex>

#include "controller/link.h"
#include "controller/listings.h"
#include "controller/services.h"
#include "wire.pb.h"

namespace sluice {

class ClientSession : public Asker, public std::enable_shared_from_this<ClientSession> {
public:
    ClientSession(std::shared_ptr<Link> link, Caller caller, Services& services,
                  Listings& listings);

    asio::awaitable<void> run();
    // From the thread that wrote the change down, or that worked the answer out.
    void answered(RequestId request, Answer answer) override;
    void to_be_answered(RequestId request, OpenQuestion question) override;
    void all_told() override;

private:
    // A request's place in the order of answers.
    struct Slot {
        RequestId request;
        Bytes reply;  // null: not yet
    };

    asio::awaitable<Result<wire::Request>> decoded(std::string_view message);
    bool is_within_rate(const wire::Request& request);
    asio::awaitable<void> handle(wire::Request& request);
    asio::awaitable<void> ask_core(wire::Request& request);
    // `key`: by which the request is known when it comes again; empty: it does not.
    asio::awaitable<void> ask(Incoming incoming, RequestId id, std::string key);
    asio::awaitable<bool> is_known(UserId user);
    asio::awaitable<void> add_groups(Caller& caller);
    asio::awaitable<void> add_hosts(Caller& caller);
    asio::awaitable<void> add_job_owners(UpdatePartition& change);
    asio::awaitable<bool> add_group_members(ChangeReservation& event);
    asio::awaitable<Result<Incoming>> incoming_of(wire::Request& request, RequestId id);
    asio::awaitable<Bytes> query(const wire::Request& request);
    asio::awaitable<Bytes> list(const wire::ListTable& question);
    std::string config_text() const;  // `scontrol show config`
    asio::awaitable<Bytes> batch_script(JobId job);
    asio::awaitable<void> reconfigure();
    asio::awaitable<void> room_for_one_more();
    asio::awaitable<void> all_answered();
    asio::awaitable<void> drop_waiting();
    void answer_at_once(Bytes reply);
    void fill(RequestId request, Bytes reply);
    // With mutex_ held.
    void take_place(RequestId request, Bytes reply);
    void send_ready();
    bool nothing_due() const;
    template <typename Condition>
    asio::awaitable<void> wait_until(Condition holds);

    std::shared_ptr<Link> link_;
    Caller caller_;
    Services& services_;
    Listings& listings_;
    Turns::Turn turn_;                                // has a long listing in hand
    std::shared_ptr<const InFlight::Charge> charge_;  // of the request in hand
    asio::steady_timer answered_;  // cancelled when slots have gone: wakes wait_until()

    mutable std::mutex mutex_;  // for all below, and for the link's time to be idle
    std::deque<Slot> slots_;
    bool waited_for_ = false;  // somebody sleeps in wait_until()
};

}  // namespace sluice
