// cli/sstat/ask.h
//
// Questions of sstat: which steps of a job run, and what they use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "model/job_id.h"
#include "model/usage.h"
#include "surface/sheet.h"

namespace sluice {

struct RunningStep {
    JobId job;
    StepId step;
    std::string id;     // "12_3.batch"
    std::string nodes;  // host list
    std::string tres;
    std::string sluid;
};

// Empty: the job does not exist, or no step of it runs.
Result<std::vector<RunningStep>> fetch_steps(Client& client, const JobRef& job, const Looks& looks);

// A step on one node.
struct PartUsage {
    std::string node;
    std::vector<std::uint32_t> pids;
};

struct StepUsageNow {
    RunningStep step;
    std::uint32_t tasks = 0;
    Usage usage;
    std::vector<PartUsage> parts;  // by node, as they answered
};

// Steps of one job. A node that does not answer is told to `on_error`, and left out.
Result<std::vector<StepUsageNow>> fetch_usage(Client& client, const std::vector<RunningStep>& steps,
                                              const std::function<void(const std::string&)>& on_ask,
                                              const std::function<void(const Error&)>& on_error);

}  // namespace sluice
