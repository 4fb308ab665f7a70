#include "cli/srun/srun.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "cli/common/allocate.h"
#include "cli/common/find_job.h"
#include "cli/common/host_file.h"
#include "cli/common/job_setup.h"
#include "cli/common/verbose.h"
#include "cli/srun/async_step.h"
#include "cli/srun/launcher.h"
#include "cli/srun/multi_prog.h"
#include "cli/srun/step_checks.h"
#include "cli/srun/step_files.h"
#include "cli/srun/step_hooks.h"
#include "cli/srun/step_request.h"
#include "cli/srun/terminal.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/mpi_kind.h"
#include "model/task_bind.h"
#include "model/times.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr AllocationTexts kTexts{.failed = "Unable to allocate resources",
                                 .says_pending = false,
                                 .revoked_end = "",
                                 .on_signal = "Force Terminated JobId={}"};
constexpr std::chrono::milliseconds kStepBusyAfter{500};
constexpr std::uint32_t kErrorLevel = 2;  // of SLURMD_DEBUG, without --slurmd-debug
constexpr int kNoSuchProgram = 2;         // exit code of a task whose program cannot be executed

struct SrunCall {
    JobOptions options;
    std::vector<std::string> command;
};

// Compat: more tasks than so many per node can be: the number of tasks is what counts.
void complete_tasks_per_node(JobOptions& options) {
    Shape& shape = options.request.shape;
    if (!options.nodes_given || !shape.ntasks || !shape.ntasks_per_node) return;
    const std::uint32_t nodes = shape.nodes_max.value_or(shape.nodes_min);
    if (*shape.ntasks <= std::uint64_t{*shape.ntasks_per_node} * nodes) return;
    options.warnings.push_back(fmt::format(
        "can't honor --ntasks-per-node set to {} which doesn't match the requested tasks {} with "
        "the number of requested nodes {}. Ignoring --ntasks-per-node.",
        *shape.ntasks_per_node, *shape.ntasks, nodes));
    shape.ntasks_per_node.reset();
}

// The step of a shell that salloc starts: one task on the first node, beside all other steps. What
// the environment says of the job's size is for them.
void become_interactive(JobOptions& options, const FindVariable& find) {
    Shape& shape = options.request.shape;
    Result<Hostlist> nodes = Hostlist::parse(find("SLURM_JOB_NODELIST").value_or(""));
    shape = {.nodes_max = 1, .ntasks = 1};
    if (nodes && nodes->size() > 0) shape.nodelist = nodes->names().front();
    options.nodes_given = 1;
    options.sources.clear();
    options.overlap = true;
    options.whole = true;
}

Result<SrunCall> read_run(const Arguments& arguments, const Invocation& invocation) {
    const Time now = current_time();
    SrunCall run;
    JobOptions& options = run.options;
    options.request.kind = JobKind::Srun;
    options.request.std_in.clear();  // srun's own, unless the option is given
    const Environment ours = invocation.environment.starting_with('S');  // SLURM_, SBATCH_ ...
    auto find = [&](std::string_view name) { return ours.find(name); };
    TRY(apply_environment(options, find, kSrun, now));
    bool is_in_job = !options.job_id.empty();
    // Compat: inside a job the job's name is not the step's.
    if (is_in_job) options.request.name.clear();
    TRY(apply_options(options, arguments.options, Source::CommandLine, kSrun, now));
    TRY(complete_arbitrary(options, invocation.environment));
    TRY(complete_options(options, kSrun));
    TRY(complete_async(options));
    if (arguments.operands.empty()) {
        return Error{ErrorCode::ScriptMissing, "fatal: No command given to execute."};
    }
    if (is_in_job) complete_tasks_per_node(options);
    if (options.interactive) become_interactive(options, find);
    run.command = arguments.operands;
    if (options.request.name.empty()) options.request.name = base_name(run.command[0]);
    // Before a job or a step is asked for.
    if (options.multi_prog && options.request.shape.ntasks) {
        wire::TaskSpec unused;
        TRY(add_programs(run.command, *options.request.shape.ntasks, unused));
    }
    if (options.bcast && options.multi_prog)
        return Error{ErrorCode::BadArgument, "--bcast and --multi-prog exclude each other"};
    if (options.pty) options.unbuffered = true;
    return run;
}

