// See sacct.h.
#include "cli/sacct/sacct.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/common/ask_policy.h"
#include "cli/common/listing.h"
#include "cli/sacct/options.h"
#include "surface/accounted_table.h"
#include "surface/report_text.h"

namespace sluice {

namespace {

// ---- endings

void print_columns(Streams& streams, const std::vector<std::string_view>& words) {
    constexpr std::size_t kColumns = 4;
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool is_last = i + 1 == words.size() || (i + 1) % kColumns == 0;
        out += fmt::format("{:<19}{}", words[i], is_last ? "\n" : " ");
    }
    streams.out(out);
}

void print_fields(Streams& streams) {
    std::vector<std::string_view> names;
    for (const AccountedField& field : accounted_fields()) names.push_back(field.name);
    print_columns(streams, names);
}

void print_states(Streams& streams) {
    for (int i = 0; i < kShownStateCount; ++i) {
        streams.out(fmt::format("{}\n", state_name(static_cast<ShownState>(i))));
    }
}

void print_reasons(Streams& streams) {
    for (int i = 0; i < kReasonCount; ++i) {
        streams.out(fmt::format("{}\n", reason_name(static_cast<Reason>(i))));
    }
}

void print_ending(SacctEnding ending, Streams& streams) {
    switch (ending) {
        case SacctEnding::Help: {
            constexpr std::size_t kColumn = 34;
            streams.out("Usage: sacct [OPTIONS]\n" + help_lines(sacct_option_help(), kColumn));
            break;
        }
        case SacctEnding::Usage:
            streams.out("Usage: sacct [options]\n\tUse --help for help\n");
            break;
        case SacctEnding::Fields:
            return print_fields(streams);
        case SacctEnding::States:
            return print_states(streams);
        case SacctEnding::Reasons:
            return print_reasons(streams);
        case SacctEnding::DataParsers:
            return print_data_parsers(streams);
        default:
            print_version(streams);
    }
}

// ---- which runs and steps

struct Question {
    Time now;
    const Invocation& invocation;
    const SacctOptions& options;
    Client& client;
    Streams& streams;
};

// "12.batch" asks for a step, "12" for all of the job.
struct WantedSteps {
    std::vector<JobRef> refs;
    bool all = true;  // no step was named

    explicit WantedSteps(const std::vector<std::string>& jobs) {
        for (const std::string& word : jobs) {
            const Result<JobRef> ref = parse_job_ref(word);
            if (!ref) return;  // a SLUID
            refs.push_back(*ref);
        }
        all = std::none_of(refs.begin(), refs.end(), [](const JobRef& ref) { return !!ref.step; });
    }

    static bool names(const JobRef& ref, const AccountedJob& job) {
        if (ref.job == job.job && !ref.tasks) return true;
        if (!job.array_job || ref.job != *job.array_job) return false;
        return !ref.tasks || (job.array_task ? ref.tasks->contains(*job.array_task)
                                             : ref.tasks->intersects(job.array_tasks));
    }
    bool wants_job(const AccountedJob& job) const {
        return all || std::any_of(refs.begin(), refs.end(),
                                  [&](const JobRef& ref) { return !ref.step && names(ref, job); });
    }
    bool wants_step(const AccountedJob& job, StepId step) const {
        return all || std::any_of(refs.begin(), refs.end(), [&](const JobRef& ref) {
                   return (!ref.step || *ref.step == step) && names(ref, job);
               });
    }
};

// Compat: jobs that are not eligible yet are shown only if they are named.
bool is_wanted(const AccountedRun& run, const Question& question) {
    const SacctOptions& options = question.options;
    const AccountedJob& job = run.job;
    if (!options.associations.empty() &&
        std::find(options.associations.begin(), options.associations.end(), job.association) ==
            options.associations.end()) {
        return false;
    }
    if (options.flags && !(options.flags & job.flags)) return false;
    if (!options.selection.jobs.empty()) return true;
    return job.eligible != Time{} &&
           job.eligible <= options.selection.end.value_or(std::max(question.now, job.submit));
}

Result<std::vector<AccountedRun>> fetch_runs(const Question& question) {
    AccountingQuestion asked;
    asked.kind = AccountingQuestion::Kind::Jobs;
    asked.jobs = question.options.selection;
    std::vector<AccountedRun> runs = TRY(ask_rows<AccountedRun>(question.client, asked));
    std::erase_if(runs, [&](const AccountedRun& run) { return !is_wanted(run, question); });
    return runs;
}

// ---- what is shown of them

struct Column {
    const AccountedField* field = nullptr;
    ReportHead head;
};

void add_column(const ReportWord& word, const AccountedField& field, std::vector<Column>& columns) {
    Column column{&field, {std::string(field.name), field.width, field.left}};
    if (word.width) {
        column.head.width = *word.width;
        column.head.left = word.left;
    }
    columns.push_back(column);
}

// Compat: fields of earlier releases are named with those that took their place.
Error unknown_field(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kRemoved[] = {
        {"AllocGRES", "AllocTRES"}, {"ReqGRES", "ReqTRES"}};
    for (const auto& [old, now] : kRemoved) {
        if (equals_ignoring_case(name, old))
            return {ErrorCode::NotFound,
                    fmt::format("{} has been removed, please use {}", old, now)};
    }
    return {ErrorCode::NotFound, fmt::format("Invalid field requested: \"{}\"", name)};
}

Result<std::vector<Column>> columns_of(std::string_view format) {
    std::vector<Column> columns;
    const std::vector<ReportWord> words = TRY(split_report_format(format));
    for (const ReportWord& word : words) {
        if (equals_ignoring_case(word.name, "ALL")) {
            for (const AccountedField& each : accounted_fields()) add_column(word, each, columns);
            continue;
        }
        const AccountedField* field = find_accounted_field(word.name);
        if (!field) return unknown_field(word.name);
        add_column(word, *field, columns);
    }
    if (columns.empty()) {
        return Error{ErrorCode::BadArgument, "-o (--format) names no field"};
    }
    return columns;
}

std::string format_of(const Question& question) {
    if (question.options.format) return *question.options.format;
    const auto variable = question.invocation.environment.find("SACCT_FORMAT");
    return std::string(variable && !variable->empty() ? *variable : kAccountedDefaultFormat);
}

bool shows(const std::vector<Column>& columns, std::string_view name) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Column& column) { return column.field->name == name; });
}

