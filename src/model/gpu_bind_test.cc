// Every way to write --gpu-bind, and what each task then sees.
#include "model/gpu_bind.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

using Gpus = GpuBind::Gpus;

// What each of four tasks sees of GPUs 2 to 5.
std::vector<Gpus> of_four(std::string_view text, StepGpus step = {}) {
    step.all = {2, 3, 4, 5};
    step.tasks = 4;
    GpuBind bind = parse_gpu_bind(text).value();
    std::vector<Gpus> seen;
    for (std::size_t local = 0; local < 4; ++local) {
        seen.push_back(gpus_of_task(bind, step, local).gpus);
    }
    return seen;
}

// Compat: what Slurm 22.05 gave tasks of a step with GPUs 2 to 5.
TEST(GpuBind, EachTaskSeesItsOwn) {
    const Gpus all = {2, 3, 4, 5};
    EXPECT_EQ(of_four("none"), std::vector(4, all));
    EXPECT_EQ(of_four("closest"), std::vector(4, all));
    EXPECT_EQ(of_four("single:1"), (std::vector<Gpus>{{2}, {3}, {4}, {5}}));
    EXPECT_EQ(of_four("single:2"), (std::vector<Gpus>{{2}, {2}, {3}, {3}}));
    EXPECT_EQ(of_four("per_task:1"), (std::vector<Gpus>{{2}, {3}, {4}, {5}}));
    EXPECT_EQ(of_four("per_task:3"), (std::vector<Gpus>{{2, 3, 4}, {5}, {2}, {2}}));
    EXPECT_EQ(of_four("map_gpu:5,4,3,2"), (std::vector<Gpus>{{5}, {4}, {3}, {2}}));
    EXPECT_EQ(of_four("map:2*2,3*2"), (std::vector<Gpus>{{2}, {2}, {3}, {3}}));
    EXPECT_EQ(of_four("map:0,1,2,3"), (std::vector<Gpus>{{2}, {2}, {2}, {3}}));
    EXPECT_EQ(of_four("mask_gpu:0xc,0x30"), (std::vector<Gpus>{{2, 3}, {4, 5}, {2, 3}, {4, 5}}));
    EXPECT_EQ(of_four("verbose,mask:4*2,8"), (std::vector<Gpus>{{2}, {2}, {3}, {2}}));
}

TEST(GpuBind, ListsCountFromTheStepsFirstWhereDevicesAreConstrained) {
    EXPECT_EQ(of_four("map:3,2,1,0", {.relative = true}), (std::vector<Gpus>{{5}, {4}, {3}, {2}}));
    EXPECT_EQ(of_four("mask:3,c", {.relative = true}),
              (std::vector<Gpus>{{2, 3}, {4, 5}, {2, 3}, {4, 5}}));
}

TEST(GpuBind, CloseOnesArePreferred) {
    const StepGpus near{.close = {4, 5}};
    EXPECT_EQ(of_four("closest", near), std::vector(4, Gpus{4, 5}));
    EXPECT_EQ(of_four("single:1", near), (std::vector<Gpus>{{4}, {5}, {4}, {5}}));
    EXPECT_EQ(of_four("per_task:1", near), (std::vector<Gpus>{{4}, {5}, {2}, {3}}));
}

TEST(GpuBind, ATaskAloneOnItsNodeIsNotBound) {
    GpuBind bind = parse_gpu_bind("map_gpu:3").value();
    EXPECT_EQ(gpus_of_task(bind, {.all = {2, 3}, .tasks = 1}, 0).gpus, (Gpus{2, 3}));
}

TEST(GpuBind, SaysWhatDidNotWorkOut) {
    const StepGpus step{.all = {2, 3}, .tasks = 2};
    TaskGpus task = gpus_of_task(parse_gpu_bind("per_task:2").value(), step, 1);
    EXPECT_TRUE(task.too_few && task.fell_back);
    task = gpus_of_task(parse_gpu_bind("map:7").value(), step, 1);
    EXPECT_TRUE(task.fell_back && !task.too_few);
}

TEST(GpuBind, BadOnesAreRefused) {
    for (const char* text : {"",          "foo",        "verbose",
                             "v,closest", "map",        "map:",
                             "map:x",     "map:0,",     "map:0*0",
                             "map:-1",    "mask:zz",    "mask:0x",
                             "single",    "single:",    "single:0",
                             "single:x",  "per_task:0", "per_task:99999999999",
                             "none:1",    "closest:1",  "map:0*99999999",
                             "map:99999"}) {
        EXPECT_FALSE(parse_gpu_bind(text)) << text;
    }
}

TEST(GpuBind, TresBindSpeaksOfGpus) {
    EXPECT_EQ(parse_tres_bind("gres/gpu:verbose,map:0,1").value(),
              parse_gpu_bind("verbose,map:0,1").value());
    EXPECT_EQ(parse_tres_bind("gres/nic:closest").error().code, ErrorCode::NotSupported);
    EXPECT_EQ(parse_tres_bind("gres/gpu:closest+gres/nic:closest").error().code,
              ErrorCode::NotSupported);
    EXPECT_EQ(parse_tres_bind("cpu:1").error().code, ErrorCode::BadArgument);
    EXPECT_EQ(parse_tres_bind("gres/gpu:foo").error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace sluice
