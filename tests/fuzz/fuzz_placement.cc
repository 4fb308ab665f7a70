// Bindings of tasks to GPUs, and numbers of nodes.
#include <algorithm>

#include "fuzz.h"
#include "model/gpu_bind.h"
#include "model/node_counts.h"

namespace sluice {

static void fuzz_binding(const GpuBind& bind) {
    StepGpus step{.all = {2, 3, 5}, .close = {3}, .tasks = 4};
    for (bool relative : {false, true}) {
        step.relative = relative;
        for (std::size_t local = 0; local < step.tasks; ++local) {
            const GpuBind::Gpus gpus = gpus_of_task(bind, step, local).gpus;
            CHECK(!gpus.empty());
            for (std::uint32_t gpu : gpus) {
                CHECK(std::binary_search(step.all.begin(), step.all.end(), gpu));
            }
        }
    }
}

void fuzz_one(std::string_view text) {
    for (auto parse : {parse_gpu_bind, parse_tres_bind}) {
        if (Result<GpuBind> bind = parse(text)) fuzz_binding(*bind);
    }
    Result<WantedNodes> counts = parse_node_counts(text);
    if (!counts) return;
    CHECK(counts->min > 0 && counts->min <= counts->max);
    if (counts->sizes.empty()) return;
    const TaskSet sizes = parse_node_sizes(counts->sizes).value();
    CHECK(next_size(sizes, 0) == counts->min && last_size(sizes, counts->max) == counts->max);
    for (std::uint32_t middle : {counts->min + 1, counts->min / 2 + counts->max / 2}) {
        const std::uint32_t above = next_size(sizes, middle), below = last_size(sizes, middle);
        CHECK(above == 0 || (above >= middle && sizes.contains(above)));
        CHECK(below == 0 || (below <= middle && sizes.contains(below)));
    }
}

}  // namespace sluice
