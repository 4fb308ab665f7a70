#include "cli/sdata/options.h"

#include <algorithm>
#include <span>
#include <thread>

#include "base/closest.h"
#include "base/text.h"
#include "cli/sdata/sdata.h"
#include "model/checkpoint_sync.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr unsigned kThreadsMost = 64;

struct Command {
    std::string_view name;
    std::string_view operands;
    std::size_t least, most;  // operands
    std::string_view help;
};
constexpr Command kCommands[] = {
    {"pack", "SRC DST", 2, 2, "convert the files below SRC into a few large ones in DST"},
    {"ls", "DST", 1, 1, "list the files of a dataset: size, label, path"},
    {"cat", "DST PATH...", 2, 10'000, "print files of a dataset"},
    {"verify", "DST", 1, 1, "check every byte of a dataset"},
    {"unpack", "DST DIR", 2, 2, "write the files of a dataset into DIR"},
    {"stage", "SRC[:NAME]", 1, 1,
     "in a job: copy a dataset to $SCRATCH/NAME of this node, as --stage-in"},
    {"bench", "DST", 1, 1, "how fast can the dataset be read?"},
    {"sync", "LOCAL PERSISTENT", 2, 2, "copy complete checkpoints below LOCAL to PERSISTENT"},
    {"usage", "DIR...", 1, 10'000, "disk space of the directories in DIR; writes disk-usage.txt"},
};

enum OptionId : std::size_t {
    kFormat,
    kShardSize,
    kPrefix,
    kNoShuffle,
    kSeed,
    kThreads,
    kShards,
    kNoWrite,
    kEvery,
    kKeep,
    kOnce,
    kFinal,
    kRestore,
    kExpand,
    kReports,
    kLog,
    kTimeout,
    kMayBeMissing,
    kHelp,
    kVersion
};

struct Row {
    OptionSpelling spelling;
    std::string_view value;
    std::string_view commands;  // empty: all
    std::string_view help;
};
// clang-format off
constexpr Row kOptions[] = {
    {{"format",     'f', Argument::Required, kFormat},    "tfrecord|webdataset", "pack", "tfrecord (default), or tar archives for WebDataset"},
    {{"shard-size", 's', Argument::Required, kShardSize}, "size", "pack",  "size of a file of the dataset: 256M (default), 1G ..."},
    {{"prefix",     'p', Argument::Required, kPrefix},    "name", "pack",  "names of the files begin with it: data (default), train ..."},
    {{"no-shuffle", 0,   Argument::None,     kNoShuffle}, "",     "pack",  "keep the order of the paths; the default is a random order"},
    {{"seed",       0,   Argument::Required, kSeed},      "n",    "pack",  "another random order; the same number gives the same order"},
    {{"threads",    'j', Argument::Required, kThreads},   "n",    "",      "how many threads work; the default is the number of CPUs"},
    {{"shards",     0,   Argument::None,     kShards},    "",     "ls",    "list the files that the dataset consists of"},
    {{"no-write",   'n', Argument::None,     kNoWrite},   "",     "usage", "only print, do not write disk-usage.txt"},
    {{"every",      0,   Argument::Required, kEvery},     "time", "sync",  "synchronise so often: 90, 10m (default), 1h"},
    {{"keep",       0,   Argument::Required, kKeep},      "n",    "sync",  "the newest N checkpoints stay in PERSISTENT; the default is all"},
    {{"once",       0,   Argument::None,     kOnce},      "",     "sync",  "synchronise once, then end; the default is to go on"},
    {{"final",      0,   Argument::None,     kFinal},     "",     "sync",  "once, and wait for no file: nothing writes to LOCAL any more"},
    {{"restore",    0,   Argument::None,     kRestore},   "",     "sync",  "copy the newest complete checkpoint back to LOCAL, then end"},
    {{"expand",     0,   Argument::None,     kExpand},    "",     "sync",  "replace $NAME and ${NAME} in LOCAL and PERSISTENT"},
    {{"reports",    0,   Argument::None,     kReports},   "",     "sync",  "print what slurmd reads: saved TIME, problem TEXT"},
    {{"log",        0,   Argument::Required, kLog},       "file", "sync",  "append problems to this file, not to standard error"},
    {{"timeout",    0,   Argument::Required, kTimeout},   "time", "sync",  "give up after this time; the default is no limit"},
    {{"may-be-missing", 0, Argument::None,   kMayBeMissing}, "",  "sync",  "LOCAL need not exist"},
    {{"help",       'h', Argument::None,     kHelp},      "",     "",      "show this text"},
    {{"version",    'V', Argument::None,     kVersion},   "",     "",      "print the version and exit"},
};
// clang-format on

std::string help_text() {
    std::string text = "Usage: sdata COMMAND [OPTIONS...] OPERANDS...\n\n";
    for (const Command& each : kCommands)
        text +=
            fmt::format("  {:<24} {}\n", fmt::format("{} {}", each.name, each.operands), each.help);
    return text + "\n" + help_lines(sdata_option_help(), 34);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    constexpr std::string_view kUnits = "KMGT";
    unsigned shift = 0;
    if (!text.empty()) {
        const std::size_t unit = kUnits.find(to_upper(text.substr(text.size() - 1)));
        if (unit != std::string_view::npos) {
            shift = 10 * (static_cast<unsigned>(unit) + 1);
            text.remove_suffix(1);
        }
    }
    const auto number = to_number(text);
    if (!number || *number == 0 || *number > (std::uint64_t{1} << 50) >> shift) return {};
    return *number << shift;
}

Error wrong_value(const Row& row, std::string_view value, std::string_view expected) {
    return Error{{}, fmt::format("--{}={}: expected {}", row.spelling.name, value, expected)};
}

struct SyncFlag {
    OptionId id;
    bool SyncOptions::*member;
};
constexpr SyncFlag kSyncFlags[] = {
    {kOnce, &SyncOptions::once},        {kFinal, &SyncOptions::is_final},
    {kRestore, &SyncOptions::restores}, {kExpand, &SyncOptions::expands},
    {kReports, &SyncOptions::reports},  {kMayBeMissing, &SyncOptions::may_be_missing},
};

Result<void> set_sync_option(const Row& row, const std::string& value, SyncOptions& sync) {
    for (const SyncFlag& flag : kSyncFlags) {
        if (row.spelling.id == flag.id) sync.*flag.member = true;
    }
    if (row.spelling.id == kLog) sync.log = value;
    if (row.spelling.id == kKeep) {
        const Result<std::uint32_t> keep = parse_sync_count(value);
        if (!keep) return Error{{}, "--" + keep.error().detail};
        sync.keep = *keep;
    }
    if (row.spelling.id == kEvery || row.spelling.id == kTimeout) {
        const Result<Seconds> length = parse_sync_interval(value);
        if (!length) return wrong_value(row, value, "a time such as 90, 10m or 1h");
        if (row.spelling.id == kEvery)
            sync.every = *length;
        else
            sync.timeout = *length;
    }
    return {};
}

Result<void> set_option(const Row& row, const std::string& value, SdataOptions& options) {
    switch (row.spelling.id) {
        case kFormat: {
            const Result<data::Format> format = data::parse_format(value);
            if (!format) return wrong_value(row, value, "tfrecord or webdataset");
            options.pack.format = *format;
            break;
        }
        case kShardSize: {
            const auto size = parse_size(value);
            if (!size) return wrong_value(row, value, "a size such as 256M or 1G");
            options.pack.shard_size = *size;
            break;
        }
        case kPrefix:
            if (value.empty() || value.starts_with('.') || value.find('/') != std::string::npos)
                return wrong_value(row, value, "a name without slashes");
            options.pack.prefix = value;
            break;
        case kSeed: {
            const auto seed = to_number(value);
            if (!seed) return wrong_value(row, value, "a number");
            options.pack.seed = *seed;
            break;
        }
        case kThreads: {
            const auto threads = to_number(value);
            if (!threads || *threads == 0 || *threads > kThreadsMost)
                return wrong_value(row, value, fmt::format("1 to {}", kThreadsMost));
            options.threads = static_cast<unsigned>(*threads);
            break;
        }
        case kNoShuffle:
            options.pack.shuffled = false;
            break;
        case kShards:
            options.shows_shards = true;
            break;
        case kNoWrite:
            options.writes = false;
            break;
        default:
            return set_sync_option(row, value, options.sync);
    }
    return {};
}

const Command* find_command(std::string_view name) {
    const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [&](const Command& each) { return each.name == name; });
    return found == std::end(kCommands) ? nullptr : found;
}

Result<SdataOptions> options_from(const Arguments& given) {
    SdataOptions options{.command = given.operands.front()};
    options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMost);
    const Command* command = find_command(options.command);
    if (!command)
        return Error{{},
                     fmt::format("unknown command: {} (sdata --help lists them)", options.command)};
    options.operands.assign(given.operands.begin() + 1, given.operands.end());
    if (options.operands.size() < command->least || options.operands.size() > command->most)
        return Error{{}, fmt::format("expected: sdata {} {}", command->name, command->operands)};
    for (const GivenOption& each : given.options) {
        const Row& row = kOptions[each.id];
        if (!row.commands.empty() && row.commands != command->name) {
            return Error{{},
                         fmt::format("--{} is an option of sdata {}, not of {}", row.spelling.name,
                                     row.commands, command->name)};
        }
        TRY(set_option(row, each.value.value_or(""), options));
    }
    return options;
}

}  // namespace

std::vector<OptionHelp> sdata_option_help() {
    std::vector<OptionHelp> all;
    for (const Row& row : kOptions) {
        all.push_back({.name = row.spelling.name,
                       .letter = row.spelling.letter,
                       .value = row.value,
                       .text = row.help});
    }
    return all;
}

std::optional<SdataOptions> parse_sdata_options(const Invocation& invocation, Streams& streams,
                                                int& code) {
    std::vector<OptionSpelling> spellings;
    for (const Row& row : kOptions) spellings.push_back(row.spelling);
    const Result<Arguments> given =
        parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    code = 1;
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    auto has = [&](OptionId id) {
        return std::any_of(given->options.begin(), given->options.end(),
                           [&](const GivenOption& each) { return each.id == id; });
    };
    if (has(kVersion)) {
        print_version(streams);
        code = 0;
        return {};
    }
    if (has(kHelp) || given->operands.empty()) {
        streams.out(help_text());
        code = has(kHelp) ? 0 : 1;
        return {};
    }
    Result<SdataOptions> options = options_from(*given);
    if (!options) {
        print_error(streams, invocation, options.error().detail);
        return {};
    }
    return *options;
}

}  // namespace sluice
