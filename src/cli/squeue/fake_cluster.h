// cli/squeue/fake_cluster.h
//
// For tests: a small cluster that answers squeue, sinfo and scontrol from a few rows of facts, and
// streams that keep what was said. The facts are those of a real cluster whose output was recorded.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/client/client.h"
#include "cli/sdiag/fake_statistics.h"
#include "cli/squeue/fake_row.h"
#include "cli/squeue/fake_shares.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/filter.h"
#include "model/job.h"
#include "model/statistics_fields.h"
#include "model/table.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"

namespace sluice {

constexpr std::int64_t kFakeNow = 1794775617;  // 2026-11-15T20:46:57 UTC

inline Table table_of(const std::vector<FakeRow>& rows, const std::vector<ColumnId>& columns) {
    Table table;
    table.set_rows(rows.size());
    for (ColumnId id : columns) {
        const bool is_text = std::any_of(rows.begin(), rows.end(), [&](const FakeRow& row) {
            auto found = row.values.find(id);
            return found != row.values.end() && std::holds_alternative<std::string>(found->second);
        });
        std::vector<std::uint32_t> texts;
        std::vector<std::int64_t> numbers;
        for (const FakeRow& row : rows) {
            if (is_text) {
                texts.push_back(table.intern(row.text(id)));
            } else {
                numbers.push_back(row.number(id));
            }
        }
        Table::Column& column = table.add_column(id);
        column.texts = std::move(texts);
        column.numbers = std::move(numbers);
    }
    return table;
}

class FakeCluster : public Client {
public:
    FakeCluster();

    Result<const Config*> config() override { return &config_; }
    Result<OpenedNode> connect_node(const wire::NodeAddress&, const FirstMessage&) override {
        return Error{ErrorCode::NotSupported, ""};
    }
    Result<wire::Reply> call(const wire::Request& request, const Waiting& = {}) override {
        requests.push_back(request);
        if (down) return Error{ErrorCode::ControllerUnreachable, ""};
        wire::Reply reply;
        if (request.has_list()) {
            Result<wire::Listing> listing = list(request.list());
            if (!listing) return listing.error();
            *reply.mutable_listing() = std::move(*listing);
        } else if (request.has_show_statistics()) {
            field_codec::put_fields(fake_statistics(), *reply.mutable_statistics());
        } else if (request.has_ping()) {
            reply.mutable_pong()->set_hostname("vm");
        } else if (request.has_show_config()) {
            reply.mutable_text()->set_text(
                "ClusterName             = oracle\nMaxJobCount             = 50000\n");
        } else if (request.has_control()) {
            answer_control(request.control(), *reply.mutable_results());
        } else if (request.body_case() == wire::Request::kBatchScript) {
            if (request.batch_script() != 1) return Error{ErrorCode::InvalidJobId, ""};
            reply.mutable_text()->set_text("#!/bin/bash\nsrun hostname\n");
        } else if (request.has_update() && request.update().name() == "999") {
            return Error{ErrorCode::InvalidJobId, ""};
        } else {
            reply.mutable_done();
        }
        return reply;
    }

    std::vector<FakeRow> jobs, nodes, partitions, steps;
    std::vector<wire::Request> requests;
    bool down = false;

private:
    static bool wants_job(const FakeRow& job, const Filter& filter) {
        using C = JobColumn;
        auto any = [](const auto& list, const auto& value) {
            return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
        };
        const auto state = static_cast<ShownState>(job.number(C::State));
        if (!filter.jobs.empty() &&
            std::none_of(filter.jobs.begin(), filter.jobs.end(), [&](const JobRef& ref) {
                const std::int64_t id = ref.job.value;
                if (!ref.tasks) return job.number(C::Id) == id || job.number(C::ArrayJobId) == id;
                const std::int64_t task = job.number(C::ArrayTaskId);
                return job.number(C::ArrayJobId) == id &&
                       (task == kAbsent || ref.tasks->contains(static_cast<std::uint32_t>(task)));
            })) {
            return false;
        }
        if (!filter.all_states && filter.states.empty() && state >= ShownState::Completed &&
            state != ShownState::Completing) {
            return false;
        }
        return any(filter.states, state) && any(filter.partitions, job.text(C::Partition)) &&
               any(filter.names, job.text(C::Name)) && any(filter.accounts, job.text(C::Account)) &&
               any(filter.users, UserId{static_cast<std::uint32_t>(job.number(C::UserId))});
    }

