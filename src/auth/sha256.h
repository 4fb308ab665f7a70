// auth/sha256.h
//
// SHA-256 (FIPS 180-4). Not OpenSSL's, because the tools would then link libcrypto, whose set-up
// takes longer than their whole work.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

constexpr std::size_t kSha256Size = 32;
std::string sha256(std::string_view bytes);
// A signature with a key that both sides know (RFC 2104).
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace sluice
