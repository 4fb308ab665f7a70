#include "surface/job_options_setters.h"

#include <algorithm>
#include <initializer_list>

#include "model/features.h"
#include "model/mail.h"
#include "model/mpi_kind.h"
#include "model/node_counts.h"
#include "model/times.h"

namespace sluice::job_option {

namespace {

constexpr std::string_view kTimes = "minutes, minutes:seconds, hours:minutes:seconds or days-hours";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return equals_ignoring_case(text, word); });
}

// A refusal of the request itself, as the controller would word it.
Error refused(ErrorCode code) {
    return Error{code, ""};
}

Result<Megabytes> memory_in(const OptionUse& use) {
    Result<Megabytes> memory = parse_memory(use.value);
    if (!memory) return invalid(use, "megabytes, or a number with K, M, G or T after it");
    return memory;
}

Result<std::vector<GresCount>> gpus_in(const OptionUse& use) {
    Result<std::vector<GresCount>> gpus = parse_gpus(use.value);
    if (!gpus) return refused(ErrorCode::InvalidGres);
    return gpus;
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

Error invalid(const OptionUse& use, std::string_view expected) {
    Error error{ErrorCode::BadArgument, fmt::format("Invalid --{} specification", use.option.name)};
    if (use.has_value) error.hint = fmt::format("--{}={}", use.option.name, use.value);
    if (!expected.empty()) error.hint += fmt::format(": expected {}", expected);
    return error;
}

Error invalid_number(const OptionUse& use) {
    return {ErrorCode::InvalidTaskCount,
            fmt::format("Invalid numeric value \"{}\" for --{}.", use.value, use.option.name)};
}

Error unsupported(const OptionUse& use) {
    return {ErrorCode::NotSupported,
            fmt::format("--{}{}{} is not supported by Sluice yet", use.option.name,
                        use.has_value && use.option.set ? "=" : "",
                        use.option.set ? use.value : std::string_view{})};
}

Result<void> set_accepted(JobOptions&, const OptionUse&) {
    return {};
}

Result<void> set_only_none(JobOptions&, const OptionUse& use) {
    if (!is_one_of(use.value, {"none", "no", "off"})) return unsupported(use);
    return {};
}

Result<void> set_array(JobOptions& options, const OptionUse& use) {
    Result<ArraySpec> array = parse_array(use.value);
    if (!array) return refused(ErrorCode::InvalidArray);
    options.request.array = std::move(*array);
    return {};
}

template <auto Member>
Result<void> set_moment(JobOptions& options, const OptionUse& use) {
    Result<Time> time = parse_moment(use.value, use.now);
    if (!time && use.value.empty()) return invalid(use);
    if (!time) {
        Error error = invalid(use);
        error.detail = time.error().detail + "\n" + error.detail;
        return error;
    }
    options.request.*Member = *time;
    return {};
}

Result<void> set_begin(JobOptions& options, const OptionUse& use) {
    return set_moment<&JobRequest::begin>(options, use);
}

Result<void> set_kill_on_invalid_dep(JobOptions& options, const OptionUse& use) {
    if (!is_one_of(use.value, {"yes", "no"})) return invalid(use);
    options.request.kill_on_invalid_dep = is_one_of(use.value, {"yes"});
    return {};
}

Result<void> set_deadline(JobOptions& options, const OptionUse& use) {
    return set_moment<&JobRequest::deadline>(options, use);
}

Result<void> set_constraint(JobOptions& options, const OptionUse& use) {
    Result<FeatureExpression> demand = FeatureExpression::parse(use.value);
    if (!demand) return refused(demand.error().code);
    options.request.shape.constraint = use.value;
    return {};
}

Result<void> set_cpus_per_task(JobOptions& options, const OptionUse& use) {
    TRY(number<&Shape::cpus_per_task>(options, use));
    options.request.shape.cpus_per_task_set = true;
    return {};
}

Result<void> set_exclusive(JobOptions& options, const OptionUse& use) {
    Shape& shape = options.request.shape;
    if (!use.has_value || is_one_of(use.value, {"exclusive", "node"})) {
        shape.exclusive = Exclusive::Node;
        options.exact = use.tool == kSrun;
    } else if (is_one_of(use.value, {"user"})) {
        shape.exclusive = Exclusive::User;
    } else if (use.tool == kSrun && is_one_of(use.value, {"allocation"})) {
        shape.exclusive = Exclusive::Node;
    } else {
        return is_one_of(use.value, {"mcs", "topo"}) ? unsupported(use) : invalid(use);
    }
    return {};
}

// A step of an MPI launcher: it starts daemons beside all other steps of the job.
Result<void> set_external_launcher(JobOptions& options, const OptionUse&) {
    options.overlap = true;
    options.whole = true;
    return {};
}

// The bytes travel through srun, so that a batch script has no display.
Result<void> set_x11(JobOptions& options, const OptionUse& use) {
    const std::string where = to_lower(use.has_value         ? use.value
                                       : use.tool == kSbatch ? "batch"
                                                             : "all");
    if (!is_one_of(where, {"all", "first", "last", "batch"}))
        return invalid(use, "all, first, last or batch");
    options.x11 = where == "batch" && use.tool != kSbatch ? "first" : where;
    return {};
}

Result<void> set_gpus(JobOptions& options, const OptionUse& use) {
    options.request.shape.gpus = TRY(gpus_in(use));
    return {};
}

Result<void> set_gpus_per_node(JobOptions& options, const OptionUse& use) {
    options.gpus_per_node = TRY(gpus_in(use));
    return {};
}

Result<void> set_gpus_per_task(JobOptions& options, const OptionUse& use) {
    options.request.shape.gpus_per_task = TRY(gpus_in(use));
    return {};
}

Result<void> set_gres(JobOptions& options, const OptionUse& use) {
    // Compat: "help" is answered even if a source of higher precedence gives another value.
    if (use.value == "help") {
        options.gres_help = true;
        return {};
    }
    Result<std::vector<GresCount>> gres = parse_gres(use.value);
    if (!gres) return refused(ErrorCode::InvalidGres);
    options.gres = std::move(*gres);
    return {};
}

Result<void> set_immediate(JobOptions& options, const OptionUse& use) {
    if (!use.has_value) {
        options.request.immediate = true;
        return {};
    }
    std::optional<std::uint64_t> seconds = to_number(use.value);
    if (!seconds || *seconds > std::numeric_limits<std::int32_t>::max()) return invalid_number(use);
    options.immediate_for = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

Result<void> set_job_id(JobOptions& options, const OptionUse& use) {
    Result<JobRef> ref = parse_job_ref(use.value);
    if (!ref || ref->step || ref->het_component) return invalid(use);
    options.job_id = use.value;
    return {};
}

Result<void> set_kill_command(JobOptions& options, const OptionUse& use) {
    Result<int> signal = parse_signal(use.has_value ? use.value : "TERM");
    if (!signal) return invalid(use);
    options.kill_command = *signal;
    return {};
}

Result<void> set_kill_on_bad_exit(JobOptions& options, const OptionUse& use) {
    if (use.has_value && !is_one_of(use.value, {"0", "1"})) return invalid_number(use);
    options.kill_on_bad_exit = use.value != "0";
    return {};
}

Result<void> set_mail_type(JobOptions& options, const OptionUse& use) {
    std::optional<std::string> types = parse_mail_types(use.value);
    if (!types) return invalid(use);
    options.request.mail_types = *std::move(types);
    return {};
}

Result<void> set_mail_user(JobOptions& options, const OptionUse& use) {
    if (!is_mail_address(use.value)) return invalid(use);
    options.request.mail_user = use.value;
    return {};
}

Result<void> set_mem(JobOptions& options, const OptionUse& use) {
    options.request.shape.mem_per_node = TRY(memory_in(use));
    return {};
}

Result<void> set_mem_per_cpu(JobOptions& options, const OptionUse& use) {
    options.request.shape.mem_per_cpu = TRY(memory_in(use));
    return {};
}

Result<void> set_mem_per_gpu(JobOptions& options, const OptionUse& use) {
    options.request.shape.mem_per_gpu = TRY(memory_in(use));
    return {};
}

Result<void> set_mpi(JobOptions& options, const OptionUse& use) {
    options.mpi_list = use.value == "list";
    if (options.mpi_list) return {};
    if (is_mpi_kind(use.value)) {
        options.mpi = use.value;
        return {};
    }
    if (use.value == "cray_shasta" || use.value.starts_with("pmix_")) return unsupported(use);
    return Error{ErrorCode::InvalidTaskCount,
                 fmt::format("Invalid MPI type '{}', --mpi=list for acceptable types", use.value)};
}

Result<void> set_nice(JobOptions& options, const OptionUse& use) {
    constexpr std::int32_t kDefault = 100;
    constexpr std::uint64_t kMax = 2147483645;
    if (!use.has_value) {
        options.request.nice = kDefault;
        return {};
    }
    bool negative = use.value.starts_with('-');
    std::optional<std::uint64_t> value = to_number(without_prefix(use.value, negative ? "-" : "+"));
    if (!value || *value > kMax) return invalid_number(use);
    options.request.nice = static_cast<std::int32_t>(*value) * (negative ? -1 : 1);
    return {};
}

Result<void> set_no_kill(JobOptions& options, const OptionUse& use) {
    if (use.has_value && !is_one_of(use.value, {"off", "no"})) return invalid(use);
    options.request.kill_on_node_fail = use.has_value;
    return {};
}

Result<void> set_nodes(JobOptions& options, const OptionUse& use) {
    Shape& shape = options.request.shape;
    WantedNodes counts = TRY(parse_node_counts(use.value));
    shape.nodes_min = counts.min;
    shape.nodes_max = counts.max;
    shape.node_sizes = std::move(counts.sizes);
    options.nodes_given = shape.nodes_min;
    return {};
}

Result<void> set_open_mode(JobOptions& options, const OptionUse& use) {
    if (is_one_of(use.value, {"append", "a"})) {
        options.request.open_mode = OpenMode::Append;
    } else if (is_one_of(use.value, {"truncate", "t"})) {
        options.request.open_mode = OpenMode::Truncate;
    } else {
        return invalid(use);
    }
    return {};
}

Result<void> set_prefer(JobOptions& options, const OptionUse& use) {
    Result<FeatureExpression> demand = FeatureExpression::parse(use.value);
    if (!demand || !demand->counted.empty()) return refused(ErrorCode::InvalidPrefer);
    options.request.shape.prefer = use.value;
    return {};
}

Result<void> set_priority(JobOptions& options, const OptionUse& use) {
    std::optional<std::uint64_t> value = to_number(use.value);
    constexpr std::uint64_t kMax = 0xfffffffd;
    if (equals_ignoring_case(use.value, "TOP")) value = kMax;
    if (!value || *value > kMax) return invalid_number(use);
    options.request.priority = static_cast<std::uint32_t>(*value);
    return {};
}

Result<void> set_propagate(JobOptions& options, const OptionUse& use) {
    options.propagate = use.has_value ? std::string(use.value) : "ALL";
    return {};
}

Result<void> set_requeue(JobOptions& options, const OptionUse& use) {
    // Compat: as where SlurmctldParameters lacks enable_expedited_requeue.
    if (use.has_value && equals_ignoring_case(use.value, "expedite")) {
        return refused(ErrorCode::NotSupported);
    }
    if (use.has_value) return invalid(use);
    options.request.requeue = true;
    options.request.requeue_set = true;
    return {};
}

Result<void> set_no_requeue(JobOptions& options, const OptionUse&) {
    options.request.requeue = false;
    options.request.requeue_set = true;
    return {};
}

Result<void> set_signal(JobOptions& options, const OptionUse& use) {
    Result<WarnSignal> signal = parse_warn_signal(use.value);
    if (!signal) return invalid(use);
    options.request.warn_signal = *signal;
    return {};
}

Result<void> set_time(JobOptions& options, const OptionUse& use) {
    Result<TimeLimit> limit = parse_job_time_limit(use.value);
    if (!limit) return invalid(use, kTimes);
    bool is_zero = !limit->unlimited() && limit->length() == Seconds{0};
    options.request.time_limit = is_zero ? TimeLimit() : *limit;  // Compat: --time=0 is unlimited
    return {};
}

Result<void> set_time_min(JobOptions& options, const OptionUse& use) {
    Result<TimeLimit> limit = parse_job_time_limit(use.value);
    if (!limit) return invalid(use, kTimes);
    options.request.time_min = *limit;
    return {};
}

Result<void> set_tmp(JobOptions& options, const OptionUse& use) {
    options.request.shape.tmp_min = TRY(memory_in(use));
    return {};
}

// "cpu=4,gres/gpu:h100=1"; the colon form of the counts is taken too.
Result<void> set_tres_per_task(JobOptions& options, const OptionUse& use) {
    Shape& shape = options.request.shape;
    std::vector<GresCount> demanded;
    for (std::string_view word : split(use.value, ',')) {
        if (word.starts_with("cpu=") || word.starts_with("cpu:")) {
            std::optional<std::uint64_t> cpus = to_number(word.substr(4));
            if (!cpus || *cpus == 0 || *cpus > 65535) return invalid(use);
            shape.cpus_per_task = static_cast<std::uint32_t>(*cpus);
            shape.cpus_per_task_set = true;
        } else if (word.starts_with("gres/") || word.starts_with("gres:")) {
            const bool has_count = word.find_first_of(":=", 5) != std::string_view::npos;
            Result<std::vector<GresCount>> gres = parse_gres(word);
            if (!has_count || !gres || gres->empty()) return invalid(use);
            demanded.push_back(gres->front());
        } else {
            return unsupported(use);
        }
    }
    if (!demanded.empty()) shape.gpus_per_task = std::move(demanded);
    return {};
}

Result<void> set_verbose(JobOptions& options, const OptionUse& use) {
    std::uint64_t count = use.has_value ? to_number(use.value).value_or(1) : 1;
    options.verbose += static_cast<unsigned>(std::min<std::uint64_t>(count, 9));
    return {};
}

// srun --wait=60: seconds from the first task's end until the others are killed; 0 waits for ever.
Result<void> set_wait(JobOptions& options, const OptionUse& use) {
    if (use.tool == kSbatch) {
        options.wait = true;
        return {};
    }
    std::optional<std::uint64_t> seconds = to_number(use.value);
    if (!seconds || *seconds > std::numeric_limits<std::int32_t>::max()) return invalid_number(use);
    options.wait_after_first_exit = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

// Nodes are allocated when they are up, so no job has to wait for them.
Result<void> set_wait_all_nodes(JobOptions&, const OptionUse& use) {
    if (!is_one_of(use.value, {"0", "1"})) return invalid(use);
    return {};
}

Result<void> set_wrap(JobOptions& options, const OptionUse& use) {
    options.wrap = std::string(use.value);
    return {};
}

}  // namespace sluice::job_option
