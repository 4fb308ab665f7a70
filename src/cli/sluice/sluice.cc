#include "cli/sluice/sluice.h"

namespace sluice {

namespace {

constexpr std::string_view kRelease = "0.1.0";

constexpr std::string_view kHelp =
    R"(Usage: sluice COMMAND

  version   print Sluice's own version (the other tools print the Slurm release they behave as)
  help      print this text
)";

}  // namespace

int run_sluice(const Invocation& invocation, Client&, Streams& streams) {
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
    print_error(streams, invocation,
                fmt::format("unknown command: {} (sluice help lists them)", command));
    return 1;
}

}  // namespace sluice
