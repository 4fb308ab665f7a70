#include "os/etc_files.h"

#include <grp.h>

#include <cstdio>
#include <memory>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::size_t kLineMax = 64 * 1024;

bool files_are_asked_first(std::string_view database) {
    Result<std::string> nsswitch = read_file("/etc/nsswitch.conf");
    return nsswitch && files_come_first(*nsswitch, database);
}

// Hands the entries of a file to `take`, one by one, until it says that this was the one.
template <typename Entry, typename Take>
void for_each_entry(const char* path, int (*next)(FILE*, Entry*, char*, std::size_t, Entry**),
                    Take take) {
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"),
                                               [](FILE* f) { return std::fclose(f); });
    if (!file) return;
    const std::unique_ptr<char[]> line(new char[kLineMax]);
    Entry entry{};
    Entry* read = nullptr;
    while (next(file.get(), &entry, line.get(), kLineMax, &read) == 0 && read) {
        if (take(entry)) return;
    }
}

}  // namespace

bool files_come_first(std::string_view nsswitch, std::string_view database) {
    for (std::string_view line : split(nsswitch, '\n')) {
        line = trim(line.substr(0, line.find('#')));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || trim(line.substr(0, colon)) != database) continue;
        const auto services = words(line.substr(colon + 1));
        // "files [SUCCESS=continue]" and its like want to hear the others too.
        return !services.empty() && services[0] == "files" &&
               (services.size() == 1 || !services[1].starts_with('['));
    }
    return false;
}

std::optional<User> find_user_in_files(const std::function<bool(const passwd&)>& is_wanted) {
    std::optional<User> found;
    if (!files_are_asked_first("passwd")) return found;
    for_each_entry<passwd>("/etc/passwd", fgetpwent_r, [&](const passwd& entry) {
        if (is_wanted(entry)) found = user_of(entry);
        return found.has_value();
    });
    return found;
}

std::optional<std::string> find_group_in_files(gid_t gid) {
    std::optional<std::string> found;
    if (!files_are_asked_first("group")) return found;
    for_each_entry<group>("/etc/group", fgetgrent_r, [&](const group& entry) {
        if (entry.gr_gid == gid) found = entry.gr_name;
        return found.has_value();
    });
    return found;
}

}  // namespace sluice