AccountedLooks looks_of(const Question& question, Names& names) {
    AccountedLooks looks;
    looks.now = question.now;
    looks.time_format = question.invocation.environment.find("SLURM_TIME_FORMAT").value_or("");
    if (auto length = question.invocation.environment.find("SLURM_BITSTR_LEN")) {
        if (auto number = to_number(*length)) looks.array_text_max = *number;
    }
    looks.units = question.options.units;
    looks.expand_patterns = question.options.expand_patterns;
    looks.names = &names;
    if (question.options.truncate) {
        looks.from = question.options.selection.start;
        looks.until = question.options.selection.end.value_or(question.now);
    }
    return looks;
}

Result<void> add_numbers(const Policy& policy, Client& client, AccountedLooks& looks) {
    for (const Qos& qos : policy.qos) looks.qos_ids[qos.name] = qos.id;
    for (const Wckey& wckey : policy.wckeys) looks.wckey_ids[wckey.name] = wckey.id;
    for (const TresKind& kind : policy.tres) looks.tres_ids[kind.name] = kind.id;
    AccountingQuestion question;
    question.kind = AccountingQuestion::Kind::Reservations;
    const auto reservations = TRY(ask_rows<AccountedReservation>(client, question));
    for (const AccountedReservation& each : reservations) {
        looks.reservation_ids[each.name] = each.id;
    }
    return {};
}

// An unknown QOS is an error. False: it has been printed.
bool has_known_qos(const Question& question, const Policy& policy) {
    for (const std::string& wanted : question.options.selection.qos) {
        std::vector<std::string> known;
        for (const Qos& qos : policy.qos) {
            if (!qos.deleted) known.push_back(qos.name);
        }
        if (std::find(known.begin(), known.end(), to_lower(wanted)) != known.end()) continue;
        print_error(
            question.streams, question.invocation,
            fmt::format("You gave a bad qos '{}'. Valid QOS's are {}", wanted, join(known, ",")));
        print_fatal(question.streams, question.invocation, "problem processing qos list");
        return false;
    }
    return true;
}

// ---- printing

// Calls `print` for the lines of a run, in order.
template <typename Print>
void each_line(const AccountedRun& run, const Question& question, const WantedSteps& wanted,
               const AccountedLooks& looks, Print print) {
    AccountedLine line{.run = &run, .step = nullptr, .looks = &looks};
    const bool splits = question.options.each_task && !run.job.array_tasks.empty();
    if (splits) {
        run.job.array_tasks.for_each([&](std::uint32_t task) {
            line.task = task;
            print(line);
        });
        return;
    }
    if (wanted.wants_job(run.job)) print(line);
    if (question.options.selection.no_steps) return;
    for (const AccountedStep& step : run.steps) {
        line.step = &step;
        if (wanted.wants_step(run.job, step.step)) print(line);
    }
}

