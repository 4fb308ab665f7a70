#include "cli/sluice/sluice.h"

#include "cli/sluice/import.h"
#include "cli/sluice/lab.h"
#include "cli/sluice/workspace.h"

namespace sluice {

namespace {

constexpr std::string_view kRelease = "0.1.0";

constexpr std::string_view kHelp =
    R"(Usage: sluice COMMAND

  lab add NAME --gpus N [--users a,b,...]   a new lab: an account with a cap on GPUs, and its members
  lab set NAME [--gpus N] [--users +c,-a]   change the cap; add and remove members
  lab remove NAME                           remove a lab
  lab list                                  labs, caps, GPUs in use, members
  notebook [OPTIONS OF sbatch] | --stop     a Jupyter server as a job: submits it, or finds it, and prints its URL
  code [OPTIONS OF sbatch] | --stop         the same for an editor: code-server, or a node for VS Code over ssh
  import conf FILE                          what becomes of each key of a slurm.conf of Slurm
  import dump [-i] FILE                     load a file of sacctmgr dump
  import history FILE...                    what ran under Slurm: the output of sacct -P
  version   print Sluice's own version (the other tools print the Slurm release they behave as)
  help      print this text

lab prints the sacctmgr commands that do the same; with --dry-run it only prints them.
)";

}  // namespace

int run_sluice(const Invocation& invocation, Client& client, Streams& streams) {
    const std::string command = invocation.args.empty() ? "help" : invocation.args[0];
    if (command == "version") {
        streams.out(fmt::format("sluice {}\n", kRelease));
        return 0;
    }
    if (command == "-V" || command == "--version") {
        print_version(streams);
        return 0;
    }
    if (command == "help" || command == "--help" || command == "-h" || command == "--usage") {
        streams.out(kHelp);
        return 0;
    }
    const std::vector<std::string> words(
        invocation.args.begin() + (invocation.args.empty() ? 0 : 1), invocation.args.end());
    if (command == "lab") return run_lab(invocation, words, client, streams);
    if (command == "notebook")
        return run_workspace(Workspace::Notebook, invocation, words, client, streams);
    if (command == "code")
        return run_workspace(Workspace::Code, invocation, words, client, streams);
    if (command == "import") return run_import(invocation, words, client, streams);
    print_error(streams, invocation,
                fmt::format("unknown command: {} (sluice help lists them)", command));
    return 1;
}

}  // namespace sluice
