#include "cli/common/job_setup.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "cli/common/host_file.h"
#include "cli/common/limits.h"
#include "cli/common/x11.h"
#include "model/cpu_freq.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/sizes.h"
#include "model/task_bind.h"
#include "os/files.h"
#include "os/socket.h"
#include "surface/job_options_manual.h"

namespace sluice {

namespace {

constexpr int kUsageExitCode = 255;

std::uint32_t current_umask(const Environment& environment) {
    std::string_view asked = environment.find("SLURM_UMASK").value_or("");
    std::uint32_t mask = 0;
    auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), mask, 8);
    if (!asked.empty() && error == std::errc{} && end == asked.data() + asked.size() &&
        mask <= 0777) {
        return mask;
    }
    mode_t now = umask(0);
    umask(now);
    return now;
}

// A name with a slash is a file.
Result<void> read_node_files(JobOptions& options, const Invocation& invocation) {
    Shape& shape = options.request.shape;
    if (!options.node_file.empty())
        shape.nodelist = absolute_path(options.node_file, invocation.directory);
    if (shape.nodelist.find('/') != std::string::npos)
        shape.nodelist = TRY(hosts_in(shape.nodelist));
    if (shape.exclude.find('/') != std::string::npos) shape.exclude = TRY(hosts_in(shape.exclude));
    return {};
}

// NAME=value entries, each ended by a zero byte, from a file or an inherited descriptor.
Result<Environment> environment_in(const std::string& file) {
    std::optional<std::uint64_t> number = to_number(file);
    Result<std::string> text = read_file(number ? fmt::format("/proc/self/fd/{}", *number) : file);
    if (!text) {
        return Error{ErrorCode::NotSupported, fmt::format("cannot read --export-file={}", file)};
    }
    std::vector<std::string> entries;
    for (std::string_view entry : split(*text, '\0')) {
        if (entry.find('=') != std::string_view::npos) entries.emplace_back(entry);
    }
    return Environment(std::move(entries));
}

bool is_ours(std::string_view entry) {
    return entry.starts_with("SLURM_") || entry.starts_with("SLURMD_") ||
           entry.starts_with("SPANK_") || entry.starts_with("SLUICE_");
}

// The names and assignments of --export beside ALL, NONE and NIL. Commas inside quotes belong to
// the value.
std::vector<std::string> export_items(std::string_view list) {
    std::vector<std::string> items(1);
    char quote = 0;
    for (char c : list) {
        if (quote ? c == quote : (c == '\'' || c == '"')) {
            quote = quote ? '\0' : c;
        } else if (c == ',' && !quote) {
            items.emplace_back();
        } else {
            items.back() += c;
        }
    }
    std::erase_if(items, [](const std::string& item) { return item.empty(); });
    return items;
}

struct Exported {
    Environment environment;
    bool everything = false;
    bool login_environment = false;
};

Exported export_environment(std::string_view list, const Environment& own, Tool tool) {
    Exported exported;
    std::vector<std::string> items = export_items(list);
    auto take = [&](std::string_view word) {
        return std::erase_if(items, [&](const std::string& item) {
                   return equals_ignoring_case(item, word);
               }) > 0;
    };
    bool none = take("NONE");
    bool nil = take("NIL");
    exported.everything = take("ALL") || (items.empty() && !none && !nil);
    exported.login_environment = !exported.everything && !nil && tool == kSbatch;
    std::vector<std::string> entries;
    for (const std::string& entry : own.entries()) {
        if (exported.everything || is_ours(entry)) entries.push_back(entry);
    }
    exported.environment = Environment(std::move(entries));
    for (const std::string& item : items) {
        std::size_t equals = item.find('=');
        if (equals != std::string::npos) {
            exported.environment.set(item.substr(0, equals),
                                     std::string_view(item).substr(equals + 1));
        } else if (std::optional<std::string_view> value = own.find(item)) {
            exported.environment.set(item, *value);
        }
    }
    return exported;
}

}  // namespace

int refuse_options(const Error& error, std::string_view submitting, const Invocation& invocation,
                   Streams& streams) {
    constexpr std::string_view kFatal = "fatal: ";
    if (error.code == ErrorCode::NotFound) {
        print_usage_error(streams, invocation, error);
        return exit_code_for_error(invocation, kUsageExitCode);
    }
    bool is_controllers_word =
        error.code == ErrorCode::InvalidArray || error.code == ErrorCode::InvalidNodeCount ||
        error.code == ErrorCode::InvalidFeature || error.code == ErrorCode::InvalidPrefer;
    if (error.detail.empty() && is_controllers_word) {
        print_error(streams, invocation, fmt::format("{}: {}", submitting, text_of(error.code)));
    } else if (error.detail.empty()) {
        print_error(streams, invocation, text_of(error.code));
    } else if (error.detail.starts_with(kFatal)) {
        print_fatal(streams, invocation, error.detail.substr(kFatal.size()));
    } else {
        print_error(streams, invocation, error.detail);
    }
    if (!error.hint.empty()) print_info(streams, invocation, error.hint);
    return exit_code_for_error(invocation,
                               error.code == ErrorCode::BadArgument ? kUsageExitCode : 1);
}

