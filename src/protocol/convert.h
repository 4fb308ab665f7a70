// protocol/convert.h
//
// Between the values of model/ and the messages of the .proto files. from_wire doubts everything:
// enums in range, ranges the right way round, sizes bounded; its errors name the field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/explanation.h"
#include "model/filter.h"
#include "model/gpu_report.h"
#include "model/job.h"
#include "model/job_change.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/qos.h"
#include "model/reservation.h"
#include "model/table.h"
#include "model/trigger.h"
#include "wire.pb.h"

namespace sluice {

// ---- convert_job.cc: what users ask for

wire::TimeLimit to_wire(TimeLimit limit);
Result<TimeLimit> from_wire(const wire::TimeLimit& limit);

using WireGres = google::protobuf::RepeatedPtrField<wire::Gres>;
void to_wire(const std::vector<GresCount>& gres, WireGres& out);
Result<std::vector<GresCount>> from_wire(const WireGres& gres);

// ---- convert_fields.cc: values with a list of fields

std::string encode(const JobRequest& request);
std::string encode(const JobTerms& terms, const JobDetails& details);  // of the same request
Result<JobRequest> decode_request(std::string_view bytes);
// What the job asked for. slurmd and slurmctld have refused what cannot be decoded.
JobRequest request_of(const wire::JobAllocation& job);

std::string encode(const NodeFacts& facts);
Result<NodeFacts> decode_facts(std::string_view bytes);

std::string encode(const NodeUse& use);
Result<NodeUse> decode_node_use(std::string_view bytes);  // without its node
std::string encode(const GpuReport& report);
Result<GpuReport> decode_gpu_report(std::string_view bytes);

std::string encode(const TriggerRequest& request);
Result<TriggerRequest> decode_trigger_request(std::string_view bytes);
std::string encode(const TriggerChoice& choice);
Result<TriggerChoice> decode_trigger_choice(std::string_view bytes);
std::string encode(const Trigger& trigger);
Result<Trigger> decode_trigger(std::string_view bytes);
std::string encode(const ReservationChange& change);
Result<ReservationChange> decode_reservation_change(std::string_view bytes);
std::string encode(const JobChange& change);
Result<JobChange> decode_job_change(std::string_view bytes);
std::string encode(const NodeChange& change);
Result<NodeChange> decode_node_change(std::string_view bytes);
std::string encode(const PartitionChange& change);
Result<PartitionChange> decode_partition_change(std::string_view bytes);
std::string encode(const QosChange& change);

// ---- convert_run.cc: where jobs run, and what became of them

// With the node's name for readers without a node table.
wire::NodeShare to_wire(const NodeShare& share, std::string_view name = {});
// What SLURM_TASKS_PER_NODE says, from which MPI launchers take their slots: tasks as they were
// asked for, else one for as many CPUs as a task has.
// The GPUs of a share by their numbers, in order: whole ones and those it has parts of.
std::vector<std::uint32_t> gpus_of(const wire::NodeShare& share);
std::uint32_t tasks_announced(const wire::NodeShare& share, const Shape& shape);
// SLURM_TRES_PER_TASK: "cpu=2,gres/gpu:a40=1"; empty: nothing was asked for by task.
std::string tres_per_task(const Shape& shape);

wire::ExitStatus to_wire(const ExitStatus& exit);
Result<ExitStatus> from_wire(const wire::ExitStatus& exit);

// Numbers that are too large become the largest; samples that cannot be read are left out.
Usage from_wire(const wire::Usage& usage);
wire::Usage to_wire(const Usage& usage);

// ---- convert_explanation.cc: why a job waits

wire::Explanation to_wire(const Explanation& explanation);
Result<Explanation> from_wire(const wire::Explanation& explanation);

// ---- convert_query.cc: questions and answers

wire::Error to_wire(const Error& error);
// Codes of later versions stay as they are; what cannot be one becomes a ProtocolError.
Error from_wire(const wire::Error& error);

// At most so many jobs, whose array tasks can be found quickly.
using WireTexts = google::protobuf::RepeatedPtrField<std::string>;
Result<std::vector<JobRef>> job_refs_from(const WireTexts& names, std::size_t most);

wire::Filter to_wire(const Filter& filter);
Result<Filter> from_wire(const wire::Filter& filter);

wire::Listing to_wire(const Table& table);
Result<Table> from_wire(const wire::Listing& listing);

}  // namespace sluice
