// cli/sacctmgr/modify_jobs.cc
//
// modify job where jobid=LIST set AdminComment=TEXT: notes on jobs that have ended.
#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/sacctmgr/commands.h"
#include "model/accounting_order.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/times.h"
#include "os/user.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

// An error's detail is the complete text.
Error wrong(std::string text) {
    return {ErrorCode::BadArgument, std::move(text)};
}

Result<void> add_jobs(JobSelection& selection, const std::string& list) {
    for (const std::string& word : split_list(list)) {
        if (!parse_job_ref(word)) return wrong("Bad job/step specified: " + word);
        selection.jobs.push_back(word);
    }
    return {};
}

Result<void> add_users(JobSelection& selection, const std::string& list) {
    for (const std::string& word : split_list(list)) {
        const std::optional<User> user = find_user(word);
        if (!user) return wrong("Invalid user id: " + word);
        selection.users.push_back(UserId{user->uid});
    }
    return {};
}

template <std::vector<std::string> JobSelection::*Member>
Result<void> add_names(JobSelection& selection, const std::string& list) {
    for (std::string& word : split_list(list)) (selection.*Member).push_back(std::move(word));
    return {};
}

template <std::optional<Time> JobSelection::*Member>
Result<void> set_time(JobSelection& selection, const std::string& text) {
    selection.*Member = TRY(parse_moment(
        text, std::chrono::floor<Seconds>(std::chrono::system_clock::now()), PassedTime::IsMeant));
    return {};
}

struct Condition {
    std::string_view word;
    std::size_t least;
    Result<void> (*add)(JobSelection& selection, const std::string& value);
};
constexpr Condition kConditions[] = {
    {"clusters", 1, add_names<&JobSelection::clusters>},
    {"endtime", 1, set_time<&JobSelection::end>},
    {"jobids", 1, add_jobs},
    {"starttime", 1, set_time<&JobSelection::start>},
    {"users", 1, add_users},
    {"wckeys", 1, add_names<&JobSelection::wckeys>},
};

template <std::optional<std::string> JobNotes::*Member>
Result<void> set_text(JobNotes& notes, const std::string& value) {
    notes.*Member = value;
    return {};
}

Result<void> set_exit(JobNotes& notes, const std::string& value) {
    const std::optional<std::uint64_t> number = to_number(value);
    if (!number || *number > 255) {
        return wrong(fmt::format("Invalid value for DerivedExitCode ({})", value));
    }
    notes.derived_exit = static_cast<std::uint8_t>(*number);
    return {};
}

struct Setting {
    std::string_view word;
    std::size_t least;
    Result<void> (*set)(JobNotes& notes, const std::string& value);
};
constexpr Setting kSettings[] = {
    {"admincomment", 2, set_text<&JobNotes::admin_comment>},
    {"comment", 1, set_text<&JobNotes::comment>},
    {"derivedexitcode", 1, set_exit},
    {"derivedec", 1, set_exit},
    {"newwckey", 1, set_text<&JobNotes::wckey>},
    {"systemcomment", 1, set_text<&JobNotes::system_comment>},
};

Result<AccountingOrder> read_words(const std::vector<std::string>& words) {
    AccountingOrder order;
    order.kind = AccountingOrder::Kind::ModifyJobs;
    bool is_setting = false;
    for (const std::string& word : words) {
        if (means(word, "where", 5) || means(word, "set", 3)) {
            is_setting = means(word, "set", 3);
            continue;
        }
        const std::size_t at = std::min(word.find('='), word.size());
        const std::string key = word.substr(0, at);
        const std::string value = at < word.size() ? word.substr(at + 1) : "";
        bool is_known = false;
        if (is_setting) {
            for (const Setting& row : kSettings) {
                if (is_known || !means(key, row.word, row.least)) continue;
                TRY(row.set(order.notes, value));
                is_known = true;
            }
            if (!is_known)
                return wrong(" Unknown option: " + word +
                             "\n Use keyword 'where' to modify condition");
        } else {
            for (const Condition& row : kConditions) {
                if (is_known || !means(key, row.word, row.least)) continue;
                TRY(row.add(order.jobs, value));
                is_known = true;
            }
            if (!is_known)
                return wrong(" Unknown condition: " + word +
                             "\n Use keyword 'set' to modify value");
        }
    }
    return order;
}

Result<std::string> send(AccountingCommand& command, const AccountingOrder& order) {
    wire::Request request;
    field_codec::put_fields(order, *request.mutable_accounting_order());
    const wire::Reply reply = TRY(command.client.call(request));
    std::string summary;
    for (const std::string& row : reply.rows().rows()) {
        AccountedJob job;
        TRY(field_codec::get_fields(row, job));
        summary += fmt::format("  {} submitted at {}\n", job.job.value, print_moment(job.submit));
    }
    return summary;
}

int report(const AccountingCommand& command, const Error& error) {
    if (error.code == ErrorCode::AccessDenied) {
        command.fail(error.detail.empty()
                         ? "Your user doesn't have privilege to perform this action"
                         : error.detail);
        return command.say(fmt::format("Error with request: {}", text_of(error.code)));
    }
    if (!error.detail.starts_with(' '))
        return command.fail(error.code == ErrorCode::BadArgument ? error.detail : to_string(error));
    command.streams.err(error.detail + "\n");
    return 1;
}

}  // namespace

int modify_jobs(AccountingCommand& command) {
    if (command.read_only) return command.fail("Can't run this command in readonly mode.");
    command.words.erase(command.words.begin());
    Result<AccountingOrder> order = read_words(command.words);
    if (!order) return report(command, order.error());
    if (order->notes == JobNotes{}) return command.say("You didn't give me anything to set");
    order->only_check = !command.immediate;
    const Result<std::string> first = send(command, *order);
    if (!first) return report(command, first.error());
    if (first->empty()) return command.say("Nothing modified");
    if (!command.quiet) command.streams.out(" Modified jobs...\n" + *first);
    if (command.immediate) return 0;
    if (!command.is_agreed(kCommitQuestion)) {
        command.streams.out(" Changes Discarded\n");
        return 0;
    }
    order->only_check = false;
    const Result<std::string> made = send(command, *order);
    return made ? 0 : report(command, made.error());
}

}  // namespace sluice
