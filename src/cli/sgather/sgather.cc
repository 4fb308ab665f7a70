#include "cli/sgather/sgather.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <set>

#include "cli/common/listing.h"
#include "cli/sbcast/broadcast.h"
#include "cli/sbcast/remote.h"
#include "cli/sbcast/transfer_options.h"
#include "cli/srun/srun.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::string_view kGatherOperands = "SOURCE DEST";
constexpr std::uint32_t kGatherWidth = 8;  // nodes at a time, unless another number is given
constexpr Argument kPlain = Argument::None, kNeeded = Argument::Required,
                   kMaybe = Argument::Optional;

// clang-format off
constexpr ToolOption kGatherOptions[] = {
    {{"compress",  'C', kMaybe,  kCompress},      "[library]",  "SGATHER_COMPRESS", "compress the file on the way: lz4, none"},
    {{"fanout",    'F', kNeeded, kFanout},        "number",     "SGATHER_FANOUT",   "nodes that send at the same time, up to 64 (8)"},
    {{"force",     'f', kPlain,  kForce},         nullptr,      "SGATHER_FORCE",    "replace files that are there"},
    {{"jobid",     'j', kNeeded, kJob},           "job[.step]", nullptr,            "the job, or the step whose nodes are meant"},
    {{"keep",      'k', kPlain,  kKeep},          nullptr,      nullptr,            "do not remove the file from the nodes"},
    {{"nodelist",  'w', kNeeded, kNodeList},      "names",      nullptr,            "these nodes of the job only"},
    {{"preserve",  'p', kPlain,  kPreserve},      nullptr,      "SGATHER_PRESERVE", "keep the mode and the times of the file"},
    {{"size",      's', kNeeded, kSize},          "size",       "SGATHER_SIZE",     "bytes in one block, or with k or m behind; from 4k to 8m"},
    {{"timeout",   't', kNeeded, kTimeout},       "seconds",    "SGATHER_TIMEOUT",  "give up when a node takes longer than this"},
    {{"verbose",   'v', kPlain,  kTellMore},      nullptr,      nullptr,            "print more"},
    {{"help",      0,   kPlain,  kHelpOption},    nullptr,      nullptr,            "show this text"},
    {{"usage",     0,   kPlain,  kUsageOption},   nullptr,      nullptr,            "show a brief usage text"},
    {{"version",   'V', kPlain,  kVersionOption}, nullptr,      nullptr,            "print the version and exit"},
};
// clang-format on

// srun ends its step on SIGTERM.
void end_after(std::chrono::seconds time) {
    if (time.count() == 0) return;
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGTERM;
    timer_t timer{};
    itimerspec when{};
    when.it_value.tv_sec = time.count();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &when, nullptr);
}

// The output of the task that sends: its file.
class GatheredFile : public Streams {
public:
    GatheredFile(Streams& streams, const wire::CastFile& place)
        : streams_(streams), reader_("", place) {}

    void out(std::string_view bytes) override {
        if (result_) result_ = reader_.feed(bytes, [] {});
    }
    void err(std::string_view text) override { streams_.err(text); }
    Result<std::string> read_all() override { return std::string(); }
    bool read_line(std::string&) override { return false; }
    bool out_is_terminal() const override { return false; }
    void flush() override { streams_.flush(); }

    Result<void> commit() {
        if (!result_) return result_;
        if (!reader_.is_complete())
            return Error{ErrorCode::LaunchFailed, "the transfer ended early"};
        return reader_.commit();
    }

private:
    Streams& streams_;
    CastReader reader_;
    Result<void> result_;
};

class Sgather {
public:
    Sgather(const TransferOptions& options, TransferNodes nodes, const Invocation& invocation,
            Streams& streams)
        : options_(options), nodes_(std::move(nodes)), invocation_(invocation), streams_(streams) {}

