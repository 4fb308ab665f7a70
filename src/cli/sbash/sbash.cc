#include "cli/sbash/sbash.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cli/common/listing.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/quantity.h"
#include "os/process.h"

namespace sluice {

namespace {

constexpr std::string_view kHelp =
    R"(Usage: sbash [-g TYPE] [-p PARTITION] [-A ACCOUNT] [OPTIONS OF srun]

A shell on a node with one GPU, and the CPUs and memory that belong to one GPU of such a node.

  -g, --gpu=TYPE         type of the GPU, such as a40
  -p, --partition=NAME   partition
  -A, --account=NAME     account
      --dry-run          print the srun that would run
      --help             show this text
Other options are passed to srun and come after those that sbash makes: --mem=16G, -t 4:00:00, -w n1.
)";

struct ShellRequest {
    std::string gpu, partition, account;
    bool dry_run = false, help = false;
    std::vector<std::string> rest;
};

// "-g x", "-gx", "--gpu x" or "--gpu=x" at `at`: the value; `at` is then at its last word.
std::optional<std::string> value_at(const std::vector<std::string>& args, std::size_t& at,
                                    char letter, std::string_view name) {
    const std::string_view word = args[at];
    const std::string small{'-', letter}, big = fmt::format("--{}", name);
    if ((word == small || word == big) && at + 1 < args.size()) return args[++at];
    if (word.starts_with(big + "=")) return std::string(word.substr(big.size() + 1));
    if (word.starts_with(small) && !word.starts_with("--") && word.size() > small.size())
        return std::string(word.substr(small.size()));
    return {};
}

ShellRequest read_request(const std::vector<std::string>& args) {
    ShellRequest request;
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (auto gpu = value_at(args, i, 'g', "gpu")) {
            request.gpu = *gpu;
        } else if (auto partition = value_at(args, i, 'p', "partition")) {
            request.partition = *partition;
        } else if (auto account = value_at(args, i, 'A', "account")) {
            request.account = *account;
        } else if (args[i] == "--dry-run") {
            request.dry_run = true;
        } else if (args[i] == "--help" || args[i] == "-h") {
            request.help = true;
        } else {
            request.rest.push_back(args[i]);
        }
    }
    return request;
}

struct Part {
    std::int64_t cpus = 0, memory = 0;
};

std::uint64_t gpus_of(std::string_view gres, const std::string& type) {
    std::uint64_t count = 0;
    const Result<std::vector<GresCount>> all = parse_gres(gres);
    if (!all) return 0;
    for (const GresCount& each : *all) {
        if (each.name == "gpu" && (type.empty() || each.type == type)) count += each.count;
    }
    return count;
}

bool is_in(std::string_view partitions, const std::string& name) {
    const auto all = split(partitions, ',');
    return name.empty() || std::find(all.begin(), all.end(), name) != all.end();
}

// What belongs to one GPU: the least of all nodes that have one, so that the job fits on any of
// them.
Result<Part> part_of_one_gpu(const ShellRequest& request, Client& client) {
    const Table nodes = TRY(fetch_table(
        client, TableKind::Nodes,
        {static_cast<ColumnId>(NodeColumn::Cpus), static_cast<ColumnId>(NodeColumn::RealMemory),
         static_cast<ColumnId>(NodeColumn::Gres), static_cast<ColumnId>(NodeColumn::Partitions)},
        {}));
    std::optional<Part> least;
    for (std::size_t row = 0; row < nodes.rows(); ++row) {
        const auto gpus =
            static_cast<std::int64_t>(gpus_of(nodes.text(row, NodeColumn::Gres), request.gpu));
        if (gpus == 0 || !is_in(nodes.text(row, NodeColumn::Partitions), request.partition))
            continue;
        const Part part{std::max<std::int64_t>(1, nodes.number(row, NodeColumn::Cpus) / gpus),
                        nodes.number(row, NodeColumn::RealMemory) / gpus};
        least = least ? Part{std::min(least->cpus, part.cpus), std::min(least->memory, part.memory)}
                      : part;
    }
    if (least) return *least;
    return Error{
        ErrorCode::BadArgument,
        fmt::format(
            "no node{} has a GPU{}; sinfo -o '%N %P %G' lists them",
            request.partition.empty() ? "" : fmt::format(" of partition {}", request.partition),
            request.gpu.empty() ? "" : fmt::format(" of type {}", request.gpu))};
}

}  // namespace

Result<std::vector<std::string>> sbash_command(const Invocation& invocation, Client& client,
                                               bool at_terminal) {
    const ShellRequest request = read_request(invocation.args);
    const Part part = TRY(part_of_one_gpu(request, client));
    std::vector<std::string> command = {"srun", "--job-name=bash", "--nodes=1", "--ntasks=1"};
    command.push_back(request.gpu.empty() ? "--gpus=1" : fmt::format("--gpus={}:1", request.gpu));
    command.push_back(fmt::format("--cpus-per-task={}", part.cpus));
    if (part.memory > 0) command.push_back(fmt::format("--mem={}", part.memory));
    if (!request.partition.empty())
        command.push_back(fmt::format("--partition={}", request.partition));
    if (!request.account.empty()) command.push_back(fmt::format("--account={}", request.account));
    command.insert(command.end(), request.rest.begin(), request.rest.end());
    if (at_terminal) command.emplace_back("--pty");
    command.emplace_back(invocation.environment.find("SHELL").value_or("/bin/bash"));
    command.emplace_back("-l");
    return command;
}

int run_sbash(const Invocation& invocation, Client& client, Streams& streams) {
    const ShellRequest request = read_request(invocation.args);
    if (request.help) {
        streams.out(kHelp);
        return 0;
    }
    if (std::find(request.rest.begin(), request.rest.end(), "-V") != request.rest.end()) {
        print_version(streams);
        return 0;
    }
    const auto command = sbash_command(invocation, client, isatty(STDIN_FILENO) == 1);
    if (!command) {
        print_error(streams, invocation, to_string(command.error()));
        return 1;
    }
    if (request.dry_run) {
        streams.out(join(*command, " ") + "\n");
        return 0;
    }
    streams.flush();
    print_error(streams, invocation, replace_program(*command).detail);
    return 1;
}

}  // namespace sluice
