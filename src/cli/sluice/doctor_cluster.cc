// cli/sluice/doctor_cluster.cc: see doctor_cluster.h.
#include "cli/sluice/doctor_cluster.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "auth/sha256.h"
#include "base/text.h"
#include "cli/common/listing.h"
#include "config/canonical.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/node.h"
#include "model/release.h"
#include "model/states.h"
#include "model/version.h"
#include "os/probe.h"
#include "os/socket.h"

namespace sluice {

namespace {

constexpr auto kProbeMost = std::chrono::seconds(2);
constexpr std::int64_t kClockWarning = 2, kClockError = 30;  // seconds; slurmctld drains from 30 on
constexpr std::size_t kNamesMost = 20;

std::string shortened(const std::vector<std::string>& names) {
    if (names.size() <= kNamesMost) return join(names, ",");
    const std::vector<std::string> some(names.begin(), names.begin() + kNamesMost);
    return fmt::format("{} and {} more", join(some, ","), names.size() - kNamesMost);
}

// ---- names and ports

void check_controller_ports(DoctorReport& report, const Config& config) {
    report.checked("dns");
    report.checked("port");
    std::vector<ProbeTarget> targets;
    for (const ControllerHost& host : config.controllers)
        targets.push_back({host.address, config.slurmctld_port});
    const std::vector<ProbeResult> results = probe_tcp(targets, kProbeMost);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string& host = targets[i].host;
        if (!results[i].is_resolved) {
            report.add({Severity::Error, "dns", host, results[i].why,
                        "add the host to DNS or /etc/hosts, or correct SlurmctldHost"});
        } else if (!results[i].is_connected) {
            report.add({Severity::Error, "port", fmt::format("{}:{}", host, targets[i].port),
                        fmt::format("slurmctld cannot be reached: {}", results[i].why),
                        "start slurmctld there, and open the port in its firewall"});
        }
    }
}

void check_node_ports(DoctorReport& report, const std::vector<DoctorNode>& nodes) {
    std::vector<ProbeTarget> targets;
    for (const DoctorNode& node : nodes) targets.push_back({node.address, node.port});
    const std::vector<ProbeResult> results = probe_tcp(targets, kProbeMost);
    std::vector<std::string> unknown, unreachable;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!results[i].is_resolved)
            unknown.push_back(nodes[i].address);
        else if (!results[i].is_connected)
            unreachable.push_back(fmt::format("{} ({}:{}: {})", nodes[i].name, nodes[i].address,
                                              nodes[i].port, results[i].why));
    }
    if (!unknown.empty())
        report.add({Severity::Error, "dns", shortened(unknown), "these names cannot be resolved",
                    "add them to DNS or /etc/hosts, or set NodeAddr"});
    if (!unreachable.empty())
        report.add({Severity::Error, "port", shortened(unreachable),
                    "slurmd cannot be reached from here: srun needs that",
                    "start slurmd there, and open SlurmdPort in the firewalls between"});
}

// From the controller to the slurmd of this host. For operators and administrators.
void check_way_back(DoctorReport& report, Client& client, const std::vector<DoctorNode>& nodes) {
    for (const DoctorNode& node : nodes) {
        if (!node.is_here) continue;
        wire::Request request;
        request.set_probe_node(node.name);
        const auto reply = client.call(request);
        if (!reply && reply.error().code == ErrorCode::AccessDenied) return;
        report.checked("way back");
        if (reply) continue;
        report.add(
            {Severity::Error, "way back", node.name,
             fmt::format("the controller cannot connect to slurmd: {}", reply.error().detail),
             fmt::format("start slurmd here, and open port {} in this host's firewall",
                         node.port)});
    }
}

// ---- the controller

void check_clock(DoctorReport& report, std::int64_t theirs, std::int64_t before,
                 std::int64_t after) {
    report.checked("clock");
    std::int64_t ahead = 0;  // of this host
    if (theirs < before - 1) ahead = before - theirs;
    if (theirs > after + 1) ahead = after - theirs;
    if (std::abs(ahead) < kClockWarning) return;
    report.add({std::abs(ahead) >= kClockError ? Severity::Error : Severity::Warning, "clock",
                host_name(),
                fmt::format("the clock of this host is {} s {} the controller's", std::abs(ahead),
                            ahead > 0 ? "ahead of" : "behind"),
                "let chronyd or ntpd set both (chronyc tracking, timedatectl)"});
}

void check_version(DoctorReport& report, std::string_view version) {
    report.checked("version");
    if (version == kRelease) return;
    report.add({Severity::Warning, "version", host_name(),
                fmt::format("this is Sluice {}, the controller has {}", kRelease, version),
                "install the same version on all hosts"});
}

void check_configuration(DoctorReport& report, const Config& config, std::string_view theirs) {
    report.checked("configuration");
    const auto own = canonical_config(config.path);
    if (own && sha256(*own) == theirs) return;
    report.add({Severity::Error, "configuration", config.path,
                own ? "it differs from what the controller has read" : own.error().detail,
                "copy slurm.conf from the controller's host; if it was changed there: scontrol "
                "reconfigure"});
}

