// tools/next/protocol.cc
//
// The protocol of the next version, for tests of upgrades: one version more, and still this one.
#include "protocol/frame.h"
#include "protocol/spoken_versions.h"

namespace sluice {

VersionRange spoken_versions() {
    return {.least = kProtocolVersionMin, .most = kProtocolVersionMax + 1};
}

}  // namespace sluice
