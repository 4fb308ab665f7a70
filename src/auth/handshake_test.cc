// auth/handshake_test.cc
#include "auth/handshake.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "auth/sha256.h"
#include "auth/validity.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// The examples of FIPS 180-4, and both sides of the places where the padding takes another block.
TEST(Sha256, IsThatOfTheStandard) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(hex(sha256(std::string(55, 'a'))),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(hex(sha256(std::string(64, 'a'))),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// The examples of RFC 4231: a short key, one that is larger than a block; and one that fills a
// block.
TEST(HmacSha256, IsThatOfTheStandard) {
    EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                              "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    EXPECT_EQ(hex(hmac_sha256(std::string(64, 'k'), "")),
              "83026a325aaee70e36cfe607536aa1054104ad1077c36134810d4ccded1ccd3b");
}

wire::Hello hello_of_version(std::uint32_t least, std::uint32_t most) {
    wire::Hello hello;
    hello.set_program("squeue");
    hello.set_version_min(least);
    hello.set_version(most);
    return hello;
}

TEST(Versions, TheNewestThatBothSpeakIsUsed) {
    EXPECT_EQ(common_version(hello_of_version(kProtocolVersionMin, kProtocolVersionMax), "slurmd")
                  .value(),
              kProtocolVersionMax);
    EXPECT_EQ(common_version(hello_of_version(1, kProtocolVersionMax + 5), "slurmd").value(),
              kProtocolVersionMax);
    EXPECT_EQ(common_version(hello_of_version(0, kProtocolVersionMin), "slurmd").value(),
              kProtocolVersionMin);
}

TEST(Versions, TooOldAndTooNewNamesBothSides) {
    const auto newer = common_version(
        hello_of_version(kProtocolVersionMax + 1, kProtocolVersionMax + 3), "slurmd");
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code, ErrorCode::ProtocolVersion);
    EXPECT_EQ(newer.error().detail,
              "squeue speaks versions 3 to 5 of the protocol, this slurmd speaks version 2");
    EXPECT_FALSE(common_version(hello_of_version(0, kProtocolVersionMin - 1), "slurmd"));
    EXPECT_FALSE(common_version(hello_of_version(1, kProtocolVersionMin - 1), "slurmd"));
}

// A Hello as a squeue of protocol version 1 sent it over TCP.
TEST(Versions, AHelloOfVersion1IsReadAndRefused) {
    const std::string bytes("\x08\x01\x1a\x07MUNGE:A\x22\x06squeue", 19);
    const auto hello = decode<wire::Hello>(bytes);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->channel(), wire::CHANNEL_CLIENT);
    EXPECT_EQ(common_version(*hello, "slurmctld").error().detail,
              "squeue speaks version 1 of the protocol, this slurmctld speaks version 2");
}

struct Conversation {
    wire::Hello hello = make_hello(wire::CHANNEL_AGENT, "slurmd");
    wire::Welcome welcome;
    std::string request_hash = sha256("request");
    Conversation() {
        address_hello(hello, controller_destination("ctl1"));
        welcome.set_version(2);
        welcome.set_nonce(std::string(kNonceSize, 's'));
        welcome.set_launch_key("key");
        hello.set_nonce(std::string(kNonceSize, 'c'));
    }
    std::string server() const { return server_digest(hello, welcome); }
    std::string client() const { return client_digest(hello, welcome, request_hash); }
};

// A digest that other programs can compute by docs/protocol.md.
TEST(Digest, IsAsDocumented) {
    const Conversation talk;
    EXPECT_EQ(hex(talk.server()), hex(sha256(std::string("\x0d\0\0\0sluice server"
                                                         "\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0"
                                                         "\x0e\0\0\0slurmctld ctl1"
                                                         "\x10\0\0\0cccccccccccccccc"
                                                         "\x10\0\0\0ssssssssssssssss"
                                                         "\3\0\0\0key",
                                                         98))));
}

