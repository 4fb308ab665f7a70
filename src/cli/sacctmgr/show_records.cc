// cli/sacctmgr/show_records.cc
//
// sacctmgr show of tres, wckeys, resources, transactions, events, reservations and runaway jobs.
// See show.h.
#include <algorithm>
#include <set>

#include "cli/common/ask_accounting.h"
#include "cli/common/listing.h"
#include "cli/sacctmgr/show.h"
#include "cli/sacctmgr/table.h"
#include "model/accounted_fields.h"
#include "model/columns.h"
#include "model/reservation.h"
#include "model/times.h"
#include "os/user.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

// "gres/gpu:a40" has the type "gres" and the name "gpu:a40".
std::string type_of(const TresKind& kind) {
    return kind.name.substr(0, kind.name.find('/'));
}
std::string name_in(const TresKind& kind) {
    const std::size_t slash = kind.name.find('/');
    return slash == std::string::npos ? "" : kind.name.substr(slash + 1);
}

constexpr ListField<TresKind> kTresFields[] = {
    {"Type", "Type", 8, type_of},
    {"Name", "Name", 15, name_in},
    {"ID", "ID", 6, [](const TresKind& kind) { return std::to_string(kind.id); }},
};

// Compat: a default key is marked.
std::string wckey_name(const Wckey& key) {
    return (key.is_default ? "*" : "") + key.name;
}
constexpr ListField<Wckey> kWckeyFields[] = {
    {"WCKey", "WCKey", 10, wckey_name},
    {"Name", "WCKey", 10, wckey_name},
    {"Cluster", "Cluster", 10, [](const Wckey& key) { return key.cluster; }},
    {"User", "User", 10, [](const Wckey& key) { return key.user; }},
    {"ID", "ID", 6, [](const Wckey& key) { return std::to_string(key.id); }},
};

struct ResourceLine {
    const SharedLicense* license = nullptr;
    const SharedLicense::Share* share = nullptr;
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole ? std::to_string(part * 100 / whole) : "0";
}
std::string allocated(const ResourceLine& line) {
    std::uint64_t sum = 0;
    for (const SharedLicense::Share& each : line.license->shares) sum += each.allowed;
    return percent(sum, line.license->count);
}

// clang-format off
constexpr ListField<ResourceLine> kResourceFields[] = {
    {"Name",        "Name",        10, [](const ResourceLine& line) { return line.license->name; }},
    {"Server",      "Server",      10, [](const ResourceLine& line) { return line.license->server; }},
    {"Type",        "Type",         8, [](const ResourceLine&) { return std::string("License"); }},
    {"Count",       "Count",        6, [](const ResourceLine& line) { return std::to_string(line.license->count); }},
    {"Allocated",   "% Allocated", 11, allocated},
    {"ServerType",  "ServerType",  10, [](const ResourceLine& line) { return line.license->server_type; }},
    {"Manager",     "Manager",     10, [](const ResourceLine& line) { return line.license->manager; }},
    {"Description", "Description", 20, [](const ResourceLine& line) { return line.license->description; }},
    {"ID",          "ID",           6, [](const ResourceLine& line) { return std::to_string(line.license->id); }},
    {"Cluster",     "Cluster",     10, [](const ResourceLine& line) { return line.share ? line.share->cluster : std::string(); }},
    {"PercentAllowed", "% Allowed", 10, [](const ResourceLine& line) { return line.share ? percent(line.share->allowed, line.license->count) : std::string(); }},
    {"Allowed",     "Allowed",     10, [](const ResourceLine& line) { return line.share ? std::to_string(line.share->allowed) : std::string(); }},
    {"LastConsumed", "LastConsumed", 12, [](const ResourceLine& line) { return std::to_string(line.license->last_consumed); }},
};

