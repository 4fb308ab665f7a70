#include "model/validate.h"

#include <fmt/format.h>

#include <cstdlib>

#include "model/errors.h"
#include "model/license.h"
#include "model/sizes.h"

namespace sluice {

namespace {

template <typename Owner>
struct TextRule {
    std::string_view name;  // of the option
    std::string Owner::*member;
    std::size_t most;
};

constexpr TextRule<JobTerms> kTermRules[] = {
    {"partition", &JobTerms::partition, sizes::kWord},
    {"account", &JobTerms::account, sizes::kWord},
    {"qos", &JobTerms::qos, sizes::kWord},
    {"wckey", &JobTerms::wckey, sizes::kWord},
    {"reservation", &JobTerms::reservation, sizes::kWord},
    {"licenses", &JobTerms::licenses, sizes::kWord},
    {"mail-user", &JobTerms::mail_user, sizes::kWord},
    {"mail-type", &JobTerms::mail_types, sizes::kWord},
    {"submit host", &JobTerms::submit_host, sizes::kWord},
    {"tres-bind", &JobTerms::tres_bind, sizes::kWord},
    {"gpu-freq", &JobTerms::tres_freq, sizes::kWord},
};

constexpr TextRule<JobDetails> kDetailRules[] = {
    {"job-name", &JobDetails::name, sizes::kWord},
    {"comment", &JobDetails::comment, sizes::kWord},
    {"dependency", &JobDetails::dependency, sizes::kDependency},
    {"chdir", &JobDetails::work_dir, sizes::kPath},
    {"input", &JobDetails::std_in, sizes::kPath},
    {"output", &JobDetails::std_out, sizes::kPath},
    {"error", &JobDetails::std_err, sizes::kPath},
    {"script", &JobDetails::command, sizes::kPath},
    {"submit line", &JobDetails::submit_line, sizes::kSubmitLine},
    {"script hash", &JobDetails::script_hash, sizes::kKey},
    {"environment hash", &JobDetails::environment_hash, sizes::kKey},
};

constexpr TextRule<Shape> kShapeRules[] = {
    {"nodes", &Shape::node_sizes, sizes::kWord},
    {"constraint", &Shape::constraint, sizes::kFeatures},
    {"prefer", &Shape::prefer, sizes::kFeatures},
    {"nodelist", &Shape::nodelist, sizes::kNodeList},
    {"exclude", &Shape::exclude, sizes::kNodeList},
};

constexpr TextRule<Step> kStepRules[] = {
    {"step name", &Step::name, sizes::kWord},
    {"tres-bind", &Step::tres_bind, sizes::kWord},
};

// node_names is made by the controller and as long as the cluster makes it.
constexpr TextRule<Reservation> kReservationRules[] = {
    {"ReservationName", &Reservation::name, sizes::kWord},
    {"PartitionName", &Reservation::partition, sizes::kWord},
    {"Features", &Reservation::features, sizes::kFeatures},
    {"Licenses", &Reservation::licenses, sizes::kWord},
    {"Comment", &Reservation::comment, sizes::kWord},
};

constexpr TextRule<Qos> kQosRules[] = {
    {"QOS name", &Qos::name, sizes::kWord},
    {"Description", &Qos::description, sizes::kWord},
    {"PreemptMode", &Qos::preempt_mode, sizes::kWord},
};

template <typename Owner, std::size_t Count>
Result<void> validate_rules(const TextRule<Owner> (&rules)[Count], const Owner& owner) {
    for (const TextRule<Owner>& rule : rules) {
        TRY(validate_text(rule.name, owner.*rule.member, rule.most));
    }
    return {};
}

struct CountRule {
    std::string_view name;
    std::optional<std::uint32_t> Shape::*member;
};

constexpr CountRule kCountRules[] = {
    {"nodes", &Shape::nodes_max},
    {"ntasks", &Shape::ntasks},
    {"ntasks-per-node", &Shape::ntasks_per_node},
    {"ntasks-per-socket", &Shape::ntasks_per_socket},
    {"ntasks-per-core", &Shape::ntasks_per_core},
    {"ntasks-per-gpu", &Shape::ntasks_per_gpu},
    {"cpus-per-gpu", &Shape::cpus_per_gpu},
    {"sockets-per-node", &Shape::sockets_per_node},
    {"cores-per-socket", &Shape::cores_per_socket},
    {"threads-per-core", &Shape::threads_per_core},
    {"NumCPUs", &Shape::cpus_min},
    {"mincpus", &Shape::cpus_min_per_node},
    {"core-spec", &Shape::core_spec},
    {"thread-spec", &Shape::thread_spec},
    {"switches", &Shape::switches_max},
};

struct AmountRule {
    std::string_view name;
    std::optional<Megabytes> Shape::*member;
};

constexpr AmountRule kAmountRules[] = {
    {"mem", &Shape::mem_per_node},
    {"mem-per-cpu", &Shape::mem_per_cpu},
    {"mem-per-gpu", &Shape::mem_per_gpu},
    {"tmp", &Shape::tmp_min},
};

constexpr std::vector<GresCount> Shape::*kGresLists[] = {
    &Shape::gres_per_node, &Shape::gpus, &Shape::gpus_per_task, &Shape::gpus_per_socket};

Result<void> validate_amount(std::string_view field, std::uint64_t value) {
    if (value <= sizes::kAmount) return {};
    return invalid_value(field, std::to_string(value),
                         fmt::format("the limit is {}", sizes::kAmount));
}

Result<void> validate_gres(const std::vector<GresCount>& gres) {
    TRY(validate_list("gres", gres.size(), sizes::kGresCount));
    for (const GresCount& each : gres) {
        TRY(validate_text("gres", each.name, sizes::kWord));
        TRY(validate_text("gres", each.type, sizes::kWord));
        TRY(validate_amount("gres", each.count));
    }
    return {};
}

Result<void> validate_moment(std::string_view field, const std::optional<Time>& moment) {
    if (!moment) return {};
    return validate_number(field, to_unix(*moment), sizes::kSeconds);
}

Result<void> validate_length(std::string_view field, const std::optional<Seconds>& length) {
    if (!length) return {};
    return validate_number(field, length->count(), sizes::kSeconds);
}

Result<void> validate_limit(std::string_view field, const TimeLimit& limit) {
    if (limit.unlimited()) return {};
    return validate_number(field, limit.length().count(), sizes::kTimeLimit);
}

// Nothing looks at it again before it counts the licenses in use.
Result<void> validate_licenses(std::string_view text) {
    TRY(parse_licenses(text));
    return {};
}

}  // namespace

Error invalid_value(std::string_view field, std::string_view value, std::string_view why) {
    constexpr std::size_t kShown = 64;
    return {ErrorCode::BadArgument, fmt::format("{}={}{}: {}", field, value.substr(0, kShown),
                                                value.size() > kShown ? "..." : "", why)};
}

Result<void> validate_text(std::string_view field, std::string_view value, std::size_t most) {
    if (value.size() > most) {
        return invalid_value(field, value,
                             fmt::format("{} bytes, the limit is {}", value.size(), most));
    }
    const std::size_t zero = value.find('\0');
    if (zero == std::string_view::npos) return {};
    return invalid_value(field, value.substr(0, zero), "it contains a zero byte");
}

Result<void> validate_list(std::string_view field, std::size_t size, std::size_t most) {
    if (size <= most) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format("{}: {} entries, the limit is {}", field, size, most)};
}

