// stage/cache.h
//
// The datasets that are kept on this node. The directory is root's alone: a job gets its files only
// through sluice-stage, after a process of its user has read the list of the source.
//
//   entries/KEY    a whole copy       locks/KEY   who makes the copy, or looks at it
//   partial/KEY    an unfinished one  pins/JOB.RESTARTS/KEY   this job uses it
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace sluice::stage {

// Of a file or directory that was changed before that time.
bool is_older(const std::string& path, std::int64_t before_ns);

class Cache {
public:
    // Makes the directory, which must be root's alone.
    static Result<Cache> open(std::string directory, std::uint64_t size);

    std::string entry(const std::string& key) const { return directory_ + "/entries/" + key; }
    std::string partial(const std::string& key) const { return directory_ + "/partial/" + key; }

    // Waits for other processes that make or look at this copy.
    Result<Fd> lock(const std::string& key) const;
    // The copy stays as long as the job has the pin. "12.0", as in $SCRATCH.
    Result<void> pin(const std::string& job, const std::string& key) const;
    void touch(const std::string& key) const;  // it is used now
    // What a copy is known by: before it has content.
    static Result<void> write_note(const std::string& copy, std::string_view source,
                                   std::uint64_t bytes);

    // Removes copies that no job uses, the one that was used longest ago first, until `wanted`
    // bytes are free on the disk or nothing is left to remove. Returns what is free then.
    Result<std::uint64_t> make_room(std::uint64_t wanted) const;
    // Removes what jobs other than these have pinned before that time or left unfinished, and
    // copies beyond the size.
    void tidy(const std::set<std::string>& jobs, std::int64_t before_ns) const;

    // source_hash() of all that is whole or being made.
    std::vector<std::uint64_t> sources() const;

private:
    struct Kept {
        std::string key;
        std::int64_t used = 0;
        std::uint64_t bytes = 0;
    };
    Cache(std::string directory, std::uint64_t size)
        : directory_(std::move(directory)), size_(size) {}
    Result<Fd> lock_all() const;
    std::set<std::string> pinned() const;
    std::vector<Kept> unpinned() const;  // the one that was used longest ago first
    void remove_partials() const;

    std::string directory_;
    std::uint64_t size_;
};

}  // namespace sluice::stage
