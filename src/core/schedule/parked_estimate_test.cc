// core/schedule/parked_estimate_test.cc: estimated starts of jobs that wait for something other
// than nodes.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(ParkedEstimate, WhenLicencesAreGivenBack) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:3,ansys:1
        nodes   n1 cpus=8
        submit  a licenses=matlab:2 time=30
        submit  b licenses=ansys    time=50
        pass
        submit  c licenses=matlab:2       time=10
        submit  d licenses=matlab:3       time=10
        submit  e licenses=matlab,ansys   time=10
        submit  f licenses=matlab:2|ansys time=10
        pass
        expect  c pending Licenses starts=30
        expect  d pending Licenses starts=40
        expect  e pending Licenses starts=50
        expect  f pending Licenses starts=50
    )");
}

TEST(ParkedEstimate, LicencesAndNodesAtTheSameMoment) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:1
        nodes   n1 cpus=4
        submit  a licenses=matlab time=10
        submit  big cpus=3 time=60
        pass
        submit  b licenses=matlab cpus=4 time=10
        pass
        expect  b pending Licenses starts=60
        at      10
        end     a
        pass
        expect  b pending Resources starts=60
    )");
}

TEST(ParkedEstimate, NothingIsKeptForThem) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:1
        nodes   n1 cpus=2
        submit  a licenses=matlab time=10
        pass
        submit  b licenses=matlab cpus=2 time=10
        pass
        expect  b pending Licenses starts=10
        submit  other time=600
        pass
        expect  other running
    )");
}

TEST(ParkedEstimate, LicencesThatAReservationKeeps) {
    EXPECT_SCENARIO(R"(
        settings licenses=matlab:4
        nodes    n1 cpus=4
        reserve  course start=30 length=60 nodes=n1 users=1000 licenses=matlab:3 flags=LICENSE_ONLY
        submit   waits  licenses=matlab:2 time=60 user=1001
        pass
        expect   waits pending Licenses starts=90
    )");
}

TEST(ParkedEstimate, WhenTasksOfItsArrayEnd) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a array=1-4%2 time=20
        pass
        expect  a pending JobArrayTaskLimit starts=20
    )");
}

TEST(ParkedEstimate, WhenItsReservationBegins) {
    EXPECT_SCENARIO(R"(
        nodes    n1 cpus=4
        reserve  course start=30 length=60 nodes=n1 users=1000
        submit   waits reservation=course time=10
        pass
        expect   waits pending Reservation starts=30
    )");
}

TEST(ParkedEstimate, OneAfterTheOtherInTheSameReservation) {
    EXPECT_SCENARIO(R"(
        nodes    n1 cpus=4
        reserve  course start=30 length=90 nodes=n1 users=1000
        submit   first  reservation=course cpus=4 time=10
        submit   second reservation=course cpus=4 time=10
        pass
        expect   first  pending Reservation starts=30
        expect   second pending Reservation starts=40
        submit   other cpus=4 time=20 user=1001
        pass
        expect   other running
    )");
}

}  // namespace
}  // namespace sluice
