// core/permission_test.cc: every row of the table of permissions, for every role. What only the
// shell checks is in tests/integration/test_authorization.py.
#include "core/permission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "model/job_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr UserId kOwnerId{1000}, kSlurmId{500}, kStrangerId{2000}, kCoordinatorId{3000},
    kOperatorId{4000};
constexpr RequestId kAsk{77};

JobRef ref_to(JobId job, const std::string& tasks = "") {
    JobRef ref{.job = job, .tasks = {}, .het_component = {}, .step = {}};
    if (!tasks.empty()) ref.tasks = TaskSet::parse(tasks).value();
    return ref;
}

TriggerRequest trigger_of(std::optional<JobId> job, std::string program = "/bin/true") {
    return {
        .event = TriggerEvent::NodeDown, .job = job, .nodes = {}, .program = std::move(program)};
}

NodeConfig node_named(const char* name) {
    NodeConfig node;
    node.name = name;
    node.origin = NodeOrigin::Dynamic;
    return node;
}

// Jobs of one user in every state that a request may be about.
struct Site {
    Scenario scenario;
    Effects effects = {};

    explicit Site(UserId slurm_user = kSlurmId, bool user_top = false, bool user_triggers = true) {
        EXPECT_EQ(scenario.run(R"(
            nodes     n[1-2] cpus=4
            partition open default
            partition paid accounts=grant
            submit    runs  account=school time=10
            submit    alloc account=school salloc time=10
            pass
            submit    waits account=school begin=60
            submit    held  account=school hold
            submit    kept  account=school begin=60
            submit    array account=school array=0-9 begin=60
            hold      kept
            reserve   r1 start=10 length=30 nodes=n1 users=500,1000,2000,3000,4000 flags=USER_DELETE
        )"),
                  "");
        // Before SlurmUser is not root: then nobody else may.
        Settings with_triggers = cluster().settings();
        with_triggers.allow_user_triggers = true;
        cluster().apply_settings(std::make_shared<const Settings>(with_triggers), now());
        apply(cluster(), now(), SetTrigger{kAsk, {kOwnerId, GroupId{1}}, trigger_of({})}, effects);
        Policy policy;
        policy.associations = {{.id = 1, .account = "root"},
                               {.id = 2, .parent = 1, .account = "school"}};
        policy.users = {{.name = "op", .uid = kOperatorId, .admin_level = AdminLevel::Operator},
                        {.name = "coord", .uid = kCoordinatorId}};
        policy.accounts = {{.name = "school", .coordinators = {"coord"}}};
        cluster().set_policy(policy);
        Settings settings = cluster().settings();
        settings.slurm_user = slurm_user;
        settings.reboot_program = "/sbin/reboot";
        settings.max_node_count = 4;
        settings.priority.user_top = user_top;
        settings.allow_user_triggers = user_triggers;
        cluster().apply_settings(std::make_shared<const Settings>(settings), now());
        apply(cluster(), now(), CreateNodes{kAsk, kRoot, {node_named("d1")}}, effects);
        settle();
    }
    Cluster& cluster() { return scenario.cluster(); }
    Time now() const { return scenario.now(); }
    JobId job(const std::string& name) const { return scenario.job(name); }
    void settle() {
        (void)cluster().take_changes();
        (void)cluster().take_snapshot(now());
        effects.clear();
    }
    // True: it was done. A refused request leaves no trace but the answer.
    bool ask(const Event& event, const std::string& what) {
        apply(cluster(), now(), event, effects);
        const Answer* answer = nullptr;
        for (const Effect& effect : effects) {
            const Reply* reply = std::get_if<Reply>(&effect);
            if (reply && reply->request == kAsk) answer = &reply->answer;
        }
        if (!answer) return true;  // it waits
        bool refused = std::holds_alternative<Error>(*answer);
        if (const auto* results = std::get_if<std::vector<JobResult>>(answer))
            refused = results->front().error.has_value();
        if (!refused) return true;
        EXPECT_EQ(effects.size(), 1u) << what;
        EXPECT_TRUE(cluster().take_changes().empty()) << what;
        EXPECT_EQ(cluster().take_snapshot(now()), nullptr) << what;
        EXPECT_FALSE(cluster().clients().any_waits() || cluster().steps().are_awaited()) << what;
        return false;
    }
};

using MakeEvent = Event (*)(const Site& site, const Caller& caller);

