// testkit/scenario.h
//
// Tests of the core as lines of text: a cluster, events, and the expected state. One line each:
//
//   nodes     n[1-2] cpus=4 mem=1000 gres=gpu:a40:2 feature=fast    also: weight=
//             [gpucores=0-3|4-7]      the cores close to its GPUs, as many GPUs for each list
//             [gpulinks=-1,4|4,-1]    the links of each GPU
//             [parts=shard:2,6]       of each GPU; else those of gres= are spread
//             [noconsume=NAME] [explicit=NAME] [gpuspec=CORES PER GPU]
//             [state=CLOUD] [suspend=MIN|never]
//             [cores=PER SOCKET] [threads=N] [spec=CORES] [speclist=CPUS] [memspec=MB]
//   partition p nodes=n1 [default] [maxtime=MIN] [maxnodes=N] [tier=N] [grace=SECONDS]
//             [mode=OFF|CANCEL|REQUEUE|SUSPEND] [state=..] [alternate=..] [groups=..]
//             [accounts=..] [denyaccounts=..] [hosts=..] [rootonly] [norootjobs] [reqresv] [lln]
//             [exclusive=NODE|USER] [oversubscribe=YES:2|FORCE:2] [minnodes=N] [maxcpus=N]
//             [maxsocketcpus=N] [maxmemcpu=MB] [maxmemnode=MB] [qos=..] [weights=gres/gpu=2]
//             [gpumem=MB] [suspend=MIN|never] [suspendtimeout=MIN] [resume=MIN] [downonidle]
//   qos       NAME [KEY=VALUE ...]    sacctmgr add qos; once the cluster exists, modify qos
//   qoslimit  NAME KEY=VALUE ...      limits on minutes, factors and flags of an existing QOS
//   account   NAME [parent=NAME] [KEY=VALUE ...]    sacctmgr add or modify account
//   member    UID account=NAME [partition=NAME] [default] [KEY=VALUE ...]    ... user
//   unmember  UID account=NAME [partition=NAME]
//   switch    NAME nodes=LIST | switches=NAME,NAME
//   settings  before nodes are used; later: a reconfiguration. [backfill=off] [bookings=N]
//             [preempt=partition|qos] [mode=CANCEL|REQUEUE|SUSPEND,GANG] [exempt=MIN] [slice=MIN]
//             [licenses=matlab:2] [killdep] [nohold] [arraymax=N] [noshrink] [expansion] [epilog]
//             [enforceqos] [limits] [associations] [safe] [wckeys] [batchstart=MIN] [overrun=MIN]
//             [resume=MIN] [gpumem=MB] [userbookings=N] [reclaim] [ctldprolog] [ctldepilog]
//             [completewait=MIN] [inactive=MIN] [enforcebinding] [severalgpus] [onetask]
//             [spreadparts] [grestypes=NAME,NAME] [mostnodes=N]
//             [power] [suspend=MIN|never] [suspendtimeout=MIN] [suspendrate=N] [resumerate=N]
//             [resumefail] [excnodes=LIST[:N]] [excparts=LIST] [excdown] [excdrain]
//             [idleonsuspend]     power saving; resume= is ResumeTimeout
//   submit    NAME [nodes=N] [tasks=N] [cpus=N] [mem=M] [gres=..] [gpus=..] [time=MIN]
//             [mintime=MIN] [array=..] [exclusive] [hold] [begin=MIN] [nodelist=..] [exclude=..]
//             [feature=..] [partition=..] [norequeue] [interactive] [srun] [salloc] [user=UID]
//             [refused] [depend=afterok:NAME] [killdep=yes|no] [licenses=..] [deadline=MIN]
//             [name=..] [mail=TYPES] [mailuser=..] [nodetasks=N] [mincpus=N] [sockets=N]
//             [socketcores=N] [corethreads=N] [socketgpus=..] [bind] [unbind] [groups=..]
//             [account=..] [taskgres=..] [onetask=yes|no]
//             [host=..] [reservation=..] [qos=..] [asroot] [memcpu=MB] [gpucpus=N] [corespec=N]
//             [threadspec=N] [sizes=1,5,9] [share] [nomem] [nokill] [warn=MIN]
//             [refused=PART OF THE TEXT]
//   pass      starts what can start
//   at        MIN                     the clock moves, due timers fire
//   end       NAME [code=N]
//   clean     NAME NODE
//   cancel    NAME                    also: hold, release, requeue, suspend, resume
//   update    NAME KEY=VALUE [by=UID] [refused]    names in Dependency= become ids
//   restart   the controller restarts from its records
//   clock     +180 | -180             sets the controller's clock, in minutes; `at` is unaffected
//   down      NODE                    also: lost, back; rebooted: back, with a new boot
//   node      NODE KEY=VALUE [refused]
//   node      NODE is STATE
//   create    NODE [cpus=N] [feature=..] [state=CLOUD] [refused]    scontrol create
//   dynamic   NODE [cpus=N] [feature=..] [refused]    slurmd -Z registers
//   delete    NODE [refused]
//   reboot    NODE [asap] [next=resume|down] [reason=..] [refused]
//   reserve   NAME start=MIN length=MIN nodes=LIST ...    also: rereserve, unreserve (scenario.cc)
//   reserved  NAME gone | start=MIN | NODES
//   depends   NAME TEXT|none          what squeue shows of its dependency
//   shows     NODE [state=IDLE+DRAIN] [reason=..]    "_" is a blank in reasons
//   holds     NAME [cpus=0-3] [mem=MB] [gpus=0-1] [parts=2,1]    on its first node; parts of GPUs
//   expect    NAME pending [REASON] [starts=MIN] | running [NODES] | completing | STATE
//
// After every line the invariants are checked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/cluster.h"
#include "model/explanation.h"

