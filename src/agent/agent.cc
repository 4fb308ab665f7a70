#include "agent/agent.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "agent/adoption.h"
#include "agent/controller_link.h"
#include "agent/door.h"
#include "agent/hooks.h"
#include "agent/jobs.h"
#include "agent/scratch_quota.h"
#include "agent/slow_work.h"
#include "agent/stage_desk.h"
#include "agent/task_binding.h"
#include "base/log.h"
#include "model/errors.h"
#include "model/version.h"
#include "os/daemonize.h"
#include "os/error.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

Time now() {
    return from_unix(std::time(nullptr));
}

// Of the wall clock from the steady one: changes when the wall clock is set.
std::chrono::nanoseconds clock_offset() {
    return std::chrono::system_clock::now().time_since_epoch() -
           std::chrono::steady_clock::now().time_since_epoch();
}

void log_findings(const Site& site) {
    for (const std::string& note : site.notes) log_info("{}", note);
    if (!site.problem.empty()) log_error("this node must not run jobs: {}", site.problem);
}

// slurmctld refuses what is not supported; a node only says that it has no effect here.
void log_warnings(const Config& config, const Config* before) {
    for (const std::string& warning : new_warnings(config, before)) {
        log_info("warning: {}", warning);
    }
}

class Agent {
public:
    Agent(SiteDemand demand, const std::shared_ptr<const Site>& site,
          const std::shared_ptr<Authenticator>& authenticator)
        : demand_(std::move(demand)),
          site_(site),
          hooks_(loop_),
          gpus_(loop_, site,
                {[this](const GpuReport& report, bool reliable) { report_gpus(report, reliable); },
                 [this](const JobKey& job) { return jobs_.supervisors_of(job); }}),
          jobs_(loop_, site, hooks_, gpus_,
                {[this](wire::AgentReport report) { link_.report(std::move(report)); },
                 [this](const wire::AgentReport& news) { link_.send_once(news); }}),
          link_(loop_, site, authenticator, slow_work_,
                {[this](const std::string& key) { trust(key); }, [this] { return registration(); },
                 [this](const wire::AgentOrder& order) { on_order(order); },
                 [this](const wire::AgentReport& done) { jobs_.on_acknowledged(done); }}),
          door_(loop_, authenticator, slow_work_, jobs_, gpus_),
          adoption_(loop_, jobs_),
          scratch_quota_(loop_, slow_work_, jobs_),
          stage_desk_(loop_, jobs_),
          started_(now()) {}

    Result<void> open() {
        loop_.on_signals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR2},
                         [this](int signal) { on_signal(signal); });
        TRY(door_.open(*site_));
        adoption_.open(*site_);
        gpus_.open();
        stage_desk_.open(*site_);
        jobs_.recover();
        scratch_quota_.replace_site(site_);
        gpus_.keep_only(jobs_.jobs_here());
        check_health_first([this] {
            link_.start();
            heartbeat();
        });
        return {};
    }
    void run() { loop_.run(); }

