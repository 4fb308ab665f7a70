#include "cli/common/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace sluice {

namespace {

bool is_named(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

Environment Environment::of_process() {
    std::vector<std::string> entries;
    for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
    return Environment(std::move(entries));
}

std::string* Environment::entry(std::string_view name) {
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [&](const std::string& each) { return is_named(each, name); });
    return found == entries_.end() ? nullptr : &*found;
}

std::optional<std::string_view> Environment::find(std::string_view name) const {
    for (const std::string& each : entries_) {
        if (is_named(each, name)) return std::string_view(each).substr(name.size() + 1);
    }
    return {};
}

Environment Environment::starting_with(char first) const {
    Environment some;
    std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(some.entries_),
                 [&](const std::string& each) { return each.starts_with(first); });
    return some;
}

void Environment::set(std::string_view name, std::string_view value) {
    std::string text = fmt::format("{}={}", name, value);
    if (std::string* old = entry(name)) {
        *old = std::move(text);
    } else {
        entries_.push_back(std::move(text));
    }
}

void Environment::set_default(std::string_view name, std::string_view value) {
    if (!entry(name)) set(name, value);
}

void Environment::unset(std::string_view name) {
    std::erase_if(entries_, [&](const std::string& each) { return is_named(each, name); });
}

std::string Environment::to_bytes() const {
    std::string bytes;
    for (const std::string& each : entries_) {
        bytes += each;
        bytes += '\0';
    }
    return bytes;
}

}  // namespace sluice
