// controller/controller_test.cc
//
// What slurm.conf means to the core, the options of slurmctld, and what the sessions share.
#include <gtest/gtest.h>

#include "config/settings.h"
#include "controller/io_pulse.h"
#include "controller/known_users.h"
#include "controller/options.h"
#include "controller/testing.h"
#include "model/errors.h"
#include "turn/tick_gate.h"

namespace sluice {
namespace {

// ---- settings

TEST(Settings, CarryOverWhatTheCoreDecidesBy) {
    const auto settings = settings_from(test_config(), UserId{64});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->cluster_name, "lab");
    EXPECT_EQ(settings->nodes.size(), 2u);
    EXPECT_EQ(settings->slurm_user, UserId{64});
    EXPECT_TRUE(settings->memory_is_consumable);
    EXPECT_FALSE(settings->config_overrides);
    EXPECT_EQ(settings->requeue_delay, Seconds{1});
}

TEST(Settings, ReadSwitchesOutOfLists) {
    Config config = test_config();
    config.select_type_parameters = "CR_Core,CR_LLN";
    config.slurmd_parameters = "config_overrides";
    config.scheduler_parameters = "bf_max_job_test=5, requeue_delay=17";
    const auto settings = settings_from(config, UserId{0});
    ASSERT_TRUE(settings);
    EXPECT_FALSE(settings->memory_is_consumable);
    EXPECT_TRUE(settings->config_overrides);
    EXPECT_EQ(settings->requeue_delay, Seconds{17});
}

TEST(Settings, TakeUpHowJobsArePlacedAndPreempted) {
    Config config = test_config();
    config.select_type_parameters = "CR_Socket_Memory,CR_LLN,CR_Pack_Nodes";
    config.scheduler_type = "sched/builtin";
    config.scheduler_parameters = "bf_window=30,kill_invalid_depend,nohold_on_prolog_fail";
    config.preempt_type = "preempt/qos";
    config.preempt_mode = "SUSPEND,GANG,WITHIN";
    config.preempt_parameters = "youngest_first";
    config.licenses = "matlab:10,ansys";
    config.switches = {{.name = "s0", .nodes = {"n1", "n2"}}};
    const auto settings = settings_from(config, UserId{0});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->unit, Unit::Socket);
    EXPECT_TRUE(settings->least_loaded && settings->memory_is_consumable);
    EXPECT_FALSE(settings->backfill.enabled);
    EXPECT_EQ(settings->backfill.window, Seconds{1800});
    EXPECT_TRUE(settings->kill_invalid_depend);
    EXPECT_FALSE(settings->hold_on_prolog_failure);
    EXPECT_EQ(settings->preempt.by, PreemptSettings::By::Qos);
    EXPECT_TRUE(settings->enforce_qos);
    EXPECT_EQ(settings->preempt.mode, PreemptMode::Suspend);
    EXPECT_TRUE(settings->preempt.gang && settings->preempt.within);
    EXPECT_TRUE(settings->preempt.youngest_first);
    EXPECT_EQ(settings->licenses.at(1), (std::pair<std::string, std::uint32_t>{"ansys", 1}));
    EXPECT_EQ(settings->switches.at(0).nodes.size(), 2u);
    config.select_type = "select/linear";
    config.select_type_parameters = "CR_Core_Memory";
    EXPECT_EQ(settings_from(config, UserId{0})->unit, Unit::Node);
    EXPECT_FALSE(settings_from(config, UserId{0})->memory_is_consumable);
}

TEST(Settings, NameTheParameterThatIsWrong) {
    Config config = test_config();
    config.scheduler_parameters = "requeue_delay=soon";
    const auto settings = settings_from(config, UserId{0});
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().detail.find("requeue_delay=soon"), std::string::npos);
}

TEST(Options, KnowTheirLettersAndNameTheWrongOnes) {
    const auto parse = [](std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        return parse_options(static_cast<int>(words.size()), argv.data());
    };
    const auto options = parse({"slurmctld", "-D", "-vv", "-f", "/x", "-c", "-n", "-5"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->foreground && options->clear_state);
    EXPECT_EQ(options->verbose, 2);
    EXPECT_EQ(options->config, "/x");
    EXPECT_EQ(options->nice, -5);
    EXPECT_NE(parse({"slurmctld", "-z"}).error().detail.find("-z"), std::string::npos);
    EXPECT_NE(parse({"slurmctld", "-n", "much"}).error().detail.find("much"), std::string::npos);
    EXPECT_FALSE(parse({"slurmctld", "-f"}));
}

// ---- what the sessions share

TEST(TickGate, LetsTimersThroughAfterWhatHadArrived) {
    TickGate gate;
    EXPECT_FALSE(gate.may_tick(false, 1, 10'000));
    EXPECT_TRUE(gate.may_tick(true, 1, 0));
    EXPECT_FALSE(gate.may_tick(true, 4096, 10'000)) << "these came before";
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000));
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000));
    EXPECT_TRUE(gate.may_tick(true, 4096, 16'000)) << "and these after";
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000)) << "the next one waits anew";
    EXPECT_FALSE(gate.may_tick(false, 4096, 16'000));
    EXPECT_TRUE(gate.may_tick(true, 0, 0));
}

TEST(IoPulse, IsThatOfTheThreadThatIsFurthestBehind) {
    const std::chrono::steady_clock::time_point start{};
    const auto second = [&](int number) { return start + std::chrono::seconds(number); };
    IoPulse pulse;
    EXPECT_EQ(pulse.read_until(), IoPulse::SteadyTime::max());
    for (std::size_t thread = 0; thread < kIoThreads; ++thread) {
        pulse.beat(thread, second(1));
        pulse.beat(thread, second(2));
    }
    EXPECT_EQ(pulse.read_until(), second(1)) << "what came since may not have been read yet";
    for (int number = 3; number < 100; ++number) pulse.beat(0, second(number));
    EXPECT_EQ(pulse.read_until(), second(1));
    pulse.beat(1, second(100));
    pulse.beat(1, second(101));
    EXPECT_EQ(pulse.read_until(), second(98));
}

TEST(KnownUsers, AreLookedUpOnceAndUnknownOnesSoonAgain) {
    constexpr UserId kGhost{3'000'000'123};
    const Time now = from_unix(1'800'000'000);
    const Seconds age{600};
    KnownUsers users;
    EXPECT_FALSE(users.remembered(UserId{0}, age, now).has_value());
    EXPECT_TRUE(users.look_up(UserId{0}, now));
    EXPECT_FALSE(users.look_up(kGhost, now));
    EXPECT_EQ(users.remembered(UserId{0}, age, now + Seconds{599}), true);
    EXPECT_EQ(users.remembered(kGhost, age, now + Seconds{1}), false);
    EXPECT_FALSE(users.remembered(kGhost, age, now + Seconds{10}).has_value());
    EXPECT_FALSE(users.remembered(UserId{0}, age, now + Seconds{600}).has_value());
    users.forget();
    EXPECT_FALSE(users.remembered(UserId{0}, age, now).has_value());
}

}  // namespace
}  // namespace sluice
