#include "agent/stage_desk.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/stage_in.h"

namespace sluice {

StageDesk::StageDesk(EventLoop& loop, Jobs& jobs)
    : jobs_(jobs),
      service_(loop, 2 * sizes::kPath,
               [this](const std::string& line, const Peer& peer, const LineService::Answer& say) {
                   on_question(line, peer, say);
               }) {}

void StageDesk::open(const Site& site) {
    if (Result<void> opened = service_.open(stage_socket(site.node.name, site.scratch)); !opened)
        log_error("sdata stage will not reach this node: {}", to_string(opened.error()));
}

void StageDesk::on_question(const std::string& line, const Peer& peer,
                            const LineService::Answer& say) {
    constexpr std::string_view kVerb = "stage ";
    const std::string_view rest =
        line.starts_with(kVerb) ? std::string_view(line).substr(kVerb.size()) : "";
    const std::size_t space = rest.find(' ');
    const std::optional<std::uint64_t> job = to_number(rest.substr(0, space));
    if (!job || space == rest.npos || *job > 0xffffffff)
        return say("error the question is not understood");
    const JobId id{static_cast<std::uint32_t>(*job)};
    jobs_.stage_now(id, peer.uid, std::string(rest.substr(space + 1)),
                    [say](const std::optional<Error>& error) {
                        say(error ? "error " + error->detail : "done");
                    });
}

}  // namespace sluice
