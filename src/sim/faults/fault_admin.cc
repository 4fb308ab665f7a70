// sim/faults/fault_admin.cc: what administrators do to nodes, partitions, reservations and
// slurm.conf.
#include <fmt/format.h>

#include <algorithm>

#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "model/node_keys.h"
#include "model/partition_keys.h"
#include "model/qos_keys.h"
#include "sim/faults/fault_world.h"
#include "sim/faults/workload.h"

namespace sluice {

namespace {

constexpr const char* kAccounts[] = {"vision", "nlp"};
constexpr std::uint32_t kUserIds[] = {1000, 1001};

}  // namespace

void FaultWorld::administrate() {
    if (dice("power").chance(0.1)) return command_power();
    if (options_.by_qos && dice("admin").chance(0.1)) return change_qos();
    if (options_.by_qos && dice("admin").chance(0.1)) return change_accounts(true);
    switch (dice("admin").below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return change_reservation();
        case 4:
        case 5:
        case 6:
            return change_node();
        case 7:
        case 8:
            return change_partition();
        default:
            return reconfigure(
                std::make_shared<const Settings>(changed(dice("admin"), *first_settings_)));
    }
}

// Whose jobs may take whose place.
void FaultWorld::add_qos() {
    policy_.qos = {default_qos()};
    for (const char* name : {kUrgent, kPatient}) {
        Qos& qos = policy_.qos.emplace_back();
        qos.id = static_cast<std::uint32_t>(policy_.qos.size());
        qos.name = qos.description = name;
    }
    change_qos();
}

void FaultWorld::set_qos(std::string_view name, const KeyTexts& keys) {
    for (Qos& qos : policy_.qos) {
        if (qos.name == name) parse_qos_change(keys).value().apply_to(qos);
    }
}

// The whole policy, as the accounting database has it.
void FaultWorld::publish_policy() {
    push({PolicyChanged{std::make_shared<const Policy>(policy_)}, {}});
}

void FaultWorld::change_qos() {
    const KeyTexts keys = {
        {"Preempt", dice("admin").chance(0.8) ? kPatient : ""},
        {"PreemptMode", dice("admin").chance(0.5) ? "CLUSTER" : "WITHIN,REQUEUE"},
        {"Priority", std::to_string(dice("admin").below(100))}};
    const KeyTexts victims_keys = {
        {"GraceTime", std::to_string(dice("admin").below(20))},
        {"PreemptMode", dice("admin").chance(0.5) ? "CANCEL" : "REQUEUE"},
        {"PreemptExemptTime", dice("admin").chance(0.5) ? "-1" : "0:30"},
        {"GrpTRES", fmt::format("cpu={},gres/gpu={}", 4 + dice("admin").below(16),
                                1 + dice("admin").below(4))},
        {"GrpJobs", std::to_string(2 + dice("admin").below(6))},
        {"MaxJobsPerUser",
         dice("admin").chance(0.5) ? "-1" : std::to_string(1 + dice("admin").below(3))}};
    set_qos(kUrgent, keys);
    set_qos(kPatient, victims_keys);
    publish_policy();
}

// The accounts of all users, with limits at random; users come and go.
void FaultWorld::change_accounts(bool with_limits) {
    policy_.associations = {{.id = 1, .account = "root"}};
    const auto limit = [&](std::int64_t least, std::int64_t most) -> std::optional<std::uint32_t> {
        if (!with_limits || dice("admin").chance(0.5)) return {};
        return static_cast<std::uint32_t>(dice("admin").between(least, most));
    };
    std::uint32_t id = 2;
    for (const char* name : kAccounts) {
        Association account{.id = id++, .parent = 1, .account = name};
        account.of_all.running = limit(2, 8);
        if (auto cpus = limit(8, 24)) account.of_all.tres["cpu"] = *cpus;
        if (auto minutes = limit(20, 200)) account.of_all.run_minutes["cpu"] = *minutes;
        account.of_each.running = limit(1, 4);
        const std::uint32_t above = account.id;
        policy_.associations.push_back(std::move(account));
        for (std::uint32_t user : kUserIds) {
            if (with_limits && dice("admin").chance(0.1)) continue;
            Association member{.id = id++,
                               .parent = above,
                               .account = name,
                               .user = std::to_string(user),
                               .uid = UserId{user},
                               .is_default = name == kAccounts[user % std::size(kAccounts)]};
            member.of_each.running = limit(1, 4);
            policy_.associations.push_back(std::move(member));
        }
    }
    publish_policy();
}

// Some are too large for any limit.
void FaultWorld::lift_limits() {
    set_qos(kPatient, {{"GrpTRES", "cpu=-1,gres/gpu=-1"}});
    change_accounts(false);
}

void FaultWorld::change_reservation() {
    ReservationChange change = random_reservation(dice("admin"), controller_now(), options_.nodes);
    constexpr const char* kVerbs[] = {"create", "update", "delete"};
    ask(fmt::format("reservation {}", kVerbs[static_cast<int>(change.verb)]),
        [change](RequestId request) {
            return ChangeReservation{request, kRoot, change};
        },
        {});
}

void FaultWorld::change_node() {
    std::string node = first_settings_->nodes[dice("admin").below(options_.nodes)].name;
    if (dice("admin").chance(0.3)) {
        RebootNodes event{.request = {},
                          .caller = kRoot,
                          .nodes = {node},
                          .asap = dice("admin").chance(0.5),
                          .next = {},
                          .reason = {}};
        if (dice("admin").chance(0.3))
            event.next = dice("admin").chance(0.7) ? AfterReboot::Resume : AfterReboot::Down;
        ask("reboot",
            [event](RequestId request) {
                RebootNodes order = event;
                order.request = request;
                return order;
            },
            {});
        return;
    }
    constexpr const char* kStates[] = {"DRAIN", "DRAIN", "RESUME",        "RESUME", "UNDRAIN",
                                       "DOWN",  "FAIL",  "CANCEL_REBOOT", "IDLE"};
    std::string state = kStates[dice("admin").below(std::size(kStates))];
    KeyTexts keys{{"State", state}, {"Reason", "test"}};
    if (dice("admin").chance(0.2)) keys = {{"Weight", std::to_string(dice("admin").between(1, 3))}};
    ask("node " + keys.front().second,
        [node, change = parse_node_change(keys).value()](RequestId request) {
            return UpdateNode{request, kRoot, {node}, change};
        },
        {});
}

void FaultWorld::change_partition() {
    const auto& partitions = first_settings_->partitions;
    std::string name = partitions[dice("admin").below(partitions.size())].name;
    auto number = [&](std::int64_t low, std::int64_t high) {
        return std::to_string(dice("admin").between(low, high));
    };
    KeyTexts changes;
    switch (dice("admin").below(5)) {
        case 0:
            changes = {{"State", dice("admin").chance(0.5) ? "DOWN" : "DRAIN"}};
            break;
        case 1:
            changes = {{"MaxTime", dice("admin").chance(0.5) ? "UNLIMITED" : number(2, 5)}};
            break;
        case 2:
            changes = {{"MaxNodes", dice("admin").chance(0.5) ? "UNLIMITED" : number(1, 3)}};
            break;
        case 3:
            changes = {{"PriorityTier", number(1, 3)}};
            break;
        default:
            changes = {{"State", "UP"}};
            break;
    }
    ask("partition " + changes.front().first,
        [name, change = parse_partition_change(changes).value()](RequestId request) {
            return UpdatePartition{request, kRoot, name, change};
        },
        {});
}

// As controller/reconfigure.cc: what it knows of busy nodes may be old when the core hears of it.
void FaultWorld::reconfigure(std::shared_ptr<const Settings> settings) {
    if (!cluster_) return;
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        const Node& node = cluster_->node(NodeIndex{i});
        auto same = [&](const NodeConfig& config) { return config.name == node.config.name; };
        bool stays = std::any_of(settings->nodes.begin(), settings->nodes.end(), same);
        if (!stays && !node.jobs.empty()) return;
    }
    ask("reconfigure",
        [this, settings](RequestId request) {
            settings_ = settings;  // the file: a controller that restarts reads it
            return Reconfigure{request, kRoot, settings};
        },
        {});
}

