// data/sync.h
//
// Checkpoints of a running program are copied to a directory that stays: complete files only, each
// under another name first, unchanged files not again. An entry directly in the source, a file or
// a directory with all below it, is a checkpoint; its time is that of its newest file.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/below.h"
#include "data/sync_state.h"

namespace sluice::data {

struct SyncOrder {
    std::string local;
    std::string persistent;
    std::optional<std::uint32_t> keep = {};  // so many checkpoints stay there; absent: all
    // Nothing writes to the source any more.
    bool is_final = false;
};

struct SyncReport {
    std::uint64_t files = 0, bytes = 0;          // copied
    std::vector<std::string> waiting = {};       // files that are still being written
    std::vector<std::string> left_out = {};      // with the reason
    std::optional<std::int64_t> newest_ns = {};  // the newest complete checkpoint in the target
    bool is_local_missing = false;
};

// Synchronises two directories again and again; it remembers what files looked like before.
class Synchroniser {
public:
    using Clock = std::chrono::steady_clock;
    // How long a file must not have changed: after it was closed, where the file system does not
    // say whether it is open, and while a process has it open for writing.
    struct Patience {
        std::chrono::milliseconds closed{1000}, unknown{5000}, open{30000};
    };

    explicit Synchroniser(SyncOrder order) : Synchroniser(std::move(order), Patience{}) {}
    Synchroniser(SyncOrder order, Patience patience)
        : order_(std::move(order)), patience_(patience) {}

    Result<SyncReport> run(Clock::time_point now);

private:
    struct File {
        std::string path;
        bool is_link = false;
        bool is_complete = false;
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
    };
    struct Checkpoint {
        std::vector<File> files;
        std::int64_t changed_ns = 0;
        bool is_link = false;
        bool is_complete() const;
    };
    using Checkpoints = std::map<std::string, Checkpoint>;
    struct Look {
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
        Clock::time_point since;
    };

    Result<Checkpoints> look_at_source(const Below& source, Clock::time_point now,
                                       SyncReport& report);
    bool is_complete(const Below& source, const File& file, Clock::time_point now,
                     SyncReport& report);
    std::vector<std::string> wanted(const Checkpoints& here, const SyncState& there) const;
    Result<void> copy(const Below& source, const Below& target, const std::string& name,
                      const Checkpoint& checkpoint, SyncReport& report);
    Result<void> prune(const Below& target);

    SyncOrder order_;
    Patience patience_;
    std::map<std::string, Look> looks_;  // by path
    SyncState state_;
};

// Copies the newest complete checkpoint of an earlier synchronisation back, and the symbolic links
// that lead to it. Returns its name; empty: there is none.
Result<std::string> restore_newest(const std::string& persistent, const std::string& local);

}  // namespace sluice::data