// The script's GPUs are not the step's: its tasks are told their own where they run, if any. In a
// job without GPUs the variables are the user's.
void forget_job_gpus(const wire::JobAllocation& job, Environment& environment) {
    auto has_gpus = [](const wire::NodeShare& node) { return !gpus_of(node).empty(); };
    if (std::none_of(job.nodes().begin(), job.nodes().end(), has_gpus)) return;
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
          "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS", "SLURM_SHARDS_ON_NODE",
          "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "NV_GPU"}) {
        environment.unset(name);
    }
}

// In a job there are those of its script. Compat: the memory also where it is a default.
void set_own_job_variables(const wire::JobAllocation& job, const JobRequest& request,
                           Environment& environment) {
    environment.set("SLURM_JOB_NAME", request.name);
    set_dependency_variable(environment, request);
    if (job.default_mem_per_cpu() > 0) {
        environment.set("SLURM_MEM_PER_CPU", fmt::format("{}", job.default_mem_per_cpu()));
    } else if (job.default_mem_per_node() > 0) {
        environment.set("SLURM_MEM_PER_NODE", fmt::format("{}", job.default_mem_per_node()));
    }
}

// Variables for the shape of the step, which replace those of the job.
// Compat: not the memory, and the GPUs for a task only.
void set_shape_variables(Environment& environment, const Shape& shape) {
    std::optional<std::uint32_t> cpus;
    if (shape.cpus_per_task_set) cpus = shape.cpus_per_task;
    const std::pair<const char*, std::optional<std::uint32_t>> sizes[] = {
        {"SLURM_CPUS_PER_TASK", cpus},
        {"SLURM_NTASKS_PER_NODE", shape.ntasks_per_node},
        {"SLURM_NTASKS_PER_SOCKET", shape.ntasks_per_socket},
        {"SLURM_NTASKS_PER_CORE", shape.ntasks_per_core},
        {"SLURM_NTASKS_PER_GPU", shape.ntasks_per_gpu},
        {"SLURM_THREADS_PER_CORE", shape.threads_per_core},
    };
    for (const auto& [name, size] : sizes) {
        if (size) environment.set(name, fmt::format("{}", *size));
    }
    if (!shape.gpus_per_task.empty()) {
        environment.set("SLURM_GPUS_PER_TASK", print_gpus(shape.gpus_per_task));
    }
    const std::string tres = tres_per_task(shape);
    if (!tres.empty()) environment.set("SLURM_TRES_PER_TASK", tres);
}

bool binds(const Result<TaskBind>& bind) {
    return bind && bind->kind != BindKind::Unset && bind->kind != BindKind::None;
}

// Compat: such a step runs, though not bound.
void warn_of_no_affinity(const Config& config, JobOptions& options) {
    if (config.task_plugin.affinity) return;
    auto warn = [&](const char* name, const std::string& value, const Result<TaskBind>& bind) {
        if (!is_given(options, name) || !binds(bind)) return;
        options.warnings.push_back(
            fmt::format("--{}={} has no effect: slurm.conf does not say TaskPlugin=task/affinity",
                        name, value));
    };
    warn("cpu-bind", options.cpu_bind, parse_cpu_bind(options.cpu_bind));
    warn("mem-bind", options.mem_bind, parse_mem_bind(options.mem_bind));
}

// --mpi=list: the kinds that --mpi takes by the names that Slurm lists.
std::optional<int> list_mpi_if_asked(const JobOptions& options, Streams& streams) {
    if (!options.mpi_list) return {};
    streams.out("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n");
    streams.out("specific pmix plugin versions available: pmix_v4\n");
    return 0;
}

