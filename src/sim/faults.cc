#include "sim/faults.h"

#include <fmt/format.h>

#include "sim/faults/fault_world.h"

namespace sluice {

int run_faults(const FaultRuns& runs, std::FILE* out) {
    for (std::uint64_t seed = runs.first;; ++seed) {
        fmt::print(out, "seed {}: ", seed);
        std::fflush(out);  // before anything can go wrong
        FaultOptions options{.seed = seed,
                             .nodes = runs.nodes,
                             .jobs = runs.jobs,
                             .by_qos = seed % 3 == 0,
                             .on_event = {}};
        if (runs.print_events) {
            fmt::print(out, "\n");
            options.on_event = [out](const std::string& line) { fmt::print(out, "  {}\n", line); };
        }
        FaultResult result = FaultWorld(std::move(options)).run();
        if (result.failure) {
            fmt::print(out,
                       "FAILED {}\nreplay: ssim faults --seeds {} --nodes {} --jobs {} --events\n",
                       *result.failure, seed, runs.nodes, runs.jobs);
            return 1;
        }
        fmt::print(
            out,
            "{} jobs accepted and ended, {} steps, {} faults, {} crashes, {} events, log {:016x}\n",
            result.accepted, result.steps, result.faults, result.crashes, result.events,
            result.hash);
        if (seed == runs.last) return 0;
    }
}

}  // namespace sluice
