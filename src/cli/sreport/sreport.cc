// See sreport.h.
#include "cli/sreport/sreport.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/common/ask_policy.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "cli/sreport/reports.h"
#include "cli/sreport/request.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

struct Report {
    std::string_view type;
    std::string_view name;
    unsigned group;
    Result<std::string> (*make)(const ReportRequest& request);
};

// clang-format off
constexpr Report kReports[] = {
    {"cluster",     "AccountUtilizationByUser", kClusterReports,     account_utilization_by_user},
    {"cluster",     "UserUtilizationByAccount", kClusterReports,     user_utilization_by_account},
    {"cluster",     "UserUtilizationByWckey",   kClusterReports,     user_utilization_by_wckey},
    {"cluster",     "Utilization",              kClusterReports,     cluster_utilization},
    {"cluster",     "WCKeyUtilizationByUser",   kClusterReports,     wckey_utilization_by_user},
    {"job",         "SizesByAccount",           kJobReports,         sizes_by_account},
    {"job",         "SizesByAccountAndWcKey",   kJobReports,         sizes_by_account_and_wckey},
    {"job",         "SizesByWckey",             kJobReports,         sizes_by_wckey},
    {"reservation", "Utilization",              kReservationReports, reservation_utilization},
    {"user",        "TopUsage",                 kUserReports,        top_users},
};
// clang-format on

constexpr std::string_view kValidReports[][2] = {
    {"cluster",
     "\"AccountUtilizationByUser\", \"UserUtilizationByAccount\", \"UserUtilizationByWckey\", "
     "\"Utilization\", and \"WCKeyUtilizationByUser\""},
    {"job", "\"SizesByAccount, SizesByAccountAndWcKey, and  SizesByWckey\""},
    {"reservation", "\"Utilization\""},
    {"user", "\"Top\""},
};

// The type of reports that the word begins; empty: none.
std::string_view find_type(std::string_view word) {
    for (const auto& [type, names] : kValidReports) {
        if (!word.empty() && starts_with_ignoring_case(type, word)) return type;
    }
    return {};
}

// A beginning of the name will do if no other report of the type has it.
const Report* find_report(std::string_view type, std::string_view word) {
    const Report* found = nullptr;
    for (const Report& report : kReports) {
        if (report.type != type || !starts_with_ignoring_case(report.name, word)) continue;
        if (equals_ignoring_case(report.name, word)) return &report;
        if (found) return nullptr;
        found = &report;
    }
    return word.empty() ? nullptr : found;
}

// ---- options

enum Option : std::size_t {
    kAllClusters,
    kCluster,
    kFederation,
    kLocal,
    kNoHeader,
    kParsable,
    kParsable2,
    kQuiet,
    kTime,
    kTres,
    kVerbose,
    kSreportVersion,
    kSreportHelp,
    kSreportUsage
};

struct OptionRow {
    OptionSpelling spelling;
    const char* value;
    const char* help;
    const char* environment = nullptr;
};
constexpr Argument kNone = Argument::None, kValue = Argument::Required;
// clang-format off
constexpr OptionRow kOptions[] = {
    {{"all_clusters", 'a', kNone,  kAllClusters},    nullptr,  "report on all clusters of the database"},
    {{"cluster",      'M', kValue, kCluster},        "names",  "report on these clusters", "SREPORT_CLUSTER"},
    {{"federation",   0,   kNone,  kFederation},     nullptr,  "accepted: clusters form no federations", "SREPORT_FEDERATION"},
    {{"local",        0,   kNone,  kLocal},          nullptr,  "report on this cluster only", "SREPORT_LOCAL"},
    {{"noheader",     'n', kNone,  kNoHeader},       nullptr,  "no titles and no header line"},
    {{"parsable",     'p', kNone,  kParsable},       nullptr,  "'|' after each value"},
    {{"parsable2",    'P', kNone,  kParsable2},      nullptr,  "'|' between values"},
    {{"quiet",        'Q', kNone,  kQuiet},          nullptr,  "no prompt, only reports and errors"},
    {{"time",         't', kValue, kTime},           "format", "Seconds, Minutes, Hours, Percent, SecPer, MinPer or HourPer"},
    {{"tres",         'T', kValue, kTres},           "names",  "report on these trackable resources; ALL: on all", "SREPORT_TRES"},
    {{"verbose",      'v', kNone,  kVerbose},        nullptr,  "accepted"},
    {{"version",      'V', kNone,  kSreportVersion}, nullptr,  "print the version and exit"},
    {{"help",         'h', kNone,  kSreportHelp},    nullptr,  "show this text"},
    {{"usage",        0,   kNone,  kSreportUsage},   nullptr,  "show this text"},
};
// clang-format on