constexpr ListField<Transaction> kTransactionFields[] = {
    {"Time",      "Time",    19, [](const Transaction& each) { return print_moment(each.time); }},
    {"TimeStamp", "Time",    19, [](const Transaction& each) { return print_moment(each.time); }},
    {"Action",    "Action",  20, [](const Transaction& each) { return each.action; }},
    {"Actor",     "Actor",   10, [](const Transaction& each) { return each.actor; }},
    {"Where",     "Where",   20, [](const Transaction& each) { return each.where; }},
    {"Info",      "Info",    20, [](const Transaction& each) { return each.info; }},
    {"Cluster",   "Cluster", 10, [](const Transaction& each) { return each.cluster; }},
    {"ID",        "ID",       6, [](const Transaction& each) { return std::to_string(each.id); }},
};
// clang-format on

// start= and end= of a listing.
Result<AccountingQuestion> question_of(const SacctmgrWords& words, AccountingQuestion::Kind kind,
                                       std::optional<Time> start) {
    AccountingQuestion question;
    question.kind = kind;
    question.start = start;
    const Time now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
    for (const auto& [name, member] : {std::pair("start", &AccountingQuestion::start),
                                       std::pair("end", &AccountingQuestion::end)}) {
        const Names& given = words.condition(name);
        if (!given.empty())
            question.*member = TRY(parse_moment(given.front(), now, PassedTime::IsMeant));
    }
    if (words.has("alltime")) question.start = Time{};
    if (words.step.clusters.size() == 1) question.cluster = words.step.clusters.front();
    return question;
}

// Yesterday at midnight, from which on events are shown.
Time day_before() {
    const Time now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
    return parse_moment("midnight", now, PassedTime::IsMeant).value() - std::chrono::days{1};
}

struct EventLine {
    AccountedEvent event;
    std::string cluster;
};

std::string end_of(const EventLine& line) {
    return line.event.end ? print_moment(*line.event.end) : "Unknown";
}
std::string event_user(const EventLine& line) {
    if (line.event.node.empty()) return "";
    const std::optional<User> user = find_user(line.event.reason_user.value);
    return user ? user->name : std::to_string(line.event.reason_user.value);
}
std::string length_of(const EventLine& line) {
    const Time now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
    return print_duration(line.event.end.value_or(now) - line.event.start);
}

// clang-format off
constexpr ListField<EventLine> kEventFields[] = {
    {"Cluster",      "Cluster",       10, [](const EventLine& line) { return line.cluster; }},
    {"ClusterNodes", "Cluster Nodes", 20, [](const EventLine& line) { return line.event.cluster_nodes; }},
    {"Duration",     "Duration",      13, length_of},
    {"TimeEnd",      "TimeEnd",       19, end_of},
    {"End",          "TimeEnd",       19, end_of},
    {"Event",        "Event",          7, [](const EventLine& line) { return std::string(line.event.node.empty() ? "Cluster" : "Node"); }},
    {"NodeName",     "NodeName",      15, [](const EventLine& line) { return line.event.node; }},
    {"Reason",       "Reason",        30, [](const EventLine& line) { return line.event.reason; }},
    {"TimeStart",    "TimeStart",     19, [](const EventLine& line) { return print_moment(line.event.start); }},
    {"Start",        "TimeStart",     19, [](const EventLine& line) { return print_moment(line.event.start); }},
    {"State",        "State",          6, [](const EventLine& line) { return line.event.state; }},
    {"TRES",         "TRES",          20, [](const EventLine& line) { return print_tres(line.event.tres); }},
    {"User",         "User",          10, event_user},
};

struct ReservationLine {
    AccountedReservation reservation;
    std::string cluster;
};

std::string association_ids(const ReservationLine& line) {
    Names ids;
    for (std::uint32_t id : line.reservation.associations) ids.push_back(std::to_string(id));
    return join(ids, ",");
}
constexpr ListField<ReservationLine> kReservationFields[] = {
    {"Associations", "Assocs",     10, association_ids},
    {"Cluster",      "Cluster",    10, [](const ReservationLine& line) { return line.cluster; }},
    {"TimeEnd",      "TimeEnd",    19, [](const ReservationLine& line) { return print_moment(line.reservation.end); }},
    {"End",          "TimeEnd",    19, [](const ReservationLine& line) { return print_moment(line.reservation.end); }},
    {"ID",           "ID",          6, [](const ReservationLine& line) { return std::to_string(line.reservation.id); }},
    {"Name",         "Name",       10, [](const ReservationLine& line) { return line.reservation.name; }},
    {"NodeNames",    "NodeName",   15, [](const ReservationLine& line) { return line.reservation.node_names; }},
    {"TimeStart",    "TimeStart",  19, [](const ReservationLine& line) { return print_moment(line.reservation.start); }},
    {"Start",        "TimeStart",  19, [](const ReservationLine& line) { return print_moment(line.reservation.start); }},
    {"TRES",         "TRES",       20, [](const ReservationLine& line) { return print_tres(line.reservation.tres); }},
    {"UnusedWall",   "UnusedWall", 10, nullptr},
};