template <JobVerb kVerb>
Event control_of(const Site& site, const Caller& caller, const char* job) {
    return ControlJobs{kAsk, caller, kVerb, {ref_to(site.job(job))}};
}
Event update_of(const Site& site, const Caller& caller, const char* job, const KeyTexts& keys) {
    return UpdateJob{kAsk, caller, ref_to(site.job(job)), parse_job_change(keys, {}).value()};
}
Event submission(const Caller& caller) {
    auto demand = std::make_shared<JobRequest>();
    demand->shape.ntasks = 1;
    return SubmitJob{kAsk, caller, demand, "", false};
}
Event cancellation(const Site& site, const Caller& caller) {
    CancelJobs event{.request = kAsk, .caller = caller, .filter = {}};
    event.filter.jobs.push_back(ref_to(site.job("runs")));
    return event;
}
Event reservation(const Site& site, const Caller& caller, ReservationChange::Verb verb) {
    ReservationChange change{.verb = verb, .name = "r1"};
    if (verb == ReservationChange::Verb::Update) change.end = site.now() + Seconds{7200};
    return ChangeReservation{kAsk, caller, change};
}
Event priority_raise(const Site& site, const Caller& caller) {
    return update_of(site, caller, "waits", {{"Priority", "4294967294"}});
}

// The request that needs the right. What is not here is no request to the core.
const std::multimap<Action, MakeEvent> kRequests = {
    {Action::SubmitJob, [](const Site&, const Caller& c) { return submission(c); }},
    {Action::CancelJob, [](const Site& s, const Caller& c) { return cancellation(s, c); }},
    {Action::HoldJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Hold>(s, c, "waits"); }},
    {Action::ReleaseJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Release>(s, c, "held"); }},
    {Action::ReleaseAdminHold,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Release>(s, c, "kept"); }},
    {Action::RequeueJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Requeue>(s, c, "runs"); }},
    {Action::SuspendJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Suspend>(s, c, "runs"); }},
    {Action::TopJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Top>(s, c, "waits"); }},
    {Action::TopOwnJob,
     [](const Site& s, const Caller& c) { return control_of<JobVerb::Top>(s, c, "waits"); }},
    {Action::UpdateJob,
     [](const Site& s, const Caller& c) {
         return update_of(s, c, "waits", {{"Comment", "x"}});
     }},
    {Action::RaisePriority, priority_raise},
    {Action::SetSiteFactor,
     [](const Site& s, const Caller& c) {
         return update_of(s, c, "waits", {{"SiteFactor", "5"}});
     }},
    {Action::SetAdminComment,
     [](const Site& s, const Caller& c) {
         return update_of(s, c, "waits", {{"AdminComment", "x"}});
     }},
    {Action::LengthenRunningJob,
     [](const Site& s, const Caller& c) {
         return update_of(s, c, "runs", {{"TimeLimit", "99"}});
     }},
    {Action::UseAnyPartition,
     [](const Site& s, const Caller& c) {
         return update_of(s, c, "waits", {{"Partition", "paid"}});
     }},
    {Action::CreateStep,
     [](const Site& s, const Caller& c) -> Event {
         return CreateStep{kAsk, c, StepDemand{.job = s.job("runs")}};
     }},
    {Action::WaitForJob,
     [](const Site& s, const Caller& c) -> Event {
         return WaitJob{kAsk, c, s.job("alloc"), WaitFor::Ended};
     }},
    {Action::CompleteJob,
     [](const Site& s, const Caller& c) -> Event {
         return CompleteJob{kAsk, c, s.job("alloc"), {}};
     }},
    {Action::ShowAllocation,
     [](const Site& s, const Caller& c) -> Event {
         return ShowAllocation{kAsk, c, s.job("alloc")};
     }},
    {Action::ExplainJob,
     [](const Site& s, const Caller& c) -> Event {
         return ExplainJob{kAsk, c, ref_to(s.job("waits"))};
     }},
    {Action::UpdateNode,
     [](const Site&, const Caller& c) -> Event {
         return UpdateNode{kAsk, c, {"n1"}, {.state = NodeCommand::Drain, .reason = "x"}};
     }},
    {Action::UpdateNode,
     [](const Site&, const Caller& c) -> Event {
         return CreateNodes{kAsk, c, {node_named("d2")}};
     }},
    {Action::UpdateNode,
     [](const Site&, const Caller& c) -> Event {
         return DeleteNodes{kAsk, c, {"d1"}};
     }},
    {Action::RebootNodes,
     [](const Site&, const Caller& c) -> Event {
         return RebootNodes{.request = kAsk, .caller = c, .nodes = {"n1"}, .reason = {}};
     }},
    {Action::UpdatePartition,
     [](const Site&, const Caller& c) -> Event {
         return UpdatePartition{kAsk, c, "open", {}};
     }},
    {Action::ChangeReservation,
     [](const Site& s, const Caller& c) {
         return reservation(s, c, ReservationChange::Verb::Update);
     }},
    {Action::DeleteOpenReservation,
     [](const Site& s, const Caller& c) {
         return reservation(s, c, ReservationChange::Verb::Delete);
     }},
    {Action::SetTrigger,
     [](const Site&, const Caller& c) -> Event {
         return SetTrigger{kAsk, c, trigger_of({}, "/bin/date")};
     }},
    {Action::SetTrigger,
     [](const Site& s, const Caller& c) -> Event {
         return SetTrigger{kAsk, c, trigger_of(s.job("runs"))};
     }},
    {Action::SetUserJobTrigger,
     [](const Site& s, const Caller& c) -> Event {
         return SetTrigger{kAsk, c, trigger_of(s.job("runs"))};
     }},
    {Action::SetUserTrigger,
     [](const Site&, const Caller& c) -> Event {
         return SetTrigger{kAsk, c, trigger_of({}, "/bin/date")};
     }},
    {Action::ClearTrigger,
     [](const Site&, const Caller& c) -> Event {
         return ClearTriggers{kAsk, c, {.id = 1}};
     }},
    {Action::Reconfigure,
     [](const Site& s, const Caller& c) -> Event {
         return Reconfigure{kAsk, c, const_cast<Site&>(s).cluster().settings_ptr()};
     }},
};

