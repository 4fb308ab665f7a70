// slurmdbd: the accounting database of several clusters.
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "dbd/session.h"
#include "dbd/target.h"
#include "model/errors.h"
#include "model/version.h"
#include "net/run_on.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/self.h"
#include "os/user.h"

namespace sluice {
namespace {

constexpr Seconds kUpkeepEvery{60};

constexpr const char* kUsage =
    "Usage: slurmdbd [OPTIONS]\n"
    "  -D             stay in the foreground\n"
    "  -f file        read this file instead of slurmdbd.conf beside slurm.conf\n"
    "  -L file        write the log to this file\n"
    "  -v             log more; may be repeated\n"
    "  -h, --help     print this text\n"
    "  -V, --version  print the version\n";

struct DbdOptions {
    std::string config, log_file;
    bool foreground = false, help = false, version = false;
    int verbose = 0;
};

std::optional<DbdOptions> parse(int argc, char** argv) {
    DbdOptions options;
    int letter = 0;
    const option long_options[] = {
        {"help", no_argument, nullptr, 'h'}, {"version", no_argument, nullptr, 'V'}, {}};
    while ((letter = getopt_long(argc, argv, "Df:hL:vV", long_options, nullptr)) != -1) {
        switch (letter) {
            case 'D':
                options.foreground = true;
                break;
            case 'f':
                options.config = optarg;
                break;
            case 'h':
                options.help = true;
                break;
            case 'L':
                options.log_file = optarg;
                break;
            case 'v':
                ++options.verbose;
                break;
            case 'V':
                options.version = true;
                break;
            default:
                return {};
        }
    }
    if (optind < argc) return {};
    return options;
}

// Beside slurm.conf unless -f says otherwise.
std::string conf_path(const DbdOptions& options) {
    if (!options.config.empty()) return options.config;
    const char* slurm_conf = std::getenv("SLURM_CONF");
    const std::string beside = config_path("", slurm_conf ? slurm_conf : "", own_program_path());
    return directory_of(beside) + "/slurmdbd.conf";
}

// Rolls up and purges, until it is destroyed.
class Upkeep {
public:
    explicit Upkeep(DbdServices& services, std::vector<PurgeRule> rules)
        : services_(services), rules_(std::move(rules)), thread_([this] { run(); }) {}
    ~Upkeep() {
        {
            const std::lock_guard guard(mutex_);
            stopping_ = true;
        }
        stop_.notify_all();
        thread_.join();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            lock.unlock();
            const Time now = wall_clock();
            Result<void> done = services_.accounting.roll_up(now);
            if (done)
                done = services_.accounting.purge(rules_, now, services_.config.archive_directory);
            if (!done) log_error("upkeep: {}", to_string(done.error()));
            lock.lock();
            stop_.wait_for(lock, kUpkeepEvery, [this] { return stopping_; });
        }
    }

    DbdServices& services_;
    const std::vector<PurgeRule> rules_;
    std::mutex mutex_;
    std::condition_variable stop_;
    bool stopping_ = false;
    std::thread thread_;
};

enum class Ended : std::uint8_t { Stop, ReadAgain };

sigset_t own_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) sigaddset(&set, number);
    return set;
}

Ended wait_for_signal() {
    const sigset_t set = own_signals();
    while (true) {
        int number = 0;
        if (sigwait(&set, &number) != 0) continue;
        if (number == SIGUSR2) {
            reopen_log();
            continue;
        }
        log_info("{} on signal {}", number == SIGHUP ? "reading slurmdbd.conf" : "stopping",
                 number);
        return number == SIGHUP ? Ended::ReadAgain : Ended::Stop;
    }
}

void block_signals() {
    const sigset_t set = own_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

Result<Ended> serve(const DbdConfig& config, const User& user, Background& background) {
    const UserId slurm_user{user.uid};
    auto accounting = TRY(AccountingService::open(
        {.target = TRY(target_of(config)), .cluster = {}, .hidden = hidden_data(config)},
        wall_clock()));
    auto authenticator = TRY(Authenticator::create(auth_settings(config, slurm_user)));
    Controllers controllers(*authenticator, slurm_user);
    DbdServices services{.config = config,
                         .slurm_user = slurm_user,
                         .accounting = *accounting,
                         .controllers = controllers};
    DbdHost host(services);
    Server server(host, *authenticator);
    TRY(server.listen(config.port, config.address));
    server.start();
    log_info("slurmdbd version {} serves on port {}", kSlurmVersion, config.port);
    background.serving();
    notify_systemd("READY=1");
    Ended ended = Ended::Stop;
    {
        const Upkeep upkeep(services, purge_rules(config));
        ended = wait_for_signal();
    }
    if (ended == Ended::Stop) notify_systemd("STOPPING=1");
    server.stop_listening();
    for (asio::thread_pool* pool : {&services.pool, &host.identify_pool}) {
        pool->stop();
        pool->join();
    }
    server.stop();
    return ended;
}

// On SIGHUP all is opened again with the new slurmdbd.conf. The old one stays if the new one is
// wrong.
Result<void> serve_until_stopped(DbdConfig config, const DbdOptions& options, const User& user,
                                 Background& background) {
    Ended ended = TRY(serve(config, user, background));
    while (ended == Ended::ReadAgain) {
        Result<DbdConfig> next = load_slurmdbd_conf(config.path);
        if (next && options.verbose == 0) set_log_level(next->debug_level);
        Result<Ended> served = next ? serve(*next, user, background) : Result<Ended>(next.error());
        if (served) {
            config = *std::move(next);
        } else {
            log_error("the old configuration stays: {}", to_string(served.error()));
            served = serve(config, user, background);
        }
        ended = TRY(served);
    }
    return {};
}

Result<void> run(const DbdOptions& options) {
    if (!options.foreground) close_inherited();
    const DbdConfig config = TRY(load_slurmdbd_conf(conf_path(options)));
    const std::optional<User> user = find_user(config.slurm_user);
    if (!user) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}: SlurmUser={}: no such user", config.path, config.slurm_user)};
    }
    Background background;
    if (!options.foreground) background.enter();
    PidFile pid_file = TRY(PidFile::create(config.pid_file));
    const std::string log_file = options.log_file.empty() ? config.log_file : options.log_file;
    make_for(*user, config.pid_file, Made::File);
    make_for(*user, log_file, Made::File);
    TRY(become(*user));
    LogSetup setup{.program = "slurmdbd", .file = log_file, .file_level = config.debug_level};
    if (options.verbose > 0) setup.file_level = LogLevel::Debug;
    setup.stderr_level = options.foreground ? setup.file_level : LogLevel::Fatal;
    setup.syslog_level =
        log_file.empty() && !options.foreground ? setup.file_level : LogLevel::Quiet;
    start_log(setup);
    for (const std::string& warning : config.warnings) log_info("warning: {}", warning);
    block_signals();
    TRY(serve_until_stopped(config, options, *user, background));
    pid_file.remove();
    log_info("stopped");
    return {};
}

int main_of(int argc, char** argv) {
    const std::optional<DbdOptions> options = parse(argc, argv);
    if (!options) return std::fputs(kUsage, stderr), 1;
    if (options->help) return std::fputs(kUsage, stdout) < 0;
    if (options->version) return std::puts(kVersionLine.data()) < 0;
    start_log({.program = "slurmdbd"});
    const Result<void> done = run(*options);
    if (done) return 0;
    log(LogLevel::Fatal, "{}", to_string(done.error()));
    return 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    return sluice::main_of(argc, argv);
}
