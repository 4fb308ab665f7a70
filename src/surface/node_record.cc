// surface/node_record.cc
//
// scontrol show node and show partition. Compat: the order of lines and words is what people's
// scripts know; Open OnDemand wants every word of a partition to be Key=Value with a value.
#include "model/columns.h"
#include "model/node.h"
#include "surface/nodes.h"
#include "surface/record.h"

namespace sluice {

namespace {

using N = NodeColumn;
using P = PartitionColumn;

std::string load_text(std::int64_t hundredths) {
    return hundredths == kAbsent ? "N/A"
                                 : fmt::format("{:.2f}", static_cast<double>(hundredths) / 100);
}

std::string number_or(std::int64_t number, std::string_view if_none) {
    return number == kAbsent || number == kUnlimited ? std::string(if_none)
                                                     : fmt::to_string(number);
}

void add_node_resources(const SheetRow& node, const RecordStyle& style, Record& record) {
    record.line("CPUAlloc={} CPUEfctv={} CPUTot={} CPULoad={}", or_zero(node.number(N::AllocCpus)),
                or_zero(node.number(N::Cpus)) -
                    or_zero(node.number(N::CoreSpecCount)) *
                        std::max<std::int64_t>(or_zero(node.number(N::ThreadsPerCore)), 1),
                or_zero(node.number(N::Cpus)), load_text(node.number(N::Load)));
    record.line("AvailableFeatures={}", or_null(node.text(N::Features)));
    record.line("ActiveFeatures={}", or_null(node.text(N::Features)));
    record.line("Gres={}", or_null(node.text(N::Gres)));
    if (style.details) {
        record.line("GresDrain=N/A");
        record.line("GresUsed={}", or_null(node.text(N::GresUsed)));
    }
    record.line("NodeAddr={} NodeHostName={} Port={}", node.text(N::Address),
                node.text(N::Hostname), or_zero(node.number(N::Port)));
    if (!node.text(N::Version).empty()) record.add(" Version={}", node.text(N::Version));
    if (!node.text(N::Os).empty()) record.line("OS={} ", node.text(N::Os));
    record.line("RealMemory={} AllocMem={} FreeMem={} Sockets={} Boards={}",
                or_zero(node.number(N::RealMemory)), or_zero(node.number(N::AllocMemory)),
                number_or(node.number(N::FreeMemory), "N/A"), or_zero(node.number(N::Sockets)),
                or_zero(node.number(N::Boards)));
    if (or_zero(node.number(N::CoreSpecCount)) > 0) {
        record.line("CoreSpecCount={}", node.number(N::CoreSpecCount));
    }
    if (or_zero(node.number(N::MemSpecLimit)) > 0) {
        record.line("MemSpecLimit={}", node.number(N::MemSpecLimit));
    }
}

void add_node_state(const SheetRow& node, Record& record) {
    const Looks& looks = node.looks();
    auto moment = [&](N column) { return moment_text(node.number(column), "None", looks); };
    record.line("State={} ThreadsPerCore={} TmpDisk={} Weight={} Owner=N/A MCS_label=N/A",
                print_node_state_complete(node_base(*node.sheet, node.index),
                                          node_flags(*node.sheet, node.index)),
                or_zero(node.number(N::ThreadsPerCore)), or_zero(node.number(N::TmpDisk)),
                or_zero(node.number(N::Weight)));
    if (node.has(N::NextState)) {
        const bool down = node.number(N::NextState) == static_cast<std::int64_t>(AfterReboot::Down);
        record.line("NextState={}", down ? "DOWN" : "RESUME");
    }
    if (!node.text(N::Partitions).empty()) record.line("Partitions={} ", node.text(N::Partitions));
    record.line("BootTime={} SlurmdStartTime={}", moment(N::BootTime), moment(N::SlurmdStartTime));
    record.line("LastBusyTime={} ResumeAfterTime=None SuspendTime=INFINITE",
                moment_text(node.number(N::LastBusyTime), "Unknown", looks));
    record.line("CfgTRES={}", or_null(node.text(N::CfgTres)));
    record.line("AllocTRES={}", node.text(N::AllocTres));
    record.line("CurrentWatts=0 AveWatts=0");
    if (!node.text(N::Reason).empty()) {
        record.line("Reason={}", node.text(N::Reason));
        if (node.has(N::ReasonTime) && node.has(N::ReasonUser)) {
            record.add(" [{}@{}]", node.sheet->user_name(node.number(N::ReasonUser)),
                       moment(N::ReasonTime));
        }
    }
    if (!node.text(N::Comment).empty()) record.line("Comment={}", node.text(N::Comment));
}

std::string_view yes_no(std::int64_t flag) {
    return flag == 1 ? "YES" : "NO";
}

}  // namespace

void append_node_record(const SheetRow& node, const RecordStyle& style, std::string& out) {
    Record record(out, style);
    record.add("NodeName={} ", node.text(N::Name));
    if (!node.text(N::Arch).empty()) record.add("Arch={} ", node.text(N::Arch));
    record.add("CoresPerSocket={} ", or_zero(node.number(N::CoresPerSocket)));
    add_node_resources(node, style, record);
    add_node_state(node, record);
}

void append_partition_record(const SheetRow& part, const RecordStyle& style, std::string& out) {
    auto text = [&](P column, std::string_view if_none) {
        return part.text(column).empty() ? if_none : part.text(column);
    };
    auto unlimited = [&](P column) { return number_or(part.number(column), "UNLIMITED"); };
    Record record(out, style);
    record.add("PartitionName={}", part.text(P::Name));
    record.line("AllowGroups={}", text(P::AllowGroups, "ALL"));
    // Where a list of the allowed is given, the list of the denied does not count.
    const bool denies_accounts =
        !part.text(P::DenyAccounts).empty() && text(P::AllowAccounts, "ALL") == "ALL";
    record.add(" {}={}", denies_accounts ? "DenyAccounts" : "AllowAccounts",
               denies_accounts ? part.text(P::DenyAccounts) : text(P::AllowAccounts, "ALL"));
    const bool denies_qos = !part.text(P::DenyQos).empty() && text(P::AllowQos, "ALL") == "ALL";
    record.add(" {}={}", denies_qos ? "DenyQos" : "AllowQos",
               denies_qos ? part.text(P::DenyQos) : text(P::AllowQos, "ALL"));
    record.line("AllocNodes={}", text(P::AllocNodes, "ALL"));
    if (!part.text(P::Alternate).empty()) record.add(" Alternate={}", part.text(P::Alternate));
    record.add(" Default={} QoS={}", yes_no(part.number(P::IsDefault)), text(P::Qos, "N/A"));
    record.line("DefaultTime={} DisableRootJobs={} Exclusive={} GraceTime={} Hidden={}",
                long_duration_text(part.number(P::DefaultTime), "NONE"),
                yes_no(part.number(P::DisableRootJobs)), text(P::Exclusive, "NO"),
                or_zero(part.number(P::GraceTime)), yes_no(part.number(P::Hidden)));
    record.line("MaxNodes={} MaxTime={} MinNodes={} LLN={} MaxCPUsPerNode={} MaxCPUsPerSocket={}",
                unlimited(P::MaxNodes), long_duration_text(part.number(P::MaxTime), "UNLIMITED"),
                or_zero(part.number(P::MinNodes)), yes_no(part.number(P::Lln)),
                unlimited(P::MaxCpusPerNode), unlimited(P::MaxCpusPerSocket));
    if (!part.text(P::NodeSets).empty()) record.line("NodeSets={}", part.text(P::NodeSets));
    record.line("Nodes={}", text(P::Nodes, "(null)"));
    record.line("PriorityJobFactor={} PriorityTier={} RootOnly={} ReqResv={} OverSubscribe={}",
                or_zero(part.number(P::PriorityJobFactor)), or_zero(part.number(P::PriorityTier)),
                yes_no(part.number(P::RootOnly)), yes_no(part.number(P::ReqResv)),
                text(P::OverSubscribe, "NO"));
    const std::int64_t over = part.number(P::OverTimeLimit);
    record.line("OverTimeLimit={} PreemptMode={}",
                over == 0 ? "NONE" : number_or(over, "UNLIMITED"), text(P::PreemptMode, "OFF"));
    record.line("State={} TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE",
                text(P::State, "UP"), or_zero(part.number(P::TotalCpus)),
                or_zero(part.number(P::TotalNodes)));
    record.line("JobDefaults={}", or_null(part.text(P::JobDefaults)));
    const bool default_per_cpu = part.has(P::DefMemPerCpu),
               most_per_cpu = part.has(P::MaxMemPerCpu);
    record.line("DefMemPer{}={} MaxMemPer{}={}", default_per_cpu ? "CPU" : "Node",
                unlimited(default_per_cpu ? P::DefMemPerCpu : P::DefMemPerNode),
                most_per_cpu ? "CPU" : "Node",
                unlimited(most_per_cpu ? P::MaxMemPerCpu : P::MaxMemPerNode));
    record.line("TRES={}", or_null(part.text(P::Tres)));
    if (!part.text(P::TresBillingWeights).empty()) {
        record.line("TRESBillingWeights={}", part.text(P::TresBillingWeights));
    }
}

}  // namespace sluice
