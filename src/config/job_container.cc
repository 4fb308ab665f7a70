// job_container.conf: the private directories of jobs. Read where JobContainerType is
// job_container/tmpfs or NamespaceType is namespace/tmpfs.
#include <algorithm>

#include "config/config.h"
#include "config/key_help.h"
#include "config/lines.h"
#include "config/values.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using enum Kind;
using J = JobContainerLine;

// clang-format off
constexpr Key<JobContainerLine> kContainerKeys[] = {
    {"AutoBasePath",   YesNo, "no",            set<&J::auto_base_path>},
    {"BasePath",       Text,  "",              set<&J::base_path>},
    {"CloneNSEpilog",  Text,  "",              set<&J::clone_ns_epilog>},
    {"CloneNSScript",  Text,  "",              set<&J::clone_ns_script>},
    {"Dirs",           Text,  "/tmp,/dev/shm", set<&J::dirs>},
    {"EntireStepInNS", YesNo, "no",            set<&J::entire_step>},
    {"InitScript",     Text,  "",              set<&J::init_script>},
    {"NodeName",       Hosts, "",              set<&J::nodes>},
    {"Shared",         YesNo, "no",            set<&J::shared>},
};
// clang-format on

Result<void> check_line(const JobContainerLine& container, const Line& line) {
    for (const std::string_view directory : split(container.dirs, ',')) {
        if (!directory.starts_with('/') || directory == "/")
            return error_at(line, "Dirs={}: expected absolute paths", container.dirs);
    }
    if (!container.base_path.empty() && !container.base_path.starts_with('/'))
        return error_at(line, "BasePath={}: expected an absolute path", container.base_path);
    return {};
}

}  // namespace

std::vector<KeyRow> job_container_key_rows() {
    return rows_of<JobContainerLine>(kContainerKeys);
}

// A line that names nodes has the values of the lines without nodes before it.
Result<std::vector<JobContainerLine>> parse_job_container_conf(std::string_view text,
                                                               const std::string& path,
                                                               std::vector<std::string>& warnings) {
    std::vector<JobContainerLine> lines;
    JobContainerLine all;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        JobContainerLine container = all;
        for (const Setting& setting : line.settings) {
            TRY(apply<JobContainerLine>(container, kContainerKeys, line, setting, warnings));
        }
        TRY(check_line(container, line));
        if (container.nodes.empty()) {
            all = container;
            return {};
        }
        container.names = TRY(Hostlist::parse(container.nodes)).names();
        lines.push_back(std::move(container));
        return {};
    }));
    lines.insert(lines.begin(), all);
    return lines;
}

const JobContainerLine* Config::job_container_of(std::string_view node) const {
    const JobContainerLine* found = nullptr;
    for (const JobContainerLine& line : job_containers) {
        const auto& names = line.names;
        if (names.empty() || std::find(names.begin(), names.end(), node) != names.end())
            found = &line;
    }
    return found;
}

}  // namespace sluice
