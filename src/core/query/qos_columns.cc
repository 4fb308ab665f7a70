// core/query/qos_columns.cc: the facts of qualities of service, by column.
#include "base/text.h"
#include "core/query/columns_of.h"

namespace sluice {

namespace {

std::string_view qos_mode_of(const Qos& qos, const Snapshot&, std::string& scratch) {
    return scratch = qos.preempt_mode.empty() ? "cluster" : to_lower(qos.preempt_mode);
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
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<Qos>>& qos_columns() { return kQosColumns; }

}  // namespace sluice
