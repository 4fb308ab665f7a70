#include "cli/sstat/options.h"

#include "cli/common/listing.h"
#include "cli/sstat/fields.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kOperands = "-j JOB[.STEP],...";

enum Option : std::size_t {
    kAllSteps,
    kFormat,
    kHelpFormat,
    kJobs,
    kNoConvert,
    kNoHeader,
    kParsable,
    kParsable2,
    kPids,
    kVerbose,
    kHelp,
    kUsage,
    kVersion
};

struct Row {
    OptionSpelling spelling;
    const char* value;
    const char* help;  // nullptr: another spelling
};

constexpr Argument kNone = Argument::None, kValue = Argument::Required;

// clang-format off
constexpr Row kOptions[] = {
    {{"allsteps",   'a', kNone,  kAllSteps},   nullptr,  "all running steps of a job that is named without a step"},
    {{"format",     'o', kValue, kFormat},     "fields", "columns: a list of fields; %NUMBER after a name is the width, a negative one aligns left"},
    {{"fields",     0,   kValue, kFormat},     "fields", nullptr},
    {{"helpformat", 'e', kNone,  kHelpFormat}, nullptr,  "list the fields"},
    {{"jobs",       'j', kValue, kJobs},       "jobs",   "jobs and steps: 12, 12.0, 12.batch; a job alone means its lowest numbered step"},
    {{"noconvert",  0,   kNone,  kNoConvert},  nullptr,  "sizes in bytes"},
    {{"noheader",   'n', kNone,  kNoHeader},   nullptr,  "no header line"},
    {{"parsable",   'p', kNone,  kParsable},   nullptr,  "a bar after each column"},
    {{"parsable2",  'P', kNone,  kParsable2},  nullptr,  "a bar between columns"},
    {{"pidformat",  'i', kNone,  kPids},       nullptr,  "the processes of the steps, a line for each node"},
    {{"verbose",    'v', kNone,  kVerbose},    nullptr,  "say which nodes are asked"},
    {{"help",       'h', kNone,  kHelp},       nullptr,  "show this text"},
    {{"usage",      0,   kNone,  kUsage},      nullptr,  "show a brief usage text"},
    {{"version",    'V', kNone,  kVersion},    nullptr,  "print the version and exit"},
};
// clang-format on

// False: a word is no job.
bool add_jobs(SstatOptions& options, const std::string& list, const Invocation& invocation,
              Streams& streams) {
    for (const std::string& word : split_list(list)) {
        Result<JobRef> ref = parse_job_ref(word);
        if (!ref) {
            print_fatal(streams, invocation, fmt::format("Bad job/step specified: {}", word));
            return false;
        }
        options.jobs.push_back(*ref);
    }
    return true;
}

void set_flag(SstatOptions& options, std::size_t id) {
    switch (id) {
        case kAllSteps:
            options.all_steps = true;
            break;
        case kNoConvert:
            options.no_convert = true;
            break;
        case kNoHeader:
            options.no_header = true;
            break;
        case kParsable:
            options.bars = Bars::AfterEach;
            break;
        case kParsable2:
            options.bars = Bars::Between;
            break;
        case kPids:
            options.pids = true;
            break;
        case kVerbose:
            options.verbose = true;
            break;
        default:
            break;
    }
}

// Whether the option prints something and ends the tool.
bool print_ending(std::size_t id, Streams& streams) {
    switch (id) {
        case kHelp:
            streams.out(fmt::format("Usage: sstat [OPTIONS] {}\n{}", kOperands,
                                    help_lines(sstat_option_help(), 26)));
            return true;
        case kUsage:
            streams.out(usage_lines("sstat", sstat_option_help(), kOperands));
            return true;
        case kHelpFormat:
            streams.out(sstat_field_list());
            return true;
        case kVersion:
            print_version(streams);
            return true;
        default:
            return false;
    }
}

}  // namespace

std::vector<OptionHelp> sstat_option_help() {
    std::vector<OptionHelp> all;
    for (const Row& row : kOptions) {
        all.push_back({.name = row.spelling.name,
                       .letter = row.spelling.letter,
                       .value = row.value ? row.value : "",
                       .text = row.help ? row.help : ""});
    }
    return all;
}

std::optional<SstatOptions> parse_sstat_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code) {
    exit_code = 1;
    std::vector<OptionSpelling> spellings;
    for (const Row& row : kOptions) spellings.push_back(row.spelling);
    Result<Arguments> given = parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    SstatOptions options;
    for (const GivenOption& option : given->options) {
        if (print_ending(option.id, streams)) {
            exit_code = 0;
            return {};
        }
        if (option.id == kFormat) options.format = *option.value;
        if (option.id == kJobs && !add_jobs(options, *option.value, invocation, streams)) return {};
        set_flag(options, option.id);
    }
    for (const std::string& operand : given->operands) {
        if (!add_jobs(options, operand, invocation, streams)) return {};
    }
    if (!options.jobs.empty()) return options;
    print_error(streams, invocation, "You didn't give me any jobs to stat.");
    return {};
}

}  // namespace sluice
