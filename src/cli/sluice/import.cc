// See import.h.
#include "cli/sluice/import.h"

#include "cli/sacctmgr/commands.h"
#include "config/survey.h"
#include "model/errors.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kImportUsage =
    "sluice import conf FILE       what becomes of each key of a slurm.conf\n"
    "sluice import dump [-i] FILE  load a file of sacctmgr dump";

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

}  // namespace

int run_import(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
               Streams& streams) {
    constexpr OptionSpelling kImmediately[] = {{"immediate", 'i', Argument::None, 0}};
    const Result<Arguments> given = parse_arguments(words, kImmediately, OptionsEnd::Nowhere);
    if (!given) {
        print_error(streams, invocation, given.error().detail);
        return 1;
    }
    const bool is_complete = given->operands.size() == 2;
    const std::string kind = is_complete ? given->operands[0] : "";
    if (kind == "conf") return import_conf(invocation, given->operands[1], streams);
    if (kind == "dump")
        return import_dump(invocation, given->operands[1], !given->options.empty(), client,
                           streams);
    print_error(streams, invocation, fmt::format("Usage:\n{}", kImportUsage));
    return 1;
}

}  // namespace sluice
