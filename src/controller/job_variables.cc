#include "controller/job_variables.h"

namespace sluice {

namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void add_array(const Job& job, Variables& variables) {
    if (!job.array_task) return;
    const TaskSet& tasks = job.request->array->tasks;
    add_variable(variables, "SLURM_ARRAY_JOB_ID", job.array_job->value);
    add_variable(variables, "SLURM_ARRAY_TASK_ID", *job.array_task);
    add_variable(variables, "SLURM_ARRAY_TASK_COUNT", tasks.size());
    add_variable(variables, "SLURM_ARRAY_TASK_MIN", tasks.first());
    add_variable(variables, "SLURM_ARRAY_TASK_MAX", tasks.last());
    add_variable(variables, "SLURM_ARRAY_TASK_STEP", tasks.ranges().front().step);
}

void add_times(const Job& job, Variables& variables) {
    if (!job.run.start_time) return;
    add_variable(variables, "SLURM_JOB_START_TIME", to_unix(*job.run.start_time));
    if (job.run.end_time) {
        add_variable(variables, "SLURM_JOB_END_TIME", to_unix(*job.run.end_time));
    } else if (!job.time_limit.unlimited()) {
        add_variable(variables, "SLURM_JOB_END_TIME", to_unix(limit_end(job)));
    }
}

}  // namespace

std::string name_or_number(const Job& job, const std::optional<User>& owner) {
    return owner ? owner->name : std::to_string(job.user.value);
}

void add_exit_codes(const Job& job, Variables& variables) {
    const ExitStatus& exit = job.run.exit;
    add_variable(variables, "SLURM_JOB_EXIT_CODE", exit.code * 256 + exit.signal);
    add_variable(variables, "SLURM_JOB_EXIT_CODE2", fmt::format("{}:{}", exit.code, exit.signal));
    add_variable(variables, "SLURM_JOB_DERIVED_EC", job.run.derived_exit.code);
}

Variables variables_of(const Job& job, const std::optional<User>& owner, const Config& config) {
    Variables variables{kPath};
    auto add = [&](std::string_view name, const auto& value) {
        add_variable(variables, name, value);
    };
    add("SLURM_CLUSTER_NAME", config.cluster_name);
    add("SLURM_CONF", config.path);
    add("SLURM_JOB_ID", job.id.value);
    add("SLURM_JOBID", job.id.value);
    add("SLURM_JOB_NAME", job.details->name());
    add("SLURM_JOB_USER", name_or_number(job, owner));
    add("SLURM_JOB_UID", job.user.value);
    add("SLURM_JOB_GROUP", group_name(job.group.value));
    add("SLURM_JOB_GID", job.group.value);
    add("SLURM_JOB_ACCOUNT", job.request->account);
    add("SLURM_JOB_COMMENT", job.details->text(&JobDetails::comment));
    add("SLURM_JOB_LICENSES", job.run.licenses_held);
    add("SLURM_JOB_PARTITION", job.partition);
    add("SLURM_JOB_QOS", job.request->qos);
    add("SLURM_JOB_RESERVATION", job.run.reservation);
    add("SLURM_JOB_STDERR", job.details->text(&JobDetails::std_err));
    add("SLURM_JOB_STDIN", job.details->text(&JobDetails::std_in));
    add("SLURM_JOB_STDOUT", job.details->text(&JobDetails::std_out));
    add("SLURM_JOB_WORK_DIR", job.details->text(&JobDetails::work_dir));
    add("SLURM_JOB_RESTART_COUNT", job.run.restarts);
    if (job.run.allocation) {
        add("SLURM_JOB_NODELIST", job.run.allocation->node_names);
        add("SLURM_JOB_NUM_NODES", job.run.allocation->nodes.size());
    }
    add_times(job, variables);
    add_array(job, variables);
    return variables;
}

}  // namespace sluice
