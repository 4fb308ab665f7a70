// store/current_plan.cc
//
// Alone in its object file: programs of the next version, with which upgrades are tested, are
// linked with other definitions (tools/next/store.cc).
#include "store/schema.h"
#include "store/shared_schema.h"

namespace sluice {

SchemaPlan current_plan() {
    return released_plan();
}

// Versions before the one that added this kind of store cannot exist.
SharedPlan current_shared_plan() {
    return {};
}

std::uint32_t schema_of_rows() {
    return kSchema;
}

}  // namespace sluice
