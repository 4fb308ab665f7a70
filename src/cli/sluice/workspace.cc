// See workspace.h. The job writes where it listens into a file of the user's home directory, which
// has to be the same on the nodes.
#include "cli/sluice/workspace.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/common/start_hint.h"
#include "cli/sbatch/sbatch.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/states.h"
#include "os/files.h"
#include "os/socket.h"
#include "os/user.h"

namespace sluice {

namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(500);
constexpr int kStartMost = 240;  // looks at a job that runs, until its server must be there

// A free port, a secret, and the address for the command that waits. Only the user can read it.
constexpr std::string_view kBegin = R"sh(umask 077
address=$HOME/.sluice/@name@.$SLURM_JOB_ID
trap 'rm -f "$address"' EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
say() { echo "$SLURMD_NODENAME $1 $secret" > "$address.new" && mv "$address.new" "$address"; }
)sh";
// Both end an hour after they were used last.
constexpr std::string_view kNotebook = R"sh(say $port
export JUPYTER_TOKEN=$secret
jupyter lab --no-browser --ip=0.0.0.0 --port=$port --ServerApp.shutdown_no_activity_timeout=3600
)sh";
constexpr std::string_view kCode = R"sh(if command -v code-server >/dev/null; then
say $port
PASSWORD=$secret code-server --bind-addr 0.0.0.0:$port --auth password --idle-timeout-seconds 3600
exit
fi
say 0
idle=0
while [ $idle -lt 60 ]; do
    sleep 60
    idle=$((idle + 1))
    if pgrep -u "$(id -u)" -f 'vscode-server|cursor-server' >/dev/null; then idle=0; fi
done
)sh";

std::string name_of(Workspace kind) {
    return kind == Workspace::Notebook ? "notebook" : "code";
}

std::string script_of(Workspace kind) {
    std::string script(kBegin);
    const std::string_view place = "@name@";
    script.replace(script.find(place), place.size(), name_of(kind));
    return script.append(kind == Workspace::Notebook ? kNotebook : kCode);
}

// Keeps what sbatch prints.
class KeptOutput : public Streams {
public:
    explicit KeptOutput(Streams& below) : below_(below) {}
    void out(std::string_view text) override { said.append(text); }
    void err(std::string_view text) override { below_.err(text); }
    Result<std::string> read_all() override { return std::string{}; }
    bool read_line(std::string&) override { return false; }
    bool out_is_terminal() const override { return false; }
    void flush() override {}

    std::string said;

private:
    Streams& below_;
};

struct Found {
    std::int64_t job = 0;
    bool runs = false;
    std::string reason;
};

Result<std::optional<Found>> find_job(Workspace kind, Client& client) {
    Filter mine{.users = {UserId{getuid()}}, .names = {"sluice-" + name_of(kind)}};
    const Table table = TRY(fetch_table(
        client, TableKind::Jobs,
        {static_cast<ColumnId>(JobColumn::Id), static_cast<ColumnId>(JobColumn::State)}, mine));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto state = static_cast<ShownState>(table.number(row, JobColumn::State));
        if (state == ShownState::Completing) continue;
        return std::optional(Found{.job = table.number(row, JobColumn::Id),
                                   .runs = state == ShownState::Running,
                                   .reason = std::string(state_name(state))});
    }
    return std::optional<Found>{};
}

std::string log_of(Workspace kind, const std::string& folder, std::string_view job) {
    return fmt::format("{}/{}-{}.log", folder, name_of(kind), job);
}

// The number of the job, or none: sbatch has refused it, or was asked for something else, such as
// --test-only, and has said so.
std::optional<std::int64_t> submit(Workspace kind, const Invocation& invocation,
                                   const std::vector<std::string>& words, const std::string& folder,
                                   Client& client, Streams& streams, int& code) {
    Invocation sbatch = invocation;
    sbatch.tool = "sbatch";
    sbatch.args = {"--parsable", "--job-name=sluice-" + name_of(kind),
                   "--output=" + log_of(kind, folder, "%j")};
    sbatch.args.insert(sbatch.args.end(), words.begin(), words.end());
    sbatch.args.insert(sbatch.args.end(), {"--wrap", script_of(kind)});
    KeptOutput kept(streams);
    code = run_sbatch(sbatch, client, kept);
    const std::optional<std::uint64_t> job = to_number(trim(kept.said));
    if (code != 0 || !job) {
        streams.out(kept.said);
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*job);
}