constexpr std::string_view kCommands = R"(Commands:
  cluster AccountUtilizationByUser | UserUtilizationByAccount |
          UserUtilizationByWckey | WCKeyUtilizationByUser | Utilization
  job SizesByAccount | SizesByAccountAndWcKey | SizesByWckey
  reservation Utilization
  user TopUsage
  exit, quit, help, version, time FORMAT, parsable, parsable2, nonparsable,
  quiet, verbose, !! (the last command again)
Conditions of all reports:
  Start=TIME End=TIME (yesterday), Format=FIELDS, Clusters=NAMES, All_Clusters
Conditions of some reports:
  Accounts= Users= Wckeys= Names= Nodes= Jobs= Partitions= GID= Tree Group
  TopCount=10 Grouping=50,250,500,1000 PrintJobCount FlatView AcctAsParent
)";

std::string help_text() {
    constexpr std::size_t kColumn = 30;
    return "Usage: sreport [OPTIONS] [COMMAND]\n" + help_lines(sreport_option_help(), kColumn) +
           std::string(kCommands);
}

// ---- one session

class Session {
public:
    Session(Time now, const Invocation& invocation, Client& client, Streams& streams)
        : now_(now), invocation_(invocation), client_(client), streams_(streams) {}

    // Nothing: go on; else the exit code.
    std::optional<int> read_environment() {
        for (const OptionRow& row : kOptions) {
            if (!row.environment) continue;
            const auto value = invocation_.environment.find(row.environment);
            if (!value || value->empty()) continue;
            if (auto code = take({row.spelling.id, std::string(*value)})) return code;
        }
        return {};
    }

    std::optional<int> take(const GivenOption& option) {
        const std::string value = option.value.value_or("");
        switch (option.id) {
            case kAllClusters:
                settings_.all_clusters = true;
                break;
            case kCluster:
                for (const std::string& name : split_list(value)) {
                    settings_.clusters.push_back(name);
                }
                break;
            case kLocal:
                is_local_ = true;
                break;
            case kNoHeader:
                settings_.header = false;
                break;
            case kParsable:
                settings_.bars = Bars::AfterEach;
                break;
            case kParsable2:
                settings_.bars = Bars::Between;
                break;
            case kQuiet:
                settings_.quiet = true;
                break;
            case kTime:
                return set_time(value) ? std::nullopt : std::optional(1);
            case kTres:
                settings_.tres = split_list(value);
                break;
            case kSreportVersion:
                return print_version(streams_), 0;
            case kSreportHelp:
            case kSreportUsage:
                return streams_.out(help_text()), 0;
            default:
                break;
        }
        return {};
    }

    bool has_one_cluster_option() const {
        return settings_.all_clusters + is_local_ + !settings_.clusters.empty() <= 1;
    }

    // The exit code of the command.
    int run(const std::vector<std::string>& words) {
        const std::string_view type = find_type(words[0]);
        if (type.empty()) return run_setting(words);
        if (words.size() < 2) {
            return complain(fmt::format("too few arguments for keyword:{}", words[0]));
        }
        const Report* report = find_report(type, words[1]);
        if (!report) return unknown_report(type, words[1]);
        Result<ReportConditions> conditions =
            parse_conditions({words.begin() + 2, words.end()}, report->group, now_);
        if (!conditions) return complain(conditions.error().detail);
        return print(*report, *std::move(conditions));
    }

    // Commands from standard input.
    int converse() {
        int code = 0;
        std::vector<std::string> last;
        for (std::string line; !is_over_;) {
            if (!settings_.quiet && streams_.out_is_terminal()) streams_.out("sreport: ");
            streams_.flush();
            if (!streams_.read_line(line)) break;
            std::vector<std::string> command;
            for (std::string_view word : words(line)) command.emplace_back(word);
            if (command.empty()) continue;
            if (command[0] == "!!") {
                if (last.empty()) continue;
                command = last;
            }
            last = command;
            code = std::max(code, run(command));
        }
        return code;
    }

private:
    int complain(std::string_view text) {
        streams_.err(fmt::format("{}\n", text));
        return 1;
    }

    int unknown_report(std::string_view type, std::string_view word) {
        for (const auto& [each, names] : kValidReports) {
            if (each != type) continue;
            return complain(
                fmt::format("Not valid report {}\nValid {} reports are, {}", word, type, names));
        }
        return 1;
    }

    bool set_time(const std::string& word) {
        const std::optional<TimeFormat> format = find_time_format(word);
        if (format) settings_.time = *format;
        if (!format) complain(fmt::format("unknown time format {}", word));
        return format.has_value();
    }

