// --gpu-freq as far as it goes without a GPU; tests/integration/test_gpu_freq.py has the rest.
#include "stepd/gpu_clocks.h"

#include <gtest/gtest.h>

#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

TEST(GpuFrequencies, WhoDoesNotAskOrHasNoGpusIsLeftAlone) {
    wire::StepOrder order;
    order.mutable_tasks();
    GpuFrequencies frequencies;
    EXPECT_EQ(frequencies.set(order).value(), "");
    order.mutable_tasks()->mutable_spec()->set_tres_freq("gpu:low,verbose");
    EXPECT_EQ(frequencies.set(order).value(), "");
    JobRequest request;
    request.tres_freq = "gpu:450";
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    EXPECT_EQ(frequencies.set(order).value(), "");
    frequencies.reset();
}

TEST(GpuFrequencies, WhatCannotBeReadIsRefused) {
    wire::StepOrder order;
    for (const char* demand : {"low", "gpu:", "gpu:nonsense", "nic:low"}) {
        order.mutable_tasks()->mutable_spec()->set_tres_freq(demand);
        EXPECT_EQ(GpuFrequencies().set(order).error().code, ErrorCode::BadArgument) << demand;
    }
}

}  // namespace
}  // namespace sluice
