#include "stepd/oci_pattern.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>

namespace sluice {

namespace {

// Letters that oci.conf accepts; config/oci_conf.cc refuses all others.
std::string meaning_of(char letter, const OciFacts& facts) {
    switch (letter) {
        case '%':
            return "%";
        case '@': {
            std::vector<std::string> words;
            for (const std::string& word : facts.argv) words.push_back(quoted_for_shell(word));
            return fmt::format("{}", fmt::join(words, " "));
        }
        case 'b':
        case 'm':
            return facts.bundle;
        case 'e':
            return facts.env_file;
        case 'j':
            return fmt::format("{}", facts.job);
        case 'n':
            return facts.node;
        case 'p':
            return fmt::format("{}", facts.pid);
        case 'r':
            return facts.root;
        case 's':
            return fmt::format("{}", facts.step);
        case 't':
            return fmt::format("{}", facts.task);
        case 'u':
            return facts.user;
        case 'U':
            return fmt::format("{}", facts.uid);
        default:
            return {};
    }
}

}  // namespace

std::string expand_oci_pattern(std::string_view pattern, const OciFacts& facts) {
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '%' && i + 1 < pattern.size()) {
            text += meaning_of(pattern[++i], facts);
        } else {
            text += pattern[i];
        }
    }
    return text;
}

std::string quoted_for_shell(std::string_view word) {
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'') {
            quoted += "'\\''";
        } else {
            quoted += c;
        }
    }
    return quoted + "'";
}

std::vector<std::string> without_matching(std::vector<std::string> entries,
                                          const std::string& expression) {
    regex_t compiled;
    if (expression.empty() || regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
        return entries;
    std::erase_if(entries, [&](const std::string& entry) {
        return regexec(&compiled, entry.c_str(), 0, nullptr, 0) == 0;
    });
    regfree(&compiled);
    return entries;
}

}  // namespace sluice
