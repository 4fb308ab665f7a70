// cli/common/job_setup.h
//
// What sbatch, srun and salloc do alike before they ask for a job: options from all sources, the
// facts of the submitting process, and the environment that the job will see.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/job_options.h"

namespace sluice {

// Prints what is wrong with the options and gives the exit code. `submitting` is how this tool
// begins the line of a request that the controller would refuse: "Batch job submission failed".
int refuse_options(const Error& error, std::string_view submitting, const Invocation& invocation,
                   Streams& streams);

// A colon between words begins another component of a heterogeneous job, which there are none of:
// to run the first one alone would be the wrong job.
Result<void> refuse_components(const Arguments& arguments, Tool tool);

// --help, --usage, --version, --gres=help: the exit code when there is nothing else to do.
std::optional<int> print_help_if_asked(const JobOptions& options, Tool tool,
                                       const Invocation& invocation, Client& client,
                                       Streams& streams);

// --gres=help, which a script and a variable may ask for as well.
std::optional<int> list_gres_if_asked(const JobOptions& options, const Invocation& invocation,
                                      Client& client, Streams& streams);

// Fills in what the user need not say: directories, host, session, umask, limits, names in files.
Result<void> describe_submission(JobOptions& options, const Invocation& invocation,
                                 const Config& config);

// A task that submits a job has variables of its own binding: they mean nothing on other CPUs.
void forget_own_binding(Environment& environment);

// The environment of the job by --export, with the variables that the submitting tool adds.
Result<Environment> environment_for_job(const JobOptions& options, const Invocation& invocation,
                                        Tool tool);

// SLURM_DISTRIBUTION and SLURM_DIST_PLANESIZE, if a distribution is known.
void set_distribution_variables(Environment& environment, const std::string& distribution);

// prefix and prefix_TYPE, _LIST, _VERBOSE and _PREFER for --mem-bind, if it was given.
void set_memory_binding_variables(Environment& environment, const std::string& prefix,
                                  const std::string& mem_bind);

// SLURM_JOB_DEPENDENCY: the option of this job.
void set_dependency_variable(Environment& environment, const JobRequest& request);

// What was probably not meant so: -ntasks=2.
void print_hints(const Arguments& arguments, const Invocation& invocation, Streams& streams);
void print_warnings(const JobOptions& options, const Invocation& invocation, Streams& streams);

std::string idempotency_key();  // 15 random bytes

Time current_time();

// "2", "2(x3),1": one number per node, equal neighbours folded.
std::string fold_counts(const std::vector<std::uint32_t>& counts);

}  // namespace sluice
