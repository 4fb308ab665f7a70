// cli/sacctmgr/about.cc
//
// sacctmgr show configuration.
#include "base/text.h"
#include "cli/common/job_setup.h"
#include "cli/sacctmgr/commands.h"
#include "cli/sacctmgr/show.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

int show_configuration(AccountingCommand& command) {
    wire::Request request;
    request.mutable_show_config();
    const Result<wire::Reply> reply = command.client.call(request);
    if (!reply) return command.fail(to_string(reply.error()));
    constexpr std::string_view kShown[] = {
        "AccountingStorage", "AuthAlt",    "AuthType",    "ClusterName", "JobAcctGather",
        "MessageTimeout",    "PluginDir",  "PrivateData", "SlurmUser",   "SLURM_CONF",
        "SLURM_VERSION",     "TCPTimeout", "TrackWCKey"};
    std::string out = fmt::format("Configuration data as of {}\n", print_moment(current_time()));
    for (std::string_view line : split(reply->text().text(), '\n')) {
        for (std::string_view key : kShown) {
            if (line.starts_with(key)) out.append(line).append("\n");
        }
    }
    command.streams.out(out);
    return 0;
}

}  // namespace sluice
