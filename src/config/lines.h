// config/lines.h
//
// The syntax that all of Slurm's configuration files share: comments, continued lines, Include, and
// "Key=value Key=value" with quotes. What the keys mean is not known here.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/errors.h"

namespace sluice {

struct Setting {
    std::string_view key;
    std::string_view value;  // without its quotes
};

// One logical line; the views live as long as the handler's call.
struct Line {
    std::string file;  // as people know it: "slurm.conf", or an Include as written
    int number = 0;    // where the line starts
    std::vector<Setting> settings;
};

// "slurm.conf line 12: ..."
template <typename... Args>
std::string note_at(const Line& line, fmt::format_string<Args...> format, Args&&... args) {
    return fmt::format("{} line {}: {}", line.file, line.number,
                       fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
Error error_at(const Line& line, fmt::format_string<Args...> format, Args&&... args) {
    return Error{ErrorCode::ConfigInvalid, note_at(line, format, std::forward<Args>(args)...)};
}

using LineHandler = std::function<Result<void>(const Line&)>;
using FileReader = std::function<Result<std::string>(const std::string& path)>;

// The content of a file; an error with the system's reason otherwise.
Result<std::string> read_text_file(const std::string& path);

// A reader for text that came from elsewhere: an Include in it is an error.
Result<std::string> read_nothing(const std::string& path);

// Hands every line of `text`, the content of `path`, to `handle`. Include lines are replaced by
// their file: relative names are looked up beside `path`, "%c" is the ClusterName given so far.
Result<void> for_each_line(std::string_view text, const std::string& path, const FileReader& read,
                           const LineHandler& handle);

// The last part of a path.
std::string_view base_name(std::string_view path);

}  // namespace sluice
