// surface/job_options.h
//
// Everything that sbatch, srun and salloc can be asked for. One table (job_options.cc) is read by
// the parsers of command lines, #SBATCH lines and environment variables, and by --help. Rows
// without a setter are options that Slurm knows and Sluice does not: giving one is refused by name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/container_setup.h"
#include "model/job.h"
#include "surface/arguments.h"
#include "surface/option_help.h"

namespace sluice {

enum Tool : std::uint8_t { kSbatch = 1, kSrun = 2, kSalloc = 4, kAllTools = 7 };
inline constexpr std::uint8_t kBatchAlloc = kSbatch | kSalloc;
inline constexpr std::uint8_t kBatchRun = kSbatch | kSrun;
inline constexpr std::uint8_t kRunAlloc = kSrun | kSalloc;

// Later ones win over earlier ones.
enum class Source : std::uint8_t { Nobody, Directive, Environment, CommandLine };

// The job as asked for, and what only the submitting side needs to know.
struct JobOptions {
    JobRequest request;

    bool help = false, usage = false, version = false, quiet = false;
    bool gres_help = false;    // --gres=help, from any source
    bool mpi_list = false;     // --mpi=list, likewise
    std::string_view help_on;  // --cpu-bind=help: the name of the option
    std::string mpi;           // --mpi: none, pmi2, pmix; empty: slurm.conf's
    unsigned verbose = 0;
    std::optional<std::uint32_t> nodes_given;  // -N was given: its minimum
    std::string export_list;                   // --export; empty: ALL
    std::string export_file;
    std::string node_file;                 // --nodefile
    std::string propagate;                 // --propagate; empty: slurm.conf's
    std::string as_user, as_group;         // --uid, --gid
    std::vector<GresCount> gpus_per_node;  // becomes part of the shape's gres
    std::vector<GresCount> gres;           // --gres, likewise
    std::optional<Seconds> immediate_for;  // --immediate=N: how long to try
    std::string distribution;              // as model/distribution.h makes it; "plane=4"
    std::string hint;
    ContainerSetup image;  // --container-image and its relatives: becomes part of the request
    bool test_only = false;

    std::optional<std::string> wrap;  // sbatch
    bool parsable = false, wait = false, ignore_pbs = false;

    std::string job_id;                     // srun: --jobid
    std::optional<std::uint32_t> relative;  // --relative
    bool exact = false, overlap = false, whole = false, label = false, unbuffered = false;
    bool async = false;  // --async: srun does not wait for the step
    bool multi_prog = false;
    bool wait_for_children = false;
    std::string x11;                   // --x11: all, batch, first, last; empty: no display
    std::uint32_t slurmd_debug = 0;    // srun: so much of slurmstepd's log is shown; 0: errors
    std::vector<int> ignored_signals;  // --ignore-signals
    bool pty = false, disable_status = false, quit_on_interrupt = false;
    bool interactive = false;   // the step that salloc runs a shell in
    bool preserve_env = false;  // the task gets the node and task counts of the environment
    std::optional<bool> kill_on_bad_exit;
    std::optional<Seconds> wait_after_first_exit;
    std::string cpu_bind;
    std::string mem_bind;
    std::string prolog, epilog;  // around the step, where srun is; empty: slurm.conf's
    std::string task_prolog, task_epilog;
    std::optional<std::string> bcast;  // --bcast: where the program goes; empty: as slurm.conf says
    std::string compress;              // of --bcast: lz4, none; empty: as slurm.conf says
    std::string bcast_exclude;         // empty: slurm.conf's
    std::optional<bool> send_libs;
    std::optional<std::uint32_t> tree_width;  // 0: no tree; absent: as slurm.conf says
    std::optional<std::uint32_t> resv_ports;  // 0: as many as a node has tasks
    std::string cpu_freq;                     // model/cpu_freq.h

    bool no_shell = false, bell = false, no_bell = false;  // salloc
    std::optional<int> kill_command;

    std::vector<Source> sources;        // per row of the table
    std::vector<std::string> values;    // likewise: as given, empty without a value
    std::vector<std::string> warnings;  // what was corrected, for the user
    std::vector<std::string> notes;     // what is ignored, likewise

    bool operator==(const JobOptions&) const = default;
};

struct JobOption;
struct OptionUse {
    const JobOption& option;
    std::string_view value;  // "" where none was given
    bool has_value = false;
    Tool tool = kSbatch;
    Time now{};
};

enum class OptionGroup : std::uint8_t { Run, Constraint, Consumable, Affinity, Gpu, Help, Other };

struct JobOption {
    std::string_view name;
    char letter;
    const char* value;  // "name", "[name]" when it may be left out, nullptr for none
    std::uint8_t tools;
    const char* env;  // suffix of SBATCH_, SALLOC_ and SLURM_ variables, or nullptr
    std::uint8_t env_tools;
    Result<void> (*set)(JobOptions&, const OptionUse&);  // nullptr: not supported
    OptionGroup group;
    const char* help;  // nullptr: not listed
};

std::span<const JobOption> job_options();
// By name; the option must exist.
std::size_t option_index(std::string_view name);
bool is_given(const JobOptions& options, std::string_view name);
Source source_of(const JobOptions& options, std::string_view name);

// Applying what was given. An error's detail is what follows "sbatch: error: ", or begins with
// "fatal: ". Compat: BadArgument makes the tool exit with 255, every other code with 1; NotFound is
// a mistake in the spelling of the options (see arguments.h), with exit code 255 too.
Result<Arguments> parse_job_arguments(Tool tool, const std::vector<std::string>& args);
Result<void> apply_options(JobOptions& options, const std::vector<GivenOption>& given,
                           Source source, Tool tool, Time now);
using FindVariable = std::function<std::optional<std::string_view>(std::string_view)>;
Result<void> apply_environment(JobOptions& options, const FindVariable& find, Tool tool, Time now);
// The variables that set an option: "SBATCH_ACCOUNT".
std::vector<std::string> variables_of(const JobOption& option, Tool tool);
// After all sources are applied: checks exclusions, and derives sizes from others.
Result<void> complete_options(JobOptions& options, Tool tool);

// The options that the tool knows, also those it refuses, in the order of --help.
std::vector<OptionHelp> job_option_help(Tool tool);
std::string print_help(Tool tool);
std::string print_usage(Tool tool);
std::string_view tool_name(Tool tool);

}  // namespace sluice
