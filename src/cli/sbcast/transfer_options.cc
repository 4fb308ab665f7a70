#include "cli/sbcast/transfer_options.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/sbcast/cast_stream.h"
#include "cli/sstat/ask.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr std::uint64_t kFanoutMax = 64;
constexpr std::uint64_t kTimeoutMax = 86400;
constexpr std::size_t kBlockMin = 4096;

Error bad(std::string_view option, const std::string& value, std::string_view expected) {
    return {ErrorCode::BadArgument, fmt::format("--{}={}: expected {}", option, value, expected)};
}

// "512k", "4m", "100000": rounded into the range that makes sense.
Result<std::size_t> parse_block(const std::string& text) {
    std::string_view digits = text;
    std::uint64_t unit = 1;
    const char last = digits.empty() ? ' ' : to_lower(digits.substr(digits.size() - 1))[0];
    if (last == 'k' || last == 'm') {
        unit = last == 'k' ? 1024 : 1024 * 1024;
        digits.remove_suffix(1);
    }
    const std::optional<std::uint64_t> number = to_number(digits);
    if (!number || *number == 0 || *number > (std::uint64_t{1} << 40))
        return bad("size", text, "a number of bytes, which k or m may follow");
    return std::clamp<std::size_t>(*number * unit, kBlockMin, kCastBlockMax);
}

Result<std::uint32_t> parse_fanout(const std::string& text) {
    if (equals_ignoring_case(text, "off")) return 0u;
    const std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number == 0 || *number > kFanoutMax)
        return bad("treewidth", text, "a number from 1 to 64, or off");
    return static_cast<std::uint32_t>(*number);
}

Result<void> set_value(TransferOptions& options, std::size_t id, const std::string& value) {
    switch (id) {
        case kCompress:
            options.compress = value.empty() ? "lz4" : to_lower(value);
            if (options.compress != "lz4" && options.compress != "none")
                return bad("compress", value, "lz4 or none");
            return {};
        case kFanout:
            options.fanout = TRY(parse_fanout(value));
            return {};
        case kJob: {
            const Result<JobRef> job = parse_job_ref(value);
            if (!job) return bad("jobid", value, "JOB or JOB.STEP");
            options.job = *job;
            return {};
        }
        case kSendLibs: {
            const std::string word = to_lower(value);
            if (!word.empty() && word != "yes" && word != "no")
                return bad("send-libs", value, "yes or no");
            options.send_libs = word != "no";
            return {};
        }
        case kSize:
            options.block = TRY(parse_block(value));
            return {};
        case kTimeout: {
            const std::optional<std::uint64_t> seconds = to_number(value);
            if (!seconds || *seconds == 0 || *seconds > kTimeoutMax)
                return bad("timeout", value, "a number of seconds");
            options.timeout = std::chrono::seconds(*seconds);
            return {};
        }
        case kNoAllocation:
            return Error{ErrorCode::NotSupported,
                         "--no-allocation is not supported by Sluice: files are received by "
                         "processes of a job"};
        default:
            return {};
    }
}

void set_flag_or_text(TransferOptions& options, std::size_t id, const std::string& value) {
    switch (id) {
        case kExclude:
            options.exclude = value;
            break;
        case kForce:
            options.force = true;
            break;
        case kKeep:
            options.keep = true;
            break;
        case kNodeList:
            options.nodes = value;
            break;
        case kPreserve:
            options.preserve = true;
            break;
        case kTellMore:
            options.verbose = true;
            break;
        default:
            break;
    }
}

}  // namespace

Result<TransferOptions> transfer_options(const Arguments& given, const Invocation& invocation) {
    TransferOptions options;
    for (const GivenOption& each : given.options) {
        const std::string value = each.value.value_or("");
        TRY(set_value(options, each.id, value));
        set_flag_or_text(options, each.id, value);
    }
    if (given.operands.size() != 2) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Need two file names, have {} names", given.operands.size())};
    }
    options.source = given.operands[0];
    options.destination = given.operands[1];
    if (!options.job) {
        const std::optional<std::string_view> job = invocation.environment.find("SLURM_JOB_ID");
        if (!job) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("Command only valid from within a Slurm job: use {} -j JOB",
                                     invocation.tool)};
        }
        options.job = TRY(parse_job_ref(*job));
    }
    return options;
}

Result<TransferNodes> nodes_of_transfer(const TransferOptions& options,
                                        const Invocation& invocation, Client& client) {
    std::optional<Hostlist> wanted;
    if (!options.nodes.empty()) wanted = TRY(Hostlist::parse(options.nodes));
    TransferNodes result;
    result.job = options.job->job.value;
    if (options.job->step || options.job->tasks) {
        const Looks looks = looks_for(invocation, client, current_time());
        for (const RunningStep& step : TRY(fetch_steps(client, *options.job, looks))) {
            if (options.job->step && step.step != *options.job->step) continue;
            result.job = step.job.value;
            if (options.job->step && !wanted) wanted = TRY(Hostlist::parse(step.nodes));
        }
        if (options.job->step && !wanted) return Error{ErrorCode::InvalidStepId, ""};
    }
    wire::Request request;
    request.set_job_allocation(result.job);
    const wire::Reply reply = TRY(client.call(request));
    for (const wire::NodeAddress& node : reply.allocation().addresses()) {
        if (!wanted || wanted->contains(node.name())) result.names.push_back(node.name());
    }
    if (result.names.empty() ||
        (wanted && !options.nodes.empty() && result.names.size() != wanted->size())) {
        return Error{ErrorCode::InvalidNodeName,
                     fmt::format("{}: not nodes of job {}", options.nodes, result.job)};
    }
    return result;
}

}  // namespace sluice
