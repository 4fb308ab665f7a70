// What reservations keep from other jobs, and what they do for their own.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Reservations, KeepOthersFromStartingIntoThem) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=30 length=60 nodes=n1 users=1000
        submit  short user=1001 time=20
        submit  long  user=1001 time=60        # would reach into it on n1
        submit  both  user=1001 nodes=2 time=40
        submit  named user=1001 nodelist=n1 time=60
        pass
        expect  short running n1
        expect  long  running n2
        expect  named pending ReqNodeNotAvail starts=90
        expect  both  pending ReqNodeNotAvail starts=90
        at      20
        end     short
        clean   short n1
        at      60
        end     long
        clean   long n2
        at      90
        reserved r1 gone
        expect  both  running n[1-2]
        expect  named running n1
    )");
}

TEST(Reservations, AreForTheirJobsOnly) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-3] cpus=4
        reserve r1 start=10 length=60 nodes=n[2-3] users=1000 flags=IGNORE_JOBS
        submit  unknown reservation=r9 refused
        submit  stranger user=1001 reservation=r1 refused
        submit  wide nodes=3 reservation=r1 refused
        submit  elsewhere nodelist=n1 reservation=r1 refused
        submit  early reservation=r1 time=30
        pass
        expect  early pending Reservation
        at      10
        expect  early running n2
        submit  second reservation=r1 exclusive time=30
        submit  third reservation=r1 exclusive time=30
        submit  outside user=1001 exclusive time=30
        pass
        expect  second running n3
        expect  third pending Resources starts=40
        expect  outside running n1
    )");
}

TEST(Reservations, EndTheirJobs) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=0 length=30 nodes=n1 users=1000
        submit  long reservation=r1 exclusive time=600   # starts all the same
        submit  late reservation=r1 exclusive time=10
        submit  other user=1001 nodelist=n1 time=10
        pass
        expect  long running n1
        expect  other pending ReqNodeNotAvail starts=30
        at      30
        expect  long completing
        expect  late resv_del_hold
        reserved r1 gone
        clean   long n1
        expect  long timeout
        pass
        expect  other running n1
        release late
        pass
        expect  late running n2
    )");
}

TEST(Reservations, LetLeftOverJobsGoWhenToldTo) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=0 length=30 nodes=n1 users=1000 flags=NO_HOLD_JOBS_AFTER
        submit  long reservation=r1 exclusive time=600
        submit  late reservation=r1 exclusive time=10
        pass
        expect  late pending Resources
        at      30
        expect  late running n2
    )");
}

TEST(Reservations, OverlapOnlyWhenTheySaySo) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-4] cpus=4
        reserve r1 start=10 length=60 nodes=n[1-2] users=1000
        reserve r1 start=90 length=10 nodes=n1 users=1000 refused=Duplicate
        reserve r2 start=60 length=60 nodes=n[2-3] users=1000 refused=overlaps
        reserve r2 start=70 length=60 nodes=n[2-3] users=1000
        reserve r3 start=20 length=60 nodes=n1 users=1000 flags=MAINT
        reserve r4 start=20 length=60 nodes=n1 users=1000 flags=OVERLAP
        reserve r5 start=20 length=60 nodes=n9 users=1000 refused=node
        reserve r5 start=20 length=60 nodes=n4 users=1000 by=1000 refused=user
        reserve r5 start=20 length=60 nodes=n4 refused=account
        reserve r5 start=20 length=0 nodes=n4 users=1000 refused=time
        rereserve r1 nodes=n[2-3] length=70 refused=overlaps
        rereserve r1 nodes=n3 length=30
        reserved r1 n3
        rereserve r9 length=30 refused=invalid
        unreserve r9 refused=invalid
        unreserve r1
        reserved r1 gone
    )");
}

TEST(Reservations, RespectWhatRunsUnlessToldOtherwise) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  long exclusive time=100
        pass
        expect  long running n1
        reserve r1 start=50 length=10 nodes=n1 users=1000 refused=busy
        reserve r2 start=120 length=10 nodes=n1 users=1000
        reserve r3 start=50 length=10 nodes=n1 users=1000 flags=IGNORE_JOBS
        reserve r4 start=0 length=10 count=1 users=1000
        reserved r4 n2
        reserve r5 start=0 length=10 count=1 users=1000 refused=busy
        reserve r5 start=0 length=10 count=3 users=1000 refused=configuration
    )");
}

TEST(Reservations, InUseAreNotDeleted) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        reserve r1 start=0 length=60 nodes=n1 users=1000
        submit  job reservation=r1 time=10
        unreserve r1 refused=use
        pass
        expect  job running n1
        unreserve r1 refused=use
        rereserve r1 start=10 refused=started
        end     job
        clean   job n1
        unreserve r1
        reserved r1 gone
    )");
}

