// core/schedule/preempt.cc
//
// Preemption. All jobs that may be preempted are hidden from the plan; if the job then fits, those
// it can do without are put back, the most valuable first. The rest are preempted. So no job is
// preempted in vain, and no more of them than needed. The job is booked until they have ended
// (Pass::may_book), so that no other job takes the resources. With reclaim_limits the same is done
// for limits: a job that counts against a limit that the other one waits for is not put back.
#include "core/job/preempt.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/limits/qos.h"
#include "core/place/place.h"
#include "core/schedule/gang.h"
#include "core/schedule/pass.h"

namespace sluice {

namespace {

constexpr int kVictimSearches = 16;

}  // namespace

PreemptRule preempt_rule(const Cluster& cluster, const Job& victim) {
    const Settings& settings = cluster.settings();
    PreemptRule rule{settings.preempt.mode, Seconds{0}, settings.preempt.exempt_time};
    if (settings.preempt.by == PreemptSettings::By::Qos) {
        if (const Qos* qos = find_qos(cluster, qos_in_force(cluster, victim.request->qos))) {
            const PreemptMode own = parse_preempt_words(qos->preempt_mode).mode;
            if (own != PreemptMode::Off)
                rule.mode = own;  // Compat: OFF means that it has none of its own
            rule.grace = qos->grace_time;
            rule.exempt = qos->exempt_time.value_or(rule.exempt);
        }
        return rule;
    }
    const Partition* partition = cluster.find_partition(victim.partition);
    if (!partition) return rule;
    rule.grace = partition->config.grace_time;
    if (partition->config.preempt_mode) rule.mode = partition->config.preempt_mode->mode;
    return rule;
}

// Whether the preemption rules allow the job to displace the victim.
static bool may_displace(const Cluster& cluster, const Job& job, const Partition& partition,
                         const Job& victim) {
    const PreemptSettings& preempt = cluster.settings().preempt;
    bool is_lower = cluster.priorities().of(victim) < cluster.priorities().of(job);
    if (preempt.only_lower_priority && !is_lower) return false;
    if (preempt.by == PreemptSettings::By::Qos) {
        const Qos* qos = find_qos(cluster, qos_in_force(cluster, job.request->qos));
        const std::string theirs = qos_in_force(cluster, victim.request->qos);
        const bool within =
            preempt.within || (qos && parse_preempt_words(qos->preempt_mode).within);
        if (within && qos && theirs == qos->name && is_lower) return true;
        return qos &&
               std::find(qos->preempt.begin(), qos->preempt.end(), theirs) != qos->preempt.end();
    }
    const Partition* theirs = cluster.find_partition(victim.partition);
    return theirs && theirs->config.priority_tier < partition.config.priority_tier;
}

bool may_preempt(const Cluster& cluster, const Job& job, const Partition& partition,
                 const Job& victim, Time now) {
    if (victim.run.awaits_cpus) return may_displace(cluster, job, partition, victim);
    if (victim.state != JobState::Running || is_completing(victim) || victim.run.preempt_time)
        return false;
    PreemptRule rule = preempt_rule(cluster, victim);
    if (rule.mode == PreemptMode::Off || now < *victim.run.start_time + rule.exempt) return false;
    return may_displace(cluster, job, partition, victim);
}

namespace {

struct Victim {
    std::shared_ptr<const Job> job;
    std::uint32_t tier = 0;
    std::int64_t loss = 0;      // seconds of work times CPUs
    bool is_suspended = false;  // not ended: it keeps all but its CPUs

