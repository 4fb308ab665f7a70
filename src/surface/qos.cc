// See qos.h.
#include "surface/qos.h"

#include "model/times.h"
#include "surface/cells.h"

namespace sluice {

namespace {

using C = QosColumn;

template <C Column>
void duration_cell(const SheetRow& row, std::string& out) {
    if (row.number(Column) != kAbsent) out += print_duration(Seconds{row.number(Column)});
}

template <C Column>
void count_cell(const SheetRow& row, std::string& out) {
    if (row.number(Column) != kAbsent) out += std::to_string(row.number(Column));
}

void usage_factor(const SheetRow&, std::string& out) {
    out += "1.000000";
}

// clang-format off
constexpr ReportField kFields[] = {
    {"Name",              "Name",              10, true,  text_cell<C::Name, "">},
    {"Priority",          "Priority",          10, true,  number_cell<C::Priority>},
    {"GraceTime",         "GraceTime",         10, true,  duration_cell<C::GraceTime>},
    {"Preempt",           "Preempt",           10, true,  text_cell<C::Preempt, "">},
    {"PreemptExemptTime", "PreemptExemptTime", 19, true,  duration_cell<C::PreemptExemptTime>},
    {"PreemptMode",       "PreemptMode",       11, true,  text_cell<C::PreemptMode, "">},
    {"Flags",             "Flags",             40, true,  text_cell<C::Flags, "">},
    {"UsageThreshold",    "UsageThres",        10},
    {"UsageFactor",       "UsageFactor",       11, true,  usage_factor},
    {"GrpTRES",           "GrpTRES",           13, true,  text_cell<C::GrpTres, "">},
    {"GrpTRESMins",       "GrpTRESMins",       13},
    {"GrpTRESRunMins",    "GrpTRESRunMins",    13},
    {"GrpJobs",           "GrpJobs",            7, true,  count_cell<C::GrpJobs>},
    {"GrpSubmitJobs",     "GrpSubmit",          9, true,  count_cell<C::GrpSubmit>},
    {"GrpWall",           "GrpWall",           11},
    {"MaxTRES",           "MaxTRES",           13, true,  text_cell<C::MaxTres, "">},
    {"MaxTRESPerNode",    "MaxTRESPerNode",    14, true,  text_cell<C::MaxTresPerNode, "">},
    {"MaxTRESMins",       "MaxTRESMins",       13},
    {"MaxWall",           "MaxWall",           11, true,  duration_cell<C::MaxWall>},
    {"MaxTRESPU",         "MaxTRESPU",         13, true,  text_cell<C::MaxTresPerUser, "">},
    {"MaxJobsPU",         "MaxJobsPU",          9, true,  count_cell<C::MaxJobsPerUser>},
    {"MaxSubmitPU",       "MaxSubmitPU",       11, true,  count_cell<C::MaxSubmitPerUser>},
    {"MaxTRESPA",         "MaxTRESPA",         13, true,  text_cell<C::MaxTresPerAccount, "">},
    {"MaxTRESRunMinsPA",  "MaxTRESRunMinsPA",  15},
    {"MaxTRESRunMinsPU",  "MaxTRESRunMinsPU",  15},
    {"MaxJobsPA",         "MaxJobsPA",          9, true,  count_cell<C::MaxJobsPerAccount>},
    {"MaxSubmitPA",       "MaxSubmitPA",       11, true,  count_cell<C::MaxSubmitPerAccount>},
    {"MinTRES",           "MinTRES",           13, true,  text_cell<C::MinTres, "">},
    {"Description",       "Descr",             20, false, text_cell<C::Description, "">},
    {"ID",                "ID",                 6, false, number_cell<C::Id>},
};
// clang-format on

}  // namespace

std::span<const ReportField> qos_fields() {
    return kFields;
}

}  // namespace sluice
