// cli/common/transcripts.h
//
// For tests: transcripts of commands, tests/golden/TOOL/*.golden. Each has commands after "$ " and
// what they print, comments after "# ".
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace sluice {

// Runs each command again; the rest stays.
inline std::string replay_commands(
    const std::string& transcript,
    const std::function<std::string(const std::string& command)>& run) {
    std::string result;
    std::istringstream lines(transcript);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) result += line + "\n";
        if (line.starts_with("$ ")) result += line + "\n" + run(line.substr(2));
    }
    return result;
}

// Compares each transcript of the tool with what `replay` makes of it now, in UTC. BLESS=1 rewrites
// the files instead.
inline void check_transcripts(
    const std::string& tool,
    const std::function<std::string(const std::string& transcript)>& replay) {
    setenv("TZ", "UTC", 1);
    tzset();
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_DIR "/" + tool)) {
        if (entry.path().extension() != ".golden") continue;
        ++files;
        std::ifstream file(entry.path());
        const std::string expected{std::istreambuf_iterator<char>(file), {}};
        const std::string actual = replay(expected);
        if (std::getenv("BLESS"))
            std::ofstream(entry.path()) << actual;
        else
            EXPECT_EQ(expected, actual) << entry.path();
    }
    EXPECT_GT(files, 0);
}

}  // namespace sluice
