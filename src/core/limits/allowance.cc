// See allowance.h.
#include "core/limits/allowance.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/access.h"
#include "core/limits/qos.h"
#include "core/limits/tres.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

enum TresKind { kCpu, kMemory, kNode, kGres, kBilling, kTresKinds };

TresKind kind_of_tres(std::string_view name) {
    if (name == "cpu") return kCpu;
    if (name == "mem") return kMemory;
    if (name == "node") return kNode;
    return name == "billing" ? kBilling : kGres;
}

// Limits of a QOS on the resources of a single job.
struct TresRule {
    std::string_view key;
    const Tres& (*most)(const Qos& qos);
    Reason reasons[kTresKinds];
};

using R = Reason;

const TresRule kJobRules[] = {
    {"MaxTRESPerJob",
     [](const Qos& q) -> const Tres& { return q.max_per_job; },
     {R::QosMaxCpuPerJob, R::QosMaxMemoryPerJob, R::QosMaxNodePerJob, R::QosMaxGresPerJob,
      R::QosMaxBillingPerJob}},
    {"MaxTRESPerNode",
     [](const Qos& q) -> const Tres& { return q.max_per_node; },
     {R::QosMaxCpuPerNode, R::QosMaxMemoryPerNode, R::None, R::QosMaxGresPerNode,
      R::QosMaxBillingPerNode}},
    {"MinTRESPerJob",
     [](const Qos& q) -> const Tres& { return q.min_per_job; },
     {R::QosMinCpu, R::QosMinMemory, R::QosMinNode, R::QosMinGres, R::QosMinBilling}},
};
constexpr std::size_t kPerNode = 1, kLeast = 2;

// Limits on several jobs together, and where their use is counted.
struct GroupRule {
    LimitCheck::Among among;
    std::string_view tres_key, running_key, submitted_key;
    const Allotment Qos::*most;
    const LimitUse* (*used)(const QosUse& use, const Job& job);
    Reason tres_reasons[kTresKinds];
    Reason running_reason, submitted_reason;
};

