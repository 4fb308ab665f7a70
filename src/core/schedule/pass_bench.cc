// core/schedule/pass_bench.cc
//
// What a scheduling pass costs: on a busy cluster of N nodes with 8 GPUs each and two running jobs
// a node, with P jobs waiting that ask for S different things.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "core/schedule/explain.h"
#include "core/schedule/priority.h"
#include "core/schedule/scheduler.h"

namespace sluice {
namespace {

constexpr Caller kUser{UserId{1000}, GroupId{100}};

constexpr std::uint32_t kAccounts = 500, kUsersPerAccount = 10, kQosCount = 50;

// Which limits the policy has: of the whole cluster, or of each account, too.
enum class Limits : std::uint8_t { NoPolicy, OfCluster, OfAccounts };

Policy policy_for(Limits limits) {
    Policy policy;
    for (std::uint32_t i = 0; i < kQosCount; ++i) {
        Qos qos{.id = policy.next_id++, .name = i == 0 ? "normal" : fmt::format("q{}", i)};
        qos.of_all.running = 1'000'000;
        policy.qos.push_back(std::move(qos));
    }
    Association root{.id = policy.next_id++, .account = "root"};
    root.of_all.tres = {{"gres/gpu", 1'000'000}};
    root.max_wall = Seconds{Minutes{100'000}};
    const std::uint32_t root_id = root.id;
    policy.associations.push_back(std::move(root));
    for (std::uint32_t i = 0; i < kAccounts; ++i) {
        Association account{
            .id = policy.next_id++, .parent = root_id, .account = fmt::format("a{}", i)};
        if (limits == Limits::OfAccounts) account.of_all.tres = {{"gres/gpu", 100'000}};
        const Association added = policy.associations.emplace_back(std::move(account));
        for (std::uint32_t user = 0; user < kUsersPerAccount; ++user) {
            const UserId uid{1000 + i * kUsersPerAccount + user};
            policy.associations.push_back({.id = policy.next_id++,
                                           .parent = added.id,
                                           .account = added.account,
                                           .user = fmt::format("u{}", uid.value),
                                           .uid = uid,
                                           .is_default = true});
        }
    }
    return policy;
}

std::shared_ptr<const Settings> settings_for(std::uint32_t nodes, bool with_ages, Limits limits) {
    auto settings = std::make_shared<Settings>();
    settings->enforce_limits = settings->enforce_associations = settings->enforce_qos =
        limits != Limits::NoPolicy;
    PartitionConfig partition{.name = "gpu"};
    partition.is_default = true;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        NodeConfig node{.name = fmt::format("n{:05}", i)};
        node.hostname = node.address = node.name;
        node.cpus = 64;
        node.sockets = 2;
        node.cores_per_socket = 32;
        node.real_memory = 512'000;
        node.gres = {{"gpu", i % 2 == 0 ? "a100" : "h100", 8}};
        partition.nodes.push_back(node.name);
        settings->nodes.push_back(std::move(node));
    }
    settings->partitions.push_back(std::move(partition));
    settings->config_overrides = true;
    settings->max_job_count = 10'000'000;
    settings->priority.multifactor = with_ages;
    settings->priority.weight_age = 100'000;
    settings->priority.weight_job_size = 1'000;
    return settings;
}

class Busy {
public:
    Busy(std::uint32_t nodes, std::uint32_t waiting, std::uint32_t shapes, bool with_ages = false,
         Limits limits = Limits::NoPolicy)
        : cluster(settings_for(nodes, with_ages, limits), now) {
        if (limits != Limits::NoPolicy)
            send(PolicyChanged{std::make_shared<const Policy>(policy_for(limits))});
        for (std::uint32_t i = 0; i < nodes; ++i)
            send(NodeRegistered{cluster.node(NodeIndex{i}).config.name, {}, {}});
        for (std::uint32_t i = 0; i < 2 * nodes; ++i)
            running.push_back(submit(4, 1, 24 * 60 + (i * 7919) % 5000));
        schedule(cluster, now, effects);
        for (std::uint32_t i = 0; i < waiting; ++i) submit_shape(i % shapes);
        schedule(cluster, now, effects);
        effects.clear();
    }

    void send(const Event& event) { apply(cluster, now, event, effects); }

    JobId submit(std::uint32_t gpus, std::uint32_t nodes, std::uint32_t minutes,
                 const std::string& type = {}) {
        auto demand = std::make_shared<JobRequest>();
        demand->shape.nodes_min = nodes;
        demand->shape.nodes_max = nodes;
        demand->shape.cpus_per_task = 4 * gpus;
        demand->shape.mem_per_node = 16'000 * gpus;
        demand->shape.gres_per_node = {{"gpu", type, gpus}};
        demand->time_limit = TimeLimit{Minutes{minutes}};
        Caller caller = kUser;
        caller.user.value += next_user_++ % (kAccounts * kUsersPerAccount);
        send(SubmitJob{RequestId{1}, caller, demand, {}, false});
        return std::get<Submitted>(std::get<Reply>(effects.back()).answer).job;
    }

    // One node for most, two to sixteen for every eighth; GPUs of any or one type; all lengths.
    JobId submit_shape(std::uint32_t shape) {
        std::uint32_t nodes = shape % 8 == 7 ? 2u << (shape / 8 % 4) : 1;
        const char* types[] = {"", "a100", "h100"};
        return submit(1 + shape % 8, nodes, 30 + shape * 10 % 10'000, types[shape / 8 % 3]);
    }

    void end(JobId id) {
        std::shared_ptr<const Job> job = cluster.find_job(id);
        send(JobEnded{job->run.allocation->nodes.front().node, {id, 0, kBatchStep}, {}, {}});
    }

    Time now = from_unix(1'800'000'000);
    Cluster cluster;
    Effects effects;
    std::vector<JobId> running;

private:
    std::uint32_t next_user_ = 0;
};

void FullPass(benchmark::State& state) {
    Busy busy(
        static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)),
        static_cast<std::uint32_t>(state.range(2)), false, static_cast<Limits>(state.range(3)));
    for (auto _ : state) {
        busy.cluster.scheduler().is_planned = false;
        busy.cluster.want_pass();
        schedule(busy.cluster, busy.now, busy.effects);
    }
    state.counters["looked_at"] = static_cast<double>(busy.cluster.scheduler().plan_steps);
    std::size_t booked = 0;
    busy.cluster.scheduler().planner.for_each_booking([&](const Booking&) { ++booked; });
    state.counters["booked"] = static_cast<double>(booked);
}

void Submit(benchmark::State& state) {
    Busy busy(static_cast<std::uint32_t>(state.range(0)),
              static_cast<std::uint32_t>(state.range(1)),
              static_cast<std::uint32_t>(state.range(2)));
    std::uint32_t shape = 0;
    for (auto _ : state) {
        busy.submit_shape(shape++ % static_cast<std::uint32_t>(state.range(2)));
        schedule(busy.cluster, busy.now, busy.effects);
        busy.effects.clear();
    }
}

void End(benchmark::State& state) {
    Busy busy(static_cast<std::uint32_t>(state.range(0)),
              static_cast<std::uint32_t>(state.range(1)),
              static_cast<std::uint32_t>(state.range(2)));
    std::size_t next = 0;
    std::vector<double> micros;
    for (auto _ : state) {
        auto before = std::chrono::steady_clock::now();
        busy.end(busy.running[next++ * 37 % busy.running.size()]);
        schedule(busy.cluster, busy.now, busy.effects);
        busy.effects.clear();
        micros.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before)
                .count());
    }
    std::sort(micros.begin(), micros.end());
    state.counters["median_us"] = micros[micros.size() / 2];
}

// PriorityCalcPeriod: all waiting jobs have grown older. `readers`: a snapshot still shares the
// records.
void Reprioritize(benchmark::State& state) {
    Busy busy(1'000, static_cast<std::uint32_t>(state.range(0)), 1'000, true);
    std::shared_ptr<const Snapshot> snapshot;
    for (auto _ : state) {
        state.PauseTiming();
        if (state.range(1) != 0) snapshot = busy.cluster.take_snapshot(busy.now);
        busy.now += Seconds{300};
        state.ResumeTiming();
        reprioritize_all(busy.cluster, busy.now, false);
    }
}

// swhy, of jobs all over the queue.
void Explain(benchmark::State& state) {
    Busy busy(static_cast<std::uint32_t>(state.range(0)),
              static_cast<std::uint32_t>(state.range(1)),
              static_cast<std::uint32_t>(state.range(2)));
    std::vector<JobId> waiting;
    busy.cluster.jobs().for_each([&](const Job& job) {
        if (job.state == JobState::Pending) waiting.push_back(job.id);
    });
    std::size_t next = 0;
    for (auto _ : state) {
        JobId id = waiting[next++ * 7919 % waiting.size()];
        benchmark::DoNotOptimize(
            explain(busy.cluster, busy.now, id, Viewer(busy.cluster.settings(), UserId{0})));
    }
}

// What the deciding thread pays for questions, at most once for each change.
void CopyForQuestions(benchmark::State& state) {
    Busy busy(static_cast<std::uint32_t>(state.range(0)),
              static_cast<std::uint32_t>(state.range(1)),
              static_cast<std::uint32_t>(state.range(2)));
    for (auto _ : state) {
        ++busy.cluster.scheduler().passes;
        benchmark::DoNotOptimize(busy.cluster.copy_for_questions());
    }
}

// What a waiting job takes in the core, with the texts that sbatch sends. `different`: 0 nothing
// but the id, 1 names and paths, 2 the resources, too.
void Memory(benchmark::State& state) {
    auto waiting = static_cast<std::uint32_t>(state.range(0));
    for (auto _ : state) {
        Busy busy(100, 1, 1);
        std::size_t before = mallinfo2().uordblks;
        for (std::uint32_t i = 0; i < waiting; ++i) {
            std::uint32_t text = state.range(1) > 0 ? i : 0, shape = state.range(1) > 1 ? i : 0;
            auto demand = std::make_shared<JobRequest>();
            demand->name = fmt::format("train-resnet-{}", text);
            demand->work_dir = fmt::format("/home/alice/projects/resnet/run-{}", text);
            demand->comment = fmt::format("sweep 7, learning rate 0.{}", text);
            demand->std_out = fmt::format("logs/resnet-{}-%j.out", text);
            demand->std_err = fmt::format("logs/resnet-{}-%j.err", text);
            demand->command = fmt::format("{}/train.sh", demand->work_dir);
            demand->submit_line =
                fmt::format("sbatch --gres=gpu:1 {} --seed {}", demand->command, text);
            demand->script_args = {"--seed", std::to_string(text)};
            demand->submit_host = "login1";
            demand->rlimits = {{"NOFILE", 1024}, {"MEMLOCK", 65536}, {"NPROC", 4096}};
            demand->script_hash = fmt::format("{:064}", text);
            demand->environment_hash = fmt::format("{:064}", text);
            demand->shape.cpus_per_task = 8;
            demand->shape.mem_per_node = 16'000 + shape;
            demand->shape.gres_per_node = {{"gpu", "", 1}};
            demand->time_limit = TimeLimit{Minutes{600}};
            busy.send(SubmitJob{RequestId{1}, kUser, std::move(demand), {}, false});
            busy.effects.clear();
        }
        schedule(busy.cluster, busy.now, busy.effects);
        std::size_t bytes = mallinfo2().uordblks - before;
        state.counters["bytes_per_job"] = static_cast<double>(bytes) / waiting;
    }
}

// clang-format off
BENCHMARK(FullPass)->ArgNames({"nodes", "waiting", "shapes", "limits"})->Unit(benchmark::kMillisecond)
    ->Args({1'000, 1'000, 1'000, 0})->Args({1'000, 10'000, 100, 0})->Args({1'000, 10'000, 1'000, 0})->Args({1'000, 100'000, 1'000, 0})
    ->Args({5'000, 10'000, 1'000, 0})->Args({5'000, 50'000, 1'000, 0})
    ->Args({10'000, 1'000, 1'000, 0})->Args({10'000, 10'000, 1'000, 0})->Args({10'000, 100'000, 1'000, 0})
    ->Args({10'000, 100'000, 100, 0})
    // 500 accounts, 5,000 users, 50 QOS
    ->Args({1'000, 10'000, 1'000, 1})->Args({1'000, 10'000, 1'000, 2})->Args({10'000, 100'000, 1'000, 1});
BENCHMARK(Submit)->ArgNames({"nodes", "waiting", "shapes"})->Unit(benchmark::kMicrosecond)
    ->Args({1'000, 10'000, 1'000})->Args({10'000, 100'000, 1'000});
BENCHMARK(End)->ArgNames({"nodes", "waiting", "shapes"})->Unit(benchmark::kMicrosecond)->Iterations(200)
    ->Args({1'000, 10'000, 1'000})->Args({10'000, 100'000, 1'000});
BENCHMARK(Reprioritize)->ArgNames({"waiting", "readers"})->Unit(benchmark::kMillisecond)->Iterations(20)
    ->Args({100'000, 0})->Args({100'000, 1});
BENCHMARK(Memory)->ArgNames({"waiting", "different"})->Unit(benchmark::kMillisecond)->Iterations(1)
    ->Args({100'000, 0})->Args({100'000, 1})->Args({10'000, 2});
BENCHMARK(CopyForQuestions)->ArgNames({"nodes", "waiting", "shapes"})->Unit(benchmark::kMillisecond)->Iterations(200)
    ->Args({1'000, 10'000, 1'000})->Args({10'000, 100'000, 1'000});
BENCHMARK(Explain)->ArgNames({"nodes", "waiting", "shapes"})->Unit(benchmark::kMillisecond)->Iterations(200)
    ->Args({1'000, 10'000, 1'000})->Args({10'000, 100'000, 1'000});
// clang-format on

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
