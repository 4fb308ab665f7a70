#include "cli/scontrol/help.h"

namespace sluice {

const std::string_view kScontrolHelp =
    R"(scontrol [<OPTION>] [<COMMAND>]
    Valid <OPTION> values are:
     -a, --all      Equivalent to "all" command
     -d, --details  Equivalent to "details" command
     -F, --future   Report information about nodes in "FUTURE" state.
     -h, --help     Equivalent to "help" command
     --hide         Equivalent to "hide" command
     --json         Produce JSON output
     --local        Report information only about jobs on the local cluster.
     -o, --oneliner Equivalent to "oneliner" command
     -Q, --quiet    Equivalent to "quiet" command
     -v, --verbose  Equivalent to "verbose" command
     -V, --version  Equivalent to "version" command

  <keyword> may be omitted from the execute line and scontrol will execute
  in interactive mode. It will process commands as entered until explicitly
  terminated.

    Valid <COMMAND> values are:
     all                      display information about all partitions,
                              including hidden partitions.
     details                  evokes additional details from the "show"
                              command
     exit                     terminate scontrol
     getaddrs <nodelist>      print the addresses of the nodes
     help                     print this description of use.
     hold <job_list>          prevent specified job from starting. <job_list>
                              is either a space separate list of job IDs or
                              job names
     holdu <job_list>         place user hold on specified job (see hold)
     hide                     do not display information about hidden
                              partitions
     oneliner                 report output one record per line.
     ping                     print status of slurmctld daemons.
     quiet                    print no messages other than error messages.
     quit                     terminate this command.
     reconfigure              re-read configuration files.
     release <job_list>       permit specified job to start (see hold)
     requeue <job_id>         re-queue a batch job
     requeuehold <job_id>     re-queue and hold a batch
     resume <jobid_list>      resume previously suspended job (see suspend)
     show <ENTITY> [<ID>]     display state of identified entity, default
                              is all records.
     shutdown <OPTS>          shutdown slurm daemons
     suspend <job_list>       suspend specified job (see resume)
     uhold <jobid_list>       place user hold on specified job (see hold)
     update <SPECIFICATIONS>  update job, node, partition or reservation
     verbose                  enable detailed logging.
     version                  display tool version number.
     write batch_script <job_id> <optional filename>
                              Write the batch script for a given job to a
                              local file. Default is slurm-<job_id>.sh if
                              the (optional) filename is not given.
     !!                       Repeat the last command entered.

  <ENTITY> may be "config", "daemons", "hostlist", "hostlistsorted",
       "hostnames", "job", "licenses", "node", "partition", "reservation",
       "step", or "topology"

  <ID> may be a configuration parameter name, job id, node name, partition
       name, reservation name, job step id, license name or hostlist or
       pathname to a list of host names.

  <OPTS> may be "slurmctld" to shutdown just the slurmctld daemon,
       otherwise all slurm daemons are shutdown

  Node names may be specified using simple range expressions,
  (e.g. "lx[10-20]" corresponds to lx10, lx11, lx12, ...)
  The job step id is the job id followed by a period and the step id.

  All commands and options are case-insensitive, although node names and
  partition names tests are case-sensitive (node names "LX" and "lx"
  are distinct).

)";

}  // namespace sluice