class Srun {
public:
    Srun(SrunCall& run, const Invocation& invocation, Client& client, Streams& streams)
        : run_(run),
          options_(run.options),
          invocation_(invocation),
          client_(client),
          streams_(streams) {}

    int run() {
        // Compat: without a reader, output is dropped and tasks continue. A signal between the
        // creation of a step and its launch would leave its resources in use for a minute.
        signal(SIGPIPE, SIG_IGN);
        Result<const Config*> config = client_.config();
        if (!config) {
            print_fatal(streams_, invocation_, config.error().detail);
            return exit_code_for_error(invocation_);
        }
        if (Result<void> ok = describe_submission(options_, invocation_, **config); !ok) {
            return refuse_options(ok.error(), kTexts.failed, invocation_, streams_);
        }
        print_defined_options(options_, invocation_, streams_);
        warn_of_no_affinity(**config, options_);
        print_warnings(options_, invocation_, streams_);
        if (options_.test_only) return test_only();
        if (!options_.job_id.empty()) return run_in_job();
        return run_alone();
    }

private:
    int test_only() {
        wire::Request request;
        request.mutable_submit()->set_request(encode(options_.request));
        request.mutable_submit()->set_test_only(true);
        Result<wire::Reply> reply = client_.call(request);
        if (!reply) {
            print_error(streams_, invocation_,
                        fmt::format("{}: {}", kTexts.failed, to_string(reply.error())));
            return exit_code_for_error(invocation_);
        }
        const wire::Submitted& answer = reply->submitted();
        print_info(streams_, invocation_,
                   fmt::format("Job {} to start at {} a using {} processors on nodes {} in "
                               "partition {}",
                               answer.job(), print_moment(from_unix(answer.start_estimate())),
                               answer.cpus(), answer.nodes(), answer.partition()));
        return 0;
    }

    // What a job can ask for and a step of it cannot: named, rather than dropped.
    bool asks_too_much() {
        if (source_of(options_, "gpus-per-socket") != Source::CommandLine) return false;
        print_error(streams_, invocation_,
                    "--gpus-per-socket is not supported by Sluice for a step in a job");
        return true;
    }

    int run_in_job() {
        if (asks_too_much()) return exit_code_for_error(invocation_);
        Result<std::uint32_t> job = find_job(options_.job_id, client_);
        if (!job) return refuse_job(options_.job_id, job.error());
        if (names_nodes(options_)) {
            if (std::optional<int> code = check_nodes(*job)) return *code;
        }
        if (options_.async) {
            if (std::optional<int> code = run_async(*job)) return *code;
        }
        return run_step(*job, false);
    }

    // Nothing in the process that goes on with the step.
    std::optional<int> run_async(std::uint32_t job) {
        wire::Request request;
        request.set_job_allocation(job);
        Result<wire::Reply> allocation = client_.call(request);
        if (!allocation) return refuse_job(fmt::format("{}", job), allocation.error());
        *request.mutable_create_step() = step_request(options_, job, false);
        request.mutable_create_step()->set_only_number(true);
        Result<wire::Reply> numbered = client_.call(request);
        if (!numbered) return refuse_step(job, numbered.error());
        wire::StepCreated step = std::move(*numbered->mutable_step());
        *step.mutable_job() = std::move(*allocation->mutable_allocation());
        step_number_ = step.step();
        return go_to_background(options_, step, invocation_, streams_);
    }

    int refuse_step(std::uint32_t job, const Error& error) {
        print_error(streams_, invocation_,
                    fmt::format("Unable to create step for job {}: {}", job, to_string(error)));
        return exit_code_for_error(invocation_);
    }

