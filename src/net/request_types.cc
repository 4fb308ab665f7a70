#include "net/request_types.h"

#include <span>

#include "model/table.h"

namespace sluice {

namespace {

using Body = wire::Request;

// `part` tells messages apart that have one body here and several types in Slurm.
struct TypeRow {
    int body;
    int part;
    RequestType type;
};
constexpr int kAnyPart = -1;

constexpr int part_of(TableKind kind) {
    return static_cast<int>(kind);
}
constexpr int part_of(wire::Update::Entity entity, wire::Update::Verb verb) {
    return static_cast<int>(entity) * 8 + static_cast<int>(verb);
}
enum SubmissionPart { kBatchPart, kAllocationPart, kTestPart };

constexpr RequestType kUpdateJobType{"REQUEST_UPDATE_JOB", 3001};
constexpr RequestType kJobRequeueType{"REQUEST_JOB_REQUEUE", 5023};
constexpr RequestType kSuspendType{"REQUEST_SUSPEND", 5014};
constexpr RequestType kStatisticsType{"REQUEST_STATS_INFO", 2035};

// The first row that fits.
// clang-format off
constexpr TypeRow kRequestRows[] = {
    {Body::kSubmit,            kBatchPart,                          {"REQUEST_SUBMIT_BATCH_JOB", 4003}},
    {Body::kSubmit,            kAllocationPart,                     {"REQUEST_RESOURCE_ALLOCATION", 4001}},
    {Body::kSubmit,            kTestPart,                           {"REQUEST_JOB_WILL_RUN", 4012}},
    {Body::kList,              part_of(TableKind::Jobs),            {"REQUEST_JOB_INFO", 2003}},
    {Body::kList,              part_of(TableKind::Nodes),           {"REQUEST_NODE_INFO", 2007}},
    {Body::kList,              part_of(TableKind::Partitions),      {"REQUEST_PARTITION_INFO", 2009}},
    {Body::kList,              part_of(TableKind::Steps),           {"REQUEST_JOB_STEP_INFO", 2005}},
    {Body::kList,              part_of(TableKind::Licenses),        {"REQUEST_LICENSE_INFO", 1021}},
    {Body::kList,              part_of(TableKind::Reservations),    {"REQUEST_RESERVATION_INFO", 2024}},
    {Body::kList,              part_of(TableKind::Shares),          {"REQUEST_SHARE_INFO", 2022}},
    {Body::kList,              kAnyPart,                            {"LIST_TABLE", 20002}},
    {Body::kCancel,            kAnyPart,                            {"REQUEST_KILL_JOB", 5032}},
    {Body::kControl,           wire::ControlJobs::REQUEUE,          kJobRequeueType},
    {Body::kControl,           wire::ControlJobs::REQUEUE_HOLD,     kJobRequeueType},
    {Body::kControl,           wire::ControlJobs::SUSPEND,          kSuspendType},
    {Body::kControl,           wire::ControlJobs::RESUME,           kSuspendType},
    {Body::kControl,           wire::ControlJobs::TOP,              {"REQUEST_TOP_JOB", 5038}},
    {Body::kControl,           kAnyPart,                            kUpdateJobType},
    {Body::kUpdate,            part_of(wire::Update::JOB, wire::Update::CHANGE),       kUpdateJobType},
    {Body::kUpdate,            part_of(wire::Update::NODE, wire::Update::CHANGE),      {"REQUEST_UPDATE_NODE", 3002}},
    {Body::kUpdate,            part_of(wire::Update::PARTITION, wire::Update::CHANGE), {"REQUEST_UPDATE_PARTITION", 3005}},
    {Body::kUpdate,            part_of(wire::Update::PARTITION, wire::Update::CREATE), {"REQUEST_CREATE_PARTITION", 3003}},
    {Body::kUpdate,            part_of(wire::Update::PARTITION, wire::Update::DELETE), {"REQUEST_DELETE_PARTITION", 3004}},
    {Body::kUpdate,            kAnyPart,                            {"UPDATE", 20005}},
    {Body::kCreateStep,        kAnyPart,                            {"REQUEST_JOB_STEP_CREATE", 5001}},
    {Body::kWaitJob,           wire::WaitJob::ALLOCATED,            {"REQUEST_JOB_READY", 4019}},
    {Body::kWaitJob,           kAnyPart,                            {"WAIT_JOB", 20007}},
    {Body::kPing,              kAnyPart,                            {"REQUEST_PING", 1008}},
    {Body::kReconfigure,       kAnyPart,                            {"REQUEST_RECONFIGURE", 1003}},
    {Body::kShutdown,          kAnyPart,                            {"SHUTDOWN", 20010}},
    {Body::kShowConfig,        kAnyPart,                            {"REQUEST_BUILD_INFO", 2001}},
    {Body::kBatchScript,       kAnyPart,                            {"REQUEST_BATCH_SCRIPT", 2051}},
    {Body::kCompleteJob,       kAnyPart,                            {"REQUEST_COMPLETE_JOB_ALLOCATION", 5017}},
    {Body::kJobAllocation,     kAnyPart,                            {"JOB_ALLOCATION", 20014}},
    {Body::kExplain,           kAnyPart,                            {"EXPLAIN_JOB", 20024}},
    {Body::kChangeReservation, kAnyPart,                            {"REQUEST_UPDATE_RESERVATION", 3009}},
    {Body::kReboot,            kAnyPart,                            {"REBOOT_NODES", 20041}},
    {Body::kSetTrigger,        kAnyPart,                            {"REQUEST_TRIGGER_SET", 2016}},
    {Body::kClearTriggers,     kAnyPart,                            {"REQUEST_TRIGGER_CLEAR", 2018}},
    {Body::kShowTriggers,      kAnyPart,                            {"REQUEST_TRIGGER_GET", 2017}},
    {Body::kProbeNode,         kAnyPart,                            {"PROBE_NODE", 20373}},
    {Body::kShowDamaged,       kAnyPart,                            {"SHOW_DAMAGED", 20047}},
    {Body::kAskAccounting,     kAnyPart,                            {"ASK_ACCOUNTING", 20060}},
    {Body::kChangePolicy,      kAnyPart,                            {"CHANGE_POLICY", 20061}},
    {Body::kDeliverFacts,      kAnyPart,                            {"DBD_SEND_MULT_MSG", 1474}},
    {Body::kKeepScript,        kAnyPart,                            {"KEEP_SCRIPT", 20063}},
    {Body::kAskPolicy,         kAnyPart,                            {"ASK_POLICY", 20064}},
    {Body::kAccountingOrder,   kAnyPart,                            {"ACCOUNTING_ORDER", 20065}},
    {Body::kShowStatistics,    kAnyPart,                            kStatisticsType},
    {Body::kResetStatistics,   kAnyPart,                            kStatisticsType},
    {Body::kTakeOver,          kAnyPart,                            {"REQUEST_TAKEOVER", 1010}},
};

using Report = wire::AgentReport;
constexpr TypeRow kReportRows[] = {
    {Report::kRegister,     kAnyPart, {"MESSAGE_NODE_REGISTRATION_STATUS", 1002}},
    {Report::kLaunchResult, kAnyPart, {"NODE_LAUNCH_RESULT", 21003}},
    {Report::kJobEnded,     kAnyPart, {"REQUEST_COMPLETE_BATCH_SCRIPT", 5018}},
    {Report::kStepEnded,    kAnyPart, {"REQUEST_STEP_COMPLETE", 5016}},
    {Report::kNodeCleaned,  kAnyPart, {"MESSAGE_EPILOG_COMPLETE", 6012}},
    {Report::kHeartbeat,    kAnyPart, {"NODE_HEARTBEAT", 21007}},
    {Report::kKillFailed,   kAnyPart, {"NODE_KILL_FAILED", 21008}},
    {Report::kData,         kAnyPart, {"NODE_DATA_REPORT", 21050}},
    {Report::kGpus,         kAnyPart, {"NODE_GPUS", 21009}},
};
// clang-format on

constexpr RequestType kUnknownType{"UNKNOWN", 20000};

const RequestType& row_for(std::span<const TypeRow> rows, int body, int part) {
    for (const TypeRow& row : rows) {
        if (row.body == body && (row.part == part || row.part == kAnyPart)) return row.type;
    }
    return kUnknownType;
}

int part_of(const wire::Request& request) {
    switch (request.body_case()) {
        case Body::kSubmit:
            if (request.submit().test_only()) return kTestPart;
            return request.submit().script().empty() ? kAllocationPart : kBatchPart;
        case Body::kList:
            return static_cast<int>(request.list().kind());
        case Body::kControl:
            return request.control().verb();
        case Body::kUpdate:
            return part_of(request.update().entity(), request.update().verb());
        case Body::kWaitJob:
            return request.wait_job().until();
        default:
            return kAnyPart;
    }
}

}  // namespace

const RequestType& type_of(const wire::Request& request) {
    return row_for(kRequestRows, request.body_case(), part_of(request));
}

const RequestType& type_of(const wire::AgentReport& report) {
    return row_for(kReportRows, report.body_case(), kAnyPart);
}

}  // namespace sluice
