#include "model/job_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/job_change_fields.h"
#include "model/mail.h"
#include "model/node_counts.h"
#include "model/sizes.h"
#include "model/times.h"
#include "model/validate.h"

namespace sluice {

namespace {

// "TimeLimit+=5" has the sign '+'.
struct Given {
    const std::string& value;
    char sign;
    Time now;
};
using SetJob = Result<void> (*)(JobChange& change, const Given& given);

Error bad(std::string_view key, const std::string& value) {
    return {ErrorCode::BadArgument, fmt::format("{}={}", key, value)};
}
// parse_job_change() adds key and value.
Error wrong() {
    return {ErrorCode::BadArgument, {}};
}

Result<std::uint32_t> number(std::string_view text, std::uint64_t most = 0xfffffffe) {
    const std::optional<std::uint64_t> value = to_number(text);
    if (!value || *value > most) return wrong();
    return static_cast<std::uint32_t>(*value);
}

// A nice value or a site factor.
Result<std::int32_t> adjustment(const std::string& value) {
    const bool is_negative = value.starts_with('-');
    const auto size = static_cast<std::int32_t>(
        TRY(number(std::string_view(value).substr(is_negative ? 1 : 0), kNiceMax)));
    return is_negative ? -size : size;
}

template <auto Member>
Result<void> set_term(JobChange& change, const Given& given) {
    change.terms.change(Member) = given.value;
    return {};
}

template <auto Member>
Result<void> set_detail(JobChange& change, const Given& given) {
    change.details.change(Member) = given.value;
    return {};
}

template <std::string Shape::*Member>
Result<void> set_shape_text(JobChange& change, const Given& given) {
    change.shape.change(Member) = given.value;
    return {};
}

template <auto Member>
Result<void> set_moment(JobChange& change, const Given& given) {
    change.*Member = TRY(parse_moment(given.value, given.now));
    return {};
}

template <auto Member>
Result<void> set_term_moment(JobChange& change, const Given& given) {
    change.terms.change(Member) = TRY(parse_moment(given.value, given.now));
    return {};
}

template <auto Member>
Result<void> set_number(JobChange& change, const Given& given) {
    change.*Member = TRY(number(given.value));
    return {};
}

Result<void> set_time_limit(JobChange& change, const Given& given) {
    std::string_view text = given.value;
    char sign = given.sign;
    if (text.starts_with('+') || text.starts_with('-')) {
        if (sign == 0) sign = text.front();
        text.remove_prefix(1);
    }
    const TimeLimit limit = TRY(parse_job_time_limit(text));
    if (sign != 0 && limit.unlimited()) return wrong();
    change.time_limit = limit;
    change.time_limit_sign = sign == '+' ? 1 : sign == '-' ? -1 : 0;
    return {};
}

Result<void> set_time_min(JobChange& change, const Given& given) {
    change.terms.change(&JobTerms::time_min) = TRY(parse_job_time_limit(given.value));
    return {};
}

Result<void> set_nice(JobChange& change, const Given& given) {
    change.terms.change(&JobTerms::nice) = TRY(adjustment(given.value));
    return {};
}

Result<void> set_site_factor(JobChange& change, const Given& given) {
    change.site_factor = TRY(adjustment(given.value));
    return {};
}

Result<void> set_requeue(JobChange& change, const Given& given) {
    if (given.value != "0" && given.value != "1") return wrong();
    change.terms.change(&JobTerms::requeue) = given.value == "1";
    return {};
}

Result<void> set_admin_comment(JobChange& change, const Given& given) {
    change.admin_comment = given.value;
    return {};
}

Result<void> set_mail_type(JobChange& change, const Given& given) {
    std::optional<std::string> types = parse_mail_types(given.value);
    if (!types) return wrong();
    change.terms.change(&JobTerms::mail_types) = *std::move(types);
    return {};
}

Result<void> set_mail_user(JobChange& change, const Given& given) {
    if (!given.value.empty() && !is_mail_address(given.value)) return wrong();
    change.terms.change(&JobTerms::mail_user) = given.value;
    return {};
}

Result<void> set_nodes(JobChange& change, const Given& given) {
    change.gives_all_nodes = given.value == "0";
    change.keeps_all_nodes = equals_ignoring_case(given.value, "ALL");
    if (change.gives_all_nodes || change.keeps_all_nodes) return {};
    const WantedNodes counts = TRY(parse_node_counts(given.value));
    change.shape.change(&Shape::nodes_min) = counts.min;
    change.shape.change(&Shape::nodes_max) = counts.max;
    change.shape.change(&Shape::node_sizes) = counts.sizes;
    return {};
}

Result<void> set_tasks(JobChange& change, const Given& given) {
    const std::uint32_t tasks = TRY(number(given.value));
    if (tasks == 0) return Error{ErrorCode::InvalidTaskCount, {}};
    change.shape.change(&Shape::ntasks) = tasks;
    return {};
}

Result<void> set_cpus_per_task(JobChange& change, const Given& given) {
    const std::uint32_t cpus = TRY(number(given.value));
    change.shape.change(&Shape::cpus_per_task) = std::max(1u, cpus);
    change.shape.change(&Shape::cpus_per_task_set) = true;
    return {};
}

// Memory per node and per CPU exclude each other: the later one counts.
template <auto Member, auto Other>
Result<void> set_memory(JobChange& change, const Given& given) {
    change.shape.change(Member) = TRY(parse_memory(given.value));
    change.shape.change(Other).reset();
    return {};
}

template <std::vector<GresCount> Shape::*Member>
Result<void> set_gres(JobChange& change, const Given& given) {
    change.shape.change(Member) = TRY(parse_gres(given.value));
    return {};
}

// Compat: zero removes the request.
template <std::optional<std::uint32_t> Shape::*Member>
Result<void> set_count(JobChange& change, const Given& given) {
    const std::uint32_t value = TRY(number(given.value, sizes::kCount));
    change.shape.change(Member) = value == 0 ? std::nullopt : std::optional(value);
    return {};
}

// Cores or threads, not both.
template <auto Member, auto Other>
Result<void> set_spec(JobChange& change, const Given& given) {
    TRY(set_count<Member>(change, given));
    change.shape.change(Other).reset();
    return {};
}

Result<void> set_threads(JobChange& change, const Given& given) {
    TRY(set_count<&Shape::threads_per_core>(change, given));
    change.shape.change(&Shape::one_thread_per_core) = change.shape.values.threads_per_core == 1u;
    return {};
}

// "4" or "4-8". Compat: the job gets the minimum.
Result<void> set_cpus(JobChange& change, const Given& given) {
    const std::string_view text = given.value;
    const std::size_t dash = text.find('-');
    const std::uint32_t least = TRY(number(text.substr(0, dash), sizes::kCount));
    std::uint32_t most = least;
    if (dash != text.npos) most = TRY(number(text.substr(dash + 1), sizes::kCount));
    if (least == 0 || most < least) return wrong();
    change.shape.change(&Shape::cpus_min) = least;
    return {};
}

template <bool Shape::*Member>
Result<void> set_yes_no(JobChange& change, const Given& given) {
    const bool yes = equals_ignoring_case(given.value, "yes") || given.value == "1";
    const bool no = equals_ignoring_case(given.value, "no") || given.value == "0";
    if (!yes && !no) return wrong();
    change.shape.change(Member) = yes;
    return {};
}

Result<void> set_features(JobChange& change, const Given& given) {
    TRY(FeatureExpression::parse(given.value));
    change.shape.change(&Shape::constraint) = given.value;
    return {};
}

Result<void> set_prefer(JobChange& change, const Given& given) {
    const Result<FeatureExpression> features = FeatureExpression::parse(given.value);
    if (!features || !features->counted.empty())
        return Error{ErrorCode::InvalidPrefer, given.value};
    change.shape.change(&Shape::prefer) = given.value;
    return {};
}

Result<void> set_tmp(JobChange& change, const Given& given) {
    change.shape.change(&Shape::tmp_min) = TRY(parse_memory(given.value));
    return {};
}

// "2" or "2@5:00"; zero switches remove the request.
Result<void> set_switches(JobChange& change, const Given& given) {
    constexpr Seconds kAsLongAsAllowed{365 * 24 * 3600};
    const std::string_view text = given.value;
    const std::size_t at = text.find('@');
    const std::uint32_t most = TRY(number(text.substr(0, at), sizes::kCount));
    Seconds wait = kAsLongAsAllowed;
    if (at != text.npos) {
        const TimeLimit limit = TRY(parse_time_limit(text.substr(at + 1)));
        if (!limit.unlimited()) wait = limit.length();
    }
    change.shape.change(&Shape::switches_max) = most == 0 ? std::nullopt : std::optional(most);
    change.shape.change(&Shape::switches_wait) = most == 0 ? Seconds{0} : wait;
    return {};
}

Result<void> set_switches_wait(JobChange& change, const Given& given) {
    change.shape.change(&Shape::switches_wait) = Seconds{TRY(number(given.value, sizes::kCount))};
    return {};
}

struct JobKey {
    std::string_view key;
    SetJob set;
    std::size_t most = sizes::kWord;  // bytes of a value
};

using S = Shape;

// clang-format off
constexpr JobKey kJobKeys[] = {
    {"Account",           set_term<&JobTerms::account>},
    {"AdminComment",      set_admin_comment},
    {"ArrayTaskThrottle", set_number<&JobChange::array_limit>},
    {"Comment",           set_detail<&JobDetails::comment>},
    {"Extra",             set_detail<&JobDetails::extra>},
    {"Contiguous",        set_yes_no<&S::contiguous>},
    {"CoreSpec",          set_spec<&S::core_spec, &S::thread_spec>},
    {"CPUsPerTask",       set_cpus_per_task},
    {"Deadline",          set_term_moment<&JobTerms::deadline>},
    {"Dependency",        set_detail<&JobDetails::dependency>, sizes::kDependency},
    {"EligibleTime",      set_term_moment<&JobTerms::begin>},
    {"EndTime",           set_moment<&JobChange::end_time>},
    {"ExcNodeList",       set_shape_text<&S::exclude>, sizes::kNodeList},
    {"Features",          set_features, sizes::kFeatures},
    {"Gres",              set_gres<&S::gres_per_node>},
    {"JobName",           set_detail<&JobDetails::name>},
    {"LastCheckpoint",    set_moment<&JobChange::last_checkpoint>},
    {"Licenses",          set_term<&JobTerms::licenses>},
    {"MailType",          set_mail_type},
    {"MailUser",          set_mail_user},
    {"MinCPUsNode",       set_count<&S::cpus_min_per_node>},
    {"MinMemoryCPU",      set_memory<&S::mem_per_cpu, &S::mem_per_node>},
    {"MinMemoryNode",     set_memory<&S::mem_per_node, &S::mem_per_cpu>},
    {"MinTmpDiskNode",    set_tmp},
    {"Name",              set_detail<&JobDetails::name>},
    {"Nice",              set_nice},
    {"NodeList",          set_shape_text<&S::nodelist>, sizes::kNodeList},
    {"NumCPUs",           set_cpus},
    {"NumNodes",          set_nodes},
    {"NumTasks",          set_tasks},
    {"OverSubscribe",     set_yes_no<&S::oversubscribe>},
    {"Partition",         set_term<&JobTerms::partition>},
    {"Prefer",            set_prefer, sizes::kFeatures},
    {"Priority",          set_number<&JobChange::priority>},
    {"QOS",               set_term<&JobTerms::qos>},
    {"ReqCores",          set_count<&S::cores_per_socket>},
    {"ReqNodeList",       set_shape_text<&S::nodelist>, sizes::kNodeList},
    {"ReqNodes",          set_nodes},
    {"ReqProcs",          set_tasks},
    {"ReqSockets",        set_count<&S::sockets_per_node>},
    {"ReqThreads",        set_threads},
    {"Requeue",           set_requeue},
    {"Reservation",       set_term<&JobTerms::reservation>},
    {"ReservationName",   set_term<&JobTerms::reservation>},
    {"Shared",            set_yes_no<&S::oversubscribe>},
    {"SiteFactor",        set_site_factor},
    {"StartTime",         set_term_moment<&JobTerms::begin>},
    {"StdErr",            set_detail<&JobDetails::std_err>, sizes::kPath},
    {"StdIn",             set_detail<&JobDetails::std_in>, sizes::kPath},
    {"StdOut",            set_detail<&JobDetails::std_out>, sizes::kPath},
    {"Switches",          set_switches},
    {"TasksPerNode",      set_count<&S::ntasks_per_node>},
    {"ThreadSpec",        set_spec<&S::thread_spec, &S::core_spec>},
    {"TimeLimit",         set_time_limit},
    {"TimeMin",           set_time_min},
    {"TresPerJob",        set_gres<&S::gpus>},
    {"TresPerNode",       set_gres<&S::gres_per_node>},
    {"TresPerSocket",     set_gres<&S::gpus_per_socket>},
    {"wait-for-switch",   set_switches_wait},
    {"WCKey",             set_term<&JobTerms::wckey>},
    {"WorkDir",           set_detail<&JobDetails::work_dir>, sizes::kPath},
};
// clang-format on

Result<void> set_job_key(JobChange& change, const std::string& typed, const std::string& value,
                         Time now) {
    std::string_view name = typed;
    const char sign = name.ends_with('+') ? '+' : name.ends_with('-') ? '-' : '\0';
    while (name.ends_with('+') || name.ends_with('-')) name.remove_suffix(1);
    for (const JobKey& row : kJobKeys) {
        if (!equals_ignoring_case(row.key, name)) continue;
        TRY(validate_text(row.key, value, row.most));
        Result<void> done = row.set(change, {value, sign, now});
        // Whatever is wrong with the value, scontrol needs the name of the field.
        if (!done && done.error().code == ErrorCode::BadArgument) return bad(row.key, value);
        return done;
    }
    return Error{ErrorCode::UnknownField, fmt::format("{}={}", typed, value)};
}

template <typename Owner>
std::size_t bytes_in(const Patch<Owner>& patch) {
    std::size_t bytes = 0;
    for_each_field<Owner>([&]<typename Value>(const Field<Owner, Value>& each) {
        if constexpr (std::same_as<Value, std::string>) bytes += (patch.values.*each.member).size();
    });
    return bytes;
}

}  // namespace

std::size_t JobChange::text_bytes() const {
    return bytes_in(terms) + bytes_in(details) + bytes_in(shape) +
           admin_comment.value_or("").size();
}

Result<JobChange> parse_job_change(const KeyTexts& given, Time now) {
    JobChange change;
    for (const auto& [key, value] : given) TRY(set_job_key(change, key, value, now));
    TRY(validate(change));
    return change;
}

}  // namespace sluice
