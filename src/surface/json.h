// surface/json.h
//
// A small writer of JSON text, in the layout that Slurm's tools print: two blanks per level, keys
// in the order written. It only appends; the caller closes what it has opened. The same calls make
// a YAML document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Documents follow one of the data parsers v0.0.42 to v0.0.45 of Slurm, named by the last number.
inline constexpr int kJsonOldest = 42, kJsonNewest = 45;

struct JsonStyle {
    bool yaml = false;
    bool compact = false;  // JSON without line breaks
    int version = kJsonNewest;
};

class Json {
public:
    explicit Json(const JsonStyle& style = {}) : style_(style) {}

    int version() const { return style_.version; }

    // Without a key: an element of a list, or the whole document.
    void open_object(std::string_view key = {});
    void open_list(std::string_view key = {});
    void close();  // the innermost open object or list

    void text(std::string_view key, std::string_view value);
    void number(std::string_view key, std::int64_t value);
    void real(std::string_view key, double value);
    void boolean(std::string_view key, bool value);
    void null(std::string_view key);
    void texts(std::string_view key, const std::vector<std::string>& values);
    void element(std::string_view value);  // of a list of texts

    // {"set": .., "infinite": .., "number": ..}: kAbsent is unset, kUnlimited is infinite.
    void optional_number(std::string_view key, std::int64_t value);

    std::string take();  // the document, with a newline at its end

private:
    void begin(std::string_view key);  // comma, newline, indentation, key
    void begin_yaml(std::string_view key, bool has_text);
    void open(std::string_view key, bool is_list);
    void scalar(std::string_view key, std::string_view text);
    void new_line();
    void quoted(std::string_view text);

    struct Level {
        bool is_list = false;
        bool is_element = false;  // of a list
        bool is_empty = true;
    };
    JsonStyle style_;
    std::string out_;
    std::vector<Level> levels_;
};

// "data_parser/v0.0.45"
std::string data_parser_name(int version);
// The version that --json=NAME asks for, with or without what is before the slash.
std::optional<int> find_data_parser(std::string_view name);
// "v0.0.42, v0.0.43, ...": for error messages.
std::string data_parser_list();

// The end of every document: meta, errors, warnings.
struct JsonMeta {
    std::string_view tool;
    const std::vector<std::string>& args;
    std::string_view cluster;
    JsonStyle style;
};
void write_json_meta(Json& json, const JsonMeta& meta);

// SLURM_JSON's value: "compact" or "pretty".
bool wants_compact_json(std::string_view slurm_json);

}  // namespace sluice