Result<void> refuse_components(const Arguments& arguments, Tool tool) {
    const std::vector<std::string>& words = arguments.operands;
    // Compat: srun's components have a command each, so that the colon may be anywhere; to sbatch
    // and salloc one behind the command is an argument of it.
    auto end = tool == kSrun || words.empty() ? words.end() : words.begin() + 1;
    if (std::find(words.begin(), end, ":") == end) return {};
    return Error{ErrorCode::NotSupported, "heterogeneous jobs are not supported by Sluice"};
}

std::optional<int> print_help_if_asked(const JobOptions& options, Tool tool,
                                       const Invocation& invocation, Client& client,
                                       Streams& streams) {
    if (options.version) {
        print_version(streams);
    } else if (options.help) {
        streams.out(print_help(tool));
    } else if (options.usage) {
        streams.out(print_usage(tool));
    } else if (!options.help_on.empty()) {
        streams.out(
            fmt::format("--{}: {}\n", options.help_on, job_option_manual(options.help_on, tool)));
    } else {
        return list_gres_if_asked(options, invocation, client, streams);
    }
    return 0;
}

std::optional<int> list_gres_if_asked(const JobOptions& options, const Invocation& invocation,
                                      Client& client, Streams& streams) {
    if (!options.gres_help) return {};
    Result<const Config*> config = client.config();
    if (!config) {
        print_fatal(streams, invocation, config.error().detail);
        return 1;
    }
    streams.out("Valid gres options are:\n");
    for (std::string_view name : split((*config)->gres_types, ',')) {
        if (!trim(name).empty()) streams.out(fmt::format("{}[[:type]:count]\n", trim(name)));
    }
    return 0;
}

namespace {

// Whether the administrator allows the governor.
Result<void> check_cpu_freq(const JobOptions& options, const Config& config) {
    if (options.cpu_freq.empty()) return {};
    const CpuFreq freq = TRY(parse_cpu_freq(options.cpu_freq));
    const std::string governor = forbidden_governor(freq, config.cpu_freq_governors);
    if (governor.empty()) return {};
    return Error{ErrorCode::NotSupported,
                 fmt::format("--cpu-freq={}: the governor {} is not allowed (CpuFreqGovernors={})",
                             options.cpu_freq, governor, config.cpu_freq_governors)};
}

}  // namespace

Result<void> describe_submission(JobOptions& options, const Invocation& invocation,
                                 const Config& config) {
    JobRequest& request = options.request;
    if (!options.x11.empty()) {
        const XServer server = TRY(find_x_server(invocation.environment, config));
        if (invocation.tool == "sbatch") request.x11 = TRY(display_for_script(server));
    }
    TRY(read_node_files(options, invocation));
    request.work_dir = request.work_dir.empty()
                           ? invocation.directory
                           : absolute_path(request.work_dir, invocation.directory);
    request.submit_host = host_name();
    request.submit_sid = static_cast<std::uint32_t>(getsid(0));
    request.umask = current_umask(invocation.environment);
    request.submit_line = fmt::format("{} {}", invocation.tool, join(invocation.args, " "));
    request.submit_line.resize(std::min(request.submit_line.size(), sizes::kSubmitLine));
    if (!request.requeue_set) request.requeue = config.job_requeue;
    if (request.open_mode == OpenMode::Default && config.job_file_append) {
        request.open_mode = OpenMode::Append;
    }
    if (!options.kill_on_bad_exit) options.kill_on_bad_exit = config.kill_on_bad_exit;
    if (options.mpi.empty()) options.mpi = config.mpi_default;
    TRY(check_cpu_freq(options, config));
    if (!options.wait_after_first_exit) options.wait_after_first_exit = config.wait_time;
    if (request.shape.core_spec && !config.allow_spec_resources) {
        options.warnings.emplace_back(
            "Ignoring -S since it's not allowed by configuration (AllowSpecResourcesUsage = No)");
        request.shape.core_spec.reset();
    }
    if (request.shape.thread_spec && !config.allow_spec_resources) {
        options.warnings.emplace_back(
            "Ignoring --thread-spec since it's not allowed by configuration "
            "(AllowSpecResourcesUsage = No)");
        request.shape.thread_spec.reset();
    }
    std::string propagate =
        options.propagate.empty() ? config.propagate_resource_limits : options.propagate;
    std::string except = options.propagate.empty() ? config.propagate_resource_limits_except : "";
    request.rlimits = TRY(limits_to_propagate(propagate, except));
    return {};
}