template <typename Map, typename Key>
const LimitUse* use_in(const Map& map, const Key& key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

constexpr GroupRule kGroupRules[] = {
    {LimitCheck::Among::All,
     "GrpTRES",
     "GrpJobs",
     "GrpSubmitJobs",
     &Qos::of_all,
     [](const QosUse& use, const Job&) { return &use.all; },
     {R::QosGrpCpu, R::QosGrpMemory, R::QosGrpNode, R::QosGrpGres, R::QosGrpBilling},
     R::QosGrpJobs,
     R::QosGrpSubmitJobs},
    {LimitCheck::Among::User,
     "MaxTRESPerUser",
     "MaxJobsPerUser",
     "MaxSubmitJobsPerUser",
     &Qos::of_user,
     [](const QosUse& use, const Job& job) { return use_in(use.of_user, job.user); },
     {R::QosMaxCpuPerUser, R::QosMaxMemoryPerUser, R::QosMaxNodePerUser, R::QosMaxGresPerUser,
      R::QosMaxBillingPerUser},
     R::QosMaxJobsPerUser,
     R::QosMaxSubmitJobPerUser},
    {LimitCheck::Among::Account,
     "MaxTRESPerAccount",
     "MaxJobsPerAccount",
     "MaxSubmitJobsPerAccount",
     &Qos::of_account,
     [](const QosUse& use, const Job& job) { return use_in(use.of_account, job.request->account); },
     {R::MaxCpuPerAccount, R::MaxMemoryPerAccount, R::MaxNodePerAccount, R::MaxGresPerAccount,
      R::MaxBillingPerAccount},
     R::MaxJobsPerAccount,
     R::MaxSubmitJobsPerAccount},
};

// The QOS whose limits apply to the job in the partition, the stronger one first.
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

std::uint64_t amount_in(const Tres& tres, const std::string& name) {
    auto found = tres.find(name);
    return found == tres.end() ? 0 : found->second;
}

std::uint64_t held_in(const LimitUse& use, const std::string& name) {
    return name == "node" ? use.nodes.size() : amount_in(use.tres, name);
}

// Collects the limits of these QOS; if both set the same limit, the first one counts.
class Limits {
public:
    Limits(const Cluster& cluster, const Job& job, const Partition& partition,
           const Holding& held = {})
        : cluster_(cluster),
          job_(job),
          nodes_(held.nodes),
          qos_(qos_that_count(cluster, *job.request, partition.config)) {
        if (qos_.empty()) return;
        wanted_ = tres_wanted(job, &partition, cluster.settings());
        // Compat: a type counts only for jobs that ask for it.
        for (const auto& [name, amount] : held.tres) {
            if (name.find(':') == name.npos || wanted_.contains(name)) wanted_[name] = amount;
        }
        wanted_["billing"] = billing_of(wanted_, partition.config.tres_billing_weights);
    }

    // Limits on the job by itself.
    void of_job() {
        for (const Qos* qos : qos_) {
            if (!qos->max_wall || knows(Reason::QosMaxWall, {})) continue;
            TimeLimit limit = job_.time_limit;
            std::uint64_t wall = limit.unlimited()
                                     ? ~std::uint64_t{0}
                                     : static_cast<std::uint64_t>(limit.length().count());
            found_.push_back({.qos = qos,
                              .key = "MaxWall",
                              .reason = Reason::QosMaxWall,
                              .most = static_cast<std::uint64_t>(qos->max_wall->count()),
                              .wanted = wall});
        }
        for (std::size_t i = 0; i < std::size(kJobRules); ++i) {
            const TresRule& rule = kJobRules[i];
            for (const Qos* qos : qos_) {
                for (const auto& [name, most] : rule.most(*qos)) {
                    const std::uint64_t nodes =
                        i == kPerNode ? std::max<std::uint64_t>(1, amount_in(wanted_, "node")) : 1;
                    const std::uint64_t wanted = (amount_in(wanted_, name) + nodes - 1) / nodes;
                    add_tres(
                        *qos, rule.key, rule.reasons,
                        {.most = most, .wanted = wanted, .tres = name, .is_least = i == kLeast});
                }
            }
        }
    }

    // Limits on groups of jobs; `alone`: as if there were no other jobs.
    void of_groups(bool alone) {
        for (const GroupRule& rule : kGroupRules) {
            for (const Qos* qos : qos_) {
                const Allotment& most = qos->*rule.most;
                const LimitUse* use = alone ? nullptr : use_of(rule, *qos);
                for (const auto& [name, amount] : most.tres) {
                    add_tres(*qos, rule.tres_key, rule.tres_reasons,
                             {.most = amount,
                              .used = use ? held_in(*use, name) : 0,
                              .wanted = wanted_beside(use, name),
                              .tres = name,
                              .is_shared = true,
                              .among = rule.among});
                }
                add_count(*qos, rule, rule.running_key, rule.running_reason, most.running,
                          use ? use->running : 0, 1);
            }
        }
    }

    void of_submissions(std::uint64_t tasks) {
        for (const GroupRule& rule : kGroupRules) {
            for (const Qos* qos : qos_) {
                const LimitUse* use = use_of(rule, *qos);
                add_count(*qos, rule, rule.submitted_key, rule.submitted_reason,
                          (qos->*rule.most).submitted, use ? use->submitted : 0, tasks);
            }
        }
    }

    const std::vector<LimitCheck>& found() const { return found_; }
    const std::vector<const Qos*>& qos() const { return qos_; }

private:
    bool knows(Reason reason, const std::string& tres) const {
        return std::any_of(found_.begin(), found_.end(), [&](const LimitCheck& each) {
            return each.reason == reason && each.tres == tres;
        });
    }

    const LimitUse* use_of(const GroupRule& rule, const Qos& qos) const {
        const QosUse* use = cluster_.limits().find(qos.name);
        return use ? rule.used(*use, job_) : nullptr;
    }

    // Nodes that other jobs of the group use count once; until nodes are chosen, such nodes are
    // assumed.
    std::uint64_t wanted_beside(const LimitUse* use, const std::string& name) const {
        const std::uint64_t wanted = amount_in(wanted_, name);
        if (!use || name != "node") return wanted;
        if (nodes_.empty()) return wanted - std::min<std::uint64_t>(wanted, use->nodes.size());
        auto is_new = [&](NodeIndex node) { return !use->nodes.contains(node); };
        return static_cast<std::uint64_t>(std::count_if(nodes_.begin(), nodes_.end(), is_new));
    }

    void add_tres(const Qos& qos, std::string_view key, const Reason* reasons, LimitCheck check) {
        check.qos = &qos;
        check.reason = reasons[kind_of_tres(check.tres)];
        check.key = key;
        if (!knows(check.reason, check.tres)) found_.push_back(std::move(check));
    }

    void add_count(const Qos& qos, const GroupRule& rule, std::string_view key, Reason reason,
                   std::optional<std::uint32_t> most, std::uint64_t used, std::uint64_t wanted) {
        if (!most || knows(reason, {})) return;
        found_.push_back({.qos = &qos,
                          .key = key,
                          .reason = reason,
                          .most = *most,
                          .used = used,
                          .wanted = wanted,
                          .is_shared = true,
                          .among = rule.among});
    }

    const Cluster& cluster_;
    const Job& job_;
    std::vector<NodeIndex> nodes_;  // if they are chosen
    std::vector<const Qos*> qos_;
    Tres wanted_;
    std::vector<LimitCheck> found_;
};

std::uint32_t jobs_left(const LimitCheck& check) {
    if (check.is_broken()) return 0;
    if (!check.is_shared || check.wanted == 0) return kNoLimit;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>((check.most - check.used) / check.wanted, kNoLimit));
}