    // Whether the job has the nodes that are asked for: an exit code, if not.
    std::optional<int> check_nodes(std::uint32_t job) {
        wire::Request request;
        request.set_job_allocation(job);
        Result<wire::Reply> reply = client_.call(request);
        if (!reply) return refuse_job(fmt::format("{}", job), reply.error());
        Result<std::vector<std::string>> lines = check_step_nodes(options_, reply->allocation());
        if (!lines) return refuse_options(lines.error(), kTexts.failed, invocation_, streams_);
        for (const std::string& line : *lines) print_error(streams_, invocation_, line);
        return {};
    }

    int run_alone() {
        Allocated allocated =
            allocate_job(options_, kTexts, invocation_, client_, streams_, signals_);
        if (!allocated.ok) return allocated.exit_code;
        int code = run_step(allocated.allocation.job(), true);
        if (!is_failure(exit_)) exit_.set_code(static_cast<std::uint32_t>(code));
        give_back(allocated.allocation.job(), exit_, client_);
        return code;
    }

    int refuse_job(const std::string& job, const Error& error) {
        print_error(
            streams_, invocation_,
            fmt::format("Unable to confirm allocation for job {}: {}", job, to_string(error)));
        print_info(
            streams_, invocation_,
            fmt::format("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", job));
        return exit_code_for_error(invocation_);
    }

    Result<wire::StepCreated> create_step(std::uint32_t job, bool own_job) {
        wire::Request request;
        *request.mutable_create_step() = step_request(options_, job, own_job);
        if (step_number_) request.mutable_create_step()->set_number(*step_number_);
        bool told = false;
        Waiting waiting{.slow_after = kStepBusyAfter, .wake_fd = signals_.fd()};
        waiting.on_slow = [&](Client&) {
            told = true;
            if (options_.quiet) return;
            print_info(streams_, invocation_,
                       fmt::format("Job {} step creation temporarily disabled, retrying (Requested "
                                   "nodes are busy)",
                                   job));
        };
        if (!own_job && options_.immediate_for) waiting.give_up_after = *options_.immediate_for;
        Result<wire::Reply> reply = client_.call(request, waiting);
        if (!reply) {
            bool gave_up = waiting.give_up_after && reply.error().code == ErrorCode::Timeout;
            return gave_up ? Error{ErrorCode::NodesBusy, ""} : reply.error();
        }
        if (told && !options_.quiet) {
            print_info(streams_, invocation_, fmt::format("Step created for job {}", job));
        }
        return std::move(*reply->mutable_step());
    }

    int run_step(std::uint32_t job, bool own_job) {
        Result<wire::StepCreated> step = create_step(job, own_job);
        if (!step) {
            Error error = step.error();
            if (error.code == ErrorCode::InvalidJobId)
                return refuse_job(fmt::format("{}", job), error);
            if (error.code == ErrorCode::None) {
                print_info(
                    streams_, invocation_,
                    fmt::format("Cancelled pending job step with signal {}", signals_.take()));
                error = {ErrorCode::JobFinished, ""};
            }
            return refuse_step(job, error);
        }
        if (options_.verbose > 0) print_info(streams_, invocation_, allocation_line(step->job()));
        Result<Environment> environment = environment_for_job(options_, invocation_, kSrun);
        if (!environment)
            return refuse_options(environment.error(), kTexts.failed, invocation_, streams_);
        std::optional<SentProgram> sent;
        if (options_.bcast) {
            Result<SentProgram> program =
                send_program({run_.command[0], options_, *step}, invocation_, client_, streams_);
            if (!program) {
                drop_step(*step, own_job);
                return exit_code_for_error(invocation_);
            }
            sent = *std::move(program);
            use_copy(*sent, *environment);
        }
        wire::TaskSpec spec = task_spec(*step, *environment, own_job);
        Result<void> programs;
        if (options_.multi_prog) programs = add_programs(run_.command, task_count(*step), spec);
        Result<StepFiles> files =
            programs ? open_step_files(options_, *step, spec) : Result<StepFiles>(programs.error());
        if (!files) {
            print_error(streams_, invocation_, files.error().detail);
            drop_step(*step, own_job);
            return exit_code_for_error(invocation_);
        }
        files->program = std::move(sent);
        const int code = run_with_hooks(
            *step, own_job, [&] { return launch(*step, spec, std::move(*files), own_job); });
        if (code == kNoSuchProgram) hint_at_path(*environment);
        return code;
    }

