// controller/replies.cc
#include "controller/replies.h"

#include <fmt/format.h>

#include "auth/sha256.h"
#include "base/check.h"
#include "core/place/data.h"
#include "core/query/listing.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

const NodeConfig& config_of(const Snapshot& snapshot, NodeIndex index) {
    const auto node = snapshot.nodes.find(index.value);
    CHECK(node != nullptr);
    return node->config;
}

void describe_shares(const std::vector<NodeShare>& shares, const Snapshot& snapshot,
                     google::protobuf::RepeatedPtrField<wire::NodeShare>& messages) {
    for (const NodeShare& share : shares) {
        *messages.Add() = to_wire(share, config_of(snapshot, share.node).name);
    }
}

void describe_address(const Node& node, wire::NodeAddress& message) {
    message.set_name(node.config.name);
    message.set_address(address_of(node));
    message.set_port(node.config.port);
}

void describe_addresses(const std::vector<NodeShare>& shares, const Snapshot& snapshot,
                        google::protobuf::RepeatedPtrField<wire::NodeAddress>& messages) {
    for (const NodeShare& share : shares) {
        const std::shared_ptr<const Node> node = snapshot.nodes.find(share.node.value);
        CHECK(node);
        describe_address(*node, *messages.Add());
    }
}

void fill(const Error& error, const ReplyContext&, wire::Reply& reply) {
    *reply.mutable_error() = to_wire(error);
}

void fill(const Submitted& answer, const ReplyContext&, wire::Reply& reply) {
    wire::Submitted& message = *reply.mutable_submitted();
    message.set_job(answer.job.value);
    for (const std::string& warning : answer.warnings) message.add_warnings(warning);
    if (answer.start_estimate) message.set_start_estimate(to_unix(*answer.start_estimate));
    message.set_nodes(answer.nodes);
    message.set_cpus(answer.cpus);
    message.set_partition(answer.partition);
}

void fill(const std::vector<JobResult>& answer, const ReplyContext&, wire::Reply& reply) {
    wire::JobResults& message = *reply.mutable_results();
    for (const JobResult& result : answer) {
        wire::JobResult& row = *message.add_results();
        row.set_job(result.job);
        if (result.error) *row.mutable_error() = to_wire(*result.error);
    }
}

void fill(const StepGranted& answer, const ReplyContext& context, wire::Reply& reply) {
    wire::StepCreated& message = *reply.mutable_step();
    const Step& step = *answer.step;
    message.set_step(step.id.value);
    describe_shares(step.nodes, context.snapshot, *message.mutable_nodes());
    describe_addresses(step.nodes, context.snapshot, *message.mutable_addresses());
    message.set_credential(issue_credential(*answer.job, step.id, step.nodes, context));
    message.set_distribution(step.distribution);
    message.set_resv_ports(step.resv_ports);
    describe(*answer.job, context.snapshot, *message.mutable_job());
}

void fill(const StepNumbered& answer, const ReplyContext&, wire::Reply& reply) {
    reply.mutable_step()->set_step(answer.step.value);
}

void fill(const AllocationShown& answer, const ReplyContext& context, wire::Reply& reply) {
    describe(*answer.job, context.snapshot, *reply.mutable_allocation());
}

void fill(const ReservationNamed& answer, const ReplyContext&, wire::Reply& reply) {
    reply.set_reservation(answer.name);
}

void fill(const Done&, const ReplyContext&, wire::Reply& reply) {
    reply.mutable_done();
}

void fill(const std::vector<Explanation>& answer, const ReplyContext&, wire::Reply& reply) {
    wire::Explanations& message = *reply.mutable_explanations();
    for (const Explanation& each : answer) *message.add_jobs() = to_wire(each);
}

// What Prolog and Epilog get about the job, except parts of the request.
void describe_facts(const Job& job, wire::JobAllocation& message) {
    if (job.run.allocation) message.set_node_names(job.run.allocation->node_names);
    if (job.array_job) message.set_array_job(job.array_job->value);
    if (job.array_task) message.set_array_task(*job.array_task);
    message.set_partition(job.partition);
    *message.mutable_time_limit() = to_wire(job.time_limit);
    if (job.run.start_time) message.set_start_time(to_unix(*job.run.start_time));
    message.set_sluid(print_sluid(job.run.sluid));
}

// What staging and --sync need to know of a job: the output gets a line if they fail.
void describe_data(const Job& job, JobRequest& part) {
    part.stage_in = job.details->text(&JobDetails::stage_in);
    part.sync = job.details->text(&JobDetails::sync);
    if (part.stage_in.empty() && part.sync.empty()) return;
    part.kind = job.request->kind;
    part.name = job.details->name();
    part.work_dir = job.details->text(&JobDetails::work_dir);
    part.std_out = job.details->text(&JobDetails::std_out);
    part.std_err = job.details->text(&JobDetails::std_err);
}

