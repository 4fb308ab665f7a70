#include "controller/pong.h"

#include <unistd.h>

#include "model/release.h"
#include "net/run_on.h"

namespace sluice {

wire::Pong describe_controller(const LiveConfig& live, const std::string& hostname,
                               Time boot_time) {
    wire::Pong pong;
    pong.set_hostname(hostname);
    pong.set_pid(static_cast<std::uint32_t>(getpid()));
    pong.set_boot_time(to_unix(boot_time));
    pong.set_program_version(std::string(kRelease));
    pong.set_config_hash(live.hash);
    pong.set_clock(to_unix(wall_clock()));
    return pong;
}

}  // namespace sluice
