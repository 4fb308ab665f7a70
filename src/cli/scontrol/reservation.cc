// cli/scontrol/reservation.cc
//
// scontrol create, update and delete reservation: the words become a ReservationChange; times,
// users and flags are understood here, the rest is the controller's business.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/times.h"
#include "os/user.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

using Verb = ReservationChange::Verb;

// One word: key, sign before the equals sign (0: none), value; and all of it, for errors.
struct Word {
    std::string_view whole;
    std::string key;
    char sign = 0;
    std::string value;
};

struct Draft {
    ReservationChange change;
    Time now;
};

using Set = Result<void> (*)(Draft& draft, const Word& word);

// What is printed after "scontrol: error: ", before "  No reservation created.".
Error bad(std::string_view what, const Word& word) {
    return {ErrorCode::BadArgument, fmt::format("Invalid {} {}.", what, word.whole)};
}

Result<void> set_name(Draft& draft, const Word& word) {
    draft.change.name = word.value;
    return {};
}

template <std::optional<Time> ReservationChange::*Member>
Result<void> set_moment(Draft& draft, const Word& word) {
    Result<Time> moment = parse_moment(word.value, draft.now);
    const bool starts = Member == &ReservationChange::start;
    if (!moment) {
        const Error wrong = bad(starts ? "start time" : "end time", word);
        return Error{wrong.code, moment.error().detail + "\n" + wrong.detail};
    }
    draft.change.*Member = *moment;
    return {};
}

Result<void> set_duration(Draft& draft, const Word& word) {
    Result<TimeLimit> length = parse_time_limit(word.value);
    if (!length) return bad("duration", word);
    // Compat: minutes, begun ones are whole.
    constexpr Seconds kMinute{60};
    const Seconds wanted = length->unlimited() ? kReservationLongest : length->length();
    draft.change.duration = (wanted + kMinute - Seconds{1}) / kMinute * kMinute;
    draft.change.duration_sign = word.sign == 0 ? 0 : word.sign == '+' ? 1 : -1;
    return {};
}

template <typename Item>
ListChange<Item> list_change(const Word& word) {
    ListChange<Item> change;
    if (word.sign == '+') change.verb = ListChange<Item>::Verb::Add;
    if (word.sign == '-') change.verb = ListChange<Item>::Verb::Remove;
    return change;
}

// "a,b" or "-a,-b"; with a sign before the equals sign that holds for all of them.
Result<std::vector<std::string>> names_in(Draft& draft, const Word& word, bool& denied) {
    std::vector<std::string> names;
    std::size_t marked = 0;
    for (std::string_view name : split(word.value, ',')) {
        if (name.empty()) continue;
        if (name.starts_with('-')) ++marked;
        names.emplace_back(name.substr(name.starts_with('-') ? 1 : 0));
    }
    if (marked != 0 && marked != names.size()) return bad(to_lower(word.key), word);
    denied = marked > 0;
    if (word.sign == '-' && draft.change.verb == Verb::Create) denied = true;
    if (draft.change.name_base.empty() && !names.empty()) draft.change.name_base = names.front();
    return names;
}

Result<void> set_users(Draft& draft, const Word& word) {
    ListChange<UserId> change = list_change<UserId>(word);
    for (const std::string& name : TRY(names_in(draft, word, change.denied))) {
        std::optional<User> user = find_user(name);
        if (!user) {
            if (auto number = to_number(name)) user = find_user(static_cast<uid_t>(*number));
        }
        if (!user) return Error{ErrorCode::UserUnknown, ""};
        change.items.push_back(UserId{user->uid});
    }
    if (draft.change.verb == Verb::Create) change.verb = ListChange<UserId>::Verb::Replace;
    draft.change.users = std::move(change);
    return {};
}

Result<void> set_groups(Draft& draft, const Word& word) {
    ListChange<GroupMembers> change = list_change<GroupMembers>(word);
    for (std::string_view name : split(word.value, ',')) {
        if (name.empty()) continue;
        if (draft.change.name_base.empty()) draft.change.name_base = name;
        change.items.push_back({std::string(name), {}});  // the controller looks up the members
    }
    draft.change.groups = std::move(change);
    return {};
}

