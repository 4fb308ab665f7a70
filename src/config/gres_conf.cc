// gres.conf: which devices a node has, and which cores are close to them.
#include "config/config.h"
#include "config/key_help.h"
#include "config/lines.h"
#include "config/values.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using enum Kind;

struct GresSpec {
    std::string nodes, name, type, files, multiple_files, cores, links, flags, auto_detect;
    std::optional<std::uint64_t> count;
};
using G = GresSpec;

constexpr std::uint64_t kDeviceFilesMax = 1024;  // per line, as in Slurm

// clang-format off
constexpr Key<GresSpec> kGresKeys[] = {
    {"NodeName",      Hosts, "", set<&G::nodes>},
    {"Name",          Text,  "", set<&G::name>},
    {"Type",          Text,  "", set<&G::type>},
    {"File",          Hosts, "", set<&G::files>},
    {"MultipleFiles", Hosts, "", set<&G::multiple_files>},
    {"Count",         Count, "", set<&G::count>},
    {"Cores",         Text,  "", set<&G::cores>},
    {"CPUs",          Text,  "", set<&G::cores>},
    {"Links",         Text,  "", set<&G::links>},
    {"Flags",         Text,  "", set<&G::flags>},
    {"AutoDetect",    Word,  "", set<&G::auto_detect>, "off|none|nvml|nvidia|rsmi|oneapi|nrt|full"},
};
// clang-format on

Result<void> take_files(const GresSpec& spec, const Line& line, GresDevices& devices) {
    if (!spec.files.empty() && !spec.multiple_files.empty()) {
        return error_at(line, "File and MultipleFiles exclude each other");
    }
    if (!spec.multiple_files.empty()) {
        devices.files = {join(TRY(Hostlist::parse(spec.multiple_files)).names(), ",")};
    } else if (!spec.files.empty()) {
        devices.files = TRY(Hostlist::parse(spec.files)).names();
    }
    if (devices.files.size() > kDeviceFilesMax) {
        return error_at(line, "File={}: more than {} devices", spec.files, kDeviceFilesMax);
    }
    for (const std::string& file : devices.files) {
        if (!file.starts_with('/')) {
            return error_at(line, "File={}: expected a path such as /dev/nvidia[0-3]", file);
        }
    }
    devices.count = spec.count.value_or(devices.files.empty() ? 1 : devices.files.size());
    if (!devices.files.empty() && devices.count != devices.files.size()) {
        return error_at(line, "Count={} contradicts the {} device files of File={}", devices.count,
                        devices.files.size(), spec.files);
    }
    return {};
}

Result<std::string> take_auto_detect(const GresSpec& spec, const Line& line) {
    if (spec.auto_detect == "none") return std::string("off");
    if (spec.auto_detect.empty() || spec.auto_detect == "off" || spec.auto_detect == "nvml") {
        return spec.auto_detect;
    }
    return error_at(line, "AutoDetect={}: not supported by Sluice; nvml is, and off",
                    spec.auto_detect);
}

Result<GresLine> take_gres_line(const Line& line, std::vector<std::string>& warnings) {
    GresSpec spec;
    for (const Setting& setting : line.settings) {
        TRY(apply<GresSpec>(spec, kGresKeys, line, setting, warnings));
    }
    GresLine result;
    result.auto_detect = TRY(take_auto_detect(spec, line));
    if (!spec.nodes.empty()) result.nodes = TRY(Hostlist::parse(spec.nodes)).names();
    if (spec.name.empty()) {
        bool more = !spec.type.empty() || !spec.files.empty() || !spec.multiple_files.empty() ||
                    spec.count || spec.auto_detect.empty();
        if (more) return error_at(line, "Name is missing: which resource is this?");
        return result;
    }
    if (!spec.cores.empty() && !parse_numbers(spec.cores, kHostlistSizeMax)) {
        return error_at(line, "Cores={}: expected core numbers such as 0-7,16-23", spec.cores);
    }
    result.devices = {.name = spec.name,
                      .type = spec.type,
                      .cores = spec.cores,
                      .links = spec.links,
                      .flags = spec.flags};
    TRY(take_files(spec, line, result.devices));
    return result;
}

}  // namespace

std::vector<KeyRow> gres_key_rows() {
    return rows_of<GresSpec>(kGresKeys);
}

Result<std::vector<GresLine>> parse_gres_conf(std::string_view text, const std::string& path,
                                              std::vector<std::string>& warnings) {
    std::vector<GresLine> lines;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        lines.push_back(TRY(take_gres_line(line, warnings)));
        return {};
    }));
    return lines;
}

}  // namespace sluice
