#include "cli/sdata/sdata.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include "cli/sdata/options.h"
#include "cli/sdata/progress_line.h"
#include "cli/sdata/stage.h"
#include "data/pack.h"
#include "data/scan.h"
#include "data/usage.h"
#include "os/files.h"

namespace sluice {

namespace {

using data::print_size;

class Sdata {
public:
    Sdata(const Invocation& invocation, SdataOptions options, Streams& streams)
        : invocation_(invocation), options_(std::move(options)), streams_(streams) {}

    Result<void> run() {
        const std::string& command = options_.command;
        if (command == "pack") return pack();
        if (command == "ls") return options_.shows_shards ? list_shards() : list_files();
        if (command == "cat") return print_files();
        if (command == "verify") return verify();
        if (command == "unpack") return unpack();
        if (command == "bench") return measure();
        if (command == "sync")
            return run_sync(options_.sync, options_.operands, invocation_, streams_);
        if (command == "stage") return stage_in_job(invocation_, options_.operands.front());
        return show_usage();
    }

private:
    std::string path(std::size_t operand) const {
        return absolute_path(options_.operands[operand], invocation_.directory);
    }

    Result<void> pack() {
        const ProgressLine shown(progress_);
        const data::Manifest made = TRY(data::pack({.source = path(0),
                                                    .target = path(1),
                                                    .options = options_.pack,
                                                    .threads = options_.threads},
                                                   progress_));
        streams_.out(fmt::format("{} files, {}, in {} shards, {} classes\n", made.records,
                                 print_size(made.bytes), made.shards.size(), made.classes.size()));
        return {};
    }

    Result<void> list_shards() {
        const data::Manifest manifest = TRY(data::read_manifest(path(0)));
        for (const data::Shard& each : manifest.shards) {
            streams_.out(fmt::format("{:>12} {:>8} {:08x} {}\n", each.bytes, each.records, each.crc,
                                     each.name));
        }
        return {};
    }

    Result<void> list_files() {
        const data::Manifest manifest = TRY(data::read_manifest(path(0)));
        for (const data::Shard& shard : manifest.shards) {
            std::string lines;
            for (const data::Record& each : TRY(data::read_index(path(0), shard)))
                lines += fmt::format("{:>12} {:>6} {}\n", each.size, each.label, each.path);
            streams_.out(lines);
        }
        return {};
    }

    Result<void> print_files() {
        for (std::size_t i = 1; i < options_.operands.size(); ++i)
            streams_.out_long(TRY(data::read_one(path(0), options_.operands[i])));
        return {};
    }

    Result<void> verify() {
        std::vector<std::string> damage;
        {
            const ProgressLine shown(progress_);
            damage = TRY(data::verify(path(0), options_.threads, progress_));
        }
        if (!damage.empty()) return Error{{}, fmt::format("{}", fmt::join(damage, "\n"))};
        streams_.out(fmt::format("{} files, {}: no damage\n", progress_.records.load(),
                                 print_size(progress_.bytes)));
        return {};
    }

    Result<void> unpack() {
        const ProgressLine shown(progress_);
        return data::unpack(path(0), path(1), options_.threads, progress_);
    }

    Result<void> measure() {
        const auto began = std::chrono::steady_clock::now();
        const std::vector<std::string> damage =
            TRY(data::verify(path(0), options_.threads, progress_));
        if (!damage.empty()) return Error{{}, damage.front()};
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        streams_.out(fmt::format(
            "{} in {:.2f} s: {}/s, {:.0f} files/s, {} threads\n", print_size(progress_.bytes),
            seconds,
            print_size(static_cast<std::uint64_t>(static_cast<double>(progress_.bytes) / seconds)),
            static_cast<double>(progress_.records) / seconds, options_.threads));
        return {};
    }

    Result<void> show_usage() {
        char updated[32];
        const std::time_t now = std::time(nullptr);
        struct tm local {};
        std::strftime(updated, sizeof updated, "%Y-%m-%d %H:%M", localtime_r(&now, &local));
        std::vector<std::string> problems;
        for (std::size_t i = 0; i < options_.operands.size(); ++i) {
            const data::Below top = TRY(data::Below::open(path(i)));
            data::UsageReport report = TRY(data::disk_usage(path(i), options_.threads));
            std::move(report.unreadable.begin(), report.unreadable.end(),
                      std::back_inserter(problems));
            const auto show = [&](const std::string& name, const data::DiskUsage& usage) {
                const Result<void> shown = show_directory(top, name, usage, updated);
                if (!shown) problems.push_back(shown.error().detail);
            };
            for (const auto& [name, usage] : report.below) show(name, usage);
            show("", report.all);
        }
        if (problems.empty()) return {};
        return Error{{}, fmt::format("{}", fmt::join(problems, "\n"))};
    }

    Result<void> show_directory(const data::Below& top, const std::string& name,
                                const data::DiskUsage& usage, const char* updated) {
        streams_.out(fmt::format("{:>8} {:>10} {}\n", print_size(usage.bytes), usage.files,
                                 name.empty() ? top.name() : top.full(name)));
        if (!options_.writes) return {};
        return data::write_usage_file(top, name, data::usage_file(usage, updated));
    }

    const Invocation& invocation_;
    const SdataOptions options_;
    Streams& streams_;
    data::Progress progress_;
};

}  // namespace

int run_sdata(const Invocation& invocation, Client&, Streams& streams) {
    int code = 0;
    std::optional<SdataOptions> options = parse_sdata_options(invocation, streams, code);
    if (!options) return code;
    const Result<void> done = Sdata(invocation, std::move(*options), streams).run();
    if (done) return 0;
    print_error(streams, invocation, done.error().detail);
    return 1;
}

}  // namespace sluice
