// backup/restore.cc
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "accounting/schema.h"
#include "backup/copy.h"
#include "backup/destinations.h"
#include "backup/tables.h"
#include "model/errors.h"
#include "store/schema.h"

namespace sluice::backup {

namespace {

// slurmdbd may have had more facts than the backup knows of. It takes only those with higher
// numbers.
constexpr std::int64_t kFactsSince = 1'000'000'000;

std::int64_t number(const Facts& facts, const std::string& name) {
    const auto found = facts.find(name);
    std::int64_t value = 0;
    if (found != facts.end()) {
        const std::string& text = found->second;
        std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

std::string text(const Facts& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? "" : found->second;
}

Error refused(std::string why) {
    return {ErrorCode::BadArgument, std::move(why)};
}

// Reads all of it, to the checksum at its end.
Result<Facts> verify(const std::string& file) {
    BackupReader reader = TRY(BackupReader::open(file));
    Facts facts;
    while (true) {
        Record record = TRY(reader.next());
        if (auto* found = std::get_if<Facts>(&record)) facts = std::move(*found);
        if (std::holds_alternative<End>(record)) return facts;
    }
}

Result<void> check_version(const Facts& facts, const char* name, std::int64_t expected) {
    const std::int64_t found = number(facts, name);
    if (found == expected) return {};
    return refused(
        fmt::format("the backup has {} {}, this version restores {}: restore it with the "
                    "version that wrote it, then upgrade",
                    name, found, expected));
}

Result<void> check_fits(const Facts& facts, const Place& place) {
    if (text(facts, "cluster") != place.cluster) {
        return refused(fmt::format("the backup is of cluster {}, slurm.conf has ClusterName={}",
                                   text(facts, "cluster"), place.cluster));
    }
    TRY(check_version(facts, "schema", current_plan().version));
    const bool has_accounting = !text(facts, "accounting").empty();
    if (has_accounting) TRY(check_version(facts, "accounting", accounting::kSchema));
    if (has_accounting == place.has_accounting) return {};
    return refused(has_accounting
                       ? "the backup has an accounting database, but slurm.conf names slurmdbd"
                       : "the backup has no accounting database (slurmdbd had it): set "
                         "AccountingStorageType=accounting_storage/slurmdbd");
}

// The rows of all tables.
class Filler {
public:
    Filler(Destination& destination, const std::string& cluster)
        : destination_(destination), cluster_(cluster) {}

    Result<void> fill(BackupReader& reader) {
        while (true) {
            Record record = TRY(reader.next());
            if (auto* start = std::get_if<TableStart>(&record)) {
                TRY(begin_table(std::move(*start)));
            } else if (auto* row = std::get_if<sql::Row>(&record)) {
                if (!writer_) return refused("the backup has a row outside of a table");
                note_delivered(*row);
                TRY(writer_->add(std::move(*row)));
                ++rows_;
            } else if (std::holds_alternative<End>(record)) {
                return end_table();
            }
        }
    }
    std::uint64_t rows() const { return rows_; }
    std::int64_t delivered() const { return delivered_; }  // the last fact in accounting

private:
    Result<void> begin_table(TableStart start) {
        TRY(end_table());
        sql::Database& database =
            start.database == "state" ? destination_.state() : destination_.accounting();
        writer_.emplace(TRY(RowWriter::create(database, start)));
        is_sequences_ = start.database == "accounting" && start.name == "sequences";
        return {};
    }
    Result<void> end_table() { return writer_ ? writer_->finish() : Result<void>(); }

    void note_delivered(const sql::Row& row) {
        if (!is_sequences_ || row.size() != 2) return;
        const auto* cluster = std::get_if<std::string>(&row[0]);
        const auto* applied = std::get_if<std::int64_t>(&row[1]);
        if (cluster && applied && *cluster == cluster_) delivered_ = *applied;
    }

    Destination& destination_;
    const std::string& cluster_;
    std::optional<RowWriter> writer_;
    bool is_sequences_ = false;
    std::uint64_t rows_ = 0;
    std::int64_t delivered_ = 0;
};

}  // namespace

Result<Restored> restore(const Place& place, const std::string& file, bool force) {
    const Facts facts = TRY(verify(file));
    TRY(check_fits(facts, place));
    const auto destination =
        place.is_shared() ? shared_destination(place) : directory_destination(place);
    TRY(destination->prepare());
    if (destination->exists() && !force) {
        return refused(
            "there is a state already: --force puts it aside and restores the backup in its place");
    }
    Filler filler(*destination, place.cluster);
    BackupReader reader = TRY(BackupReader::open(file));
    TRY(filler.fill(reader));
    const std::int64_t last_fact = number(facts, "last_fact");
    const FreshState fresh{
        .epoch = number(facts, "epoch") + 1,
        .last_fact = place.has_accounting ? std::max(last_fact, filler.delivered())
                                          : last_fact + kFactsSince,
        .next_job_id = number(facts, "next_job_id"),
        .launch_key = text(facts, "launch_key"),
    };
    std::string aside = TRY(destination->finish(fresh));
    return Restored{filler.rows(), std::move(aside)};
}

}  // namespace sluice::backup
