// sluice backup and sluice restore. The program sluice starts this one with the same arguments.
#include <fmt/format.h>
#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "backup/copy.h"
#include "base/log.h"
#include "config/config.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice::backup {
namespace {

constexpr const char* kUsage =
    "Usage: sluice backup [-f slurm.conf] FILE\n"
    "       sluice restore [-f slurm.conf] [--force] FILE\n"
    "  backup   write the controller's state into FILE, also while it runs\n"
    "  restore  make the state of FILE that of the controllers, which must not run\n"
    "  --force  replace a state that exists; it is put aside\n";

struct Options {
    bool is_restore = false, force = false, help = false;
    std::string config, file;
};

Error bad(std::string why) {
    return {ErrorCode::BadArgument, std::move(why)};
}

Result<Options> parse(int argc, char** argv) {
    Options options;
    const option long_options[] = {
        {"force", no_argument, nullptr, 'F'}, {"help", no_argument, nullptr, 'h'}, {}};
    opterr = 0;
    int letter = 0;
    while ((letter = getopt_long(argc, argv, ":f:h", long_options, nullptr)) != -1) {
        if (letter == 'f') options.config = optarg;
        if (letter == 'F') options.force = true;
        if (letter == 'h') options.help = true;
        if (letter == ':') return bad(fmt::format("-{} needs a value", char(optopt)));
        if (letter == '?') return bad(fmt::format("unknown option {}", argv[optind - 1]));
    }
    if (options.help) return options;
    const std::string command = optind < argc ? argv[optind] : "";
    if (command != "backup" && command != "restore")
        return bad(fmt::format("unknown command: {}", command));
    options.is_restore = command == "restore";
    if (options.force && !options.is_restore) return bad("--force is for restore");
    if (optind + 2 != argc) return bad(fmt::format("{} needs one file", command));
    options.file = argv[optind + 1];
    return options;
}

Result<void> run(const Options& options) {
    const char* slurm_conf = std::getenv("SLURM_CONF");
    const Config config = TRY(
        load_config(config_path(options.config, slurm_conf ? slurm_conf : "", own_program_path())));
    const Place place{.location = config.state_save_location,
                      .cluster = config.cluster_name,
                      .has_accounting = config.accounting_type != "accounting_storage/slurmdbd"};
    if (!options.is_restore) {
        const std::uint64_t rows = TRY(back_up(place, options.file));
        fmt::print("{}: {} rows\n", options.file, rows);
        return {};
    }
    const Restored restored = TRY(restore(place, options.file, options.force));
    fmt::print("restored {} rows\n", restored.rows);
    if (!restored.aside.empty()) fmt::print("the state before is {}\n", restored.aside);
    return {};
}

int main_of(int argc, char** argv) {
    start_log({.program = "sluice"});
    const auto options = parse(argc, argv);
    if (options && options->help) return std::fputs(kUsage, stdout) < 0;
    const Result<void> done = options ? run(*options) : Result<void>(options.error());
    if (done) return 0;
    const std::string& detail = done.error().detail;
    fmt::print(stderr, "sluice: error: {}\n", detail.empty() ? to_string(done.error()) : detail);
    return 1;
}

}  // namespace
}  // namespace sluice::backup

int main(int argc, char** argv) {
    return sluice::backup::main_of(argc, argv);
}
