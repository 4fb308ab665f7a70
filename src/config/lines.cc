#include "config/lines.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace sluice {

namespace {

constexpr std::size_t kIncludeDepthMax = 8;
constexpr std::size_t kFileSizeMax = 64u << 20;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool is_key_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view without_blanks_before(std::string_view text) {
    std::size_t start = 0;
    while (start < text.size() && is_blank(text[start])) ++start;
    return text.substr(start);
}

// Joins physical lines into one logical line: a backslash before the end of the line continues it,
// "\#" and "\\" stand for the second character, an unescaped '#' starts a comment. A comment ends
// with its physical line, whatever its last character is.
class LogicalLines {
public:
    explicit LogicalLines(std::string_view text) : rest_(text) {}

    bool next() {
        if (rest_.empty()) return false;
        text_.clear();
        start_ = physical_ + 1;
        while (take_physical_line()) {
        }
        return true;
    }

    const std::string& text() const { return text_; }
    int number() const { return start_; }

private:
    // True when the line goes on.
    bool take_physical_line() {
        std::size_t end = rest_.find('\n');
        std::string_view line = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        ++physical_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        while (true) {
            const auto special = std::find_if(line.begin(), line.end(),
                                              [](char c) { return c == '#' || c == '\\'; });
            text_.append(line.begin(), special);
            line.remove_prefix(static_cast<std::size_t>(special - line.begin()));
            if (line.empty() || line.front() == '#') return false;
            if (line.size() == 1) return !rest_.empty();
            if (line[1] == '#' || line[1] == '\\') line.remove_prefix(1);
            text_ += line.front();
            line.remove_prefix(1);
        }
    }

    std::string_view rest_;
    std::string text_;
    int physical_ = 0;
    int start_ = 0;
};

// Takes one `Key = value` off the front of `rest`.
Result<Setting> take_setting(const Line& line, std::string_view& rest) {
    std::size_t key_end = 0;
    while (key_end < rest.size() && is_key_char(rest[key_end])) ++key_end;
    Setting setting{rest.substr(0, key_end), {}};
    std::string_view after = without_blanks_before(rest.substr(key_end));
    if (key_end == 0 || !after.starts_with('=')) {
        return error_at(line, "expected Key=value at '{}'", rest.substr(0, 60));
    }
    after = without_blanks_before(after.substr(1));
    if (after.starts_with('"')) {
        std::size_t end = after.find('"', 1);
        if (end == std::string_view::npos) {
            return error_at(line,
                            "{}={}: the closing quote is missing (a '#' in a value is "
                            "written \\#)",
                            setting.key, after.substr(0, 60));
        }
        setting.value = after.substr(1, end - 1);
        rest = after.substr(end + 1);
        if (!rest.empty() && !is_blank(rest.front())) {
            return error_at(line, "{}=\"{}\": a blank must follow the closing quote", setting.key,
                            setting.value);
        }
    } else {
        std::size_t end = 0;
        while (end < after.size() && !is_blank(after[end])) ++end;
        if (end == 0) return error_at(line, "{}= has no value", setting.key);
        setting.value = after.substr(0, end);
        rest = after.substr(end);
    }
    rest = without_blanks_before(rest);
    return setting;
}

class Reader {
public:
    Reader(const std::string& path, const FileReader& read, const LineHandler& handle)
        : folder_(path.substr(0, path.size() - base_name(path).size())),
          read_(read),
          handle_(handle),
          open_{path} {}

    Result<void> take(std::string_view text, std::string_view shown) {
        Line line{std::string(shown), 0, {}};
        LogicalLines logical(text);
        while (logical.next()) {
            line.number = logical.number();
            line.settings.clear();
            std::string_view rest = without_blanks_before(logical.text());
            if (rest.empty()) continue;
            if (std::string_view file = included(rest); !file.empty()) {
                TRY(include(line, file));
                continue;
            }
            while (!rest.empty()) line.settings.push_back(TRY(take_setting(line, rest)));
            const Setting& first = line.settings.front();
            if (equals_ignoring_case(first.key, "ClusterName")) cluster_name_ = first.value;
            TRY(handle_(line));
        }
        return {};
    }

private:
    // The name after the word Include, if that is what the line starts with.
    static std::string_view included(std::string_view rest) {
        constexpr std::string_view kInclude = "include";
        if (!starts_with_ignoring_case(rest, kInclude)) return {};
        rest.remove_prefix(kInclude.size());
        if (rest.empty() || !is_blank(rest.front())) return {};
        rest = trim(rest);
        return rest.starts_with('=') ? std::string_view{} : rest;
    }

    Result<void> include(const Line& line, std::string_view written) {
        std::string name(written);
        for (std::size_t at; (at = name.find("%c")) != std::string::npos;) {
            if (cluster_name_.empty()) {
                return error_at(line, "Include {}: %c needs a ClusterName line before it", written);
            }
            if (cluster_name_.find("%c") != std::string::npos) break;
            name.replace(at, 2, cluster_name_);
        }
        std::string path = name.starts_with('/') ? name : folder_ + name;
        if (open_.size() > kIncludeDepthMax) {
            return error_at(line, "Include {}: files are nested more than {} deep", written,
                            kIncludeDepthMax);
        }
        if (std::find(open_.begin(), open_.end(), path) != open_.end()) {
            return error_at(line, "Include {}: the file includes itself", written);
        }
        Result<std::string> text = read_(path);
        if (!text) return error_at(line, "Include {}: {}", written, text.error().detail);
        open_.push_back(path);
        TRY(take(*text, name));
        open_.pop_back();
        return {};
    }

    std::string folder_;  // with its slash, or empty
    const FileReader& read_;
    const LineHandler& handle_;
    std::string cluster_name_;
    std::vector<std::string> open_;  // files being read, outermost first
};

}  // namespace

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

Result<std::string> read_text_file(const std::string& path) {
    auto failed = [&] {
        return Error{ErrorCode::ConfigInvalid, fmt::format("{}: {}", path, std::strerror(errno))};
    };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                         [](std::FILE* f) { return fclose(f); });
    if (!file) return failed();
    std::string text;
    char buffer[16384];
    while (std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
        text.append(buffer, got);
        if (text.size() > kFileSizeMax) {
            return Error{ErrorCode::ConfigInvalid, fmt::format("{}: the file is too large", path)};
        }
    }
    if (std::ferror(file.get())) return failed();
    return text;
}

Result<std::string> read_nothing(const std::string&) {
    return Error{ErrorCode::ConfigInvalid, "no other file can be read from here"};
}

Result<void> for_each_line(std::string_view text, const std::string& path, const FileReader& read,
                           const LineHandler& handle) {
    return Reader(path, read, handle).take(text, base_name(path));
}

}  // namespace sluice