Result<void> validate_texts(std::string_view field, const std::vector<std::string>& values,
                            std::size_t each_most, std::size_t count_most) {
    TRY(validate_list(field, values.size(), count_most));
    for (const std::string& value : values) TRY(validate_text(field, value, each_most));
    return {};
}

Result<void> validate_number(std::string_view field, std::int64_t value, std::int64_t most) {
    if (value >= 0 && value <= most) return {};
    return invalid_value(field, std::to_string(value), fmt::format("not between 0 and {}", most));
}

Result<void> validate(const Shape& shape) {
    TRY(validate_rules(kShapeRules, shape));
    TRY(validate_number("nodes", shape.nodes_min, sizes::kCount));
    TRY(validate_number("cpus-per-task", shape.cpus_per_task, sizes::kCount));
    for (const CountRule& rule : kCountRules) {
        TRY(validate_number(rule.name, (shape.*rule.member).value_or(0), sizes::kCount));
    }
    for (const AmountRule& rule : kAmountRules) {
        TRY(validate_amount(rule.name, (shape.*rule.member).value_or(0)));
    }
    for (const auto list : kGresLists) TRY(validate_gres(shape.*list));
    return validate_length("switches", shape.switches_wait);
}

Result<void> validate(const JobRequest& request) {
    constexpr std::int64_t kNice = 2147483645;  // Compat: sbatch's limit
    TRY(validate_rules(kTermRules, static_cast<const JobTerms&>(request)));
    TRY(validate_rules(kDetailRules, static_cast<const JobDetails&>(request)));
    TRY(validate_licenses(request.licenses));
    TRY(validate_texts("script arguments", request.script_args, sizes::kArgument,
                       sizes::kArgumentCount));
    std::size_t total = 0;
    for (const std::string& argument : request.script_args) total += argument.size() + 1;
    if (total > sizes::kArguments) {
        return invalid_value("script arguments", request.script_args.front(),
                             fmt::format("{} bytes, the limit is {}", total, sizes::kArguments));
    }
    TRY(validate_list("rlimits", request.rlimits.size(), sizes::kRlimitCount));
    for (const auto& [name, soft] : request.rlimits) {
        TRY(validate_text("rlimit", name, sizes::kWord));
    }
    TRY(validate_number("nice", std::abs(std::int64_t{request.nice}), kNice));
    TRY(validate_number("umask", request.umask, 0777));
    if (request.time_limit) TRY(validate_limit("time", *request.time_limit));
    if (request.time_min) TRY(validate_limit("time-min", *request.time_min));
    TRY(validate_moment("begin", request.begin));
    TRY(validate_moment("deadline", request.deadline));
    return validate(request.shape);
}

