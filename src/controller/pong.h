// controller/pong.h
//
// What a controller says about itself and its host when it is pinged, in standby or not.
#pragma once

#include <string>

#include "base/time.h"
#include "controller/published.h"
#include "wire.pb.h"

namespace sluice {

wire::Pong describe_controller(const LiveConfig& live, const std::string& hostname, Time boot_time);

}  // namespace sluice