TEST(Digest, ChangesWithEverythingThatWasSaid) {
    std::set<std::string> seen;
    auto add = [&](auto change) {
        Conversation talk;
        change(talk);
        seen.insert(talk.server());
        seen.insert(talk.client());
    };
    add([](Conversation&) {});
    add([](Conversation& talk) { talk.hello.set_nonce(std::string(kNonceSize, 'x')); });
    add([](Conversation& talk) { talk.welcome.set_nonce(std::string(kNonceSize, 'x')); });
    add([](Conversation& talk) { talk.hello.set_destination("slurmd ctl1"); });
    add([](Conversation& talk) { talk.hello.set_channel(wire::CHANNEL_CLIENT); });
    add([](Conversation& talk) { talk.hello.set_version(3); });
    add([](Conversation& talk) { talk.hello.set_version_min(1); });
    add([](Conversation& talk) { talk.welcome.set_version(3); });
    EXPECT_EQ(seen.size(), 16u);
    add([](Conversation& talk) { talk.welcome.set_launch_key("other"); });  // the server's alone
    EXPECT_EQ(seen.size(), 17u);
    add([](Conversation& talk) { talk.request_hash = sha256("other"); });  // the client's alone
    EXPECT_EQ(seen.size(), 18u);
}

TEST(Handshake, NoncesAreNotUsedTwice) {
    wire::Hello first = make_hello(wire::CHANNEL_CLIENT, "squeue"), second = first;
    EXPECT_TRUE(first.nonce().empty());
    address_hello(first, "slurmd n1");
    address_hello(second, "slurmd n1");
    EXPECT_EQ(first.nonce().size(), kNonceSize);
    EXPECT_NE(first.nonce(), second.nonce());
}

TEST(Handshake, ADaemonRefusesWhatIsMeantForAnother) {
    const Conversation talk;
    EXPECT_TRUE(check_hello(talk.hello, true));
    const auto refused = check_hello(talk.hello, false);
    EXPECT_EQ(refused.error().code, ErrorCode::AuthenticationFailed);
    EXPECT_NE(refused.error().detail.find("slurmctld ctl1"), std::string::npos);
    wire::Hello bare = talk.hello;
    bare.set_nonce("short");
    EXPECT_FALSE(check_hello(bare, true));
}

TEST(Handshake, AServerWithoutACredentialIsRefused) {
    Conversation talk;
    EXPECT_EQ(check_welcome(talk.welcome).error().code, ErrorCode::AuthenticationFailed);
    talk.welcome.set_credential("something");
    EXPECT_TRUE(check_welcome(talk.welcome));
    talk.welcome.set_nonce("");
    EXPECT_FALSE(check_welcome(talk.welcome));
    talk.welcome.set_version(kProtocolVersionMax + 1);
    EXPECT_EQ(check_welcome(talk.welcome).error().code, ErrorCode::ProtocolVersion);
    *talk.welcome.mutable_error() = to_wire({ErrorCode::AccessDenied, "no"});
    EXPECT_EQ(check_welcome(talk.welcome).error(), (Error{ErrorCode::AccessDenied, "no"}));
}

TEST(Handshake, AServerRunsAsRootOrSlurmUser) {
    const UserId slurm{64030};
    EXPECT_TRUE(check_server(UserId{0}, slurm));
    EXPECT_TRUE(check_server(slurm, slurm));
    EXPECT_EQ(check_server(UserId{1000}, slurm).error().code, ErrorCode::AuthenticationFailed);
    EXPECT_FALSE(check_server(UserId{1000}, UserId{0}));
    EXPECT_TRUE(check_local_server(UserId{geteuid()}, slurm));
    EXPECT_FALSE(check_local_server(UserId{geteuid() + 1}, slurm));
}

TEST(Handshake, TheFirstMessageIsTheOneThatWasCovered) {
    EXPECT_TRUE(check_request_hash(sha256("run this"), "run this"));
    EXPECT_FALSE(check_request_hash(sha256("run this"), "run that"));
    EXPECT_FALSE(check_request_hash("", "run this"));
}

}  // namespace
}  // namespace sluice
