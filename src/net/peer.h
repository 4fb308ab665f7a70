// net/peer.h
//
// One daemon as another sees it: a connection that is kept, with one question at a time.
#pragma once

#include <string>
#include <vector>

#include "net/opening.h"
#include "protocol/frame.h"

namespace sluice {

class Authenticator;

struct PeerHost {
    Endpoint endpoint;
    std::string destination;  // auth/handshake.h
};

// Who asks.
struct AskingDaemon {
    std::string_view daemon;
    UserId slurm_user;
    Authenticator& authenticator;
};

class DaemonPeer {
public:
    // Of several hosts the first that answers is asked. An error ends the connection.
    Result<wire::Reply> ask(const AskingDaemon& asker, const Config& config,
                            const std::vector<PeerHost>& hosts, const wire::Request& request);

private:
    Result<std::string> connect(const AskingDaemon& asker, const Config& config,
                                const std::vector<PeerHost>& hosts, const wire::Request& request);
    Result<wire::Reply> exchange(const std::string& bytes, Seconds timeout);

    Connection connection_;
    FrameReader reader_{kReplySizeMax};
    bool is_welcomed_ = false;
};

}  // namespace sluice
