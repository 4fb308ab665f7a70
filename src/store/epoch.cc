// store/epoch.cc
#include <fmt/format.h>

#include "model/errors.h"
#include "store/store.h"

namespace sluice {

CommitOutcome fenced(Epoch writer, Epoch current) {
    return {CommitOutcome::Kind::Fenced,
            fmt::format("another controller has taken over the state (epoch {}, this one has {})",
                        current, writer)};
}

Result<StateChanges> Store::changes_since(StateVersion /*since*/) {
    return Error{ErrorCode::BadArgument, "this state belongs to one controller"};
}

}  // namespace sluice
