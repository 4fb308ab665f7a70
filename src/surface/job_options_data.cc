// Setters of options about the data of a job.
#include <filesystem>

#include "model/stage_in.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

// The nodes see the source where the job was submitted from.
Result<void> set_stage_in(JobOptions& options, const OptionUse& use) {
    std::error_code unknown;
    const std::string here = std::filesystem::current_path(unknown).string();
    std::string& text = options.request.stage_in;
    const Result<StageIn> added = parse_stage_in(use.value, here);
    Result<std::string> longer = added ? with_stage_in(text, *added) : added.error();
    if (!longer) {
        Error refused = invalid(use);
        refused.hint = longer.error().detail;
        return refused;
    }
    text = *std::move(longer);
    return {};
}

}  // namespace sluice::job_option