Result<void> validate(const Step& step) {
    TRY(validate_rules(kStepRules, step));
    TRY(validate_number("ntasks", step.tasks, sizes::kCount));
    TRY(validate_number("cpus-per-task", step.cpus_per_task, sizes::kCount));
    for (const NodeShare& share : step.nodes) {
        TRY(validate_number("ntasks", share.tasks, sizes::kCount));
        TRY(validate_amount("mem", share.memory));
    }
    return validate_limit("time", step.time_limit);
}

Result<void> validate(const Job& job) {
    TRY(validate_text("AdminComment", job.admin_comment, sizes::kWord));
    TRY(validate_text("partition", job.partition, sizes::kWord));
    TRY(validate_limit("TimeLimit", job.time_limit));
    TRY(validate_list("dependency", job.dependency.left.size(), sizes::kConditionCount));
    TRY(validate_moment("EligibleTime", job.eligible_time));
    TRY(validate_moment("StartTime", job.run.start_time));
    TRY(validate_moment("EndTime", job.run.end_time));
    TRY(validate_length("suspended time", job.run.suspended));
    TRY(validate_licenses(job.run.licenses_held));
    for (const auto& step : job.run.steps) TRY(validate(*step));
    const bool has_nodes =
        job.run.allocation && !job.run.allocation->nodes.empty() && job.run.start_time;
    if (is_live(job) && !has_nodes) return invalid_value("state", "running", "it has no nodes");
    if (is_live(job) && job.state == JobState::Suspended && !job.run.suspend_time)
        return invalid_value("state", "suspended", "since when is missing");
    if (is_finished(job.state) && !job.run.end_time)
        return invalid_value("state", "finished", "its end time is missing");
    return {};
}

Result<void> validate(const Reservation& reservation) {
    TRY(validate_rules(kReservationRules, reservation));
    TRY(validate_moment("StartTime", reservation.start));
    TRY(validate_moment("EndTime", reservation.end));
    TRY(validate_length("PURGE_COMP", reservation.purge_after));
    TRY(validate_length("MaxStartDelay", reservation.max_start_delay));
    TRY(validate_length("time ahead", reservation.ahead));
    TRY(validate_licenses(reservation.licenses));
    TRY(validate_list("Users", reservation.users.size(), sizes::kNameCount));
    TRY(validate_texts("Accounts", reservation.accounts, sizes::kWord, sizes::kNameCount));
    TRY(validate_texts("QOS", reservation.qos, sizes::kWord, sizes::kNameCount));
    TRY(validate_texts("AllowedPartitions", reservation.allowed_partitions, sizes::kWord,
                       sizes::kNameCount));
    TRY(validate_list("Groups", reservation.groups.size(), sizes::kGroupCount));
    for (const GroupMembers& group : reservation.groups) {
        TRY(validate_text("Groups", group.name, sizes::kWord));
        TRY(validate_list("members of a group", group.users.size(), sizes::kNodeCount));
    }
    return validate_gres(reservation.gres);
}

Result<void> validate(const Qos& qos) {
    TRY(validate_rules(kQosRules, qos));
    TRY(validate_texts("Preempt", qos.preempt, sizes::kWord, sizes::kNameCount));
    TRY(validate_length("GraceTime", qos.grace_time));
    TRY(validate_length("PreemptExemptTime", qos.exempt_time));
    return validate_length("MaxWall", qos.max_wall);
}

}  // namespace sluice
