// surface/job_options_test.cc: options of sbatch, srun and salloc: from words to requests.
#include "surface/job_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "model/errors.h"

namespace sluice {
namespace {

using Words = std::vector<std::string>;

Result<JobOptions> read(Tool tool, const Words& args, const Words& variables = {}) {
    JobOptions options;
    auto find = [&](std::string_view name) -> std::optional<std::string_view> {
        for (const std::string& each : variables) {
            if (each.starts_with(name) && each[name.size()] == '=') {
                return std::string_view(each).substr(name.size() + 1);
            }
        }
        return {};
    };
    TRY(apply_environment(options, find, tool, Time{}));
    Arguments arguments = TRY(parse_job_arguments(tool, args));
    TRY(apply_options(options, arguments.options, Source::CommandLine, tool, Time{}));
    TRY(complete_options(options, tool));
    return options;
}

std::string refusal(Tool tool, const Words& args) {
    Result<JobOptions> options = read(tool, args);
    if (options) return "accepted";
    return options.error().detail.empty() ? std::string(text_of(options.error().code))
                                          : options.error().detail;
}

TEST(JobOptions, EverySpellingReachesTheSameField) {
    for (const Words& args :
         {Words{"--ntasks=4"}, Words{"--ntasks", "4"}, Words{"-n4"}, Words{"-n", "4"}}) {
        Result<JobOptions> options = read(kSbatch, args);
        ASSERT_TRUE(options);
        EXPECT_EQ(options->request.shape.ntasks, 4u);
    }
    EXPECT_EQ(read(kSbatch, {"--part=x"})->request.partition, "x");
    EXPECT_EQ(read(kSbatch, {"--tasks-per-node=2"})->request.shape.ntasks_per_node, 2u);
    EXPECT_EQ(read(kSrun, {"--cpu_bind=none"})->cpu_bind, "none");
}

TEST(JobOptions, OptionsEndAtTheFirstOperand) {
    Result<Arguments> arguments = parse_job_arguments(kSbatch, {"-n2", "script", "--time=5"});
    ASSERT_TRUE(arguments);
    EXPECT_EQ(arguments->options.size(), 1u);
    EXPECT_EQ(arguments->operands, (Words{"script", "--time=5"}));
}

TEST(JobOptions, RequeueVariablesAreMeantByBeingThere) {
    for (const char* value : {"", "0", "1", "yes"}) {
        Result<JobOptions> yes = read(kSbatch, {}, {fmt::format("SBATCH_REQUEUE={}", value)});
        ASSERT_TRUE(yes) << value;
        EXPECT_TRUE(yes->request.requeue_set && yes->request.requeue);
        Result<JobOptions> no = read(kSbatch, {}, {fmt::format("SBATCH_NO_REQUEUE={}", value)});
        ASSERT_TRUE(no) << value;
        EXPECT_TRUE(no->request.requeue_set && !no->request.requeue);
    }
}

TEST(JobOptions, CommandLineBeatsEnvironment) {
    EXPECT_EQ(read(kSbatch, {"-A", "mine"}, {"SBATCH_ACCOUNT=theirs"})->request.account, "mine");
    EXPECT_EQ(read(kSbatch, {}, {"SBATCH_ACCOUNT=theirs"})->request.account, "theirs");
    EXPECT_EQ(read(kSalloc, {}, {"SBATCH_ACCOUNT=theirs"})->request.account, "");
    EXPECT_EQ(read(kSrun, {}, {"SLURM_NPROCS=3"})->request.shape.ntasks, 3u);
    EXPECT_EQ(read(kSrun, {}, {"SLURM_NPROCS=3", "SLURM_NTASKS=4"})->request.shape.ntasks, 4u);
}

TEST(JobOptions, AStrongerSourceReplacesWhatItExcludes) {
    Result<JobOptions> options = read(kSrun, {"--mem-per-cpu=1G"}, {"SLURM_MEM_PER_NODE=4096"});
    ASSERT_TRUE(options);
    EXPECT_FALSE(options->request.shape.mem_per_node);
    EXPECT_EQ(options->request.shape.mem_per_cpu, 1024u);
    options = read(kSrun, {"--gpus=1"}, {"SLURM_GPUS_PER_NODE=4"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->request.shape.gres_per_node.empty());
}

TEST(JobOptions, SizesThatFollowFromOthersAreFilledIn) {
    EXPECT_EQ(read(kSbatch, {"--gpus=4", "--ntasks-per-gpu=2"})->request.shape.ntasks, 8u);
    EXPECT_EQ(read(kSbatch, {"--ntasks-per-gpu=2", "-n5"})->request.shape.gpus,
              (std::vector<GresCount>{{"gpu", "", 3}}));
    EXPECT_EQ(read(kSbatch, {"--gpus=4", "--gpus-per-task=2"})->request.shape.ntasks, 2u);
    EXPECT_EQ(read(kSbatch, {"-B", "2:4:1"})->request.shape.ntasks, 8u);
    EXPECT_EQ(read(kSbatch, {"-C", "[a*2&b*1]"})->request.shape.nodes_min, 3u);
    EXPECT_EQ(read(kSbatch, {"--gpus=4", "--gpus-per-node=2"})->request.shape.nodes_min, 2u);
    EXPECT_EQ(read(kSbatch, {"-w", "n[1-3]"})->request.shape.nodes_min, 3u);
    EXPECT_EQ(read(kSbatch, {"--tres-per-task=cpu=4,gres/gpu:h100=1", "-n1"})
                  ->request.shape.cpus_per_task,
              4u);
}

TEST(JobOptions, TheLayoutOnTheNodesIsKept) {
    const Shape shape =
        read(kSbatch, {"--ntasks-per-core=1", "--ntasks-per-socket=3", "--gpus-per-socket=a40:2",
                       "--sockets-per-node=2", "--cores-per-socket=4", "--threads-per-core=2",
                       "--prefer=a|b", "--spread-job", "--use-min-nodes", "--contiguous", "-S1",
                       "--gres-flags=enforce-binding", "--switches=2@10", "--mem-per-gpu=4G",
                       "--cpus-per-gpu=3", "-C", "[a*1&b*2]"})
            ->request.shape;
    EXPECT_EQ(shape.ntasks_per_core, 1u);
    EXPECT_EQ(shape.ntasks_per_socket, 3u);
    EXPECT_EQ(shape.gpus_per_socket, (std::vector<GresCount>{{"gpu", "a40", 2}}));
    EXPECT_EQ(shape.sockets_per_node, 2u);
    EXPECT_EQ(shape.cores_per_socket, 4u);
    EXPECT_EQ(shape.threads_per_core, 2u);
    EXPECT_FALSE(shape.one_thread_per_core);
    EXPECT_EQ(shape.prefer, "a|b");
    EXPECT_TRUE(shape.spread && shape.use_min_nodes && shape.contiguous);
    EXPECT_EQ(shape.core_spec, 1u);
    EXPECT_TRUE(shape.bind_gpus_to_cores);
    EXPECT_EQ(shape.switches_max, 2u);
    EXPECT_EQ(shape.switches_wait, Seconds{600});
    EXPECT_EQ(shape.mem_per_gpu, 4096u);
    EXPECT_EQ(shape.cpus_per_gpu, 3u);
    EXPECT_EQ(shape.constraint, "[a*1&b*2]");
}

TEST(JobOptions, HintsAndThreadsSayHowCoresAreUsed) {
    EXPECT_TRUE(read(kSbatch, {"--hint=nomultithread"})->request.shape.one_thread_per_core);
    EXPECT_TRUE(read(kSbatch, {"--threads-per-core=1"})->request.shape.one_thread_per_core);
    EXPECT_FALSE(read(kSbatch, {"--hint=multithread"})->request.shape.one_thread_per_core);
    EXPECT_EQ(read(kSbatch, {"--hint=nomultithread"})->request.shape.threads_per_core, 1u);
    EXPECT_EQ(read(kSbatch, {"--hint=memory_bound"})->request.shape.cores_per_socket, 1u);
    EXPECT_FALSE(read(kSbatch, {"--hint=memory_bound"})->request.shape.ntasks_per_socket);
    const std::vector<std::string> inherited = {"SLURM_HINT=nomultithread",
                                                "SLURM_THREADS_PER_CORE=1"};
    EXPECT_TRUE(read(kSrun, {"true"}, inherited)->request.shape.one_thread_per_core);
    EXPECT_FALSE(
        read(kSrun, {"--hint=multithread", "true"}, inherited)->request.shape.threads_per_core);
    EXPECT_EQ(
        read(kSrun, {"--cores-per-socket=2", "true"}, inherited)->request.shape.cores_per_socket,
        2u);
    EXPECT_EQ(read(kSbatch, {}, {"SLURM_HINT=compute_bound"})->hint, "compute_bound");
    EXPECT_EQ(refusal(kSbatch, {"--hint=compute_bound", "--cores-per-socket=2"}),
              "fatal: --hint and --cores-per-socket are mutually exclusive");
}

TEST(JobOptions, SwitchesAndTheirWaitMayComeApart) {
    const Shape shape =
        read(kSbatch, {}, {"SBATCH_REQ_SWITCH=3", "SBATCH_WAIT4SWITCH=5"})->request.shape;
    EXPECT_EQ(shape.switches_max, 3u);
    EXPECT_EQ(shape.switches_wait, Seconds{300});
    EXPECT_EQ(read(kSbatch, {}, {"SBATCH_WAIT4SWITCH=5"})->request.shape.switches_wait, Seconds{0});
    EXPECT_EQ(refusal(kSbatch, {"--switches=@5"}), "Invalid numeric value \"\" for --switches.");
    EXPECT_EQ(refusal(kSbatch, {"--switches=0@5"}), "Invalid numeric value \"0\" for --switches.");
    EXPECT_EQ(refusal(kSbatch, {"--switches=x"}), "Invalid numeric value \"x\" for --switches.");
}

TEST(JobOptions, DistributionsAreKeptWhole) {
    const std::pair<const char*, const char*> kWritten[] = {
        {"*", "block"},
        {"BLOCK:Cyclic", "block:cyclic"},
        {"block:", "block"},
        {"cyclic:*:*", "cyclic:cyclic:cyclic"},
        {"*:block:fcyclic,Pack", "block:block:fcyclic,pack"},
        {"cyclic,nopack", "cyclic,nopack"}};
    for (auto [text, kept] : kWritten)
        EXPECT_EQ(read(kSbatch, {"-m", text})->distribution, kept) << text;
    for (const char* bad :
         {"fcyclic", "block:bad", "block:block:block:block", "block,foo", ",pack"}) {
        EXPECT_EQ(refusal(kSbatch, {"-m", bad}), "Invalid --distribution specification") << bad;
    }
}

TEST(JobOptions, PlanesHaveASize) {
    EXPECT_EQ(read(kSrun, {"-m", "plane=4", "true"})->distribution, "plane=4");
    const std::vector<std::string> inherited = {"SLURM_DISTRIBUTION=plane",
                                                "SLURM_DIST_PLANESIZE=3"};
    EXPECT_EQ(read(kSrun, {"true"}, inherited)->distribution, "plane=3");
    EXPECT_EQ(read(kSrun, {"-m", "block", "true"}, inherited)->distribution, "block");
    EXPECT_EQ(refusal(kSrun, {"-m", "plane"}),
              "Invalid plane size or size not specified\nInvalid --distribution specification");
}

TEST(JobOptions, StepsAreAskedForInParts) {
    const JobOptions options = *read(kSrun, {"-r", "2", "--ignore-signals=INT,15", "true"});
    EXPECT_EQ(options.relative, 2u);
    EXPECT_EQ(options.ignored_signals, (std::vector<int>{2, 15}));
    EXPECT_EQ(refusal(kSrun, {"-r", "-1"}), "Invalid numeric value \"-1\" for --relative.");
    EXPECT_EQ(refusal(kSrun, {"--ignore-signals=KILL"}), "Invalid --ignore-signals specification");
    EXPECT_TRUE(read(kSbatch, {"--oom-kill-step"})->request.oom_kill_step);
    EXPECT_FALSE(read(kSbatch, {"--oom-kill-step=0"})->request.oom_kill_step);
}

TEST(JobOptions, SizesByTaskReplaceEarlierOnes) {
    const std::vector<std::string> inherited = {"SLURM_GPUS_PER_TASK=a40:1",
                                                "SLURM_TRES_PER_TASK=cpu=2,gres/gpu:a40=1"};
    EXPECT_EQ(read(kSrun, {"-n2", "true"}, inherited)->request.shape.gpus_per_task,
              (std::vector<GresCount>{{"gpu", "a40", 1}}));
    EXPECT_EQ(read(kSrun, {"-n2", "--tres-per-task=gres/gpu=3", "true"}, inherited)
                  ->request.shape.gpus_per_task,
              (std::vector<GresCount>{{"gpu", "", 3}}));
}

TEST(JobOptions, ContradictionsAreRefused) {
    EXPECT_EQ(refusal(kSbatch, {"--ntasks-per-gpu=2", "--gpus-per-task=1"}),
              "fatal: --gpus-per-task is mutually exclusive with --ntasks-per-gpu and "
              "SLURM_NTASKS_PER_GPU");
    EXPECT_EQ(refusal(kSbatch, {"--gpus-per-socket=2"}),
              "--gpus-per-socket option requires --sockets-per-node specification\nInvalid generic "
              "resource (gres) specification");
    EXPECT_EQ(refusal(kSbatch, {"--mem-per-gpu=1G"}),
              "Requested mem_per_tres=gres/gpu:1024 but did not request any GPU.\nInvalid generic "
              "resource (gres) specification");
    EXPECT_EQ(refusal(kSbatch, {"-B", "2:x"}), "Invalid numeric value \"x\" for second arg of -B.");
    EXPECT_EQ(refusal(kSbatch, {"-C", "a*1&b*1"}), "Invalid feature specification");
    EXPECT_EQ(refusal(kSbatch, {"--prefer=a*2"}), "Invalid preferred feature specification");
    EXPECT_EQ(refusal(kSbatch, {"--thread-spec=2", "-S1"}),
              "fatal: -S/--core-spec and --thread-spec options are mutually exclusive");
    EXPECT_EQ(refusal(kSbatch, {"-N", "1,,2"}), "\"1,,2\" is not a valid node count");
    EXPECT_EQ(refusal(kSbatch, {"-N", "3-2"}),
              "Maximum node count 2 is less than minimum node count 3");
}

TEST(JobOptions, NodeCountsMayBeAList) {
    Shape shape = read(kSbatch, {"-N", "2-16:2"})->request.shape;
    EXPECT_EQ(shape.nodes_min, 2u);
    EXPECT_EQ(shape.nodes_max, 16u);
    EXPECT_EQ(shape.node_sizes, "2-16:2");
    shape = read(kSbatch, {"-N", "1,5,9", "-N", "4"})->request.shape;
    EXPECT_EQ(shape.nodes_max, 4u);
    EXPECT_EQ(shape.node_sizes, "");
    shape = read(kSrun, {"-n2"}, {"SLURM_NNODES=4,8"})->request.shape;
    EXPECT_EQ(shape.nodes_max, 2u);  // no more nodes than tasks
    EXPECT_EQ(shape.node_sizes, "");
}

TEST(JobOptions, PartsOfGpusAreAskedForAlone) {
    EXPECT_EQ(read(kSbatch, {"--gres=shard:2"})->request.shape.gres_per_node,
              (std::vector<GresCount>{{"shard", "", 2}}));
    EXPECT_EQ(
        read(kSbatch, {"-n2", "--tres-per-task=gres/shard:a40=2"})->request.shape.gpus_per_task,
        (std::vector<GresCount>{{"shard", "a40", 2}}));
    const std::string invalid = "Invalid generic resource (gres) specification";
    EXPECT_EQ(refusal(kSbatch, {"--gres=gpu:1,shard:1"}), invalid);
    EXPECT_EQ(refusal(kSrun, {"--gpus=1", "--gres=mps:50"}), invalid);
    EXPECT_EQ(refusal(kSbatch, {"--gres=gpu:a40:1,gpu:1"}),
              "Invalid GRES specification (with and without type identification)");
    EXPECT_NE(refusal(kSbatch, {"--gres=shard:1", "--gpu-freq=low"}).find("--gpu-freq: other jobs"),
              std::string::npos);
}

TEST(JobOptions, GresFlagsSayHowDevicesAreChosen) {
    Shape shape =
        read(kSbatch, {"--gres-flags=enforce-binding,one-task-per-sharing"})->request.shape;
    EXPECT_TRUE(shape.bind_gpus_to_cores && !shape.unbind_gpus);
    EXPECT_EQ(shape.one_task_per_gpu, true);
    shape =
        read(kSbatch, {"--gres-flags=disable-binding,multiple-tasks-per-sharing"})->request.shape;
    EXPECT_TRUE(!shape.bind_gpus_to_cores && shape.unbind_gpus);
    EXPECT_EQ(shape.one_task_per_gpu, false);
    EXPECT_EQ(refusal(kSbatch, {"--gres-flags=allow-task-sharing"}),
              "--gres-flags=allow-task-sharing is not supported by Sluice yet");
}

TEST(JobOptions, BindingsOfGpusAreKeptAsTresBindWritesThem) {
    EXPECT_EQ(read(kSrun, {"--gpu-bind=single:2"})->request.tres_bind, "gres/gpu:single:2");
    EXPECT_EQ(read(kSbatch, {}, {"SBATCH_GPU_BIND=closest"})->request.tres_bind,
              "gres/gpu:closest");
    EXPECT_EQ(read(kSalloc, {"--tres-bind=gres:gpu:map:0,1"})->request.tres_bind,
              "gres/gpu:map:0,1");
    EXPECT_EQ(refusal(kSrun, {"--gpu-bind=foo"}), "Invalid --gpu-bind argument: gpu:foo");
    EXPECT_EQ(refusal(kSrun, {"--tres-bind=gres/nic:closest"}),
              "--tres-bind=gres/nic:closest is not supported by Sluice yet");
}

TEST(JobOptions, FrequenciesOfGpusAreKeptAsTheyAreShown) {
    EXPECT_EQ(read(kSrun, {"--gpu-freq=450"})->request.tres_freq, "gpu:450");
    EXPECT_EQ(read(kSbatch, {}, {"SBATCH_GPU_FREQ=low,verbose"})->request.tres_freq,
              "gpu:low,verbose");
    EXPECT_EQ(read(kSalloc, {}, {"SALLOC_GPU_FREQ=memory=high"})->request.tres_freq,
              "gpu:memory=high");
    EXPECT_EQ(read(kSrun, {"--gpu-freq=high"}, {"SLURM_GPU_FREQ=low"})->request.tres_freq,
              "gpu:high");
    EXPECT_EQ(refusal(kSrun, {"--gpu-freq=foo"}), "Invalid --gpu-freq argument: gpu:foo");
    EXPECT_EQ(refusal(kSbatch, {"--gpu-freq=memory="}), "Invalid --gpu-freq argument: gpu:memory=");
    EXPECT_FALSE(read(kSbatch, {}, {"SBATCH_GPU_FREQ=foo"}));
}

TEST(JobOptions, ProgramsAroundAStepAndItsTasksAreNamed) {
    const Words variables = {"SLURM_PROLOG=/p", "SLURM_EPILOG=/e", "SLURM_TASK_PROLOG=/tp",
                             "SLURM_TASK_EPILOG=/te"};
    Result<JobOptions> options = read(kSrun, {"--epilog=none", "--task-prolog=/mine"}, variables);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->prolog, "/p");
    EXPECT_EQ(options->epilog, "none");
    EXPECT_EQ(options->task_prolog, "/mine");
    EXPECT_EQ(options->task_epilog, "/te");
    EXPECT_FALSE(read(kSbatch, {"--task-prolog=/mine"}));
}

TEST(JobOptions, AStepCountsItsTasksAnew) {
    Result<JobOptions> step =
        read(kSrun, {"-n1"}, {"SLURM_GPUS=4", "SLURM_GPUS_PER_TASK=1", "SLURM_MEM_PER_GPU=100"});
    ASSERT_TRUE(step);
    EXPECT_TRUE(step->request.shape.gpus.empty());
    EXPECT_TRUE(read(kSrun, {}, {"SLURM_MEM_PER_GPU=100"}));
}

TEST(JobOptions, WrongValuesAreNamed) {
    EXPECT_EQ(refusal(kSbatch, {"--time=abc"}), "Invalid --time specification");
    EXPECT_EQ(refusal(kSbatch, {"-n0"}), "Invalid numeric value \"0\" for --ntasks.");
    EXPECT_EQ(refusal(kSbatch, {"-Nx"}), "\"x\" is not a valid node count");
    EXPECT_EQ(refusal(kSbatch, {"-N-1"}), "\"-1\" is not a valid node count");
    EXPECT_EQ(refusal(kSbatch, {"-N2-"}), "\"2-\" is not a valid node count");
    EXPECT_EQ(refusal(kSbatch, {"--time", "1", "--foo=2"}), "unrecognized option '--foo=2'");
    EXPECT_EQ(refusal(kSbatch, {"--quiet=1"}), "option '--quiet' doesn't allow an argument");
    EXPECT_EQ(refusal(kSbatch, {"-n"}), "option requires an argument -- 'n'");
    EXPECT_EQ(refusal(kSbatch, {"--nten=1"}), "unrecognized option '--nten=1'");
    EXPECT_EQ(refusal(kSbatch, {"--mem=1G", "--mem-per-cpu=1G"}),
              "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

TEST(JobOptions, UnsupportedOnesAreRefusedByName) {
    EXPECT_EQ(refusal(kSrun, {"--het-group=1"}), "--het-group is not supported by Sluice yet");
}

TEST(JobOptions, BindingsAreReadAndBadOnesNamed) {
    EXPECT_EQ(read(kSrun, {"--cpu-bind=v,map_cpu:0,1"})->cpu_bind, "v,map_cpu:0,1");
    EXPECT_EQ(refusal(kSrun, {"--cpu-bind=foo"}), "unrecognized --cpu-bind argument \"foo\"");
    EXPECT_EQ(read(kSbatch, {"--mem-bind=local"})->mem_bind, "local");
    EXPECT_EQ(refusal(kSrun, {"--mem-bind=sort"}), "unrecognized --mem-bind argument \"sort\"");
    const JobOptions rank = read(kSrun, {"--cpu-bind=verbose,rank"}).value();
    EXPECT_EQ(rank.cpu_bind, "verbose");
    EXPECT_EQ(rank.notes,
              std::vector<std::string>{"Ignoring --cpu-bind=rank. Rank binding is obsolete."});
    EXPECT_EQ(read(kSrun, {"--cpu-bind=help"})->help_on, "cpu-bind");
    EXPECT_EQ(read(kSrun, {"--hint=help"})->help_on, "hint");
}

TEST(JobOptions, NoToolHasALetterOrNameTwice) {
    for (Tool tool : {kSbatch, kSrun, kSalloc}) {
        std::set<std::string> seen;
        for (const JobOption& option : job_options()) {
            if (!(option.tools & tool)) continue;
            EXPECT_TRUE(seen.emplace(option.name).second) << option.name;
            if (option.letter) {
                EXPECT_TRUE(seen.insert(std::string(1, option.letter)).second) << option.name;
            }
        }
    }
}

TEST(JobOptions, HelpListsWhatIsSupported) {
    std::string help = print_help(kSbatch);
    EXPECT_NE(help.find("  -a, --array=indexes         job array index values\n"),
              std::string::npos);
    EXPECT_EQ(help.find("--het-group"), std::string::npos);
    EXPECT_NE(print_usage(kSrun).find("Usage: srun"), std::string::npos);
}

RC_GTEST_PROP(JobOptions, NoValueOfAnyOptionBreaksAnything, (const std::string& value)) {
    for (std::size_t i = 0; i < job_options().size(); ++i) {
        JobOptions options;
        static_cast<void>(apply_options(options, {{i, value}}, Source::CommandLine, kSrun, Time{}));
        static_cast<void>(complete_options(options, kSrun));
    }
}

}  // namespace
}  // namespace sluice
