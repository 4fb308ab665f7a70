// backup/shared_destination.cc
//
// A state in PostgreSQL. See destination.h.
#include <fmt/format.h>

#include <ctime>

#include "accounting/schema.h"
#include "backup/destinations.h"
#include "backup/tables.h"
#include "model/errors.h"
#include "store/shared_schema.h"

namespace sluice::backup {

namespace {

using sql::quoted_name;

constexpr std::chrono::seconds kRestoreAnswerMost{600};
constexpr const char* kFresh = "_new";  // the ending of the schemas that are filled

class SharedDestination : public Destination {
public:
    explicit SharedDestination(const Place& place)
        : state_target_(target_of(place.shared())),
          accounting_target_(accounting_target_of(place.shared())),
          has_accounting_(place.has_accounting) {}
    // Schemas that were not put in place.
    ~SharedDestination() override {
        for (const sql::Target* target : {&state_target_, &accounting_target_}) {
            if (control_) (void)control_->run(drop(target->schema + kFresh));
        }
    }

    bool exists() const override { return exists_; }
    sql::Database& state() override { return *state_; }
    sql::Database& accounting() override { return *accounting_; }

    Result<void> prepare() override {
        sql::Target any = state_target_;
        any.schema = "";
        any.timeout = kRestoreAnswerMost;
        control_ = TRY(sql::open(any));
        exists_ = TRY(has_schema(state_target_.schema));
        TRY(check_is_free());
        state_ = TRY(open_fresh(state_target_));
        TRY(check_shared_schema(*state_, current_shared_plan()));
        TRY(state_->begin());
        accounting_ = TRY(open_fresh(accounting_target_));
        TRY(accounting::prepare_schema(*accounting_));
        return accounting_->begin();
    }

    Result<std::string> finish(const FreshState& fresh) override {
        TRY(state_->run("UPDATE writer SET epoch = ?, version = 1, next_job_id = ?, last_fact = ?",
                        {fresh.epoch, fresh.next_job_id, fresh.last_fact}));
        TRY(state_->run("UPDATE lease SET epoch = ?", {fresh.epoch}));
        TRY(state_->run("INSERT INTO secrets VALUES ('launch key', ?)",
                        {sql::Bytes{fresh.launch_key}}));
        TRY(state_->commit());
        TRY(accounting_->commit());
        std::string aside;
        TRY(sql::transact(*control_, [&]() -> Result<void> {
            TRY(check_is_free());  // holds the lease until the schema has its new name
            TRY(outnumber_old_state());
            const std::string suffix = fmt::format("_{}", std::time(nullptr));
            TRY(move_in(state_target_.schema, suffix));
            if (has_accounting_) TRY(move_in(accounting_target_.schema, suffix));
            aside = exists_ ? "schema " + state_target_.schema + suffix : "";
            return {};
        }));
        return aside;
    }

private:
    static std::string drop(const std::string& schema) {
        return fmt::format("DROP SCHEMA IF EXISTS {} CASCADE", quoted_name(schema));
    }
    std::string table(const char* name) const {
        return quoted_name(state_target_.schema) + "." + name;
    }
    Result<bool> has_schema(const std::string& name) {
        return TRY(one_number(*control_, "SELECT 1 FROM pg_namespace WHERE nspname = ?", {name}))
            .has_value();
    }
    Result<std::unique_ptr<sql::Database>> open_fresh(sql::Target target) {
        target.schema += kFresh;
        target.timeout = kRestoreAnswerMost;
        TRY(control_->run(drop(target.schema)));
        return sql::open(target);
    }

    Result<void> check_is_free() {
        if (!exists_) return {};
        std::string holder;
        TRY(control_->query(
            fmt::format("SELECT holder FROM {} WHERE holder <> '' AND expires > clock_timestamp() "
                        "FOR UPDATE",
                        table("lease")),
            {}, [&](const sql::RowView& row) -> Result<void> {
                holder = row.text(0);
                return {};
            }));
        if (holder.empty()) return {};
        return Error{
            ErrorCode::BadArgument,
            fmt::format("the controller on {} uses the state: stop all controllers first", holder)};
    }

    // Standbys compare versions, controllers compare epochs: both go on from those of the state
    // that is replaced.
    Result<void> outnumber_old_state() {
        if (!exists_) return {};
        for (const char* name : {"epoch", "version"}) {
            const std::string fresh = quoted_name(state_target_.schema + kFresh) + ".writer";
            TRY(control_->run(
                fmt::format("UPDATE {0} SET {1} = greatest({0}.{1}, old.{1}) + 1 FROM "
                            "{2} AS old",
                            fresh, name, table("writer"))));
        }
        TRY(control_->run(fmt::format("UPDATE {0}.lease SET epoch = writer.epoch FROM {0}.writer",
                                      quoted_name(state_target_.schema + kFresh))));
        return {};
    }

    Result<void> move_in(const std::string& schema, const std::string& suffix) {
        const auto rename = [&](const std::string& from, const std::string& to) -> Result<void> {
            TRY(control_->run(
                fmt::format("ALTER SCHEMA {} RENAME TO {}", quoted_name(from), quoted_name(to))));
            return {};
        };
        if (TRY(has_schema(schema))) TRY(rename(schema, schema + suffix));
        return rename(schema + kFresh, schema);
    }

    const sql::Target state_target_, accounting_target_;
    const bool has_accounting_;
    bool exists_ = false;
    std::unique_ptr<sql::Database> control_, state_, accounting_;
};

}  // namespace

std::unique_ptr<Destination> shared_destination(const Place& place) {
    return std::make_unique<SharedDestination>(place);
}

}  // namespace sluice::backup
