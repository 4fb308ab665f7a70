// cli/scontrol/reboot.cc: scontrol reboot and cancel_reboot.
#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/node.h"

namespace sluice {

namespace {

constexpr std::string_view kNextState = "nextstate=";
constexpr std::string_view kReason = "reason=";

int refuse(Session& session, std::string_view text) {
    if (!session.quiet) session.streams.err(fmt::format("{}\n", text));
    return 1;
}

int report(Session& session, const Error& error) {
    if (session.quiet) return 1;
    if (error.code == ErrorCode::ConfigInvalid) {
        print_error(session.streams, session.invocation, error.detail);
        return refuse(session, "scontrol_reboot_nodes error: Unspecified error");
    }
    if (error.code == ErrorCode::AccessDenied) {
        return refuse(session, "scontrol_reboot_nodes error: Permission denied");
    }
    print_api_error(session.streams, "scontrol_reboot_nodes", error);
    return 1;
}

}  // namespace

// reboot [ASAP] [nextstate=RESUME|DOWN] [reason=TEXT] ALL|NODES
int reboot(Session& session, const Words& words) {
    wire::Request request;
    wire::RebootNodes& demand = *request.mutable_reboot();
    std::size_t next = 1;
    for (; next < words.size(); ++next) {
        const std::string& word = words[next];
        if (equals_ignoring_case(word, "ASAP")) {
            demand.set_asap(true);
        } else if (starts_with_ignoring_case(word, kNextState)) {
            const std::string state = word.substr(kNextState.size());
            const bool down = equals_ignoring_case(state, "DOWN");
            if (!down && !equals_ignoring_case(state, "RESUME")) {
                return refuse(session,
                              fmt::format("Invalid state: {}\nValid states: DOWN, RESUME", state));
            }
            demand.set_next(
                static_cast<std::uint32_t>(down ? AfterReboot::Down : AfterReboot::Resume));
        } else if (starts_with_ignoring_case(word, kReason)) {
            demand.set_reason(word.substr(kReason.size()));
        } else if (equals_ignoring_case(word, "FORCE")) {
            return refuse(session,
                          "reboot FORCE is not supported: drain the nodes, or cancel their jobs");
        } else {
            break;
        }
    }
    if (next == words.size()) return refuse(session, "Missing node list. Specify ALL|<NodeList>");
    if (next + 1 < words.size()) return refuse(session, "too many arguments for keyword:reboot");
    demand.set_nodes(words[next]);
    Result<wire::Reply> reply = session.client.call(request);
    return reply ? 0 : report(session, reply.error());
}

int cancel_reboot(Session& session, const Words& words) {
    if (words.size() < 2) return refuse(session, "missing argument for keyword:cancel_reboot");
    return update(session, {"update", "NodeName=" + words[1], "State=CANCEL_REBOOT"});
}

}  // namespace sluice
