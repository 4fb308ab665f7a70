// data/tar.h
//
// Members of a tar archive: POSIX.1-2001 (pax), which keeps long and unusual names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::data {

constexpr std::size_t kTarBlock = 512;

// Header, bytes and padding. All metadata but the name and size is fixed, so that equal content
// gives equal archives.
void append_tar_member(std::string& out, std::string_view path, std::string_view bytes);
// Two empty blocks.
std::string tar_end();

struct TarMember {
    std::string path;
    std::string_view bytes;    // of the archive that was given
    std::uint64_t length = 0;  // with headers and padding
};
// The member that begins `archive`. At the end of the archive its length is 0.
Result<TarMember> read_tar_member(std::string_view archive);

}  // namespace sluice::data
