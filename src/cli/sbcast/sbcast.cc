#include "cli/sbcast/sbcast.h"

#include "cli/common/listing.h"
#include "cli/sbcast/broadcast.h"
#include "cli/sbcast/remote.h"
#include "cli/sbcast/transfer_options.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::string_view kCastOperands = "SOURCE DEST";
constexpr Argument kPlain = Argument::None, kNeeded = Argument::Required,
                   kMaybe = Argument::Optional;

// clang-format off
constexpr ToolOption kCastOptions[] = {
    {{"compress",      'C', kMaybe,  kCompress},      "[library]",    "SBCAST_COMPRESS",  "compress the file on the way: lz4, none"},
    {{"exclude",       0,   kNeeded, kExclude},       "paths",        "SBCAST_EXCLUDE",   "directories whose shared objects are not sent, or NONE"},
    {{"treewidth",     'F', kNeeded, kFanout},        "number",       "SBCAST_TREEWIDTH", "nodes that are sent the file directly, up to 64; off: all"},
    {{"fanout",        0,   kNeeded, kFanout},        "number",       "SBCAST_FANOUT",    ""},
    {{"force",         'f', kPlain,  kForce},         nullptr,        "SBCAST_FORCE",     "replace a file that is there"},
    {{"jobid",         'j', kNeeded, kJob},           "job[.step]",   nullptr,            "the job, or the step whose nodes are meant"},
    {{"no-allocation", 'Z', kPlain,  kNoAllocation},  nullptr,        nullptr,            ""},
    {{"nodelist",      'w', kNeeded, kNodeList},      "names",        nullptr,            "these nodes of the job only"},
    {{"preserve",      'p', kPlain,  kPreserve},      nullptr,        "SBCAST_PRESERVE",  "keep the mode and the times of the file"},
    {{"send-libs",     0,   kMaybe,  kSendLibs},      "[yes|no]",     "SBCAST_SEND_LIBS", "send the shared objects of a program, too"},
    {{"size",          's', kNeeded, kSize},          "size",         "SBCAST_SIZE",      "bytes in one block, or with k or m behind; from 4k to 8m"},
    {{"timeout",       't', kNeeded, kTimeout},       "seconds",      "SBCAST_TIMEOUT",   "give up when no node takes data for so long"},
    {{"verbose",       'v', kPlain,  kTellMore},      nullptr,        nullptr,            "print more"},
    {{"help",          0,   kPlain,  kHelpOption},    nullptr,        nullptr,            "show this text"},
    {{"usage",         0,   kPlain,  kUsageOption},   nullptr,        nullptr,            "show a brief usage text"},
    {{"version",       'V', kPlain,  kVersionOption}, nullptr,        nullptr,            "print the version and exit"},
};
// clang-format on

std::string destination_of(const TransferOptions& options, const Invocation& invocation,
                           const Config& config) {
    std::string path = options.destination;
    if (path.ends_with('/')) path += base_name(options.source);
    const std::string directory(
        list_option(config.bcast_parameters, "DestDir").value_or(invocation.directory));
    return absolute_path(path, directory);
}

Result<Broadcast> plan_cast(const TransferOptions& options, const Invocation& invocation,
                            Client& client) {
    const Config& config = *TRY(client.config());
    TransferNodes nodes = TRY(nodes_of_transfer(options, invocation, client));
    Broadcast cast;
    cast.job = nodes.job;
    cast.nodes = std::move(nodes.names);
    cast.verbose = options.verbose;
    cast.tree_width = options.fanout;
    CastSource source{.path = absolute_path(options.source, invocation.directory), .file = {}};
    source.file.set_path(destination_of(options, invocation, config));
    source.file.set_force(options.force);
    source.file.set_preserve(options.preserve);
    TRY(describe_original(source));
    cast.files.push_back(std::move(source));
    if (options.send_libs.value_or(config.has_flag(config.bcast_parameters, "send_libs"))) {
        TRY(add_shared_objects(cast.files,
                               options.exclude.empty() ? config.bcast_exclude : options.exclude));
    }
    const std::string by_default(
        list_option(config.bcast_parameters, "Compression").value_or("none"));
    cast.transport.compress = (options.compress.empty() ? by_default : options.compress) == "lz4";
    if (options.block > 0) cast.transport.block = options.block;
    cast.transport.patience = options.timeout;
    return cast;
}

}  // namespace

std::vector<OptionHelp> sbcast_option_help() {
    return help_of(kCastOptions);
}

int run_sbcast(const Invocation& invocation, Client& client, Streams& streams) {
    if (!invocation.args.empty() && invocation.args[0] == kReceiveFiles)
        return receive_files(invocation, streams);
    if (!invocation.args.empty() && invocation.args[0] == kSendFile)
        return send_file(invocation, streams);
    const std::optional<Arguments> given = read_options(kCastOptions, invocation, streams);
    if (!given) return exit_code_for_error(invocation);
    if (print_help_option(*given, kCastOptions, kCastOperands, invocation, streams)) return 0;
    const auto refuse = [&](const Error& error) {
        print_error(streams, invocation, error.detail.empty() ? to_string(error) : error.detail);
        return exit_code_for_error(invocation);
    };
    const Result<TransferOptions> options = transfer_options(*given, invocation);
    if (!options) return refuse(options.error());
    if (!has_configuration(invocation, client, streams)) return exit_code_for_error(invocation);
    const Result<Broadcast> cast = plan_cast(*options, invocation, client);
    if (!cast) return refuse(cast.error());
    if (options->verbose) {
        for (const CastSource& file : cast->files) {
            print_info(streams, invocation,
                       fmt::format("{} to {} on {} nodes", file.path, file.file.path(),
                                   cast->nodes.size()));
        }
    }
    return broadcast(*cast, invocation, client, streams);
}

}  // namespace sluice
