#include "surface/json.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "model/table.h"
#include "model/version.h"
#include "os/user.h"

namespace sluice {

void Json::new_line() {
    if (style_.compact) return;
    out_ += '\n';
    out_.append(2 * levels_.size(), ' ');
}

// A line per key or element. The first key of an object in a list follows its dash.
void Json::begin_yaml(std::string_view key, bool has_text) {
    if (!levels_.empty()) {
        Level& level = levels_.back();
        const bool follows_dash = level.is_empty && level.is_element;
        if (!follows_dash && !out_.empty()) {
            out_ += '\n';
            out_.append(2 * (levels_.size() - 1), ' ');
        }
        level.is_empty = false;
        if (level.is_list) out_ += "- ";
    }
    if (key.empty()) return;
    out_ += key;
    out_ += has_text ? ": " : ":";
}

void Json::begin(std::string_view key) {
    if (!levels_.empty()) {
        Level& level = levels_.back();
        if (!level.is_empty) out_ += ',';
        level.is_empty = false;
        new_line();
    }
    if (key.empty()) return;
    quoted(key);
    out_ += style_.compact ? ":" : ": ";
}

void Json::quoted(std::string_view text) {
    out_ += '"';
    for (char c : text) {
        switch (c) {
            case '"':
                out_ += "\\\"";
                break;
            case '\\':
                out_ += "\\\\";
                break;
            case '\n':
                out_ += "\\n";
                break;
            case '\t':
                out_ += "\\t";
                break;
            case '\r':
                out_ += "\\r";
                break;
            case '\b':
                out_ += "\\b";
                break;
            case '\f':
                out_ += "\\f";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<int>(c));
                } else {
                    out_ += c;
                }
        }
    }
    out_ += '"';
}

void Json::open(std::string_view key, bool is_list) {
    const bool is_element = !levels_.empty() && levels_.back().is_list;
    if (style_.yaml) {
        begin_yaml(key, false);
    } else {
        begin(key);
        out_ += is_list ? '[' : '{';
    }
    levels_.push_back({.is_list = is_list, .is_element = is_element});
}

void Json::open_object(std::string_view key) {
    open(key, false);
}

void Json::open_list(std::string_view key) {
    open(key, true);
}

void Json::close() {
    CHECK(!levels_.empty());
    const Level level = levels_.back();
    levels_.pop_back();
    if (style_.yaml) {
        if (level.is_empty && !level.is_element && !levels_.empty()) out_ += ' ';
        if (level.is_empty) out_ += level.is_list ? "[]" : "{}";
        return;
    }
    if (!level.is_empty) new_line();
    out_ += level.is_list ? ']' : '}';
}

void Json::scalar(std::string_view key, std::string_view text) {
    style_.yaml ? begin_yaml(key, true) : begin(key);
    out_ += text;
}

void Json::text(std::string_view key, std::string_view value) {
    scalar(key, {});
    quoted(value);
}

void Json::element(std::string_view value) {
    text({}, value);
}

void Json::number(std::string_view key, std::int64_t value) {
    scalar(key, fmt::format_int(value).c_str());
}

void Json::real(std::string_view key, double value) {
    scalar(key, fmt::format("{:.2f}", value));
}

void Json::boolean(std::string_view key, bool value) {
    scalar(key, value ? "true" : "false");
}

void Json::null(std::string_view key) {
    scalar(key, "null");
}

void Json::texts(std::string_view key, const std::vector<std::string>& values) {
    open_list(key);
    for (const std::string& value : values) element(value);
    close();
}

void Json::optional_number(std::string_view key, std::int64_t value) {
    open_object(key);
    boolean("set", value != kAbsent && value != kUnlimited);
    boolean("infinite", value == kUnlimited);
    number("number", value == kAbsent || value == kUnlimited ? 0 : value);
    close();
}

std::string Json::take() {
    CHECK(levels_.empty());
    out_ += '\n';
    return std::move(out_);
}

void write_json_meta(Json& json, const JsonMeta& meta) {
    json.open_object("meta");
    json.open_object("plugin");
    json.text("type", "");
    json.text("name", "");
    json.text("data_parser", data_parser_name(json.version()));
    json.text("accounting_storage", "");
    json.close();
    json.open_object("client");
    const std::optional<User> user = find_user(getuid());
    json.text("source", isatty(STDIN_FILENO) ? "tty" : "");
    json.text("user", user ? user->name : fmt::to_string(getuid()));
    json.text("group", group_name(getgid()));
    json.close();
    std::vector<std::string> command{std::string(meta.tool)};
    command.insert(command.end(), meta.args.begin(), meta.args.end());
    json.texts("command", command);
    json.open_object("slurm");
    json.open_object("version");
    json.text("major", kSlurmVersion.substr(0, 2));
    json.text("micro", kSlurmVersion.substr(6));
    json.text("minor", kSlurmVersion.substr(3, 2));
    json.close();
    json.text("release", kSlurmVersion);
    json.text("cluster", meta.cluster);
    json.close();
    json.close();
    json.texts("errors", {});
    json.texts("warnings", {});
}

std::string data_parser_name(int version) {
    return fmt::format("data_parser/v0.0.{}", version);
}

std::optional<int> find_data_parser(std::string_view name) {
    for (int version = kJsonOldest; version <= kJsonNewest; ++version) {
        const std::string known = data_parser_name(version);
        if (name == known || name == std::string_view(known).substr(known.find('/') + 1)) {
            return version;
        }
    }
    return {};
}

std::string data_parser_list() {
    std::vector<std::string> names;
    for (int version = kJsonOldest; version <= kJsonNewest; ++version) {
        names.push_back(fmt::format("v0.0.{}", version));
    }
    return join(names, ", ");
}

bool wants_compact_json(std::string_view slurm_json) {
    return equals_ignoring_case(slurm_json, "compact");
}

}  // namespace sluice
