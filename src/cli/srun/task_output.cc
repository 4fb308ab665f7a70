#include "cli/srun/task_output.h"

#include <fmt/format.h>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::size_t kPartialMax = 1u << 20;  // of a line that has not ended

}  // namespace

void TaskOutput::write(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    if (layout_.unbuffered && !layout_.label) return put(stream, data);
    std::string& partial = partial_[{task, stream}];
    if (data.empty()) {
        if (!partial.empty()) write_lines(task, stream, partial);
        partial.clear();
        return;
    }
    std::size_t end = data.rfind('\n');
    if (end == std::string_view::npos) {
        partial += data;
        if (partial.size() <= kPartialMax) return;
        write_lines(task, stream, partial);
        partial.clear();
        return;
    }
    partial += data.substr(0, end + 1);
    write_lines(task, stream, partial);
    partial = data.substr(end + 1);
}

void TaskOutput::finish() {
    for (auto& [key, text] : partial_) {
        if (!text.empty()) write_lines(key.first, key.second, text);
        text.clear();
    }
}

void TaskOutput::write_lines(std::uint32_t task, std::uint32_t stream, std::string_view lines) {
    if (!layout_.label) return put(stream, lines);
    const std::size_t width = fmt::formatted_size("{}", layout_.tasks - 1);
    if (lines.ends_with('\n')) lines.remove_suffix(1);
    std::string text;
    for (std::string_view line : split(lines, '\n')) {
        fmt::format_to(std::back_inserter(text), "{:{}}: {}\n", task, width, line);
    }
    put(stream, text);
}

void TaskOutput::put(std::uint32_t stream, std::string_view text) {
    if (stream == 2 && errors_go_to_output_) stream = 1;
    if (auto file = files_.find(stream); file != files_.end()) {
        write_all(file->second.get(), text);
    } else if (stream == 2) {
        streams_.err(text);
    } else {
        streams_.out(text);
        streams_.flush();
    }
}

}  // namespace sluice
