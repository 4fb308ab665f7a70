// auth/launch_credential_test.cc
#include "auth/launch_credential.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/errors.h"

namespace sluice {
namespace {

const Time kNow = from_unix(1'700'000'000);
constexpr Seconds kLifetime{120};

class LaunchCredential : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "credentialXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        signer_.emplace(CredentialSigner::load_or_create(directory_ + "/key").value());
        verifier_ = CredentialVerifier::create(signer_->public_key()).value();
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string signed_for(const std::vector<std::string>& nodes) {
        wire::LaunchCredential credential;
        credential.mutable_run()->set_job(12);
        credential.set_user(1000);
        for (const std::string& node : nodes) credential.add_nodes()->set_name(node);
        return signer_->sign(credential, kNow, kLifetime);
    }

    std::string directory_;
    std::optional<CredentialSigner> signer_;
    std::unique_ptr<CredentialVerifier> verifier_;
};

TEST_F(LaunchCredential, LetsItsJobRunOnItsNodes) {
    const auto accepted = verifier_->verify(signed_for({"n1", "n2"}), "n2", kNow);
    ASSERT_TRUE(accepted) << to_string(accepted.error());
    EXPECT_EQ(accepted->run().job(), 12u);
    EXPECT_EQ(accepted->user(), 1000u);
}

TEST_F(LaunchCredential, IsNotForOtherNodes) {
    const std::string credential = signed_for({"n1", "n2"});
    EXPECT_EQ(verifier_->verify(credential, "n3", kNow).error().code, ErrorCode::CredentialInvalid);
    EXPECT_TRUE(verifier_->verify(credential, "n1", kNow)) << "refusals use nothing up";
}

TEST_F(LaunchCredential, IsGoodForOneTreeBesideTheLaunch) {
    const std::string credential = signed_for({"n1", "n2"});
    ASSERT_TRUE(verifier_->verify_tree(credential, "n1", kNow));
    EXPECT_EQ(verifier_->verify_tree(credential, "n1", kNow).error().code,
              ErrorCode::CredentialReplayed);
    EXPECT_TRUE(verifier_->verify(credential, "n1", kNow));
    EXPECT_EQ(verifier_->verify_tree(signed_for({"n2"}), "n1", kNow).error().code,
              ErrorCode::CredentialInvalid);
}

TEST_F(LaunchCredential, IsGoodForOneLaunch) {
    const std::string credential = signed_for({"n1"});
    ASSERT_TRUE(verifier_->verify(credential, "n1", kNow));
    EXPECT_EQ(verifier_->verify(credential, "n1", kNow).error().code,
              ErrorCode::CredentialReplayed);
}

TEST_F(LaunchCredential, Expires) {
    const std::string credential = signed_for({"n1"});
    EXPECT_EQ(verifier_->verify(credential, "n1", kNow + kLifetime + Seconds{1}).error().code,
              ErrorCode::CredentialExpired);
    EXPECT_TRUE(verifier_->verify(credential, "n1", kNow + kLifetime));
}

TEST_F(LaunchCredential, FromTheFutureMeansThatAClockIsWrong) {
    EXPECT_EQ(verifier_->verify(signed_for({"n1"}), "n1", kNow - Seconds{61}).error().code,
              ErrorCode::ClockSkew);
}

TEST_F(LaunchCredential, NoByteOfItCanBeChanged) {
    const std::string credential = signed_for({"n1"});
    for (std::size_t at = 0; at < credential.size(); ++at) {
        std::string altered = credential;
        altered[at] = static_cast<char>(altered[at] ^ 1);
        EXPECT_FALSE(verifier_->verify(altered, "n1", kNow)) << at;
    }
}

TEST_F(LaunchCredential, OfAnotherSignerIsRefused) {
    const auto other = CredentialSigner::load_or_create(directory_ + "/other").value();
    wire::LaunchCredential forged;
    forged.add_nodes()->set_name("n1");
    EXPECT_EQ(verifier_->verify(other.sign(forged, kNow, kLifetime), "n1", kNow).error().code,
              ErrorCode::CredentialInvalid);
}

TEST_F(LaunchCredential, KeyStaysTheSameAndPrivate) {
    const std::string path = directory_ + "/key";
    EXPECT_EQ(CredentialSigner::load_or_create(path)->public_key(), signer_->public_key());
    struct stat facts {};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);

    chmod(path.c_str(), 0640);
    EXPECT_NE(CredentialSigner::load_or_create(path).error().detail.find("mode 0640"),
              std::string::npos);
}

TEST_F(LaunchCredential, KeyOfAnotherUserIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const std::string path = directory_ + "/key";
    ASSERT_EQ(chown(path.c_str(), 64030, 0), 0);
    EXPECT_NE(CredentialSigner::load_or_create(path).error().detail.find("belongs to uid 64030"),
              std::string::npos);
}

TEST_F(LaunchCredential, KeyOfTheWrongLengthIsNamed) {
    const std::string path = directory_ + "/long";
    std::ofstream(path) << std::string(40, 'x');
    chmod(path.c_str(), 0600);
    EXPECT_NE(CredentialSigner::load_or_create(path).error().detail.find(path), std::string::npos);
}

TEST(CredentialVerifier, WantsAnEd25519Key) {
    EXPECT_FALSE(CredentialVerifier::create("short"));
}

}  // namespace
}  // namespace sluice
