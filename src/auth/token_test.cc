// auth/token_test.cc
#include "auth/token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "auth/validity.h"
#include "model/errors.h"
#include "wire.pb.h"

namespace sluice {
namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";
const Time kNow = from_unix(1'700'000'000);
const Identity kAlice{UserId{1000}, GroupId{100}};

class Token : public testing::Test {
protected:
    TokenMint mint_{kKey, "login1"};
    TokenVerifier verifier_{kKey};
};

TEST_F(Token, SaysWhoItWasMintedFor) {
    EXPECT_EQ(verifier_.verify(mint_.mint(kAlice, kNow), kNow).value(), kAlice);
}

TEST_F(Token, IsGoodOnce) {
    const std::string token = mint_.mint(kAlice, kNow);
    ASSERT_TRUE(verifier_.verify(token, kNow));
    EXPECT_EQ(verifier_.verify(token, kNow).error().code, ErrorCode::CredentialReplayed);
    EXPECT_EQ(verifier_.verify(token, kNow + kTokenLifetime).error().code,
              ErrorCode::CredentialReplayed);
}

TEST_F(Token, Expires) {
    const std::string token = mint_.mint(kAlice, kNow, Seconds{10});
    const auto refused = verifier_.verify(token, kNow + Seconds{11});
    EXPECT_EQ(refused.error().code, ErrorCode::CredentialExpired);
    EXPECT_NE(refused.error().detail.find("1700000010"), std::string::npos);
    EXPECT_NE(refused.error().detail.find("1700000011"), std::string::npos);
}

TEST_F(Token, FromTheFutureNamesBothClocks) {
    const auto refused = verifier_.verify(mint_.mint(kAlice, kNow + Seconds{61}), kNow);
    EXPECT_EQ(refused.error().code, ErrorCode::ClockSkew);
    EXPECT_NE(refused.error().detail.find("1700000061"), std::string::npos);
    EXPECT_NE(refused.error().detail.find("1700000000"), std::string::npos);
    EXPECT_TRUE(verifier_.verify(mint_.mint(kAlice, kNow + Seconds{60}), kNow));
}

TEST_F(Token, NoByteOfItCanBeChanged) {
    const std::string token = mint_.mint(kAlice, kNow);
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string altered = token;
        altered[at] = static_cast<char>(altered[at] ^ 1);
        EXPECT_FALSE(verifier_.verify(altered, kNow)) << at;
    }
    EXPECT_TRUE(verifier_.verify(token, kNow)) << "refusals use nothing up";
}

TEST_F(Token, OfAnotherKeyIsRefused) {
    const TokenMint other(std::string(32, 'x'), "login1");
    EXPECT_EQ(verifier_.verify(other.mint(kAlice, kNow), kNow).error().code,
              ErrorCode::AuthenticationFailed);
}

TEST_F(Token, NoiseIsRefused) {
    EXPECT_FALSE(verifier_.verify("", kNow));
    EXPECT_FALSE(verifier_.verify("noise", kNow));
    EXPECT_FALSE(verifier_.verify(std::string(1 << 20, '\x0a'), kNow));
}

TEST(ReplayCache, IsBoundedAndForgetsOnlyWhatHasExpired) {
    using enum ReplayCache::Verdict;
    ReplayCache cache(2);
    EXPECT_EQ(cache.use("a", kNow + Seconds{10}, kNow), Fresh);
    EXPECT_EQ(cache.use("b", kNow + Seconds{20}, kNow), Fresh);
    EXPECT_EQ(cache.use("c", kNow + Seconds{20}, kNow), Full);
    EXPECT_EQ(cache.use("a", kNow + Seconds{10}, kNow), Seen);
    EXPECT_EQ(cache.use("c", kNow + Seconds{20}, kNow + Seconds{11}), Fresh);
    EXPECT_EQ(cache.use("b", kNow + Seconds{20}, kNow + Seconds{20}), Seen);
}

class TokenKey : public testing::Test {
protected:
    void write(const std::string& key, mode_t mode) {
        std::ofstream(path_) << key;
        chmod(path_.c_str(), mode);
    }
    std::string path_ = testing::TempDir() + "slurm.key";
    void TearDown() override { unlink(path_.c_str()); }
};

TEST_F(TokenKey, IsReadWhenOthersCannot) {
    write(kKey, 0600);
    EXPECT_EQ(load_token_key(path_).value(), kKey);
}

TEST_F(TokenKey, ThatOthersCanReadIsRefused) {
    write(kKey, 0644);
    EXPECT_NE(load_token_key(path_).error().detail.find("mode 0644"), std::string::npos);
}

TEST_F(TokenKey, ThatIsTooShortIsRefused) {
    write("short", 0600);
    EXPECT_NE(load_token_key(path_).error().detail.find("at least 16"), std::string::npos);
}

TEST_F(TokenKey, ThatIsMissingIsNamed) {
    EXPECT_NE(load_token_key("/nowhere/slurm.key").error().detail.find("/nowhere/slurm.key"),
              std::string::npos);
}

TEST(TokenKeyPath, IsBesideSlurmConf) {
    EXPECT_EQ(default_token_key_path("/etc/slurm/slurm.conf"), "/etc/slurm/slurm.key");
    EXPECT_EQ(default_token_key_path("slurm.conf"), "slurm.key");
}

}  // namespace
}  // namespace sluice
