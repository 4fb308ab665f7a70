// protocol/convert_fields.cc
//
// Values whose encoding is derived from their lists of fields. See convert.h.
#include "model/gpu_use_fields.h"
#include "model/job_change_fields.h"
#include "model/job_fields.h"
#include "model/node_fields.h"
#include "model/partition_fields.h"
#include "model/qos_fields.h"
#include "model/reservation_fields.h"
#include "model/trigger_fields.h"
#include "model/validate.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

template <HasFields Value>
std::string encode_fields(const Value& value) {
    std::string bytes;
    field_codec::put_fields(value, bytes);
    return bytes;
}

template <HasFields Value>
Result<Value> decode_fields(std::string_view bytes) {
    Value value;
    TRY(field_codec::get_fields(bytes, value));
    TRY(validate(value));
    return value;
}

}  // namespace

std::string encode(const JobTerms& terms, const JobDetails& details) {
    return encode_fields(terms) + encode_fields(details);
}

std::string encode(const JobRequest& request) {
    return encode(request, request);
}

Result<JobRequest> decode_request(std::string_view bytes) {
    JobRequest request;
    TRY(field_codec::get_fields(bytes, static_cast<JobTerms&>(request),
                                static_cast<JobDetails&>(request)));
    TRY(validate(request));
    return request;
}

JobRequest request_of(const wire::JobAllocation& job) {
    Result<JobRequest> request = decode_request(job.request());
    return request ? *std::move(request) : JobRequest{};
}

std::string encode(const NodeFacts& facts) {
    return encode_fields(facts);
}

Result<NodeFacts> decode_facts(std::string_view bytes) {
    return decode_fields<NodeFacts>(bytes);
}

std::string encode(const NodeUse& use) {
    return encode_fields(use);
}

Result<NodeUse> decode_node_use(std::string_view bytes) {
    return decode_fields<NodeUse>(bytes);
}

std::string encode(const GpuReport& report) {
    return encode_fields(report);
}

Result<GpuReport> decode_gpu_report(std::string_view bytes) {
    return decode_fields<GpuReport>(bytes);
}

std::string encode(const TriggerRequest& request) {
    return encode_fields(request);
}

Result<TriggerRequest> decode_trigger_request(std::string_view bytes) {
    return decode_fields<TriggerRequest>(bytes);
}

std::string encode(const TriggerChoice& choice) {
    return encode_fields(choice);
}

Result<TriggerChoice> decode_trigger_choice(std::string_view bytes) {
    return decode_fields<TriggerChoice>(bytes);
}

std::string encode(const Trigger& trigger) {
    return encode_fields(trigger);
}

Result<Trigger> decode_trigger(std::string_view bytes) {
    return decode_fields<Trigger>(bytes);
}

std::string encode(const ReservationChange& change) {
    return encode_fields(change);
}

Result<ReservationChange> decode_reservation_change(std::string_view bytes) {
    return decode_fields<ReservationChange>(bytes);
}

std::string encode(const JobChange& change) {
    return encode_fields(change);
}

Result<JobChange> decode_job_change(std::string_view bytes) {
    return decode_fields<JobChange>(bytes);
}

std::string encode(const NodeChange& change) {
    return encode_fields(change);
}

Result<NodeChange> decode_node_change(std::string_view bytes) {
    return decode_fields<NodeChange>(bytes);
}

std::string encode(const PartitionChange& change) {
    return encode_fields(change);
}

Result<PartitionChange> decode_partition_change(std::string_view bytes) {
    return decode_fields<PartitionChange>(bytes);
}

std::string encode(const QosChange& change) {
    return encode_fields(change);
}

}  // namespace sluice
