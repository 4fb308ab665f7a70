// auth/identity.h
//
// Who is speaking, once somebody trustworthy has vouched for it.
#pragma once

#include "base/time.h"
#include "model/job.h"

namespace sluice {

struct Identity {
    UserId user;
    GroupId group;
    bool operator==(const Identity&) const = default;
};

// How far another machine's clock may run ahead of ours before we speak of a wrong clock.
constexpr Seconds kClockSkewMax{60};

}  // namespace sluice
