// The processes of a job: what is left of it, and what they would do with a signal.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

namespace {

// The kernel's own list of children; nothing where it is not compiled in.
std::optional<std::vector<pid_t>> children_listed(pid_t parent) {
    std::vector<pid_t> children;
    std::string tasks = fmt::format("/proc/{}/task", parent);
    for (const std::string& thread : list_directory(tasks)) {
        Result<std::string> text = read_file(fmt::format("{}/{}/children", tasks, thread));
        if (!text) continue;
        for (std::string_view word : words(*text)) {
            if (auto pid = to_number(word)) children.push_back(static_cast<pid_t>(*pid));
        }
    }
    if (children.empty() && access("/proc/self/task/self/children", F_OK) != 0 &&
        access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), F_OK) != 0) {
        return {};
    }
    return children;
}

std::vector<std::pair<pid_t, pid_t>> parents_of_all() {  // pid, parent
    std::vector<std::pair<pid_t, pid_t>> result;
    for (const std::string& name : list_directory("/proc")) {
        std::optional<std::uint64_t> pid = to_number(name);
        if (!pid) continue;
        Result<std::string> stat = read_file(fmt::format("/proc/{}/stat", name));
        if (!stat) continue;
        std::size_t after = stat->rfind(')');  // the program's name may hold anything
        if (after == std::string::npos) continue;
        std::vector<std::string_view> fields = words(std::string_view(*stat).substr(after + 1));
        if (fields.size() < 2) continue;
        result.emplace_back(static_cast<pid_t>(*pid),
                            static_cast<pid_t>(to_number(fields[1]).value_or(0)));
    }
    return result;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
    std::vector<pid_t> found = {root};
    std::optional<std::vector<std::pair<pid_t, pid_t>>> all;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!all) {
            if (auto children = children_listed(found[i])) {
                found.insert(found.end(), children->begin(), children->end());
                continue;
            }
            all = parents_of_all();
        }
        for (auto [pid, parent] : *all) {
            if (parent == found[i]) found.push_back(pid);
        }
    }
    found.erase(found.begin());
    return found;
}

bool handles(pid_t pid, int signal) {
    constexpr std::string_view kCaught = "\nSigCgt:\t";
    const Result<std::string> status = read_file(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find(kCaught) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::uint64_t caught = std::strtoull(status->c_str() + at + kCaught.size(), nullptr, 16);
    return caught >> (signal - 1) & 1;
}

}  // namespace sluice
