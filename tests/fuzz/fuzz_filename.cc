// File name patterns: any text expands to something, and text without marks to itself.
#include "fuzz.h"
#include "model/filename.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    FilenameContext context{.job = JobId(12),
                            .array_task = 3,
                            .step = StepId(0),
                            .node_name = "n1",
                            .user = "u",
                            .job_name = "name",
                            .sluid = "s0000000000000"};
    std::string name = expand_filename(text, context);
    CHECK(name.size() <= 16 * text.size());
    if (text.find_first_of("%\\") == std::string_view::npos) CHECK(name == text);
    if (is_per_task(text)) {
        context.task = 7;
        CHECK(expand_filename(text, context) != name);
    }
}

}  // namespace sluice
