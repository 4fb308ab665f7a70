#include "cli/sluice/sluice.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/sluice/doctor.h"
#include "cli/sluice/import.h"
#include "cli/sluice/lab.h"
#include "cli/sluice/workspace.h"
#include "model/release.h"
#include "os/files.h"

namespace sluice {

namespace {

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
  doctor [--json] [DIR...]                  what is wrong on this host and how to repair it; DIR: small files there?
  backup [-f CONF] FILE                     write the controller's state into FILE, also while it runs
  restore [-f CONF] [--force] FILE          make the state of FILE that of the controllers, which must not run
  version   print Sluice's own version (the other tools print the Slurm release they behave as)
  help      print this text

lab prints the sacctmgr commands that do the same; with --dry-run it only prints them.
)";

// They read and write the database itself, so they are a program of their own.
int run_backup(const Invocation& invocation, Streams& streams) {
    const std::string path = directory_of(own_program_path()) + "/../libexec/sluice/sluice-backup";
    std::vector<char*> words = {const_cast<char*>("sluice")};
    for (const std::string& word : invocation.args)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(path.c_str(), words.data());
    print_error(streams, invocation, fmt::format("{}: {}", path, strerror(errno)));
    return 1;
}

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
    if (command == "doctor") return run_doctor(invocation, words, client, streams);
    if (command == "backup" || command == "restore") return run_backup(invocation, streams);
    if (command == "import") return run_import(invocation, words, client, streams);
    print_error(streams, invocation,
                fmt::format("unknown command: {} (sluice help lists them)", command));
    return 1;
}

}  // namespace sluice
