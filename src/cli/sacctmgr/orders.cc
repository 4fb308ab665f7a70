// cli/sacctmgr/orders.cc
//
// Orders to the daemon that has the accounting database: archive, ping, reconfigure, shutdown.
#include "base/text.h"
#include "cli/sacctmgr/commands.h"
#include "config/slurmdbd_conf.h"
#include "model/accounting_order.h"
#include "model/errors.h"
#include "model/statistics_fields.h"
#include "protocol/field_codec.h"
#include "surface/statistics.h"

namespace sluice {

namespace {

using What = PurgeRule::What;

// "Jobs" writes them to a file, "PurgeJobAfter=6months" says how old they must be.
struct ArchiveWord {
    std::string_view word, key;
    What what;
};
constexpr ArchiveWord kArchiveWords[] = {
    {"Events", "PurgeEventAfter", What::Events},
    {"Jobs", "PurgeJobAfter", What::Jobs},
    {"Reservations", "PurgeResvAfter", What::Reservations},
    {"Steps", "PurgeStepAfter", What::Steps},
    {"Suspend", "PurgeSuspendAfter", What::Suspends},
    {"Txn", "PurgeTXNAfter", What::Transactions},
    {"Usage", "PurgeUsageAfter", What::Usage},
};

Result<wire::Reply> send(const AccountingCommand& command, const AccountingOrder& order) {
    wire::Request request;
    field_codec::put_fields(order, *request.mutable_accounting_order());
    return command.client.call(request);
}

int done(const AccountingCommand& command, const AccountingOrder& order) {
    const Result<wire::Reply> reply = send(command, order);
    return reply ? 0 : command.fail(to_string(reply.error()));
}

Result<AccountingOrder> read_dump_words(const std::vector<std::string>& words) {
    AccountingOrder order{.kind = AccountingOrder::Kind::Purge, .rules = {}, .path = "/tmp"};
    std::vector<What> archived;
    for (const std::string& word : words) {
        const std::size_t at = word.find('=');
        const std::string_view key = std::string_view(word).substr(0, at);
        const std::string value = at == word.npos ? "" : word.substr(at + 1);
        if (equals_ignoring_case(key, "Directory") && !value.empty()) {
            order.path = value;
            continue;
        }
        bool is_known = false;
        for (const ArchiveWord& row : kArchiveWords) {
            if (at == word.npos && equals_ignoring_case(key, row.word)) {
                archived.push_back(row.what);
                is_known = true;
            } else if (at != word.npos && equals_ignoring_case(key, row.key)) {
                const Result<Seconds> age = parse_purge_age(value);
                if (!age) return Error{ErrorCode::BadArgument, "Invalid value: " + word};
                order.rules.push_back({.what = row.what, .older_than = *age});
                is_known = true;
            }
        }
        if (!is_known) return Error{ErrorCode::BadArgument, "Unknown option: " + word};
    }
    for (PurgeRule& rule : order.rules)
        rule.archive = std::find(archived.begin(), archived.end(), rule.what) != archived.end();
    if (order.rules.empty())
        return Error{ErrorCode::BadArgument, "Nothing to do: no Purge...After= is given"};
    return order;
}

int dump_archive(AccountingCommand& command) {
    const Result<AccountingOrder> order = read_dump_words(command.words);
    if (!order) return command.fail(order.error().detail);
    if (!command.is_agreed("This may result in loss of accounting database records. "
                           "Are you OK with this?")) {
        command.streams.out(" Changes Discarded\n");
        return 0;
    }
    return done(command, *order);
}

int load_archive(AccountingCommand& command) {
    const std::string word = command.words.empty() ? "" : command.words.front();
    const std::size_t at = word.find('=');
    const bool is_file = at == word.npos || equals_ignoring_case(word.substr(0, at), "File");
    if (command.words.size() != 1 || !is_file || word.empty())
        return command.fail("archive load needs File=NAME");
    return done(command, {.kind = AccountingOrder::Kind::LoadArchive,
                          .rules = {},
                          .path = at == word.npos ? word : word.substr(at + 1)});
}

}  // namespace

int archive(AccountingCommand& command) {
    const std::string verb = command.words.empty() ? "" : command.words.front();
    if (!command.words.empty()) command.words.erase(command.words.begin());
    if (command.read_only) return command.fail("Can't run this command in readonly mode.");
    if (means(verb, "dump", 1)) return dump_archive(command);
    if (means(verb, "load", 1)) return load_archive(command);
    return command.fail("archive needs dump or load");
}

// The daemon that answers this tool's questions, be it slurmctld or slurmdbd.
int ping_accounting(AccountingCommand& command) {
    const Result<wire::Reply> reply = send(command, {});
    if (!reply) return command.fail(to_string(reply.error()));
    command.streams.out(fmt::format("accounting at {} is UP\n", reply->pong().hostname()));
    return 0;
}

int reconfigure_accounting(AccountingCommand& command) {
    return done(command, {.kind = AccountingOrder::Kind::Reconfigure, .rules = {}, .path = {}});
}

// Compat: options of other listings (-P) change nothing.
int show_accounting_statistics(AccountingCommand& command) {
    RequestOrder order = RequestOrder::Count;
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        if (equals_ignoring_case(command.words[i], "ave_time"))
            order = RequestOrder::AverageTime;
        else if (equals_ignoring_case(command.words[i], "total_time"))
            order = RequestOrder::TotalTime;
        else
            return command.fail("Unknown option: " + command.words[i]);
    }
    AccountingOrder wanted;
    wanted.kind = AccountingOrder::Kind::ShowStatistics;
    const Result<wire::Reply> reply = send(command, wanted);
    if (!reply) return command.fail(to_string(reply.error()));
    Statistics statistics;
    if (Result<void> read = field_codec::get_fields(reply->statistics(), statistics); !read)
        return command.fail(to_string(read.error()));
    sort_requests(statistics, order);
    command.streams.out(accounting_statistics_text(statistics));
    return 0;
}

int clear_accounting_statistics(AccountingCommand& command) {
    const bool is_complete = command.words.size() == 1 && means(command.words[0], "stats", 1);
    if (!is_complete) return command.fail("clear needs stats");
    if (command.read_only) return command.fail("Can't run this command in readonly mode.");
    return done(command, {.kind = AccountingOrder::Kind::ClearStatistics, .rules = {}, .path = {}});
}

int shut_accounting_down(AccountingCommand& command) {
    return done(command, {.kind = AccountingOrder::Kind::Shutdown, .rules = {}, .path = {}});
}

}  // namespace sluice
