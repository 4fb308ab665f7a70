// protocol/spoken_versions.cc
//
// Alone in its object file: programs of the next version, with which upgrades are tested, are
// linked with another definition (tools/next/protocol.cc).
#include "protocol/spoken_versions.h"

#include "protocol/frame.h"

namespace sluice {

VersionRange spoken_versions() {
    return {.least = kProtocolVersionMin, .most = kProtocolVersionMax};
}

}  // namespace sluice