std::string table_text(const Question& question, const std::vector<AccountedRun>& runs,
                       const std::vector<Column>& columns, const AccountedLooks& looks) {
    std::vector<ReportHead> heads;
    for (const Column& column : columns) heads.push_back(column.head);
    ReportText report(std::move(heads), question.options.bars, question.options.delimiter);
    if (question.options.header) report.add_header();
    const WantedSteps wanted(question.options.selection.jobs);
    for (const AccountedRun& run : runs) {
        each_line(run, question, wanted, looks, [&](const AccountedLine& line) {
            report.add_line([&](std::size_t i, std::string& out) {
                append_field(*columns[i].field, line, out);
            });
        });
    }
    return report.take();
}

std::string json_text(const Question& question, const std::vector<AccountedRun>& runs,
                      const AccountedLooks& looks) {
    const Looks cluster = looks_for(question.invocation, question.client, question.now);
    const JsonMeta meta = json_meta(question.invocation, cluster, *question.options.json);
    Json json(meta.style);
    json.open_object();
    json.open_list("jobs");
    for (const AccountedRun& run : runs) write_accounted_run(run, looks, json);
    json.close();
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

// -B and --env-vars.
std::string stored_texts(const Question& question, const std::vector<AccountedRun>& runs,
                         const AccountedLooks& looks) {
    const bool scripts = question.options.selection.scripts;
    std::string out;
    for (const AccountedRun& run : runs) {
        const std::string id = job_id_text({.run = &run, .step = nullptr, .looks = &looks});
        if (question.options.header) {
            out += scripts
                       ? fmt::format("Batch Script for {}\n", id)
                       : fmt::format("Environment used for {} (must be batch to display)\n", id);
            out += std::string(80, '-') + "\n";
        }
        const std::string& text = scripts ? run.script : run.environment;
        out += text.empty() ? "NONE" : text;
        if (!out.ends_with('\n')) out += '\n';
        out += '\n';
    }
    return out;
}

void print_window(const Question& question) {
    const JobSelection& selection = question.options.selection;
    std::vector<std::string> states;
    for (ShownState state : selection.states) states.emplace_back(state_name(state));
    auto text = [](Time time) { return std::string(trim(date_line(time))); };
    print_info(question.streams, question.invocation,
               fmt::format("Jobs {} in the time window from {} to {}",
                           states.empty() ? "Eligible" : join(states, ","),
                           selection.start ? text(*selection.start) : "Epoch 0",
                           text(selection.end.value_or(question.now))));
}

int refuse(const Question& question, const Error& error) {
    print_accounting_error(question.streams, question.invocation, error);
    return 1;
}

int answer(const Question& question) {
    Result<std::vector<Column>> columns = columns_of(format_of(question));
    if (!columns) {
        print_error(question.streams, question.invocation, columns.error().detail);
        return 1;
    }
    Names names;
    AccountedLooks looks = looks_of(question, names);
    const bool shows_numbers = question.options.json || shows(*columns, "QOSRAW") ||
                               shows(*columns, "WCKeyID") || shows(*columns, "ReservationId");
    if (shows_numbers || !question.options.selection.qos.empty()) {
        const Result<Policy> policy = ask_policy(question.client);
        if (!policy) return refuse(question, policy.error());
        if (!has_known_qos(question, *policy)) return 1;
        if (shows_numbers) {
            const Result<void> added = add_numbers(*policy, question.client, looks);
            if (!added) return refuse(question, added.error());
        }
    }
    if (question.options.verbosity) print_window(question);
    const Result<std::vector<AccountedRun>> runs = fetch_runs(question);
    if (!runs) return refuse(question, runs.error());
    const JobSelection& selection = question.options.selection;
    if (question.options.json) {
        question.streams.out_long(json_text(question, *runs, looks));
    } else if (selection.scripts || selection.environments) {
        question.streams.out_long(stored_texts(question, *runs, looks));
    } else {
        question.streams.out_long(table_text(question, *runs, *columns, looks));
    }
    return 0;
}

}  // namespace

int run_sacct_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    const std::optional<SacctOptions> options = parse_sacct_options(now, invocation, streams);
    if (!options) return 1;
    if (options->ending != SacctEnding::None) return print_ending(options->ending, streams), 0;
    if (!has_configuration(invocation, client, streams)) return 1;
    return answer({now, invocation, *options, client, streams});
}

int run_sacct(const Invocation& invocation, Client& client, Streams& streams) {
    return run_sacct_at(current_time(), invocation, client, streams);
}

}  // namespace sluice
