// cli/common/x11.h
//
// --x11: the X server that the display of tasks leads to, and the cookie by which it knows its
// clients, from the file of xauth(1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/common/environment.h"
#include "config/config.h"
#include "os/fd.h"

namespace sluice {

struct XServer {
    std::string host;  // empty: this one, by the Unix socket
    std::uint32_t display = 0, screen = 0;
    std::string cookie;
};

// "host:10.0", ":0", "unix:1"
Result<XServer> parse_display(std::string_view text);
// The cookie for a display of this host, or of another one; empty: the file has none.
std::string find_cookie(std::string_view authority, const XServer& server, std::string_view host);

// Refused without $DISPLAY, without a cookie, and where PrologFlags lacks X11.
Result<XServer> find_x_server(const Environment& environment, const Config& config);
// sbatch: for a script that connects itself (model/batch_x11.h). Refused for a display that only
// this host can reach.
Result<std::string> display_for_script(const XServer& server);
Result<Fd> connect_x_server(const XServer& server);

}  // namespace sluice
