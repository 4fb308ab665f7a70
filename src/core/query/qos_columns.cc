// core/query/qos_columns.cc: the columns of qualities of service.
#include "base/text.h"
#include "core/query/columns_of.h"

namespace sluice {

namespace {

std::string_view qos_mode_of(const Qos& qos, const Snapshot&, std::string& scratch) {
    return scratch = qos.preempt_mode.empty() ? "cluster" : to_lower(qos.preempt_mode);
}

template <auto... Members>
std::string_view qos_tres(const Qos& qos, const Snapshot&, std::string& scratch) {
    return scratch = print_tres((qos.*....*Members));
}

template <auto... Members>
std::int64_t qos_count(const Qos& qos, const Snapshot&) {
    return or_absent((qos.*....*Members));
}

std::int64_t qos_wall(const Qos& qos, const Snapshot&) {
    return qos.max_wall ? qos.max_wall->count() : kAbsent;
}

std::string_view qos_flags(const Qos& qos, const Snapshot&, std::string& scratch) {
    return scratch = print_qos_flags(qos.flags);
}

// clang-format off
const std::vector<ColumnSource<Qos>> kQosColumns = {
    {QosColumn::Id,                [](const Qos& q, const Snapshot&) -> std::int64_t { return q.id; }},
    {QosColumn::Name,              [](const Qos& q, const Snapshot&, std::string&) -> std::string_view { return q.name; }},
    {QosColumn::Description,       [](const Qos& q, const Snapshot&, std::string&) -> std::string_view { return q.description; }},
    {QosColumn::Priority,          [](const Qos& q, const Snapshot&) -> std::int64_t { return q.priority; }},
    {QosColumn::GraceTime,         [](const Qos& q, const Snapshot&) -> std::int64_t { return q.grace_time.count(); }},
    {QosColumn::Preempt,           [](const Qos& q, const Snapshot&, std::string& s) -> std::string_view { return s = join(q.preempt, ","); }},
    {QosColumn::PreemptMode,       qos_mode_of},
    {QosColumn::PreemptExemptTime, [](const Qos& q, const Snapshot&) -> std::int64_t { return q.exempt_time ? q.exempt_time->count() : kAbsent; }},
    {QosColumn::Flags,               qos_flags},
    {QosColumn::GrpTres,             qos_tres<&Qos::of_all, &Allotment::tres>},
    {QosColumn::GrpJobs,             qos_count<&Qos::of_all, &Allotment::running>},
    {QosColumn::GrpSubmit,           qos_count<&Qos::of_all, &Allotment::submitted>},
    {QosColumn::MaxTres,             qos_tres<&Qos::max_per_job>},
    {QosColumn::MaxTresPerNode,      qos_tres<&Qos::max_per_node>},
    {QosColumn::MaxWall,             qos_wall},
    {QosColumn::MaxTresPerUser,      qos_tres<&Qos::of_user, &Allotment::tres>},
    {QosColumn::MaxJobsPerUser,      qos_count<&Qos::of_user, &Allotment::running>},
    {QosColumn::MaxSubmitPerUser,    qos_count<&Qos::of_user, &Allotment::submitted>},
    {QosColumn::MaxTresPerAccount,   qos_tres<&Qos::of_account, &Allotment::tres>},
    {QosColumn::MaxJobsPerAccount,   qos_count<&Qos::of_account, &Allotment::running>},
    {QosColumn::MaxSubmitPerAccount, qos_count<&Qos::of_account, &Allotment::submitted>},
    {QosColumn::MinTres,             qos_tres<&Qos::min_per_job>},
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<Qos>>& qos_columns() {
    return kQosColumns;
}

}  // namespace sluice
