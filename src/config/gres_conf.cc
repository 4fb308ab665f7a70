// gres.conf: which devices a node has, and which cores are close to them.
#include <algorithm>

#include "config/config.h"
#include "config/key_help.h"
#include "config/lines.h"
#include "config/values.h"
#include "model/devices.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using enum Kind;

struct GresSpec {
    std::string nodes, name, type, files, multiple_files, cores, links, flags, auto_detect;
    std::optional<std::uint64_t> count;
};
using G = GresSpec;
constexpr std::uint64_t kLinksMost = 1024;  // between two devices

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
    if (devices.files.size() > kDevicesMost) {
        return error_at(line, "File={}: more than {} devices", spec.files, kDevicesMost);
    }
    for (const std::string& file : devices.files) {
        if (!file.starts_with('/')) {
            return error_at(line, "File={}: expected a path such as /dev/nvidia[0-3]", file);
        }
    }
    devices.count = spec.count.value_or(devices.files.empty() ? 1 : devices.files.size());
    // Parts of GPUs: the files name the GPUs.
    if (is_part_of_gpu(spec.name)) return {};
    if (spec.name == "gpu" && devices.count > kDevicesMost)
        return error_at(line, "Count={}: more than {} GPUs", devices.count, kDevicesMost);
    if (!devices.files.empty() && devices.count != devices.files.size()) {
        return error_at(line, "Count={} contradicts the {} device files of File={}", devices.count,
                        devices.files.size(), spec.files);
    }
    return {};
}

constexpr std::string_view kGresFlags[] = {
    "countonly",   "explicit",   "one_sharing",   "all_sharing", "nvidia_gpu_env",
    "amd_gpu_env", "opencl_env", "intel_gpu_env", "no_gpu_env",  "env_uuid"};

Result<void> take_flags(const GresSpec& spec, const Line& line, GresDevices& devices) {
    std::vector<std::string> words;
    if (spec.flags.empty()) return {};
    for (std::string_view text : split(spec.flags, ',')) {
        const std::string word = to_lower(trim(text));
        if (std::find(std::begin(kGresFlags), std::end(kGresFlags), word) == std::end(kGresFlags))
            return error_at(line, "Flags={}: '{}' is unknown", spec.flags, trim(text));
        words.push_back(word);
    }
    devices.flags = join(words, ",");
    auto exclude = [&](std::string_view one, std::string_view other) {
        return has_gres_flag(devices, one) && has_gres_flag(devices, other);
    };
    for (std::string_view other :
         {"nvidia_gpu_env", "amd_gpu_env", "opencl_env", "intel_gpu_env"}) {
        if (exclude("no_gpu_env", other))
            return error_at(line, "Flags={}: no_gpu_env and {} exclude each other", spec.flags,
                            other);
    }
    if (exclude("one_sharing", "all_sharing"))
        return error_at(line, "Flags={}: one_sharing and all_sharing exclude each other",
                        spec.flags);
    return {};
}

// "-1,4,4": of one device, with each device of the node.
Result<void> check_links(const GresSpec& spec, const Line& line, const GresDevices& devices) {
    if (spec.links.empty()) return {};
    for (std::string_view word : split(spec.links, ',')) {
        const std::string_view number = trim(word);
        const auto links = to_number(number);
        if (number != "-1" && (!links || *links > kLinksMost))
            return error_at(line, "Links={}: expected numbers such as -1,4,0,4", spec.links);
    }
    if (devices.count != 1)
        return error_at(line, "Links={}: expected one device in the line, not {}", spec.links,
                        devices.count);
    return {};
}

bool has_variable_flag(const GresDevices& devices) {
    return devices.flags.find("_env") != std::string::npos;
}

// Compat: a line about the same nodes, name and type as the one above it inherits the flags that
// are about variables.
void inherit_flags(const std::vector<GresLine>& lines, GresLine& line) {
    if (lines.empty() || line.devices.name.empty() || has_variable_flag(line.devices)) return;
    const GresLine& above = lines.back();
    if (above.nodes != line.nodes || above.devices.name != line.devices.name ||
        above.devices.type != line.devices.type)
        return;
    for (std::string_view word : split(above.devices.flags, ',')) {
        if (word.find("_env") == std::string_view::npos && word != "env_uuid") continue;
        if (!line.devices.flags.empty()) line.devices.flags += ',';
        line.devices.flags += word;
    }
}

std::string take_auto_detect(const GresSpec& spec) {
    if (spec.auto_detect == "none") return std::string("off");
    return spec.auto_detect;
}

Result<GresLine> take_gres_line(const Line& line, std::vector<std::string>& warnings) {
    GresSpec spec;
    for (const Setting& setting : line.settings) {
        TRY(apply<GresSpec>(spec, kGresKeys, line, setting, warnings));
    }
    GresLine result;
    result.auto_detect = take_auto_detect(spec);
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
    result.devices = {
        .name = spec.name, .type = spec.type, .cores = spec.cores, .links = spec.links};
    TRY(take_files(spec, line, result.devices));
    TRY(take_flags(spec, line, result.devices));
    TRY(check_links(spec, line, result.devices));
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
        GresLine taken = TRY(take_gres_line(line, warnings));
        inherit_flags(lines, taken);
        lines.push_back(std::move(taken));
        return {};
    }));
    return lines;
}

}  // namespace sluice