    Planner::Hide hide() const { return is_suspended ? Planner::Hide::Cpus : Planner::Hide::All; }
};

std::vector<Victim> victims_for(Cluster& cluster, const Job& job, const Partition& partition,
                                Time now) {
    std::vector<Victim> found;
    std::set<JobId> seen;
    for (NodeIndex index : partition.nodes) {
        for (JobId id : cluster.node(index).jobs) {
            if (!seen.insert(id).second) continue;
            auto victim = cluster.find_job(id);
            if (!may_preempt(cluster, job, partition, *victim, now)) {
                // Exempt for a while yet: look again then.
                Time exempt_until =
                    victim->run.start_time.value_or(now) + preempt_rule(cluster, *victim).exempt;
                bool later = exempt_until > now &&
                             may_preempt(cluster, job, partition, *victim, exempt_until);
                if (later) cluster.add_timer({exempt_until, TimerKind::Plan, 0});
                continue;
            }
            const Partition* theirs = cluster.find_partition(victim->partition);
            // youngest_first compares run times; otherwise the work lost since the last checkpoint
            // counts.
            Time saved = std::max(*victim->run.start_time,
                                  victim->run.last_checkpoint.value_or(*victim->run.start_time));
            std::int64_t loss = (now - saved).count();
            if (!cluster.settings().preempt.youngest_first) loss *= victim->run.allocation->cpus();
            bool is_suspended = victim->run.awaits_cpus ||
                                preempt_rule(cluster, *victim).mode == PreemptMode::Suspend;
            if (is_suspended) loss = 0;
            found.push_back(
                {victim, theirs ? theirs->config.priority_tier : 0, loss, is_suspended});
        }
    }
    // The most valuable first: high tier, much work done.
    std::stable_sort(found.begin(), found.end(), [](const Victim& a, const Victim& b) {
        return a.tier != b.tier ? a.tier > b.tier : a.loss > b.loss;
    });
    return found;
}

// Nodes in the order in which they are best taken: where jobs of the lowest tier, and of these the
// least work, would be lost for one share of the job. Looks at this moment only; whether it really
// fits is asked of the plan.
std::vector<NodeIndex> cheapest_first(const Scheduler& scheduler, const Need& need, PlanTime now,
                                      const std::vector<Victim>& victims) {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    constexpr std::uint32_t kNoTier = std::numeric_limits<std::uint32_t>::max();
    struct Held {
        std::uint32_t tier;
        std::int64_t loss;
        Amounts amounts;
    };
    std::unordered_map<std::uint32_t, std::vector<Held>> on_node;  // the most valuable first
    for (const Victim& victim : victims) {
        for (const NodeShare& share : victim.job->run.allocation->nodes) {
            Amounts held =
                scheduler.layout.kind(share.node).amounts_of(share, victim.job->partition);
            if (victim.is_suspended) held = Amounts::cpus_only(held[Amounts::kCpus]);
            on_node[share.node.value].push_back({victim.tier, victim.loss, held});
        }
    }
    std::vector<std::tuple<std::uint32_t, std::int64_t, NodeIndex>> ranked;
    for (NodeIndex node : need.partition->nodes) {
        if (!need.possible[scheduler.layout.kind_of[node.value]] ||
            scheduler.planner.plan().is_closed(node))
            continue;
        Amounts wanted = amounts_for(need, scheduler.layout.kind(node), need.tasks_on_each());
        Amounts free = scheduler.planner.plan().window(node, now, 1).free;
        auto& here = on_node[node.value];
        std::uint32_t tier = 0;
        std::int64_t loss = 0;
        while (!free.holds(wanted) && !here.empty()) {
            tier = std::max(tier, here.back().tier);
            loss += here.back().loss + 1;
            free += here.back().amounts;
            here.pop_back();
        }
        const bool fits = free.holds(wanted);
        ranked.emplace_back(fits ? tier : kNoTier, fits ? loss : kNever, node);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<NodeIndex> nodes;
    for (const auto& each : ranked) nodes.push_back(std::get<2>(each));
    return nodes;
}

// Counts may promise too much (sockets, bindings): checks the placement so that no job ends in
// vain.
bool is_enough(const Cluster& cluster, const Need& need, const Choice& choice,
               const std::vector<Victim>& victims) {
    std::vector<std::shared_ptr<const Job>> leaving;
    for (const Victim& victim : victims) leaving.push_back(victim.job);
    return fits_without(cluster, need, choice, leaving);
}

// What the job would hold, as far as that is known before the others have ended.
Holding held_there(const Need& need, const Choice& choice) {
    Tres held{{"node", choice.size()}};
    for (const Chosen& chosen : choice) {
        held["cpu"] += static_cast<std::uint64_t>(chosen.take[Amounts::kCpus]);
        held["mem"] += static_cast<std::uint64_t>(chosen.take[Amounts::kMemory]);
    }
    for (const GresCount& demand : need.gres_per_node)
        held["gres/" + demand.name] += demand.count * choice.size();
    return {std::move(held), nodes_in(choice)};
}

// The limits that keep a job from starting, and what victims give back of them when they end.
class LimitRoom {
public:
    LimitRoom(const Cluster& cluster, std::shared_ptr<const Job> job, const Partition& partition,
              Time now, const Holding& held)
        : book_(&cluster.limits()), job_(std::move(job)), now_(now) {
        for (LimitCheck& check : limits_reached(cluster, *job_, partition, now, held))
            reached_.push_back({std::move(check), 0});
    }

    void leaves(const Victim& victim) { count(victim, true); }
    void stays(const Victim& victim) { count(victim, false); }
    bool is_enough() const {
        return std::all_of(reached_.begin(), reached_.end(), [](const Reached& each) {
            LimitCheck check = each.check;
            check.used -= std::min(check.used, each.given_back);
            return !check.is_broken();
        });
    }

private:
    struct Reached {
        LimitCheck check;
        std::uint64_t given_back;
    };
    void count(const Victim& victim, bool leaves) {
        const LimitBook::Entry* held = victim.is_suspended ? nullptr : book_->find(victim.job->id);
        if (!held) return;
        for (Reached& each : reached_) {
            const std::uint64_t amount = each.check.held_by(*held, *job_, now_);
            each.given_back = leaves ? each.given_back + amount : each.given_back - amount;
        }
    }

    const LimitBook* book_;
    std::shared_ptr<const Job> job_;
    Time now_;
    std::vector<Reached> reached_;
};

bool may_give_enough(LimitRoom room, const std::vector<Victim>& victims) {
    for (const Victim& victim : victims) room.leaves(victim);
    return room.is_enough();
}

bool are_suspended(const std::vector<Victim>& victims) {
    return std::all_of(victims.begin(), victims.end(),
                       [](const Victim& victim) { return victim.is_suspended; });
}

// Puts the victims that the job can do without back into the plan, the most valuable first.
template <typename CanStart>
void put_back(const Cluster& cluster, Planner& planner, Time now, std::vector<Victim>& victims,
              LimitRoom room, CanStart can_start) {
    for (const Victim& victim : victims) room.leaves(victim);
    std::erase_if(victims, [&](const Victim& victim) {
        planner.show_job(cluster, *victim.job, now);
        room.stays(victim);
        if (can_start(room)) return true;
        planner.hide_job(cluster, *victim.job, victim.hide(), now);
        room.leaves(victim);
        return false;
    });
}

}  // namespace

bool Pass::may_preempt_for(const Entry& entry, Outcome outcome) const {
    const PreemptSettings& preempt = cluster_.settings().preempt;
    if (preempt.by == PreemptSettings::By::Nothing || entry.booked > 0 || is_attracted(entry))
        return false;
    return outcome == Outcome::Blocked || (outcome == Outcome::Limited && preempt.reclaim_limits);
}

bool Pass::preempt_for(Entry& entry, JobId id) {
    if (cluster_.settings().preempt.by == PreemptSettings::By::Nothing) return false;
    if (scheduler_.is_being_made_room_for(cluster_, id) || preemption_searches_ >= kVictimSearches)
        return false;
    std::shared_ptr<const Job> job = cluster_.find_job(id);
    const Partition& partition = *entry.in->need.partition;
    std::vector<Victim> victims = victims_for(cluster_, *job, partition, now_);
    LimitRoom room(cluster_, job, partition, now_, {});
    const bool helps = !victims.empty() && may_give_enough(room, victims);
    // Jobs that wait for limits are many, and most of them cannot preempt: these are not counted.
    if (helps || entry.allowed > 0) ++preemption_searches_;
    if (!helps) return false;

    Planner& planner = scheduler_.planner;
    planner.open_reservation(cluster_, entry.reservation, now_);
    auto own = planner.find_booking(id);
    if (own) planner.hide(*own);
    Search search = search_for(entry, *job);
    std::vector<NodeIndex> nodes = cheapest_first(scheduler_, search.need, search.from, victims);
    if (entry.nodes)
        std::erase_if(nodes, [&](NodeIndex node) { return !entry.reservation->has_node(node); });
    for (const Victim& victim : victims)
        planner.hide_job(cluster_, *victim.job, victim.hide(), now_);
    const auto find_on = [&](const std::vector<NodeIndex>& among) {
        return finder_.at_once(
            {search.need, among, search.from, search.length, search.options, true});
    };
    Choice choice = find_on(nodes);
    const Holding held = held_there(search.need, choice);
    if (!choice.empty() && is_limited(entry, *job, held)) {
        room = LimitRoom(cluster_, job, partition, now_, held);
        const bool reclaims = cluster_.settings().preempt.reclaim_limits;
        if (!reclaims || !may_give_enough(room, victims)) choice.clear();
    }
    const std::vector<NodeIndex> chosen = nodes_in(choice);
    const bool is_possible = !choice.empty();
    put_back(cluster_, planner, now_, victims, room, [&](const LimitRoom& left) {
        return !is_possible || (left.is_enough() && !find_on(chosen).empty());
    });
    if (!victims.empty() && depends_on_detail(search.need)) {
        Choice wanted = find_on(chosen);
        if (!is_enough(cluster_, search.need, wanted, victims)) {
            for (const Victim& victim : victims) planner.show_job(cluster_, *victim.job, now_);
            victims.clear();
        }
    }
    // Victims are suspended at the moment of the start, so only once no other victim is left.
    bool starts = !victims.empty() && are_suspended(victims);
    if (starts) choice = find_on(chosen);
    starts = starts && !choice.empty();
    if (starts) {
        for (const Victim& victim : victims)
            suspend_for_cpus(cluster_, now_, victim.job->id, effects_);
        starts = start(entry, id, choice);
    }
    for (const Victim& victim : victims) planner.show_job(cluster_, *victim.job, now_);
    if (own && starts)
        planner.drop_hidden(*own);
    else if (own)
        planner.show(*own);
    if (starts) return true;
    for (const Victim& victim : victims) {
        if (victim.is_suspended) continue;
        scheduler_.making_room[id.value].emplace_back(victim.job->id, victim.job->run.restarts);
        preempt_job(cluster_, now_, victim.job->id, id, effects_);
        for (const NodeShare& share : victim.job->run.allocation->nodes)
            planner.refresh(cluster_, share.node, now_);
    }
    return false;
}

bool Scheduler::is_being_made_room_for(const Cluster& cluster, JobId id) {
    auto found = making_room.find(id.value);
    if (found == making_room.end()) return false;
    std::erase_if(found->second, [&](const auto& victim) {
        auto job = cluster.find_job(victim.first);
        bool leaving = job && job->run.restarts == victim.second &&
                       ((is_live(*job) && job->run.preempt_time) || is_completing(*job));
        return !leaving;
    });
    if (!found->second.empty()) return true;
    making_room.erase(found);
    return false;
}

}  // namespace sluice
