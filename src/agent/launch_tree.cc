// A step that srun launches on a part of its nodes through this one (TreeWidth, ADR 36): a relay
// does it, a process that this slurmd need not outlive.
#include "protocol/launch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "agent/jobs.h"
#include "agent/launch_check.h"
#include "base/log.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "os/error.h"
#include "os/fd_passing.h"
#include "os/process.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

Error refused(std::string what) {
    return {ErrorCode::CredentialInvalid, std::move(what)};
}

// A relay speaks with the rights of slurmd: only to nodes that the credential names.
Result<void> check_tree(const wire::LaunchTree& tree, const wire::LaunchCredential& credential,
                        std::string_view node) {
    if (tree.nodes().empty() || tree.nodes(0).address().name() != node)
        return refused("the first node of a tree must be the one that gets it");
    if (tree.width() < 1 || tree.width() > sizes::kTreeWidth)
        return refused(fmt::format("a tree cannot be {} wide", tree.width()));
    std::set<std::string_view> names;
    for (const wire::NodeShare& share : credential.nodes()) names.insert(share.name());
    for (const wire::TreeNode& each : tree.nodes()) {
        const std::string& name = each.address().name();
        if (names.erase(name) == 0 || each.launch().node() != name)
            return refused(fmt::format("the credential has no node '{}' for the tree", name));
    }
    return {};
}

}  // namespace

Result<void> Jobs::start_relay(const wire::LaunchTree& tree, const Caller& caller) {
    const wire::LaunchCredential claimed = TRY(claimed_by(tree.common().credential()));
    TRY(check_tree(tree, claimed, site_->node.name));
    TRY(check_caller(caller, claimed));
    if (!verifier_) return not_registered_yet();
    TRY(verifier_->verify_tree(tree.common().credential(), site_->node.name,
                               from_unix(std::time(nullptr))));
    const std::string run = print_run(key_of(claimed.run()));
    log_info("launch StepId={} on {} more nodes request from UID:{} GID:{}", run,
             tree.nodes_size() - 1, caller.identity.user.value, caller.identity.group.value);
    const Fd order = TRY(as(ErrorCode::NodeUnable, memory_file(tree.SerializeAsString())));
    TRY(as(ErrorCode::NodeUnable,
           spawn_helper(site_->relay_path,
                        {fmt::format("sluice-relay: [{}]", run), site_->config.path},
                        {caller.connection.get(), order.get()})));
    return {};
}

void Jobs::launch_tree(const wire::LaunchTree& tree, Caller caller) {
    const Result<void> started = start_relay(tree, caller);
    if (!started) caller.refuse(std::move(caller.connection), started.error());
}

}  // namespace sluice
