// dbd/session.h
//
// One connection to slurmdbd: commands ask and change, the slurmctld of each cluster delivers facts
// and asks for the policy. Requests are answered one after the other, on threads for slow work.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>

#include "accounting/service.h"
#include "config/slurmdbd_conf.h"
#include "dbd/controllers.h"
#include "net/request_counts.h"
#include "net/run_on.h"
#include "net/server.h"

namespace sluice {

struct DbdServices {
    DbdConfig config;
    UserId slurm_user;
    AccountingService& accounting;
    Controllers& controllers;
    RequestCounts requests = {};
    std::atomic<Time> counted_since = wall_clock();
    asio::thread_pool pool{4};
    std::atomic<int> signal_after_reply = 0;  // SIGHUP or SIGTERM, for this process
};

class DbdHost : public Host {
public:
    explicit DbdHost(DbdServices& services) : services_(services) {}

    std::string_view daemon() const override { return "slurmdbd"; }
    bool is_for_us(const std::string& destination) const override;
    Result<void> admit(const wire::Hello& hello, const Identity& peer) override;
    asio::awaitable<void> serve(std::shared_ptr<Link> link, Identity peer, wire::Channel channel,
                                std::size_t thread) override;

private:
    DbdServices& services_;
};

// May take long.
wire::Reply reply_to(DbdServices& services, UserId caller, const wire::Request& request, Time now);

}  // namespace sluice
