// agent/run_key.h
//
// Runs (node/run_key.h) in messages, and their files in the spool.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "node/run_key.h"
#include "wire.pb.h"

namespace sluice {

inline RunKey key_of(const wire::RunId& run) {
    return {{JobId{run.job()}, run.restarts()}, StepId{run.step()}};
}

inline wire::RunId to_run_id(const RunKey& key) {
    wire::RunId run;
    run.set_job(key.job.job.value);
    run.set_restarts(key.job.restarts);
    run.set_step(key.step.value);
    return run;
}

// Compat: the job's directory in the spool is "job00012".
std::string job_directory(std::string_view spool, JobId job);
// "<spool>/job00012/batch.0.5f0a12b97c33d481": a run's mark, as long as its supervisor is there or
// its end is not known to the controller (stepd/order.proto). The last part is where the supervisor
// listens.
std::string mark_path(std::string_view spool, const RunKey& key, std::string_view place);
// "<spool>/job00012/pending.5f0a12b97c33d481": of a supervisor that has not made its mark yet.
constexpr std::string_view kPendingMark = "pending.";
// The other way round, for the names in a job's directory.
struct Mark {
    RunKey key;
    std::string place;
};
std::optional<Mark> parse_mark(std::string_view directory_name, std::string_view file_name);
std::string make_place();
// "<spool>/job00012/epilog.0": the variables of the epilog of this run.
std::string epilog_path(std::string_view spool, const JobKey& key);

}  // namespace sluice
