// core/job/dependency_test.cc: dependencies between jobs, also those that can never be fulfilled.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Dependency, WaitsForTheEndItNames) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  good
        submit  bad
        submit  any    depend=afterany:bad
        submit  ok     depend=afterok:good:bad
        submit  notok  depend=afternotok:bad
        submit  wrong  depend=afternotok:good
        submit  buffer depend=afterburstbuffer:good
        pass
        expect  any    pending Dependency
        depends ok     afterok:good(unfulfilled),afterok:bad(unfulfilled)
        end     good
        depends ok     afterok:bad(unfulfilled)
        end     bad code=1
        pass
        expect  any    running n1
        expect  notok  running n1
        expect  buffer running n1
        expect  ok     pending DependencyNeverSatisfied
        depends ok     afterok:bad(failed)
        expect  wrong  pending DependencyNeverSatisfied
        depends any    none
    )");
}

TEST(Dependency, AnyOfSeveralIsEnough) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a
        submit  b
        submit  c depend=afterok:a?afterok:b
        submit  d depend=afterok:a?afternotok:b
        pass
        end     a code=1
        depends c afterok:a(failed)?afterok:b(unfulfilled)
        expect  c pending Dependency
        end     b
        pass
        expect  c running
        expect  d pending DependencyNeverSatisfied
    )");
}

TEST(Dependency, AStartCountsAfterItsDelay) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  first begin=10
        submit  soon  depend=after:first
        submit  late  depend=after:first+5
        at      9
        expect  soon  pending Dependency
        at      10
        at      10
        expect  soon  running
        end     first
        restart
        at      14
        expect  late  pending Dependency
        at      15
        expect  late  running
    )");
}

TEST(Dependency, ACancelledJobHasEndedButNotWell) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  held hold
        submit  after depend=after:held
        submit  any   depend=afterany:held
        submit  notok depend=afternotok:held
        submit  ok    depend=afterok:held
        pass
        cancel  held
        at      1
        expect  after running
        expect  any   running
        expect  notok running
        expect  ok    pending DependencyNeverSatisfied
    )");
}

TEST(Dependency, UnknownJobsAreRefusedUnlessAnyEndWillDo) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        submit  a depend=afterok:999   refused
        submit  b depend=afternotok:999 refused
        submit  c depend=aftercorr:999 refused
        submit  d depend=afterany:999
        submit  e depend=after:999
        submit  f depend=foo:1         refused
        submit  g depend=expand:1      refused
        pass
        expect  d running
        expect  e running
    )");
}

TEST(Dependency, WhatCanNeverRunIsCancelledIfAskedFor) {
    EXPECT_SCENARIO(R"(
        settings killdep
        nodes   n1 cpus=8
        submit  bad
        submit  one   depend=afterok:bad
        submit  two   depend=afterok:one
        submit  three depend=afterany:two
        submit  kept  depend=afterok:bad killdep=no
        pass
        end     bad code=1
        pass
        expect  one   cancelled DependencyNeverSatisfied
        expect  two   cancelled
        expect  three running
        expect  kept  pending DependencyNeverSatisfied
        submit  late  depend=afterok:bad
        expect  late  cancelled
    )");
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  bad
        submit  one  depend=afterok:bad killdep=yes
        pass
        end     bad code=1
        expect  one  cancelled
    )");
}

TEST(Dependency, AWholeArrayMeansAllItsTasks) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2
        submit  sweep array=1-3
        submit  ok    depend=afterok:sweep
        submit  notok depend=afternotok:sweep
        submit  any   depend=afterany:sweep
        submit  task  depend=afterok:sweep_2
        pass
        depends ok    afterok:sweep_*(unfulfilled)
        end     sweep_1 code=1
        at      20
        restart
        depends notok afternotok:sweep_*(unfulfilled)
        expect  ok    pending Dependency
        end     sweep_2
        expect  task  pending
        depends task  none
        cancel  task
        end     sweep_3
        pass
        expect  ok    pending DependencyNeverSatisfied
        expect  notok running
        expect  any   running
    )");
}

