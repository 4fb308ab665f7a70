#include "agent/job_directories.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/run_key.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::size_t kSpareMost = 16;
constexpr std::string_view kSpare = "spare.";

bool remove_files(const std::string& directory) {
    const std::vector<std::string> names = list_directory(directory);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return unlink((directory + "/" + name).c_str()) == 0;
    });
}

}  // namespace

void JobDirectories::remove_spare(const std::string& spool) {
    for (const std::string& name : list_directory(spool)) {
        if (name.starts_with(kSpare)) remove_tree(absolute_path(name, spool));
    }
}

Result<void> JobDirectories::make(const std::string& spool, JobId job) {
    const std::string path = job_directory(spool, job);
    if (!spare_.empty() && std::rename(spare_.back().c_str(), path.c_str()) == 0) {
        spare_.pop_back();
        return {};
    }
    return make_directories(path);
}

void JobDirectories::remove(const std::string& spool, JobId job) {
    const std::string path = job_directory(spool, job);
    if (spare_.size() < kSpareMost && remove_files(path)) {
        const std::string spare = fmt::format("{}/{}{}", spool, kSpare, next_++);
        if (std::rename(path.c_str(), spare.c_str()) == 0) return spare_.push_back(spare);
    }
    remove_tree(path);
}

}  // namespace sluice
