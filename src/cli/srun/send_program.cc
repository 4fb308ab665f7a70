#include "cli/srun/send_program.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/sbcast/broadcast.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

// As a shell would find it.
Result<std::string> find_program(const std::string& name, const Invocation& invocation,
                                 const std::string& directory) {
    if (name.find('/') != std::string::npos) return absolute_path(name, directory);
    const std::string_view path = invocation.environment.find("PATH").value_or("");
    for (std::string_view each : split(path, ':')) {
        const std::string candidate = absolute_path(fmt::format("{}/{}", each, name), directory);
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return Error{ErrorCode::BadArgument, fmt::format("{}: no such program in PATH", name)};
}

std::string place_of(const ProgramToSend& what, const Config& config) {
    const std::string& work_dir = what.options.request.work_dir;
    const std::string directory(list_option(config.bcast_parameters, "DestDir").value_or(work_dir));
    const std::string& wanted = *what.options.bcast;
    if (!wanted.empty() && !wanted.ends_with('/')) return absolute_path(wanted, directory);
    const std::string in = wanted.empty() ? directory : absolute_path(wanted, directory);
    return fmt::format("{}/slurm_bcast_{}.{}_%N", in, what.step.job().job(), what.step.step());
}

Result<Broadcast> plan_program(const ProgramToSend& what, const Config& config,
                               const Invocation& invocation) {
    const JobOptions& options = what.options;
    Broadcast cast;
    cast.job = what.step.job().job();
    for (const wire::NodeShare& node : what.step.nodes()) cast.nodes.push_back(node.name());
    CastSource source;
    source.path = TRY(find_program(what.program, invocation, options.request.work_dir));
    source.file.set_path(place_of(what, config));
    source.file.set_force(true);
    source.file.set_per_node(true);
    TRY(describe_original(source));
    cast.files.push_back(std::move(source));
    if (options.send_libs.value_or(config.has_flag(config.bcast_parameters, "send_libs"))) {
        TRY(add_shared_objects(cast.files, options.bcast_exclude.empty() ? config.bcast_exclude
                                                                         : options.bcast_exclude));
    }
    const std::string by_default(
        list_option(config.bcast_parameters, "Compression").value_or("none"));
    cast.transport.compress = (options.compress.empty() ? by_default : options.compress) == "lz4";
    cast.verbose = options.verbose > 0;
    cast.tree_width = options.tree_width;
    return cast;
}

void replace_node(std::string& text, const std::string& pattern, const std::string& node) {
    const std::size_t at = text.find(pattern);
    const std::size_t mark = pattern.find("%N");
    if (at != std::string::npos && mark != std::string::npos) text.replace(at + mark, 2, node);
}

}  // namespace

Result<SentProgram> send_program(const ProgramToSend& what, const Invocation& invocation,
                                 Client& client, Streams& streams) {
    const Config& config = *TRY(client.config());
    const Result<Broadcast> cast = plan_program(what, config, invocation);
    if (!cast) {
        print_error(streams, invocation, fmt::format("--bcast: {}", cast.error().detail));
        return cast.error();
    }
    if (broadcast(*cast, invocation, client, streams) != 0) {
        print_error(streams, invocation,
                    fmt::format("--bcast: {} could not be sent", what.program));
        return Error{ErrorCode::LaunchFailed, ""};
    }
    SentProgram sent{.path = cast->files.front().file.path(), .libraries = {}};
    if (cast->files.size() > 1) sent.libraries = directory_of(cast->files[1].file.path());
    return sent;
}

void name_nodes(StepLaunch& launch, const SentProgram& sent) {
    const wire::TaskSpec common = launch.common.spec();
    launch.common.clear_spec();
    for (wire::LaunchTasks& own : launch.nodes) {
        wire::TaskSpec spec = common;
        spec.MergeFrom(own.spec());
        replace_node(*spec.mutable_argv(0), sent.path, own.node());
        if (!sent.libraries.empty())
            replace_node(*spec.mutable_environment(), sent.libraries, own.node());
        *own.mutable_spec() = std::move(spec);
    }
}

}  // namespace sluice