    void use_copy(const SentProgram& sent, Environment& environment) {
        run_.command[0] = sent.path;
        if (sent.libraries.empty()) return;
        const std::string_view before = environment.find("LD_LIBRARY_PATH").value_or("");
        environment.set("LD_LIBRARY_PATH",
                        fmt::format("{}{}{}", sent.libraries, before.empty() ? "" : ":", before));
    }

    // Compat: --export without ALL leaves PATH out, also where the batch script was given it.
    void hint_at_path(const Environment& environment) {
        const bool needs_path = run_.command[0].find('/') == std::string::npos;
        if (!needs_path || environment.find("PATH")) return;
        print_info(streams_, invocation_,
                   fmt::format("{} was looked for without PATH, which --export={} (or "
                               "SLURM_EXPORT_ENV) leaves out; --export=ALL,... keeps it",
                               run_.command[0], options_.export_list));
    }

    // Compat: the epilog runs also after a prolog that failed, and its failure changes nothing.
    int run_with_hooks(const wire::StepCreated& step, bool own_job,
                       const std::function<int()>& launch) {
        const Config& config = **client_.config();  // it was there at the start
        auto run = [&](std::string_view kind, const std::string& demand, const std::string& site) {
            const std::string& program = demand.empty() ? site : demand;
            if (program == kNoHook) return 0;
            return run_step_hook({kind, program}, {run_.command, step}, invocation_, streams_);
        };
        int code = exit_code_for_error(invocation_);
        if (const int failure = run("prolog", options_.prolog, config.srun_prolog)) {
            print_error(streams_, invocation_,
                        fmt::format("srun prolog failed rc = {}. Aborting step.", failure));
            drop_step(step, own_job);
        } else {
            code = launch();
        }
        if (const int failure = run("epilog", options_.epilog, config.srun_epilog)) {
            print_error(streams_, invocation_,
                        fmt::format("srun epilog failed status={}", failure));
        }
        return code;
    }

    int launch(const wire::StepCreated& step, const wire::TaskSpec& spec, StepFiles files,
               bool own_job) {
        StepLauncher launcher(options_, step, invocation_, client_, streams_);
        int code = launcher.run(spec, std::move(files));
        exit_ = launcher.exit_status();
        // Nodes that it did not reach would have it for ever.
        if (launcher.launch_failed()) drop_step(step, own_job);
        return code;
    }

    // A step that will not be launched; an own job's ends with the job.
    void drop_step(const wire::StepCreated& step, bool own_job) {
        if (own_job) return;
        wire::Request request;
        request.mutable_cancel()->mutable_filter()->add_jobs(
            fmt::format("{}.{}", step.job().job(), step.step()));
        static_cast<void>(client_.call(request));
    }

