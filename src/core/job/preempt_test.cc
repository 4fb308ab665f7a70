// What becomes of a job that ends within its grace time.
#include "core/job/preempt.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

// A preempted job on two nodes in its grace time, which may be requeued or not.
std::string preempted(const std::string& mode, const std::string& victim = "") {
    return "settings  preempt=partition mode=" + mode + R"(
        nodes     n[1-2] cpus=1
        partition low  default tier=1 grace=120
        partition high tier=2
        submit    victim nodes=2 tasks=2 partition=low )" +
           victim + R"(
        pass
        submit    boss nodes=2 tasks=2 partition=high
        pass
        expect    victim running n[1-2]
        at        1
    )";
}

TEST(GraceTime, AJobThatSavesItsWorkAndExitsIsRequeuedWhateverItsCode) {
    for (const char* code : {"0", "1"}) {
        Scenario world;
        EXPECT_EQ(world.run(preempted("REQUEUE") + "\n end victim code=" + code + R"(
            expect    victim completing
            clean     victim n2
            pass
            expect    victim pending
            expect    boss   running n[1-2]
            at        3
            end       boss
            clean     boss n2
            at        4
            pass
            expect    victim running n[1-2]
            end       victim
            clean     victim n2
            expect    victim completed
        )"),
                  "")
            << code;
        EXPECT_EQ(world.cluster().job(world.job("victim")).run.restarts, 1u) << code;
    }
}

TEST(GraceTime, AJobThatMayNotBeRequeuedKeepsItsEnd) {
    EXPECT_SCENARIO(preempted("REQUEUE", "norequeue") + R"(
        end       victim
        clean     victim n2
        expect    victim completed)");
    EXPECT_SCENARIO(preempted("CANCEL") + R"(
        end       victim
        clean     victim n2
        expect    victim completed)");
    EXPECT_SCENARIO(preempted("CANCEL") + R"(
        end       victim code=1
        clean     victim n2
        expect    victim preempted)");
}

TEST(GraceTime, AJobThatWasNotToldToMakeRoomCompletes) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n1 cpus=1
        partition low  default tier=1 grace=120
        submit    job
        pass
        end       job
        expect    job completed
    )");
}

}  // namespace
}  // namespace sluice
