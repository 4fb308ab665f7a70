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

void usage_factor(const SheetRow&, std::string& out) { out += "1.000000"; }

// clang-format off
constexpr ReportField kFields[] = {
    {"Name",              "Name",              10, true,  text_cell<C::Name, Missing::Blank>},
    {"Priority",          "Priority",          10, true,  number_cell<C::Priority>},
    {"GraceTime",         "GraceTime",         10, true,  duration_cell<C::GraceTime>},
    {"Preempt",           "Preempt",           10, true,  text_cell<C::Preempt, Missing::Blank>},
    {"PreemptExemptTime", "PreemptExemptTime", 19, true,  duration_cell<C::PreemptExemptTime>},
    {"PreemptMode",       "PreemptMode",       11, true,  text_cell<C::PreemptMode, Missing::Blank>},
    {"Flags",             "Flags",             40},
    {"UsageThreshold",    "UsageThres",        10},
    {"UsageFactor",       "UsageFactor",       11, true,  usage_factor},
    {"GrpTRES",           "GrpTRES",           13},
    {"GrpTRESMins",       "GrpTRESMins",       13},
    {"GrpTRESRunMins",    "GrpTRESRunMins",    13},
    {"GrpJobs",           "GrpJobs",            7},
    {"GrpSubmitJobs",     "GrpSubmit",          9},
    {"GrpWall",           "GrpWall",           11},
    {"MaxTRES",           "MaxTRES",           13},
    {"MaxTRESPerNode",    "MaxTRESPerNode",    14},
    {"MaxTRESMins",       "MaxTRESMins",       13},
    {"MaxWall",           "MaxWall",           11},
    {"MaxTRESPU",         "MaxTRESPU",         13},
    {"MaxJobsPU",         "MaxJobsPU",          9},
    {"MaxSubmitPU",       "MaxSubmitPU",       11},
    {"MaxTRESPA",         "MaxTRESPA",         13},
    {"MaxTRESRunMinsPA",  "MaxTRESRunMinsPA",  15},
    {"MaxTRESRunMinsPU",  "MaxTRESRunMinsPU",  15},
    {"MaxJobsPA",         "MaxJobsPA",          9},
    {"MaxSubmitPA",       "MaxSubmitPA",       11},
    {"MinTRES",           "MinTRES",           13},
    {"Description",       "Descr",             20, false, text_cell<C::Description, Missing::Blank>},
    {"ID",                "ID",                 6, false, number_cell<C::Id>},
};
// clang-format on

}  // namespace

std::span<const ReportField> qos_fields() { return kFields; }

}  // namespace sluice
