// store/blob_hash.cc
//
// The name of a blob. See store.h.
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>

#include "base/check.h"
#include "store/store.h"

namespace sluice {

std::string blob_hash(std::string_view bytes) {
    // Looked up once: finding the algorithm takes longer than hashing a script.
    static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    const int done =
        EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha256, nullptr);
    CHECK(done == 1, "SHA-256 is there");
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
}

}  // namespace sluice
