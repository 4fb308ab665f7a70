#include "cli/sdata/sync_command.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <set>
#include <thread>

#include "data/sync.h"
#include "data/usage.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {

namespace {

// Others come first, for the processor and for the disk.
void yield_to_others() {
    constexpr int kLowest = 19;
    constexpr int kOwnProcess = 1;       // IOPRIO_WHO_PROCESS
    constexpr int kIdleClass = 3 << 13;  // IOPRIO_CLASS_IDLE
    (void)setpriority(PRIO_PROCESS, 0, kLowest);
    (void)syscall(SYS_ioprio_set, kOwnProcess, 0, kIdleClass);
}

class SyncTool {
public:
    SyncTool(const SyncOptions& options, data::SyncOrder order, Streams& streams)
        : options_(options), order_(std::move(order)), streams_(streams), sync_(order_) {}

    Result<void> restore() {
        const Result<std::string> name = data::restore_newest(order_.persistent, order_.local);
        if (!name) return fail(name.error());
        if (!options_.reports)
            streams_.out(name->empty() ? "there is nothing to restore\n" : *name + "\n");
        return {};
    }

    Result<void> run_once() {
        const Result<data::SyncReport> report = look_twice();
        if (!report) return fail(report.error());
        if (report->is_local_missing && !options_.may_be_missing)
            return fail(os_error(order_.local, ENOENT));
        if (!options_.reports)
            streams_.out(
                fmt::format("{} files, {}\n", report->files, data::print_size(report->bytes)));
        for (const std::string& file : report->waiting) warn(file + ": it is still being written");
        return {};
    }

    // Until this process is ended.
    [[noreturn]] void run_for_ever() {
        while (true) {
            const auto began = std::chrono::steady_clock::now();
            const Result<data::SyncReport> report = look_twice();
            if (!report && last_failure_ != report.error().detail) (void)fail(report.error());
            last_failure_ = report ? "" : report.error().detail;
            std::this_thread::sleep_until(began + options_.every);
        }
    }

    // The file system may keep the rest of this process waiting for ever.
    void end_after(Seconds timeout) {
        std::thread([this, timeout] {
            std::this_thread::sleep_for(timeout);
            const std::string text = fmt::format("{}: not synchronised with {} within {} s",
                                                 order_.local, order_.persistent, timeout.count());
            if (options_.reports)
                (void)write_all(STDOUT_FILENO, fmt::format("problem {}\n", one_line(text)));
            warn(text);
            _exit(1);
        }).detach();
    }

    Error fail(const Error& error) {
        if (options_.reports) streams_.out(fmt::format("problem {}\n", one_line(error.detail)));
        streams_.flush();
        if (!options_.log.empty()) warn(error.detail);
        return error;
    }

private:
    // A file counts as complete when two looks at it are the same.
    Result<data::SyncReport> look_twice() {
        constexpr auto kBetween = std::chrono::milliseconds{1200};
        Result<data::SyncReport> report = sync_.run(std::chrono::steady_clock::now());
        if (report) tell(*report);
        if (!report || report->waiting.empty()) return report;
        std::this_thread::sleep_for(kBetween);
        Result<data::SyncReport> second = sync_.run(std::chrono::steady_clock::now());
        if (!second) return second;
        second->files += report->files;
        second->bytes += report->bytes;
        tell(*second);
        return second;
    }

    void tell(const data::SyncReport& report) {
        for (const std::string& each : report.left_out) {
            if (warned_.insert(each).second) warn(each + ": not copied");
        }
        if (!options_.reports || !report.newest_ns || report.newest_ns == saved_) return;
        saved_ = report.newest_ns;
        streams_.out(fmt::format("saved {}\n", *saved_ / 1'000'000'000));
        streams_.flush();
    }

    static std::string one_line(std::string text) {
        std::replace(text.begin(), text.end(), '\n', '?');
        return text;
    }

    void warn(const std::string& text) {
        const std::string line = supervisor_line("sync: " + one_line(text));
        const Fd log(options_.log.empty() ? -1
                                          : open(options_.log.c_str(),
                                                 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
        if (!log || !write_all(log.get(), line)) streams_.err(line);
    }

    const SyncOptions& options_;
    const data::SyncOrder order_;
    Streams& streams_;
    data::Synchroniser sync_;
    std::set<std::string> warned_;
    std::optional<std::int64_t> saved_;
    std::string last_failure_;
};

}  // namespace

Result<std::string> expand_variables(std::string_view path, const Environment& environment) {
    std::string expanded;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '$') {
            expanded.push_back(path[i]);
            continue;
        }
        const bool braces = i + 1 < path.size() && path[i + 1] == '{';
        const std::size_t begin = i + (braces ? 2 : 1);
        std::size_t end = begin;
        while (end < path.size() &&
               (std::isalnum(static_cast<unsigned char>(path[end])) != 0 || path[end] == '_'))
            ++end;
        const std::string_view name = path.substr(begin, end - begin);
        if (name.empty() || (braces && (end == path.size() || path[end] != '}')))
            return Error{{}, fmt::format("{}: expected $NAME or ${{NAME}}", path)};
        const std::optional<std::string_view> value = environment.find(name);
        if (!value) return Error{{}, fmt::format("{}: the variable {} is not set", path, name)};
        expanded += *value;
        i = braces ? end : end - 1;
    }
    return expanded;
}

Result<void> run_sync(const SyncOptions& options, const std::vector<std::string>& operands,
                      const Invocation& invocation, Streams& streams) {
    std::signal(SIGIO, SIG_IGN);  // a lease is broken: it is given back at once anyway
    const auto path = [&](std::size_t operand) -> Result<std::string> {
        std::string name = operands[operand];
        if (options.expands) name = TRY(expand_variables(name, invocation.environment));
        return absolute_path(name, invocation.directory);
    };
    const Result<std::string> local = path(0), persistent = path(1);
    SyncTool tool(
        options,
        {local ? *local : "", persistent ? *persistent : "", options.keep, options.is_final},
        streams);
    if (options.timeout) tool.end_after(*options.timeout);
    if (!local) return tool.fail(local.error());
    if (!persistent) return tool.fail(persistent.error());
    if (options.restores) return tool.restore();
    if (options.once || options.is_final) return tool.run_once();
    yield_to_others();
    tool.run_for_ever();
}

}  // namespace sluice