TEST(Dependency, ATaskThatFailedBeforeIsNotForgotten) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  sweep array=1-2
        pass
        end     sweep_1 code=1
        pass
        submit  ok    depend=afterok:sweep
        at      20
        end     sweep_2
        pass
        expect  ok    pending DependencyNeverSatisfied
    )");
}

TEST(Dependency, TasksWaitForTheirCounterparts) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  sweep array=1-3
        submit  second array=1-4 depend=aftercorr:sweep
        pass
        expect  second_2 pending Dependency
        end     sweep_2
        end     sweep_1 code=1
        pass
        expect  second_2 running
        expect  second_1 pending DependencyNeverSatisfied
        expect  second_3 pending Dependency
        end     sweep_3
        pass
        expect  second_3 running
        expect  second_4 pending DependencyNeverSatisfied
        submit  third array=2-3 depend=aftercorr:sweep
        pass
        expect  third_2 running
        expect  third_3 running
    )");
}

TEST(Dependency, ACancelledArrayFailsAllCounterparts) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  sweep array=1-3 hold
        submit  second array=1-4 depend=aftercorr:sweep
        submit  one   depend=afternotok:sweep_2
        cancel  sweep
        pass
        expect  second_1 pending DependencyNeverSatisfied
        expect  second_4 pending DependencyNeverSatisfied
        expect  one running
    )");
}

TEST(Dependency, OneOfANameAtATime) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a name=train
        submit  b name=train depend=singleton
        submit  c name=train depend=singleton
        submit  x name=train depend=singleton user=1001
        submit  y name=other depend=singleton
        pass
        expect  a running
        expect  x running
        expect  y running
        expect  b pending Dependency
        depends b singleton(unfulfilled)
        restart
        end     a
        pass
        expect  b running
        expect  c pending Dependency
        requeue b
        clean   b n1
        pass
        expect  b running
        cancel  b
        clean   b n1
        pass
        expect  c running
        submit  many name=many array=1-3 depend=singleton
        submit  more name=many depend=singleton
        pass
        expect  many_1 running
        expect  many_3 running
        expect  more pending Dependency
        update  more Name=else
        at      1
        expect  more running
    )");
}

TEST(Dependency, ARequeuedJobHasNotEnded) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a
        submit  b depend=afterok:a
        pass
        requeue a
        clean   a n1
        pass
        expect  a running
        expect  b pending Dependency
        end     a
        pass
        expect  b running
    )");
}

TEST(Dependency, HoldsAndBeginTimesComeOnTop) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a
        submit  b depend=afterok:a hold
        submit  c depend=afterok:a begin=5
        pass
        expect  b pending JobHeldUser
        release b
        expect  b pending Dependency
        expect  c pending Dependency
        end     a
        pass
        expect  b running
        expect  c pending BeginTime
        at      5
        expect  c running
    )");
}

TEST(Dependency, ANewJobDoesNotWaitForItself) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  self depend=afterany:1 refused
        submit  next depend=afterany:1
        pass
        expect  next running n1
    )");
}

TEST(Dependency, CanBeChangedButNotIntoACircle) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  a
        submit  b hold
        submit  c depend=afterok:b
        submit  d depend=afterok:c
        update  b Dependency=afterok:d refused
        update  b Dependency=afterok:b refused
        update  b Dependency=afterok:nonsense refused
        update  d Dependency=afterany:a
        depends d afterany:a(unfulfilled)
        update  c Dependency=
        depends c none
        pass
        update  a Dependency=afterany:b refused
        expect  c pending
        end     a
        pass
        expect  c running
    )");
}

TEST(Dependency, SurvivesARestartEvenWhenTheOtherJobIsForgotten) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a
        submit  b
        submit  c depend=afterok:a:b
        pass
        end     a
        at      20
        restart
        depends c afterok:b(unfulfilled)
        end     b
        pass
        expect  c running
    )");
}

TEST(Arrays, AMillionTasksAreOneRecord) {
    Scenario scenario;
    EXPECT_EQ(scenario.run(
                  "settings arraymax=1000001\nnodes n1 cpus=2\nsubmit big array=0-1000000%1\npass"),
              "");
    EXPECT_EQ(scenario.cluster().jobs().size(), 2u);  // the array and its first task
    EXPECT_EQ(
        scenario.run("expect big_0 running\nexpect big_5 pending JobArrayTaskLimit\n"
                     "end big_0\npass\nexpect big_1 running\nupdate big ArrayTaskThrottle=2\npass\n"
                     "expect big_2 running"),
        "");
}

