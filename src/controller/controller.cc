// controller/controller.cc
#include "controller/controller.h"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <filesystem>

#include "base/audit_log.h"
#include "base/log.h"
#include "config/settings.h"
#include "controller/accounting_requests.h"
#include "controller/dbd_peer.h"
#include "controller/reconfigure.h"
#include "controller/reserved_groups.h"
#include "model/errors.h"
#include "model/state_location.h"
#include "os/self.h"
#include "os/socket.h"
#include "store/directory_lock.h"
#include "store/shared_schema.h"

namespace sluice {
namespace {

constexpr int kReaderNice = 5;
constexpr const char* kDatabaseFiles[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm"};

// Renamed, not deleted, so that a clear by mistake can be undone. Never while another controller
// uses it.
Result<void> put_aside(const std::string& directory) {
    const DirectoryLock lock = TRY(DirectoryLock::take(directory));
    const std::string suffix = fmt::format(".{}", to_unix(wall_clock()));
    for (const char* name : kDatabaseFiles) {
        const std::filesystem::path path = std::filesystem::path(directory) / name;
        std::error_code error;
        if (!std::filesystem::exists(path, error)) continue;
        std::filesystem::rename(path, path.string() + suffix, error);
        if (error) {
            return Error{ErrorCode::StoreFailed,
                         fmt::format("{}: {}", path.string(), error.message())};
        }
        log_info("state put aside: {}{}", path.string(), suffix);
    }
    return {};
}

Result<std::unique_ptr<Store>> open_store(const std::string& directory,
                                          const StartOptions& options) {
    if (options.clear_state) {
        log_info("clearing all previous state in {}", directory);
        TRY(put_aside(directory));
    }
    auto store = open_sqlite(directory);
    if (store || !options.ignore_state_errors) return store;
    log_error("{}; starting without it (-i)", to_string(store.error()));
    TRY(put_aside(directory));
    return open_sqlite(directory);
}

// All controllers of a shared state sign with one key: what the last one has granted stays valid.
Result<CredentialSigner> shared_signer(Store& store) {
    const std::string secret = TRY(store.launch_key(CredentialSigner::make_secret()));
    return CredentialSigner::from_secret(secret, "in the database of the state");
}

// Beside the state.
sql::Target accounting_target(const Config& config) {
    if (!is_shared_state(config.state_save_location))
        return {.path = config.state_save_location + "/accounting.db"};
    return accounting_target_of({config.state_save_location, config.cluster_name});
}

double seconds_since(SteadyTime start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

AuthSettings auth_settings(const LiveConfig& live) {
    const Config& config = live.config;
    const std::string beside = default_token_key_path(config.path);
    return {.type = config.auth_type,
            .munge_socket = std::string(list_option(config.auth_info, "socket").value_or("")),
            .key_path = std::string(list_option(config.auth_info, "key").value_or(beside)),
            .host = host_name(),
            .slurm_user = live.slurm_user};
}

Result<std::unique_ptr<Controller>> Controller::start(std::shared_ptr<const LiveConfig> config,
                                                      StartOptions options) {
    const std::string& directory = config->config.state_save_location;
    auto authenticator = TRY(Authenticator::create(auth_settings(*config)));
    auto store =
        options.takeover ? std::move(options.takeover->store) : TRY(open_store(directory, options));
    auto signer =
        TRY(options.takeover ? shared_signer(*store)
                             : CredentialSigner::load_or_create(directory + "/launch.key"));
    std::unique_ptr<Controller> controller(new Controller(
        std::move(store), std::move(signer), std::move(authenticator), std::move(config)));
    if (options.takeover) controller->services_.lease = &options.takeover->keeper;
    TRY(controller->recover(options));
    const auto live = controller->published_.config.get();
    if (options.takeover) options.takeover->before_listening();
    TRY(controller->server_.listen(live->config.slurmctld_port,
                                   address_to_listen_on(live->config)));
    asio::co_spawn(controller->server_.home(), watch_reserved_groups(controller->services_),
                   asio::detached);
    if (options.takeover)
        asio::co_spawn(controller->server_.home(), controller->fleet_.pulse(), asio::detached);
    controller->server_.start();
    return controller;
}

Controller::Controller(std::unique_ptr<Store> store, CredentialSigner signer,
                       std::unique_ptr<Authenticator> authenticator,
                       std::shared_ptr<const LiveConfig> config)
    : store_(std::move(store)),
      signer_(std::move(signer)),
      authenticator_(std::move(authenticator)),
      services_{.inbox = inbox_,
                .published = published_,
                .store = *store_,
                .signer = signer_,
                .config_path = config->config.path,
                .hostname = host_name(),
                .boot_time = wall_clock()},
      server_(host_, *authenticator_),
      fleet_(server_.home().get_executor(), services_) {
    published_.config.set(std::move(config));
    services_.fleet = &fleet_;
    // Threads that serve submissions and nodes have a higher priority than those that answer
    // queries.
    for (asio::thread_pool* pool :
         {&services_.reader_pool, &services_.accounting_pool, &services_.question_pool})
        asio::post(*pool, [] { (void)set_nice(kReaderNice); });
}

Controller::~Controller() {
    stop();
}

Result<void> Controller::open_accounting(std::shared_ptr<const Policy> stored) {
    const auto live = published_.config.get();
    const Config& config = live->config;
    std::unique_ptr<AccountingPeer> peer;
    if (config.accounting_type == "accounting_storage/slurmdbd") {
        peer = std::make_unique<DbdPeer>(published_, *authenticator_);
        if (!config.qos.empty())
            log_error("QOS lines have no effect: slurmdbd has the accounting database");
    } else {
        ServiceOptions options{.target = accounting_target(config),
                               .cluster = config.cluster_name,
                               .hidden = hidden_data(config),
                               .tracked_tres = tracked_tres(config),
                               .qos = config.qos,
                               .first = std::move(stored)};
        accounting_ = TRY(AccountingService::open(std::move(options), wall_clock()));
        ClusterRecord own;
        own.name = config.cluster_name;
        own.control_host = host_name();
        own.control_port = config.slurmctld_port;
        own.has_gang = parse_preempt_words(config.preempt_mode).gang;
        TRY(accounting_->register_cluster(own, wall_clock()));
        peer = std::make_unique<OwnAccounting>(*accounting_, config.cluster_name);
    }
    accountant_ = std::make_unique<Accountant>(*store_, inbox_, published_, std::move(peer));
    services_.accounting = accounting_.get();
    services_.accountant = accountant_.get();
    return {};
}

Result<StoredState> Controller::load_state(const StartOptions& options) {
    auto stored = store_->load();
    if (stored || !options.ignore_state_errors) return stored;
    log_error("{}; starting without it (-i)", to_string(stored.error()));
    return StoredState{};
}

Result<void> Controller::recover(StartOptions& options) {
    const auto began = std::chrono::steady_clock::now();
    const bool is_shared = options.takeover.has_value();
    const Epoch epoch = is_shared ? options.takeover->keeper.epoch() : TRY(store_->take_epoch());
    const Result<StoredState> stored =
        is_shared ? std::move(options.takeover->state) : load_state(options);
    if (!stored) return stored.error();
    TRY(open_accounting(stored->policy));
    const auto config = published_.config.get();
    auto settings =
        std::make_shared<const Settings>(TRY(settings_from(config->config, config->slurm_user)));
    // By the clock of the controller that has recorded the times.
    const Seconds clock_step = is_shared ? options.takeover->keeper.clock_step() : Seconds{0};
    const Time now = wall_clock() - clock_step;
    cluster_ = std::make_unique<Cluster>(std::move(settings), now);
    cluster_->restore(*stored, now);
    published_.snapshot.set(cluster_->take_snapshot(now));
    warn_of_unknown_qos(cluster_->settings(), *published_.snapshot.get());
    for (const DamagedRow& row : stored->damaged) {
        log_error(
            "the stored record of {} {} is damaged and was set aside: {} (scontrol show damaged)",
            row.kind, row.key, row.why);
    }
    log_info("recovered {} jobs in {:.3f} s", stored->jobs.size(), seconds_since(began));
    committer_ = std::make_unique<Committer>(*store_, published_, fleet_, mailer_, programs_,
                                             power_programs_, triggers_,
                                             Writership{.epoch = epoch,
                                                        .on_fenced = options.on_fenced,
                                                        .on_facts = [this] { accountant_->wake(); },
                                                        .lease = services_.lease});
    loop_ = std::make_unique<Loop>(std::move(cluster_), inbox_, *committer_, services_.io_pulse,
                                   services_.statistics, clock_step);
    tell_triggers_of_start();
    accountant_->start();
    return {};
}

// For triggers: what the start of this process says of the primary controller.
void Controller::tell_triggers_of_start() {
    const auto live = published_.config.get();
    const std::vector<ControllerHost>& hosts = live->config.controllers;
    const std::string own = services_.lease ? services_.lease->own_name() : host_name();
    const bool is_primary = hosts.size() < 2 || hosts.front().name == own;
    std::vector<TriggerEvent> events{TriggerEvent::ControllerResumedOperation};
    if (!is_primary) {
        events = {TriggerEvent::ControllerFailed, TriggerEvent::BackupAssumedControl};
    } else if (hosts.size() > 1) {
        events.push_back(TriggerEvent::ControllerResumedControl);
    }
    for (const TriggerEvent event : events) {
        Incoming incoming;
        incoming.event = ServiceChanged{event};
        inbox_.push(std::move(incoming));
    }
}

void Controller::reconfigure() {
    auto incoming = prepare_reconfigure(services_, RequestId{}, {});
    if (!incoming) {
        log_error("slurm.conf was not taken over: {}", to_string(incoming.error()));
    } else {
        log_audit("reconfigure by SIGHUP");
        inbox_.push(std::move(*incoming));
    }
}

void Controller::stop() {
    server_.stop_listening();
    if (accountant_) accountant_->stop();
    if (committer_) committer_->give_up_soon();
    if (loop_) loop_->stop();
    if (committer_) committer_->stop();
    for (asio::thread_pool* pool :
         {&host_.identify_pool, &services_.slow_pool, &services_.blob_pool, &services_.reader_pool,
          &services_.accounting_pool, &services_.question_pool}) {
        pool->stop();
        pool->join();  // its work refers to connections, which are destroyed next
    }
    server_.stop();
}

}  // namespace sluice
