// surface/usage_fields.h
//
// Fields of sacct and sstat that show what a step has used. A field is text made from a Usage; its
// name and width are in one table, which both tools read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/usage.h"

namespace sluice {

enum class UsageField : std::uint8_t {
    AveCPU,
    AveCPUFreq,
    AveDiskRead,
    AveDiskWrite,
    AvePages,
    AveRSS,
    AveVMSize,
    ConsumedEnergy,
    ConsumedEnergyRaw,
    MaxDiskRead,
    MaxDiskReadNode,
    MaxDiskReadTask,
    MaxDiskWrite,
    MaxDiskWriteNode,
    MaxDiskWriteTask,
    MaxPages,
    MaxPagesNode,
    MaxPagesTask,
    MaxRSS,
    MaxRSSNode,
    MaxRSSTask,
    MaxVMSize,
    MaxVMSizeNode,
    MaxVMSizeTask,
    MinCPU,
    MinCPUNode,
    MinCPUTask,
    SystemCPU,
    TotalCPU,
    UserCPU,
    TRESUsageInAve,
    TRESUsageInMax,
    TRESUsageInMaxNode,
    TRESUsageInMaxTask,
    TRESUsageInMin,
    TRESUsageInMinNode,
    TRESUsageInMinTask,
    TRESUsageInTot,
    TRESUsageOutAve,
    TRESUsageOutMax,
    TRESUsageOutMaxNode,
    TRESUsageOutMaxTask,
    TRESUsageOutMin,
    TRESUsageOutMinNode,
    TRESUsageOutMinTask,
    TRESUsageOutTot,
};

struct UnitStyle {
    bool convert = true;            // false: --noconvert, plain numbers
    char unit = 0;                  // --units: 'K', 'M', 'G', 'T' or 'P'; 0: the largest exact one
    bool disk_in_megabytes = true;  // sacct shows the Disk fields as "30.04M", sstat in bytes
};

struct UsageFieldRow {
    UsageField field;
    std::string_view name;  // "MaxRSSNode", also the header
    int width;              // of the column
};

std::span<const UsageFieldRow> usage_fields();                      // in the order of the enum
std::optional<UsageField> find_usage_field(std::string_view name);  // any case
// Empty if the usage was not sampled (Usage::tasks is absent) and the field needs samples.
std::string usage_text(UsageField field, const Usage& usage, const UnitStyle& style);

}  // namespace sluice
