#include "surface/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

struct Marker {
    std::string_view text;
    Directive::Kind kind;
};
constexpr Marker kMarkers[] = {
    {"#SBATCH", Directive::Kind::Sbatch},
    {"#PBS", Directive::Kind::Pbs},
    {"#BSUB", Directive::Kind::Bsub},
};

// What the options of other systems are called here.
struct ForeignOption {
    Directive::Kind kind;
    std::string_view letter;
    const char* option;
};
constexpr ForeignOption kForeignOptions[] = {
    {Directive::Kind::Pbs, "-A", "account"},   {Directive::Kind::Pbs, "-N", "job-name"},
    {Directive::Kind::Pbs, "-o", "output"},    {Directive::Kind::Pbs, "-e", "error"},
    {Directive::Kind::Pbs, "-q", "partition"}, {Directive::Kind::Pbs, "-t", "array"},
    {Directive::Kind::Pbs, "-J", "array"},     {Directive::Kind::Pbs, "-M", "mail-user"},
    {Directive::Kind::Pbs, "-d", "chdir"},     {Directive::Kind::Pbs, "-w", "chdir"},
    {Directive::Kind::Bsub, "-J", "job-name"}, {Directive::Kind::Bsub, "-o", "output"},
    {Directive::Kind::Bsub, "-e", "error"},    {Directive::Kind::Bsub, "-q", "partition"},
    {Directive::Kind::Bsub, "-n", "ntasks"},   {Directive::Kind::Bsub, "-m", "nodelist"},
    {Directive::Kind::Bsub, "-M", "mem"},      {Directive::Kind::Bsub, "-P", "account"},
    {Directive::Kind::Bsub, "-W", "time"},
};
// #PBS -l name=value
constexpr ForeignOption kPbsResources[] = {
    {Directive::Kind::Pbs, "walltime", "time"}, {Directive::Kind::Pbs, "nodes", "nodes"},
    {Directive::Kind::Pbs, "mem", "mem"},       {Directive::Kind::Pbs, "ncpus", "mincpus"},
    {Directive::Kind::Pbs, "file", "tmp"},
};

Error problem(std::string_view text) {
    return {ErrorCode::ScriptMissing, std::string(text)};
}

// Cuts a directive into words. A backslash inside quotes keeps the next character from ending
// them; an unquoted # begins a comment, even within a word.
Result<std::vector<std::string>> words_of(std::string_view text, std::string_view name,
                                          unsigned line) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
        if (kBlanks.find(text[i]) != std::string_view::npos) {
            ++i;
            continue;
        }
        if (text[i] == '#') break;
        const std::size_t start = i;
        std::string word;
        char quote = 0;
        for (; i < text.size(); ++i) {
            char c = text[i];
            if (quote && c == '\\' && i + 1 < text.size()) {
                word += text[++i];
            } else if (quote && c == quote) {
                quote = 0;
            } else if (!quote && (c == '"' || c == '\'')) {
                quote = c;
            } else if (!quote && (c == '#' || kBlanks.find(c) != std::string_view::npos)) {
                break;
            } else {
                word += c;
            }
        }
        if (quote) {
            return problem(fmt::format("fatal: {}: line {}: Unmatched `{}` in [{}]", name, line,
                                       quote, text.substr(start)));
        }
        words.push_back(std::move(word));
    }
    return words;
}

std::string_view marker_of(Directive::Kind kind) {
    for (const Marker& marker : kMarkers) {
        if (marker.kind == kind) return marker.text;
    }
    return {};
}

GivenOption given(const char* option, std::string_view value) {
    return {option_index(option), std::string(value)};
}

Error foreign_problem(const Directive& directive, std::string_view word) {
    return problem(
        fmt::format("{} {} in line {} is not supported by Sluice; use --ignore-pbs to "
                    "ignore such lines",
                    marker_of(directive.kind), word, directive.line));
}

Result<void> add_pbs_resources(const Directive& directive, std::string_view list,
                               std::vector<GivenOption>& options) {
    for (std::string_view item : split(list, ',')) {
        std::string_view name = item.substr(0, item.find('='));
        std::string_view value = item.substr(std::min(item.size(), name.size() + 1));
        const ForeignOption* found = nullptr;
        for (const ForeignOption& each : kPbsResources) {
            if (each.letter == name) found = &each;
        }
        std::size_t colon = value.find(':');
        bool has_ppn = name == "nodes" && colon != std::string_view::npos;
        if (has_ppn && value.substr(colon + 1).starts_with("ppn=")) {
            options.push_back(given("ntasks-per-node", value.substr(colon + 5)));
            value = value.substr(0, colon);
        } else if (!found || has_ppn || value.empty()) {
            return foreign_problem(directive, fmt::format("-l {}", item));
        }
        options.push_back(given(found->option, value));
    }
    return {};
}