TEST(Reservations, ComeRoundAgain) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        reserve r1 start=10 length=60 nodes=n1 users=1000 flags=DAILY
        submit  across user=1001 time=1500     # no gap between two of them is long enough
        submit  between user=1001 time=600
        pass
        expect  between pending ReqNodeNotAvail starts=70
        at      70
        reserved r1 start=1450
        expect  between running n1
        expect  across pending
        rereserve r1 skip
        reserved r1 start=2890
        reserve r2 start=100 length=10 nodes=n1 users=1000 refused=busy
        reserve r3 start=1500 length=2000 nodes=n1 users=1000 flags=DAILY refused=time
    )");
}

TEST(Reservations, ForMaintenanceSayWhy) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=0 length=60 nodes=n1 users=1000
        submit  job reservation=r1 time=100
        reserve m1 start=0 length=30 nodes=n[1-2] users=0 flags=MAINT
        pass
        expect  job pending ReqNodeNotAvail
        at      30
        reserved m1 gone
        expect  job running n1
    )");
}

TEST(Reservations, FlexibleOnesAreNoFence) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=10 length=20 nodes=n1 users=1000 flags=FLEX
        submit  wide reservation=r1 nodes=2 exclusive time=60
        submit  other user=1001 time=15
        pass
        expect  wide running n[1-2]
        at      30
        expect  wide running n[1-2]
        reserved r1 gone
    )");
}

TEST(Reservations, AttractJobsWhenMagnetic) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  before user=1000 exclusive nodelist=n2 time=10
        pass
        expect  before running n2
        reserve r1 start=0 length=60 nodes=n1 users=1000 flags=MAGNETIC
        submit  stranger user=1001 exclusive time=30
        submit  mine user=1000 exclusive time=30
        submit  mine2 user=1000 exclusive time=30
        pass
        expect  stranger pending
        expect  mine running n1
        expect  mine2 pending
        end     before
        clean   before n2
        pass
        expect  stranger running n2
    )");
}

TEST(Reservations, GoWhenNobodyUsesThem) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        reserve r1 start=0 length=60 nodes=n1 users=1000 flags=PURGE_COMP=10
        submit  job reservation=r1 time=20
        pass
        at      9
        end     job
        clean   job n1
        at      12
        at      18
        reserved r1 n1
        at      20
        reserved r1 gone
    )");
}

TEST(Reservations, SurviveARestart) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=0 length=60 nodes=n1 users=1000
        reserve r2 start=20 length=60 nodes=n2 users=1000 flags=WEEKLY
        submit  job reservation=r1 time=20
        submit  later reservation=r2 time=20
        submit  other user=1001 exclusive time=30
        pass
        restart
        pass
        reserved r1 n1
        expect  job running n1
        expect  later pending Reservation
        expect  other pending
        at      20
        expect  later running n2
    )");
}

TEST(Reservations, ForAccountsAndForAllButSome) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4 feature=big
        reserve r1 start=0 length=60 count=1 accounts=vision feature=big
        reserve r2 start=0 length=60 count=1 users=1000 denied
        submit  a account=nlp reservation=r1 refused
        submit  b account=vision reservation=r1 time=10
        submit  c user=1000 reservation=r2 refused
        submit  d user=1001 reservation=r2 time=10
        submit  e user=1001 account=vision reservation=r2,r1 time=10
        reserve r3 start=90 length=60 count=1 users=1000 feature=small refused=feature
        reserve r3 start=90 length=60 count=1 users=1000 partition=nosuch refused=partition
        pass
        expect  b running n1
        expect  d running n2
        expect  e running
    )");
}

TEST(Reservations, OfCoresLeaveTheRestOfTheNodeToOthers) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=8
        reserve r1 start=0 length=60 nodes=n1 cores=3 users=1000
        submit  in1 reservation=r1 tasks=2 time=20
        submit  in2 reservation=r1 tasks=2 time=20
        submit  in3 reservation=r1 tasks=1 time=20
        submit  out1 user=1001 nodes=2 tasks=13 time=30
        submit  out2 user=1001 tasks=5 time=30 exclude=n2
        submit  out3 user=1001 tasks=1 time=30 exclude=n2
        pass
        expect  in1 running n1
        expect  in3 running n1
        expect  in2 pending Resources
        expect  out1 running n[1-2]
        expect  out2 pending
        expect  out3 pending
        end     out1
        clean   out1 n1
        clean   out1 n2
        pass
        expect  out2 running n1
        expect  out3 pending
        end     in1
        clean   in1 n1
        pass
        expect  in2 running n1
        expect  out3 pending
        reserve r2 start=10 length=20 nodes=n1 cores=6 users=1000 refused=overlaps
        reserve r2 start=10 length=20 nodes=n1 cores=9 users=1000 refused=busy
        reserve r2 start=40 length=10 nodes=n1 cores=5 users=1000
        reserve r3 start=40 length=10 nodes=n[1-2] cores=1 users=1000 refused=consistent
        rereserve r1 cores=2 refused=updated
    )");
}