// The parts of the request that Prolog and Epilog get.
void describe_demands(const Job& job, wire::JobAllocation& message) {
    JobRequest part;
    part.account = job.request->account;
    part.qos = job.request->qos;
    part.licenses = job.request->licenses;
    describe_data(job, part);
    message.set_request(encode(part));
}

}  // namespace

wire::Reply reply_from(const Answer& answer, const ReplyContext& context) {
    wire::Reply reply;
    std::visit([&](const auto& value) { fill(value, context, reply); }, answer);
    return reply;
}

wire::Reply error_reply(const Error& error) {
    wire::Reply reply;
    *reply.mutable_error() = to_wire(error);
    return reply;
}

void describe(const Job& job, const Snapshot& snapshot, wire::JobAllocation& message) {
    message.set_job(job.id.value);
    message.set_state(static_cast<std::uint32_t>(job.state));
    if (job.run.allocation) {
        describe_shares(job.run.allocation->nodes, snapshot, *message.mutable_nodes());
        describe_addresses(job.run.allocation->nodes, snapshot, *message.mutable_addresses());
    }
    describe_facts(job, message);
    message.set_request(encode(*job.request, job.details->unpacked()));
    message.set_user(job.user.value);
    message.set_group(job.group.value);
    *message.mutable_exit() = to_wire(job.run.exit);
    message.set_restarts(job.run.restarts);
    message.set_cluster_name(snapshot.settings->cluster_name);
    message.set_reason(static_cast<std::uint32_t>(job.reason));
    if (auto memory = memory_in_force(job, snapshot, true))
        message.set_default_mem_per_cpu(*memory);
    if (auto memory = memory_in_force(job, snapshot, false))
        message.set_default_mem_per_node(*memory);
}

void describe_data_peers(const Job& job, const Snapshot& snapshot, wire::PrepareJob& message) {
    constexpr int kOthersMost = 32;
    const std::set<std::uint64_t> sources = data_sources(job);
    if (sources.empty()) return;
    describe_addresses(job.run.allocation->nodes, snapshot, *message.mutable_peers());
    const int own = message.peers_size();
    snapshot.nodes.for_each([&](const Node& node) {
        const bool is_enough = message.peers_size() >= own + kOthersMost;
        if (is_enough || !node.connected || job.run.allocation->find(node.index)) return;
        if (count_datasets(node, sources) == 0) return;
        describe_address(node, *message.add_peers());
    });
}

void describe_for_epilog(const Job& job, NodeIndex node, const Snapshot& snapshot,
                         wire::JobAllocation& message) {
    describe_facts(job, message);
    describe_demands(job, message);
    message.set_user(job.user.value);
    message.set_group(job.group.value);
    if (const NodeShare* share = job.run.allocation ? job.run.allocation->find(node) : nullptr) {
        describe_shares({*share}, snapshot, *message.mutable_nodes());
    }
}

std::string issue_credential(const Job& job, StepId step, const std::vector<NodeShare>& nodes,
                             const ReplyContext& context, std::string_view batch_request) {
    wire::LaunchCredential credential;
    wire::RunId& run = *credential.mutable_run();
    run.set_job(job.id.value);
    run.set_restarts(job.run.restarts);
    run.set_step(step.value);
    credential.set_user(job.user.value);
    credential.set_group(job.group.value);
    describe_shares(nodes, context.snapshot, *credential.mutable_nodes());
    if (step == kBatchStep) {  // launched by the controller with all data
        credential.mutable_job()->set_request(sha256(batch_request));
    } else {
        describe_facts(job, *credential.mutable_job());
        describe_demands(job, *credential.mutable_job());
        for (const NodeShare& share : nodes) {
            const NodeShare* whole =
                job.run.allocation ? job.run.allocation->find(share.node) : nullptr;
            credential.add_job_memory(whole ? whole->memory : 0);
        }
    }
    return context.signer.sign(std::move(credential), context.now, context.credential_lifetime);
}

Bytes framed_reply(const wire::Reply& reply) {
    const std::size_t size = reply.ByteSizeLong();
    if (size <= kReplySizeMax) return framed(reply);
    return framed(error_reply(
        {ErrorCode::MessageTooLarge,
         fmt::format("the answer has {} bytes, the limit is {}", size, kReplySizeMax)}));
}

}  // namespace sluice
