#include "sim/faults.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "model/errors.h"
#include "sim/faults/fault_world.h"

namespace sluice {

namespace {

// With or without a failure.
FaultResult run_world(FaultOptions options, bool print_events, std::FILE* out) {
    std::fflush(out);  // before anything can go wrong
    if (print_events) {
        fmt::print(out, "\n");
        options.on_event = [out](const std::string& line) { fmt::print(out, "  {}\n", line); };
    }
    FaultResult result = FaultWorld(std::move(options)).run();
    if (result.failure) {
        fmt::print(out, "FAILED {}\n", *result.failure);
        return result;
    }
    fmt::print(
        out,
        "{} jobs accepted and ended, {} steps, {} faults, {} crashes, {} events, log {:016x}\n",
        result.accepted, result.steps, result.faults, result.crashes, result.events, result.hash);
    return result;
}

}  // namespace

Result<int> run_faults(const FaultRuns& runs, std::FILE* out) {
    for (std::uint64_t seed = runs.first;; ++seed) {
        fmt::print(out, "seed {}: ", seed);
        const FaultResult result = run_world({.seed = seed,
                                              .nodes = runs.nodes,
                                              .jobs = runs.jobs,
                                              .controllers = seed % 2 == 0 ? 2u : 1u,
                                              .by_qos = seed % 3 == 0,
                                              .on_event = {}},
                                             runs.print_events, out);
        if (result.failure) {
            const std::string path = fmt::format("faults-{}.trace", seed);
            TRY(write_fault_trace(path, result));
            fmt::print(out, "replay: ssim faults --events {}\n", path);
            return 1;
        }
        if (seed == runs.last) return 0;
    }
}

Result<int> replay_faults(const std::string& path, bool print_events, std::FILE* out) {
    FaultOptions options = TRY(read_fault_trace(path));
    fmt::print(out, "{}: ", path);
    return run_world(std::move(options), print_events, out).failure ? 1 : 0;
}

Result<void> write_fault_trace(const std::string& path, const FaultResult& result) {
    std::ofstream file(path);
    file << "# " << result.failure.value_or("nothing failed") << "\n"
         << print_fault_trace(result.trace);
    file.close();
    if (file.fail()) return Error{ErrorCode::SystemError, path + ": cannot be written"};
    return {};
}

Result<FaultOptions> read_fault_trace(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return Error{ErrorCode::SystemError, path + ": cannot be read"};
    auto trace = std::make_shared<const FaultTrace>(TRY(parse_fault_trace(text.str())));
    return FaultOptions{.seed = trace->seed,
                        .nodes = trace->nodes,
                        .jobs = trace->jobs,
                        .controllers = trace->controllers,
                        .with_preemption = trace->with_preemption,
                        .by_qos = trace->by_qos,
                        .wide = trace->wide,
                        .trace = trace,
                        .on_event = {}};
}

}  // namespace sluice