constexpr ListField<AccountedRun> kRunawayFields[] = {
    {"ID",        "ID",         12, [](const AccountedRun& run) { return std::to_string(run.job.job.value); }},
    {"Name",      "Name",       10, [](const AccountedRun& run) { return run.job.name; }},
    {"Partition", "Partition",  10, [](const AccountedRun& run) { return run.job.partition; }},
    {"Cluster",   "Cluster",    10, [](const AccountedRun& run) { return run.cluster; }},
    {"State",     "State",      10, [](const AccountedRun& run) { return std::string(state_name(run.job.state)); }},
    {"TimeStart", "TimeStart",  19, [](const AccountedRun& run) { return run.job.start ? print_moment(*run.job.start) : std::string("Unknown"); }},
    {"TimeEnd",   "TimeEnd",    19, [](const AccountedRun& run) { return run.job.end ? print_moment(*run.job.end) : std::string("Unknown"); }},
};
// clang-format on

std::string own_cluster(AccountingCommand& command, const AccountingQuestion& question) {
    if (!question.cluster.empty()) return question.cluster;
    const Result<const Config*> config = command.client.config();
    return config ? (*config)->cluster_name : "";
}

}  // namespace

int show_tres(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    std::vector<TresKind> rows = policy.tres;
    std::erase_if(rows, [&](const TresKind& kind) {
        return !is_among(words.step.names, name_in(kind)) ||
               !words.selects("types", type_of(kind)) ||
               !words.selects("ids", std::to_string(kind.id));
    });
    return print_list<TresKind>(command, kTresFields, format_or(words, "Type,Name,ID"), rows);
}

int show_wckeys(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    std::vector<Wckey> rows = policy.wckeys;
    std::erase_if(rows, [&](const Wckey& key) {
        return (key.deleted && !words.has("withdeleted")) ||
               !is_among(words.step.names, key.name) ||
               !is_among(words.step.clusters, key.cluster) || !words.selects("users", key.user);
    });
    return print_list<Wckey>(command, kWckeyFields, format_or(words, "WCKey,Cluster,User"), rows);
}

int show_resources(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    std::vector<ResourceLine> rows;
    for (const SharedLicense& license : policy.licenses) {
        if (!is_among(words.step.names, license.name) ||
            !is_among(words.step.servers, license.server))
            continue;
        if (!words.has("withclusters")) rows.push_back({&license, nullptr});
        for (const SharedLicense::Share& share : license.shares) {
            if (words.has("withclusters") && is_among(words.step.clusters, share.cluster))
                rows.push_back({&license, &share});
        }
    }
    std::string format = "Name,Server,Type,Count,Allocated,ServerType";
    if (words.has("withclusters")) format += ",Cluster,PercentAllowed";
    return print_list<ResourceLine>(command, kResourceFields, format_or(words, format), rows);
}

int show_transactions(AccountingCommand& command, const Policy&, const SacctmgrWords& words) {
    Result<AccountingQuestion> question =
        question_of(words, AccountingQuestion::Kind::Transactions, std::nullopt);
    if (!question) return command.fail(to_string(question.error()));
    Result<std::vector<Transaction>> rows = ask_rows<Transaction>(command.client, *question);
    if (!rows) return command.fail(to_string(rows.error()));
    auto mentions = [](const Transaction& each, const Names& names) {
        return names.empty() ||
               std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                   return each.where.find(name) != std::string::npos ||
                          each.info.find(fmt::format("'{}'", name)) != std::string::npos;
               });
    };
    std::erase_if(*rows, [&](const Transaction& each) {
        return !words.selects("actors", to_lower(each.actor)) ||
               !words.selects("actions", to_lower(each.action)) ||
               !words.selects("ids", std::to_string(each.id)) ||
               !mentions(each, words.step.accounts) || !mentions(each, words.condition("users")) ||
               !is_among(words.step.clusters, each.cluster);
    });
    return print_list<Transaction>(command, kTransactionFields,
                                   format_or(words, "Time,Action,Actor,Where,Info"), *rows);
}

