#include "controller/contender.h"

#include "base/log.h"
#include "model/errors.h"
#include "model/state_location.h"
#include "os/socket.h"
#include "sql/database.h"

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kFollowEvery{20};  // the keeper looks less often
constexpr std::chrono::milliseconds kProblemPause{500};
// Also without changes: a takeover should not be what finds that the connection does not work.
constexpr std::chrono::milliseconds kProbeEvery{1000};

std::vector<std::string> names_of(const std::vector<ControllerHost>& controllers) {
    std::vector<std::string> names;
    for (const ControllerHost& each : controllers) names.push_back(each.name);
    return names;
}

}  // namespace

Result<std::string> own_controller(const Config& config) {
    const std::string here = host_name();
    std::string hosts;
    for (const ControllerHost& each : config.controllers) {
        if (each.name == here) return each.name;
        hosts += fmt::format("{}SlurmctldHost={}", hosts.empty() ? "" : ", ", each.name);
    }
    for (const ControllerHost& each : config.controllers) {
        if (is_own_host(each.address)) return each.name;
    }
    return Error{
        ErrorCode::SystemError,
        fmt::format("this host ({}) is not a controller: {} names {}", here, config.path, hosts)};
}

Result<std::unique_ptr<Contender>> Contender::start(const std::shared_ptr<const LiveConfig>& live,
                                                    std::function<void()> on_change) {
    const Config& config = live->config;
    const std::string own = TRY(own_controller(config));
    const SharedState where{config.state_save_location, config.cluster_name};
    if (const auto valid = sql::check_connection_string(where.connection); !valid) {
        return Error{valid.error().code,
                     fmt::format("StateSaveLocation={}: {}", without_password(where.connection),
                                 valid.error().detail)};
    }
    std::unique_ptr<Contender> contender(new Contender);
    contender->published_.config.set(live);
    contender->authenticator_ = TRY(Authenticator::create(auth_settings(*live)));
    contender->store_ = TRY(open_postgresql(where));
    auto lease = TRY(postgresql_lease(where, own));
    contender->keeper_ = std::make_unique<LeaseKeeper>(
        std::move(lease), own, names_of(config.controllers), std::move(on_change));
    contender->standby_.emplace(contender->published_, *contender->keeper_);
    contender->server_.emplace(*contender->standby_, *contender->authenticator_);
    TRY(contender->server_->listen(config.slurmctld_port, address_to_listen_on(config)));
    contender->server_->start();
    contender->follower_ = std::thread([self = contender.get()] { self->follow(); });
    return contender;
}

Contender::~Contender() {
    following_ = false;
    if (follower_.joinable()) follower_.join();
    if (server_) server_->stop();
    if (standby_) standby_->identify_pool.join();
}

void Contender::follow() {
    auto probe_at = LeaseClock::now();
    while (following_) {
        std::this_thread::sleep_for(kFollowEvery);
        const bool is_behind = keeper_->view().lease.version != warm_.version();
        if (!is_behind && LeaseClock::now() < probe_at) continue;
        if (!catch_up()) std::this_thread::sleep_for(kProblemPause);
        probe_at = LeaseClock::now() + kProbeEvery;
    }
}

bool Contender::catch_up() {
    auto changes = store_->changes_since(warm_.version());
    if (!changes) return succeeds(changes.error());
    warm_.apply(*std::move(changes));
    return succeeds({});
}

bool Contender::succeeds(const Result<void>& reading) {
    const std::string problem = reading ? "" : reason_of(reading.error());
    if (!problem.empty() && problem != last_problem_)
        log_error("the shared state cannot be read: {}", problem);
    last_problem_ = problem;
    return problem.empty();
}

Result<Takeover> Contender::take_over() {
    following_ = false;
    follower_.join();
    while (!succeeds(store_->migrate()) || !catch_up()) {
        if (keeper_->is_lost()) return Error{ErrorCode::StoreFailed, last_problem_};
        std::this_thread::sleep_for(kProblemPause);
    }
    Takeover takeover{.store = std::move(store_), .state = warm_.take(), .keeper = *keeper_};
    takeover.before_listening = [this] {
        server_->stop_listening();
        server_->stop();
        standby_->identify_pool.join();
        server_.reset();
    };
    return takeover;
}

}  // namespace sluice
