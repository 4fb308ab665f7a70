#include "agent/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "auth/sha256.h"
#include "model/errors.h"
#include "model/job.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

Error not_signed(std::string what) {
    return {ErrorCode::CredentialInvalid, std::move(what)};
}

}  // namespace

Result<wire::LaunchCredential> claimed_by(const std::string& credential) {
    wire::SignedCredential signed_credential;
    wire::LaunchCredential claimed;
    if (!signed_credential.ParseFromString(credential) ||
        !claimed.ParseFromString(signed_credential.payload())) {
        return not_signed("this is no launch credential");
    }
    return claimed;
}

const wire::NodeShare* share_of(const wire::LaunchCredential& credential, std::string_view node) {
    for (const wire::NodeShare& share : credential.nodes()) {
        if (share.name() == node) return &share;
    }
    return nullptr;
}

Result<void> check_launch(const wire::LaunchTasks& launch, const wire::LaunchCredential& credential,
                          std::string_view node) {
    if (credential.run().step() == kBatchStep.value) {
        return not_signed("the credential is for a batch script, not for a step");
    }
    if (credential.run().step() == kExternStep.value)
        return not_signed("the credential is for the container of a job, not for a step");
    const wire::NodeShare* share = share_of(credential, node);
    if (!share || launch.node() != node) {
        return not_signed(
            fmt::format("the launch is for node '{}', this is {}", launch.node(), node));
    }
    std::uint64_t total = 0;
    for (const wire::NodeShare& each : credential.nodes()) total += each.tasks();
    if (launch.total_tasks() != total) {
        return not_signed(fmt::format("the launch is for a step of {} tasks, the credential for {}",
                                      launch.total_tasks(), total));
    }
    const auto& ids = launch.task_ids();
    if (static_cast<std::uint32_t>(ids.size()) != share->tasks()) {
        return not_signed(fmt::format("the launch names {} tasks for node {}, the credential {}",
                                      ids.size(), node, share->tasks()));
    }
    const bool is_ascending =
        std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
    if (!is_ascending || (!ids.empty() && *ids.rbegin() >= total)) {
        return not_signed(
            fmt::format("the task numbers of the launch must ascend, all below {}", total));
    }
    TRY(decode_request(launch.job().request()));
    const auto rank = static_cast<int>(launch.node_rank());
    if (rank < 0 || rank >= credential.nodes_size() || credential.nodes(rank).name() != node) {
        return not_signed(
            fmt::format("node {} is not number {} of the step", node, launch.node_rank()));
    }
    return {};
}

std::string blob_name(std::string_view bytes) {
    std::string name;
    for (const char byte : sha256(bytes))
        name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return name;
}

Result<void> check_batch(const wire::LaunchBatch& launch,
                         const wire::LaunchCredential& credential) {
    if (sha256(launch.job().request()) != credential.job().request())
        return not_signed("the request of the job is not the one that was signed");
    const JobRequest request = TRY(decode_request(launch.job().request()));
    if (blob_name(launch.script()) != request.script_hash)
        return not_signed("the script is not that of the job");
    if (blob_name(launch.environment()) != request.environment_hash)
        return not_signed("the environment is not that of the job");
    return {};
}

}  // namespace sluice
