// backup/directory_destination.cc
//
// A state of SQLite. See destination.h.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "accounting/schema.h"
#include "backup/destinations.h"
#include "backup/tables.h"
#include "model/errors.h"
#include "os/files.h"
#include "store/directory_lock.h"
#include "store/sqlite_file.h"

namespace sluice::backup {

namespace {

constexpr const char* kAccounting = "accounting.db";
constexpr const char* kKey = "launch.key";

class DirectoryDestination : public Destination {
public:
    explicit DirectoryDestination(const Place& place)
        : directory_(place.location),
          fresh_(place.location + "/restore.new"),
          has_accounting_(place.has_accounting) {}
    ~DirectoryDestination() override {
        state_ = nullptr;
        accounting_ = nullptr;
        remove_tree(fresh_);
    }

    bool exists() const override { return exists_; }
    sql::Database& state() override { return *state_; }
    sql::Database& accounting() override { return *accounting_; }

    Result<void> prepare() override {
        exists_ = std::filesystem::exists(database_path(directory_));
        lock_.emplace(TRY(DirectoryLock::take(directory_)));
        remove_tree(fresh_);
        TRY(make_directories(fresh_, 0700));
        (void)TRY(open_database_file(fresh_));
        state_ = TRY(sql::open({.path = database_path(fresh_)}));
        TRY(state_->begin());
        accounting_ = TRY(sql::open({.path = fresh_ + "/" + kAccounting}));
        TRY(accounting::prepare_schema(*accounting_));
        return accounting_->begin();
    }

    Result<std::string> finish(const FreshState& fresh) override {
        TRY(put_meta("epoch", fresh.epoch));
        TRY(put_meta("next_job_id", fresh.next_job_id));
        TRY(state_->run("DELETE FROM sqlite_sequence WHERE name = 'facts'"));
        TRY(state_->run("INSERT INTO sqlite_sequence (name, seq) VALUES ('facts', ?)",
                        {fresh.last_fact}));
        TRY(state_->commit());
        TRY(accounting_->commit());
        // Their logs become a part of the files.
        state_ = nullptr;
        accounting_ = nullptr;
        TRY(write_file_atomically(fresh_ + "/" + kKey, fresh.launch_key,
                                  {.mode = 0600, .durable = true}));
        const std::string suffix = fmt::format(".before-restore.{}", std::time(nullptr));
        TRY(move_in(std::filesystem::path(database_path(directory_)).filename(), suffix));
        if (has_accounting_) TRY(move_in(kAccounting, suffix));
        TRY(move_in(kKey, suffix));
        return exists_ ? database_path(directory_) + suffix : "";
    }

private:
    Result<void> put_meta(const char* key, std::int64_t value) {
        TRY(state_->run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                        {std::string(key), value}));
        return {};
    }

    // The files belong to the owner of the directory, whoever restores them.
    Result<void> move_in(const std::string& name, const std::string& suffix) {
        const std::string path = directory_ + "/" + name;
        for (const char* part : {"", "-wal", "-shm"}) {
            std::error_code error;
            if (!std::filesystem::exists(path + part, error)) continue;
            std::filesystem::rename(path + part, path + suffix + part, error);
            if (error) return failed(path + part, error.message());
        }
        struct stat owner {};
        const std::string fresh = fresh_ + "/" + name;
        if (stat(directory_.c_str(), &owner) != 0 ||
            chown(fresh.c_str(), owner.st_uid, owner.st_gid) != 0)
            return failed(fresh, strerror(errno));
        return put_in_place(fresh, path);
    }
    static Error failed(const std::string& path, const std::string& why) {
        return {ErrorCode::SystemError, fmt::format("{}: {}", path, why)};
    }

    const std::string directory_, fresh_;
    const bool has_accounting_;
    bool exists_ = false;
    std::optional<DirectoryLock> lock_;
    std::unique_ptr<sql::Database> state_, accounting_;
};

}  // namespace

std::unique_ptr<Destination> directory_destination(const Place& place) {
    return std::make_unique<DirectoryDestination>(place);
}

}  // namespace sluice::backup
