// Setters of options about the layout on nodes: sockets, cores, threads, switches.
#include <algorithm>
#include <array>

#include "model/distribution.h"
#include "model/gpu_bind.h"
#include "model/gpu_freq.h"
#include "model/sampling.h"
#include "model/times.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

namespace {

// "4", or "*" for any number, which is nothing.
Result<std::optional<std::uint32_t>> part_of_layout(std::string_view text, std::string_view place) {
    if (text == "*") return std::optional<std::uint32_t>{};
    std::optional<std::uint64_t> value = to_number(text);
    if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max()) {
        return Error{ErrorCode::InvalidCpuCount,
                     fmt::format("Invalid numeric value \"{}\" for {} arg of -B.", text, place)};
    }
    return std::optional(static_cast<std::uint32_t>(*value));
}

}  // namespace

Result<void> set_extra_node_info(JobOptions& options, const OptionUse& use) {
    constexpr std::array<std::string_view, 3> kPlaces = {"first", "second", "third"};
    Shape& shape = options.request.shape;
    std::vector<std::string_view> parts = split(use.value, ':');
    if (parts.size() > kPlaces.size()) return invalid(use);
    std::array<std::optional<std::uint32_t>, 3> values;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        values[i] = TRY(part_of_layout(parts[i], kPlaces[i]));
    }
    shape.sockets_per_node = values[0];
    shape.cores_per_socket = values[1];
    shape.threads_per_core = values[2];
    shape.one_thread_per_core = values[2] == 1u;
    return {};
}

// Compat: one thread per core is also how many a core's CPUs are used, not only how many it has.
Result<void> set_threads_per_core(JobOptions& options, const OptionUse& use) {
    TRY(number<&Shape::threads_per_core>(options, use));
    options.request.shape.one_thread_per_core = options.request.shape.threads_per_core == 1u;
    return {};
}

// A step that inherits "plane" in a variable finds its size in another one, which was read before.
Result<void> set_distribution(JobOptions& options, const OptionUse& use) {
    if (use.value == "plane" && options.distribution.starts_with("plane=")) return {};
    Result<std::string> distribution = parse_distribution(use.value);
    if (!distribution) {
        Error error = invalid(use);
        const std::string& why = distribution.error().detail;
        if (!why.empty()) error.detail = fmt::format("{}\n{}", why, error.detail);
        return error;
    }
    options.distribution = *std::move(distribution);
    return {};
}

Result<void> set_relative(JobOptions& options, const OptionUse& use) {
    std::optional<std::uint64_t> first = to_number(use.value);
    if (!first || *first > std::numeric_limits<std::int32_t>::max()) return invalid_number(use);
    options.relative = static_cast<std::uint32_t>(*first);
    return {};
}

Result<void> set_core_spec(JobOptions& options, const OptionUse& use) {
    std::optional<std::uint64_t> cores = to_number(use.value);
    if (!cores || *cores > 65535) return invalid_number(use);
    options.request.shape.core_spec = static_cast<std::uint32_t>(*cores);
    return {};
}

Result<void> set_gres_flags(JobOptions& options, const OptionUse& use) {
    Shape& shape = options.request.shape;
    for (std::string_view text : split(use.value, ',')) {
        const std::string word = to_lower(trim(text));
        if (word == "enforce-binding" || word == "disable-binding") {
            shape.bind_gpus_to_cores = word == "enforce-binding";
            shape.unbind_gpus = !shape.bind_gpus_to_cores;
        } else if (word == "one-task-per-sharing" || word == "multiple-tasks-per-sharing") {
            shape.one_task_per_gpu = word == "one-task-per-sharing";
        } else {
            return word == "allow-task-sharing" ? unsupported(use) : invalid(use);
        }
    }
    return {};
}

// "2", "2@30" (minutes), "@30" from SBATCH_WAIT4SWITCH. Compat: without a time the controller's
// max_switch_wait counts, which also cuts longer ones.
Result<void> set_switches(JobOptions& options, const OptionUse& use) {
    constexpr Seconds kAsLongAsAllowed{365 * 24 * 3600};
    Shape& shape = options.request.shape;
    const std::size_t at = use.value.find('@');
    std::string_view text = use.value.substr(0, at);
    std::optional<std::uint64_t> count = to_number(text);
    if (at != 0) {
        if (!count || *count == 0 || *count > 65535) {
            return Error{ErrorCode::InvalidNodeCount,
                         fmt::format("Invalid numeric value \"{}\" for --switches.", text)};
        }
        shape.switches_max = static_cast<std::uint32_t>(*count);
    }
    if (at == std::string_view::npos) {
        if (shape.switches_wait == Seconds{0}) shape.switches_wait = kAsLongAsAllowed;
        return {};
    }
    Result<TimeLimit> wait = parse_time_limit(use.value.substr(at + 1));
    if (!wait) return invalid(use);
    shape.switches_wait = wait->unlimited() ? kAsLongAsAllowed : wait->length();
    return {};
}

Result<void> set_gpus_per_socket(JobOptions& options, const OptionUse& use) {
    Result<std::vector<GresCount>> gpus = parse_gpus(use.value);
    if (!gpus) return Error{ErrorCode::InvalidGres, ""};
    options.request.shape.gpus_per_socket = *std::move(gpus);
    return {};
}

// Kept as --tres-bind writes it.
Result<void> set_gpu_bind(JobOptions& options, const OptionUse& use) {
    if (!parse_gpu_bind(use.value)) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Invalid --gpu-bind argument: gpu:{}", use.value)};
    }
    options.request.tres_bind = fmt::format("gres/gpu:{}", use.value);
    return {};
}

Result<void> set_acctg_freq(JobOptions& options, const OptionUse& use) {
    TRY(parse_task_sampling(use.value));
    options.request.acctg_freq = use.value;
    return {};
}

// Kept as it is shown: TresFreq=gpu:medium.
Result<void> set_gpu_freq(JobOptions& options, const OptionUse& use) {
    TRY(parse_gpu_freq(use.value));
    options.request.tres_freq = fmt::format("gpu:{}", use.value);
    return {};
}

Result<void> set_tres_bind(JobOptions& options, const OptionUse& use) {
    Result<GpuBind> bind = parse_tres_bind(use.value);
    if (!bind && bind.error().code == ErrorCode::NotSupported) return unsupported(use);
    if (!bind) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Invalid --tres-bind argument: {}", use.value)};
    }
    std::string_view way = use.value.substr(use.value.find("gpu:") + 4);
    options.request.tres_bind = fmt::format("gres/gpu:{}", way);
    return {};
}

}  // namespace sluice::job_option
