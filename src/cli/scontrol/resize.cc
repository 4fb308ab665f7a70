// cli/scontrol/resize.cc
//
// Whoever changes the size of the job it runs in has variables that are no longer true. Two scripts
// in the current directory set them right, for shells of either kind.
#include "base/text.h"
#include "cli/common/job_setup.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/states.h"
#include "os/files.h"

namespace sluice {

namespace {

bool changes_size(const UpdateWords& update) {
    for (const auto& [typed, value] : update.changes) {
        for (std::string_view key : {"NumNodes", "ReqNodes", "NodeList", "ReqNodeList"}) {
            if (equals_ignoring_case(typed, key)) return true;
        }
    }
    return false;
}

struct Variable {
    std::string_view name;
    std::string value;  // empty: the variable is removed
};

std::vector<Variable> variables_of(const wire::JobAllocation& job) {
    std::vector<std::uint32_t> cpus;
    for (const wire::NodeShare& node : job.nodes())
        cpus.push_back(static_cast<std::uint32_t>(node.cpus_size()));
    const std::string nodes = fmt::format("{}", job.nodes_size());
    const std::string names = fmt::format("\"{}\"", job.node_names());
    return {{"SLURM_NODELIST", names},
            {"SLURM_JOB_NODELIST", names},
            {"SLURM_NNODES", nodes},
            {"SLURM_JOB_NUM_NODES", nodes},
            {"SLURM_JOB_CPUS_PER_NODE", fmt::format("\"{}\"", fold_counts(cpus))},
            {"SLURM_NPROCS", {}},
            {"SLURM_NTASKS", {}},
            {"SLURM_TASKS_PER_NODE", {}}};
}

Result<void> write_scripts(Session& session, const wire::JobAllocation& job) {
    for (Shell shell : {Shell::Bourne, Shell::C}) {
        const std::string name =
            fmt::format("slurm_job_{}_resize.{}", job.job(), shell == Shell::C ? "csh" : "sh");
        TRY(write_file_atomically(absolute_path(name, session.invocation.directory),
                                  resize_script(job, shell), {.mode = 0700}));
    }
    session.streams.out(
        fmt::format("To reset Slurm environment variables, execute\n"
                    "  For bash or sh shells:  . ./slurm_job_{0}_resize.sh\n"
                    "  For csh shells:         source ./slurm_job_{0}_resize.csh\n",
                    job.job()));
    return {};
}

}  // namespace

std::string resize_script(const wire::JobAllocation& job, Shell shell) {
    const bool is_c = shell == Shell::C;
    std::string text;
    for (const Variable& each : variables_of(job)) {
        if (each.value.empty()) {
            text += fmt::format("{} {}\n", is_c ? "unsetenv" : "unset", each.name);
        } else if (is_c) {
            text += fmt::format("setenv {} {}\n", each.name, each.value);
        } else {
            text += fmt::format("export {}={}\n", each.name, each.value);
        }
    }
    return text;
}

int write_resize_scripts(Session& session, const UpdateWords& update) {
    const std::optional<std::uint64_t> id = to_number(update.name);
    if (update.entity != wire::Update::JOB || !id || !changes_size(update)) return 0;
    if (!session.invocation.environment.find("SLURM_JOB_ID"))
        return 0;  // no variables to set right
    wire::Request request;
    request.set_job_allocation(static_cast<std::uint32_t>(*id));
    Result<wire::Reply> reply = session.client.call(request);
    if (reply && reply->allocation().state() == static_cast<std::uint32_t>(JobState::Pending))
        return 0;
    Result<void> written =
        reply ? write_scripts(session, reply->allocation()) : Result<void>(reply.error());
    if (written) return 0;
    print_error(
        session.streams, session.invocation,
        fmt::format(
            "the job was changed, but the scripts for its variables could not be written: {}",
            to_string(written.error())));
    return 1;
}

}  // namespace sluice