namespace sluice {

class Scenario {
public:
    Scenario() { settings_.allow_spec_resources = true; }
    // A cluster as configured; the text defines no nodes and partitions.
    explicit Scenario(Settings settings) : settings_(std::move(settings)) {}

    // Runs the text; returns an empty text, or which line failed and why.
    std::string run(std::string_view text);

    Cluster& cluster() { return *cluster_; }
    // The answer to swhy for "3" or "3_1"; an error if there is no such job.
    Result<std::vector<Explanation>> why(const std::string& job);
    const Effects& effects() const { return effects_; }
    JobId job(const std::string& name) const { return jobs_.at(name); }
    Time now() const { return now_; }

private:
    using Words = std::map<std::string, std::string>;

    std::string run_line(const std::string& verb, const std::vector<std::string>& words);
    void ensure_cluster();
    void set_qos(const std::string& name, const Words& options);
    void change_policy(const std::string& verb, const std::string& name, const Words& options);
    void apply_event(Event event);
    std::string submit(const std::string& name, const Words& options);
    std::string expect(const std::string& name, const std::vector<std::string>& words);
    void add_nodes(const std::string& names, const Words& options);
    void add_partition(const std::string& name, const Words& options);
    void add_switch(const std::string& name, const Words& options);
    JobId find(const std::string& name) const;
    std::string with_ids(const std::string& text) const;
    std::string change_settings(const Words& options);
    std::string update(const std::string& name, const std::vector<std::string>& words);
    std::string depends(const std::string& name, const std::string& wanted);
    std::string control(const std::string& verb, const std::string& name);
    void wait_until(Time moment);
    void restart();
    std::string reserve(ReservationChange::Verb verb, const std::string& name,
                        const Words& options);
    std::string answered(bool refused) const;
    std::string reboot(const std::string& name, const Words& options);
    void register_node(const std::string& name, bool rebooted);
    std::string dynamic_node(const std::string& verb, const std::string& name,
                             const Words& options);
    std::string expect_node(const std::string& name, const Words& options) const;
    std::string reserved(const std::string& name, const std::string& wanted);
    std::string holds(const std::string& name, const Words& options);
    std::string change_node(const std::string& name, const std::vector<std::string>& words);

    Settings settings_;
    std::vector<std::pair<std::string, Words>> qos_;  // made with the cluster
    std::unique_ptr<Cluster> cluster_;
    Effects effects_;
    std::map<std::string, JobId> jobs_;
    Time start_ = from_unix(1'800'000'000);
    Time now_ = start_;
    std::uint64_t next_request_ = 1;
};

}  // namespace sluice

#define EXPECT_SCENARIO(text)                         \
    do {                                              \
        ::sluice::Scenario scenario_under_test;       \
        EXPECT_EQ(scenario_under_test.run(text), ""); \
    } while (false)
