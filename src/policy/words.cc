// See words.h.
#include "policy/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/qos_keys.h"

namespace sluice {

namespace {

using Entity = SacctmgrEntity;
using Names = std::vector<std::string>;

struct ListFlag {
    std::string_view word;
    std::size_t least;
    std::string_view flag;
};

constexpr ListFlag kListFlags[] = {
    {"tree", 4, "tree"},
    {"withassociations", 5, "withassoc"},
    {"withcoordinators", 5, "withcoord"},
    {"withclusters", 6, "withclusters"},
    {"withdeleted", 5, "withdeleted"},
    {"withrawqoslevel", 5, "withrawqos"},
    {"withsubaccounts", 5, "withsub"},
    {"withfed", 5, "withfed"},
    {"wopinformation", 4, "wopinfo"},
    {"woplimits", 4, "woplimits"},
    {"wolimits", 3, "wolimits"},
    {"onlydefaults", 4, "onlydefaults"},
    {"all_time", 5, "alltime"},
    {"all_clusters", 5, "allclusters"},
};

struct ConditionKey {
    std::string_view word;
    std::size_t least;
    Names PolicyStep::*member;
};

constexpr ConditionKey kConditionKeys[] = {
    {"accounts", 3, &PolicyStep::accounts},
    {"clusters", 1, &PolicyStep::clusters},
    {"partitions", 4, &PolicyStep::partitions},
    {"parents", 4, &PolicyStep::parents},
    {"defaultaccounts", 8, &PolicyStep::default_accounts},
    {"descriptions", 3, &PolicyStep::descriptions},
    {"organizations", 1, &PolicyStep::organizations},
    {"servers", 6, &PolicyStep::servers},
    {"wckeys", 1, &PolicyStep::wckeys},
};

// The spellings of "name=" for each entity.
struct OwnKey {
    Entity entity;
    std::string_view word;
    std::size_t least;
};
constexpr OwnKey kOwnKeys[] = {
    {Entity::Account, "accounts", 3},  {Entity::Cluster, "clusters", 1},
    {Entity::Coordinator, "users", 1}, {Entity::Qos, "qoslevel", 1},
    {Entity::User, "users", 1},        {Entity::Wckey, "wckeys", 1},
};

// Conditions of listings that the lists of a step have no place for.
constexpr std::string_view kOtherConditions[] = {
    "users",   "ids",         "actions",    "actors",       "start",
    "end",     "nodes",       "states",     "reason",       "event",
    "types",   "adminlevel",  "qoslevel",   "flags",        "condflags",
    "mincpus", "maxcpus",     "defaultqos", "defaultwckey", "classification",
    "rpc",     "preemptmode",
};

Names lower_names(std::string_view list) {
    Names names;
    for (std::string_view each : split(list, ',')) {
        each = trim(each);
        if (!each.empty()) names.push_back(to_lower(each));
    }
    return names;
}

void append(Names& names, std::string_view list) {
    for (std::string& each : lower_names(list)) {
        if (std::find(names.begin(), names.end(), each) == names.end())
            names.push_back(std::move(each));
    }
}

bool is_own_name(Entity entity, std::string_view key) {
    if (means(key, "names", 1)) return true;
    return std::any_of(std::begin(kOwnKeys), std::end(kOwnKeys), [&](const OwnKey& row) {
        return row.entity == entity && means(key, row.word, row.least);
    });
}

// One word: "key=value", with a sign before the '=', or a bare value.
struct Word {
    std::string_view text, key;
    char sign = 0;
    std::string value;
    bool is_bare = false;
};

Word cut(const std::string& text) {
    Word word{.text = text, .key = text, .is_bare = true};
    const std::size_t at = text.find('=');
    if (at == std::string::npos) return word;
    word.is_bare = false;
    word.key = word.text.substr(0, at);
    word.value = text.substr(at + 1);
    if (word.key.ends_with('+') || word.key.ends_with('-')) {
        word.sign = word.key.back();
        word.key.remove_suffix(1);
    }
    return word;
}

bool read_condition(Entity entity, const Word& word, SacctmgrWords& read) {
    if (word.is_bare || is_own_name(entity, word.key)) {
        append(read.step.names, word.is_bare ? word.text : word.value);
        return true;
    }
    for (const ConditionKey& row : kConditionKeys) {
        if (!means(word.key, row.word, row.least)) continue;
        append(read.step.*row.member, word.value);
        return true;
    }
    return false;
}

Result<void> read_admin_level(SacctmgrWords& read, const Word& word) {
    std::optional<AdminLevel>& level = read.step.record.admin_level;
    if (means(word.value, "none", 1) || word.value == "-1")
        level = AdminLevel::None;
    else if (means(word.value, "operator", 1))
        level = AdminLevel::Operator;
    else if (means(word.value, "administrator", 1))
        level = AdminLevel::Administrator;
    else
        return Error{ErrorCode::BadArgument,
                     fmt::format("Invalid value for AdminLevel ({}): None, Operator or "
                                 "Administrator is needed",
                                 word.value)};
    return {};
}

struct TextKey {
    Entity entity;
    std::string_view word;
    std::size_t least;
    std::optional<std::string> RecordChange::*member;
    bool is_name;  // kept in lower case
};
constexpr TextKey kTextKeys[] = {
    {Entity::Account, "description", 1, &RecordChange::description, false},
    {Entity::Account, "organization", 1, &RecordChange::organization, false},
    {Entity::Account, "parent", 3, &RecordChange::parent, true},
    {Entity::User, "defaultaccount", 8, &RecordChange::default_account, true},
    {Entity::User, "defaultwckey", 8, &RecordChange::default_wckey, true},
    {Entity::User, "newname", 1, &RecordChange::new_name, true},
    {Entity::Cluster, "classification", 3, &RecordChange::classification, false},
};

Result<std::uint64_t> number_in(const Word& word, std::string_view key) {
    const std::optional<std::uint64_t> number = to_number(word.value);
    if (number) return *number;
    return Error{ErrorCode::BadArgument, fmt::format("Invalid value for {} ({})", key, word.value)};
}

Result<bool> read_resource(SacctmgrWords& read, const Word& word) {
    ResourceChange& resource = read.step.resource;
    if (means(word.key, "count", 3)) {
        resource.count = TRY(number_in(word, "Count"));
    } else if (means(word.key, "percentallowed", 1)) {
        resource.allowed = TRY(number_in(word, "PercentAllowed"));
    } else if (means(word.key, "allowed", 2)) {
        resource.allowed = TRY(number_in(word, "Allowed"));
        resource.is_absolute = true;
    } else if (means(word.key, "descriptions", 1)) {
        resource.description = word.value;
    } else if (means(word.key, "manager", 1)) {
        resource.manager = word.value;
    } else if (means(word.key, "servertype", 7)) {
        resource.server_type = word.value;
    } else if (means(word.key, "type", 1)) {
        if (!means(word.value, "license", 1)) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" Unknown resource type: '{}'  Valid resources is License.",
                                     word.value)};
        }
    } else {
        return false;
    }
    return true;
}

