#include "cli/sdata/stage.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "model/stage_in.h"
#include "os/error.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/step_mark.h"

namespace sluice {

namespace {

constexpr std::size_t kAnswerMost = 64u << 10;

// Until the other side closes.
Result<std::string> read_answer(const Fd& line) {
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t count = recv(line.get(), buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return os_error("slurmd");
        text.append(buffer, static_cast<std::size_t>(count));
        if (count == 0 || text.size() > kAnswerMost) return text;
    }
}

}  // namespace

Result<void> stage_in_job(const Invocation& invocation, const std::string& source) {
    const auto job = invocation.environment.find("SLURM_JOB_ID");
    const auto node = invocation.environment.find("SLURMD_NODENAME");
    const auto scratch = invocation.environment.find("SCRATCH");
    if (!job || !node || !scratch)
        return Error{{}, "sdata stage works in a job only, on a node of it"};
    const StageIn one = TRY(parse_stage_in(source, invocation.directory));
    if (one.is_stream) return Error{{}, "stream is for sbatch, srun and salloc --stage-in"};
    const std::string text = TRY(with_stage_in("", one));
    const Fd line = TRY(connect_as(stage_socket(*node, directory_of(*scratch))));
    const std::optional<Peer> peer = peer_of(line);
    if (!peer || !is_one_of_us(peer->uid)) return Error{{}, "no slurmd answers on this node"};
    set_blocking(line, true);
    if (!send_all(line.get(), fmt::format("stage {} {}\n", *job, text)))
        return os_error("slurmd", EPIPE);
    std::string answer = TRY(read_answer(line));
    if (answer.ends_with('\n')) answer.pop_back();
    constexpr std::string_view kError = "error ";
    if (answer == "done") return {};
    if (answer.starts_with(kError)) return Error{{}, answer.substr(kError.size())};
    return Error{{}, "slurmd of this node has ended"};
}

}  // namespace sluice