int show_events(AccountingCommand& command, const Policy&, const SacctmgrWords& words) {
    Result<AccountingQuestion> question =
        question_of(words, AccountingQuestion::Kind::Events, day_before());
    if (!question) return command.fail(to_string(question.error()));
    Result<std::vector<AccountedEvent>> events =
        ask_rows<AccountedEvent>(command.client, *question);
    if (!events) return command.fail(to_string(events.error()));
    const std::string cluster = own_cluster(command, *question);
    std::vector<EventLine> rows;
    for (AccountedEvent& each : *events) {
        const bool is_node = !each.node.empty();
        const bool is_meant = words.selects("nodes", each.node) &&
                              words.selects("states", to_lower(each.state)) &&
                              words.selects("reason", to_lower(each.reason)) &&
                              words.selects("event", is_node ? "node" : "cluster") &&
                              (words.condition("condflags").empty() || (is_node && !each.end));
        if (is_meant) rows.push_back({std::move(each), cluster});
    }
    return print_list<EventLine>(
        command, kEventFields,
        format_or(words, "Cluster,NodeName%-15,TimeStart,TimeEnd,State,Reason,User"), rows);
}

int show_reservations(AccountingCommand& command, const Policy&, const SacctmgrWords& words) {
    Result<AccountingQuestion> question = question_of(words, AccountingQuestion::Kind::Reservations,
                                                      day_before() + std::chrono::days{1});
    if (!question) return command.fail(to_string(question.error()));
    Result<std::vector<AccountedReservation>> found =
        ask_rows<AccountedReservation>(command.client, *question);
    if (!found) return command.fail(to_string(found.error()));
    const std::string cluster = own_cluster(command, *question);
    std::vector<ReservationLine> rows;
    for (AccountedReservation& each : *found) {
        if (is_among(words.step.names, to_lower(each.name)) &&
            words.selects("ids", std::to_string(each.id)))
            rows.push_back({std::move(each), cluster});
    }
    return print_list<ReservationLine>(
        command, kReservationFields,
        format_or(words, "Cluster,Name%15,TRES%30,TimeStart,TimeEnd,UnusedWall"), rows);
}

// Jobs without an end in the database that the controller does not know any more.
int show_runaway_jobs(AccountingCommand& command, const Policy&, const SacctmgrWords& words) {
    AccountingQuestion question;
    question.jobs.only_live = question.jobs.no_steps = true;
    Result<std::vector<AccountedRun>> runs = ask_rows<AccountedRun>(command.client, question);
    if (!runs) return command.fail(to_string(runs.error()));
    Result<Table> table = fetch_table(command.client, TableKind::Jobs,
                                      {static_cast<ColumnId>(JobColumn::Id)}, Filter{});
    if (!table) return command.fail(to_string(table.error()));
    const Looks looks;
    const Sheet sheet(*table, looks);
    std::set<std::int64_t> known;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) known.insert(sheet.number(i, JobColumn::Id));
    std::erase_if(*runs,
                  [&](const AccountedRun& run) { return known.contains(run.job.job.value); });
    if (runs->empty()) {
        command.streams.out(fmt::format("Runaway Jobs: No runaway jobs found on cluster {}\n",
                                        own_cluster(command, question)));
        return 0;
    }
    command.streams.out(
        "NOTE: Runaway jobs are jobs that don't exist in the controller but have a start time and "
        "no end time in the database\n");
    return print_list<AccountedRun>(
        command, kRunawayFields,
        format_or(words, "ID,Name,Partition,Cluster,State,TimeStart,TimeEnd"), *runs);
}

}  // namespace sluice
