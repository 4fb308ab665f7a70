// base/log_test.cc
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace sluice {
namespace {

TEST(Log, ForeignTextCannotForgeALine) {
    EXPECT_EQ(escaped_log_line("plain text, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
              "plain text, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_EQ(escaped_log_line("a\n[2030-01-01] root did it"), "a\\x0a[2030-01-01] root did it");
    EXPECT_EQ(escaped_log_line(std::string_view("\0\t\r\x1b[2J\x7f", 8)),
              "\\x00\\x09\\x0d\\x1b[2J\\x7f");
    EXPECT_EQ(escaped_log_line("\xc2\x9b"
                               "31m"),
              "\\xc2\\x9b31m");  // a control in UTF-8
    EXPECT_EQ(escaped_log_line("a\xe2\x80\xa8"
                               "b"),
              "a\\xe2\\x80\\xa8"
              "b");                                         // line separator
    EXPECT_EQ(escaped_log_line("\xff\xc3"), "\\xff\\xc3");  // broken UTF-8
}

TEST(Log, ALongLineIsCut) {
    EXPECT_EQ(escaped_log_line(std::string(kLogLineMost, 'x')), std::string(kLogLineMost, 'x'));
    EXPECT_EQ(escaped_log_line(std::string(kLogLineMost + 5, 'x')),
              std::string(kLogLineMost, 'x') + "... (5 more bytes)");
}

struct LogFile {
    std::string path = "/tmp/sluice-log-test." + std::to_string(getpid());
    LogFile() { start_log({.program = "test", .file = path, .stderr_level = LogLevel::Quiet}); }
    ~LogFile() {
        start_log({.program = "test"});
        unlink(path.c_str());
    }
    std::vector<std::string> lines() const {
        std::ifstream in(path);
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }
};

TEST(Log, WhatIsWrittenIsEscaped) {
    const LogFile file;
    log_info("peer {}", "x\nforged");
    ASSERT_EQ(file.lines().size(), 1u);
    EXPECT_NE(file.lines()[0].find("peer x\\x0aforged"), std::string::npos);
}

TEST(Log, NoiseIsCountedBeyondAFewLinesASecond) {
    const LogFile file;
    end_noise_second();
    for (std::uint32_t i = 0; i < kNoiseLinesPerSecond + 5; ++i)
        log_noise(LogLevel::Info, "refused {}", i);
    EXPECT_EQ(file.lines().size(), kNoiseLinesPerSecond);
    while (file.lines().size() == kNoiseLinesPerSecond) end_noise_second();
    EXPECT_NE(file.lines().back().find("5 more lines"), std::string::npos);
    log_noise(LogLevel::Info, "refused again");
    EXPECT_NE(file.lines().back().find("refused again"), std::string::npos);
}

TEST(Log, TheLevelMayChangeWhileOthersWrite) {
    const LogFile file;
    std::thread other([] {
        for (int i = 0; i < 1000; ++i) log_debug("line {}", i);
    });
    for (int i = 0; i < 1000; ++i) set_log_level(i % 2 ? LogLevel::Info : LogLevel::Debug);
    other.join();
    EXPECT_FALSE(log_enabled(LogLevel::Debug));
    set_log_level(LogLevel::Debug);
    EXPECT_TRUE(log_enabled(LogLevel::Debug));
}

}  // namespace
}  // namespace sluice