private:
    // The boot of the last check is remembered in the spool.
    void check_health_first(std::function<void()> then) {
        const std::string path = site_->spool + "/checked_boot", boot = read_machine().boot_id;
        const Result<std::string> checked = read_file(path);
        const bool only_boots =
            site_->config.has_flag(site_->config.health_check_node_state, "REBOOT_ONLY");
        if (only_boots && checked && *checked == boot) return then();
        (void)write_file_atomically(path, boot);
        hooks_.run_health_check(*site_, std::move(then));
    }

    wire::Register registration() {
        wire::Register message;
        message.set_node(site_->node.name);
        NodeFacts facts = facts_of(*site_, started_);
        facts.datasets = jobs_.datasets();
        message.set_facts(encode(facts));
        for (const wire::RunId& run : jobs_.known()) *message.add_running() = run;
        message.set_clock(to_unix(now()));
        if (!site_->dynamic.empty()) message.mutable_dynamic()->set_conf(site_->dynamic);
        registered_offset_ = clock_offset();
        return message;
    }

    void report_gpus(const GpuReport& report, bool reliable) {
        wire::AgentReport message;
        message.set_gpus(encode(report));
        if (reliable) return link_.report(std::move(message));
        link_.send_once(message);
    }

    void on_order(const wire::AgentOrder& order) {
        switch (order.body_case()) {
            case wire::AgentOrder::kRegistered:
                return on_registered(order.registered());
            case wire::AgentOrder::kLaunchBatch:
                return jobs_.launch_batch(order.launch_batch());
            case wire::AgentOrder::kPrepare:
                return jobs_.prepare(order.prepare());
            case wire::AgentOrder::kSignal:
                return jobs_.signal(order.signal());
            case wire::AgentOrder::kTerminate:
                return jobs_.terminate(order.terminate());
            case wire::AgentOrder::kCheckHealth:
                return hooks_.run_health_check(*site_, [] {});
            case wire::AgentOrder::kReconfigure:
                return reconfigure();
            case wire::AgentOrder::kReboot:
                return reboot(order.reboot());
            case wire::AgentOrder::kShutdown:
                return end();
            default:
                return;
        }
    }

    void trust(const std::string& key) {
        if (Result<void> trusted = jobs_.trust(key); !trusted) {
            log_error("the controller's key: {}", trusted.error().detail);
        }
    }

    void on_registered(const wire::Registered& registered) {
        if (registered.heartbeat_seconds() > 0) {
            heartbeat_interval_ = Seconds{registered.heartbeat_seconds()};
        }
        if (registered.has_jobs()) jobs_.keep_only(registered.jobs());
        loop_.cancel(heartbeat_timer_);
        heartbeat();
        if (std::exchange(look_again_, false)) look_again();
    }

    void heartbeat() {
        Load load = read_load();
        wire::AgentReport report;
        report.mutable_heartbeat()->set_load(load.one_minute);
        report.mutable_heartbeat()->set_free_memory(load.free_memory_mb);
        report.mutable_heartbeat()->set_free_scratch(disk_free_mb(site_->scratch_disk));
        report.mutable_heartbeat()->set_clock_steps(
            std::chrono::round<Seconds>(clock_offset() - registered_offset_).count());
        link_.send_once(report);
        if (!site_->problem.empty()) examine_again();
        heartbeat_timer_ = loop_.after(heartbeat_interval_, [this] { heartbeat(); });
    }

    // The order comes again with every registration until the machine has been down.
    void reboot(std::int64_t ordered) {
        if (ordered == reboot_ordered_) return;
        reboot_ordered_ = ordered;
        hooks_.run_reboot(*site_);
    }

    // A file that does not load changes nothing.
    void reconfigure() {
        Result<Site> fresh = make_site(demand_, site_->hardware);
        if (!fresh) return log_error("reconfigure: {}", to_string(fresh.error()));
        take_over(std::move(*fresh));
    }

    // An order to read it again does not reach us between the reading and the end of the
    // registration that follows it.
    void look_again() {
        Result<Site> fresh = make_site(demand_, site_->hardware);
        if (!fresh) return log_error("reconfigure: {}", to_string(fresh.error()));
        if (fresh->config != site_->config) take_over(std::move(*fresh));
    }

    // The cause of a drain may have been repaired: a new registration reports that to slurmctld.
    void examine_again() {
        Site fresh = *site_;
        examine(fresh);
        if (fresh.problem != site_->problem) replace_site(std::move(fresh));
    }

    void take_over(Site fresh) {
        fresh.spool = site_->spool;  // what runs is found there
        fresh.scratch_disk = site_->scratch_disk;
        fresh.scratch = site_->scratch;
        fresh.data_cache = site_->data_cache;
        log_warnings(fresh.config, &site_->config);
        set_log_level(fresh.config.slurmd_debug);
        look_again_ = true;
        replace_site(std::move(fresh));
        log_info("configuration read again");
    }

    void replace_site(Site fresh) {
        site_ = std::make_shared<const Site>(std::move(fresh));
        log_findings(*site_);
        gpus_.replace_site(site_);
        jobs_.replace_site(site_);
        link_.replace_site(site_);
        scratch_quota_.replace_site(site_);
        adoption_.open(*site_);
    }

    void on_signal(int signal) {
        if (signal == SIGCHLD) {
            int status = 0;
            for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
                hooks_.on_exit(pid, status);
                jobs_.on_exit(pid, status);
            }
        } else if (signal == SIGHUP) {
            reopen_log();
            reconfigure();
        } else if (signal == SIGUSR2) {
            reopen_log();
        } else {
            end();
        }
    }

    void end() {
        log_info("slurmd ends; its jobs go on");
        if (site_->cgroups && jobs_.known().empty())
            remove_empty_cgroups(cgroup_place(*site_, 0, ""));
        loop_.stop();
    }

    SiteDemand demand_;
    std::shared_ptr<const Site> site_;
    EventLoop loop_;
    SlowWork slow_work_{loop_};
    Hooks hooks_;
    GpuWatch gpus_;
    Jobs jobs_;
    ControllerLink link_;
    Door door_;
    Adoption adoption_;
    ScratchQuota scratch_quota_;
    StageDesk stage_desk_;
    Time started_;
    Seconds heartbeat_interval_{30};
    EventLoop::TimerId heartbeat_timer_ = 0;
    std::chrono::nanoseconds registered_offset_ = clock_offset();
    std::int64_t reboot_ordered_ = 0;
    bool look_again_ = true;  // once registered: is the configuration still the one that was read?
};

