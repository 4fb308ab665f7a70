#include "agent/gpu_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/log.h"
#include "os/files.h"

namespace sluice {

namespace {

// "3", "0.7", "GPU-...", "MIG-...": the directories may hold files of others.
bool is_ours(const std::string& name) {
    const bool is_number = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    });
    return is_number || name.starts_with("GPU-") || name.starts_with("MIG-");
}

void clear(const std::string& directory) {
    if (directory.empty()) return;
    if (Result<void> made = make_directories(directory); !made)
        return log_error("{}", made.error().detail);
    for (const std::string& name : list_directory(directory)) {
        if (is_ours(name)) unlink(fmt::format("{}/{}", directory, name).c_str());
    }
}

}  // namespace

void GpuFiles::open(const std::string& stat_directory, const std::string& mapping_directory) {
    if (is_open_ && stat_ == stat_directory && mapping_ == mapping_directory) return;
    if (is_open_) {
        clear(stat_);
        clear(mapping_);
    }
    is_open_ = true;
    stat_ = stat_directory;
    mapping_ = mapping_directory;
    written_.clear();
    clear(stat_);
    clear(mapping_);
}

GpuFiles::Files GpuFiles::wanted(const GpuBook& book, const std::vector<GpuHere>& gpus,
                                 const std::map<std::string, std::string>& names) const {
    Files files;
    for (const GpuHere& gpu : gpus) {
        const std::vector<GpuHolder> holders = book.holders_of(gpu.gpu);
        if (holders.empty()) continue;
        const auto part = names.find(gpu.uuid);
        const std::string name = part == names.end() ? fmt::format("{}", gpu.gpu) : part->second;
        if (!stat_.empty()) {
            const std::string text =
                fmt::format("{} {}\n", holders.front().job, holders.front().user);
            files[stat_ + "/" + name] = text;
            const bool is_name = gpu.uuid.find('/') == std::string::npos;
            if (!gpu.uuid.empty() && is_name) files[stat_ + "/" + gpu.uuid] = text;
        }
        if (mapping_.empty()) continue;
        std::string& lines = files[mapping_ + "/" + name];
        for (const GpuHolder& holder : holders) lines += fmt::format("{}\n", holder.job);
    }
    return files;
}

void GpuFiles::update(const GpuBook& book, const std::vector<GpuHere>& gpus,
                      const std::map<std::string, std::string>& names) {
    Files files = wanted(book, gpus, names);
    for (const auto& [path, _] : written_) {
        if (!files.contains(path)) unlink(path.c_str());
    }
    for (const auto& [path, content] : files) {
        const auto before = written_.find(path);
        if (before != written_.end() && before->second == content) continue;
        if (Result<void> done = write_file_atomically(path, content); !done)
            log_error("{}", done.error().detail);
    }
    written_ = std::move(files);
}

}  // namespace sluice
