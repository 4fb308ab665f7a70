#include "agent/gpu_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::uint64_t kFilesPerGpu = 16;  // of about equal size
constexpr std::size_t kNumbersMost = 1000;  // of files that begin in the same second

std::string folder_of(const std::string& directory, std::uint32_t gpu) {
    return fmt::format("{}/{}", directory, gpu);
}

struct SampleFile {
    std::uint64_t start = 0, number = 0;
    std::string name;
    auto operator<=>(const SampleFile&) const = default;
};

// "1700000000.0", the oldest first.
std::vector<SampleFile> files_in(const std::string& folder) {
    std::vector<SampleFile> files;
    for (const std::string& name : list_directory(folder)) {
        const std::vector<std::string_view> parts = split(name, '.');
        if (parts.size() != 2) continue;
        const auto start = to_number(parts[0]), number = to_number(parts[1]);
        if (start && number) files.push_back({*start, *number, name});
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::uint64_t size_of(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<void> GpuStore::begin(std::uint32_t gpu, Time now, Open& open) {
    const std::string folder = folder_of(directory_, gpu);
    TRY(as(ErrorCode::SystemError, make_directories(folder, 0700)));
    remove_oldest(folder);
    for (std::size_t number = 0; number < kNumbersMost; ++number) {
        const std::string path = fmt::format("{}/{}.{}", folder, to_unix(now), number);
        Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
        if (!file && errno == EEXIST) continue;
        if (!file) return os_error(path);
        open = {std::move(file), 0, {}};
        return {};
    }
    return Error{ErrorCode::SystemError, folder + ": too many files"};
}

// Leaves room for the file that begins.
void GpuStore::remove_oldest(const std::string& folder) const {
    std::vector<SampleFile> files = files_in(folder);
    std::uint64_t size = bytes_most_ / kFilesPerGpu;
    for (const SampleFile& file : files) size += size_of(folder + "/" + file.name);
    for (const SampleFile& file : files) {
        if (size <= bytes_most_) return;
        const std::string path = folder + "/" + file.name;
        size -= size_of(path);
        unlink(path.c_str());
    }
}

Result<void> GpuStore::add(std::uint32_t gpu, const GpuRecord& record) {
    Open& open = open_[gpu];
    if (!open.file || open.size >= bytes_most_ / kFilesPerGpu) TRY(begin(gpu, record.time, open));
    std::string bytes;
    open.encoder.add(record, bytes);
    if (write_all(open.file.get(), bytes)) {
        open.size += bytes.size();
        return {};
    }
    // What was written of the record would make the next ones unreadable.
    const Error error = os_error(folder_of(directory_, gpu));
    open.file.reset();
    return error;
}

void read_gpu_records(const std::string& directory, std::uint32_t gpu, Time from, Time to,
                      const std::function<void(const GpuRecord&)>& visit) {
    const std::string folder = folder_of(directory, gpu);
    const std::vector<SampleFile> files = files_in(folder);
    const auto begin = static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_unix(from)));
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_unix(to)));
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].start > end) return;
        if (i + 1 < files.size() && files[i + 1].start < begin) continue;
        const Result<std::string> bytes = read_file(folder + "/" + files[i].name);
        if (!bytes) continue;  // it was removed since
        GpuDecoder decoder(*bytes);
        while (const auto record = decoder.next()) {
            if (record->time >= from && record->time <= to) visit(*record);
        }
    }
}

}  // namespace sluice
