// protocol/convert_node.cc
//
// What nodes say of themselves. See convert.h.
#include <cmath>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

wire::GresDevices to_wire(const GresDevices& devices) {
    wire::GresDevices out;
    out.set_name(devices.name);
    out.set_type(devices.type);
    for (const std::string& file : devices.files) out.add_files(file);
    out.set_count(devices.count);
    out.set_cores(devices.cores);
    out.set_links(devices.links);
    out.set_flags(devices.flags);
    return out;
}

Result<GresDevices> from_wire(const wire::GresDevices& wire) {
    GresDevices devices;
    devices.name = TRY(checks::text("gres name", wire.name()));
    devices.type = TRY(checks::text("gres type", wire.type()));
    devices.files = TRY(checks::texts("gres files", wire.files(), sizes::kPath, sizes::kNodeCount));
    devices.count = TRY(checks::amount("gres count", wire.count()));
    devices.cores = TRY(checks::text("gres cores", wire.cores()));
    devices.links = TRY(checks::text("gres links", wire.links()));
    devices.flags = TRY(checks::text("gres flags", wire.flags()));
    return devices;
}

wire::NodeFacts to_wire(const NodeFacts& facts) {
    wire::NodeFacts out;
    out.set_cpus(facts.cpus);
    out.set_boards(facts.boards);
    out.set_sockets(facts.sockets);
    out.set_cores_per_socket(facts.cores_per_socket);
    out.set_threads_per_core(facts.threads_per_core);
    out.set_real_memory(facts.real_memory);
    out.set_tmp_disk(facts.tmp_disk);
    out.set_free_memory(facts.free_memory);
    out.set_load(facts.load);
    out.set_arch(facts.arch);
    out.set_os(facts.os);
    out.set_version(facts.version);
    out.set_hostname(facts.hostname);
    out.set_boot_id(facts.boot_id);
    out.set_boot_time(to_unix(facts.boot_time));
    out.set_slurmd_start_time(to_unix(facts.slurmd_start_time));
    for (const GresDevices& devices : facts.gres) *out.add_gres() = to_wire(devices);
    out.set_problem(facts.problem);
    return out;
}

Result<NodeFacts> from_wire(const wire::NodeFacts& wire) {
    NodeFacts facts;
    constexpr std::uint32_t kCpusMax = 1u << 20;
    facts.cpus = TRY(checks::number("CPUs", wire.cpus(), kCpusMax));
    facts.boards = TRY(checks::number("boards", wire.boards(), kCpusMax));
    facts.sockets = TRY(checks::number("sockets", wire.sockets(), kCpusMax));
    facts.cores_per_socket = TRY(checks::number("cores", wire.cores_per_socket(), kCpusMax));
    facts.threads_per_core = TRY(checks::number("threads", wire.threads_per_core(), kCpusMax));
    facts.real_memory = TRY(checks::amount("memory", wire.real_memory()));
    facts.tmp_disk = TRY(checks::amount("disk", wire.tmp_disk()));
    facts.free_memory = TRY(checks::amount("free memory", wire.free_memory()));
    if (!std::isfinite(wire.load()) || wire.load() < 0) {
        return checks::refused("load", fmt::format("{} is no load", wire.load()));
    }
    facts.load = wire.load();
    facts.arch = TRY(checks::text("architecture", wire.arch()));
    facts.os = TRY(checks::text("system", wire.os()));
    facts.version = TRY(checks::text("version", wire.version()));
    facts.hostname = TRY(checks::text("host name", wire.hostname()));
    facts.boot_id = TRY(checks::text("boot id", wire.boot_id()));
    facts.boot_time = TRY(checks::moment("boot time", wire.boot_time()));
    facts.slurmd_start_time = TRY(checks::moment("start time", wire.slurmd_start_time()));
    TRY(checks::list_size("gres", static_cast<std::size_t>(wire.gres_size())));
    for (const wire::GresDevices& devices : wire.gres()) {
        facts.gres.push_back(TRY(from_wire(devices)));
    }
    facts.problem = TRY(checks::text("problem", wire.problem()));
    return facts;
}

}  // namespace sluice