const std::pair<Role, UserId> kCallers[] = {
    {Role::Other, kStrangerId},    {Role::Owner, kOwnerId},     {Role::Coordinator, kCoordinatorId},
    {Role::Operator, kOperatorId}, {Role::SlurmUser, kSlurmId}, {Role::Root, UserId{0}}};

bool is_about_triggers(Action action) {
    return action == Action::SetUserJobTrigger || action == Action::SetUserTrigger ||
           action == Action::SetTrigger || action == Action::ClearTrigger;
}

TEST(Permission, EveryRequestOfEveryRoleIsAnsweredByTheTable) {
    for (const auto& [action, make] : kRequests) {
        const UserId slurm_user = is_about_triggers(action) ? UserId{0} : kSlurmId;
        for (const auto& [role, user] : kCallers) {
            if (role == Role::SlurmUser && user != slurm_user) continue;
            Site site(slurm_user, action == Action::TopOwnJob, action != Action::SetTrigger);
            const Caller caller{user, GroupId{100}};
            const std::string what =
                fmt::format("{} by role {}", name_of(action), static_cast<int>(role));
            EXPECT_EQ(site.ask(make(site, caller), what), may(role, action)) << what;
        }
    }
}

TEST(Permission, OnlySlurmUserMaySetTriggersIfItIsNotRoot) {
    for (const Action action : {Action::SetUserJobTrigger, Action::SetUserTrigger}) {
        for (const auto& [role, user] : kCallers) {
            Site site;
            const Event event = kRequests.find(action)->second(site, {user, GroupId{1}});
            EXPECT_EQ(site.ask(event, "trigger"), role == Role::SlurmUser) << user.value;
        }
    }
}

TEST(Permission, NobodySetsTriggersWhereTheyAreDisabled) {
    for (const UserId user : {kOwnerId, UserId{0}}) {
        Site site(UserId{0});
        Settings settings = site.cluster().settings();
        settings.disable_triggers = true;
        site.cluster().apply_settings(std::make_shared<const Settings>(settings), site.now());
        site.settle();
        const Caller caller{user, GroupId{1}};
        EXPECT_FALSE(site.ask(SetTrigger{kAsk, caller, trigger_of({}, "/bin/date")}, "trigger"));
    }
}

TEST(Permission, AHoldOfAnAdministratorIsShownAsOne) {
    for (const auto& [role, user] : kCallers) {
        if (role == Role::Other) continue;
        Site site;
        ASSERT_TRUE(site.ask(control_of<JobVerb::Hold>(site, {user, GroupId{1}}, "waits"), "hold"));
        EXPECT_EQ(site.cluster().job(site.job("waits")).reason,
                  may(role, Action::HoldAsAdmin) ? Reason::JobHeldAdmin : Reason::JobHeldUser);
    }
}

// A role with more rights has all the rights of the ones below it.
TEST(Permission, NoRoleMayDoLessThanTheOneBelow) {
    for (std::size_t i = 0; i < kActionCount; ++i) {
        const auto action = static_cast<Action>(i);
        EXPECT_LE(may(Role::Other, action), may(Role::Owner, action)) << name_of(action);
        EXPECT_LE(may(Role::Owner, action), may(Role::SlurmUser, action)) << name_of(action);
        EXPECT_LE(may(Role::Coordinator, action), may(Role::SlurmUser, action)) << name_of(action);
        EXPECT_LE(may(Role::Operator, action), may(Role::SlurmUser, action)) << name_of(action);
        EXPECT_EQ(may(Role::SlurmUser, action), may(Role::Root, action)) << name_of(action);
        EXPECT_EQ(may(Role::Root, action), true) << name_of(action);
    }
}

