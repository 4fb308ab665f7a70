// auth/identity.h
//
// The authenticated identity of a peer.
#pragma once

#include "base/time.h"
#include "model/job.h"

namespace sluice {

struct Identity {
    UserId user;
    GroupId group;
    bool operator==(const Identity&) const = default;
};

// How far another machine's clock can be ahead of ours before it counts as wrong.
constexpr Seconds kClockSkewMax{60};

}  // namespace sluice
