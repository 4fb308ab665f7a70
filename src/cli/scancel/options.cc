#include "cli/scancel/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/job_id.h"
#include "model/signals.h"
#include "model/states.h"
#include "os/files.h"
#include "os/user.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kOperands = "[job_id[_array_id][.step_id]]";

using Setter = Result<void> (*)(CancelOptions&, const std::string& value);

struct CancelOption {
    const char* name;
    char letter;
    const char* value;     // nullptr: none
    const char* variable;  // nullptr: none
    Setter set;            // nullptr: not supported
    const char* help;
};

template <bool CancelOptions::*kMember>
Result<void> flag(CancelOptions& options, const std::string&) {
    options.*kMember = true;
    return {};
}

// Adds the pieces of a comma list to one of the filter's lists.
template <std::string* (wire::Filter::*kAdd)()>
Result<void> list(CancelOptions& options, const std::string& value) {
    for (std::string_view word : split(value, ',')) {
        *(options.request.mutable_filter()->*kAdd)() = std::string(word);
    }
    options.has_filter = true;
    return {};
}

Result<void> set_user(CancelOptions& options, const std::string& value) {
    std::optional<std::uint64_t> number = to_number(value);
    std::optional<User> user = number ? std::nullopt : find_user(value);
    if (!number && !user) {
        return Error{ErrorCode::UserUnknown, fmt::format("Invalid user name: {}", value)};
    }
    options.request.mutable_filter()->add_users(user ? user->uid : static_cast<uid_t>(*number));
    options.has_filter = true;
    return {};
}

Result<void> set_me(CancelOptions& options, const std::string&) {
    options.request.mutable_filter()->add_users(getuid());
    options.has_filter = true;
    return {};
}

Result<void> set_state(CancelOptions& options, const std::string& value) {
    for (std::string_view word : split(value, ',')) {
        std::optional<ShownState> state = find_state(word);
        if (!state || *state > ShownState::Suspended) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("Invalid job state specified: {}\n"
                                     "Valid job states are PENDING, RUNNING, and SUSPENDED",
                                     word)};
        }
        options.request.mutable_filter()->add_states(static_cast<std::uint32_t>(*state));
    }
    options.has_filter = true;
    return {};
}

Result<void> set_signal(CancelOptions& options, const std::string& value) {
    Result<int> signal = parse_signal(value);
    if (!signal) return Error{ErrorCode::BadArgument, fmt::format("Unknown job signal: {}", value)};
    options.request.set_signal(*signal);
    return {};
}

Result<void> set_nodes(CancelOptions& options, const std::string& value) {
    // Compat: a name with a slash is that of a file with host lists, separated by blanks and lines.
    std::string names = value;
    if (value.find('/') != std::string::npos) {
        Result<std::string> text = read_file(value);
        if (!text) return Error{ErrorCode::InvalidNodeName, text.error().detail};
        names = fmt::format("{}", fmt::join(words(*text), ","));
    }
    Result<Hostlist> hosts = Hostlist::parse(names);
    if (!hosts)
        return Error{ErrorCode::InvalidNodeName, fmt::format("Invalid node list: {}", value)};
    for (const std::string& name : hosts->names())
        options.request.mutable_filter()->add_nodes(name);
    options.has_filter = true;
    return {};
}

Result<void> set_batch(CancelOptions& options, const std::string&) {
    options.request.set_batch(true);
    return {};
}

Result<void> set_full(CancelOptions& options, const std::string&) {
    options.request.set_full(true);
    return {};
}

Result<void> set_hurry(CancelOptions& options, const std::string&) {
    options.request.set_hurry(true);
    return {};
}

Result<void> set_admin_comment(CancelOptions& options, const std::string& value) {
    options.request.set_admin_comment(value);
    return {};
}

Result<void> set_verbose(CancelOptions& options, const std::string&) {
    ++options.verbose;
    return {};
}

// One request for all filtered jobs is how it is done here anyway.
Result<void> set_ctld(CancelOptions& options, const std::string&) {
    options.ctld = true;
    return {};
}