TEST(Permission, TheRolesOfToday) {
    EXPECT_EQ(role_of(UserId{0}, kSlurmId, UserId{0}), Role::Root);
    EXPECT_EQ(role_of(kSlurmId, kSlurmId, kSlurmId), Role::SlurmUser);
    EXPECT_EQ(role_of(kOwnerId, kSlurmId, kOwnerId), Role::Owner);
    EXPECT_EQ(role_of(kOwnerId, kSlurmId, kStrangerId), Role::Other);
    EXPECT_EQ(role_of(kOwnerId, kSlurmId), Role::Other);
}

// Tasks of an array are split off only for a caller who may change them.
TEST(Permission, ARefusedRequestDoesNotTakeAnArrayApart) {
    constexpr JobVerb kVerbs[] = {JobVerb::Hold,    JobVerb::UserHold,    JobVerb::Release,
                                  JobVerb::Requeue, JobVerb::RequeueHold, JobVerb::Suspend,
                                  JobVerb::Resume,  JobVerb::Top};
    const Caller stranger{kStrangerId, GroupId{1}}, owner{kOwnerId, GroupId{1}};
    Site site;
    const JobRef some = ref_to(site.job("array"), "1-4");
    for (JobVerb verb : kVerbs) {
        EXPECT_FALSE(site.ask(ControlJobs{kAsk, stranger, verb, {some}}, "control"));
        site.settle();
    }
    EXPECT_FALSE(site.ask(UpdateJob{kAsk, stranger, some, {}}, "update"));
    site.settle();
    CancelJobs cancel{.request = kAsk, .caller = stranger, .filter = {}};
    cancel.filter.jobs.push_back(some);
    EXPECT_FALSE(site.ask(cancel, "cancel"));
    site.settle();
    // Nor for the owner, who may not do this.
    EXPECT_FALSE(site.ask(UpdateJob{kAsk, owner, some, {.admin_comment = "x"}}, "comment"));
    site.settle();
    EXPECT_FALSE(site.ask(ControlJobs{kAsk, owner, JobVerb::Suspend, {some}}, "suspend"));
    site.settle();
    EXPECT_TRUE(site.ask(ControlJobs{kAsk, kRoot, JobVerb::Hold, {ref_to(some.job)}}, "hold"));
    site.settle();
    EXPECT_FALSE(site.ask(ControlJobs{kAsk, owner, JobVerb::Release, {some}}, "release"));
    EXPECT_EQ(site.cluster().job(some.job).array_tasks.size(), 10u);
}

// Every way in which an owner can hold a job, after an administrator has held it.
TEST(AdminHold, IsNotWeakenedByTheOwner) {
    const Caller owner{kOwnerId, GroupId{1}};
    Site site;
    const JobId kept = site.job("kept");
    for (JobVerb verb : {JobVerb::Hold, JobVerb::UserHold, JobVerb::RequeueHold}) {
        (void)site.ask(ControlJobs{kAsk, owner, verb, {ref_to(kept)}}, "hold");
        site.settle();
        EXPECT_EQ(site.cluster().job(kept).reason, Reason::JobHeldAdmin);
    }
    EXPECT_TRUE(site.ask(update_of(site, owner, "kept", {{"Priority", "0"}}), "priority"));
    site.settle();
    EXPECT_EQ(site.cluster().job(kept).reason, Reason::JobHeldAdmin);
    EXPECT_FALSE(site.ask(control_of<JobVerb::Release>(site, owner, "kept"), "release"));
    EXPECT_TRUE(site.ask(control_of<JobVerb::UserHold>(site, kRoot, "kept"), "uhold"));
    site.settle();
    EXPECT_TRUE(site.ask(control_of<JobVerb::Release>(site, owner, "kept"), "release"));
    EXPECT_GT(site.cluster().job(kept).priority, 0u);
}

// The hold of a running job counts when it is requeued, also after its end has another reason.
TEST(AdminHold, OutlivesTheRunOfAJob) {
    const Caller owner{kOwnerId, GroupId{1}};
    for (JobVerb verb : {JobVerb::Requeue, JobVerb::RequeueHold}) {
        Site site;
        ASSERT_EQ(site.scenario.run("hold runs\nend runs code=1\nexpect runs failed"), "");
        site.settle();
        EXPECT_TRUE(
            site.ask(ControlJobs{kAsk, owner, verb, {ref_to(site.job("runs"))}}, "requeue"));
        site.settle();
        EXPECT_EQ(site.cluster().job(site.job("runs")).reason, Reason::JobHeldAdmin);
        EXPECT_FALSE(site.ask(control_of<JobVerb::Release>(site, owner, "runs"), "release"));
    }
}

}  // namespace
}  // namespace sluice
