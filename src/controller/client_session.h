// controller/client_session.h
//
// The session of one command. Requests may be sent without waiting for the answers, which come in
// order; a query waits until all earlier changes are answered, so that it sees them.
#pragma once

#include <asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <mutex>

#include "controller/listings.h"
#include "controller/services.h"
#include "net/link.h"
#include "wire.pb.h"

namespace sluice {

class ClientSession : public Asker, public std::enable_shared_from_this<ClientSession> {
public:
    ClientSession(std::shared_ptr<Link> link, Caller caller, Services& services,
                  Listings& listings);

    asio::awaitable<void> run();
    // Called by the thread that committed the change, or that computed the answer.
    void answered(RequestId request, Answer answer) override;
    void to_be_answered(RequestId request, OpenQuestion question) override;
    void all_told() override;

private:
    // A request's position in the order of answers.
    struct Slot {
        RequestId request;
        Bytes reply;  // null: not yet
    };

    asio::awaitable<Result<wire::Request>> decoded(std::string_view message);
    bool is_within_rate(const wire::Request& request);
    asio::awaitable<void> handle(wire::Request& request);
    asio::awaitable<void> ask_core(wire::Request& request);
    // `key`: identifies the request if it is repeated; empty: it is not.
    asio::awaitable<void> ask(Incoming incoming, RequestId id, std::string key);
    asio::awaitable<bool> is_known(UserId user);
    asio::awaitable<void> add_groups(Caller& caller);
    asio::awaitable<void> add_hosts(Caller& caller);
    asio::awaitable<void> add_job_owners(UpdatePartition& change);
    asio::awaitable<bool> add_group_members(ChangeReservation& event);
    asio::awaitable<Result<Incoming>> incoming_of(wire::Request& request, RequestId id);
    asio::awaitable<Bytes> query(const wire::Request& request);
    asio::awaitable<Bytes> list(const wire::ListTable& question);
    Bytes bounded(Bytes reply);
    std::string config_text() const;  // `scontrol show config`
    asio::awaitable<Bytes> batch_script(JobId job);
    asio::awaitable<Bytes> accounting(const wire::Request& request);
    asio::awaitable<Bytes> statistics();
    Bytes reset_statistics();
    asio::awaitable<Bytes> probe_node(const std::string& name);
    Bytes shown_triggers(std::string_view choice) const;
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
    Turns::Turn turn_;                                // while it sends a long listing
    std::shared_ptr<const InFlight::Charge> charge_;  // of the current request
    RequestCounts::Timer timer_;                      // of the current request
    asio::steady_timer answered_;  // cancelled when slots were removed: wakes wait_until()

    mutable std::mutex mutex_;  // for all below, and for the link's idle time
    std::deque<Slot> slots_;
    bool waited_for_ = false;  // a coroutine waits in wait_until()
};

}  // namespace sluice
