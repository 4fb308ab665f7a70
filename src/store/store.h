// store/store.h
//
// What must survive a crash: the records that a batch changed, in one transaction. When commit()
// has returned Done, they are on disk. One thread commits; any thread may read blobs.
//
// A store has one writer at a time. A writer takes the next epoch when it starts, and each of its
// batches carries it. After another writer has taken a later one, commits of the first are refused.
//
// Scripts and environments are blobs, named by the hash of their bytes. A blob is kept as long as a
// job names it. Pass the blobs of every new job, also known ones: stored blobs cost nothing, and
// callers need not know when the last job of an old one was deleted.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/stored.h"

namespace sluice {

struct Blob {
    std::string hash;  // blob_hash(bytes)
    std::string bytes;
};

// SHA-256, in hex.
std::string blob_hash(std::string_view bytes);

using Epoch = std::uint64_t;  // 0: no writer has taken one

struct Batch {
    Epoch epoch = 0;  // of the writer
    ChangedRecords changes;
    std::vector<Blob> blobs;
    // By NodeIndex. Records name nodes, because indexes change with slurm.conf.
    std::shared_ptr<const NodeNames> node_names;
};

struct CommitOutcome {
    enum class Kind : std::uint8_t {
        Done,    // all of the batch is on disk
        Retry,   // failed; may succeed later
        Full,    // no space is left; may succeed later
        Fenced,  // another writer has taken over: this one must stop
    };
    Kind kind = Kind::Done;
    std::string why = {};  // unless it is done

    explicit operator bool() const { return kind == Kind::Done; }  // done
};
CommitOutcome fenced(Epoch writer, Epoch current);  // for the stores

class Store {
public:
    virtual ~Store() = default;

    // Makes the caller the only writer: batches of earlier epochs are Fenced from now on. To be
    // called before load().
    virtual Result<Epoch> take_epoch() = 0;

    // Commits all of the batch, or nothing of it unless it is Done.
    virtual CommitOutcome commit(const Batch& batch) = 0;

    // Whether there is room for so many bytes of new jobs. Checked before they are decided, since a
    // batch that does not fit can only be tried again. Some space is kept for changes of existing
    // jobs.
    virtual Result<void> room_for(std::size_t /*bytes*/) { return {}; }

    // Everything, once, before the first commit. Jobs are ordered by id, other records by name or
    // number.
    virtual Result<StoredState> load() = 0;

    // The facts that are not delivered yet, with numbers above `after`, in their order. A number is
    // never used again. ChangedRecords::delivered deletes them. Any thread may ask.
    virtual Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) = 0;
    virtual Result<std::uint64_t> fact_count() { return 0; }  // of these, all

    virtual Result<std::string> blob(std::string_view hash) = 0;
    virtual Result<bool> has_blob(std::string_view hash) = 0;
};

// <directory>/sluice.db. The directory belongs to one process at a time; it is created if missing.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& directory);

// Loses everything when destroyed: for tests and simulations.
std::unique_ptr<Store> memory_store();

}  // namespace sluice