template <std::optional<ListChange<std::string>> ReservationChange::*Member>
Result<void> set_names(Draft& draft, const Word& word) {
    ListChange<std::string> change = list_change<std::string>(word);
    change.items = TRY(names_in(draft, word, change.denied));
    if (draft.change.verb == Verb::Create) change.verb = ListChange<std::string>::Verb::Replace;
    draft.change.*Member = std::move(change);
    return {};
}

Result<void> set_start_delay(Draft& draft, const Word& word) {
    Result<TimeLimit> delay = parse_time_limit(word.value);
    if (!delay || delay->unlimited()) return bad("duration", word);
    // Compat: no time at all is none.
    draft.change.start_delay_cleared = delay->length() == Seconds{0};
    draft.change.max_start_delay.reset();
    if (!draft.change.start_delay_cleared) draft.change.max_start_delay = delay->length();
    return {};
}

Result<void> set_nodes(Draft& draft, const Word& word) {
    ListChange<std::string> change = list_change<std::string>(word);
    if (equals_ignoring_case(word.value, "ALL")) {
        change.items = {"ALL"};
    } else if (!word.value.empty()) {
        Result<Hostlist> nodes = Hostlist::parse(word.value);
        if (!nodes) return Error{ErrorCode::InvalidNodeName, word.value};
        change.items = nodes->names();
    }
    draft.change.nodes = std::move(change);
    return {};
}

constexpr std::uint64_t kCountMost = 1 << 20;

Result<void> set_node_count(Draft& draft, const Word& word) {
    std::string_view text = word.value;
    const bool thousands = text.ends_with('k') || text.ends_with('K');
    if (thousands) text.remove_suffix(1);
    const std::optional<std::uint64_t> count = to_number(text);
    if (!count || *count > kCountMost)
        return Error{ErrorCode::SystemError, fmt::format("Invalid node count {}", word.value)};
    draft.change.node_count = static_cast<std::uint32_t>(*count * (thousands ? 1024 : 1));
    return {};
}

Result<void> set_core_count(Draft& draft, const Word& word) {
    draft.change.core_counts.clear();
    for (std::string_view text : split(word.value, ',')) {
        const std::optional<std::uint64_t> count = to_number(text);
        if (!count || *count > kCountMost)
            return Error{ErrorCode::SystemError, fmt::format("Invalid core count {}", word.value)};
        draft.change.core_counts.push_back(static_cast<std::uint32_t>(*count));
    }
    return {};
}

void add_license(Draft& draft, std::string_view name, std::string_view count) {
    std::string& licenses =
        draft.change.licenses ? *draft.change.licenses : draft.change.licenses.emplace();
    if (!licenses.empty()) licenses += ',';
    licenses += fmt::format("{}:{}", name, count);
}

// One of TRES=: "cpu=8", "node=4", "license/matlab=2", "gres/gpu:a40=8". Numbers alone go on with
// the counts of cores by node: "cpu=2,2,1".
Result<void> set_one_tres(Draft& draft, const Word& whole, std::string_view text, bool& after_cpu) {
    const std::size_t equals = text.find('=');
    Word word = whole;
    word.value = equals == std::string_view::npos ? text : text.substr(equals + 1);
    if (equals == std::string_view::npos && after_cpu) {
        std::vector<std::uint32_t> before = std::move(draft.change.core_counts);
        TRY(set_core_count(draft, word));
        before.push_back(draft.change.core_counts.front());
        draft.change.core_counts = std::move(before);
        return {};
    }
    if (equals == std::string_view::npos) {
        return Error{ErrorCode::SystemError, fmt::format("invalid TRES '{}'", text)};
    }
    const std::string name = to_lower(std::string(text.substr(0, equals)));
    const std::string_view detail =
        name.find('/') == std::string::npos
            ? ""
            : text.substr(name.find('/') + 1, equals - name.find('/') - 1);
    after_cpu = name == "cpu";
    if (name == "cpu") return set_core_count(draft, word);
    if (name == "node") return set_node_count(draft, word);
    if (name.starts_with("license/")) {
        add_license(draft, detail, word.value);
        return {};
    }
    if (name.starts_with("gres/")) {
        for (GresCount& gres : TRY(parse_gres(fmt::format("{}:{}", detail, word.value)))) {
            draft.change.gres.push_back(std::move(gres));
        }
        return {};
    }
    return Error{ErrorCode::SystemError,
                 fmt::format("couldn't identify configured TRES '{}'", name)};
}

