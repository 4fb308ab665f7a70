#include "model/mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"

namespace sluice {

namespace {

struct Row {
    MailType type;
    std::string_view name;
    std::string_view word;
    bool in_all = false;
    bool is_word = true;  // of --mail-type
};

// Compat: listed in this order, whatever was typed.
constexpr Row kRows[] = {
    {MailType::ArrayTasks, "ARRAY_TASKS", ""},
    {MailType::InvalidDepend, "INVALID_DEPEND", "Invalid dependency", true},
    {MailType::Begin, "BEGIN", "Began", true},
    {MailType::End, "END", "Ended", true},
    {MailType::Fail, "FAIL", "Failed", true},
    {MailType::Requeue, "REQUEUE", "Requeued", true},
    {MailType::StageOut, "STAGE_OUT", "", true},  // never sent without burst buffers
    {MailType::TimeLimit50, "TIME_LIMIT_50", "Reached 50% of time limit"},
    {MailType::TimeLimit80, "TIME_LIMIT_80", "Reached 80% of time limit"},
    {MailType::TimeLimit90, "TIME_LIMIT_90", "Reached 90% of time limit"},
    {MailType::TimeLimit, "TIME_LIMIT", "Reached time limit"},
    {MailType::GpusIdle, "", "Idle GPUs", false, false},
    {MailType::GpusHung, "", "Hung", false, false},
};

const Row& row_of(MailType type) {
    return kRows[static_cast<std::size_t>(type)];
}

bool names(std::string_view types, const Row& row) {
    if (!row.is_word) return false;
    const auto words = split(types, ',');
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return equals_ignoring_case(word, row.name) ||
               (row.in_all && equals_ignoring_case(word, "ALL"));
    });
}

bool is_known(std::string_view word) {
    return std::any_of(std::begin(kRows), std::end(kRows),
                       [&](const Row& row) { return names(word, row); });
}

// The rows that `types` names, except one.
std::string print_types(std::string_view types, std::optional<MailType> except) {
    std::string printed;
    for (const Row& row : kRows) {
        if (row.type == except || !names(types, row)) continue;
        if (!printed.empty()) printed += ',';
        printed += row.name;
    }
    return printed;
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_safe(char c) {
    return is_letter_or_digit(c) || std::string_view("@._-+=%~").find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::string> parse_mail_types(std::string_view text) {
    bool is_none = false;
    for (std::string_view word : split(text, ',')) {
        const bool says_none = equals_ignoring_case(word, "NONE");
        if (!says_none && !is_known(word)) return {};
        is_none = is_none || says_none;
    }
    return is_none ? std::string() : print_types(text, {});
}

bool has_mail_type(std::string_view types, MailType type) {
    return !types.empty() && names(types, row_of(type));
}

std::string without_mail_type(std::string_view types, MailType type) {
    return print_types(types, type);
}

std::string_view mail_word(MailType type) {
    return row_of(type).word;
}

bool is_mail_address(std::string_view text) {
    const auto addresses = split(text, ',');
    return std::all_of(addresses.begin(), addresses.end(), [](std::string_view address) {
        return !address.empty() && (is_letter_or_digit(address[0]) || address[0] == '_') &&
               std::all_of(address.begin(), address.end(), is_safe);
    });
}

bool has_failed(JobState state) {
    return state != JobState::Completed && state != JobState::Cancelled;
}

// Compat: a job that was ended from outside counts as killed.
void TaskEndings::add(const Job& job) {
    const bool was_ended = job.state == JobState::Cancelled || job.run.kill_reason;
    const std::uint8_t signal = was_ended ? SIGKILL : job.run.exit.signal;
    const std::uint8_t code = was_ended ? 0 : job.run.exit.code;
    exit_min = std::min(exit_min, code);
    exit_max = std::max(exit_max, code);
    signal_max = std::max(signal_max, signal);
    has_failed = has_failed || sluice::has_failed(job.state);
}

std::string TaskEndings::print() const {
    std::string printed;
    if (signal_max > 0) {
        printed = exit_max > 0 ? fmt::format("Mixed, MaxExitCode [{}]", exit_max)
                               : fmt::format("Mixed, MaxSignal [{}]", signal_max);
    } else {
        const char* state = exit_max == 0 ? "COMPLETED" : exit_min > 0 ? "FAILED" : "Mixed";
        printed = fmt::format("{}, ExitCode [{}-{}]", state, exit_min, exit_max);
    }
    return is_requeued ? printed + ", with requeued tasks" : printed;
}

}  // namespace sluice
