#include "data/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

#include "data/below.h"
#include "data/parallel.h"
#include "data/scan.h"
#include "data/shard_writer.h"
#include "data/usage.h"
#include "os/error.h"
#include "os/files.h"
#include "os/walk.h"

namespace sluice::data {

namespace {

constexpr std::string_view kPlanName = "packing";  // while the dataset is not complete

// What sdata usage writes into directories is no data.
bool is_data(const TreeEntry& entry) {
    return entry.kind != TreeEntry::Kind::Directory && base_name(entry.path) != kUsageName;
}

Result<std::vector<SourceFile>> files_below(const std::string& source, unsigned threads) {
    std::vector<SourceFile> files;
    std::optional<std::string> unusual;
    std::mutex mutex;
    TRY(walk_tree(source, {.threads = threads}, [&](TreeEntry entry) {
        if (!is_data(entry)) return;
        const std::lock_guard guard(mutex);
        if (entry.kind != TreeEntry::Kind::File) {
            if (!unusual || entry.path < *unusual) unusual = entry.path;
            return;
        }
        files.push_back(
            {.path = std::move(entry.path), .size = entry.size, .changed_ns = entry.changed_ns});
    }));
    if (unusual) {
        return Error{{},
                     fmt::format("{}/{} is neither a file nor a directory; symbolic links are not "
                                 "followed",
                                 source, *unusual)};
    }
    return files;
}

// The directory is new, or an earlier call with the same plan has begun it.
Result<void> begin(const std::string& target, const PackPlan& plan) {
    const std::string mark = fmt::format("{}/{}", target, kPlanName);
    const std::string text = fmt::format("{:08x} {}\n", plan.fingerprint, plan.shards.size());
    if (access(manifest_path(target).c_str(), F_OK) == 0)
        return Error{{}, fmt::format("{} has a dataset already", target)};
    if (const Result<std::string> before = read_file(mark)) {
        if (*before == text) return {};
        return Error{{},
                     fmt::format("{} was begun with other files or options: remove it, or "
                                 "name another directory",
                                 target)};
    }
    if (!list_directory(target).empty()) return Error{{}, fmt::format("{} is not empty", target)};
    TRY(make_directories(target));
    return write_file_atomically(mark, text, {.durable = true});
}

// Two calls that write the same shards would damage them. Nothing is locked where the file system
// has no locks.
Result<Fd> lock(const std::string& target) {
    const std::string mark = fmt::format("{}/{}", target, kPlanName);
    Fd file(open(mark.c_str(), O_RDWR | O_CLOEXEC));
    if (!file) return os_error(mark);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return Error{{}, fmt::format("another sdata pack is writing {}", target)};
    if (access(manifest_path(target).c_str(), F_OK) == 0)
        return Error{{}, fmt::format("{} has a dataset already", target)};
    return file;
}

// As the plan says: a file that changes meanwhile would give a dataset of no moment.
Result<void> read_source(const std::string& source, const SourceFile& file, std::string& bytes) {
    const std::string path = source + "/" + file.path;
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd) return os_error(path);
    bytes.resize(file.size + 1);
    std::size_t got = 0;
    while (got < bytes.size()) {
        const ssize_t count = read(fd.get(), bytes.data() + got, bytes.size() - got);
        if (count < 0) return os_error(path);
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    struct stat now {};
    if (fstat(fd.get(), &now) != 0) return os_error(path);
    if (got != file.size || change_time(now) != file.changed_ns)
        return Error{{}, fmt::format("{} has changed since sdata pack began", path)};
    bytes.resize(got);
    return {};
}

Result<Shard> pack_shard(const PackRequest& request, const PackPlan& plan, const ShardPlan& shard,
                         Progress& progress) {
    ShardWriter writer = TRY(ShardWriter::create(request.target, shard.name));
    std::string bytes;
    for (const SourceFile& file : shard.files) {
        if (progress.is_interrupted) return Error{{}, "interrupted"};
        TRY(read_source(request.source, file, bytes));
        const std::string_view name =
            file.label > 0 ? plan.classes[file.label - 1] : std::string_view{};
        TRY(writer.add(plan.format, file, name, bytes));
        ++progress.records;
        progress.bytes += file.size;
    }
    return writer.finish(plan.format);
}

// What an earlier call has completed; nothing if it is not there or damaged.
std::optional<Shard> kept_shard(const PackRequest& request, const PackPlan& plan,
                                const ShardPlan& shard, Progress& progress) {
    Result<Shard> kept = scan_complete_shard(request.target, shard.name, plan.format);
    if (!kept || kept->records != shard.files.size()) return {};
    std::uint64_t bytes = 0;
    for (const SourceFile& file : shard.files) bytes += file.size;
    progress.records += shard.files.size();
    progress.bytes += bytes;
    progress.bytes_kept += bytes;
    return *kept;
}

}  // namespace

Result<Manifest> pack(const PackRequest& request, Progress& progress) {
    const PackPlan plan =
        TRY(make_plan(TRY(files_below(request.source, request.threads)), request.options));
    TRY(begin(request.target, plan));
    const Fd locked = TRY(lock(request.target));
    progress.records_total = plan.records;
    progress.bytes_total = plan.bytes;
    Manifest manifest{.format = plan.format,
                      .records = plan.records,
                      .bytes = plan.bytes,
                      .classes = plan.classes,
                      .shards = std::vector<Shard>(plan.shards.size())};
    TRY(for_all(plan.shards.size(), request.threads, [&](std::size_t i) -> Result<void> {
        const ShardPlan& shard = plan.shards[i];
        if (auto kept = kept_shard(request, plan, shard, progress))
            manifest.shards[i] = std::move(*kept);
        else
            manifest.shards[i] = TRY(pack_shard(request, plan, shard, progress));
        return {};
    }));
    TRY(write_file_atomically(manifest_path(request.target), print_manifest(manifest),
                              {.durable = true}));
    unlink(fmt::format("{}/{}", request.target, kPlanName).c_str());
    return manifest;
}

}  // namespace sluice::data
