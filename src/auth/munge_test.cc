// auth/munge_test.cc
//
// Against a real munged with a key and a socket of its own.
#include "auth/munge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "model/errors.h"

namespace sluice {
namespace {

class MungeDaemon : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "mungeXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        std::ofstream(directory_ + "/key") << std::string(64, 'k');
        chmod((directory_ + "/key").c_str(), 0600);
        socket_ = directory_ + "/socket";
        start("socket", "key");
    }

    void TearDown() override {
        for (const pid_t daemon : daemons_) {
            kill(daemon, SIGTERM);
            waitpid(daemon, nullptr, 0);
        }
        std::filesystem::remove_all(directory_);
    }

    void start(const std::string& socket, const std::string& key) {
        const auto option = [&](const char* name, const std::string& file) {
            return std::string("--") + name + "=" + directory_ + "/" + file;
        };
        const std::string words[] = {"munged",
                                     "--foreground",
                                     "--force",
                                     option("key-file", key),
                                     option("socket", socket),
                                     option("pid-file", socket + ".pid"),
                                     option("seed-file", socket + ".seed"),
                                     option("log-file", socket + ".log")};
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            const int null = open("/dev/null", O_RDWR);
            dup2(null, 1);
            dup2(null, 2);
            execv("/usr/sbin/munged", arguments.data());
            _exit(127);
        }
        daemons_.push_back(child);
        const Munge munge(directory_ + "/" + socket);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!munge.encode("") && std::chrono::steady_clock::now() < deadline) {
            ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "munged has ended";
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    std::string directory_;
    std::string socket_;
    std::vector<pid_t> daemons_;
};

TEST_F(MungeDaemon, VouchesForThisProcess) {
    const Munge munge(socket_);
    const std::string payload("a\0b", 3);
    const auto credential = munge.encode(payload);
    ASSERT_TRUE(credential) << to_string(credential.error());
    const auto decoded = munge.decode(*credential);
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    EXPECT_EQ(decoded->identity, (Identity{UserId{geteuid()}, GroupId{getegid()}}));
    EXPECT_EQ(decoded->payload, payload);
}

TEST_F(MungeDaemon, ChecksWhatACredentialCovers) {
    const Munge munge(socket_);
    EXPECT_EQ(munge.check(munge.encode("digest").value(), "digest")->user, UserId{geteuid()});
    EXPECT_EQ(munge.check(munge.encode("digest").value(), "other").error().code,
              ErrorCode::AuthenticationFailed);
    EXPECT_FALSE(munge.check(munge.encode("").value(), "other"));
}

TEST_F(MungeDaemon, AnotherUserCannotReadARestrictedCredential) {
    const Munge munge(socket_);
    const UserId self{geteuid()}, other{geteuid() + 1};
    EXPECT_TRUE(munge.decode(munge.encode("", self).value()));
    const auto refused = munge.decode(munge.encode("", other).value());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::AuthenticationFailed);
    EXPECT_NE(refused.error().detail.find("another user"), std::string::npos);
}

TEST_F(MungeDaemon, RefusesACredentialTheSecondTime) {
    const Munge munge(socket_);
    const std::string credential = munge.encode("").value();
    ASSERT_TRUE(munge.decode(credential));
    EXPECT_EQ(munge.decode(credential).error().code, ErrorCode::CredentialReplayed);
}

// The shortest life that MUNGE gives is a second.
TEST_F(MungeDaemon, SaysOfAnExpiredCredentialWhichClocksToCompare) {
    const std::string command = "munge --no-input --ttl=1 --socket=" + socket_;
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char credential[1024] = {};
    ASSERT_NE(fgets(credential, sizeof credential, pipe), nullptr);
    pclose(pipe);
    const auto made = time(nullptr);
    while (time(nullptr) <= made + 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto refused = Munge(socket_).decode(credential);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ClockSkew);
    EXPECT_NE(refused.error().detail.find("clock is behind"), std::string::npos)
        << refused.error().detail;
}

TEST_F(MungeDaemon, RefusesNoiseAndForeignKeys) {
    const Munge munge(socket_);
    EXPECT_EQ(munge.decode("noise").error().code, ErrorCode::AuthenticationFailed);

    std::ofstream(directory_ + "/other-key") << std::string(64, 'o');
    chmod((directory_ + "/other-key").c_str(), 0600);
    start("other-socket", "other-key");
    const std::string foreign = Munge(directory_ + "/other-socket").encode("").value();
    EXPECT_EQ(munge.decode(foreign).error().code, ErrorCode::AuthenticationFailed);
    EXPECT_NE(munge.decode(foreign).error().detail.find("munge.key"), std::string::npos);
}

TEST(Munge, NamesTheSocketWhereNobodyAnswers) {
    const auto refused = Munge("/nowhere/munge.socket").encode("");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::AuthenticationFailed);
    EXPECT_NE(refused.error().detail.find("/nowhere/munge.socket"), std::string::npos)
        << refused.error().detail;
}

}  // namespace
}  // namespace sluice
