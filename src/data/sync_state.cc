#include "data/sync_state.h"

#include <fmt/format.h>

#include "base/text.h"
#include "data/copy_file.h"
#include "os/files.h"

namespace sluice::data {

namespace {

std::string path_in(const std::string& directory) {
    return fmt::format("{}/{}", directory, kOwnNames);
}

// A name can contain everything but a slash and a zero byte.
std::string escape(std::string_view name) {
    std::string text;
    for (const char each : name) {
        if (each == '\n')
            text += "\\n";
        else if (each == '\\')
            text += "\\\\";
        else
            text.push_back(each);
    }
    return text;
}

std::string unescape(std::string_view text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size())
            name.push_back(text[i]);
        else
            name.push_back(text[++i] == 'n' ? '\n' : text[i]);
    }
    return name;
}

bool is_entry_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos &&
           !name.starts_with(kOwnNames);
}

}  // namespace

std::string print_sync_state(const SyncState& state) {
    std::string text;
    for (const auto& [name, entry] : state)
        text += fmt::format("{} {} {}\n", static_cast<char>(entry.kind), entry.changed_ns,
                            escape(name));
    return text;
}

SyncState parse_sync_state(std::string_view text) {
    SyncState state;
    for (const std::string_view line : split(text, '\n')) {
        constexpr std::string_view kKinds = "CPL";
        const std::size_t space = line.find(' ', 2);
        if (line.size() < 5 || line[1] != ' ' || space == std::string_view::npos ||
            kKinds.find(line[0]) == std::string_view::npos)
            continue;
        const auto changed = to_number(line.substr(2, space - 2));
        const std::string name = unescape(line.substr(space + 1));
        if (!changed || *changed > INT64_MAX || !is_entry_name(name)) continue;
        state[name] = {static_cast<SyncedEntry::Kind>(line[0]),
                       static_cast<std::int64_t>(*changed)};
    }
    return state;
}

SyncState read_sync_state(const std::string& directory) {
    const Result<std::string> text = read_file(path_in(directory));
    return text ? parse_sync_state(*text) : SyncState{};
}

Result<void> write_sync_state(const std::string& directory, const SyncState& state) {
    return write_file_atomically(path_in(directory), print_sync_state(state), {.durable = true});
}

}  // namespace sluice::data
