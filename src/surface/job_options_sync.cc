// Setter of --sync.
#include "model/checkpoint_sync.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

Result<void> set_sync(JobOptions& options, const OptionUse& use) {
    const std::string lines = options.request.sync + std::string(use.value) + "\n";
    const Result<SyncRule> rule = parse_sync_rule(use.value);
    if (const Result<void> checked = rule ? Result<void>() : Result<void>(rule.error()); !checked) {
        Error refused = invalid(use);
        refused.hint = checked.error().detail;
        return refused;
    }
    options.request.sync = lines;
    return {};
}

}  // namespace sluice::job_option
