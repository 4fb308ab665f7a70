// auth/token_test.cc
#include "auth/token.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "auth/validity.h"
#include "model/errors.h"
#include "wire.pb.h"

namespace sluice {
namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";
const Time kTokenTime = from_unix(1'700'000'000);
const std::string kDigest(32, 'd');
const Identity kAlice{UserId{1000}, GroupId{100}};

class Token : public testing::Test {
protected:
    TokenMint mint_{kKey, "login1"};
    TokenVerifier verifier_{kKey};
};

TEST_F(Token, SaysWhoItWasMintedFor) {
    EXPECT_EQ(
        verifier_.verify(mint_.mint(kAlice, kDigest, kTokenTime), kDigest, kTokenTime).value(),
        kAlice);
}

TEST_F(Token, IsGoodOnlyForWhatItCovers) {
    const std::string token = mint_.mint(kAlice, kDigest, kTokenTime);
    EXPECT_EQ(verifier_.verify(token, std::string(32, 'e'), kTokenTime).error().code,
              ErrorCode::AuthenticationFailed);
    EXPECT_FALSE(verifier_.verify(token, "", kTokenTime));
    EXPECT_TRUE(verifier_.verify(token, kDigest, kTokenTime)) << "refusals use nothing up";
}

TEST_F(Token, IsGoodOnce) {
    const std::string token = mint_.mint(kAlice, kDigest, kTokenTime);
    ASSERT_TRUE(verifier_.verify(token, kDigest, kTokenTime));
    EXPECT_EQ(verifier_.verify(token, kDigest, kTokenTime).error().code,
              ErrorCode::CredentialReplayed);
    EXPECT_EQ(verifier_.verify(token, kDigest, kTokenTime + kTokenLifetime).error().code,
              ErrorCode::CredentialReplayed);
}

TEST_F(Token, Expires) {
    const std::string token = mint_.mint(kAlice, kDigest, kTokenTime, Seconds{10});
    const auto refused = verifier_.verify(token, kDigest, kTokenTime + Seconds{11});
    EXPECT_EQ(refused.error().code, ErrorCode::CredentialExpired);
    EXPECT_NE(refused.error().detail.find("1700000010"), std::string::npos);
    EXPECT_NE(refused.error().detail.find("1700000011"), std::string::npos);
}

TEST_F(Token, FromTheFutureNamesBothClocks) {
    const auto refused = verifier_.verify(mint_.mint(kAlice, kDigest, kTokenTime + Seconds{61}),
                                          kDigest, kTokenTime);
    EXPECT_EQ(refused.error().code, ErrorCode::ClockSkew);
    EXPECT_NE(refused.error().detail.find("1700000061"), std::string::npos);
    EXPECT_NE(refused.error().detail.find("1700000000"), std::string::npos);
    EXPECT_TRUE(verifier_.verify(mint_.mint(kAlice, kDigest, kTokenTime + Seconds{60}), kDigest,
                                 kTokenTime));
}

TEST_F(Token, NoByteOfItCanBeChanged) {
    const std::string token = mint_.mint(kAlice, kDigest, kTokenTime);
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string altered = token;
        altered[at] = static_cast<char>(altered[at] ^ 1);
        EXPECT_FALSE(verifier_.verify(altered, kDigest, kTokenTime)) << at;
    }
    EXPECT_TRUE(verifier_.verify(token, kDigest, kTokenTime)) << "refusals use nothing up";
}

TEST_F(Token, OfAnotherKeyIsRefused) {
    const TokenMint other(std::string(32, 'x'), "login1");
    EXPECT_EQ(
        verifier_.verify(other.mint(kAlice, kDigest, kTokenTime), kDigest, kTokenTime).error().code,
        ErrorCode::AuthenticationFailed);
}

TEST_F(Token, NoiseIsRefused) {
    EXPECT_FALSE(verifier_.verify("", kDigest, kTokenTime));
    EXPECT_FALSE(verifier_.verify("noise", kDigest, kTokenTime));
    EXPECT_FALSE(verifier_.verify(std::string(1 << 20, '\x0a'), kDigest, kTokenTime));
}

TEST(ReplayCache, IsBoundedAndForgetsOnlyWhatHasExpired) {
    using enum ReplayCache::Verdict;
    ReplayCache cache(2);
    EXPECT_EQ(cache.use("a", kTokenTime + Seconds{10}, kTokenTime), Fresh);
    EXPECT_EQ(cache.use("b", kTokenTime + Seconds{20}, kTokenTime), Fresh);
    EXPECT_EQ(cache.use("c", kTokenTime + Seconds{20}, kTokenTime), Full);
    EXPECT_EQ(cache.use("a", kTokenTime + Seconds{10}, kTokenTime), Seen);
    EXPECT_EQ(cache.use("c", kTokenTime + Seconds{20}, kTokenTime + Seconds{11}), Fresh);
    EXPECT_EQ(cache.use("b", kTokenTime + Seconds{20}, kTokenTime + Seconds{20}), Seen);
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
    EXPECT_EQ(load_token_key(path_, UserId{0}).value(), kKey);
}

TEST_F(TokenKey, ThatOthersCanReadIsRefused) {
    write(kKey, 0644);
    EXPECT_NE(load_token_key(path_, UserId{0}).error().detail.find("mode 0644"), std::string::npos);
}

TEST_F(TokenKey, ItsGroupMayReadAndNotWrite) {
    write(kKey, 0640);
    EXPECT_EQ(load_token_key(path_, UserId{0}).value(), kKey);
    for (const mode_t mode : {0660, 0620}) {
        chmod(path_.c_str(), mode);
        EXPECT_NE(load_token_key(path_, UserId{0}).error().detail.find(fmt::format("{:04o}", mode)),
                  std::string::npos);
    }
}

TEST_F(TokenKey, OfAnotherUserIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    write(kKey, 0600);
    ASSERT_EQ(chown(path_.c_str(), 64030, 0), 0);
    EXPECT_NE(load_token_key(path_, UserId{0}).error().detail.find("belongs to uid 64030"),
              std::string::npos);
    EXPECT_EQ(load_token_key(path_, UserId{64030}).value(), kKey) << "SlurmUser may have it";
}

TEST_F(TokenKey, ThatIsTooShortIsRefused) {
    write("short", 0600);
    EXPECT_NE(load_token_key(path_, UserId{0}).error().detail.find("at least 16"),
              std::string::npos);
}

TEST_F(TokenKey, ThatIsMissingIsNamed) {
    EXPECT_NE(
        load_token_key("/nowhere/slurm.key", UserId{0}).error().detail.find("/nowhere/slurm.key"),
        std::string::npos);
}

TEST(TokenKeyPath, IsBesideSlurmConf) {
    EXPECT_EQ(default_token_key_path("/etc/slurm/slurm.conf"), "/etc/slurm/slurm.key");
    EXPECT_EQ(default_token_key_path("slurm.conf"), "slurm.key");
}

}  // namespace
}  // namespace sluice