bool check_controller(DoctorReport& report, Client& client, const Config& config) {
    report.checked("controller");
    const auto clock = [] { return to_unix(current_time()); };
    wire::Request request;
    request.mutable_ping();
    const std::int64_t before = clock();
    const auto reply = client.call(request);
    const std::int64_t after = clock();
    if (!reply) {
        report.add({Severity::Error, "controller", "", to_string(reply.error()),
                    "start slurmctld, or correct SlurmctldHost and SlurmctldPort; its log says why "
                    "it refuses"});
        return false;
    }
    check_clock(report, reply->pong().clock(), before, after);
    check_version(report, reply->pong().program_version());
    check_configuration(report, config, reply->pong().config_hash());
    return true;
}

// With several controllers: each must be able to become the active one. The ports of those that do
// not answer at all were reported before.
void check_standbys(DoctorReport& report, Client& client, const Config& config) {
    if (config.controllers.size() == 1) return;
    report.checked("standby");
    wire::Request request;
    request.mutable_ping();
    for (std::size_t i = 0; i < config.controllers.size(); ++i) {
        const std::string& name = config.controllers[i].name;
        const auto reply = client.call_controller(i, request);
        if (!reply) {
            report.add({Severity::Error, "standby", name, to_string(reply.error()),
                        "start slurmctld there; its log says why it refuses"});
            continue;
        }
        const wire::Pong& pong = reply->pong();
        if (!pong.trouble().empty())
            report.add(
                {Severity::Error, "standby", name,
                 fmt::format("it cannot take over: {}", pong.trouble()),
                 "make the database of StateSaveLocation reachable from there, with slurmctld "
                 "of the same version as on the active controller"});
        if (pong.standby() && pong.program_version() != kRelease)
            report.add(
                {Severity::Warning, "version", name,
                 fmt::format("it has Sluice {}, this host {}", pong.program_version(), kRelease),
                 "install the same version on all hosts"});
    }
}

// ---- nodes

std::vector<DoctorNode> nodes_in(const Table& table) {
    using C = NodeColumn;
    std::vector<DoctorNode> nodes;
    const std::string host = host_name();
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const auto text = [&](C column) { return std::string(table.text(i, column)); };
        DoctorNode node{.name = text(C::Name),
                        .address = text(C::Address),
                        .version = text(C::Version),
                        .gres = text(C::Gres),
                        .reason = text(C::Reason),
                        .port = static_cast<std::uint16_t>(table.number(i, C::Port))};
        node.is_here =
            node.name == host || text(C::Hostname) == host || is_local_address(node.address);
        const auto base = static_cast<NodeBase>(table.number(i, C::BaseState));
        const auto flags = static_cast<std::uint32_t>(table.number(i, C::Flags));
        node.is_down = base == NodeBase::Down || (flags & kNodeNoRespond) != 0;
        nodes.push_back(std::move(node));
    }
    return nodes;
}

Result<std::vector<DoctorNode>> fetch_nodes(Client& client) {
    using C = NodeColumn;
    std::vector<ColumnId> columns;
    for (const C column : {C::Name, C::Hostname, C::Address, C::Port, C::Version, C::Gres,
                           C::Reason, C::BaseState, C::Flags})
        columns.push_back(static_cast<ColumnId>(column));
    return nodes_in(
        TRY(fetch_table(client, TableKind::Nodes, std::move(columns), {.include_hidden = true})));
}

void check_nodes(DoctorReport& report, const std::vector<DoctorNode>& nodes) {
    report.checked("nodes");
    std::vector<std::string> down, other_version;
    bool any_here = false;
    for (const DoctorNode& node : nodes) {
        if (node.is_down) {
            down.push_back(node.reason.empty() ? node.name
                                               : fmt::format("{} ({})", node.name, node.reason));
            any_here = any_here || node.is_here;
        }
        if (!node.version.empty() && node.version != kSlurmVersion)
            other_version.push_back(fmt::format("{} ({})", node.name, node.version));
    }
    if (!down.empty())
        report.add({any_here ? Severity::Error : Severity::Warning, "nodes", shortened(down),
                    "DOWN, or slurmd does not respond",
                    "start slurmd there and read its log; then scontrol update NodeName=... "
                    "State=RESUME"});
    if (!other_version.empty())
        report.add({Severity::Warning, "version", shortened(other_version),
                    fmt::format("slurmd is not {}", kSlurmVersion),
                    "install the same version on all hosts"});
}

}  // namespace

std::vector<DoctorNode> check_cluster(DoctorReport& report, Client& client, const Config& config) {
    check_controller_ports(report, config);
    const bool is_served = check_controller(report, client, config);
    check_standbys(report, client, config);
    if (!is_served) return {};
    auto nodes = fetch_nodes(client);
    if (!nodes) {
        if (nodes.error().code != ErrorCode::AccessDenied)  // PrivateData=nodes
            report.add({Severity::Error, "nodes", "", to_string(nodes.error()),
                        "read the log of slurmctld"});
        return {};
    }
    check_nodes(report, *nodes);
    check_node_ports(report, *nodes);
    check_way_back(report, client, *nodes);
    std::erase_if(*nodes, [](const DoctorNode& node) { return !node.is_here; });
    return *std::move(nodes);
}

}  // namespace sluice
