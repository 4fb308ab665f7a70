#include "base/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "base/audit_log.h"
#include "base/log_copy.h"

namespace sluice {
namespace {

class Log : public testing::Test {
protected:
    Log() {
        start_log({.program = "test",
                   .file = path_.string(),
                   .file_level = LogLevel::Info,
                   .stderr_level = LogLevel::Quiet});
    }
    ~Log() override {
        start_log({.program = "test"});
        std::filesystem::remove_all(directory_);
    }

    static std::filesystem::path make_directory() {
        char pattern[] = "/tmp/sluice_log_XXXXXX";
        return mkdtemp(pattern);
    }

    static std::vector<std::string> lines_of(const std::filesystem::path& path) {
        std::ifstream file(path);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }

    const std::filesystem::path directory_ = make_directory();
    const std::filesystem::path path_ = directory_ / "log";
};

TEST_F(Log, ALineHasTheTimeAndTheLevelOfAnError) {
    log_info("started as {}", "n1");
    log_error("cannot open {}", 7);
    const std::vector<std::string> lines = lines_of(path_);
    ASSERT_EQ(lines.size(), 2u);
    const std::string time = R"(\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\] )";
    EXPECT_TRUE(std::regex_match(lines[0], std::regex(time + "started as n1"))) << lines[0];
    EXPECT_TRUE(std::regex_match(lines[1], std::regex(time + "error: cannot open 7"))) << lines[1];
}

TEST_F(Log, AuditIsWrittenWhateverTheLevelIs) {
    for (const LogLevel level : {LogLevel::Quiet, LogLevel::Fatal, LogLevel::Debug5}) {
        set_log_level(level);
        log_audit("uid {}: change\nforged", 7);
    }
    const std::vector<std::string> lines = lines_of(path_);
    ASSERT_EQ(lines.size(), 3u);
    for (const std::string& line : lines)
        EXPECT_TRUE(line.ends_with("] audit: uid 7: change\\x0aforged")) << line;
}

TEST_F(Log, AuditGoesToStandardErrorInTheForegroundOnly) {
    for (const LogLevel level : {LogLevel::Error, LogLevel::Fatal}) {
        start_log({.program = "test", .stderr_level = level});
        testing::internal::CaptureStderr();
        log_audit("change");
        EXPECT_EQ(testing::internal::GetCapturedStderr(),
                  level == LogLevel::Error ? "test: audit: change\n" : "");
    }
}

TEST_F(Log, TheLevelDecidesWhatIsWrittenAndCanBeChanged) {
    EXPECT_TRUE(log_enabled(LogLevel::Info));
    EXPECT_FALSE(log_enabled(LogLevel::Debug));
    log_debug("before");
    set_log_level(LogLevel::Debug);
    EXPECT_TRUE(log_enabled(LogLevel::Debug));
    log_debug("after");
    set_log_level(LogLevel::Error);
    log_info("not an error");
    const std::vector<std::string> lines = lines_of(path_);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(lines[0].ends_with("debug:  after")) << lines[0];
}

TEST_F(Log, TheHighestLevelOfAnySinkCounts) {
    start_log({.program = "test", .stderr_level = LogLevel::Debug});
    EXPECT_TRUE(log_enabled(LogLevel::Debug));
    start_log({.program = "test", .file_level = LogLevel::Debug, .stderr_level = LogLevel::Error});
    EXPECT_FALSE(log_enabled(LogLevel::Info));  // there is no file
}

TEST_F(Log, AfterARotationTheNewFileIsWritten) {
    log_info("old");
    std::filesystem::rename(path_, directory_ / "log.1");
    log_info("still old");
    reopen_log();
    log_info("new");
    EXPECT_EQ(lines_of(directory_ / "log.1").size(), 2u);
    EXPECT_EQ(lines_of(path_).size(), 1u);
}

// ThreadSanitizer reads along.
TEST_F(Log, ThreadsWriteWholeLinesWhileTheLevelChanges) {
    constexpr int kLines = 200;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 3; ++writer) {
            writers.emplace_back([] {
                for (int i = 0; i < kLines; ++i) log_info("{}", std::string(100, 'x'));
            });
        }
        for (int i = 0; i < kLines; ++i) {
            set_log_level(i % 2 == 0 ? LogLevel::Debug : LogLevel::Info);
        }
    }
    const std::vector<std::string> lines = lines_of(path_);
    EXPECT_EQ(lines.size(), 3u * kLines);
    for (const std::string& line : lines) {
        EXPECT_TRUE(line.ends_with("] " + std::string(100, 'x'))) << line;
    }
}

TEST(LogLine, ForeignTextCannotForgeALine) {
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

TEST(LogLine, ALongLineIsCut) {
    EXPECT_EQ(escaped_log_line(std::string(kLogLineMost, 'x')), std::string(kLogLineMost, 'x'));
    EXPECT_EQ(escaped_log_line(std::string(kLogLineMost + 5, 'x')),
              std::string(kLogLineMost, 'x') + "... (5 more bytes)");
}

TEST_F(Log, WhatIsWrittenIsEscaped) {
    log_info("peer {}", "x\nforged");
    ASSERT_EQ(lines_of(path_).size(), 1u);
    EXPECT_NE(lines_of(path_)[0].find("peer x\\x0aforged"), std::string::npos);
}

TEST_F(Log, NoiseIsCountedBeyondAFewLinesASecond) {
    end_noise_second();
    for (std::uint32_t i = 0; i < kNoiseLinesPerSecond + 5; ++i)
        log_noise(LogLevel::Info, "refused {}", i);
    EXPECT_EQ(lines_of(path_).size(), kNoiseLinesPerSecond);
    while (lines_of(path_).size() == kNoiseLinesPerSecond) end_noise_second();
    EXPECT_NE(lines_of(path_).back().find("5 more lines"), std::string::npos);
    log_noise(LogLevel::Info, "refused again");
    EXPECT_NE(lines_of(path_).back().find("refused again"), std::string::npos);
}

TEST(LogCopy, TheReaderGetsLinesUpToItsLevelAndNoneOfItsOwn) {
    start_log({.program = "test", .stderr_level = LogLevel::Quiet});
    std::vector<std::string> read;
    copy_log(LogLevel::Debug, [&](const std::string& line) {
        read.push_back(line);
        log_error("from the reader");
    });
    log_error("first");
    log(LogLevel::Debug, "second");
    log(LogLevel::Debug2, "third");
    copy_log(LogLevel::Debug, {});
    log_error("fourth");
    EXPECT_EQ(read, (std::vector<std::string>{"error: first", "debug:  second"}));
    EXPECT_FALSE(log_enabled(LogLevel::Error));
}

}  // namespace
}  // namespace sluice
