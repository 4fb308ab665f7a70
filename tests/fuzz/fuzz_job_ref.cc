// Job references and array specifications.
#include "fuzz.h"
#include "model/job_id.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    Result<ArraySpec> spec = parse_array(text);
    if (spec && spec->tasks.size() < 20'000) {
        Result<ArraySpec> again = parse_array(print_array(*spec));
        CHECK(again && *again == *spec);
        std::uint32_t first = spec->tasks.first();
        TaskSet tasks = spec->tasks;
        tasks.erase(first);
        CHECK(!tasks.contains(first) && tasks.size() + 1 == spec->tasks.size());
        tasks.insert(first);
        CHECK(tasks == spec->tasks);
    }
    Result<JobRef> ref = parse_job_ref(text);
    if (ref && (!ref->tasks || ref->tasks->size() < 20'000)) {
        Result<JobRef> again = parse_job_ref(to_string(*ref));
        CHECK(again && *again == *ref);
    }
}

}  // namespace sluice
