// protocol/convert_request.cc
//
// JobRequest, the widest of the messages: its texts and flags are one row each. See convert.h.
#include <string>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// One row per member that travels as it is.
template <typename Owner, typename Value, typename Set, typename Get>
struct Member {
    Value Owner::*member;
    Set set;
    Get get;
};

template <typename Owner>
using TextMember = Member<Owner, std::string, void (*)(wire::JobRequest&, std::string_view),
                          const std::string& (wire::JobRequest::*)() const>;
using FlagMember =
    Member<JobTerms, bool, void (wire::JobRequest::*)(bool), bool (wire::JobRequest::*)() const>;

#define TEXT(field)                                             \
    {                                                           \
        &JobRequest::field,                                     \
            [](wire::JobRequest& out, std::string_view value) { \
                out.set_##field(value.data(), value.size());    \
            },                                                  \
            &wire::JobRequest::field                            \
    }
#define FLAG(field) \
    { &JobRequest::field, &wire::JobRequest::set_##field, &wire::JobRequest::field }

constexpr TextMember<JobTerms> kTexts[] = {
    TEXT(partition),   TEXT(account),   TEXT(qos),       TEXT(wckey),
    TEXT(reservation), TEXT(licenses),  TEXT(mail_user), TEXT(mail_types),
    TEXT(submit_host), TEXT(tres_bind), TEXT(tres_freq),
};

constexpr TextMember<JobDetails> kDetails[] = {
    TEXT(name),        TEXT(comment),     TEXT(dependency),       TEXT(work_dir),
    TEXT(std_in),      TEXT(std_out),     TEXT(std_err),          TEXT(command),
    TEXT(submit_line), TEXT(script_hash), TEXT(environment_hash),
};

constexpr FlagMember kFlags[] = {
    FLAG(hold),      FLAG(requeue),           FLAG(requeue_set),
    FLAG(immediate), FLAG(kill_on_node_fail), FLAG(get_user_env),
};

#undef TEXT
#undef FLAG

// What only some jobs have.
Result<void> read_optionals(const wire::JobRequest& wire, JobRequest& request) {
    if (wire.has_time_limit()) request.time_limit = TRY(from_wire(wire.time_limit()));
    if (wire.has_time_min()) request.time_min = TRY(from_wire(wire.time_min()));
    if (wire.has_begin()) request.begin = TRY(checks::moment("begin", wire.begin()));
    if (wire.has_deadline()) request.deadline = TRY(checks::moment("deadline", wire.deadline()));
    if (wire.has_priority()) request.priority = wire.priority();
    if (wire.has_kill_on_invalid_dep()) request.kill_on_invalid_dep = wire.kill_on_invalid_dep();
    if (wire.has_warn_signal()) request.warn_signal = TRY(from_wire(wire.warn_signal()));
    if (wire.has_array()) request.array = TRY(from_wire(wire.array()));
    return {};
}

}  // namespace

wire::JobRequest to_wire(const JobRequest& request) {
    return to_wire(request, PackedDetails(request));
}

wire::JobRequest to_wire(const JobTerms& request, const PackedDetails& details) {
    wire::JobRequest out;
    for (const auto& text : kTexts) {
        if (!(request.*text.member).empty()) text.set(out, request.*text.member);
    }
    for (const auto& text : kDetails) {
        std::string_view value = details.text(text.member);
        if (!value.empty()) text.set(out, value);
    }
    for (const FlagMember& flag : kFlags) (out.*flag.set)(request.*flag.member);
    out.set_kind(static_cast<std::uint32_t>(request.kind));
    out.set_open_mode(static_cast<std::uint32_t>(request.open_mode));
    out.set_submit_sid(details.submit_sid());
    out.set_nice(request.nice);
    out.set_umask(request.umask);
    for (std::size_t i = 0; i < details.script_arg_count(); ++i) {
        out.add_script_args(std::string(details.script_arg(i)));
    }
    for (const auto& [name, soft] : request.rlimits) {
        wire::Rlimit& added = *out.add_rlimits();
        added.set_name(name);
        added.set_soft(soft);
    }
    *out.mutable_shape() = to_wire(request.shape);
    if (request.time_limit) *out.mutable_time_limit() = to_wire(*request.time_limit);
    if (request.time_min) *out.mutable_time_min() = to_wire(*request.time_min);
    if (request.begin) out.set_begin(to_unix(*request.begin));
    if (request.deadline) out.set_deadline(to_unix(*request.deadline));
    if (request.priority) out.set_priority(*request.priority);
    if (request.kill_on_invalid_dep) out.set_kill_on_invalid_dep(*request.kill_on_invalid_dep);
    if (request.warn_signal) *out.mutable_warn_signal() = to_wire(*request.warn_signal);
    if (request.array) *out.mutable_array() = to_wire(*request.array);
    return out;
}

Result<JobRequest> from_wire(const wire::JobRequest& wire) {
    JobRequest request;
    for (const auto& text : kTexts) request.*text.member = (wire.*text.get)();
    for (const auto& text : kDetails) request.*text.member = (wire.*text.get)();
    for (const FlagMember& flag : kFlags) request.*flag.member = (wire.*flag.get)();
    request.kind = TRY(checks::one_of("kind", wire.kind(), JobKind::Salloc));
    request.open_mode = TRY(checks::one_of("open-mode", wire.open_mode(), OpenMode::Truncate));
    request.submit_sid = wire.submit_sid();
    request.nice = wire.nice();
    request.umask = wire.umask();
    request.script_args.assign(wire.script_args().begin(), wire.script_args().end());
    for (const wire::Rlimit& limit : wire.rlimits())
        request.rlimits.emplace_back(limit.name(), limit.soft());
    request.shape = TRY(from_wire(wire.shape()));
    TRY(read_optionals(wire, request));
    TRY(validate(request));
    return request;
}

}  // namespace sluice