    // A process for each node, so many at a time.
    int run() {
        const std::size_t width = options_.fanout.value_or(0) > 0 ? *options_.fanout : kGatherWidth;
        streams_.flush();
        for (const std::string& node : nodes_.names) {
            if (running_.size() >= width) wait_for_one();
            const pid_t child = fork();
            if (child == 0) _exit(gather(node));
            if (child < 0) code_ = exit_code_for_error(invocation_);
            if (child > 0) running_.insert(child);
        }
        while (!running_.empty()) wait_for_one();
        return code_;
    }

private:
    void wait_for_one() {
        int status = 0;
        const pid_t ended = wait(&status);
        running_.erase(ended);
        if (ended < 0) running_.clear();
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            code_ = exit_code_for_error(invocation_);
    }

    std::vector<std::string> sending_step(const std::string& node) const {
        std::vector<std::string> args = {fmt::format("--jobid={}", nodes_.job),
                                         "--nodes=1",
                                         "--ntasks=1",
                                         fmt::format("--nodelist={}", node),
                                         "--input=none",
                                         "--unbuffered",
                                         "--job-name=sgather"};
        if (!options_.verbose) args.emplace_back("--quiet");
        for (const char* word : kHelperStep) args.emplace_back(word);
        const std::size_t block = options_.block > 0 ? options_.block : kCastBlockMax;
        args.insert(args.end(),
                    {remote_program(), std::string(kSendFile),
                     absolute_path(options_.source, invocation_.directory),
                     fmt::format("{}", block), options_.compress == "lz4" ? "lz4" : "none"});
        return args;
    }

    int run_remote(const std::vector<std::string>& args, Streams& streams) {
        Invocation step = invocation_;
        step.args = args;
        step.environment = plain_environment(invocation_);
        step.directory.assign(1, '/');
        ClusterClient client(step);
        return run_srun(step, client, streams);
    }

    // In its own process.
    int gather(const std::string& node) {
        end_after(options_.timeout);
        wire::CastFile place;
        place.set_path(
            fmt::format("{}.{}", absolute_path(options_.destination, invocation_.directory), node));
        place.set_force(options_.force);
        place.set_preserve(options_.preserve);
        GatheredFile file(streams_, place);
        if (const int code = run_remote(sending_step(node), file)) return code;
        Result<void> done = file.commit();
        if (!done) {
            print_error(streams_, invocation_,
                        fmt::format("node {}: {}", node, done.error().detail));
            return 1;
        }
        return options_.keep ? 0 : remove(node);
    }

    // Only now: a copy is in place.
    int remove(const std::string& node) {
        std::vector<std::string> args = sending_step(node);
        args.resize(args.size() - 5);
        args.insert(args.end(),
                    {"/bin/rm", "-f", "--", absolute_path(options_.source, invocation_.directory)});
        return run_remote(args, streams_);
    }

    const TransferOptions& options_;
    TransferNodes nodes_;
    const Invocation& invocation_;
    Streams& streams_;
    std::set<pid_t> running_;
    int code_ = 0;
};

}  // namespace

std::vector<OptionHelp> sgather_option_help() {
    return help_of(kGatherOptions);
}

int run_sgather(const Invocation& invocation, Client& client, Streams& streams) {
    const std::optional<Arguments> given = read_options(kGatherOptions, invocation, streams);
    if (!given) return exit_code_for_error(invocation);
    if (print_help_option(*given, kGatherOptions, kGatherOperands, invocation, streams)) return 0;
    const auto refuse = [&](const Error& error) {
        print_error(streams, invocation, error.detail.empty() ? to_string(error) : error.detail);
        return exit_code_for_error(invocation);
    };
    const Result<TransferOptions> options = transfer_options(*given, invocation);
    if (!options) return refuse(options.error());
    if (!has_configuration(invocation, client, streams)) return exit_code_for_error(invocation);
    Result<TransferNodes> nodes = nodes_of_transfer(*options, invocation, client);
    if (!nodes) return refuse(nodes.error());
    return Sgather(*options, *std::move(nodes), invocation, streams).run();
}

}  // namespace sluice
