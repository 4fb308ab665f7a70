// controller/options.cc
#include "controller/options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <charconv>
#include <cstring>

#include "model/errors.h"

namespace sluice {
namespace {

constexpr option kLong[] = {{"help", no_argument, nullptr, 'h'},
                            {"usage", no_argument, nullptr, 'h'},
                            {"version", no_argument, nullptr, 'V'},
                            {"systemd", no_argument, nullptr, 'D'},
                            {nullptr, 0, nullptr, 0}};

Result<int> nice_value(const char* text) {
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto parsed = std::from_chars(text, end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || value < -20 || value > 19) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("-n {}: a nice value from -20 to 19 is expected", text)};
    }
    return value;
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
    Options options;
    options.arguments.assign(argv, argv + argc);
    optind = 1;
    opterr = 0;
    int letter = 0;
    while ((letter = getopt_long(argc, argv, ":cdDf:hiL:n:qrRsvV", kLong, nullptr)) != -1) {
        switch (letter) {
            case 'c':
                options.clear_state = true;
                break;
            case 'd':
                options.foreground = false;
                break;
            case 'D':
                options.foreground = true;
                break;
            case 'f':
                options.config = optarg;
                break;
            case 'h':
                options.help = true;
                break;
            case 'i':
                options.ignore_state_errors = true;
                break;
            case 'L':
                options.log_file = optarg;
                break;
            case 'n':
                options.nice = TRY(nice_value(optarg));
                break;
            case 'q':
                options.quiet = true;
                break;
            case 'r':
            case 'R':
                break;  // the store always restores everything
            case 's':
                options.change_directory = true;
                break;
            case 'v':
                ++options.verbose;
                break;
            case 'V':
                options.version = true;
                break;
            case ':':
                return Error{ErrorCode::BadArgument,
                             fmt::format("-{} needs a value", char(optopt))};
            default:
                return Error{ErrorCode::BadArgument,
                             fmt::format("unknown option {}", argv[optind - 1])};
        }
    }
    if (optind < argc) {
        return Error{ErrorCode::BadArgument, fmt::format("unexpected argument {}", argv[optind])};
    }
    return options;
}

std::string usage() {
    return "Usage: slurmctld [OPTIONS]\n"
           "  -c      \tDo not recover state from last checkpoint.\n"
           "  -D      \tRun daemon in foreground, with logging copied to stdout.\n"
           "  -f file \tUse specified file for slurmctld configuration.\n"
           "  -h      \tPrint this help message.\n"
           "  -i      \tIgnore errors found while reading in state files on startup.\n"
           "  -L logfile \tLog messages to the specified file.\n"
           "  -n value \tRun the daemon at the specified nice value.\n"
           "  -R      \tRecover full state from last checkpoint.\n"
           "  -s      \tChange working directory to SlurmctldLogFile/StateSaveLocation.\n"
           "  --systemd\tStarted by systemd: stay in the foreground and tell it when ready.\n"
           "  -v      \tVerbose mode. Multiple -v's increase verbosity.\n"
           "  -V      \tPrint version information and exit.\n";
}

}  // namespace sluice
