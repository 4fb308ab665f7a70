// core/schedule/qos_test.cc: who may take whose place by QOS, and how.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(PreemptionByQos, TakesThePlaceOfThoseItNamesAndOfNobodyElse) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=REQUEUE
        qos       urgent preempt=cheap
        qos       cheap
        qos       normal
        nodes     n[1-2] cpus=4
        submit    keeps  qos=normal cpus=4 time=60 nodelist=n1
        submit    victim qos=cheap  cpus=4 time=60 nodelist=n2
        pass
        submit    same   qos=cheap  cpus=4
        submit    plain  qos=normal cpus=4
        pass
        expect    victim running
        submit    wants  qos=urgent cpus=4 time=30
        pass
        expect    keeps running
        expect    victim completing
        clean     victim n2
        pass
        expect    wants running n2
        expect    victim pending
        expect    plain pending
    )");
}

TEST(PreemptionByQos, TheVictimsQosSaysHow) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=REQUEUE
        qos       urgent preempt=gone,safe
        qos       gone mode=CANCEL
        qos       safe mode=OFF
        nodes     n[1-2] cpus=4
        submit    a qos=safe cpus=4 nodelist=n1
        submit    b qos=gone cpus=4 nodelist=n2
        pass
        submit    wants qos=urgent cpus=4
        pass
        expect    a running
        expect    b completing
        clean     b n2
        expect    b preempted
    )");
}

TEST(PreemptionByQos, ExemptTimeIsTheVictimsToo) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=CANCEL
        qos       urgent preempt=cheap
        qos       cheap exempt=10
        nodes     n1 cpus=4
        submit    victim qos=cheap cpus=4 time=60
        pass
        submit    wants qos=urgent cpus=4
        pass
        expect    victim running
        at        10
        pass
        expect    victim completing
    )");
}

}  // namespace
}  // namespace sluice
