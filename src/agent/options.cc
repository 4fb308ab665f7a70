#include "agent/options.h"

#include <fmt/format.h>
#include <getopt.h>

#include "model/errors.h"

namespace sluice {

namespace {

constexpr option kLongOptions[] = {
    {"conf", required_argument, nullptr, 'z'},
    {"conf-server", required_argument, nullptr, 's'},
    {"help", no_argument, nullptr, 'h'},
    {"usage", no_argument, nullptr, 'h'},
    {"systemd", no_argument, nullptr, 'D'},
    {"version", no_argument, nullptr, 'V'},
    {nullptr, 0, nullptr, 0},
};

}  // namespace

Result<SlurmdOptions> parse_slurmd_options(int argc, char** argv) {
    SlurmdOptions options;
    optind = 0;
    opterr = 0;
    for (int letter;
         (letter = getopt_long(argc, argv, ":bcCDf:F::hL:n:N:vVZ", kLongOptions, nullptr)) != -1;) {
        switch (letter) {
            case 'b':
                options.rebooted = true;
                break;
            case 'c':
                options.clean = true;
                break;
            case 'C':
                options.print_hardware = true;
                break;
            case 'D':
                options.foreground = true;
                break;
            case 'f':
                options.config_path = optarg;
                break;
            case 'h':
                options.print_help = true;
                break;
            case 'L':
                options.log_file = optarg;
                break;
            case 'n':
                break;  // a nice value, which a service manager sets better
            case 'N':
                options.node_name = optarg;
                break;
            case 'v':
                ++options.verbose;
                break;
            case 'V':
                options.print_version = true;
                break;
            case 'Z':
                options.dynamic = true;
                break;
            case 'z':
                options.dynamic_conf = optarg;
                break;
            case 'F':
                return Error{ErrorCode::NotSupported,
                             "-F: nodes with State=FUTURE are not assigned; use -Z"};
            case 's':
                return Error{
                    ErrorCode::NotSupported,
                    fmt::format("--conf-server={}: slurm.conf is read from a file", optarg)};
            case ':':
                return Error{ErrorCode::BadArgument,
                             fmt::format("option '{}' needs a value", argv[optind - 1])};
            default:
                return Error{ErrorCode::BadArgument,
                             fmt::format("unrecognized option '{}'", argv[optind - 1])};
        }
    }
    if (optind < argc) {
        return Error{ErrorCode::BadArgument, fmt::format("unexpected argument '{}'", argv[optind])};
    }
    if (!options.dynamic_conf.empty() && !options.dynamic)
        return Error{ErrorCode::BadArgument, "--conf needs -Z"};
    return options;
}

std::string slurmd_usage() {
    return "Usage: slurmd [OPTIONS]\n"
           "   -b                         Report node rebooted when daemon restarted.\n"
           "   -c                         Forget what an earlier slurmd had started.\n"
           "   -C                         Print the machine's NodeName= line and exit.\n"
           "   -D                         Run daemon in the foreground.\n"
           "   -f config                  Read configuration from the specified file.\n"
           "   -h, --help                 Print this help message.\n"
           "   -L logfile                 Log messages to the file `logfile'.\n"
           "   -N node                    Run the daemon for the node of that name.\n"
           "   -v                         Verbose mode. Multiple -v's increase verbosity.\n"
           "   -V, --version              Print version information and exit.\n"
           "   -Z                         The node is in no slurm.conf: it registers itself.\n"
           "   --conf \"key=value ...\"    With -Z: keys of a NodeName line.\n"
           "   --systemd                  Started by systemd: stay in the foreground, notify.\n";
}

}  // namespace sluice
