// controller/testing.h
//
// What the tests of requests and of the threads share: a user, limits, a configuration, a
// submission.
#pragma once

#include <string>
#include <utility>

#include "config/config.h"
#include "controller/requests.h"
#include "protocol/convert.h"

namespace sluice {

inline constexpr RequestId kTestRequest{7};
inline constexpr Caller kTestUser{UserId{1000}, GroupId{100}};
inline constexpr RequestLimits kTestLimits{.slurm_user = UserId{64}, .script_size_max = 100};

inline Config test_config() {
    Config config;
    config.cluster_name = "lab";
    config.nodes.push_back({.name = "n1", .cpus = 4, .real_memory = 1000});
    config.nodes.push_back({.name = "n2", .cpus = 4, .real_memory = 1000});
    config.partitions.push_back({.name = "debug", .nodes = {"n1", "n2"}, .is_default = true});
    return config;
}

inline wire::Request test_submission(std::string script) {
    wire::Request request;
    request.mutable_submit()->set_request(encode(JobRequest{{}, {.name = "j"}}));
    request.mutable_submit()->set_script(std::move(script));
    request.mutable_submit()->set_environment(std::string("A=1\0", 4));
    return request;
}

}  // namespace sluice
