// stage/shard_stream.h
//
// A dataset that the job sees while it arrives (--stage-in=...,stream): a file gets its name in the
// directory of the job when it is complete. As long as files are still to come there is a file
// ".sluice-staging", which python/sluice_data waits on; it holds the error if there is one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stage/copy.h"
#include "stage/job_tree.h"

namespace sluice::stage {

struct StreamPlace {
    std::string tree;     // where the directory is made, which only root can enter
    std::string scratch;  // of the job
    std::string name;     // there
    TreeOwner owner;
};

class ShardStream {
public:
    // The source must be a directory of files. What an earlier one has put into the directory of
    // the job stays.
    static Result<std::unique_ptr<ShardStream>> begin(const Copy& copy, const StreamPlace& place,
                                                      std::function<void()> on_first);
    // By any thread. When all small files and the first large one are there, on_first is called.
    void on_piece(std::size_t piece);
    Result<void> finish();
    void fail(const std::string& why);

private:
    ShardStream(const Copy& copy, const TreeOwner& owner, std::function<void()> on_first);
    Result<void> make_directory(const StreamPlace& place);
    void show(std::uint32_t entry);
    Result<void> show_copy(const Entry& entry) const;
    Result<void> write_mark(const std::string& text) const;

    const Copy& copy_;
    const TreeOwner owner_;
    std::function<void()> on_first_;
    Fd directory_;
    std::mutex mutex_;
    std::vector<std::uint32_t> pieces_left_;  // by entry
    std::size_t small_left_ = 0;
    std::size_t large_here_ = 0, large_ = 0;
    bool is_shown_ = false;
    std::string failure_;
};

}  // namespace sluice::stage
