// protocol/spoken_versions.h
//
// Which versions of the protocol a program speaks. Two peers use the newest one that both know.
#pragma once

#include <cstdint>

namespace sluice {

struct VersionRange {
    std::uint32_t least = 0, most = 0;
};

VersionRange spoken_versions();

}  // namespace sluice