Error policy_error(const LimitCheck& check) {
    Error error{ErrorCode::QosPolicy, std::string(reason_name(check.reason))};
    error.hint = fmt::format("QOS {} has {}", check.qos->name, check.text());
    if (check.used > 0)
        error.hint += fmt::format(", of which {} are in use", check.amount(check.used));
    return error;
}

struct Refused {
    LimitCheck limit;     // the first that it breaks
    bool denied = false;  // DenyOnLimit, in each of its partitions
};

// The limit that keeps the job from running even alone; none if one of its partitions allows it.
std::optional<Refused> refused_alone(const Cluster& cluster, const Job& job) {
    if (!cluster.settings().enforce_limits) return {};
    std::optional<Refused> refused;
    for (const std::string& name : partitions_of(job)) {
        Limits limits(cluster, job, *cluster.find_partition(name));
        const bool denies = std::any_of(limits.qos().begin(), limits.qos().end(),
                                        [](const Qos* qos) { return qos->has(kQosDenyOnLimit); });
        limits.of_job();
        limits.of_groups(true);
        auto broken = std::find_if(limits.found().begin(), limits.found().end(),
                                   [](const LimitCheck& check) { return check.is_broken(); });
        if (broken == limits.found().end()) return {};
        if (!refused) refused = Refused{*broken, true};
        refused->denied = refused->denied && denies;
    }
    return refused;
}

bool limits_any(const Cluster& cluster, const Allotment Qos::*of) {
    if (!cluster.settings().enforce_limits) return false;
    return std::any_of(cluster.qos().begin(), cluster.qos().end(), [&](const Qos& qos) {
        return !(qos.*of).tres.empty() || (qos.*of).running;
    });
}

}  // namespace

std::string LimitCheck::text() const {
    return fmt::format("{}={}", key, tres.empty() ? amount(most) : print_tres({{tres, most}}));
}

std::string LimitCheck::amount(std::uint64_t count) const {
    if (reason == Reason::QosMaxWall)
        return print_duration(Seconds{static_cast<std::int64_t>(count)});
    return tres == "mem" ? print_memory(count) : std::to_string(count);
}

