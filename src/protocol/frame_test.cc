// protocol/frame_test.cc
#include "protocol/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/errors.h"
#include "wire.pb.h"

namespace sluice {
namespace {

wire::Text text_message(const std::string& text) {
    wire::Text message;
    message.set_text(text);
    return message;
}

RC_GTEST_PROP(Frame, MessagesComeOutAsTheyWentInHoweverTheStreamIsCut,
              (const std::vector<std::string>& texts, unsigned pieces)) {
    std::string stream;
    for (const std::string& text : texts) append_frame(stream, text_message(text));

    FrameReader reader;
    std::vector<std::string> got;
    const std::size_t piece = 1 + pieces % 7;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        reader.feed(std::string_view(stream).substr(at, piece));
        for (auto frame = reader.next(); *frame; frame = reader.next()) {
            got.push_back(decode<wire::Text>(**frame)->text());
        }
    }
    RC_ASSERT(got == texts);
}

TEST(Frame, ALengthOverTheLimitIsRefusedAtOnceAndForGood) {
    FrameReader reader(100);
    reader.feed(std::string_view("\x65\0\0\0", 4));
    auto frame = reader.next();
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, ErrorCode::MessageTooLarge);
    reader.feed(std::string(200, 'x'));
    EXPECT_FALSE(reader.next());
}

TEST(Frame, WhoTakesWhatIsMissingLeavesTheNextMessageAlone) {
    std::string stream;
    append_frame(stream, text_message("an order"));
    const std::size_t first = stream.size();
    append_frame(stream, text_message("the word to end it, right behind"));

    FrameReader reader;
    std::size_t taken = 0;
    for (auto frame = reader.next(); !*frame; frame = reader.next()) {
        const std::size_t missing = reader.missing();
        reader.feed(std::string_view(stream).substr(taken, missing));
        taken += missing;
    }
    EXPECT_EQ(taken, first);
}

TEST(Frame, TheLimitItselfIsAllowed) {
    FrameReader reader(3);
    reader.feed(std::string_view("\3\0\0\0abc", 7));
    EXPECT_EQ(reader.next().value(), "abc");
}

TEST(Frame, AnEmptyMessageIsAMessage) {
    std::string stream;
    append_frame(stream, wire::Empty());
    FrameReader reader;
    reader.feed(stream);
    EXPECT_EQ(reader.next().value(), "");
    EXPECT_EQ(reader.next().value(), std::nullopt);
}

TEST(Frame, WhatIsNoMessageIsAnError) {
    EXPECT_EQ(decode<wire::Hello>("\xff\xff\xff").error().code, ErrorCode::ProtocolError);
}

TEST(Frame, TextsNeedNotBeUtf8) {
    std::string stream;
    append_frame(stream, text_message("caf\xe9"));
    EXPECT_EQ(decode<wire::Text>(std::string_view(stream).substr(4))->text(), "caf\xe9");
}

TEST(Frame, AMessageThatIsNotWantedIsDroppedAsItArrives) {
    wire::Hello large, small;
    large.set_program(std::string(1000, 'x'));
    small.set_program("next");
    std::string bytes, next;
    append_frame(bytes, large);
    append_frame(next, small);
    const std::size_t length = bytes.size() - kFrameHeaderSize;
    for (std::size_t cut : {std::size_t{4}, std::size_t{5}, bytes.size() - 1}) {
        FrameReader reader;
        reader.feed(bytes.substr(0, 3));
        EXPECT_EQ(reader.announced(), std::nullopt);
        reader.feed(bytes.substr(3, cut - 3));
        EXPECT_EQ(reader.announced(), length);
        reader.skip();
        EXPECT_TRUE(reader.is_skipping());
        reader.feed(bytes.substr(cut) + next);
        EXPECT_FALSE(reader.is_skipping());
        const auto message = reader.next();
        ASSERT_TRUE(message && *message);
        EXPECT_EQ(decode<wire::Hello>(**message)->program(), "next");
    }
}

}  // namespace
}  // namespace sluice
