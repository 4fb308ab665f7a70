#include "model/container_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kMountFlags[] = {"ro",       "rw",    "bind",   "rbind",
                                            "nosuid",   "nodev", "noexec", "private",
                                            "rprivate", "slave", "rslave"};

struct TextLine {
    std::string_view key;
    std::string ContainerSetup::*member;
};
constexpr TextLine kTexts[] = {
    {"image", &ContainerSetup::image},     {"name", &ContainerSetup::name},
    {"mounts", &ContainerSetup::mounts},   {"workdir", &ContainerSetup::workdir},
    {"env", &ContainerSetup::environment},
};
struct FlagLine {
    std::string_view key;
    bool ContainerSetup::*member;
};
constexpr FlagLine kFlagLines[] = {
    {"mount-home", &ContainerSetup::mount_home},
    {"writable", &ContainerSetup::writable},
    {"entrypoint", &ContainerSetup::entrypoint},
};

Error bad_setup(std::string_view option, std::string_view value, std::string_view why) {
    return Error{ErrorCode::BadArgument, fmt::format("--{}={}: {}", option, value, why)};
}

// No way out of the tree by its spelling.
bool is_plain_path(std::string_view path) {
    if (!path.starts_with('/')) return false;
    const std::vector<std::string_view> parts = split(path, '/');
    return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

Result<ContainerMount> parse_mount(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ':');
    if (parts.empty() || parts.size() > 3)
        return bad_setup("container-mounts", text, "expected SRC:DST or SRC:DST:FLAGS");
    ContainerMount mount{
        std::string(parts[0]), std::string(parts.size() > 1 ? parts[1] : parts[0]), {}};
    if (!is_plain_path(mount.source))
        return bad_setup("container-mounts", text,
                         "the source must be an absolute path without ..");
    if (!is_plain_path(mount.destination) ||
        mount.destination.find_first_not_of('/') == std::string::npos)
        return bad_setup("container-mounts", text,
                         "the destination must be an absolute path without .., below /");
    for (std::string_view flag :
         parts.size() > 2 ? split(parts[2], '+') : std::vector<std::string_view>{}) {
        if (std::find(std::begin(kMountFlags), std::end(kMountFlags), flag) ==
            std::end(kMountFlags))
            return bad_setup("container-mounts", text, fmt::format("unknown flag '{}'", flag));
        mount.flags.emplace_back(flag);
    }
    return mount;
}

bool is_line(std::string_view text) {
    return text.find('\n') == std::string_view::npos;
}

Result<void> check_setup(const ContainerSetup& setup) {
    for (const TextLine& line : kTexts) {
        if (!is_line(setup.*line.member))
            return bad_setup(fmt::format("container-{}", line.key), setup.*line.member,
                             "expected one line");
    }
    if (!setup.name.empty() && !is_container_name(setup.name))
        return bad_setup("container-name", setup.name,
                         "expected letters, digits, '.', '_' and '-'");
    if (!setup.workdir.empty() && !is_plain_path(setup.workdir))
        return bad_setup("container-workdir", setup.workdir,
                         "expected an absolute path without ..");
    if (!setup.image.empty()) TRY(image_source(setup.image));
    if (!setup.mounts.empty()) TRY(parse_container_mounts(setup.mounts));
    return {};
}

}  // namespace

std::string print_container_setup(const ContainerSetup& setup) {
    std::string text;
    for (const TextLine& line : kTexts) {
        if (!(setup.*line.member).empty())
            text += fmt::format("{}={}\n", line.key, setup.*line.member);
    }
    for (const FlagLine& line : kFlagLines) {
        if (setup.*line.member) text += fmt::format("{}\n", line.key);
    }
    return text;
}

Result<ContainerSetup> parse_container_setup(std::string_view text) {
    ContainerSetup setup;
    for (std::string_view line : split(text, '\n')) {
        if (line.empty()) continue;
        const std::size_t equals = std::min(line.find('='), line.size());
        const std::string_view key = line.substr(0, equals);
        bool is_known = false;
        for (const TextLine& each : kTexts) {
            if (each.key != key || equals == line.size()) continue;
            setup.*each.member = line.substr(equals + 1);
            is_known = true;
        }
        for (const FlagLine& each : kFlagLines) {
            if (each.key != line) continue;
            setup.*each.member = true;
            is_known = true;
        }
        if (!is_known) return bad_setup("container-image", line, "unknown setting of a container");
    }
    TRY(check_setup(setup));
    if (setup.image.empty() && setup.name.empty())
        return bad_setup("container-name", "", "needs a name, or --container-image");
    return setup;
}

Result<std::vector<ContainerMount>> parse_container_mounts(std::string_view text) {
    std::vector<ContainerMount> mounts;
    for (std::string_view each : split(text, ',')) mounts.push_back(TRY(parse_mount(each)));
    return mounts;
}

bool is_container_name(std::string_view name) {
    constexpr std::size_t kLengthMax = 128;
    if (name.empty() || name.size() > kLengthMax || name.starts_with('.')) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    });
}

Result<std::string> image_source(std::string_view image) {
    constexpr std::string_view kTransports[] = {"docker://",
                                                "docker-archive:", "oci:", "oci-archive:"};
    if (image.empty() || image.starts_with('-'))
        return bad_setup("container-image", image, "expected the name of an image");
    for (std::string_view each : kTransports) {
        if (!image.starts_with(each)) continue;
        const std::string_view rest = image.substr(each.size());
        if (each != "docker://" && !rest.starts_with('/'))
            return bad_setup("container-image", image, "the path must be absolute");
        return std::string(image);
    }
    if (image.ends_with(".sqsh") || image.ends_with(".squashfs"))
        return bad_setup("container-image", image, "squashfs images of enroot are not supported");
    if (image.starts_with("./") || image.starts_with("../"))
        return bad_setup("container-image", image, "the path must be absolute");
    if (image.starts_with('/')) {
        return fmt::format("{}:{}", image.ends_with(".tar") ? "docker-archive" : "oci", image);
    }
    std::string name(image);
    // enroot's way to separate the registry from the name of the image.
    if (const std::size_t hash = name.find('#'); hash != std::string::npos) name[hash] = '/';
    return "docker://" + name;
}

}  // namespace sluice