    int run_setting(const std::vector<std::string>& words) {
        const std::string word = to_lower(words[0]);
        if (word == "exit" || word == "quit") {
            is_over_ = true;
        } else if (word == "help") {
            streams_.out(help_text());
        } else if (word == "version") {
            print_version(streams_);
        } else if (word == "parsable") {
            settings_.bars = Bars::AfterEach;
        } else if (word == "parsable2") {
            settings_.bars = Bars::Between;
        } else if (word == "nonparsable") {
            settings_.bars = Bars::None;
        } else if (word == "quiet") {
            settings_.quiet = true;
        } else if (word == "time") {
            if (words.size() < 2) return complain("too few arguments for keyword:time");
            return set_time(words[1]) ? 0 : 1;
        } else if (word != "verbose") {
            return complain(fmt::format("invalid keyword: {}", words[0]));
        }
        return 0;
    }

    std::vector<std::string> clusters_for(const ReportRequest& request) {
        if (!request.conditions.clusters.empty()) return request.conditions.clusters;
        if (settings_.all_clusters || request.conditions.all_clusters) {
            std::vector<std::string> all;
            for (const ClusterRecord& each : request.policy.clusters) {
                if (!each.deleted) all.push_back(each.name);
            }
            return all;
        }
        if (!settings_.clusters.empty()) return settings_.clusters;
        const Result<const Config*> config = client_.config();
        return {config ? (*config)->cluster_name : ""};
    }

    // False: a name is not known, and an error has been printed.
    bool set_tres(ReportRequest& request) {
        if (settings_.tres.empty()) {
            request.tres = {"cpu"};
            return true;
        }
        if (settings_.tres.size() == 1 && equals_ignoring_case(settings_.tres[0], "ALL")) {
            std::vector<TresKind> all = request.policy.tres;
            std::sort(all.begin(), all.end(),
                      [](const TresKind& a, const TresKind& b) { return a.id < b.id; });
            for (const TresKind& kind : all) request.tres.push_back(kind.name);
            return true;
        }
        for (const std::string& name : settings_.tres) {
            if (tres_id(request.policy, to_lower(name)) == 0) {
                print_fatal(streams_, invocation_, fmt::format("No valid TRES given: {}", name));
                return false;
            }
            request.tres.push_back(to_lower(name));
        }
        return true;
    }

    int print(const Report& report, ReportConditions conditions) {
        Result<Policy> policy = ask_policy(client_);
        if (!policy) {
            print_accounting_error(streams_, invocation_, policy.error());
            return 1;
        }
        ReportRequest request{now_,
                              invocation_,
                              client_,
                              streams_,
                              settings_,
                              std::move(conditions),
                              *std::move(policy),
                              {},
                              {}};
        request.clusters = clusters_for(request);
        if (!set_tres(request)) return 1;
        const Result<std::string> text = report.make(request);
        if (text) {
            streams_.out(*text);
            return 0;
        }
        const ErrorCode code = text.error().code;
        if (code == ErrorCode::BadArgument || code == ErrorCode::NotFound) {
            return complain(text.error().detail);
        }
        print_accounting_error(streams_, invocation_, text.error());
        return 1;
    }

    Time now_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    ReportSettings settings_;
    bool is_local_ = false;
    bool is_over_ = false;
};

}  // namespace

std::vector<OptionHelp> sreport_option_help() {
    std::vector<OptionHelp> all;
    for (const OptionRow& row : kOptions) {
        OptionHelp help{.name = row.spelling.name,
                        .letter = row.spelling.letter,
                        .value = row.value ? row.value : "",
                        .text = row.help};
        if (row.environment) help.variables.emplace_back(row.environment);
        all.push_back(std::move(help));
    }
    return all;
}

int run_sreport_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    std::vector<OptionSpelling> spellings;
    for (const OptionRow& row : kOptions) spellings.push_back(row.spelling);
    const Result<Arguments> given =
        parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    Session session(now, invocation, client, streams);
    if (auto code = session.read_environment()) return *code;
    for (const GivenOption& option : given->options) {
        if (auto code = session.take(option)) return *code;
    }
    if (!session.has_one_cluster_option()) {
        streams.err(
            "Only one cluster option can be used (--all_clusters OR --cluster OR --local)\n");
        return 1;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    return given->operands.empty() ? session.converse() : session.run(given->operands);
}

int run_sreport(const Invocation& invocation, Client& client, Streams& streams) {
    return run_sreport_at(current_time(), invocation, client, streams);
}

}  // namespace sluice
