// data/usage.h
//
// How much disk space directories use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/below.h"

namespace sluice::data {

struct DiskUsage {
    std::uint64_t bytes = 0;  // of disk blocks; a file with several names counts once
    std::uint64_t files = 0;
};

struct UsageReport {
    DiskUsage all;
    std::map<std::string, DiskUsage> below;  // the directories directly in it
    std::vector<std::string> unreadable;     // directories that do not count, with the reason
};
// What is mounted below the directory does not count.
Result<UsageReport> disk_usage(const std::string& directory, unsigned threads);

constexpr const char* kUsageName = "disk-usage.txt";

// "127.2G"
std::string print_size(std::uint64_t bytes);
// The text of disk-usage.txt; `updated`: "2020-11-21 15:04".
std::string usage_file(const DiskUsage& usage, const std::string& updated);
// Writes disk-usage.txt into the directory `name` directly in `top`; empty: into `top` itself. The
// caller may have more rights than the owner of the directory: no symbolic link in it is followed.
Result<void> write_usage_file(const Below& top, const std::string& name, const std::string& text);

}  // namespace sluice::data
