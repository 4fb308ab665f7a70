// cli/srun/srun_test.cc: the parts of srun that need no cluster.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/common/job_setup.h"
#include "cli/srun/multi_prog.h"
#include "cli/srun/step_request.h"
#include "cli/srun/task_output.h"
#include "cli/srun/task_table.h"
#include "protocol/launch_tree.h"

namespace sluice {
namespace {

using Tasks = std::vector<std::vector<std::uint32_t>>;

class CapturedStreams : public Streams {
public:
    void out(std::string_view text) override { output += text; }
    void err(std::string_view text) override { errors += text; }
    Result<std::string> read_all() override { return std::string(); }
    bool read_line(std::string&) override { return false; }
    bool out_is_terminal() const override { return false; }
    void flush() override {}
    std::string output, errors;
};

wire::ExitStatus exited(std::uint32_t code, std::uint32_t signal = 0) {
    wire::ExitStatus exit;
    exit.set_code(code);
    exit.set_signal(signal);
    return exit;
}

wire::StepCreated step_on(const std::vector<std::pair<std::string, std::uint32_t>>& nodes,
                          const std::string& distribution) {
    wire::StepCreated step;
    step.set_distribution(distribution);
    for (const auto& [name, tasks] : nodes) {
        step.add_nodes()->set_name(name);
        step.mutable_nodes(step.nodes_size() - 1)->set_tasks(tasks);
    }
    return step;
}

TEST(Srun, TasksAreNumberedByTheDistributionOfTheStep) {
    const auto layout = [](const std::string& distribution) {
        return task_layout(step_on({{"n1", 3}, {"n2", 1}}, distribution), "n2,n1,n1,n1");
    };
    EXPECT_EQ(layout("block:cyclic"), (Tasks{{0, 1, 2}, {3}}));
    EXPECT_EQ(layout("cyclic"), (Tasks{{0, 2, 3}, {1}}));
    EXPECT_EQ(layout("plane=2"), (Tasks{{0, 1, 3}, {2}}));
    EXPECT_EQ(layout("arbitrary"), (Tasks{{1, 2, 3}, {0}}));
}

TEST(Srun, EachNodeGetsTheProgramsOfItsTasksOnly) {
    const std::string text = "# a comment\n0,2 first %t %o 'a %t'\n* \\\n  rest \\%t \"x\n";
    const auto programs = read_programs(text, "f", 4, {"more"});
    ASSERT_TRUE(programs);
    wire::TaskSpec spec;
    for (const TaskProgram& program : *programs) {
        wire::TaskProgram& message = *spec.add_programs();
        message.mutable_argv()->Add(program.argv.begin(), program.argv.end());
        message.mutable_tasks()->Add(program.tasks.begin(), program.tasks.end());
    }
    const auto messages = launch_messages(step_on({{"n1", 2}, {"n2", 2}}, "block"), spec, "").nodes;
    ASSERT_EQ(messages[0].spec().programs_size(), 2);
    EXPECT_EQ(fmt::format("{}", fmt::join(messages[0].spec().programs(0).argv(), "|")),
              "first|0|0|a %t|more");
    EXPECT_EQ(fmt::format("{}", fmt::join(messages[0].spec().programs(1).argv(), "|")),
              "rest|%t|\"x|more");
    EXPECT_EQ(fmt::format("{}", fmt::join(messages[1].spec().programs(0).argv(), "|")),
              "first|2|1|a %t|more");
}

TEST(Srun, AFileOfProgramsIsRefusedWithItsLine) {
    const auto error = [](const std::string& text) {
        return read_programs(text, "f", 3, {}).error().detail;
    };
    EXPECT_EQ(error("0 a\n2 b\n"), "Configuration file f invalid, no record for task id 1");
    EXPECT_EQ(error("0 a\n1\n"), "Line 2 of configuration file f invalid");
    EXPECT_EQ(error("0 a\n0-1 b\n"),
              "Duplicate record for task 0\nLine 2 of configuration file f invalid");
    EXPECT_EQ(error("x a\n"),
              "Invalid task range specification (x)\nLine 1 of configuration file f invalid");
    EXPECT_EQ(error("0-5 a\n"),
              "Invalid task id, 5 >= ntasks\nLine 1 of configuration file f invalid");
    EXPECT_EQ(error("1-0 a\n"), "Invalid task range, 1-0\nLine 1 of configuration file f invalid");
    EXPECT_EQ(error("* a\n1 b\n"),
              "Task range specification with asterisk must be last\nLine 2 of configuration file f "
              "invalid");
}

TEST(Srun, EveryNodeIsToldItsTasks) {
    wire::StepCreated step;
    for (const char* name : {"n1", "n2"}) {
        wire::NodeShare& node = *step.add_nodes();
        node.set_name(name);
        node.set_tasks(2);
    }
    const StepLaunch launch = launch_messages(step, {}, "");
    std::vector<wire::LaunchTasks> messages;
    for (const auto& own : launch.nodes) messages.push_back(launch_of(launch.common, own));
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[1].node(), "n2");
    EXPECT_EQ(messages[1].task_ids(0), 2u);
    EXPECT_EQ(messages[1].node_rank(), 1u);
    EXPECT_EQ(messages[1].total_tasks(), 4u);
    EXPECT_EQ(messages[1].step_nodes(), "n[1-2]");
    EXPECT_EQ(messages[1].tasks_per_node(), "2(x2)");
}

TEST(Srun, CountsOfNeighboursAreFolded) {
    EXPECT_EQ(fold_counts({2, 2, 2, 1}), "2(x3),1");
    EXPECT_EQ(fold_counts({}), "");
}

TEST(Srun, EndsOfTasksAreToldTogether) {
    EXPECT_EQ(exit_lines("n1", {{0, exited(7)}, {1, exited(7)}, {2, exited(0)}, {3, exited(7)}}),
              (std::vector<std::string>{"n1: tasks 0-1,3: Exited with exit code 7"}));
    EXPECT_EQ(exit_lines("n1", {{0, exited(0, 9)}}),
              (std::vector<std::string>{"n1: task 0: Killed"}));
}

TEST(Srun, AnAbortIsNoSuccess) {
    EXPECT_EQ(code_of_abort(7), 7);
    EXPECT_EQ(code_of_abort(0), 1);
    EXPECT_EQ(code_of_abort(256), 1);  // the low eight bits are zero
    EXPECT_EQ(code_of_abort(259), 3);
    EXPECT_EQ(code_of_abort(-1), 255);
}

TEST(Srun, TheHighestCodeOfTheTasksIsSruns) {
    TaskTable tasks(3);
    tasks.on_started(0);
    tasks.on_exited(1, exited(4));
    EXPECT_EQ(tasks.exit_code(), 4);
    EXPECT_FALSE(tasks.any_killed());
    EXPECT_EQ(tasks.states("5.0"),
              (std::vector<std::string>{"StepId=5.0 task 2: unknown", "StepId=5.0 task 0: running",
                                        "StepId=5.0 task 1: exited"}));
    tasks.on_exited(0, exited(0, 9));
    tasks.on_exited(7, exited(255));  // nobody's
    EXPECT_EQ(tasks.exit_code(), 137);
    EXPECT_EQ(tasks.worst().signal(), 9u);
    EXPECT_TRUE(tasks.any_killed());
    EXPECT_EQ(tasks.worst().code(), 0u);
    EXPECT_FALSE(tasks.all_exited());
}

TEST(Srun, LabelsGoInFrontOfWholeLines) {
    CapturedStreams streams;
    TaskOutput output({.label = true, .unbuffered = false, .tasks = 12}, streams);
    output.write(3, 1, "one\ntw");
    EXPECT_EQ(streams.output, " 3: one\n");
    output.write(3, 1, "o\n");
    output.write(11, 2, "open");
    EXPECT_EQ(streams.output, " 3: one\n 3: two\n");
    output.write(11, 2, "");
    EXPECT_EQ(streams.errors, "11: open\n");
}

TEST(Srun, UnbufferedOutputIsPassedOnAsItComes) {
    CapturedStreams streams;
    TaskOutput output({.label = false, .unbuffered = true, .tasks = 1}, streams);
    output.write(0, 1, "half");
    EXPECT_EQ(streams.output, "half");
}

TEST(Srun, AStepThatNamesNoGpusIsToHaveNone) {
    for (const char* word : {"--gres=none", "--gres=gpu:0", "--gpus=0"}) {
        Arguments arguments = parse_job_arguments(kSrun, {word}).value();
        JobOptions options;
        ASSERT_TRUE(apply_options(options, arguments.options, Source::CommandLine, kSrun, Time{}));
        ASSERT_TRUE(complete_options(options, kSrun));
        wire::CreateStep step = step_request(options, 12, false);
        ASSERT_EQ(step.gres_per_node_size() + step.gpus_size(), 1) << word;
        EXPECT_EQ((step.gpus_size() ? step.gpus(0) : step.gres_per_node(0)).count(), 0u) << word;
    }
    wire::CreateStep plain = step_request(JobOptions{}, 12, false);
    EXPECT_EQ(plain.gres_per_node_size() + plain.gpus_size(), 0);
}

TEST(Srun, OfTheNodesOfItsJobAStepMayLeaveSomeOut) {
    JobOptions options;
    auto find = [](std::string_view name) -> std::optional<std::string_view> {
        if (name == "SLURM_JOB_NUM_NODES") return "2";
        return {};
    };
    ASSERT_TRUE(apply_environment(options, find, kSrun, Time{}));
    EXPECT_EQ(step_request(options, 12, false).nodes_min(), 1u);
    EXPECT_EQ(step_request(options, 12, false).nodes_max(), 2u);
    Arguments arguments = parse_job_arguments(kSrun, {"-N2"}).value();
    ASSERT_TRUE(apply_options(options, arguments.options, Source::CommandLine, kSrun, Time{}));
    EXPECT_EQ(step_request(options, 12, false).nodes_min(), 2u);
}

TEST(Srun, AStepAsksForWhatItsOptionsSay) {
    JobOptions options;
    options.request.shape.ntasks = 2;
    options.request.shape.cpus_per_task = 3;
    options.request.shape.cpus_per_task_set = true;
    wire::CreateStep inside = step_request(options, 12, false);
    EXPECT_TRUE(inside.exact());
    EXPECT_EQ(inside.ntasks(), 2u);
    EXPECT_EQ(inside.nodes_min(), 0u);
    EXPECT_FALSE(step_request(options, 12, true).exact());
    options.whole = true;
    EXPECT_FALSE(step_request(options, 12, false).exact());
}

TEST(Srun, OutputWithoutEndOfLineIsNotKeptForEver) {
    CapturedStreams streams;
    TaskOutput output({.label = false, .unbuffered = false, .tasks = 1}, streams);
    const std::string piece(600u << 10, '\0');
    output.write(0, 1, piece);
    EXPECT_EQ(streams.output.size(), 0u);
    output.write(0, 1, piece);
    EXPECT_EQ(streams.output.size(), 2 * piece.size());
}

}  // namespace
}  // namespace sluice
