// See history.h.
#include "cli/sluice/history.h"

#include "cli/common/ask_policy.h"
#include "cli/sluice/history_reader.h"
#include "model/accounting_order.h"
#include "model/errors.h"
#include "os/files.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

constexpr std::size_t kBadShown = 10;  // lines
constexpr std::size_t kTakenShown = 5;

// Collects runs, and sends them to the daemon that has the database.
class RunSender {
public:
    RunSender(Client& client, const std::string& cluster, bool only_check) : client_(client) {
        order_.kind = AccountingOrder::Kind::Import;
        order_.cluster = cluster;
        order_.only_check = only_check;
    }

    Result<void> add(AccountedRun run) {
        bytes_ += size_of(run);
        order_.runs.push_back(std::move(run));
        const bool is_full = order_.runs.size() == kImportedAtOnce || bytes_ >= kBytesAtOnce;
        return is_full ? flush() : Result<void>();
    }

    Result<void> flush() {
        if (order_.runs.empty()) return {};
        wire::Request request;
        field_codec::put_fields(order_, *request.mutable_accounting_order());
        const wire::Reply reply = TRY(client_.call(request));
        if (reply.rows().rows_size() != 1)
            return Error{ErrorCode::ProtocolError, "the answer has no outcome"};
        ImportOutcome outcome;
        TRY(field_codec::get_fields(reply.rows().rows(0), outcome));
        total.added += outcome.added;
        total.known += outcome.known;
        total.taken.insert(total.taken.end(), outcome.taken.begin(), outcome.taken.end());
        order_.runs.clear();
        bytes_ = 0;
        return {};
    }

    ImportOutcome total;

private:
    static constexpr std::size_t kBytesAtOnce = sizes::kFrame / 4;

    // About as many as it has in a message.
    static std::size_t size_of(const AccountedRun& run) {
        constexpr std::size_t kRecord = 1000;
        std::size_t bytes = kRecord * (1 + run.steps.size()) + run.job.submit_line.size() +
                            run.job.comment.size() + run.job.work_dir.size();
        for (const AccountedStep& step : run.steps) bytes += step.submit_line.size();
        return bytes;
    }

    Client& client_;
    AccountingOrder order_;
    std::size_t bytes_ = 0;
};

struct History {
    const Invocation& invocation;
    Streams& streams;
    const HistoryOptions& options;
    std::vector<std::string> texts;  // of the files
};

// Reads all files; the runs go to the sender.
Result<void> read_all(const History& history, HistoryReader& reader, RunSender& sender,
                      std::string_view verb) {
    for (std::size_t i = 0; i < history.texts.size(); ++i) {
        const std::string& file = history.options.files[i];
        reader.progress = [&](std::size_t lines) {
            history.streams.err(fmt::format("{} {}: {} lines\n", verb, file, lines));
        };
        TRY(reader.read(file, history.texts[i]));
    }
    return sender.flush();
}

void report_reading(const History& history, const HistoryReader& reader) {
    const Invocation& invocation = history.invocation;
    if (!reader.unused_columns().empty())
        print_warning(history.streams, invocation,
                      fmt::format("columns that are not imported: {}",
                                  fmt::join(reader.unused_columns(), ", ")));
    const auto& bad = reader.bad_lines();
    for (std::size_t i = 0; i < std::min(bad.size(), kBadShown); ++i)
        print_error(history.streams, invocation, bad[i].text);
    if (bad.size() > kBadShown)
        print_error(history.streams, invocation,
                    fmt::format("... and {} more bad lines", bad.size() - kBadShown));
}

// Jobs of this cluster have the numbers already.
Error taken_error(const std::vector<std::uint32_t>& jobs) {
    std::string names;
    for (std::size_t i = 0; i < std::min(jobs.size(), kTakenShown); ++i)
        names += fmt::format("{}{}", i == 0 ? "" : ", ", jobs[i]);
    return {ErrorCode::BadArgument,
            fmt::format("{} runs have the number of another job in the database: {}{} (import "
                        "them into another cluster with --cluster, or leave them out with "
                        "--skip-bad)",
                        jobs.size(), names, jobs.size() > kTakenShown ? ", ..." : "")};
}

std::string summary(const HistoryReader& reader, const ImportOutcome& outcome, bool dry_run) {
    std::string text =
        fmt::format("{} runs with {} steps\n{} {}, {} already in the database\n",
                    outcome.added + outcome.known + outcome.taken.size(), reader.steps(),
                    outcome.added, dry_run ? "would be added" : "added", outcome.known);
    if (reader.unfinished() > 0)
        text += fmt::format("{} jobs that had not ended left out\n", reader.unfinished());
    if (const std::size_t left = reader.bad_lines().size() + outcome.taken.size(); left > 0)
        text += fmt::format("{} bad lines and runs left out\n", left);
    if (reader.without_association() > 0)
        text +=
            fmt::format("{} runs have no association: reports and fair share do not count them\n",
                        reader.without_association());
    return text;
}

Result<int> import_all(const History& history, Client& client) {
    const HistoryOptions& options = history.options;
    const Policy policy = TRY(ask_policy(client));
    const Config* config = TRY(client.config());
    const HistorySource source{
        .policy = policy,
        .cluster = options.cluster.empty() ? config->cluster_name : options.cluster,
        .any_cluster = !options.cluster.empty(),
        .delimiter = options.delimiter};
    RunSender checker(client, source.cluster, true);
    HistoryReader first(source, [&](AccountedRun run) { return checker.add(std::move(run)); });
    TRY(read_all(history, first, checker, "checking"));
    report_reading(history, first);
    if (!checker.total.taken.empty() && !options.skip_bad) return taken_error(checker.total.taken);
    if (!first.bad_lines().empty() && !options.skip_bad) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{} bad lines: nothing was imported (--skip-bad imports the rest)",
                                 first.bad_lines().size())};
    }
    if (options.dry_run) {
        history.streams.out(summary(first, checker.total, true));
        return 0;
    }
    RunSender sender(client, source.cluster, false);
    HistoryReader second(source, [&](AccountedRun run) { return sender.add(std::move(run)); });
    TRY(read_all(history, second, sender, "importing"));
    history.streams.out(summary(second, sender.total, false));
    return 0;
}

}  // namespace

int import_history(const Invocation& invocation, const HistoryOptions& options, Client& client,
                   Streams& streams) {
    History history{invocation, streams, options, {}};
    for (const std::string& file : options.files) {
        Result<std::string> text = read_file(file);
        if (!text) {
            print_error(streams, invocation, to_string(text.error()));
            return 1;
        }
        history.texts.push_back(*std::move(text));
    }
    const Result<int> code = import_all(history, client);
    if (code) return *code;
    const Error& error = code.error();
    print_error(streams, invocation,
                error.code == ErrorCode::BadArgument ? error.detail : to_string(error));
    return 1;
}

}  // namespace sluice