// A key that is neither of these: NotFound.
Result<void> read_setting(Entity entity, const Word& word, SacctmgrWords& read) {
    for (const TextKey& row : kTextKeys) {
        if (row.entity != entity || word.sign || !means(word.key, row.word, row.least)) continue;
        read.step.record.*row.member = row.is_name ? to_lower(word.value) : word.value;
        return {};
    }
    if (entity == Entity::User && means(word.key, "adminlevel", 2))
        return read_admin_level(read, word);
    if (means(word.key, "rawusage", 4)) {
        return Error{
            ErrorCode::NotSupported,
            fmt::format("{}: usage is reset with PriorityUsageResetPeriod only", word.text)};
    }
    if (entity == Entity::Resource && TRY(read_resource(read, word))) return {};
    if (entity == Entity::Qos || entity == Entity::Resource || entity == Entity::Coordinator)
        return Error{ErrorCode::NotFound, std::string(word.text)};
    return set_association_key(read.step.limits, word.key, word.sign, word.value);
}

Error unknown_setting(const Word& word) {
    return {
        ErrorCode::NotFound,
        fmt::format(" Unknown option: {}\n Use keyword 'where' to modify condition", word.text)};
}

Error unknown_condition(const Word& word) {
    return {ErrorCode::NotFound,
            fmt::format(" Unknown condition: {}\n Use keyword 'set' to modify value", word.text)};
}

