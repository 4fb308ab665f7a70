// Questions that a loaded Config answers, and where its file is found.
#include "config/config.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "config/draft.h"
#include "config/values.h"

namespace sluice {

const NodeConfig* Config::find_node(std::string_view name) const {
    if (nodes_by_name.size() == nodes.size()) {
        std::optional<std::uint32_t> index = find_node_index(*this, name);
        return index ? &nodes[*index] : nullptr;
    }
    auto found = std::find_if(nodes.begin(), nodes.end(),
                              [&](const NodeConfig& node) { return node.name == name; });
    return found == nodes.end() ? nullptr : &*found;
}

const PartitionConfig* Config::find_partition(std::string_view name) const {
    auto found = std::find_if(partitions.begin(), partitions.end(),
                              [&](const PartitionConfig& p) { return p.name == name; });
    return found == partitions.end() ? nullptr : &*found;
}

bool Config::has_flag(std::string_view list, std::string_view word) const {
    return list_option(list, word).has_value();
}

namespace {

bool names_node(const GresLine& line, std::string_view node) {
    return std::find(line.nodes.begin(), line.nodes.end(), node) != line.nodes.end();
}

}  // namespace

std::vector<GresDevices> Config::gres_of(std::string_view node) const {
    std::vector<GresDevices> devices;
    for (const GresLine& line : gres) {
        bool applies = line.nodes.empty() || names_node(line, node);
        if (applies && !line.devices.name.empty()) devices.push_back(line.devices);
    }
    return devices;
}

std::string Config::auto_detect_of(std::string_view node) const {
    std::string for_all = "off", for_node;
    for (const GresLine& line : gres) {
        if (line.auto_detect.empty()) continue;
        if (line.nodes.empty()) for_all = line.auto_detect;
        if (names_node(line, node)) for_node = line.auto_detect;
    }
    return for_node.empty() ? for_all : for_node;
}

std::optional<std::string_view> list_option(std::string_view list, std::string_view name) {
    for (std::string_view entry : split(list, ',')) {
        entry = trim(entry);
        std::size_t equals = entry.find('=');
        if (!equals_ignoring_case(entry.substr(0, equals), name) || entry.empty()) continue;
        return equals == std::string_view::npos ? std::string_view{} : entry.substr(equals + 1);
    }
    return {};
}

std::string config_path(std::string_view given, std::string_view slurm_conf,
                        std::string_view program_path) {
    if (!given.empty()) return std::string(given);
    if (!slurm_conf.empty()) return std::string(slurm_conf);
    const std::filesystem::path folder = std::filesystem::path(program_path).parent_path();
    if (folder.filename() == "bin" || folder.filename() == "sbin") {
        const std::filesystem::path beside = folder.parent_path() / "etc" / "slurm.conf";
        std::error_code ignored;
        if (std::filesystem::exists(beside, ignored)) return beside.string();
    }
    return "/etc/slurm/slurm.conf";
}

std::string expand_node_path(std::string_view pattern, std::string_view node,
                             std::string_view hostname) {
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (pattern[i] != '%' || (next != 'n' && next != 'h' && next != '%')) {
            path += pattern[i];
            continue;
        }
        ++i;
        if (next == 'n') path += node;
        if (next == 'h') path += hostname;
        if (next == '%') path += '%';
    }
    return path;
}

Result<std::vector<std::pair<std::string, std::uint32_t>>> parse_license_totals(
    std::string_view text) {
    std::vector<std::pair<std::string, std::uint32_t>> licenses;
    for (std::string_view entry : split(text, ',')) {
        entry = trim(entry);
        if (entry.empty()) continue;
        const std::size_t colon = entry.find(':');
        const std::string name(entry.substr(0, colon));
        std::optional<std::uint64_t> count = 1;
        if (colon != entry.npos) count = to_number(entry.substr(colon + 1));
        bool known = std::any_of(licenses.begin(), licenses.end(),
                                 [&](const auto& other) { return other.first == name; });
        if (name.empty() || !count || *count > 0xfffffffe || known) {
            return Error{
                ErrorCode::ConfigInvalid,
                fmt::format("Licenses={}: expected names and counts such as matlab:10", entry)};
        }
        licenses.emplace_back(name, static_cast<std::uint32_t>(*count));
    }
    return licenses;
}

Result<std::vector<std::uint8_t>> parse_exit_codes(std::string_view text) {
    constexpr std::uint32_t kCodeMax = 255;
    if (text.empty()) return std::vector<std::uint8_t>{};
    auto numbers = parse_numbers(text, kCodeMax + 1);
    if (!numbers || *std::max_element(numbers->begin(), numbers->end()) > kCodeMax) {
        return Error{ErrorCode::ConfigInvalid, "expected exit codes from 0 to 255 such as 1-9,18"};
    }
    return std::vector<std::uint8_t>(numbers->begin(), numbers->end());
}

}  // namespace sluice