// clang-format off
constexpr CancelOption kOptions[] = {
    {"account",       'A', "account",     "SCANCEL_ACCOUNT",     list<&wire::Filter::add_accounts>,     "only jobs charged to this account"},
    {"admin-comment", 0,   "text",        nullptr,               set_admin_comment,                         "note on the cancelled jobs"},
    {"batch",         'b', nullptr,       "SCANCEL_BATCH",       set_batch,                             "signal the batch shell only"},
    {"clusters",      'M', "names",       "SLURM_CLUSTERS",      nullptr,                               "clusters to issue the command to"},
    {"cron",          'c', nullptr,       "SCANCEL_CRON",        nullptr,                               "scrontab jobs too"},
    {"ctld",          0,   nullptr,       "SCANCEL_CTLD",        set_ctld,                              "let the controller choose the jobs (always so)"},
    {"full",          'f', nullptr,       "SCANCEL_FULL",        set_full,                              "signal the batch shell, its children and all steps"},
    {"hurry",         'H', nullptr,       "SCANCEL_HURRY",       set_hurry,                             "accepted: there is no stage-out"},
    {"interactive",   'i', nullptr,       "SCANCEL_INTERACTIVE", flag<&CancelOptions::interactive>,     "ask for each job"},
    {"me",            0,   nullptr,       nullptr,               set_me,                                "only my own jobs"},
    {"name",          'n', "job_name",    "SCANCEL_NAME",        list<&wire::Filter::add_names>,        "only jobs with this name"},
    {"jobname",       0,   "job_name",    nullptr,               list<&wire::Filter::add_names>,        nullptr},
    {"nodelist",      'w', "hosts",       nullptr,               set_nodes,                             "only jobs on these nodes"},
    {"partition",     'p', "partition",   "SCANCEL_PARTITION",   list<&wire::Filter::add_partitions>,   "only jobs in this partition"},
    {"qos",           'q', "qos",         "SCANCEL_QOS",         list<&wire::Filter::add_qos>,          "only jobs with this quality of service"},
    {"quiet",         'Q', nullptr,       nullptr,               flag<&CancelOptions::quiet>,           "no warnings"},
    {"reservation",   'R', "reservation", nullptr,               list<&wire::Filter::add_reservations>, "only jobs with this reservation"},
    {"sibling",       0,   "cluster",     nullptr,               nullptr,                               "sibling of a federated job"},
    {"signal",        's', "name",        nullptr,               set_signal,                            "send this signal instead of ending the jobs"},
    {"state",         't', "states",      "SCANCEL_STATE",       set_state,                             "only jobs in these states: PENDING, RUNNING, SUSPENDED"},
    {"user",          'u', "user_name",   "SCANCEL_USER",        set_user,                              "only jobs of this user"},
    {"verbose",       'v', nullptr,       "SCANCEL_VERBOSE",     set_verbose,                           "print more"},
    {"version",       'V', nullptr,       nullptr,               flag<&CancelOptions::version>,         "print the version and exit"},
    {"wckey",         0,   "wckey",       "SCANCEL_WCKEY",       list<&wire::Filter::add_wckeys>,       "only jobs with this wckey"},
    {"help",          0,   nullptr,       nullptr,               flag<&CancelOptions::help>,            "show this text"},
    {"usage",         0,   nullptr,       nullptr,               flag<&CancelOptions::usage>,           "show a brief usage text"},
};
// clang-format on

Result<void> apply(CancelOptions& options, const CancelOption& option, const std::string& value) {
    if (option.set) return option.set(options, value);
    return Error{ErrorCode::NotSupported,
                 fmt::format("--{} is not supported by Sluice yet", option.name)};
}

// "1,2_[3,5]" is two references: commas in brackets belong to one.
std::vector<std::string> references_in(std::string_view text) {
    std::vector<std::string> references(1);
    int depth = 0;
    for (char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if ((c == ',' && depth == 0) || c == ' ') {
            references.emplace_back();
        } else {
            references.back() += c;
        }
    }
    std::erase_if(references, [](const std::string& each) { return each.empty(); });
    return references;
}

Result<void> read_operands(CancelOptions& options, const std::vector<std::string>& operands) {
    for (const std::string& operand : operands) {
        for (const std::string& reference : references_in(operand)) {
            Result<JobRef> job = parse_job_ref(reference);
            if (!job || job->job.value == 0) {
                return Error{ErrorCode::InvalidJobId, fmt::format("Invalid job id {}", reference)};
            }
            options.jobs.push_back(reference);
        }
    }
    return {};
}

}  // namespace

Result<CancelOptions> read_cancel_options(const Invocation& invocation) {
    std::vector<OptionSpelling> spellings;
    for (std::size_t i = 0; i < std::size(kOptions); ++i) {
        spellings.push_back({kOptions[i].name, kOptions[i].letter,
                             kOptions[i].value ? Argument::Required : Argument::None, i});
    }
    Arguments arguments = TRY(parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere));
    CancelOptions options;
    std::vector<bool> is_given(std::size(kOptions));
    for (const GivenOption& given : arguments.options) is_given[given.id] = true;
    for (std::size_t i = 0; i < std::size(kOptions); ++i) {
        if (!kOptions[i].variable || is_given[i]) continue;
        std::optional<std::string_view> value = invocation.environment.find(kOptions[i].variable);
        if (value && *value != "0") TRY(apply(options, kOptions[i], std::string(*value)));
    }
    for (const GivenOption& given : arguments.options) {
        TRY(apply(options, kOptions[given.id], given.value.value_or("")));
    }
    TRY(read_operands(options, arguments.operands));
    return options;
}

std::vector<OptionHelp> cancel_option_help() {
    std::vector<OptionHelp> all;
    for (const CancelOption& option : kOptions) {
        OptionHelp help{.name = option.name,
                        .letter = option.letter,
                        .value = option.value ? option.value : "",
                        .text = option.help ? option.help : "",
                        .is_supported = option.set != nullptr};
        if (option.variable) help.variables.push_back(option.variable);
        all.push_back(std::move(help));
    }
    return all;
}

std::string cancel_help() {
    constexpr std::size_t kColumn = 34;
    return fmt::format("Usage: scancel [OPTIONS] {}\n{}", kOperands,
                       help_lines(cancel_option_help(), kColumn));
}

std::string cancel_usage() {
    return usage_lines("scancel", cancel_option_help(), kOperands);
}

}  // namespace sluice