// With the last line of its output: that is where the server says what is wrong.
Error job_has_ended(Workspace kind, const std::string& folder, std::int64_t job) {
    const std::string log = log_of(kind, folder, fmt::format("{}", job));
    const Result<std::string> text = read_file(log);
    const std::string_view whole = text ? trim(*text) : "";
    const std::size_t line = whole.rfind('\n');
    const std::string_view last = line == whole.npos ? whole : whole.substr(line + 1);
    return Error{ErrorCode::BadArgument, fmt::format("job {} has ended{}{}; see {}", job,
                                                     last.empty() ? "" : ": ", last, log)};
}

int stop(std::int64_t job, const Invocation& invocation, Client& client, Streams& streams) {
    wire::Request request;
    request.mutable_cancel()->mutable_filter()->add_jobs(fmt::format("{}", job));
    if (const auto reply = client.call(request); !reply) {
        print_error(streams, invocation, to_string(reply.error()));
        return 1;
    }
    streams.out(fmt::format("Job {} ends.\n", job));
    return 0;
}

// The address that the job has written, once it runs; an error if the job is gone.
Result<std::string> wait_for_address(Workspace kind, const std::string& folder, std::int64_t job,
                                     Client& client, Streams& streams) {
    bool is_told = false;
    for (int looks = 0; looks < kStartMost;) {
        const std::optional<Found> found = TRY(find_job(kind, client));
        if (!found) return job_has_ended(kind, folder, job);
        if (found->runs) {
            const Result<std::string> address =
                read_file(fmt::format("{}/{}.{}", folder, name_of(kind), found->job));
            if (address) return *address;
            ++looks;
        } else if (!is_told) {
            is_told = true;
            streams.err(fmt::format("Job {} is {}; swhy {} says why.\n", found->job, found->reason,
                                    found->job));
            if (const auto hint = start_hint(fmt::format("{}", found->job), client)) {
                streams.err(*hint + "\n");
            }
        }
        std::this_thread::sleep_for(kLookAgain);
    }
    return Error{ErrorCode::BadArgument, "the job runs, but its server does not start"};
}

}  // namespace

std::string how_to_reach(Workspace kind, std::string_view address, std::string_view login_host,
                         std::string_view user) {
    const auto parts = words(address);
    if (parts.size() != 3) return "";
    if (parts[1] == "0") {
        return fmt::format("ssh -J {}@{} {}@{}\n", user, login_host, user, parts[0]);
    }
    const std::string tunnel =
        fmt::format("ssh -N -L {1}:{0}:{1} {2}@{3}\n", parts[0], parts[1], user, login_host);
    if (kind == Workspace::Notebook) {
        return fmt::format("{}http://localhost:{}/lab?token={}\n", tunnel, parts[1], parts[2]);
    }
    return fmt::format("{}http://localhost:{}/  password: {}\n", tunnel, parts[1], parts[2]);
}

int run_workspace(Workspace kind, const Invocation& invocation,
                  const std::vector<std::string>& words, Client& client, Streams& streams) {
    const auto fail = [&](const std::string& why) {
        print_error(streams, invocation, why);
        return 1;
    };
    const std::optional<User> user = find_user(getuid());
    const std::string home(invocation.environment.find("HOME").value_or(user ? user->home : ""));
    const std::string folder = home + "/.sluice";
    Result<std::optional<Found>> found = find_job(kind, client);
    if (!found) return fail(to_string(found.error()));
    if (words.size() == 1 && words[0] == "--stop") {
        if (!*found) return fail(fmt::format("no {} runs", name_of(kind)));
        return stop((*found)->job, invocation, client, streams);
    }
    if (const Result<void> made = make_directories(folder, 0700); !made)
        return fail(made.error().detail);
    std::optional<std::int64_t> job;
    if (*found) {
        job = (*found)->job;
    } else {
        int code = 0;
        job = submit(kind, invocation, words, folder, client, streams, code);
        if (!job) return code;
    }
    const Result<std::string> address = wait_for_address(kind, folder, *job, client, streams);
    if (!address) return fail(address.error().detail);
    streams.out(how_to_reach(kind, *address, host_name(), user ? user->name : ""));
    return 0;
}

}  // namespace sluice
