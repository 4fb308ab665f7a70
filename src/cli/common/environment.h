// cli/common/environment.h
//
// Environment variables as a value: a tool reads its own through this, and builds the one of a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class Environment {
public:
    Environment() = default;
    explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}
    static Environment of_process();

    std::optional<std::string_view> find(std::string_view name) const;
    Environment starting_with(char first) const;  // faster where many are looked up
    void set(std::string_view name, std::string_view value);
    void set_default(std::string_view name, std::string_view value);
    void unset(std::string_view name);

    const std::vector<std::string>& entries() const { return entries_; }  // NAME=value
    std::string to_bytes() const;  // NAME=value, each ended by a zero byte

private:
    std::string* entry(std::string_view name);

    std::vector<std::string> entries_;
};

}  // namespace sluice
