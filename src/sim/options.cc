#include "sim/options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {
namespace {

enum In : unsigned { kRun = 1, kCompare = 2, kGenerate = 4, kFaults = 8 };

using Set = Result<void> (*)(SimOptions&, std::string_view);

Error wrong(std::string_view value, std::string_view expected) {
    return {ErrorCode::BadArgument, fmt::format("={}: {} is expected", value, expected)};
}

Result<std::uint32_t> count_from(std::string_view text) {
    auto number = to_number(text);
    if (!number || *number == 0 || *number > 100'000'000) return wrong(text, "a number from 1 on");
    return static_cast<std::uint32_t>(*number);
}

Result<std::uint64_t> seed_from(std::string_view text) {
    auto number = to_number(text);
    if (!number) return wrong(text, "a number");
    return *number;
}

template <auto Member>
Result<void> set_count(SimOptions& options, std::string_view text) {
    options.*Member = TRY(count_from(text));
    return {};
}

template <auto Member>
Result<void> set_text(SimOptions& options, std::string_view text) {
    if (text.empty()) return wrong(text, "a file");
    options.*Member = std::string(text);
    return {};
}

Result<void> add_conf(SimOptions& options, std::string_view text) {
    if (text.empty()) return wrong(text, "a file");
    options.confs.emplace_back(text);
    return {};
}

Result<void> set_format(SimOptions& options, std::string_view text) {
    auto format = parse_trace_format(text);
    if (!format) return wrong(text, "swf, csv or sacct");
    options.format = *format;
    return {};
}

Result<void> set_processors(SimOptions& options, std::string_view text) {
    options.generate.processors = TRY(count_from(text));
    return {};
}

Result<void> set_load(SimOptions& options, std::string_view text) {
    double load = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), load);
    bool whole = problem == std::errc{} && end == text.data() + text.size();
    if (!whole || !(load > 0) || load > 100) return wrong(text, "a load such as 0.8");
    options.generate.load = load;
    return {};
}

Result<void> set_seed(SimOptions& options, std::string_view text) {
    options.generate.seed = TRY(seed_from(text));
    return {};
}

// "7" or "1..100"
Result<void> set_seeds(SimOptions& options, std::string_view text) {
    std::size_t dots = text.find("..");
    options.seed_first = TRY(seed_from(text.substr(0, dots)));
    options.seed_last =
        dots == text.npos ? options.seed_first : TRY(seed_from(text.substr(dots + 2)));
    if (options.seed_last < options.seed_first) return wrong(text, "a range such as 1..100");
    return {};
}

Result<void> set_events(SimOptions& options, std::string_view) {
    options.print_events = true;
    return {};
}

struct SimOption {
    std::string_view name;
    std::string_view value;  // empty: takes none
    unsigned commands;
    Set set;
    std::string_view help;
};

using S = SimOptions;
// clang-format off
constexpr SimOption kOptions[] = {
    {"conf",       "FILE",   kRun | kCompare,     add_conf,                "slurm.conf of the cluster; two or more for compare"},
    {"nodes",      "N",      kRun | kFaults,      set_count<&S::nodes>,    "instead of --conf: number of equal nodes"},
    {"cpus",       "N",      kRun,                set_count<&S::cpus>,     "CPUs of each node (default 1)"},
    {"gpus",       "N",      kRun,                set_count<&S::gpus>,     "GPUs of each node (default none)"},
    {"format",     "FORMAT", kRun | kCompare,     set_format,              "format of the trace: swf, csv or sacct"},
    {"qos",        "FILE",   kRun | kCompare,     set_text<&S::qos_file>,  "output of sacctmgr -P show qos"},
    {"policy",     "FILE",   kRun | kCompare,     set_text<&S::policy_file>, "accounts, shares and limits: a file of sacctmgr dump"},
    {"csv",        "FILE",   kRun,                set_text<&S::csv_file>,  "write a line per job"},
    {"html",       "FILE",   kRun,                set_text<&S::html_file>, "write a page with charts"},
    {"jobs",       "N",      kGenerate | kFaults, set_count<&S::jobs>,     "how many"},
    {"processors", "N",      kGenerate,           set_processors,          "CPUs or GPUs to fill (default 128)"},
    {"load",       "L",      kGenerate,           set_load,                "work per processor (default 0.8)"},
    {"seed",       "N",      kGenerate,           set_seed,                "seed of the trace"},
    {"seeds",      "A..B",   kFaults,             set_seeds,               "seeds of the simulated worlds (default 1..20)"},
    {"events",     "",       kFaults,             set_events,              "print all events"},
};
// clang-format on

struct CommandWord {
    std::string_view word;
    SimCommand command;
    In bit;
};
constexpr CommandWord kCommands[] = {
    {"run", SimCommand::Run, kRun},
    {"compare", SimCommand::Compare, kCompare},
    {"generate", SimCommand::Generate, kGenerate},
    {"faults", SimCommand::Faults, kFaults},
};

