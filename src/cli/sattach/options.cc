#include "cli/sattach/options.h"

#include "base/text.h"
#include "cli/common/option_table.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::string_view kAttachOperands = "JOB.STEP";

enum AttachOption : std::size_t {
    kErrorFilter,
    kInputFilter,
    kLabel,
    kLayout,
    kOutputFilter,
    kPty,
    kQuiet,
    kTellMore
};

constexpr Argument kNoValue = Argument::None, kOneValue = Argument::Required;

// clang-format off
constexpr ToolOption kAttachOptions[] = {
    {{"error-filter",  0,   kOneValue, kErrorFilter},  "task",  nullptr, "print standard error of this task only"},
    {{"input-filter",  0,   kOneValue, kInputFilter},  "task",  nullptr, "send standard input to this task only"},
    {{"label",         'l', kNoValue,  kLabel},        nullptr, nullptr, "put the task number before lines of output"},
    {{"layout",        0,   kNoValue,  kLayout},       nullptr, nullptr, "print which task runs on which node, and exit"},
    {{"output-filter", 0,   kOneValue, kOutputFilter}, "task",  nullptr, "print standard output of this task only"},
    {{"pty",           0,   kNoValue,  kPty},          nullptr, nullptr, "use the terminal for task 0, of a step that srun --pty runs"},
    {{"quiet",         'Q', kNoValue,  kQuiet},        nullptr, nullptr, "print errors only"},
    {{"verbose",       'v', kNoValue,  kTellMore},     nullptr, nullptr, "print more"},
    {{"help",          'h', kNoValue,  kHelpOption},   nullptr, nullptr, "show this text"},
    {{"usage",         'u', kNoValue,  kUsageOption},  nullptr, nullptr, "show a brief usage text"},
    {{"version",       'V', kNoValue,  kVersionOption}, nullptr, nullptr, "print the version and exit"},
};
// clang-format on

// False: it is no task number.
bool set_filter(std::optional<std::uint32_t>& filter, const char* name, const std::string& value,
                const Invocation& invocation, Streams& streams) {
    const std::optional<std::uint64_t> task = to_number(value);
    if (!task || *task > sizes::kCount) {
        print_error(streams, invocation,
                    fmt::format("--{}={}: this is no task number", name, value));
        return false;
    }
    filter = static_cast<std::uint32_t>(*task);
    return true;
}

bool set_option(AttachOptions& options, const GivenOption& given, const Invocation& invocation,
                Streams& streams) {
    switch (given.id) {
        case kErrorFilter:
            return set_filter(options.error_task, "error-filter", *given.value, invocation,
                              streams);
        case kInputFilter:
            return set_filter(options.input_task, "input-filter", *given.value, invocation,
                              streams);
        case kOutputFilter:
            return set_filter(options.output_task, "output-filter", *given.value, invocation,
                              streams);
        case kLabel:
            options.label = true;
            break;
        case kLayout:
            options.layout = true;
            break;
        case kPty:
            options.pty = true;
            break;
        case kQuiet:
            options.quiet = true;
            break;
        case kTellMore:
            options.verbose = true;
            break;
        default:
            break;
    }
    return true;
}

// Empty: there is no contradiction.
std::string contradiction(const AttachOptions& options) {
    if (!options.pty) return {};
    if (options.label) return "--pty and --label exclude each other";
    if (options.input_task || options.output_task || options.error_task)
        return "--pty and --input-filter, --output-filter or --error-filter exclude each other";
    return {};
}

}  // namespace

std::vector<OptionHelp> sattach_option_help() {
    return help_of(kAttachOptions);
}

std::optional<AttachOptions> parse_attach_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code) {
    exit_code = exit_code_for_error(invocation);
    const std::optional<Arguments> given = read_options(kAttachOptions, invocation, streams);
    if (!given) return {};
    if (print_help_option(*given, kAttachOptions, kAttachOperands, invocation, streams)) {
        exit_code = 0;
        return {};
    }
    AttachOptions options;
    for (const GivenOption& each : given->options) {
        if (!set_option(options, each, invocation, streams)) return {};
    }
    if (given->operands.size() != 1) {
        print_error(streams, invocation,
                    given->operands.empty() ? "No job step was named: sattach JOB.STEP"
                                            : "One job step can be named: sattach JOB.STEP");
        return {};
    }
    const Result<JobRef> step = parse_job_ref(given->operands[0]);
    if (!step || !step->step) {
        print_error(streams, invocation,
                    fmt::format("{}: this is no job step; write JOB.STEP", given->operands[0]));
        return {};
    }
    options.step = *step;
    if (const std::string text = contradiction(options); !text.empty()) {
        print_error(streams, invocation, text);
        return {};
    }
    return options;
}

}  // namespace sluice
