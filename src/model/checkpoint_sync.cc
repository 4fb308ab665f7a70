#include "model/checkpoint_sync.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::uint64_t kEveryMost = 30 * 24 * 3600;
constexpr std::uint64_t kKeepMost = 1'000'000;

Error wrong(std::string_view text, std::string_view why) {
    return Error{ErrorCode::BadArgument, fmt::format("--sync={}: {}", text, why)};
}

Result<void> set_word(SyncRule& rule, std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (name == "every") {
        rule.every = TRY(parse_sync_interval(value));
    } else if (name == "keep") {
        rule.keep = TRY(parse_sync_count(value));
    } else {
        return Error{ErrorCode::BadArgument,
                     fmt::format("unknown word '{}', expected every=TIME or keep=N", word)};
    }
    return {};
}

}  // namespace

Result<Seconds> parse_sync_interval(std::string_view text) {
    std::uint64_t unit = 1;
    std::string_view digits = text;
    if (!text.empty()) {
        const char last = text.back();
        unit = last == 'm' ? 60 : last == 'h' ? 3600 : 1;
        if (last == 's' || unit > 1) digits.remove_suffix(1);
    }
    const std::optional<std::uint64_t> number = to_number(digits);
    if (!number || *number == 0 || *number > kEveryMost / unit)
        return Error{ErrorCode::BadArgument,
                     fmt::format("every={}: expected seconds, or a number with s, m or h, of at "
                                 "least a second and at most 30 days",
                                 text)};
    return Seconds{static_cast<std::int64_t>(*number * unit)};
}

Result<std::uint32_t> parse_sync_count(std::string_view text) {
    const std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number == 0 || *number > kKeepMost)
        return Error{ErrorCode::BadArgument,
                     fmt::format("keep={}: expected a number from 1 to {}", text, kKeepMost)};
    return static_cast<std::uint32_t>(*number);
}

Result<SyncRule> parse_sync_rule(std::string_view text) {
    if (text.find('\n') != std::string_view::npos) return wrong(text, "it has a line break");
    const std::vector<std::string_view> words = split(text, ',');
    const std::string_view paths = words.empty() ? std::string_view() : words.front();
    const std::size_t colon = paths.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == paths.size())
        return wrong(text, "expected LOCAL:PERSISTENT[,every=TIME][,keep=N]");
    SyncRule rule;
    rule.local = paths.substr(0, colon);
    rule.persistent = paths.substr(colon + 1);
    if (rule.local.size() > sizes::kPath || rule.persistent.size() > sizes::kPath)
        return wrong(text, "a path is too long");
    for (std::size_t i = 1; i < words.size(); ++i) {
        const Result<void> set = set_word(rule, words[i]);
        if (!set) return wrong(text, set.error().detail);
    }
    return rule;
}

Result<std::vector<SyncRule>> parse_sync_rules(std::string_view lines) {
    std::vector<SyncRule> rules;
    for (std::string_view line : split(lines, '\n')) {
        if (line.empty()) continue;
        if (rules.size() == sizes::kSyncCount)
            return wrong(line, fmt::format("more than {} of them", sizes::kSyncCount));
        rules.push_back(TRY(parse_sync_rule(line)));
    }
    return rules;
}

}  // namespace sluice