    wire::TaskSpec task_spec(const wire::StepCreated& step, Environment environment, bool own_job) {
        const JobRequest& request = options_.request;
        environment.set_default("SLURM_SUBMIT_DIR", invocation_.directory);
        environment.set_default("SLURM_SUBMIT_HOST", request.submit_host);
        environment.set("SLURM_UMASK", fmt::format("{:04o}", request.umask));
        environment.set("SLURM_PRIO_PROCESS", fmt::format("{}", nice(0)));
        set_distribution_variables(environment, step.distribution());
        if (request.shape.overcommit) environment.set("SLURM_OVERCOMMIT", "1");
        environment.set("SRUN_DEBUG", fmt::format("{}", 3 + options_.verbose));
        if (options_.label) environment.set("SLURM_LABELIO", "1");
        if (!options_.cpu_freq.empty()) environment.set("SLURM_CPU_FREQ_REQ", options_.cpu_freq);
        const std::string mpi(mpi_server(options_.mpi));
        if (!mpi.empty()) environment.set("SLURM_MPI_TYPE", options_.mpi);
        set_shape_variables(environment, request.shape);
        environment.set("SLURMD_DEBUG",
                        fmt::format("{}", std::max(kErrorLevel, options_.slurmd_debug)));
        environment.set("SLURM_OOM_KILL_STEP", request.oom_kill_step ? "1" : "0");
        if (own_job) set_own_job_variables(step.job(), request, environment);
        if (!own_job) forget_job_gpus(step.job(), environment);
        wire::TaskSpec spec;
        spec.mutable_argv()->Add(run_.command.begin(), run_.command.end());
        spec.set_environment(environment.to_bytes());
        spec.set_work_dir(request.work_dir);
        spec.set_open_mode(static_cast<std::uint32_t>(request.open_mode));
        spec.set_label(options_.label);
        spec.set_unbuffered(options_.unbuffered);
        spec.set_umask(request.umask);
        spec.set_preserve_env(options_.preserve_env);
        spec.set_kill_on_bad_exit(options_.kill_on_bad_exit.value_or(false));
        set_task_binding(options_, spec);
        spec.set_mpi(mpi);
        spec.set_tres_bind(step_binding(options_));
        spec.set_tres_freq(request.tres_freq);
        spec.set_resv_ports(step.resv_ports());
        spec.set_cpu_freq(options_.cpu_freq);
        spec.set_acctg_freq(request.acctg_freq);
        spec.set_oom_kill_step(request.oom_kill_step);
        spec.set_log_level(options_.slurmd_debug);
        spec.set_wait_for_children(options_.wait_for_children);
        spec.set_container(request.container);
        spec.set_container_setup(request.container_setup);
        if (options_.task_prolog != kNoHook) spec.set_task_prolog(options_.task_prolog);
        if (options_.task_epilog != kNoHook) spec.set_task_epilog(options_.task_epilog);
        for (const auto& [name, soft] : request.rlimits) {
            wire::Rlimit& limit = *spec.add_rlimits();
            limit.set_name(name);
            limit.set_soft(soft);
        }
        spec.set_job_name(request_of(step.job()).name);
        if (step.job().has_array_job()) spec.set_array_job(step.job().array_job());
        if (step.job().has_array_task()) spec.set_array_task(step.job().array_task());
        wire::WindowSize window = window_size();
        spec.set_rows(window.rows());
        spec.set_columns(window.columns());
        return spec;
    }

    SrunCall& run_;
    JobOptions& options_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    SignalWatch signals_;
    std::optional<std::uint32_t> step_number_;  // of --async
    wire::ExitStatus exit_;                     // of the step
};

}  // namespace

int run_srun(const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> arguments = parse_job_arguments(kSrun, invocation.args);
    if (!arguments) return refuse_options(arguments.error(), kTexts.failed, invocation, streams);
    if (Result<void> ok = refuse_components(*arguments, kSrun); !ok) {
        return refuse_options(ok.error(), kTexts.failed, invocation, streams);
    }
    print_hints(*arguments, invocation, streams);
    JobOptions command_line;
    Result<void> applied =
        apply_options(command_line, arguments->options, Source::CommandLine, kSrun, current_time());
    if (!applied) return refuse_options(applied.error(), kTexts.failed, invocation, streams);
    std::optional<int> told = print_help_if_asked(command_line, kSrun, invocation, client, streams);
    if (!told) told = list_mpi_if_asked(command_line, streams);
    if (told) return *told;
    Result<SrunCall> run = read_run(*arguments, invocation);
    if (!run) return refuse_options(run.error(), kTexts.failed, invocation, streams);
    told = list_gres_if_asked(run->options, invocation, client, streams);
    if (!told) told = list_mpi_if_asked(run->options, streams);
    return told ? *told : Srun(*run, invocation, client, streams).run();
}

}  // namespace sluice
