#include "cli/srun/multi_prog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

Error wrong(std::string text) {
    return {ErrorCode::ConfigInvalid, std::move(text)};
}

struct Line {
    std::size_t number = 0;
    std::string text;
};

// Without comments and empty lines; a backslash at the end of a line joins it with the next.
std::vector<Line> lines_in(std::string_view text) {
    std::vector<Line> lines;
    std::size_t number = 0;
    bool continues = false;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        const bool goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        if (continues) {
            lines.back().text += line;
            lines.back().number = number;
        } else {
            lines.push_back({number, std::string(line)});
        }
        continues = goes_on;
    }
    std::erase_if(lines, [](const Line& line) {
        const std::size_t first = line.text.find_first_not_of(" \t\r");
        return first == std::string::npos || line.text[first] == '#';
    });
    return lines;
}

// The words of a line: where %t and %o stand is kept apart from what is quoted.
struct Word {
    struct Piece {
        char kind = 0;  // 0: text, 't', 'o'
        std::string text;
    };
    std::vector<Piece> pieces;
};

void add_text(Word& word, char letter) {
    if (word.pieces.empty() || word.pieces.back().kind != 0) word.pieces.push_back({});
    word.pieces.back().text += letter;
}

std::vector<Word> words_in(std::string_view line) {
    std::vector<Word> words;
    bool in_word = false, is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char letter = line[i];
        const bool is_space = letter == ' ' || letter == '\t' || letter == '\r';
        if (is_space && !is_quoted) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (letter == '\'') {
            is_quoted = !is_quoted;
        } else if (is_quoted) {
            add_text(words.back(), letter);
        } else if (letter == '\\' && i + 1 < line.size()) {
            add_text(words.back(), line[++i]);
        } else if (letter == '%') {
            // Compat: a % with any other letter is left out.
            const char kind = i + 1 < line.size() ? line[++i] : ' ';
            if (kind == 't' || kind == 'o') words.back().pieces.push_back({kind, {}});
            if (kind == ' ' || kind == '\t') --i;
        } else {
            add_text(words.back(), letter);
        }
    }
    return words;
}

std::string plain(const Word& word) {
    std::string text;
    for (const Word::Piece& piece : word.pieces) text += piece.text;
    return text;
}

std::string expand(const Word& word, std::uint32_t task, std::uint32_t offset) {
    std::string text;
    for (const Word::Piece& piece : word.pieces) {
        text += piece.kind == 't'   ? std::to_string(task)
                : piece.kind == 'o' ? std::to_string(offset)
                                    : piece.text;
    }
    return text;
}

Result<std::uint32_t> task_number(std::string_view text, std::string_view range,
                                  std::uint32_t tasks) {
    std::optional<std::uint64_t> number = to_number(text);
    if (!number) return wrong(fmt::format("Invalid task range specification ({})", range));
    if (*number >= tasks) return wrong(fmt::format("Invalid task id, {} >= ntasks", *number));
    return static_cast<std::uint32_t>(*number);
}

// In the order of the line, which %o counts.
Result<std::vector<std::uint32_t>> tasks_in(std::string_view text, std::uint32_t tasks) {
    std::vector<std::uint32_t> found;
    for (std::string_view range : split(text, ',')) {
        const std::size_t dash = std::min(range.find('-'), range.size());
        const std::uint32_t first = TRY(task_number(range.substr(0, dash), text, tasks));
        std::uint32_t last = first;
        if (dash < range.size()) {
            const std::string_view end = range.substr(dash + 1);
            if (to_number(end) < first) return wrong(fmt::format("Invalid task range, {}", range));
            last = TRY(task_number(end, text, tasks));
        }
        for (std::uint32_t task = first; task <= last; ++task) found.push_back(task);
    }
    return found;
}

class Programs {
public:
    Programs(std::uint32_t tasks, const std::vector<std::string>& more)
        : is_taken_(tasks), more_(more) {}

    Result<void> add(const std::string& line) {
        const std::vector<Word> words = words_in(line);
        if (has_rest_) return wrong("Task range specification with asterisk must be last");
        if (words.size() < 2) return wrong("");
        const std::string ranks = plain(words[0]);
        if (ranks == "*") {
            has_rest_ = true;
            for (std::uint32_t task = 0; task < is_taken_.size(); ++task) {
                if (!is_taken_[task]) add_task(words, task, task);
            }
            return {};
        }
        std::uint32_t offset = 0;
        for (std::uint32_t task : TRY(tasks_in(ranks, size()))) {
            if (is_taken_[task]) return wrong(fmt::format("Duplicate record for task {}", task));
            add_task(words, task, offset++);
        }
        return {};
    }

    std::optional<std::uint32_t> missing() const {
        const auto found = std::find(is_taken_.begin(), is_taken_.end(), false);
        if (found == is_taken_.end()) return {};
        return static_cast<std::uint32_t>(found - is_taken_.begin());
    }

    std::vector<TaskProgram> take() {
        std::vector<TaskProgram> programs;
        for (auto& [argv, tasks] : programs_) {
            std::sort(tasks.begin(), tasks.end());
            programs.push_back({argv, std::move(tasks)});
        }
        return programs;
    }

private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(is_taken_.size()); }

    void add_task(const std::vector<Word>& words, std::uint32_t task, std::uint32_t offset) {
        is_taken_[task] = true;
        std::vector<std::string> argv;
        for (std::size_t i = 1; i < words.size(); ++i) {
            argv.push_back(expand(words[i], task, offset));
        }
        argv.insert(argv.end(), more_.begin(), more_.end());
        programs_[std::move(argv)].push_back(task);
    }

    std::vector<bool> is_taken_;
    const std::vector<std::string>& more_;
    bool has_rest_ = false;
    std::map<std::vector<std::string>, std::vector<std::uint32_t>> programs_;
};

}  // namespace

Result<std::vector<TaskProgram>> read_programs(std::string_view text, const std::string& file,
                                               std::uint32_t tasks,
                                               const std::vector<std::string>& more) {
    Programs programs(tasks, more);
    for (const Line& line : lines_in(text)) {
        if (Result<void> added = programs.add(line.text); !added) {
            const std::string& why = added.error().detail;
            return wrong(fmt::format("{}{}Line {} of configuration file {} invalid", why,
                                     why.empty() ? "" : "\n", line.number, file));
        }
    }
    if (const auto task = programs.missing()) {
        return wrong(
            fmt::format("Configuration file {} invalid, no record for task id {}", file, *task));
    }
    return programs.take();
}

Result<void> add_programs(const std::vector<std::string>& command, std::uint32_t tasks,
                          wire::TaskSpec& spec) {
    const std::string& file = command.front();
    Result<std::string> text = read_file(file);
    if (!text) return wrong(fmt::format("Could not open multi_prog config file {}", file));
    const std::vector<std::string> more(command.begin() + 1, command.end());
    for (const TaskProgram& program : TRY(read_programs(*text, file, tasks, more))) {
        wire::TaskProgram& message = *spec.add_programs();
        message.mutable_argv()->Add(program.argv.begin(), program.argv.end());
        message.mutable_tasks()->Add(program.tasks.begin(), program.tasks.end());
    }
    return {};
}

}  // namespace sluice