    Result<wire::Listing> list(const wire::ListTable& question) {
        const Filter filter = TRY(from_wire(question.filter()));
        std::vector<FakeRow> found;
        switch (static_cast<TableKind>(question.kind())) {
            case TableKind::Jobs:
                for (const FakeRow& job : jobs) {
                    if (wants_job(job, filter)) found.push_back(job);
                }
                if (found.empty() && filter.jobs.size() == 1 && !filter.jobs[0].tasks) {
                    return Error{ErrorCode::InvalidJobId, ""};
                }
                break;
            case TableKind::Nodes:
                for (const FakeRow& node : nodes) {
                    const auto& wanted = filter.nodes;
                    const std::string name = node.text(NodeColumn::Name);
                    if (wanted.empty() ||
                        std::find(wanted.begin(), wanted.end(), name) != wanted.end()) {
                        found.push_back(node);
                    }
                }
                break;
            case TableKind::Steps:
                found = steps;
                break;

            case TableKind::Partitions:
                for (const FakeRow& partition : partitions) {
                    const std::string name = partition.text(PartitionColumn::Name);
                    const auto& wanted = filter.partitions;
                    if (wanted.empty() ||
                        std::find(wanted.begin(), wanted.end(), name) != wanted.end()) {
                        found.push_back(partition);
                    }
                }
                break;
            case TableKind::Reservations:
                break;
            case TableKind::Shares:
                for (const FakeRow& share : fake_shares()) {
                    const auto& users = filter.names;
                    const std::string user = share.text(ShareColumn::User);
                    if (users.empty() || user.empty() ||
                        std::find(users.begin(), users.end(), user) != users.end())
                        found.push_back(share);
                }
                break;
            case TableKind::Licenses: {
                FakeRow matlab;
                matlab.set(LicenseColumn::Name, "matlab").set(LicenseColumn::Total, 10);
                matlab.set(LicenseColumn::Used, 3);
                matlab.set(LicenseColumn::Reserved, 2);
                if (filter.names.empty() || filter.names[0] == "matlab") found.push_back(matlab);
                break;
            }
        }
        std::vector<ColumnId> columns(question.columns().begin(), question.columns().end());
        return to_wire(table_of(found, columns));
    }

    static void answer_control(const wire::ControlJobs& control, wire::JobResults& results) {
        for (const std::string& job : control.jobs()) {
            wire::JobResult& result = *results.add_results();
            result.set_job(job);
            if (job.starts_with("999"))
                result.mutable_error()->set_code(
                    static_cast<std::uint32_t>(ErrorCode::InvalidJobId));
        }
    }

    Config config_;
};

class KeptStreams : public Streams {
public:
    explicit KeptStreams(std::string input = "") : input_(std::move(input)) {}

    void out(std::string_view text) override { said += text; }
    void err(std::string_view text) override {
        said += text;
        errors += text;
    }
    Result<std::string> read_all() override { return std::move(input_); }
    bool read_line(std::string& line) override {
        if (input_.empty()) return false;
        const std::size_t end = std::min(input_.find('\n'), input_.size() - 1);
        line = input_.substr(0, end);
        input_.erase(0, end + 1);
        return true;
    }
    bool out_is_terminal() const override { return false; }
    void flush() override {}