Result<void> set_tres(Draft& draft, const Word& word) {
    bool after_cpu = false;
    for (std::string_view text : split(word.value, ',')) {
        TRY(set_one_tres(draft, word, text, after_cpu));
    }
    return {};
}

template <std::optional<std::string> ReservationChange::*Member>
Result<void> set_text(Draft& draft, const Word& word) {
    draft.change.*Member = word.value;
    return {};
}

Result<void> set_flags(Draft& draft, const Word& word) {
    Result<void> parsed = parse_reservation_flags(word.value, word.sign, draft.change);
    if (parsed || parsed.error().code == ErrorCode::NotSupported) return parsed;
    return Error{ErrorCode::BadArgument,
                 fmt::format("Error parsing flags {}{}.", word.sign == '-' ? "-" : "", word.value)};
}

struct Row {
    std::string_view key;
    Set set;             // nullptr: not supported
    bool signs = false;  // += and -= too
};

// clang-format off
constexpr Row kRows[] = {
    {"ReservationName", set_name},
    {"Reservation",     set_name},
    {"StartTime",       set_moment<&ReservationChange::start>},
    {"EndTime",         set_moment<&ReservationChange::end>},
    {"Duration",        set_duration, true},
    {"Users",           set_users,    true},
    {"User",            set_users,    true},
    {"Accounts",        set_names<&ReservationChange::accounts>, true},
    {"Account",         set_names<&ReservationChange::accounts>, true},
    {"Nodes",           set_nodes,    true},
    {"NodeCnt",         set_node_count},
    {"NodeCount",       set_node_count},
    {"CoreCnt",         set_core_count},
    {"CoreCount",       set_core_count},
    {"TRES",            set_tres},
    {"Groups",          set_groups,   true},
    {"Group",           set_groups,   true},
    {"Licenses",        set_text<&ReservationChange::licenses>},
    {"License",         set_text<&ReservationChange::licenses>},
    {"PartitionName",   set_text<&ReservationChange::partition>},
    {"Features",        set_text<&ReservationChange::features>},
    {"Flags",           set_flags,    true},
    {"AllowedPartitions", set_names<&ReservationChange::allowed_partitions>, true},
    {"BurstBuffer",     nullptr},
    {"Comment",         set_text<&ReservationChange::comment>},
    {"MaxStartDelay",   set_start_delay},
    {"QOS",             set_names<&ReservationChange::qos>, true},
    {"Watts",           nullptr},
};
// clang-format on

Result<void> set_field(Draft& draft, std::string_view text) {
    Word word{.whole = text, .key = {}, .value = {}};
    if (equals_ignoring_case(text, "skip") && draft.change.verb == Verb::Update) {
        draft.change.skip = true;
        return {};
    }
    const std::size_t equals = text.find('=');
    std::string_view key = text.substr(0, equals);
    if (key.ends_with('+') || key.ends_with('-')) {
        word.sign = key.back();
        key.remove_suffix(1);
    }
    word.key = key;
    if (equals != std::string_view::npos) word.value = text.substr(equals + 1);
    for (const Row& row : kRows) {
        if (!equals_ignoring_case(row.key, key) || equals == std::string_view::npos) continue;
        if (!row.set)
            return Error{ErrorCode::NotSupported, fmt::format("{} of a reservation", row.key)};
        if (word.sign != 0 && !row.signs) break;
        return row.set(draft, word);
    }
    return Error{ErrorCode::BadArgument, fmt::format("Unknown parameter {}.", text)};
}

