#include "stepd/oci_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

using Document = nlohmann::ordered_json;

Error bad_container(std::string_view what) {
    return Error{ErrorCode::LaunchFailed, fmt::format("container: {}", what)};
}

Result<Document> parse_object(std::string_view text, std::string_view name) {
    Document document = Document::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object())
        return bad_container(fmt::format("{} is no JSON object", name));
    return document;
}

// A member that must be an object, made if it is missing.
Document& object_in(Document& parent, const char* name) {
    Document& member = parent[name];
    if (!member.is_object()) member = Document::object();
    return member;
}

Document& array_in(Document& parent, const char* name) {
    Document& member = parent[name];
    if (!member.is_array()) member = Document::array();
    return member;
}

std::string text_in(const Document& parent, const char* name) {
    const auto member = parent.find(name);
    return member != parent.end() && member->is_string() ? member->get<std::string>() : "";
}

// JSON has no bytes: what is no UTF-8 is replaced.
std::string dump(const Document& document) {
    return document.dump(1, ' ', false, Document::error_handler_t::replace);
}

Document mapping(std::uint32_t host) {
    return Document::array({{{"containerID", 0}, {"hostID", host}, {"size", 1}}});
}

bool has_namespace(const Document& namespaces, std::string_view type) {
    return std::any_of(namespaces.begin(), namespaces.end(), [&](const Document& each) {
        return each.is_object() && text_in(each, "type") == type;
    });
}

void remove_namespace(Document& namespaces, std::string_view type) {
    Document kept = Document::array();
    for (Document& each : namespaces) {
        if (!each.is_object() || text_in(each, "type") != type) kept.push_back(std::move(each));
    }
    namespaces = std::move(kept);
}

// Without a user namespace a runtime that does not run as root can do nothing. In it the user is
// root, which is all that can be had without further ids.
void add_user_namespace(Document& os, const OciTaskDemand& demand) {
    if (demand.uid == 0) return;
    Document& namespaces = array_in(os, "namespaces");
    if (!has_namespace(namespaces, "user")) namespaces.push_back({{"type", "user"}});
    if (!os.contains("uidMappings")) os["uidMappings"] = mapping(demand.uid);
    if (!os.contains("gidMappings")) os["gidMappings"] = mapping(demand.gid);
}

// The job's cgroup has the limits; a runtime must not make others beside it.
void leave_cgroups(Document& os) {
    os.erase("cgroupsPath");
    os.erase("resources");
    remove_namespace(array_in(os, "namespaces"), "cgroup");
}

void add_mounts(Document& mounts, const std::vector<ContainerMount>& added) {
    for (const ContainerMount& each : added) {
        Document options = Document::array();
        const bool has_kind =
            std::any_of(each.flags.begin(), each.flags.end(),
                        [](const std::string& flag) { return flag == "bind" || flag == "rbind"; });
        if (!has_kind) options.push_back("rbind");
        for (const std::string& flag : each.flags) options.push_back(flag);
        mounts.push_back({{"destination", each.destination},
                          {"type", "bind"},
                          {"source", each.source},
                          {"options", std::move(options)}});
    }
}

// The new config.json is in another directory.
void make_sources_absolute(Document& mounts, const std::string& bundle) {
    for (Document& mount : mounts) {
        if (!mount.is_object()) continue;
        const Document options = mount.value("options", Document::array());
        const bool is_bind = text_in(mount, "type") == "bind" ||
                             std::find(options.begin(), options.end(), "bind") != options.end() ||
                             std::find(options.begin(), options.end(), "rbind") != options.end();
        const std::string source = text_in(mount, "source");
        if (is_bind && !source.empty()) mount["source"] = absolute_path(source, bundle);
    }
}

std::string_view name_of_entry(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

std::vector<std::string> strings_in(const Document& parent, const char* name) {
    std::vector<std::string> texts;
    const auto member = parent.find(name);
    if (member == parent.end() || !member->is_array()) return texts;
    for (const Document& each : *member) {
        if (each.is_string()) texts.push_back(each.get<std::string>());
    }
    return texts;
}

// `entries`, and those of `others` with names that it lacks.
std::vector<std::string> merged(std::vector<std::string> entries,
                                const std::vector<std::string>& others) {
    std::set<std::string, std::less<>> names;
    for (const std::string& entry : entries) names.emplace(name_of_entry(entry));
    for (const std::string& entry : others) {
        if (names.emplace(name_of_entry(entry)).second) entries.push_back(entry);
    }
    return entries;
}

// The image's variables come first: its PATH leads to its programs. The user names exceptions.
std::vector<std::string> image_environment(const ImageDemand& demand) {
    std::set<std::string_view> kept;
    for (std::string_view name : split(demand.setup.environment, ',')) kept.insert(trim(name));
    std::vector<std::string> first, rest;
    for (const std::string& entry : demand.task.environment)
        (kept.contains(name_of_entry(entry)) ? first : rest).push_back(entry);
    return merged(merged(std::move(first), demand.words.environment), rest);
}

std::string as_blob(const std::string& digest) {
    const std::size_t colon = digest.find(':');
    if (colon == std::string::npos || digest.find('/') != std::string::npos) return "";
    return fmt::format("blobs/{}/{}", digest.substr(0, colon), digest.substr(colon + 1));
}

}  // namespace

