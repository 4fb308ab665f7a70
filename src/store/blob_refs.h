// store/blob_refs.h
//
// How many jobs name each blob, so that a blob is deleted with the last of them. Kept in memory:
// counted at load, changed only when a commit has succeeded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/stored.h"

namespace sluice {

class BlobRefs {
public:
    void add(const Job& job);  // at load; in place of what the job named before
    void forget(JobId job);

    bool named(const std::string& hash) const { return counts_.contains(hash); }
    // The blobs that no job would name after these changes.
    std::vector<std::string> left_over(const ChangedRecords& changes) const;
    void apply(const ChangedRecords& changes);

private:
    using Counts = std::unordered_map<std::string, std::uint32_t>;
    // Pointers into counts_, which stay valid: saves the 64 bytes of a hash for each of many jobs.
    struct Named {
        const std::string* script = nullptr;
        const std::string* environment = nullptr;
    };

    const std::string* take(const std::string& hash);
    void drop(const std::string* hash);
    void set(const Job& job);

    Counts counts_;
    std::unordered_map<std::uint32_t, Named> jobs_;
};

}  // namespace sluice