// Everything is put back, and what was put aside is taken up again.
void FaultWorld::look_after_cluster() {
    if (!cluster_) return;
    auto again = std::make_shared<Settings>(*first_settings_);
    push({Reconfigure{RequestId{next_request_++}, kRoot, again}, {}});
    settings_ = again;
    for (const Reservation& each : cluster_->reservations()) {
        ReservationChange change{.verb = ReservationChange::Verb::Delete, .name = each.name};
        push({ChangeReservation{RequestId{next_request_++}, kRoot, change}, {}});
        constexpr Seconds kSoon{600};
        bool ends_soon = each.is_active(controller_now()) && !each.has(kResvTimeFloat) &&
                         each.end <= controller_now() + kSoon;
        if (ends_soon || now_ < calm_from_ + kSoon) continue;
        // Jobs wait for it: it begins, and ends soon, whatever else has its nodes by then.
        change = {.verb = ReservationChange::Verb::Update, .name = each.name};
        if (!each.is_active(controller_now())) change.start = controller_now();
        change.end = controller_now() + kSoon;
        change.flags_set = kResvOverlap;
        change.flags_cleared = kResvRepeats | kResvTimeFloat;
        push({ChangeReservation{RequestId{next_request_++}, kRoot, change}, {}});
    }
    std::vector<std::string> nodes, off;
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        const Node& node = cluster_->node(NodeIndex{i});
        bool by_hand = node.admin_flags != 0 || (node.down && node.reason != "Not responding");
        bool rebooting = node.reboot && node.reboot->issued;
        const bool is_off = node.power.state != PowerState::Up;
        if (by_hand && (node.connected || is_off) && !rebooting) nodes.push_back(node.config.name);
        if (node.power.state == PowerState::Down) off.push_back(node.config.name);
        // A node that is added to slurm.conf again is switched on by hand.
        const std::size_t machine = machine_of(node.index);
        const bool is_added = unknown_nodes_.erase(node.config.name) > 0;
        if (is_added && !is_off && !machines_[machine]->is_up()) switch_on(machine);
    }
    if (!off.empty())
        push({UpdateNode{RequestId{next_request_++}, kRoot, off, {.state = NodeCommand::PowerUp}},
              {}});
    if (!nodes.empty())
        push({UpdateNode{RequestId{next_request_++}, kRoot, nodes, {.state = NodeCommand::Resume}},
              {}});
}

}  // namespace sluice