// Compat: the client itself says what a new one lacks.
std::string_view missing(const ReservationChange& change) {
    if (!change.start) return "A start time must be given.";
    if (!change.end && !change.duration) return "An end time or duration must be given.";
    if (change.end && *change.end <= *change.start) return "Start time cannot be after end time.";
    const bool has_resources = change.nodes || change.node_count || change.partition ||
                               change.licenses || !change.core_counts.empty() ||
                               !change.gres.empty();
    if (!has_resources) {
        return "CoreCnt, Nodes, NodeCnt, BurstBuffer, Licenses or Watts must be specified.";
    }
    if (change.users && change.groups) {
        return "Users and Groups are mutually exclusive.  You can have one or the other, but not "
               "both.";
    }
    const bool for_somebody =
        change.users || change.accounts || change.groups || change.qos || change.allowed_partitions;
    if (!for_somebody) {
        return "Either Users/Groups and/or Accounts and/or QOS and/or AllowedPartitions must be "
               "specified.";
    }
    return {};
}

// "reservation=NAME KEY=VALUE ..."; for a new one the name may be missing or come later, for others
// it may be a word of its own.
Result<ReservationChange> parse_change(const Session& session, Verb verb, const Words& words) {
    Draft draft{.change = {.verb = verb, .name = {}}, .now = session.now};
    std::size_t first = 2;
    const std::size_t equals = words[1].find('=');
    if (equals != std::string::npos) {
        draft.change.name = words[1].substr(equals + 1);
    } else if (verb != Verb::Create && words.size() > 2) {
        draft.change.name = words[first++];
    }
    for (std::size_t i = first; i < words.size(); ++i) TRY(set_field(draft, words[i]));
    if (verb == Verb::Create) {
        const std::string_view lack = missing(draft.change);
        if (!lack.empty()) return Error{ErrorCode::BadArgument, std::string(lack)};
    }
    return draft.change;
}

bool names_reservation(std::string_view word) {
    const std::string_view key = word.substr(0, word.find('='));
    return starts_with_ignoring_case("reservationname", key) && key.size() >= 3;
}

Result<std::string> send(Session& session, const ReservationChange& change) {
    wire::Request request;
    *request.mutable_change_reservation() = to_wire(change);
    return TRY(session.client.call(request)).reservation();
}

// Refusals of what was typed, and refusals of what was asked.
int report(Session& session, std::string_view doing, std::string_view not_done,
           const Error& error) {
    if (error.code == ErrorCode::BadArgument) {
        print_error(session.streams, session.invocation,
                    fmt::format("{}  No reservation {}.", error.detail, not_done));
    } else if (error.code == ErrorCode::SystemError) {
        print_error(session.streams, session.invocation, error.detail);
    } else if (error.code == ErrorCode::NotSupported) {
        print_error(session.streams, session.invocation,
                    fmt::format("{} is not supported by Sluice yet", error.detail));
    } else {
        session.streams.err(fmt::format("Error {} the reservation: {}\n", doing, to_string(error)));
    }
    return 1;
}

}  // namespace

int create_reservation(Session& session, const Words& words) {
    Result<ReservationChange> change = parse_change(session, Verb::Create, words);
    if (!change) return report(session, "creating", "created", change.error());
    Result<std::string> name = send(session, *change);
    if (name) {
        session.streams.out(fmt::format("Reservation created: {}\n", *name));
        return 0;
    }
    report(session, "creating", "created", name.error());
    if (name.error().code == ErrorCode::NodesBusy) {
        session.streams.err(
            "Note, unless nodes are directly requested a reservation must exist in a single "
            "partition.\n"
            "If no partition is requested the default partition is assumed.\n");
    }
    return 1;
}

bool is_about_reservation(const Words& words) {
    return words.size() > 1 && names_reservation(words[1]);
}

int update_reservation(Session& session, const Words& words) {
    Result<ReservationChange> change = parse_change(session, Verb::Update, words);
    Result<std::string> name =
        change ? send(session, *change) : Result<std::string>(change.error());
    if (name) {
        session.streams.out("Reservation updated.\n");
        return 0;
    }
    report(session, "updating", "update", name.error());
    session.streams.err(fmt::format("slurm_update error: {}\n", text_of(name.error().code)));
    return 1;
}

int delete_reservation(Session& session, const Words& words) {
    Result<ReservationChange> change = parse_change(session, Verb::Delete, words);
    Result<std::string> gone =
        change ? send(session, *change) : Result<std::string>(change.error());
    if (gone) return 0;
    session.streams.err(
        fmt::format("delete_reservation {}: {}\n", words[1], to_string(gone.error())));
    return 1;
}

}  // namespace sluice
