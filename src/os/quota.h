// os/quota.h
//
// How full a file system is, and how much of it a user may still use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

struct SpaceFacts {
    std::uint64_t free = 0, total = 0;              // bytes, free for users
    std::uint64_t files_free = 0, files_total = 0;  // total 0: there is no limit
};
std::optional<SpaceFacts> space_of(const std::string& path);

struct QuotaFacts {
    std::uint64_t used = 0, limit = 0;  // bytes; limit 0: none
    std::uint64_t files = 0, files_limit = 0;
};
// Of a file system of this host; nothing where it has no quota, or does not tell.
std::optional<QuotaFacts> quota_of(const std::string& path, uid_t user);

}  // namespace sluice
