#include "cli/sbatch/sbatch.h"

#include <fmt/format.h>

#include <thread>

#include "base/text.h"
#include "cli/common/host_file.h"
#include "cli/common/job_setup.h"
#include "cli/common/verbose.h"
#include "model/errors.h"
#include "model/times.h"
#include "os/error.h"
#include "os/files.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "surface/script.h"

namespace sluice {

namespace {

constexpr std::string_view kSubmitting = "Batch job submission failed";

struct Script {
    std::string text;
    std::string name;  // of the job, unless it is given one
    std::string path;  // empty: not a file
};

// What --wrap makes of a command. Compat: sh, whatever the user's shell is.
std::string wrapped(std::string_view command) {
    return fmt::format("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{}\n", command);
}

Result<Script> read_script(const JobOptions& options, const std::vector<std::string>& operands,
                           const Invocation& invocation, Streams& streams) {
    if (options.wrap && !operands.empty()) {
        return Error{ErrorCode::ScriptMissing, "Script arguments not permitted with --wrap option"};
    }
    if (options.wrap) return Script{wrapped(*options.wrap), "wrap", ""};
    if (operands.empty()) return Script{TRY(streams.read_all()), "sbatch", ""};
    std::string path = absolute_path(operands[0], invocation.directory);
    Result<std::string> text = read_file(path);
    if (!text) {
        const std::string reason = text.error().detail.substr(path.size());  // ": Is a directory"
        return Error{ErrorCode::ScriptMissing, fmt::format("Unable to open file {}", operands[0]),
                     operands[0] + reason};
    }
    return Script{std::move(*text), base_name(path), path};
}

struct Submission {
    JobOptions options;
    Script script;
};

// Options from the weakest source to the strongest; the command line is looked at before the
// script, because it says which script.
Result<Submission> read_submission(const Arguments& arguments, const JobOptions& command_line,
                                   const Invocation& invocation, Streams& streams) {
    const Time now = current_time();
    Submission submission;
    submission.script = TRY(read_script(command_line, arguments.operands, invocation, streams));
    const Script& script = submission.script;
    TRY(check_script(script.text));
    JobOptions& options = submission.options;
    const Environment ours = invocation.environment.starting_with('S');  // SLURM_, SBATCH_ ...
    auto find = [&](std::string_view name) { return ours.find(name); };
    const bool ignore_pbs =
        command_line.ignore_pbs || find("SBATCH_IGNORE_PBS").value_or("0") != "0";
    TRY(apply_directives(options, script.text,
                         script.path.empty() ? "script" : arguments.operands[0], ignore_pbs, now));
    TRY(apply_environment(options, find, kSbatch, now));
    TRY(apply_options(options, arguments.options, Source::CommandLine, kSbatch, now));
    TRY(complete_arbitrary(options, invocation.environment));
    TRY(complete_options(options, kSbatch));
    JobRequest& request = options.request;
    request.kind = JobKind::Batch;
    request.command = script.path;
    if (request.name.empty()) request.name = script.name;
    if (arguments.operands.size() > 1) {
        request.script_args.assign(arguments.operands.begin() + 1, arguments.operands.end());
    }
    if (request.std_in == "none" || request.std_in.empty()) request.std_in = "/dev/null";
    if (request.std_out == "none") request.std_out = "/dev/null";
    if (request.std_err == "none") request.std_err = "/dev/null";
    return submission;
}

Result<User> user_for(const std::string& wanted, const Invocation& invocation) {
    if (!invocation.has_name_services) {
        if (std::optional<User> user = find_listed_user(wanted)) return *user;
        return Error{ErrorCode::BadArgument,
                     fmt::format("--uid={}: not in /etc/passwd; other users must be named on the "
                                 "command line, not in the script",
                                 wanted)};
    }
    std::optional<std::uint64_t> number = to_number(wanted);
    std::optional<User> user = number ? find_user(static_cast<uid_t>(*number)) : find_user(wanted);
    if (!user) return Error{ErrorCode::BadArgument, "Invalid --uid specification"};
    return *user;
}

Result<void> set_identity(const JobOptions& options, const Invocation& invocation,
                          wire::SubmitJob& submit) {
    if (!options.as_user.empty()) {
        const User user = TRY(user_for(options.as_user, invocation));
        submit.set_as_user(user.uid);
        submit.set_as_group(user.gid);
    }
    if (!options.as_group.empty()) {
        std::optional<std::uint64_t> number = to_number(options.as_group);
        if (!number || *number > 0xfffffffe) {
            return Error{ErrorCode::BadArgument, "Invalid --gid specification"};
        }
        submit.set_as_group(static_cast<std::uint32_t>(*number));
    }
    return {};
}

Result<wire::Request> request_for(Submission& submission, const Invocation& invocation,
                                  const Config& config) {
    JobOptions& options = submission.options;
    if (submission.script.text.size() > config.max_script_size) {
        return Error{
            ErrorCode::ScriptTooLarge,
            fmt::format(
                "the script has {} bytes, the limit is {} (SchedulerParameters=max_script_size)",
                submission.script.text.size(), config.max_script_size)};
    }
    TRY(describe_submission(options, invocation, config));
    Environment environment = TRY(environment_for_job(options, invocation, kSbatch));
    if (environment.find("SLURM_GET_USER_ENV") == "1") options.request.get_user_env = true;
    wire::Request request;
    wire::SubmitJob& submit = *request.mutable_submit();
    submit.set_request(encode(options.request));
    submit.set_script(std::move(submission.script.text));
    // The steps of the script have it from there.
    if (!options.x11.empty() && options.x11 != "batch") environment.set("SLURM_X11", options.x11);
    submit.set_environment(environment.to_bytes());
    submit.set_idempotency_key(idempotency_key());
    submit.set_test_only(options.test_only);
    TRY(set_identity(options, invocation, submit));
    return request;
}

int wait_for_end(std::uint32_t job, const Invocation& invocation, Client& client,
                 Streams& streams) {
    wire::Request request;
    request.mutable_wait_job()->set_job(job);
    request.mutable_wait_job()->set_until(wire::WaitJob::ENDED);
    Result<wire::Reply> reply = client.call(request);
    if (!reply) {
        print_error(streams, invocation,
                    fmt::format("Unable to wait for job {}: {}", job, to_string(reply.error())));
        return 1;
    }
    const wire::JobAllocation& ended = reply->allocation();
    if (ended.exit().code() != 0) return static_cast<int>(ended.exit().code());
    bool completed = ended.state() == static_cast<std::uint32_t>(JobState::Completed);
    return completed && ended.exit().signal() == 0 ? 0 : 1;
}

// Compat: newer releases have the stray word "a" in this line.
void print_test_only(const wire::Submitted& answer, const Invocation& invocation,
                     Streams& streams) {
    print_info(
        streams, invocation,
        fmt::format("Job {} to start at {} a using {} processors on nodes {} in partition {}",
                    answer.job(), print_moment(from_unix(answer.start_estimate())), answer.cpus(),
                    answer.nodes(), answer.partition()));
}

// Compat: a full queue is waited for, each time a second longer.
Result<wire::Reply> send_patiently(const wire::Request& request, const Invocation& invocation,
                                   Client& client, Streams& streams) {
    constexpr int kTriesMost = 15;
    for (int tries = 1;; ++tries) {
        Result<wire::Reply> reply = client.call(request);
        if (reply || reply.error().code != ErrorCode::QueueFull || tries > kTriesMost) return reply;
        if (tries == 1) print_error(streams, invocation, to_string(reply.error()));
        std::this_thread::sleep_for(Seconds{tries});
    }
}

int submit(Submission& submission, const Invocation& invocation, Client& client, Streams& streams) {
    const JobOptions& options = submission.options;
    Result<const Config*> config = client.config();
    if (!config) {
        print_fatal(streams, invocation, config.error().detail);
        return 1;
    }
    Result<wire::Request> request = request_for(submission, invocation, **config);
    if (!request) return refuse_options(request.error(), kSubmitting, invocation, streams);
    print_defined_options(options, invocation, streams);
    print_warnings(options, invocation, streams);
    Result<wire::Reply> reply = send_patiently(*request, invocation, client, streams);
    if (!reply) {
        print_refusal(streams, invocation, kSubmitting, reply.error());
        return exit_code_for_error(invocation);
    }
    const wire::Submitted& answer = reply->submitted();
    for (const std::string& warning : answer.warnings())
        print_warning(streams, invocation, warning);
    if (options.test_only) {
        print_test_only(answer, invocation, streams);
        return 0;
    }
    if (options.parsable) {
        streams.out(fmt::format("{}\n", answer.job()));
    } else if (!options.quiet) {
        streams.out(fmt::format("Submitted batch job {}\n", answer.job()));
    }
    if (!options.wait) return 0;
    streams.flush();
    return wait_for_end(answer.job(), invocation, client, streams);
}

}  // namespace

int run_sbatch(const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> arguments = parse_job_arguments(kSbatch, invocation.args);
    if (!arguments) return refuse_options(arguments.error(), kSubmitting, invocation, streams);
    if (Result<void> ok = refuse_components(*arguments, kSbatch); !ok) {
        return refuse_options(ok.error(), kSubmitting, invocation, streams);
    }
    print_hints(*arguments, invocation, streams);
    JobOptions command_line;
    Result<void> applied = apply_options(command_line, arguments->options, Source::CommandLine,
                                         kSbatch, current_time());
    if (!applied) return refuse_options(applied.error(), kSubmitting, invocation, streams);
    std::optional<int> told =
        print_help_if_asked(command_line, kSbatch, invocation, client, streams);
    if (told) return *told;
    Result<Submission> submission = read_submission(*arguments, command_line, invocation, streams);
    if (!submission) return refuse_options(submission.error(), kSubmitting, invocation, streams);
    told = list_gres_if_asked(submission->options, invocation, client, streams);
    return told ? *told : submit(*submission, invocation, client, streams);
}

}  // namespace sluice