TEST(Reservations, OfSoManyCoresGetThemFromWhereTheyAreFree) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-3] cpus=8
        reserve r1 start=0 length=60 cores=12 users=1000
        reserved r1 n[1-2]
        reserve r2 start=0 length=60 cores=6 count=2 users=1000
        reserved r2 n[2-3]
        reserve r3 start=0 length=60 cores=9 users=1000 refused=busy
        submit  a reservation=r1 tasks=12 time=20
        pass
        expect  a running n[1-2]
        restart
        submit  b reservation=r1 tasks=1 time=20
        submit  c user=1001 tasks=6 time=20
        pass
        expect  b pending Resources
        expect  c running
    )");
}

TEST(Reservations, KeepLicences) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:10
        nodes   n1 cpus=8
        reserve r0 start=0 length=10 licenses=matlab:3 users=1000 refused=node
        reserve r1 start=10 length=10 licenses=matlab:6 users=1000 flags=LICENSE_ONLY
        reserve r2 start=15 length=10 licenses=matlab:5 users=1000 flags=LICENSE_ONLY refused=license
        reserve r2 start=15 length=10 licenses=ansys users=1000 flags=LICENSE_ONLY refused=license
        submit  long user=1001 licenses=matlab:5 time=20
        submit  short user=1001 licenses=matlab:5 time=5
        submit  own licenses=matlab:5 time=5 reservation=r1
        pass
        expect  long pending Licenses
        expect  short running
        end     short
        clean   short n1
        at      10
        expect  own running n1
        submit  four user=1001 licenses=matlab:4 time=5
        pass
        expect  four running
        end     four
        clean   four n1
        end     own
        clean   own n1
        expect  long pending Licenses
        at      20
        reserved r1 gone
        expect  long running
    )");
}

TEST(Reservations, AreForGroups) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        reserve r1 start=0 length=60 nodes=n1 group=1000
        submit  a reservation=r1 time=10
        submit  b reservation=r1 time=10 user=1001 refused
        rereserve r1 users=1001 refused=other
        reserve r2 start=0 length=60 nodes=n1 users=1000 group=1000 refused=other
    )");
}

TEST(Reservations, ReplaceNodesThatTheyLose) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-5] cpus=8
        reserve usual start=0 length=600 count=1 users=1000
        reserve fixed start=0 length=600 count=1 users=1000 flags=STATIC_ALLOC
        reserve idle  start=0 length=600 count=1 users=1000 flags=REPLACE
        reserved usual n1
        reserved fixed n2
        reserved idle n3
        reserve named start=0 length=600 nodes=n4 users=1000 flags=REPLACE_DOWN refused=node
        node    n1 State=DRAIN Reason=bad
        node    n2 State=DRAIN Reason=bad
        at      1
        reserved usual n4
        reserved fixed n2
        submit  a reservation=idle time=10
        pass
        expect  a running n3
        at      2
        reserved idle n5
        node    n4 State=DRAIN Reason=bad   # there is none instead
        at      3
        reserved usual n4
        node    n1 State=RESUME
        at      4
        reserved usual n1
    )");
}

TEST(Reservations, FloatAheadOfNow) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        reserve r1 start=30 length=10 nodes=n1 users=1000 flags=TIME_FLOAT
        reserve r2 start=30 length=10 nodes=n1 users=1000 flags=TIME_FLOAT,DAILY refused=floating
        submit  long user=1001 time=40
        submit  short user=1001 time=20
        pass
        expect  long pending
        expect  short running
        at      50
        reserved r1 start=80
        expect  long pending
        restart
        reserved r1 start=80
        unreserve r1
        pass
        expect  long running
    )");
}

TEST(Reservations, GetNodesByFeaturesAndDevices) {
    EXPECT_SCENARIO(R"(
        nodes   a[1-2] cpus=8 feature=a40 gres=gpu:a40:8
        nodes   h[1-3] cpus=8 feature=h100 gres=gpu:h100:4
        reserve r1 start=0 length=60 users=1000 feature=[a40*1&h100*2] count=1
        reserved r1 a1,h[1-2]
        reserve r2 start=0 length=60 users=1000 gres=gpu:h100:4
        reserved r2 h3
        reserve r3 start=0 length=60 users=1000 gres=gpu:h100:4 refused=busy
        reserve r3 start=0 length=60 users=1000 gres=gpu:h100:40 refused=configuration
        reserve r3 start=90 length=60 users=1000 gres=gpu:10
        reserved r3 a[1-2]
    )");
}

