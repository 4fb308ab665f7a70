// core/job/update_shape_test.cc: scontrol update of what a waiting job asks for.
#include <gtest/gtest.h>

#include "core/query/columns_of.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(UpdateShape, NumCpusIsTheLeastOfTheWholeJob) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n[1-2] cpus=8
        submit  a hold
        submit  b nodes=2 tasks=2 hold
        submit  c tasks=3 memcpu=10 hold
        submit  d tasks=2 exclusive nodes=1 hold
        update  a NumCPUs=9 refused=configuration
        update  a NumCPUs=4-6
        update  b NumNodes=2 NumCPUs=6
        update  c NumCPUs=2 refused=NumTasks=3
        update  c NumCPUs=4
        update  d NumCPUs=9 refused=configuration
        update  d NumCPUs=8
    )"),
              "");
    auto wanted = [&](const char* name) {
        return tres_wanted(world.cluster().job(world.job(name)), nullptr,
                           world.cluster().settings())
            .at("cpu");
    };
    EXPECT_EQ(wanted("a"), 4u);
    EXPECT_EQ(wanted("b"), 6u);
    EXPECT_EQ(wanted("c"), 4u);
    ASSERT_EQ(world.run(R"(
        release a
        pass
        holds   a cpus=0-3
        update  a NumCPUs=5 refused=pending
        end     a
        release b
        pass
        holds   b cpus=0-2
        end     b
        release c
        pass
        holds   c cpus=0-3 mem=40
        end     c
        release d
        pass
        holds   d cpus=0-7
    )"),
              "");
    EXPECT_EQ(world.cluster().job(world.job("b")).run.allocation->cpus(), 6u);
}

}  // namespace
}  // namespace sluice
