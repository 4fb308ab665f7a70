// surface/records.h
//
// The records of scontrol show: one job, node, partition or step with everything known of it, on
// several lines or on one. The sheets must hold all columns.
#pragma once

#include <string>

#include "surface/sheet.h"

namespace sluice {

struct RecordStyle {
    bool one_line = false;  // -o
    bool details = false;   // -d
};

void append_job_record(const SheetRow& job, const RecordStyle& style, std::string& out);
void append_node_record(const SheetRow& node, const RecordStyle& style, std::string& out);
void append_partition_record(const SheetRow& partition, const RecordStyle& style, std::string& out);
void append_step_record(const SheetRow& step, const RecordStyle& style, std::string& out);

}  // namespace sluice
