#include "os/cgroup_kill.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

namespace {

// The deepest first, the directory itself last.
void add_tree(const std::string& directory, std::vector<std::string>& found) {
    if (DIR* listing = opendir(directory.c_str())) {
        while (const dirent* entry = readdir(listing)) {
            const std::string name = entry->d_name;
            if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
            add_tree(directory + "/" + name, found);
        }
        closedir(listing);
    }
    found.push_back(directory);
}

std::vector<std::string> tree_of(const std::string& directory) {
    std::vector<std::string> found;
    add_tree(directory, found);
    return found;
}

bool set_frozen(const std::string& directory, bool on) {
    return write_to(directory + "/freezer.state", on ? "FROZEN" : "THAWED") ||
           write_to(directory + "/cgroup.freeze", on ? "1" : "0");
}

}  // namespace

std::vector<pid_t> pids_in_cgroup(const std::string& directory) {
    std::vector<pid_t> pids;
    for (const std::string& each : tree_of(directory)) {
        const Result<std::string> text = read_file(each + "/cgroup.procs");
        if (!text) continue;
        for (std::string_view word : words(*text)) {
            // 0: a process of another pid namespace.
            if (auto pid = to_number(word); pid && *pid > 0)
                pids.push_back(static_cast<pid_t>(*pid));
        }
    }
    return pids;
}

// Freezing a cgroup also freezes the cgroups below it; each of them can also be frozen separately.
bool freeze_cgroup(const std::string& directory, bool on) {
    if (on) return set_frozen(directory, true);
    bool thawed = false;
    for (const std::string& each : tree_of(directory)) thawed = set_frozen(each, false);
    return thawed;
}

// Where there is no cgroup.kill, nothing can fork while it is frozen. With v1 the signal reaches a
// frozen process only when it is thawed.
void kill_cgroup(const std::string& directory) {
    if (write_to(directory + "/cgroup.kill", "1")) return;
    freeze_cgroup(directory, true);
    for (pid_t pid : pids_in_cgroup(directory)) kill(pid, SIGKILL);
    freeze_cgroup(directory, false);
}

bool remove_cgroup(const std::string& directory) {
    bool removed = true;
    for (const std::string& each : tree_of(directory)) {
        removed = rmdir(each.c_str()) == 0 || errno != EBUSY;
    }
    return removed;
}

}  // namespace sluice
