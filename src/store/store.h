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

// Counts the commits to a state that several controllers share.
using StateVersion = std::uint64_t;

// What was committed after a version, for a standby that keeps a copy of the state.
struct StateChanges {
    StateVersion version = 0;  // of the state with these changes
    // `changed` is the whole state: what was known before is to be dropped. True for the first
    // call, and for a caller whose version is too old for the record of changes.
    bool is_whole = false;
    StoredState changed;  // records that are new or have changed; `policy`: null if it has not
    std::vector<JobId> forgotten;
    std::vector<std::string> reservations_gone;
    std::vector<std::string> usage_gone;  // usage_key()
    std::vector<std::uint32_t> triggers_gone;
};

class Store {
public:
    virtual ~Store() = default;

    // Makes the caller the only writer: batches of earlier epochs are Fenced from now on. To be
    // called before load().
    virtual Result<Epoch> take_epoch() = 0;

    // Commits all of the batch, or nothing of it unless it is Done. A batch that is to be tried
    // again is the next one to be committed: it may be in the store already, which then answers
    // Done.
    virtual CommitOutcome commit(const Batch& batch) = 0;

    // Whether there is room for so many bytes of new jobs. Checked before they are decided, since a
    // batch that does not fit can only be tried again. Some space is kept for changes of existing
    // jobs.
    virtual Result<void> room_for(std::size_t /*bytes*/) { return {}; }

    // Everything, once, before the first commit. Jobs are ordered by id, other records by name or
    // number.
    virtual Result<StoredState> load() = 0;

    // What was committed after the version `since`, in one consistent view; 0: everything. It
    // changes nothing, and needs no epoch: a standby calls it again and again, and once more after
    // it has taken the epoch, in place of load(). Calls come from the thread that commits, or from
    // one that will before the first commit. A state of one controller has no versions: an error.
    virtual Result<StateChanges> changes_since(StateVersion since);
    virtual Result<StateVersion> version() { return StateVersion{0}; }
    // Brings a shared state of an older version to that of this program, for which changes_since()
    // then works. By the one that has the epoch: only then no other controller uses it as it was.
    virtual Result<void> migrate() { return {}; }
    // The secret that all controllers of a shared state sign launch credentials with: the stored
    // one, or `fresh`, which is stored if there is none.
    virtual Result<std::string> launch_key(const std::string& fresh) { return fresh; }

    // The facts that are not delivered yet, with numbers above `after`, in their order. A number is
    // never used again. ChangedRecords::delivered deletes them. Any thread may ask.
    virtual Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) = 0;
    virtual Result<std::uint64_t> fact_count() { return 0; }  // of these, all

    virtual Result<std::string> blob(std::string_view hash) = 0;
    virtual Result<bool> has_blob(std::string_view hash) = 0;
};

// <directory>/sluice.db. The directory belongs to one process at a time; it is created if missing.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& directory);

// A state in a PostgreSQL database that several controllers share.
struct SharedState {
    std::string connection;  // "postgresql://...": a connection string of libpq
    std::string cluster;     // each has a schema of its own in the database
};
// Connects when it is first used, to the first host that takes changes.
Result<std::unique_ptr<Store>> open_postgresql(const SharedState& where);

// Loses everything when destroyed: for tests and simulations.
std::unique_ptr<Store> memory_store();

}  // namespace sluice
