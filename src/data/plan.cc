#include "data/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/crc32c.h"

namespace sluice::data {

namespace {

constexpr std::uint64_t kFileMost = std::uint64_t{1} << 30;  // a record of protobuf has 2 GiB

// The last directory of the path; empty: it is directly in the source.
std::string_view class_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return {};
    path = path.substr(0, slash);
    return path.substr(path.rfind('/') + 1);
}

// A fixed sequence of numbers, the same on all machines (SplitMix64).
class Sequence {
public:
    explicit Sequence(std::uint64_t seed) : state_(seed) {}
    std::uint64_t below(std::uint64_t limit) {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return (z ^ (z >> 31)) % limit;
    }

private:
    std::uint64_t state_;
};

struct Sample {
    std::size_t first = 0, count = 0;  // of the files
    std::uint64_t bytes = 0;
};

std::vector<Sample> samples_of(const std::vector<SourceFile>& files, Format format) {
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const bool joins = format == Format::WebDataset && !samples.empty() &&
                           sample_key(files[i].path) == sample_key(files[i - 1].path);
        if (!joins) samples.push_back({i, 0, 0});
        ++samples.back().count;
        samples.back().bytes += files[i].size;
    }
    return samples;
}

void set_labels(std::vector<SourceFile>& files, std::vector<std::string>& classes) {
    std::map<std::string_view, std::uint32_t> labels;
    for (const SourceFile& file : files) {
        if (const std::string_view name = class_of(file.path); !name.empty()) labels[name] = 0;
    }
    for (auto& [name, label] : labels) {
        classes.emplace_back(name);
        label = static_cast<std::uint32_t>(classes.size());
    }
    for (SourceFile& file : files) {
        if (const auto found = labels.find(class_of(file.path)); found != labels.end())
            file.label = found->second;
    }
}

std::uint32_t fingerprint_of(const std::vector<SourceFile>& files, const PackOptions& options) {
    std::uint32_t crc =
        crc32c(fmt::format("{} {} {} {} {}\n", format_name(options.format), options.prefix,
                           options.shard_size, options.shuffled, options.seed));
    for (const SourceFile& file : files)
        crc = crc32c(fmt::format("{} {} {}\n", file.size, file.changed_ns, file.path), crc);
    return crc;
}

}  // namespace

// Sorted by key first, so that the files of a sample follow each other.
std::string_view sample_key(std::string_view path) {
    const std::size_t name = path.rfind('/') + 1;
    return path.substr(0, path.find('.', name == path.size() ? name : name + 1));
}

Result<PackPlan> make_plan(std::vector<SourceFile> files, const PackOptions& options) {
    if (files.empty()) return Error{{}, "there are no files in it"};
    for (const SourceFile& file : files) {
        if (file.size > kFileMost)
            return Error{{},
                         fmt::format("{} is larger than 1 GiB: it needs no packing", file.path)};
    }
    std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) {
        const auto key = sample_key(a.path), other = sample_key(b.path);
        return key != other ? key < other : a.path < b.path;
    });
    PackPlan plan{.format = options.format};
    plan.fingerprint = fingerprint_of(files, options);
    set_labels(files, plan.classes);
    std::vector<Sample> samples = samples_of(files, options.format);
    Sequence sequence(options.seed);
    for (std::size_t i = samples.size(); options.shuffled && i > 1; --i)
        std::swap(samples[i - 1], samples[sequence.below(i)]);
    std::uint64_t filled = 0;
    for (const Sample& sample : samples) {
        if (plan.shards.empty() || (filled > 0 && filled + sample.bytes > options.shard_size)) {
            plan.shards.emplace_back();
            filled = 0;
        }
        filled += sample.bytes;
        plan.bytes += sample.bytes;
        plan.records += sample.count;
        for (std::size_t i = 0; i < sample.count; ++i)
            plan.shards.back().files.push_back(std::move(files[sample.first + i]));
    }
    for (std::size_t i = 0; i < plan.shards.size(); ++i) {
        plan.shards[i].name = fmt::format("{}-{:05}-of-{:05}.{}", options.prefix, i,
                                          plan.shards.size(), format_extension(options.format));
    }
    return plan;
}

}  // namespace sluice::data