const CommandWord* find_command(std::string_view word) {
    for (const CommandWord& command : kCommands) {
        if (command.word == word) return &command;
    }
    return nullptr;
}

const SimOption* find_option(std::string_view name) {
    for (const SimOption& option : kOptions) {
        if (option.name == name) return &option;
    }
    return nullptr;
}

Error refuse(std::string text) {
    return {ErrorCode::BadArgument, std::move(text)};
}

Result<void> set_option(SimOptions& options, const CommandWord& command,
                        const std::vector<std::string>& args, std::size_t& at) {
    std::string_view text = std::string_view(args[at]).substr(2);
    std::size_t equals = text.find('=');
    std::string_view name = text.substr(0, equals);
    const SimOption* option = find_option(name);
    if (!option) return refuse(fmt::format("unrecognized option '--{}'", name));
    if ((option->commands & command.bit) == 0) {
        return refuse(fmt::format("--{}: ssim {} has no use for it", name, command.word));
    }
    std::string_view value;
    if (equals != text.npos) value = text.substr(equals + 1);
    if (option->value.empty()) {
        if (equals != text.npos) return refuse(fmt::format("--{}: takes no value", name));
    } else if (equals == text.npos) {
        if (++at == args.size())
            return refuse(fmt::format("--{}: {} is missing", name, option->value));
        value = args[at];
    }
    Result<void> set = option->set(options, value);
    if (!set) return refuse(fmt::format("--{}{}", name, set.error().detail));
    return {};
}

Result<void> set_operand(SimOptions& options, const std::string& word) {
    if (options.command == SimCommand::Generate && !options.format) {
        if (word != "swf" && word != "csv") {
            return refuse(fmt::format("generate {}: swf or csv is expected", word));
        }
        options.format = options.generate.format = TRY(parse_trace_format(word));
        return {};
    }
    if (options.command == SimCommand::Generate || !options.trace.empty())
        return refuse(fmt::format("{}: one word too many", word));
    options.trace = word;
    return {};
}

Result<void> check(const SimOptions& options) {
    bool run = options.command == SimCommand::Run, compare = options.command == SimCommand::Compare;
    if ((run || compare) && options.trace.empty()) return refuse("which trace?");
    if (compare && options.confs.size() < 2) return refuse("compare: --conf is needed twice");
    if (run && options.confs.size() > 1)
        return refuse("run: one --conf is enough (see ssim compare)");
    const bool has_seeds = options.seed_first != 1 || options.seed_last != 20;
    if (options.command == SimCommand::Faults && !options.trace.empty() &&
        (has_seeds || options.nodes > 0 || options.jobs > 0)) {
        return refuse("faults: the trace has its own --seeds, --nodes and --jobs");
    }
    bool plain = options.nodes > 0 || options.cpus > 0 || options.gpus > 0;
    if (run && options.confs.empty() && options.nodes == 0)
        return refuse("run: --conf or --nodes is needed");
    if (run && !options.confs.empty() && plain) {
        return refuse("run: either --conf or --nodes, --cpus and --gpus");
    }
    if (options.command == SimCommand::Generate && !options.format) {
        return refuse("generate: swf or csv is expected");
    }
    return {};
}

}  // namespace

Result<SimOptions> parse_sim_options(const std::vector<std::string>& args) {
    SimOptions options;
    const CommandWord* command = nullptr;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string& word = args[i];
        if (word == "-h" || word == "--help" || word == "--usage") {
            options.help = true;
            return options;
        }
        if (word == "-V" || word == "--version") {
            options.version = true;
            return options;
        }
        if (!command) {
            command = find_command(word);
            if (!command)
                return refuse(
                    fmt::format("{}: run, compare, generate or faults is expected", word));
            options.command = command->command;
        } else if (word.starts_with("--") && word.size() > 2) {
            TRY(set_option(options, *command, args, i));
        } else if (word.starts_with('-') && word.size() > 1) {
            return refuse(fmt::format("unrecognized option '{}'", word));
        } else {
            TRY(set_operand(options, word));
        }
    }
    if (!command) return refuse("run, compare, generate or faults is expected");
    if (options.jobs > 0) options.generate.jobs = options.jobs;
    TRY(check(options));
    return options;
}

std::string sim_help() {
    std::string text =
        "Usage: ssim run      --conf slurm.conf | --nodes N [--cpus N] [--gpus N]  [OPTION] TRACE\n"
        "       ssim compare  --conf A --conf B [OPTION] TRACE\n"
        "       ssim generate swf|csv [OPTION]\n"
        "       ssim faults   [OPTION] [TRACE]\n\n"
        "Runs the scheduler in virtual time: on a recorded or generated trace of jobs, or with\n"
        "random faults to check that no job is lost.\n\n";
    for (const SimOption& option : kOptions) {
        std::string words =
            fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : "=", option.value);
        text += fmt::format("  {:<18} {}\n", words, option.help);
    }
    text += "  -h, --help         print this text\n  -V, --version      print the version\n";
    return text;
}

}  // namespace sluice