Result<std::string> oci_root(std::string_view config, const std::string& bundle) {
    Document document = TRY(parse_object(config, "config.json"));
    const std::string path = text_in(object_in(document, "root"), "path");
    if (path.empty()) return bad_container("config.json has no root.path");
    return absolute_path(path, bundle);
}

Result<std::string> oci_config_of_bundle(std::string_view config, const std::string& bundle,
                                         const OciTaskDemand& demand) {
    Document document = TRY(parse_object(config, "config.json"));
    object_in(document, "root")["path"] = TRY(oci_root(config, bundle));
    Document& process = object_in(document, "process");
    process["args"] = demand.argv;
    process["env"] = merged(demand.environment, strings_in(process, "env"));
    process["terminal"] = demand.terminal;
    if (text_in(process, "cwd").empty()) process["cwd"] = "/";
    Document& mounts = array_in(document, "mounts");
    make_sources_absolute(mounts, bundle);
    add_mounts(mounts, demand.mounts);
    Document& os = object_in(document, "linux");
    leave_cgroups(os);
    add_user_namespace(os, demand);
    for (const std::string& kind : demand.hooks_disabled) {
        if (document.contains("hooks")) object_in(document, "hooks").erase(kind);
    }
    return dump(document);
}

Result<ImageWords> parse_image_words(std::string_view image_config) {
    Document document = TRY(parse_object(image_config, "the configuration of the image"));
    const Document& config = object_in(document, "config");
    ImageWords words;
    words.environment = strings_in(config, "Env");
    words.entrypoint = strings_in(config, "Entrypoint");
    words.workdir = text_in(config, "WorkingDir");
    return words;
}

std::string oci_config_of_image(const ImageDemand& demand) {
    std::vector<std::string> argv;
    if (demand.setup.entrypoint) argv = demand.words.entrypoint;
    argv.insert(argv.end(), demand.task.argv.begin(), demand.task.argv.end());
    const std::string& workdir =
        !demand.setup.workdir.empty() ? demand.setup.workdir : demand.words.workdir;
    Document mounts = Document::array();
    add_mounts(mounts, {{"/proc", "/proc", {}}, {"/sys", "/sys", {}}, {"/dev", "/dev", {}}});
    add_mounts(mounts, demand.task.mounts);
    Document os = {{"namespaces", Document::array({{{"type", "mount"}}})}};
    add_user_namespace(os, demand.task);
    const Document document = {
        {"ociVersion", "1.0.2"},
        {"process",
         {{"terminal", demand.task.terminal},
          {"user", {{"uid", 0}, {"gid", 0}}},
          {"args", argv},
          {"env", image_environment(demand)},
          {"cwd", workdir.empty() ? "/" : workdir},
          {"noNewPrivileges", true}}},
        {"root", {{"path", demand.root}, {"readonly", !demand.setup.writable}}},
        {"mounts", mounts},
        {"linux", os}};
    return dump(document);
}

std::optional<pid_t> oci_state_pid(std::string_view state) {
    const Document document = Document::parse(state, nullptr, false);
    if (document.is_discarded() || !document.is_object()) return {};
    const auto pid = document.find("pid");
    if (pid == document.end() || !pid->is_number_integer() || pid->get<pid_t>() <= 1) return {};
    return pid->get<pid_t>();
}

Result<std::string> manifest_path(std::string_view index, std::string_view tag) {
    const Document document = TRY(parse_object(index, "index.json"));
    const Document manifests = document.value("manifests", Document::array());
    for (const Document& each : manifests) {
        if (!each.is_object()) continue;
        const Document notes = each.value("annotations", Document::object());
        if (text_in(notes, "org.opencontainers.image.ref.name") != tag) continue;
        const std::string path = as_blob(text_in(each, "digest"));
        if (!path.empty()) return path;
    }
    return bad_container(fmt::format("the image has no tag '{}'", tag));
}

Result<std::string> image_config_path(std::string_view manifest) {
    Document document = TRY(parse_object(manifest, "the manifest"));
    const std::string path = as_blob(text_in(object_in(document, "config"), "digest"));
    if (path.empty()) return bad_container("the manifest of the image names no configuration");
    return path;
}

}  // namespace sluice
