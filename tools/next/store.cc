// tools/next/store.cc
//
// The state of the next version, for tests of upgrades: one more schema, to which a step leads that
// changes tables of all engines. A program of this release cannot read it.
#include <vector>

#include "sql/database.h"
#include "store/schema.h"
#include "store/shared_schema.h"

namespace sluice {
namespace {

constexpr std::int64_t kNext = kSchema + 1;
constexpr const char* kStep = "CREATE TABLE found_by_next AS SELECT id FROM jobs";

std::vector<MigrationStep> next_steps() {
    const auto released = released_plan().steps;
    std::vector<MigrationStep> steps(released.begin(), released.end());
    steps.push_back(
        {.from = kSchema, .run = [](Database& database) { return database.execute(kStep); }});
    return steps;
}

constexpr SharedMigration kSharedSteps[] = {
    {.from = kSchema, .run = [](sql::Database& database) -> Result<void> {
         TRY(database.run(kStep));
         return {};
     }}};

}  // namespace

SchemaPlan current_plan() {
    static const std::vector<MigrationStep> steps = next_steps();
    return {.version = kNext, .steps = steps};
}

SharedPlan current_shared_plan() {
    return {.version = kNext, .steps = kSharedSteps};
}

std::uint32_t schema_of_rows() {
    return kNext;
}

}  // namespace sluice