TEST(Reservations, MayBeDeletedByTheirUsersAndMadeLonger) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        reserve r1 start=10 length=10 nodes=n1 users=1000 flags=USER_DELETE
        reserve r2 start=10 length=10 nodes=n2 users=1000
        unreserve r1 by=1001 refused=user
        unreserve r2 by=1000 refused=user
        unreserve r1 by=1000
        reserved r1 gone
        rereserve r2 longer=20
        at      25
        reserved r2 n2
        at      40
        reserved r2 gone
    )");
}

TEST(Reservations, TheirJobsPreemptWithinTheRules) {
    EXPECT_SCENARIO(R"(
        settings preempt=partition mode=cancel
        nodes   n[1-2] cpus=4
        partition low nodes=n[1-2] default tier=1
        partition high nodes=n[1-2] tier=2
        reserve r1 start=0 length=60 nodes=n1 users=1000
        submit  inside reservation=r1 exclusive time=30
        submit  outside exclusive time=30
        pass
        expect  inside running n1
        expect  outside running n2
        submit  urgent reservation=r1 partition=high exclusive time=10
        pass
        expect  inside completing
        expect  outside running n2
        clean   inside n1
        pass
        expect  urgent running n1
    )");
}

TEST(Reservations, LetOthersRunIntoThemForAsLongAsTheySay) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        reserve r1 start=30 length=60 nodes=n1 users=1000 delay=10
        submit  other user=1001 nodelist=n1 exclusive time=40   # without --signal=R:
        submit  fits user=1001 nodelist=n1 exclusive time=40 delays
        submit  over user=1001 nodelist=n1 exclusive time=41 delays
        pass
        expect  fits running n1
        expect  over pending
        expect  other pending
        cancel  other
        cancel  over
        submit  mine reservation=r1 exclusive time=10
        at      30
        pass
        expect  mine pending Resources           # delayed by fits
        at      35
        end     fits
        clean   fits n1
        submit  late user=1001 nodelist=n1 time=1 delays   # it has begun: no others any more
        pass
        expect  mine running n1
        expect  late pending
        reserve r2 start=50 length=60 nodes=n2 users=1000
        submit  long user=1001 nodelist=n2 time=15
        pass
        expect  long running n2
    )");
}

TEST(Reservations, AreForQosAndPartitions) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=4
        partition p default
        partition q
        reserve   r1 start=0 length=60 nodes=n1 qos=high
        reserve   r2 start=0 length=60 nodes=n2 partitions=q
        reserve   r3 start=0 length=60 nodes=n2 partitions=nosuch flags=OVERLAP refused=partition
        submit    a reservation=r1 qos=high time=10
        submit    b reservation=r1 time=10 refused
        submit    c reservation=r2 time=10 refused
        submit    d reservation=r2 partition=q time=10
        submit    e reservation=r2 partition=p,q time=10
        restart
        pass
        expect    a running n1
        expect    d running n2
        expect    e running n2
    )");
}

TEST(Reservations, OfTheSameLicencesAtOtherTimesDoNotAddUp) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:10
        nodes   n1
        reserve r1 start=10 length=10 licenses=matlab:6 users=1000 flags=LICENSE_ONLY
        reserve r2 start=20 length=10 licenses=matlab:6 users=1000 flags=LICENSE_ONLY
        reserve r3 start=19 length=10 licenses=matlab:6 users=1000 flags=LICENSE_ONLY refused=license
    )");
}

TEST(Reservations, TheirJobsHaveResvOverRunLeft) {
    EXPECT_SCENARIO(R"(
        settings overrun=5
        nodes   n[1-2]
        reserve r1 start=0 length=30 nodes=n1 users=1000
        submit  long  reservation=r1 time=20
        pass
        expect  long running n1
        update  long TimeLimit=60
        at      30
        reserved r1 gone
        expect  long running n1
        at      34
        expect  long running n1
        at      35
        expect  long completing
        clean   long n1
        expect  long timeout
    )");
}

TEST(Reservations, MayBeginInThePastWhenForced) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        at      60
        reserve r1 start=10 length=120 nodes=n1 users=1000 refused=time
        reserve r1 start=10 length=120 nodes=n1 users=1000 flags=FORCE_START
        reserve r2 start=10 length=20 nodes=n2 users=1000 flags=FORCE_START,DAILY
        reserved r2 start=1450                   # that one was over
        submit  a reservation=r1 time=10
        pass
        expect  a running n1
        at      130
        reserved r1 gone
    )");
}

}  // namespace
}  // namespace sluice