AuthSettings auth_settings(const Site& site) {
    const Config& config = site.config;
    const std::string beside = default_token_key_path(config.path);
    return {.type = config.auth_type,
            .munge_socket = std::string(list_option(config.auth_info, "socket").value_or("")),
            .key_path = std::string(list_option(config.auth_info, "key").value_or(beside)),
            .host = site.hostname,
            .slurm_user = UserId{site.slurm_user}};
}

void begin_log(const Site& site, const SlurmdOptions& options) {
    LogSetup setup;
    setup.program = "slurmd";
    setup.file = !options.log_file.empty()
                     ? options.log_file
                     : expand_node_path(site.config.slurmd_log_file, site.node.name, site.hostname);
    int level = static_cast<int>(site.config.slurmd_debug) + options.verbose;
    setup.file_level = static_cast<LogLevel>(std::min(level, static_cast<int>(LogLevel::Debug5)));
    setup.stderr_level = options.foreground ? setup.file_level : LogLevel::Error;
    setup.syslog_level = site.config.slurmd_syslog_debug;
    start_log(setup);
    log_warnings(site.config, nullptr);
    if (!site.cgroups) log_info("steps are tracked by their descent: no cgroups, no limits");
    log_findings(site);
}

Result<void> prepare_spool(const Site& site, bool clean) {
    TRY(as(ErrorCode::SystemError, make_directories(site.spool)));
    if (!clean) return {};
    for (const std::string& name : list_directory(site.spool)) {
        if (name.starts_with("job")) remove_tree(site.spool + "/" + name);
    }
    return {};
}

}  // namespace

Result<void> run_agent(const SlurmdOptions& options) {
    if (!options.foreground) close_inherited();
    SiteDemand demand;
    const char* variable = std::getenv("SLURM_CONF");
    demand.config_path =
        config_path(options.config_path, variable ? variable : "", own_program_path());
    demand.node_name = options.node_name;
    demand.rebooted = options.rebooted;
    demand.dynamic = options.dynamic;
    demand.dynamic_conf = options.dynamic_conf;
    Hardware hardware = TRY(as(ErrorCode::SystemError, read_hardware()));
    auto site = std::make_shared<const Site>(TRY(make_site(demand, hardware)));
    std::shared_ptr<Authenticator> authenticator = TRY(Authenticator::create(auth_settings(*site)));
    begin_log(*site, options);

    Background background;
    if (!options.foreground) background.enter();
    TRY(prepare_spool(*site, options.clean));
    bind_daemon(*site);
    std::string pid_path =
        expand_node_path(site->config.slurmd_pid_file, site->node.name, site->hostname);
    PidFile pid_file = TRY(as(ErrorCode::SystemError, PidFile::create(pid_path)));
    Agent agent(demand, site, authenticator);
    TRY(as(ErrorCode::SystemError, agent.open()));
    log_info("slurmd version {} started as node {}", kSlurmVersion, site->node.name);
    background.serving();
    notify_systemd("READY=1");
    agent.run();
    notify_systemd("STOPPING=1");
    pid_file.remove();
    return {};
}

std::string hardware_lines(const Hardware& hardware) {
    Machine machine = read_machine();
    std::int64_t up = std::time(nullptr) - to_unix(machine.boot_time);
    return fmt::format(
        "NodeName={} CPUs={} Boards={} SocketsPerBoard={} CoresPerSocket={} ThreadsPerCore={} "
        "RealMemory={}\nUpTime={}-{:02}:{:02}:{:02}\n",
        host_name(), hardware.cpus, hardware.boards, hardware.sockets, hardware.cores_per_socket,
        hardware.threads_per_core, hardware.memory_mb, up / 86400, up / 3600 % 24, up / 60 % 60,
        up % 60);
}

}  // namespace sluice
