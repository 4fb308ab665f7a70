// See import.h.
#include "cli/sluice/import.h"

#include <algorithm>

#include "cli/sacctmgr/commands.h"
#include "cli/sluice/history.h"
#include "config/survey.h"
#include "model/errors.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kImportUsage =
    "sluice import conf FILE       what becomes of each key of a slurm.conf\n"
    "sluice import dump [-i] FILE  load a file of sacctmgr dump\n"
    "sluice import history [--cluster=NAME] [--delimiter=C] [--skip-bad] [--dry-run] FILE...\n"
    "                              what ran: the output of sacct -P, into accounting";

std::string absolute(const Invocation& invocation, const std::string& file) {
    return file.starts_with('/') ? file : invocation.directory + "/" + file;
}

constexpr struct {
    std::string_view word, summary;
} kFates[] = {
    {"used", "used"},
    {"partly", "used in part"},
    {"no effect", "without effect"},
    {"REFUSED", "refused"},
};

std::string print_key(const SurveyedKey& key) {
    std::string what =
        key.table.empty() || key.table == key.key ? key.key : key.table + " " + key.key;
    if (key.lines == 1) what += "=" + key.value;
    std::string line =
        fmt::format("{:<9} {}", kFates[static_cast<std::size_t>(key.fate)].word, what);
    if (key.lines > 1) line += fmt::format(" ({} lines)", key.lines);
    if (!key.why.empty()) line += fmt::format("  [{}: {}]", key.where, key.why);
    return line + "\n";
}

// The exit code is 1 if slurmctld would not start with the file.
int import_conf(const Invocation& invocation, const std::string& file, Streams& streams) {
    const Result<Survey> survey = survey_slurm_conf(absolute(invocation, file));
    if (!survey) {
        print_error(streams, invocation, survey.error().detail);
        return 1;
    }
    std::size_t counts[std::size(kFates)] = {};
    std::string text;
    for (const SurveyedKey& key : survey->keys) {
        text += print_key(key);
        ++counts[static_cast<std::size_t>(key.fate)];
    }
    for (const SurveyedNote& other : survey->others) {
        const auto fate = static_cast<std::size_t>(other.fate);
        text += fmt::format("{:<9} {}\n", kFates[fate].word, other.text);
        ++counts[fate];
    }
    std::string separator;
    for (std::size_t i = 0; i < std::size(kFates); ++i) {
        text += fmt::format("{}{} {}", separator, counts[i], kFates[i].summary);
        separator = ", ";
    }
    streams.out(text + "\n");
    return counts[std::size(kFates) - 1] > 0 ? 1 : 0;
}

int import_dump(const Invocation& invocation, const std::string& file, bool immediate,
                Client& client, Streams& streams) {
    AccountingCommand command{invocation, client, streams};
    command.immediate = immediate;
    command.words = {"file=" + file};
    return load_policy(command);
}

enum ImportOption : std::size_t {
    kImmediately,
    kCluster,
    kDelimiter,
    kSkipBad,
    kDryRun,
    kNoOption,
};
constexpr OptionSpelling kImportOptions[] = {
    {"immediate", 'i', Argument::None, kImmediately},
    {"cluster", 'M', Argument::Required, kCluster},
    {"delimiter", 0, Argument::Required, kDelimiter},
    {"skip-bad", 0, Argument::None, kSkipBad},
    {"dry-run", 'n', Argument::None, kDryRun},
};

// Nothing: an option does not fit.
std::optional<HistoryOptions> history_options(const Invocation& invocation,
                                              const Arguments& given) {
    HistoryOptions options;
    for (const GivenOption& each : given.options) {
        if (each.id == kImmediately) return {};
        if (each.id == kCluster) options.cluster = *each.value;
        if (each.id == kSkipBad) options.skip_bad = true;
        if (each.id == kDryRun) options.dry_run = true;
        if (each.id != kDelimiter) continue;
        if (each.value->size() != 1) return {};
        options.delimiter = each.value->front();
    }
    for (std::size_t i = 1; i < given.operands.size(); ++i)
        options.files.push_back(absolute(invocation, given.operands[i]));
    return options;
}

}  // namespace

int run_import(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
               Streams& streams) {
    const Result<Arguments> given = parse_arguments(words, kImportOptions, OptionsEnd::Nowhere);
    if (!given) {
        print_error(streams, invocation, given.error().detail);
        return 1;
    }
    const bool has_file = given->operands.size() > 1;
    const std::string kind = has_file ? given->operands[0] : "";
    const auto takes_only = [&](std::size_t id) {
        return given->operands.size() == 2 &&
               std::all_of(given->options.begin(), given->options.end(),
                           [&](const GivenOption& each) { return each.id == id; });
    };
    if (kind == "conf" && takes_only(kNoOption))
        return import_conf(invocation, given->operands[1], streams);
    if (kind == "dump" && takes_only(kImmediately))
        return import_dump(invocation, given->operands[1], !given->options.empty(), client,
                           streams);
    if (kind == "history") {
        const std::optional<HistoryOptions> options = history_options(invocation, *given);
        if (options) return import_history(invocation, *options, client, streams);
    }
    print_error(streams, invocation, fmt::format("Usage:\n{}", kImportUsage));
    return 1;
}

}  // namespace sluice