Result<std::vector<GivenOption>> foreign_options(const Directive& directive) {
    std::vector<GivenOption> options;
    for (std::size_t i = 0; i < directive.words.size(); ++i) {
        std::string_view word = directive.words[i];
        std::string_view letter = word.substr(0, 2);
        bool has_value = word.size() > 2 || i + 1 < directive.words.size();
        if (!letter.starts_with('-') || !has_value) return foreign_problem(directive, word);
        std::string_view value =
            word.size() > 2 ? word.substr(2) : std::string_view(directive.words[++i]);
        if (directive.kind == Directive::Kind::Pbs && letter == "-l") {
            TRY(add_pbs_resources(directive, value, options));
            continue;
        }
        const ForeignOption* found = nullptr;
        for (const ForeignOption& each : kForeignOptions) {
            if (each.kind == directive.kind && each.letter == letter) found = &each;
        }
        if (!found) return foreign_problem(directive, letter);
        options.push_back(given(found->option, value));
    }
    return options;
}

Result<Arguments> sbatch_options(const Directive& directive) {
    for (std::string_view word : {"hetjob", "packjob"}) {
        if (!directive.words.empty() && directive.words[0] == word) {
            return problem(fmt::format("#SBATCH {} is not supported by Sluice yet", word));
        }
    }
    Arguments arguments = TRY(parse_job_arguments(kSbatch, directive.words));
    if (!arguments.operands.empty()) {
        return Error{
            ErrorCode::BadArgument,
            fmt::format("Invalid directive found in batch script: {}", arguments.operands[0])};
    }
    return arguments;
}

// A directive that was refused: where it is. What was meant by it comes after that.
Error at_line(Error error, const Directive& directive, std::string_view name) {
    constexpr std::size_t kShownMax = 200;
    const std::string place =
        fmt::format("{} line {}: {} {}", name, directive.line, marker_of(directive.kind),
                    join(directive.words, " ").substr(0, kShownMax));
    error.hint = error.hint.empty() ? place : fmt::format("{}\n{}", place, error.hint);
    return error;
}

// Why a file that may be meant as a script does not begin with #!.
std::string missing_shebang_hint(std::string_view script) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (script.starts_with(kByteOrderMark)) {
        return "the file begins with a UTF-8 byte order mark: save it without";
    }
    const std::string_view text = trim(script);
    if (!text.starts_with("#!")) return {};
    const auto before = script.substr(0, static_cast<std::size_t>(text.data() - script.data()));
    const auto lines = std::count(before.begin(), before.end(), '\n');
    if (lines == 0) return "there are blanks before #!";
    return fmt::format("#! is in line {}: remove the empty lines before it", lines + 1);
}

Result<void> apply_directive(JobOptions& options, const Directive& directive, Time now) {
    if (directive.kind != Directive::Kind::Sbatch) {
        std::vector<GivenOption> given = TRY(foreign_options(directive));
        return apply_options(options, given, Source::Directive, kSbatch, now);
    }
    Arguments arguments = TRY(sbatch_options(directive));
    Result<void> applied =
        apply_options(options, arguments.options, Source::Directive, kSbatch, now);
    for (const std::string& hint : arguments.hints) {
        options.warnings.push_back(fmt::format("line {}: {}", directive.line, hint));
    }
    if (applied || arguments.hints.empty()) return applied;
    Error error = applied.error();
    error.hint = arguments.hints.front();
    return error;
}

}  // namespace

Result<void> check_script(std::string_view script) {
    if (script.empty()) return problem("Batch script is empty!");
    if (trim(script).empty()) return problem("Batch script contains only whitespace!");
    if (!script.starts_with("#!")) {
        Error error = problem(
            "This does not look like a batch script.  The first\n"
            "line must start with #! followed by the path to an interpreter.\n"
            "For instance: #!/bin/sh");
        error.hint = missing_shebang_hint(script);
        return error;
    }
    if (script.find('\0') != std::string_view::npos) {
        return problem(
            "The Slurm controller does not allow scripts that\ncontain a NULL character '\\0'.");
    }
    if (script.find("\r\n") != std::string_view::npos) {
        return problem(
            "Batch script contains DOS line breaks (\\r\\n)\n"
            "instead of expected UNIX line breaks (\\n).");
    }
    return {};
}

Result<std::vector<Directive>> directives_in(std::string_view script, std::string_view name) {
    std::vector<Directive> directives;
    unsigned number = 0;
    for (std::string_view line : split(script, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        if (trim(line).front() != '#') break;
        for (const Marker& marker : kMarkers) {
            if (!line.starts_with(marker.text)) continue;
            std::vector<std::string> words =
                TRY(words_of(line.substr(marker.text.size()), name, number));
            if (!words.empty()) directives.push_back({marker.kind, number, std::move(words)});
        }
    }
    return directives;
}

Result<void> apply_directives(JobOptions& options, std::string_view script, std::string_view name,
                              bool ignore_pbs, Time now) {
    std::vector<Directive> directives = TRY(directives_in(script, name));
    for (const Directive& directive : directives) {
        if (directive.kind != Directive::Kind::Sbatch && ignore_pbs) continue;
        Result<void> applied = apply_directive(options, directive, now);
        if (!applied) return at_line(applied.error(), directive, name);
    }
    return {};
}

}  // namespace sluice
