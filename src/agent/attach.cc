// sattach: its connection is passed on to the supervisor of the step.
#include <fmt/format.h>

#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/fd_passing.h"
#include "os/socket.h"
#include "protocol/step_mark.h"

namespace sluice {

namespace {

constexpr std::chrono::milliseconds kConnectTime{200};  // slurmd waits for it

Result<void> pass_on(const std::string& place, const Fd& connection) {
    const Fd line = TRY(connect_as(attach_socket(place), kConnectTime));
    const std::optional<Peer> peer = peer_of(line);
    if (!peer || !is_one_of_us(peer->uid)) {
        return Error{ErrorCode::AccessDenied, "somebody else listens there"};
    }
    return send_fd(line, connection);
}

}  // namespace

bool Jobs::may_see_steps(const Identity& asker, std::uint32_t owner) const {
    const std::uint32_t user = asker.user.value;
    return user == owner || user == 0 || user == site_->slurm_user;
}

void Jobs::attach(const wire::AttachStep& order, Caller caller) {
    const auto refuse = [&](ErrorCode code, const std::string& detail) {
        caller.refuse(std::move(caller.connection), {code, detail});
    };
    for (const auto& [key, job] : node_.jobs) {
        if (key.job.value != order.job()) continue;
        if (!may_see_steps(caller.identity, job.hook.user)) {
            return refuse(ErrorCode::AccessDenied, "");
        }
        const RunKey run{key, StepId{order.step()}};
        const auto supervisor = supervisors_.find(run);
        if (supervisor == supervisors_.end() || !supervisor->second.line) continue;
        log_info("[{}] attached by UID:{}", print_run(run), caller.identity.user.value);
        const Result<void> passed = pass_on(supervisor->second.place, caller.connection);
        if (!passed) refuse(ErrorCode::LaunchFailed, passed.error().detail);
        return;
    }
    refuse(ErrorCode::InvalidStepId, fmt::format("it does not run on node {}", site_->node.name));
}

}  // namespace sluice