std::uint64_t LimitCheck::held_by(const LimitBook::Entry& other, const Job& job) const {
    const bool is_theirs = among == Among::All ||
                           (among == Among::User && other.user == job.user) ||
                           (among == Among::Account && other.account == job.request->account);
    if (!is_shared || !is_theirs ||
        std::find(other.qos.begin(), other.qos.end(), qos->name) == other.qos.end())
        return 0;
    return tres.empty() ? other.use.running : held_in(other.use, tres);
}

Allowance allowance(const Cluster& cluster, const Job& job, const Partition& partition,
                    const Holding& held) {
    Allowance allowed;
    if (!cluster.settings().enforce_limits) return allowed;
    Limits limits(cluster, job, partition, held);
    limits.of_job();
    limits.of_groups(false);
    for (const LimitCheck& check : limits.found()) {
        const std::uint32_t left = jobs_left(check);
        if (left < allowed.jobs) allowed = {left, check.reason};
    }
    return allowed;
}

std::vector<LimitCheck> limits_on(const Cluster& cluster, const Job& job,
                                  const Partition& partition) {
    if (!cluster.settings().enforce_limits) return {};
    Limits limits(cluster, job, partition);
    limits.of_job();
    limits.of_groups(false);
    return limits.found();
}

std::vector<LimitCheck> limits_reached(const Cluster& cluster, const Job& job,
                                       const Partition& partition) {
    std::vector<LimitCheck> reached = limits_on(cluster, job, partition);
    std::erase_if(reached, [](const LimitCheck& check) { return !check.is_broken(); });
    return reached;
}

Result<void> check_submission(const Cluster& cluster, const Job& job, std::uint64_t tasks) {
    if (!cluster.settings().enforce_limits) return {};
    for (const std::string& name : partitions_of(job)) {
        Limits limits(cluster, job, *cluster.find_partition(name));
        limits.of_submissions(tasks);
        for (const LimitCheck& check : limits.found()) {
            if (check.is_broken()) return policy_error(check);
        }
    }
    return check_limits(cluster, job);
}

// One partition that allows it is enough.
Result<void> check_limits(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused || !refused->denied) return {};
    return policy_error(refused->limit);
}

std::string never_allowed(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused) return {};
    const LimitCheck& limit = refused->limit;
    const std::string wanted = limit.wanted == ~std::uint64_t{0}
                                   ? std::string("no limit")
                                   : fmt::format("{}", limit.amount(limit.wanted));
    return fmt::format("the job can never run: QOS {} has {}, it asks for {} ({})", limit.qos->name,
                       limit.text(), wanted, reason_name(limit.reason));
}

Result<void> check_limits_alone(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused) return {};
    return policy_error(refused->limit);
}

TimeLimit wall_limit(const Cluster& cluster, const JobTerms& demand,
                     const PartitionConfig& partition) {
    if (!cluster.settings().enforce_limits) return {};
    for (const Qos* qos : qos_that_count(cluster, demand, partition)) {
        if (qos->max_wall) return TimeLimit{*qos->max_wall};
    }
    return {};
}

PartitionBounds bounds_of(const Cluster& cluster, const JobTerms& demand,
                          const PartitionConfig& partition) {
    PartitionBounds bounds{partition.min_nodes, partition.max_nodes, partition.max_time};
    if (!cluster.settings().enforce_limits) return bounds;
    for (const Qos* qos : qos_that_count(cluster, demand, partition)) {
        if (qos->has(kQosPartitionMinNodes)) bounds.min_nodes = 0;
        if (qos->has(kQosPartitionMaxNodes)) bounds.max_nodes.reset();
        if (qos->has(kQosPartitionTimeLimit)) bounds.max_time = TimeLimit{};
    }
    return bounds;
}

bool limits_users(const Cluster& cluster) {
    return limits_any(cluster, &Qos::of_user);
}
bool limits_accounts(const Cluster& cluster) {
    return limits_any(cluster, &Qos::of_account);
}

}  // namespace sluice
