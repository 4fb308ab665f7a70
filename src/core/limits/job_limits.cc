// See job_limits.h.
#include "core/limits/job_limits.h"

#include <algorithm>

#include "core/limits/qos.h"
#include "core/limits/tres.h"

namespace sluice {

namespace {

enum Resource { kCpu, kMemory, kNode, kGres, kBilling, kResources };

Resource resource_of(std::string_view tres) {
    if (tres == "cpu") return kCpu;
    if (tres == "mem") return kMemory;
    if (tres == "node") return kNode;
    return tres == "billing" ? kBilling : kGres;
}

using R = Reason;
using Among = LimitCheck::Among;

std::uint64_t amount_in(const Tres& tres, const std::string& name) {
    auto found = tres.find(name);
    return found == tres.end() ? 0 : found->second;
}

std::uint64_t times(std::uint64_t amount, double factor) {
    return static_cast<std::uint64_t>(static_cast<double>(amount) * factor);
}

std::uint64_t seconds_in(const UsedAmounts& amounts, const std::string& tres) {
    auto found = amounts.tres_seconds.find(tres);
    return found == amounts.tres_seconds.end() ? 0 : static_cast<std::uint64_t>(found->second);
}

template <typename Map, typename Key>
const LimitUse* use_in(const Map& map, const Key& key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

// The nearest association of the path that has the value itself.
template <typename Has>
const Association* setter_of(const AssociationTree& tree, const Association* from, Has has) {
    const Association* each = from;
    while (each && !has(*each)) each = tree.parent(each->id);
    return each ? each : from;
}

}  // namespace

// Limits on the resources of a single job.
struct JobLimits::TresRule {
    LimitKind kind;
    std::string_view key;
    Reason reasons[kResources];
};

// Limits on several jobs together.
struct JobLimits::GroupRule {
    Among among;
    std::string_view tres_key, running_key, submitted_key, run_minutes_key;
    Reason tres[kResources];
    Reason running, submitted;
    Reason run_minutes[kResources];
    Reason minutes[kResources];
    Reason wall;
};

const JobLimits::TresRule JobLimits::kQosJobRules[4] = {
    {LimitKind::PerJob,
     "MaxTRESPerJob",
     {R::QosMaxCpuPerJob, R::QosMaxMemoryPerJob, R::QosMaxNodePerJob, R::QosMaxGresPerJob,
      R::QosMaxBillingPerJob}},
    {LimitKind::PerNode,
     "MaxTRESPerNode",
     {R::QosMaxCpuPerNode, R::QosMaxMemoryPerNode, R::None, R::QosMaxGresPerNode,
      R::QosMaxBillingPerNode}},
    {LimitKind::Least,
     "MinTRESPerJob",
     {R::QosMinCpu, R::QosMinMemory, R::QosMinNode, R::QosMinGres, R::QosMinBilling}},
    {LimitKind::JobMinutes,
     "MaxTRESMinsPerJob",
     {R::QosMaxCpuMinutesPerJob, R::QosMaxMemoryMinutesPerJob, R::QosMaxNodeMinutesPerJob,
      R::QosMaxGresMinutesPerJob, R::QosMaxBillingMinutesPerJob}},
};

const JobLimits::TresRule JobLimits::kAssociationJobRules[3] = {
    {LimitKind::PerJob,
     "MaxTRES",
     {R::AssocMaxCpuPerJob, R::AssocMaxMemoryPerJob, R::AssocMaxNodePerJob, R::AssocMaxGresPerJob,
      R::AssocMaxBillingPerJob}},
    {LimitKind::PerNode,
     "MaxTRESPerNode",
     {R::AssocMaxCpuPerNode, R::AssocMaxMemoryPerNode, R::None, R::AssocMaxGresPerNode,
      R::AssocMaxBillingPerNode}},
    {LimitKind::JobMinutes,
     "MaxTRESMins",
     {R::AssocMaxCpuMinutesPerJob, R::AssocMaxMemoryMinutesPerJob, R::AssocMaxNodeMinutesPerJob,
      R::AssocMaxGresMinutesPerJob, R::AssocMaxBillingMinutesPerJob}},
};

const JobLimits::GroupRule JobLimits::kQosRules[3] = {
    {Among::All,
     "GrpTRES",
     "GrpJobs",
     "GrpSubmitJobs",
     "GrpTRESRunMins",
     {R::QosGrpCpu, R::QosGrpMemory, R::QosGrpNode, R::QosGrpGres, R::QosGrpBilling},
     R::QosGrpJobs,
     R::QosGrpSubmitJobs,
     {R::QosGrpCpuRunMinutes, R::QosGrpMemoryRunMinutes, R::QosGrpNodeRunMinutes,
      R::QosGrpGresRunMinutes, R::QosGrpBillingRunMinutes},
     {R::QosGrpCpuMinutes, R::QosGrpMemoryMinutes, R::QosGrpNodeMinutes, R::QosGrpGresMinutes,
      R::QosGrpBillingMinutes},
     R::QosGrpWall},
    {Among::User,
     "MaxTRESPerUser",
     "MaxJobsPerUser",
     "MaxSubmitJobsPerUser",
     "MaxTRESRunMinsPerUser",
     {R::QosMaxCpuPerUser, R::QosMaxMemoryPerUser, R::QosMaxNodePerUser, R::QosMaxGresPerUser,
      R::QosMaxBillingPerUser},
     R::QosMaxJobsPerUser,
     R::QosMaxSubmitJobPerUser,
     {R::QosMaxRunMinutesPerUser, R::QosMaxRunMinutesPerUser, R::QosMaxRunMinutesPerUser,
      R::QosMaxRunMinutesPerUser, R::QosMaxRunMinutesPerUser},
     {},
     R::None},
    {Among::Account,
     "MaxTRESPerAccount",
     "MaxJobsPerAccount",
     "MaxSubmitJobsPerAccount",
     "MaxTRESRunMinsPerAccount",
     {R::MaxCpuPerAccount, R::MaxMemoryPerAccount, R::MaxNodePerAccount, R::MaxGresPerAccount,
      R::MaxBillingPerAccount},
     R::MaxJobsPerAccount,
     R::MaxSubmitJobsPerAccount,
     {R::MaxRunMinutesPerAccount, R::MaxRunMinutesPerAccount, R::MaxRunMinutesPerAccount,
      R::MaxRunMinutesPerAccount, R::MaxRunMinutesPerAccount},
     {},
     R::None},
};

// What each association may have is the same limit as a QOS's on each user.
const JobLimits::GroupRule JobLimits::kAssociationRules[2] = {
    {Among::All,
     "GrpTRES",
     "GrpJobs",
     "GrpSubmitJobs",
     "GrpTRESRunMins",
     {R::AssocGrpCpu, R::AssocGrpMemory, R::AssocGrpNode, R::AssocGrpGres, R::AssocGrpBilling},
     R::AssocGrpJobs,
     R::AssocGrpSubmitJobs,
     {R::AssocGrpCpuRunMinutes, R::AssocGrpMemoryRunMinutes, R::AssocGrpNodeRunMinutes,
      R::AssocGrpGresRunMinutes, R::AssocGrpBillingRunMinutes},
     {R::AssocGrpCpuMinutes, R::AssocGrpMemoryMinutes, R::AssocGrpNodeMinutes,
      R::AssocGrpGresMinutes, R::AssocGrpBillingMinutes},
     R::AssocGrpWall},
    {Among::User,
     "MaxTRES",
     "MaxJobs",
     "MaxSubmitJobs",
     "MaxTRESRunMins",
     {R::AssocMaxCpuPerJob, R::AssocMaxMemoryPerJob, R::AssocMaxNodePerJob, R::AssocMaxGresPerJob,
      R::AssocMaxBillingPerJob},
     R::AssocMaxJobs,
     R::AssocMaxSubmitJob,
     {R::AssocMaxRunMinutes, R::AssocMaxRunMinutes, R::AssocMaxRunMinutes, R::AssocMaxRunMinutes,
      R::AssocMaxRunMinutes},
     {},
     R::None},
};

std::vector<const Qos*> qos_that_count(const Cluster& cluster, const JobTerms& demand,
                                       const PartitionConfig& partition) {
    std::vector<const Qos*> found;
    const Qos* own = find_qos(cluster, qos_in_force(cluster, demand.qos));
    const Qos* of_partition = partition.qos.empty() ? nullptr : find_qos(cluster, partition.qos);
    const bool own_first = own && own->has(kQosOverPartQos);
    for (const Qos* each : {own_first ? own : of_partition, own_first ? of_partition : own}) {
        if (each && (found.empty() || found.front() != each)) found.push_back(each);
    }
    return found;
}

JobLimits::JobLimits(const Cluster& cluster, const Job& job, const Partition& partition,
                     std::optional<Time> now, const Holding& held)
    : cluster_(cluster),
      job_(job),
      partition_(partition.config.name),
      now_(now),
      nodes_(held.nodes),
      qos_(qos_that_count(cluster, *job.request, partition.config)),
      own_(find_qos(cluster, qos_in_force(cluster, job.request->qos))) {
    const AssociationTree& tree = cluster.associations();
    if (tree.has_limits())
        association_ = tree.find(job.request->account, job.user, partition.config.name);
    if (association_ && tree.limit_group(association_->id) == 0) association_ = nullptr;
    if (qos_.empty() && !association_) return;
    wanted_ = tres_wanted(job, &partition, cluster.settings());
    // Compat: a type counts only for jobs that ask for it.
    for (const auto& [name, amount] : held.tres) {
        if (name.find(':') == name.npos || wanted_.contains(name)) wanted_[name] = amount;
    }
    wanted_["billing"] = billing_of(wanted_, partition.config.tres_billing_weights,
                                    cluster.settings().priority.billing);
}

bool JobLimits::knows(LimitKind kind, Among among, const std::string& tres) const {
    return std::any_of(found_.begin(), found_.end(), [&](const LimitCheck& each) {
        return each.holder.qos && each.is_same_as(kind, among, tres);
    });
}

void JobLimits::add(LimitCheck check) {
    if (!knows(check.kind, check.among, check.tres)) found_.push_back(std::move(check));
}

// Flags and factors of QOS that change limits: Relative, and LimitFactor of the job's QOS, which is
// for associations.
const Tres& JobLimits::limit_of(const LimitHolder& holder, const Tres& most, double factor,
                                Tres& scratch) const {
    const bool is_relative = holder.qos && holder.qos->has(kQosRelative);
    if (most.empty() || (!is_relative && factor == 1)) return most;
    scratch.clear();
    for (const auto& [name, amount] : most) {
        scratch[name] = is_relative ? amount_in(cluster_.total_tres(), name) * amount / 100
                                    : times(amount, factor);
    }
    return scratch;
}

// What the job may use until its time limit. A job without one counts as running for a year.
std::uint64_t JobLimits::wanted_seconds(const std::string& tres) const {
    const bool counts_factor =
        own_ && cluster_.settings().enforce_safe && own_->has(kQosUsageFactorSafe);
    const std::uint64_t seconds =
        amount_in(wanted_, tres) *
        static_cast<std::uint64_t>(counted_length(job_.time_limit).count());
    return counts_factor ? seconds * own_->usage_factor / kUnitFactor : seconds;
}

void JobLimits::add_wall(LimitHolder holder, std::optional<Seconds> most, Reason reason) {
    if (!most) return;
    const TimeLimit limit = job_.time_limit;
    const std::uint64_t wall =
        limit.unlimited() ? ~std::uint64_t{0} : static_cast<std::uint64_t>(limit.length().count());
    add({.holder = holder,
         .kind = LimitKind::Wall,
         .key = "MaxWall",
         .reason = reason,
         .most = static_cast<std::uint64_t>(most->count()),
         .wanted = wall});
}

void JobLimits::add_tres(LimitHolder holder, const TresRule& rule, const Tres& most,
                         double factor) {
    const std::uint64_t nodes = rule.kind == LimitKind::PerNode
                                    ? std::max<std::uint64_t>(1, amount_in(wanted_, "node"))
                                    : 1;
    const bool minutes = rule.kind == LimitKind::JobMinutes;
    Tres scratch;
    for (const auto& [name, amount] : minutes ? most : limit_of(holder, most, factor, scratch)) {
        const std::uint64_t wanted =
            minutes ? wanted_seconds(name) : (amount_in(wanted_, name) + nodes - 1) / nodes;
        add({.holder = holder,
             .kind = rule.kind,
             .key = rule.key,
             .reason = rule.reasons[resource_of(name)],
             .most = minutes ? amount * 60 : amount,
             .wanted = wanted,
             .tres = name});
    }
}

void JobLimits::add_fair_share(const Qos& qos) {
    if (!qos.usage_threshold || !qos.has(kQosEnforceUsageThreshold)) return;
    const FairShare& shares = *cluster_.fair_share();
    if (shares.empty()) return;
    const ShareLine* own = shares.find(job_.request->account, job_.user, partition_);
    const double factor = own ? own->factor : 0;
    add({.holder = {.qos = &qos},
         .kind = LimitKind::FairShare,
         .key = "UsageThreshold",
         .reason = Reason::QosUsageThreshold,
         .most = *qos.usage_threshold,
         .wanted = times(kUnitFactor, factor)});
}

void JobLimits::add_of_job() {
    for (const Qos* qos : qos_) add_wall({.qos = qos}, qos->max_wall, Reason::QosMaxWall);
    for (const TresRule& rule : kQosJobRules) {
        for (const Qos* qos : qos_) {
            const Tres& most = rule.kind == LimitKind::PerJob    ? qos->max_per_job
                               : rule.kind == LimitKind::PerNode ? qos->max_per_node
                               : rule.kind == LimitKind::Least   ? qos->min_per_job
                                                                 : qos->max_minutes_per_job;
            add_tres({.qos = qos}, rule, most, 1);
        }
    }
    if (own_ && now_) add_fair_share(*own_);
    if (association_) add_of_job_by_association();
}

void JobLimits::add_of_job_by_association() {
    const AssociationTree& tree = cluster_.associations();
    const InheritedTerms& terms = tree.terms(association_->id);
    const auto setter = [&](auto has) {
        return LimitHolder{.association = setter_of(tree, association_, has)};
    };
    add_wall(setter([](const Association& each) { return each.max_wall.has_value(); }),
             terms.max_wall, Reason::AssocMaxWall);
    const double factor =
        own_ ? static_cast<double>(own_->limit_factor.value_or(kUnitFactor)) / kUnitFactor : 1;
    for (const TresRule& rule : kAssociationJobRules) {
        const bool per_job = rule.kind == LimitKind::PerJob;
        const bool per_node = rule.kind == LimitKind::PerNode;
        const auto own = per_job    ? &Association::max_per_job
                         : per_node ? &Association::max_per_node
                                    : &Association::max_minutes_per_job;
        const Tres& most = per_job    ? terms.max_per_job
                           : per_node ? terms.max_per_node
                                      : terms.max_minutes_per_job;
        if (most.empty()) continue;
        add_tres(setter([&](const Association& each) { return !(each.*own).empty(); }), rule, most,
                 factor);
    }
}

std::vector<JobLimits::Group> JobLimits::groups() const {
    std::vector<Group> all;
    const LimitBook& book = cluster_.limits();
    for (std::size_t i = 0; i < std::size(kQosRules); ++i) {
        for (const Qos* qos : qos_) {
            const Allotment& most = i == 0 ? qos->of_all : i == 1 ? qos->of_user : qos->of_account;
            const QosUse* use = now_ ? book.find(qos->name) : nullptr;
            const LimitUse* used = !use     ? nullptr
                                   : i == 0 ? &use->all
                                   : i == 1 ? use_in(use->of_user, job_.user)
                                            : use_in(use->of_account, job_.request->account);
            const UsedAmounts* amounts =
                now_ && i == 0 ? used_by_qos(cluster_, qos->name) : nullptr;
            all.push_back({&kQosRules[i], {.qos = qos}, &most, used, amounts, 1});
        }
    }
    if (!association_) return all;
    const AssociationTree& tree = cluster_.associations();
    const double factor =
        own_ ? static_cast<double>(own_->limit_factor.value_or(kUnitFactor)) / kUnitFactor : 1;
    const Allotment& of_each = tree.terms(association_->id).of_each;
    if (of_each != Allotment{}) {
        const LimitUse* use = now_ ? book.find_association(association_->id) : nullptr;
        all.push_back(
            {&kAssociationRules[1], {.association = association_}, &of_each, use, nullptr, factor});
    }
    for (std::uint32_t id : tree.counted(association_->id)) {
        const Association* each = tree.find(id);
        if (each->of_all == Allotment{}) continue;
        all.push_back({&kAssociationRules[0],
                       {.association = each},
                       &each->of_all,
                       now_ ? book.find_association(id) : nullptr,
                       now_ ? used_by_association(cluster_, id) : nullptr,
                       factor});
    }
    return all;
}

// Nodes that other jobs of the group use count once; until nodes are chosen, such nodes are
// assumed.
std::uint64_t JobLimits::wanted_beside(const LimitUse* use, const std::string& name) const {
    const std::uint64_t wanted = amount_in(wanted_, name);
    if (!use || name != "node") return wanted;
    if (nodes_.empty()) return wanted - std::min<std::uint64_t>(wanted, use->nodes.size());
    auto is_new = [&](NodeIndex node) { return !use->nodes.contains(node); };
    return static_cast<std::uint64_t>(std::count_if(nodes_.begin(), nodes_.end(), is_new));
}

void JobLimits::add_group(const Group& group) {
    const GroupRule& rule = *group.rule;
    Tres scratch;
    for (const auto& [name, amount] :
         limit_of(group.holder, group.most->tres, group.factor, scratch)) {
        add({.holder = group.holder,
             .kind = LimitKind::Tres,
             .key = rule.tres_key,
             .reason = rule.tres[resource_of(name)],
             .most = amount,
             .used = group.use ? group.use->held(name) : 0,
             .wanted = wanted_beside(group.use, name),
             .tres = name,
             .among = rule.among});
    }
    for (const auto& [name, amount] : group.most->run_minutes) {
        add({.holder = group.holder,
             .kind = LimitKind::RunMinutes,
             .key = rule.run_minutes_key,
             .reason = rule.run_minutes[resource_of(name)],
             .most = amount * 60,
             .used = group.use && now_ ? group.use->seconds_left(name, *now_) : 0,
             .wanted = wanted_seconds(name),
             .tres = name,
             .among = rule.among});
    }
    if (!group.most->running) return;
    add({.holder = group.holder,
         .kind = LimitKind::Running,
         .key = rule.running_key,
         .reason = rule.running,
         .most = *group.most->running,
         .used = group.use ? group.use->running : 0,
         .wanted = 1,
         .among = rule.among});
}

// What was used. Without `safe` a job may start while something is left.
void JobLimits::add_minutes(const Group& group) {
    const GroupRule& rule = *group.rule;
    const bool safe = cluster_.settings().enforce_safe;
    for (const auto& [name, amount] : group.most->minutes) {
        if (amount_in(wanted_, name) == 0) continue;
        const std::uint64_t still =
            safe && group.use && now_ ? group.use->seconds_left(name, *now_) : 0;
        add({.holder = group.holder,
             .kind = LimitKind::UsedMinutes,
             .key = "GrpTRESMins",
             .reason = rule.minutes[resource_of(name)],
             .most = amount * 60,
             .used = (group.amounts ? seconds_in(*group.amounts, name) : 0) + still,
             .wanted = safe ? wanted_seconds(name) : 1,
             .tres = name,
             .among = rule.among});
    }
    if (!group.most->wall) return;
    add({.holder = group.holder,
         .kind = LimitKind::UsedWall,
         .key = "GrpWall",
         .reason = rule.wall,
         .most = static_cast<std::uint64_t>(group.most->wall->count()),
         .used = group.amounts ? static_cast<std::uint64_t>(group.amounts->wall_seconds) : 0,
         .wanted = 1,
         .among = rule.among});
}

void JobLimits::add_of_groups() {
    for (const Group& group : groups()) {
        add_group(group);
        if (group.rule->among == Among::All) add_minutes(group);
    }
}

void JobLimits::add_of_submissions(std::uint64_t tasks) {
    for (const Group& group : groups()) {
        if (!group.most->submitted) continue;
        add({.holder = group.holder,
             .kind = LimitKind::Submitted,
             .key = group.rule->submitted_key,
             .reason = group.rule->submitted,
             .most = *group.most->submitted,
             .used = group.use ? group.use->submitted : 0,
             .wanted = tasks,
             .among = group.rule->among});
    }
}

}  // namespace sluice