    std::string said;  // both streams, in order
    std::string errors;

private:
    std::string input_;
};

inline FakeRow fake_job(std::int64_t id, const char* name, const char* partition,
                        ShownState state) {
    using C = JobColumn;
    constexpr std::int64_t submit = kFakeNow - 30, start = kFakeNow - 27;
    FakeRow job;
    job.set(C::Id, id)
        .set(C::Name, name)
        .set(C::Partition, partition)
        .set(C::UserId, 0)
        .set(C::GroupId, 0);
    job.set(C::State, static_cast<std::int64_t>(state))
        .set(C::BaseState, static_cast<std::int64_t>(state));
    job.set(C::Priority, 500)
        .set(C::Nice, 0)
        .set(C::Requeue, 1)
        .set(C::Restarts, 0)
        .set(C::Batch, 1);
    job.set(C::Reason, 0).set(C::ExitCode, 0).set(C::DerivedExitCode, 0).set(C::SubmitTime, submit);
    job.set(C::EligibleTime, submit).set(C::LastSchedEval, start).set(C::SuspendedSeconds, 0);
    job.set(C::AllocNode, "vm").set(C::AllocSid, 11143).set(C::NodeCount, 1).set(C::CpuCount, 1);
    job.set(C::TaskCount, 1).set(C::MinCpusNode, 1).set(C::MemPerCpu, 1000).set(C::MinTmpDisk, 0);
    job.set(C::OverSubscribe, 0)
        .set(C::Exclusive, 0)
        .set(C::WorkDir, "/tmp")
        .set(C::StdIn, "/dev/null");
    job.set(C::StdOut, "/dev/null")
        .set(C::StdErr, "")
        .set(C::ReqTres, "cpu=1,mem=1000M,node=1,billing=1");
    job.set(C::Sluid, "s54XM7GCBJVF00").set(C::TimeLimit, 3600);
    if (state == ShownState::Running) {
        job.set(C::StartTime, start).set(C::EndTime, start + 3600);
        job.set(C::AllocTres, "cpu=1,mem=1000M,node=1,billing=1");
    }
    return job;
}

inline void add_fake_jobs(std::vector<FakeRow>& jobs) {
    using C = JobColumn;
    constexpr std::int64_t start = kFakeNow - 27;
    FakeRow train = fake_job(1, "train", "short", ShownState::Running);
    train.set(C::Account, "vision").set(C::CpuCount, 4).set(C::TaskCount, 2).set(C::CpusPerTask, 2);
    train.set(C::MinCpusNode, 2).set(C::MemPerNode, 4096).set(C::MemPerCpu, kAbsent);
    train.set(C::TresPerNode, "gres/gpu:a40:2")
        .set(C::TresPerTask, "cpu=2")
        .set(C::NodeList, "gpua1");
    train.set(C::BatchHost, "gpua1").set(C::TimeLimit, 1800).set(C::EndTime, start + 1800);
    train.set(C::Command, "/tmp/qjob.sh")
        .set(C::SubmitLine, "sbatch -p short -J train /tmp/qjob.sh a b");
    train.set(C::StdOut, "/tmp/q-%j.out").set(C::ReqTres, "cpu=4,mem=4G,node=1,billing=4");
    train.set(C::AllocTres, "cpu=4,mem=4G,node=1,billing=4");
    train.set(C::AllocDetail, "Nodes=gpua1 CPU_IDs=0-1,8-9 Mem=4096 GRES=gpu:a40:2(IDX:0-1)")
        .set(C::AllocLayout, "2:8:1");
    FakeRow held = fake_job(2, "held", "short", ShownState::Pending);
    held.set(C::Priority, 0).set(C::Reason, static_cast<std::int64_t>(Reason::JobHeldUser));
    held.set(C::TimeLimit, 86400)
        .set(C::EligibleTime, kAbsent)
        .set(C::LastSchedEval, kFakeNow - 30);
    held.set(C::Comment, "a b");
    FakeRow first = fake_job(7, "arr", "short", ShownState::Running);
    first.set(C::ArrayJobId, 3).set(C::ArrayTaskId, 1).set(C::ArrayLimit, 2).set(C::TimeLimit, 600);
    first.set(C::EndTime, start + 600).set(C::NodeList, "cpu1").set(C::BatchHost, "cpu1");
    FakeRow second = first;
    second.set(C::Id, 8).set(C::ArrayTaskId, 2);
    FakeRow array = fake_job(3, "arr", "short", ShownState::Pending);
    array.set(C::ArrayJobId, 3)
        .set(C::ArrayTasks, "3-5")
        .set(C::ArrayLimit, 2)
        .set(C::TimeLimit, 600);
    array.set(C::Reason, static_cast<std::int64_t>(Reason::JobArrayTaskLimit));
    FakeRow later = fake_job(4, "beg", "short", ShownState::Pending);
    later.set(C::Reason, static_cast<std::int64_t>(Reason::BeginTime))
        .set(C::CpuCount, 2)
        .set(C::TaskCount, 2);
    later.set(C::EligibleTime, kFakeNow + 3570)
        .set(C::StartTime, kFakeNow + 3570)
        .set(C::EndTime, kFakeNow + 7170);
    later.set(C::LastSchedEval, kFakeNow - 30).set(C::ReqNodes, "gpub1").set(C::ExcNodes, "cpu1");
    later.set(C::Features, "h100").set(C::TresPerTask, "gres/gpu=1").set(C::MailUser, "u@x");
    later.set(C::MailType, "END,FAIL").set(C::ReqTres, "cpu=2,mem=2000M,node=1,billing=2");
    FakeRow whole = fake_job(5, "exc", "long", ShownState::Running);
    whole.set(C::Priority, 100).set(C::Exclusive, 1).set(C::NodeCount, 2).set(C::CpuCount, 32);
    whole.set(C::TaskCount, 2)
        .set(C::TimeLimit, 300)
        .set(C::EndTime, start + 300)
        .set(C::BatchHost, "cpu2");
    whole.set(C::NodeList, "cpu2,gpua2").set(C::AllocTres, "cpu=32,mem=32000M,node=2,billing=32");
    whole.set(C::ReqTres, "cpu=2,mem=2000M,node=2,billing=2");
    whole.set(C::AllocDetail,
              "Nodes=cpu2 CPU_IDs=0-15 Mem=16000 GRES=\n"
              "Nodes=gpua2 CPU_IDs=0-15 Mem=16000 GRES=");
    FakeRow failed = fake_job(6, "done", "short", ShownState::Failed);
    failed.set(C::Reason, static_cast<std::int64_t>(Reason::NonZeroExitCode)).set(C::ExitCode, 768);
    failed.set(C::StartTime, start)
        .set(C::EndTime, start)
        .set(C::NodeList, "cpu1")
        .set(C::BatchHost, "cpu1");
    failed.set(C::AllocTres, "cpu=1,mem=1000M,node=1,billing=1");
    array.set(C::PriorityFactors,
              "short 611.18 0 0 0 0:0 0:0 0:0 0.0885417:88.5417 0.5:500 0:0 "
              "cpu=0.0104:20.83,mem=0.0006:1.803\n"
              "long 211.18 0 0 0 0:0 0:0 0:0 0.0885417:88.5417 0.1:100 0:0 "
              "cpu=0.0104:20.83,mem=0.0006:1.803\n");
    later.set(C::PriorityFactors, "short 88 1 0 0 0:0 0:0 0:0 0:0 0:0 0:0\n");
    jobs = {train, held, first, later, whole, failed, second, array};
}

inline FakeRow fake_node(const char* name, const char* address, NodeBase base, std::uint32_t flags,
                         std::int64_t cpus_used) {
    using N = NodeColumn;
    FakeRow node;
    node.set(N::Name, name).set(N::Hostname, name).set(N::Address, address).set(N::Port, 28831);
    node.set(N::Arch, "x86_64").set(N::Os, "Linux 6.18").set(N::Version, "26.05.3");
    node.set(N::BaseState, static_cast<std::int64_t>(base)).set(N::Flags, flags).set(N::Cpus, 16);
    node.set(N::AllocCpus, cpus_used)
        .set(N::Boards, 1)
        .set(N::Sockets, 2)
        .set(N::CoresPerSocket, 8);
    node.set(N::ThreadsPerCore, 1).set(N::RealMemory, 64000).set(N::AllocMemory, cpus_used * 1000);
    node.set(N::FreeMemory, 23752).set(N::TmpDisk, 0).set(N::Weight, 1).set(N::Load, 3);
    node.set(N::Features, "cpu,epyc").set(N::Gres, "").set(N::GresUsed, "gpu:0");
    node.set(N::Partitions, "debug,short,long,overcap").set(N::BootTime, kFakeNow - 1336);
    node.set(N::SlurmdStartTime, kFakeNow - 30)
        .set(N::LastBusyTime, kFakeNow - 30)
        .set(N::Reason, "");
    node.set(N::CfgTres, "cpu=16,mem=62.50G,billing=16").set(N::AllocTres, "").set(N::Comment, "");
    return node;
}

inline void add_fake_nodes(std::vector<FakeRow>& nodes) {
    using N = NodeColumn;
    FakeRow cpu1 = fake_node("cpu1", "127.0.1.1", NodeBase::Mixed, 0, 2);
    FakeRow cpu2 = fake_node("cpu2", "127.0.1.2", NodeBase::Allocated, 0, 16);
    FakeRow gpua1 = fake_node("gpua1", "127.0.1.3", NodeBase::Mixed, 0, 4);
    gpua1.set(N::RealMemory, 256000)
        .set(N::Weight, 10)
        .set(N::Features, "gpu,a40")
        .set(N::Gres, "gpu:a40:8");
    gpua1.set(N::GresUsed, "gpu:a40:2(IDX:0-1)").set(N::AllocMemory, 4096);
    gpua1.set(N::CfgTres, "cpu=16,mem=250G,billing=16").set(N::AllocTres, "cpu=4,mem=4G");
    FakeRow gpua2 = gpua1;
    gpua2.set(N::Name, "gpua2").set(N::Hostname, "gpua2").set(N::Address, "127.0.1.4");
    gpua2.set(N::BaseState, static_cast<std::int64_t>(NodeBase::Allocated)).set(N::AllocCpus, 16);
    gpua2.set(N::Partitions, "short,long,overcap").set(N::GresUsed, "gpu:a40:8(IDX:0-7)");
    FakeRow gpub1 = fake_node("gpub1", "127.0.1.5", NodeBase::Down, 0, 0);
    gpub1.set(N::RealMemory, 512000)
        .set(N::Weight, 20)
        .set(N::Features, "gpu,h100")
        .set(N::Gres, "gpu:h100:4");
    gpub1.set(N::Partitions, "short,long,overcap")
        .set(N::Reason, "it broke")
        .set(N::ReasonTime, kFakeNow + 44);
    gpub1.set(N::ReasonUser, 0).set(N::GresUsed, "gpu:h100:0(IDX:N/A)");
    FakeRow gpub2 = gpub1;
    gpub2.set(N::Name, "gpub2").set(N::Hostname, "gpub2").set(N::Address, "127.0.1.6");
    gpub2.set(N::BaseState, static_cast<std::int64_t>(NodeBase::Idle)).set(N::Flags, kNodeDrain);
    gpub2.set(N::Reason, "bad disk");
    nodes = {cpu1, cpu2, gpua1, gpua2, gpub1, gpub2};
}

inline void add_fake_partitions(std::vector<FakeRow>& partitions) {
    using P = PartitionColumn;
    struct Facts {
        const char* name;
        std::int64_t max_time, default_time, nodes_max, factor, tier;
    };
    constexpr Facts kFacts[] = {{"debug", 3600, 600, 2, 10, 30},
                                {"short", 172800, 3600, kUnlimited, 5, 20},
                                {"long", 604800, 14400, kUnlimited, 1, 20},
                                {"overcap", 604800, 14400, kUnlimited, 1, 1}};
    for (const Facts& facts : kFacts) {
        const bool small = facts.nodes_max == 2;
        FakeRow row;
        row.set(P::Name, facts.name)
            .set(P::IsDefault, small)
            .set(P::State, "UP")
            .set(P::MinNodes, 0);
        row.set(P::Nodes, small ? "cpu[1-2],gpua1" : "cpu[1-2],gpua[1-2],gpub[1-2]");
        row.set(P::TotalNodes, small ? 3 : 6)
            .set(P::TotalCpus, small ? 48 : 96)
            .set(P::MaxTime, facts.max_time);
        row.set(P::DefaultTime, facts.default_time).set(P::MaxNodes, facts.nodes_max);
        row.set(P::MaxCpusPerNode, kUnlimited)
            .set(P::MaxCpusPerSocket, kUnlimited)
            .set(P::Hidden, 0);
        row.set(P::RootOnly, 0)
            .set(P::AllowGroups, "ALL")
            .set(P::AllowAccounts, "ALL")
            .set(P::AllowQos, "ALL");
        row.set(P::AllocNodes, "ALL")
            .set(P::OverSubscribe, "NO")
            .set(P::Exclusive, "NO")
            .set(P::GraceTime, 0);
        row.set(P::PreemptMode, "OFF")
            .set(P::PriorityJobFactor, facts.factor)
            .set(P::PriorityTier, facts.tier);
        row.set(P::OverTimeLimit, 0)
            .set(P::Tres, small ? "cpu=48,mem=375G,node=3,billing=48"
                                : "cpu=96,mem=1625G,node=6,billing=96");
        partitions.push_back(row);
    }
}

inline void add_fake_steps(std::vector<FakeRow>& steps) {
    using S = StepColumn;
    struct Facts {
        std::int64_t job, array, task, step;
        const char *name, *partition, *nodes;
    };
    constexpr std::int64_t kBatch = kBatchStep.value;
    const Facts kFacts[] = {{1, kAbsent, kAbsent, kBatch, "batch", "short", "gpua1"},
                            {1, kAbsent, kAbsent, 0, "sleep", "short", "gpua1"},
                            {5, kAbsent, kAbsent, kBatch, "batch", "long", "cpu2"},
                            {7, 3, 1, kBatch, "batch", "short", "cpu1"}};
    for (const Facts& facts : kFacts) {
        FakeRow row;
        row.set(S::JobId, facts.job)
            .set(S::ArrayJobId, facts.array)
            .set(S::ArrayTaskId, facts.task);
        row.set(S::StepId, facts.step).set(S::Name, facts.name).set(S::Partition, facts.partition);
        row.set(S::UserId, 0)
            .set(S::State, 0)
            .set(S::StartTime, kFakeNow - 27)
            .set(S::TimeLimit, kUnlimited);
        row.set(S::NodeList, facts.nodes).set(S::NodeCount, 1).set(S::TaskCount, 1);
        row.set(S::CpuCount, facts.step == 0 ? 4 : 0)
            .set(S::TresPerNode, facts.step == 0 ? "gres/gpu:a40:1" : "");
        row.set(S::Tres, facts.step == 0 ? "cpu=4,mem=4G,node=1" : "").set(S::SubmitHost, "");
        steps.push_back(row);
    }
}

inline FakeCluster::FakeCluster() {
    config_.cluster_name = "oracle";
    config_.controllers = {{"vm", "127.0.0.1"}};
    config_.priority_weight_age = config_.priority_weight_job_size = 1000;
    config_.priority_weight_partition = 1000;
    config_.priority_weight_assoc = 500;
    config_.priority_weight_fairshare = 10000;
    config_.priority_weight_qos = 2000;
    config_.priority_tres_weights = {{"cpu", 2000}, {"mem", 3000}};
    add_fake_jobs(jobs);
    add_fake_nodes(nodes);
    add_fake_partitions(partitions);
    add_fake_steps(steps);
}

}  // namespace sluice
