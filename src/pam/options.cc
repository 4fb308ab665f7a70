#include "pam/options.h"

#include <cstdlib>
#include <cstring>

namespace sluice {

namespace {

// What follows "name=", or nothing.
const char* value_of(const char* argument, const char* name) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(argument, name, length) != 0 || argument[length] != '=') return nullptr;
    return argument + length + 1;
}

// Slurm's levels, by name or number.
bool parse_level(const char* text, int& level) {
    constexpr const char* kLevels[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                       "debug", "debug2", "debug3", "debug4", "debug5"};
    int number = 0;
    for (const char* name : kLevels) {
        if (std::strcmp(text, name) == 0 || (text[0] == '0' + number && text[1] == '\0')) {
            level = number;
            return true;
        }
        ++number;
    }
    return false;
}

bool parse_no_jobs(const char* text, AdoptOptions& options) {
    const bool is_ignored = std::strcmp(text, "ignore") == 0;
    if (!is_ignored && std::strcmp(text, "deny") != 0) return false;
    options.no_jobs = is_ignored ? AdoptOptions::NoJobs::Ignore : AdoptOptions::NoJobs::Deny;
    return true;
}

bool parse_unknown(const char* text, AdoptOptions& options) {
    using Unknown = AdoptOptions::Unknown;
    if (std::strcmp(text, "newest") == 0)
        options.unknown = Unknown::Newest;
    else if (std::strcmp(text, "allow") == 0)
        options.unknown = Unknown::Allow;
    else if (std::strcmp(text, "deny") == 0)
        options.unknown = Unknown::Deny;
    else
        return false;
    return true;
}

bool take(const char* argument, AdoptOptions& options) {
    if (const char* value = value_of(argument, "action_no_jobs"))
        return parse_no_jobs(value, options);
    if (const char* value = value_of(argument, "action_unknown"))
        return parse_unknown(value, options);
    if (const char* value = value_of(argument, "log_level"))
        return parse_level(value, options.log_level);
    if (const char* value = value_of(argument, "nodename")) {
        options.node = value;
        return *value != '\0';
    }
    return false;
}

}  // namespace

AdoptOptions parse_adopt_options(int count, const char** arguments) {
    AdoptOptions options;
    for (int i = 0; i < count; ++i) {
        if (!take(arguments[i], options) && !options.bad) options.bad = arguments[i];
    }
    return options;
}

}  // namespace sluice