void set_distribution_variables(Environment& environment, const std::string& distribution) {
    if (distribution.empty()) return;
    const std::size_t equals = std::min(distribution.find('='), distribution.size());
    environment.set("SLURM_DISTRIBUTION", distribution.substr(0, equals));
    if (equals < distribution.size()) {
        environment.set("SLURM_DIST_PLANESIZE", distribution.substr(equals + 1));
    } else {
        environment.unset("SLURM_DIST_PLANESIZE");
    }
}

void set_memory_binding_variables(Environment& environment, const std::string& prefix,
                                  const std::string& mem_bind) {
    const Result<TaskBind> bind = parse_mem_bind(mem_bind);
    if (mem_bind.empty() || !bind) return;
    environment.set(prefix, mem_bind);
    environment.set(prefix + "_TYPE", mem_bind_word(bind->kind));
    environment.set(prefix + "_LIST", bind->list);
    environment.set(prefix + "_VERBOSE", bind->verbose ? "verbose" : "quiet");
    if (bind->prefer) environment.set(prefix + "_PREFER", "prefer");
}

void set_dependency_variable(Environment& environment, const JobRequest& request) {
    if (request.dependency.empty()) {
        environment.unset("SLURM_JOB_DEPENDENCY");  // of the job that submits this one
    } else {
        environment.set("SLURM_JOB_DEPENDENCY", request.dependency);
    }
}

void forget_own_binding(Environment& environment) {
    for (const std::string name : {"SLURM_CPU_BIND", "SLURM_MEM_BIND"}) {
        if (!environment.find(name + "_TYPE")) continue;  // then it was set by the user
        for (const char* part : {"", "_TYPE", "_LIST", "_VERBOSE", "_PREFER"}) {
            environment.unset(name + part);
        }
    }
}

Result<Environment> environment_for_job(const JobOptions& options, const Invocation& invocation,
                                        Tool tool) {
    if (!options.export_file.empty()) return environment_in(options.export_file);
    Exported exported = export_environment(options.export_list, invocation.environment, tool);
    Environment& environment = exported.environment;
    if (tool != kSbatch) return environment;
    forget_own_binding(environment);
    if (!options.export_list.empty()) environment.set("SLURM_EXPORT_ENV", options.export_list);
    if (exported.login_environment || options.request.get_user_env) {
        environment.set("SLURM_GET_USER_ENV", "1");
    }
    environment.set("SLURM_SUBMIT_DIR", invocation.directory);
    environment.set("SLURM_SUBMIT_HOST", options.request.submit_host);
    environment.set("SLURM_JOB_NAME", options.request.name);
    environment.set("SLURM_PRIO_PROCESS", fmt::format("{}", nice(0)));
    environment.set("SLURM_UMASK", fmt::format("{:04o}", options.request.umask));
    set_distribution_variables(environment, options.distribution);
    if (options.request.shape.overcommit) environment.set("SLURM_OVERCOMMIT", "1");
    if (!options.hint.empty()) environment.set("SLURM_HINT", options.hint);
    if (!options.cpu_freq.empty()) environment.set("SLURM_CPU_FREQ_REQ", options.cpu_freq);
    if (!options.mem_bind.empty()) environment.set("SLURM_MEM_BIND", options.mem_bind);
    set_memory_binding_variables(environment, "SBATCH_MEM_BIND", options.mem_bind);
    set_dependency_variable(environment, options.request);
    if (!options.gpus_per_node.empty()) {
        environment.set("SLURM_GPUS_PER_NODE", print_gpus(options.gpus_per_node));
    }
    environment.unset("SLURM_JWT");  // a secret of the submitting process
    return environment;
}

void print_hints(const Arguments& arguments, const Invocation& invocation, Streams& streams) {
    for (const std::string& hint : arguments.hints) print_warning(streams, invocation, hint);
}

void print_warnings(const JobOptions& options, const Invocation& invocation, Streams& streams) {
    if (options.quiet) return;
    for (const std::string& note : options.notes) print_info(streams, invocation, note);
    for (const std::string& warning : options.warnings) print_warning(streams, invocation, warning);
}

std::string idempotency_key() {
    std::string key(15, '\0');
    CHECK(getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()));
    return key;
}

Time current_time() {
    return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

std::string fold_counts(const std::vector<std::uint32_t>& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size();) {
        std::size_t end = i;
        while (end < counts.size() && counts[end] == counts[i]) ++end;
        if (!text.empty()) text += ',';
        text += fmt::format("{}", counts[i]);
        if (end - i > 1) text += fmt::format("(x{})", end - i);
        i = end;
    }
    return text;
}

}  // namespace sluice
