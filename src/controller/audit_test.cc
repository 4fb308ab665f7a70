// controller/audit_test.cc
#include "controller/audit.h"

#include <gtest/gtest.h>

#include "model/errors.h"
#include "model/partition_keys.h"
#include "model/qos_keys.h"

namespace sluice {
namespace {

constexpr Caller kAdmin{UserId{500}, GroupId{500}};
constexpr RequestId kId{3};

std::string line(const Event& event, const Answer& answer = Done{}) {
    return audit_line(event, answer).value_or("none");
}

JobRef job_ref(std::uint32_t id) {
    return {.job = JobId{id}, .tasks = {}, .het_component = {}, .step = {}};
}

TEST(Audit, AChangeIsToldWithItsUserItsObjectAndItsValues) {
    const auto partition = parse_partition_change({{"State", "DOWN"}, {"MaxTime", "5"}});
    EXPECT_EQ(line(UpdatePartition{kId, kAdmin, "debug", *partition}),
              "audit: uid 500: update partition debug: MaxTime=00:05:00 State=DOWN");
    EXPECT_EQ(line(UpdatePartition{kId, kAdmin, "new", {}, UpdatePartition::Verb::Create}),
              "audit: uid 500: create partition new");
    const NodeChange drain{.state = NodeCommand::Drain, .reason = "fan"};
    EXPECT_EQ(line(UpdateNode{kId, kAdmin, {"n1"}, drain}),
              "audit: uid 500: update node n1: State=DRAIN Reason=fan");
    EXPECT_EQ(line(UpdateJob{kId, kAdmin, job_ref(12), {.priority = 7}}),
              "audit: uid 500: update job 12: Priority=7");
    EXPECT_EQ(line(Reconfigure{kId, kAdmin, nullptr}), "audit: uid 500: reconfigure");
    EXPECT_EQ(
        line(RebootNodes{.request = kId, .caller = kAdmin, .nodes = {"n1"}, .reason = "kernel"}),
        "audit: uid 500: reboot node n1: Reason=kernel");
    CreateNodes creation{.request = kId, .caller = kAdmin, .nodes = std::vector<NodeConfig>(2)};
    creation.nodes[0].name = "d1";
    creation.nodes[1].name = "d2";
    EXPECT_EQ(line(creation), "audit: uid 500: create node d1,d2");
    EXPECT_EQ(line(DeleteNodes{kId, kAdmin, {"d1", "d2"}}), "audit: uid 500: delete node d1,d2");
    EXPECT_EQ(line(SetTrigger{kId, kAdmin, {.program = "/bin/true"}}),
              "audit: uid 500: set trigger: program=/bin/true");
    EXPECT_EQ(line(ClearTriggers{kId, kAdmin, {.job = JobId{3}}}),
              "audit: uid 500: clear trigger: jobid=3");
}

TEST(Audit, OfSeveralJobsThoseAreNamedForWhichItWasDone) {
    const ControlJobs hold{kId, kAdmin, JobVerb::Hold, {job_ref(1), job_ref(2), job_ref(3)}};
    const std::vector<JobResult> results{
        {"1", {}}, {"2", Error{ErrorCode::AccessDenied, {}}}, {"3", {}}};
    EXPECT_EQ(line(hold, results), "audit: uid 500: hold job 1,3");
    EXPECT_EQ(line(hold, std::vector<JobResult>{results[1]}), "none");
}

TEST(Audit, AReservationIsToldWithItsName) {
    ReservationChange change{.name_base = "x"};
    change.users.emplace().items = {UserId{7}, UserId{8}};
    change.nodes.emplace().items = {"n1"};
    EXPECT_EQ(line(ChangeReservation{kId, kAdmin, change}, ReservationNamed{"x_1"}),
              "audit: uid 500: create reservation x_1: Nodes=n1 Users=7,8");

    using Verb = ReservationChange::Verb;
    ReservationChange update{.verb = Verb::Update, .name = "x_1", .start = from_unix(1800000000)};
    update.duration = Seconds{600};
    update.duration_sign = -1;
    update.users.emplace().items = {UserId{7}};
    update.users->verb = ListChange<UserId>::Verb::Remove;
    update.groups.emplace().items = {{.name = "staff", .users = {UserId{9}}}};
    update.groups->verb = ListChange<GroupMembers>::Verb::Add;
    update.qos.emplace().items = {"low"};
    update.qos->denied = true;
    update.core_counts = {2, 4};
    update.max_start_delay = Seconds{60};
    update.purge_cleared = true;
    EXPECT_EQ(line(ChangeReservation{kId, kAdmin, update}, ReservationNamed{"x_1"}),
              "audit: uid 500: update reservation x_1: StartTime=1800000000 Duration-=600 "
              "CoreCnt=2,4 Users-=7 Groups+=staff QOS=-low MaxStartDelay=60 PURGE_COMP=");
}

TEST(Audit, NothingIsSaidOfWhatWasRefusedOrIsNoAdministration) {
    EXPECT_EQ(line(UpdateNode{kId, kAdmin, {"n1"}, {}}, Error{ErrorCode::AccessDenied, {}}),
              "none");
    EXPECT_EQ(line(WaitJob{kId, kAdmin, JobId{1}}), "none");
    SubmitJob submission{kId, kAdmin, nullptr, "", false};
    EXPECT_EQ(line(submission, Submitted{.job = JobId{5}}), "none");
    submission.caller.sent_by = UserId{0};
    EXPECT_EQ(line(submission, Submitted{.job = JobId{5}}),
              "audit: uid 0: submit job 5 as uid 500");
}

}  // namespace
}  // namespace sluice
