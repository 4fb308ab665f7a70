#include "stepd/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "base/text.h"
#include "model/errors.h"
#include "os/empty_directory.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"
#include "stepd/run_to_end.h"

namespace sluice {

namespace {

constexpr const char* kToolPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
constexpr const char* kCopyTag = "image";  // of the copy
constexpr int kSymlinksMost = 40;

Error image_refused(std::string what) {
    return Error{ErrorCode::LaunchFailed, std::move(what)};
}

bool is_present(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}

// "oci:/data/x:v2": the directory and the tag.
struct LayoutName {
    std::string directory, tag;
};

LayoutName layout_of(std::string_view source) {
    constexpr std::string_view kTransport = "oci:";
    const std::string_view path = source.substr(kTransport.size());
    const std::size_t colon = path.rfind(':');
    if (colon == path.npos) return {std::string(path), "latest"};
    return {std::string(path.substr(0, colon)), std::string(path.substr(colon + 1))};
}

// The configuration of an image: what its programs expect.
Result<std::string> config_in(const LayoutName& layout) {
    auto read = [&](const std::string& name) {
        return as(ErrorCode::LaunchFailed, read_file(fmt::format("{}/{}", layout.directory, name)));
    };
    const std::string index = TRY(read("index.json"));
    const std::string manifest = TRY(read(TRY(manifest_path(index, layout.tag))));
    return read(TRY(image_config_path(manifest)));
}

void remove_directory(const std::string& path) {
    const Fd opened(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (opened) (void)empty_directory(opened.get());
    (void)rmdir(path.c_str());
}

// Held until it is destroyed, or the process ends.
Result<Fd> lock_file(const std::string& path) {
    Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || flock(file.get(), LOCK_EX) != 0) return os_error(path);
    return file;
}

// Where `path` of a container is on the node: symbolic links are followed inside the tree, as the
// runtime does. An error: one of them leads out of it.
Result<std::string> place_in_root(const std::string& root, const std::string& path) {
    std::vector<std::string> done;
    std::vector<std::string> left;
    auto push = [&](std::string_view text) {
        const std::vector<std::string_view> parts = split(text, '/');
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) left.emplace_back(*part);
    };
    push(path);
    for (int links = 0; !left.empty();) {
        const std::string part = std::move(left.back());
        left.pop_back();
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            if (done.empty())
                return image_refused(fmt::format("{} leads out of the container {}", path, root));
            done.pop_back();
            continue;
        }
        done.push_back(part);
        char target[PATH_MAX];
        const std::string here = fmt::format("{}/{}", root, fmt::join(done, "/"));
        const ssize_t length = readlink(here.c_str(), target, sizeof target);
        if (length < 0) continue;
        if (++links > kSymlinksMost)
            return image_refused(fmt::format("{}: too many symbolic links", path));
        const std::string_view link(target, static_cast<std::size_t>(length));
        if (link.starts_with('/')) {
            done.clear();
        } else {
            done.pop_back();
        }
        push(link);
    }
    return fmt::format("{}/{}", root, fmt::join(done, "/"));
}

// The runtime makes a mount point that is missing, with the user's rights.
Result<void> check_mount_point(const std::string& root, const std::string& destination) {
    std::string place = TRY(place_in_root(root, destination));
    if (is_present(place)) return {};
    while (place.size() > root.size() && !is_present(place)) place = directory_of(place);
    if (access(place.c_str(), W_OK | X_OK) == 0) return {};
    return image_refused(fmt::format("the container {} has no {}, and it cannot be made: {}", root,
                                     destination, os_error(place).detail));
}

}  // namespace

std::vector<ContainerMount> common_mounts(const std::string& scratch) {
    std::vector<ContainerMount> mounts{{"/tmp", "/tmp", {}}};
    const bool is_seen = scratch.empty() || scratch.starts_with("/tmp/");
    if (!is_seen) mounts.push_back({scratch, scratch, {}});
    for (const char* file : {"/etc/resolv.conf", "/etc/hosts"}) {
        if (is_present(file)) mounts.push_back({file, file, {"bind", "ro"}});
    }
    return mounts;
}

