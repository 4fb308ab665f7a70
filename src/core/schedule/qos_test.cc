// core/schedule/qos_test.cc: which jobs may preempt which by QOS, and how.
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
        settings  preempt=qos mode=CANCEL
        qos       urgent preempt=gone,back
        qos       gone preemptmode=OFF
        qos       back preemptmode=REQUEUE
        nodes     n[1-2] cpus=4
        submit    a qos=back cpus=4 nodelist=n1
        submit    b qos=gone cpus=4 nodelist=n2
        pass
        submit    wants qos=urgent cpus=4 nodes=2
        pass
        clean     a n1
        clean     b n2
        pass
        expect    wants running
        expect    a pending
        expect    b preempted
    )");
}

TEST(PreemptionByQos, WithinOneQosByPriority) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=REQUEUE
        qos       shared preemptmode=WITHIN,REQUEUE
        nodes     n1 cpus=4
        submit    low  qos=shared cpus=4
        update    low  Priority=10
        pass
        submit    same qos=shared cpus=4
        update    same Priority=10
        pass
        expect    low running
        submit    high qos=shared cpus=4
        update    high Priority=20
        pass
        expect    low completing
    )");
}

TEST(QosOfJobs, AreKnownOnesWhereTheyAreEnforced) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=REQUEUE enforceqos
        qos       urgent preempt=normal
        nodes     n1 cpus=4
        submit    other qos=nosuch refused=qos
        submit    plain cpus=4
        pass
        submit    wants qos=urgent cpus=4
        pass
        expect    plain completing
    )");
}

TEST(PreemptionByQos, ExemptTimeIsTheVictimsToo) {
    EXPECT_SCENARIO(R"(
        settings  preempt=qos mode=CANCEL
        qos       urgent preempt=cheap
        qos       cheap preemptexempttime=10
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