Result<void> read_new_setting(Entity entity, const Word& word, SacctmgrWords& read, KeyTexts& qos) {
    read.has_settings = true;
    if (entity == Entity::Qos) {
        const std::string key =
            std::string(word.key) + (word.sign ? std::string(1, word.sign) : "");
        if (means(word.key, "rawusage", 4)) return read_setting(entity, word, read);
        qos.emplace_back(key, word.value);
        // Each key is tried at once, so that an error names the word as it was typed.
        Result<QosChange> tried = parse_qos_change({qos.back()});
        if (!tried && tried.error().code == ErrorCode::NotFound) return unknown_setting(word);
        if (!tried) return tried.error();
        return {};
    }
    Result<void> done = read_setting(entity, word, read);
    if (!done && done.error().code == ErrorCode::NotFound) return unknown_setting(word);
    return done;
}

}  // namespace

bool is_among(const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::string format_or(const SacctmgrWords& words, std::string_view format) {
    return words.format.empty() ? std::string(format) : words.format;
}

bool means(std::string_view given, std::string_view full, std::size_t least) {
    return given.size() >= least && starts_with_ignoring_case(full, given);
}

bool SacctmgrWords::has(std::string_view flag) const {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

const Names& SacctmgrWords::condition(const std::string& name) const {
    static const Names kNone;
    const auto found = where.find(name);
    return found == where.end() ? kNone : found->second;
}

bool SacctmgrWords::selects(const std::string& name, std::string_view value) const {
    const Names& wanted = condition(name);
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

Result<SacctmgrWords> read_list_words(Entity entity, const Names& words) {
    SacctmgrWords read;
    for (const std::string& text : words) {
        if (equals_ignoring_case(text, "where") || equals_ignoring_case(text, "set")) continue;
        const Word word = cut(text);
        const auto* flag =
            std::find_if(std::begin(kListFlags), std::end(kListFlags), [&](const ListFlag& row) {
                return word.is_bare && means(word.text, row.word, row.least);
            });
        if (flag != std::end(kListFlags)) {
            read.flags.emplace_back(flag->flag);
        } else if (!word.is_bare && means(word.key, "format", 1)) {
            read.format += (read.format.empty() ? "" : ",") + word.value;
        } else if (!read_condition(entity, word, read)) {
            const auto* other =
                std::find_if(std::begin(kOtherConditions), std::end(kOtherConditions),
                             [&](std::string_view each) { return means(word.key, each, 2); });
            if (other == std::end(kOtherConditions)) {
                return Error{ErrorCode::NotFound, fmt::format(" Unknown condition: {}", text)};
            }
            Names& values = read.where[std::string(*other)];
            if (*other == "start" || *other == "end")
                values = {word.value};
            else
                append(values, word.value);
        }
        read.has_conditions = true;
    }
    return read;
}

Result<SacctmgrWords> read_change_words(Entity entity, PolicyVerb verb, const Names& words) {
    SacctmgrWords read;
    read.step.verb = verb;
    bool sets = verb == PolicyVerb::Add;
    KeyTexts qos;
    for (const std::string& text : words) {
        if (equals_ignoring_case(text, "where") || equals_ignoring_case(text, "set")) {
            sets = equals_ignoring_case(text, "set") || verb == PolicyVerb::Add;
            continue;
        }
        const Word word = cut(text);
        const bool is_new_name =
            verb == PolicyVerb::Add && (word.is_bare || is_own_name(entity, word.key));
        if (sets && !is_new_name) {
            Result<void> set = read_new_setting(entity, word, read, qos);
            // The accounts and clusters to add to are named among the settings.
            const bool is_place = !set && set.error().code == ErrorCode::NotFound &&
                                  verb == PolicyVerb::Add && entity != Entity::Qos &&
                                  read_condition(entity, word, read);
            if (!set && !is_place) return set.error();
            continue;
        }
        if (!read_condition(entity, word, read)) return unknown_condition(word);
        read.has_conditions = true;
    }
    read.step.qos = TRY(parse_qos_change(qos));
    return read;
}

}  // namespace sluice