Result<void> check_mounts(const std::string& root, const std::vector<ContainerMount>& mounts) {
    struct stat status {};
    if (stat(root.c_str(), &status) != 0) return image_refused(os_error(root).detail);
    for (const ContainerMount& each : mounts) {
        if (stat(each.source.c_str(), &status) != 0)
            return image_refused(os_error(each.source).detail);
        const int wanted = S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK;
        if (access(each.source.c_str(), wanted) != 0)
            return image_refused(fmt::format("mount of {}", os_error(each.source).detail));
        TRY(check_mount_point(root, each.destination));
    }
    return {};
}

ImageStore::ImageStore(const std::string& scratch, std::string node, uid_t user)
    : base_(scratch + "/.containers"), node_(std::move(node)), user_(user) {}

Result<UnpackedImage> ImageStore::take(const std::string& name, const std::string& image,
                                       std::uint32_t task,
                                       const std::vector<std::string>& environment) {
    TRY(as(ErrorCode::LaunchFailed, make_directories(base_, S_IRWXU)));
    const std::string place = fmt::format("{}/{}", base_, name);
    const Fd held = TRY(as(ErrorCode::LaunchFailed, lock_file(place + ".lock")));
    const std::string ready = place + "/ready";
    if (!is_present(ready)) {
        if (image.empty()) {
            return image_refused(fmt::format(
                "--container-name={}: the job has no such container on node {}; --container-image "
                "makes one",
                name, node_));
        }
        remove_directory(place);
        TRY(as(ErrorCode::LaunchFailed, make_directories(place, S_IRWXU)));
        if (Result<void> unpacked = unpack(place, image, environment); !unpacked) {
            remove_directory(place);
            return unpacked.error();
        }
        TRY(as(ErrorCode::LaunchFailed, write_file_atomically(ready, "")));
    }
    TRY(as(ErrorCode::LaunchFailed,
           write_file_atomically(fmt::format("{}/user.{}", place, task), "")));
    UnpackedImage result;
    result.root = place + "/bundle/rootfs";
    result.words =
        TRY(parse_image_words(TRY(as(ErrorCode::LaunchFailed, read_file(place + "/words.json")))));
    return result;
}

void ImageStore::give_back(const std::string& name, std::uint32_t task, bool remove) {
    const std::string place = fmt::format("{}/{}", base_, name);
    const Result<Fd> held = lock_file(place + ".lock");
    if (!held) return;
    (void)unlink(fmt::format("{}/user.{}", place, task).c_str());
    if (!remove) return;
    for (const std::string& each : list_directory(place)) {
        if (each.starts_with("user.")) return;
    }
    remove_directory(place);
}

Result<void> ImageStore::run_tool(const std::string& tool, std::vector<std::string> arguments,
                                  const std::string& image,
                                  const std::vector<std::string>& environment) const {
    const std::string program = find_program(tool, kToolPath, "/");
    if (!program.starts_with('/')) {
        return image_refused(fmt::format(
            "--container-image={} needs {} on node {}, which is not installed: install the package "
            "{}",
            image, tool, node_, tool));
    }
    arguments.insert(arguments.begin(), tool);
    const ProgramOutcome outcome = run_to_end(program, arguments, environment);
    if (outcome.exit_code == 0) return {};
    return image_refused(
        fmt::format("--container-image={}: {}: {}", image, tool, trim(outcome.output)));
}

// The configuration of the image is kept, its layers are not.
Result<void> ImageStore::unpack(const std::string& place, const std::string& image,
                                const std::vector<std::string>& environment) const {
    const std::string source = TRY(image_source(image));
    LayoutName layout{place + "/layout", kCopyTag};
    if (source.starts_with("oci:")) {
        layout = layout_of(source);
    } else {
        TRY(run_tool("skopeo",
                     {"--insecure-policy", "copy", "--quiet", source,
                      fmt::format("oci:{}:{}", layout.directory, layout.tag)},
                     image, environment));
    }
    const std::string words = TRY(config_in(layout));
    std::vector<std::string> arguments{
        "unpack", "--image", fmt::format("{}:{}", layout.directory, layout.tag), place + "/bundle"};
    if (user_ != 0) arguments.insert(arguments.begin() + 1, "--rootless");
    TRY(run_tool("umoci", std::move(arguments), image, environment));
    TRY(as(ErrorCode::LaunchFailed, write_file_atomically(place + "/words.json", words)));
    remove_directory(place + "/layout");
    return {};
}

}  // namespace sluice
