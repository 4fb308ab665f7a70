#include "os/hardware.h"

#include <hwloc.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

std::uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
    return static_cast<std::uint32_t>(std::max(1, hwloc_get_nbobjs_by_type(topology, type)));
}

std::uint32_t index_above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t unit,
                          std::uint32_t otherwise) {
    const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, unit);
    return found ? found->logical_index : otherwise;
}

// The first one that has it: memory of another kind may form domains of the same CPUs.
std::uint32_t domain_of(hwloc_topology_t topology, hwloc_obj_t unit) {
    hwloc_obj_t domain = nullptr;
    while ((domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain))) {
        if (hwloc_bitmap_isset(domain->cpuset, unit->os_index)) return domain->os_index;
    }
    return 0;
}

// That of the path, or of where it will be when it is made; zeros: it cannot be told.
struct statvfs file_system_of(std::string path) {
    struct statvfs status {};
    while (statvfs(path.c_str(), &status) != 0) {
        std::string parent = directory_of(path);
        if (errno != ENOENT || parent == path) return {};
        path = std::move(parent);
    }
    return status;
}

std::uint64_t meminfo_mb(std::string_view key) {
    Result<std::string> text = read_file("/proc/meminfo");
    if (!text) return 0;
    for (std::string_view line : split(*text, '\n')) {
        if (!line.starts_with(key)) continue;
        std::vector<std::string_view> fields = words(line);
        if (fields.size() >= 2) return to_number(fields[1]).value_or(0) / 1024;
    }
    return 0;
}

}  // namespace

Result<Hardware> read_hardware() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return os_error("hwloc");
    std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(
        raw, hwloc_topology_destroy);
    hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE}) {
        hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    if (hwloc_topology_load(raw) != 0) return os_error("hwloc");

    Hardware hardware;
    hardware.sockets = count_of(raw, HWLOC_OBJ_PACKAGE);
    std::uint32_t cores = count_of(raw, HWLOC_OBJ_CORE);
    hardware.cpus = count_of(raw, HWLOC_OBJ_PU);
    hardware.cores_per_socket = std::max(1u, cores / hardware.sockets);
    hardware.threads_per_core = std::max(1u, hardware.cpus / cores);
    hardware.memory_mb = meminfo_mb("MemTotal:");
    for (std::uint32_t i = 0; i < hardware.cpus; ++i) {
        hwloc_obj_t unit = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PU, i);
        if (!unit) continue;
        hardware.cpu_order.push_back(static_cast<int>(unit->os_index));
        hardware.cpu_places.push_back({index_above(raw, HWLOC_OBJ_PACKAGE, unit, 0),
                                       index_above(raw, HWLOC_OBJ_CORE, unit, i),
                                       domain_of(raw, unit)});
    }
    return hardware;
}

Machine read_machine() {
    Machine machine;
    utsname name{};
    uname(&name);
    machine.arch = name.machine;
    machine.kernel = fmt::format("{} {} {}", name.sysname, name.release, name.version);
    if (Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id")) {
        machine.boot_id = trim(*id);
    }
    timespec up{};
    clock_gettime(CLOCK_BOOTTIME, &up);
    machine.boot_time = from_unix(std::time(nullptr) - up.tv_sec);
    return machine;
}

Load read_load() {
    Load load;
    getloadavg(&load.one_minute, 1);
    load.free_memory_mb = meminfo_mb("MemFree:");
    return load;
}

std::uint64_t disk_size_mb(const std::string& path) {
    const struct statvfs status = file_system_of(path);
    return status.f_blocks * status.f_frsize >> 20;
}

std::uint64_t disk_free_mb(const std::string& path) {
    const struct statvfs status = file_system_of(path);
    return status.f_bavail * status.f_frsize >> 20;
}

}  // namespace sluice
