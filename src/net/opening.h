// net/opening.h
//
// Opens a connection of a program to a daemon. Both authenticate themselves before the first
// request is sent: on a Unix socket by the kernel, over TCP by the handshake of docs/protocol.md.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "model/ids.h"
#include "os/socket.h"
#include "wire.pb.h"

namespace sluice {

class Authenticator;

struct Opening {
    std::string_view tool;
    const Config& config;
    wire::Channel channel;
    std::string destination;                 // auth/handshake.h
    std::optional<UserId> slurm_user = {};   // absent: it has to be looked up
    Authenticator* authenticator = nullptr;  // of a daemon; null: a tool of a user
    // For the server's greeting; absent: MessageTimeout.
    std::optional<std::chrono::milliseconds> patience = {};
};

// What is to be sent on a new connection, `first` at its end. Over TCP this has talked to the
// server already. Fails when the server is not one of this cluster's daemons.
Result<std::string> open_channel(const Connection& connection, const Opening& opening,
                                 const google::protobuf::MessageLite& first);

}  // namespace sluice