TEST(Licenses, AreHeldUntilTheNodesAreClean) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:2,ansys:1
        nodes   n1 cpus=8
        submit  a licenses=matlab:2
        submit  b licenses=matlab
        submit  c
        submit  d licenses=matlab|ansys
        submit  x licenses=matlab:3  refused
        submit  y licenses=unknown   refused
        submit  z licenses=a;b       refused
        pass
        expect  a running
        expect  b pending Licenses
        expect  c running
        expect  d running
        restart
        pass
        expect  b pending Licenses
        cancel  a
        pass
        expect  b pending Licenses
        clean   a n1
        pass
        expect  b running
        submit  e licenses=matlab:2
        pass
        expect  e pending Licenses
        settings licenses=matlab:3
        pass
        expect  e running
    )");
}

TEST(Deadline, AJobThatCannotEndInTimeDoesNotStart) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  busy
        submit  tight time=10 deadline=30
        submit  after depend=afternotok:tight
        submit  loose deadline=40
        submit  never time=10 deadline=5  refused
        submit  begun time=10 deadline=30 begin=25 refused
        pass
        at      20
        expect  tight pending
        restart
        at      21
        expect  tight deadline DeadLine
        end     busy
        pass
        expect  after running
        end     after
        pass
        expect  loose running
        at      40
        expect  loose completing
    )");
}

TEST(Suspend, StopsTheClockAndLendsTheCpus) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2 mem=1000
        submit  a cpus=2 mem=600 time=10
        submit  b cpus=2 mem=300 time=10
        submit  big cpus=1 mem=600
        pass
        at      4
        suspend a
        expect  a suspended
        pass
        expect  b running
        expect  big pending
        at      13
        restart
        expect  a suspended
        resume  a
        expect  a suspended
        end     b
        resume  a
        expect  a running
        at      18
        expect  a running
        at      19
        expect  a completing
        clean   a n1
        expect  a timeout
    )");
}

TEST(Suspend, ASuspendedJobCanBeEnded) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2
        submit  a cpus=2
        submit  b cpus=2
        submit  c cpus=2
        pass
        suspend a
        pass
        expect  b running
        cancel  a
        expect  a completing
        clean   a n1
        expect  a cancelled
        suspend b
        pass
        expect  c running
        requeue b
        clean   b n1
        expect  b pending
        suspend b
        expect  b pending
        down    n1
        expect  c pending
    )");
}

// It was alone when it might have started, but not when it does.
TEST(Dependency, ASingletonThatWasHeldIsStillAlone) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a name=train depend=singleton hold
        submit  b name=train
        pass
        expect  b running
        release a
        pass
        expect  a pending Dependency
        restart
        end     b
        pass
        expect  a running
    )");
}

// Each would wait for the other.
TEST(Dependency, SingletonsThatAreRequeuedGoOn) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a name=train depend=singleton
        submit  b name=train depend=singleton
        pass
        end     a
        pass
        expect  b running
        requeue a
        pass
        expect  a pending Dependency
        requeue b
        clean   b n1
        at      1
        pass
        expect  a running
        expect  b pending Dependency
        end     a
        pass
        expect  b running
    )");
}

// The task leaves its array for the one, and must not forget the other, which was over before.
TEST(Dependency, ATaskLooksAtAllThatItWaitsFor) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  plain
        submit  first array=0-1
        pass
        end     plain
        end     first_0
        submit  second array=0-1 depend=aftercorr:first:plain
        pass
        expect  second_0 running
        expect  second_1 pending Dependency
    )");
}

// The second waits for the first because of its name.
TEST(Dependency, SingletonsAreSeenInCycles) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  busy
        submit  a name=train hold
        submit  b name=train depend=singleton
        submit  c depend=afterany:b
        pass
        update  a Dependency=afterany:b refused
        update  a Dependency=afterany:c refused
        update  c Dependency=afterany:a
        update  a Dependency=afterany:busy
    )");
}

}  // namespace
}  // namespace sluice
