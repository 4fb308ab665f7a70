#include "cli/sbcast/broadcast.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sbcast/remote.h"
#include "cli/srun/srun.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "os/error.h"

namespace sluice {

namespace {

struct Pipe {
    Fd from, to;
};

Result<Pipe> make_pipe() {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) return os_error("pipe");
    return Pipe{Fd(pair[0]), Fd(pair[1])};
}

// The output of the tasks: counts those that have all files.
class ReadyCount : public Streams {
public:
    ReadyCount(Streams& streams, std::size_t tasks, const Fd& word)
        : streams_(streams), missing_(tasks), word_(word) {}

    void out(std::string_view text) override {
        for (std::size_t at = 0; (at = text.find(kFilesAreHere, at)) != std::string_view::npos;
             at += kFilesAreHere.size()) {
            if (missing_ > 0 && --missing_ == 0 && write(word_.get(), "c", 1) != 1)
                streams_.err("the sender is gone\n");
        }
    }
    void err(std::string_view text) override { streams_.err(text); }
    Result<std::string> read_all() override { return streams_.read_all(); }
    bool read_line(std::string& line) override { return streams_.read_line(line); }
    bool out_is_terminal() const override { return false; }
    void flush() override { streams_.flush(); }

private:
    Streams& streams_;
    std::size_t missing_;
    const Fd& word_;
};

// In a process of its own: srun reads what this writes.
Result<void> cast_all(const Broadcast& cast, int out, int word) {
    TRY(write_files(cast.files, cast.transport, out));
    char letter = 0;
    ssize_t count = 0;
    do {
        count = read(word, &letter, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 1) return {};  // a node has failed, and has said why
    wire::CastPart commit;
    commit.mutable_commit();
    return write_part(commit, cast.transport, out);
}

std::vector<std::string> receiving_step(const Broadcast& cast, const Fd& input) {
    std::vector<std::string> args = {fmt::format("--jobid={}", cast.job),
                                     fmt::format("--nodes={}", cast.nodes.size()),
                                     fmt::format("--ntasks={}", cast.nodes.size()),
                                     fmt::format("--nodelist={}", Hostlist(cast.nodes).to_string()),
                                     fmt::format("--input=/proc/self/fd/{}", input.get()),
                                     "--kill-on-bad-exit=1",
                                     "--job-name=sbcast"};
    if (cast.tree_width)
        args.push_back("--treewidth=" +
                       (*cast.tree_width > 0 ? std::to_string(*cast.tree_width) : "off"));
    for (const char* word : kHelperStep) args.emplace_back(word);
    args.push_back(remote_program());
    args.emplace_back(kReceiveFiles);
    return args;
}

}  // namespace

Environment plain_environment(const Invocation& invocation) {
    std::vector<std::string> kept;
    for (const std::string& entry : invocation.environment.entries()) {
        const bool is_ours = entry.starts_with("SLURM_") || entry.starts_with("SRUN_");
        if (!is_ours || entry.starts_with("SLURM_CONF=")) kept.push_back(entry);
    }
    return Environment(std::move(kept));
}

int broadcast(const Broadcast& cast, const Invocation& invocation, Client& client,
              Streams& streams) {
    Result<Pipe> data = make_pipe();
    Result<Pipe> word = make_pipe();
    if (!data || !word) {
        print_error(streams, invocation, "no pipe could be made");
        return exit_code_for_error(invocation);
    }
    streams.flush();
    const pid_t sender = fork();
    if (sender == 0) {
        signal(SIGPIPE, SIG_IGN);
        data->from.reset();
        word->to.reset();
        const Result<void> sent = cast_all(cast, data->to.get(), word->from.get());
        const bool is_news = !sent && sent.error().code != kReaderIsGone;
        if (is_news) print_error(streams, invocation, sent.error().detail);
        streams.flush();
        _exit(sent ? 0 : 1);
    }
    data->to.reset();
    word->from.reset();
    Invocation step = invocation;
    step.args = receiving_step(cast, data->from);
    if (!cast.verbose) step.args.insert(step.args.begin(), "--quiet");
    step.environment = plain_environment(invocation);
    step.directory = "/";
    ReadyCount ready(streams, cast.nodes.size(), word->to);
    const int code = run_srun(step, client, ready);
    data->from.reset();
    word->to.reset();
    int status = 0;
    if (sender > 0) waitpid(sender, &status, 0);
    const bool was_sent = sender > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (code == 0 && !was_sent) return exit_code_for_error(invocation);
    return code;
}

}  // namespace sluice
