// data/usage.h
//
// How much disk space directories use.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace sluice::data {

struct DiskUsage {
    std::uint64_t bytes = 0;  // of disk blocks; a file with several names counts once
    std::uint64_t files = 0;
};

struct UsageReport {
    DiskUsage all;
    std::map<std::string, DiskUsage> below;  // the directories directly in it
};
// What is mounted below the directory does not count.
Result<UsageReport> disk_usage(const std::string& directory, unsigned threads);

// "127.2G"
std::string print_size(std::uint64_t bytes);
// The text of disk-usage.txt; `updated`: "2020-11-21 15:04".
std::string usage_file(const DiskUsage& usage, const std::string& updated);

}  // namespace sluice::data
