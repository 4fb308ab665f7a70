// model/mail.h
//
// The mail types that a user asks for (--mail-type), and valid addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.h"

namespace sluice {

enum class MailType : std::uint8_t {
    ArrayTasks,
    InvalidDepend,
    Begin,
    End,
    Fail,
    Requeue,
    StageOut,
    TimeLimit50,
    TimeLimit80,
    TimeLimit90,
    TimeLimit,
    // Sent in any case (core/job/gpu_policy.h): no words of --mail-type.
    GpusIdle,
    GpusHung,
};

// "end,ALL" as it is stored and shown: "INVALID_DEPEND,BEGIN,END,...". Nothing: an unknown word.
std::optional<std::string> parse_mail_types(std::string_view text);
bool has_mail_type(std::string_view types, MailType type);
std::string without_mail_type(std::string_view types, MailType type);
std::string_view mail_word(MailType type);  // the word for the event in the subject: "Began"

// Comma separated names or addresses, and nothing that a mail program might interpret as an option,
// a file or a command: it runs with the controller's rights.
bool is_mail_address(std::string_view text);

// How the tasks of an array ended, in total.
struct TaskEndings {
    std::uint8_t exit_min = 255, exit_max = 0;
    std::uint8_t signal_max = 0;
    bool has_failed = false;  // at least one of them
    bool is_requeued = false;

    void add(const Job& job);
    std::string print() const;  // "Mixed, ExitCode [0-2]"
    bool operator==(const TaskEndings&) const = default;
};

bool has_failed(JobState state);  // for mail: being cancelled is not a failure

}  // namespace sluice
