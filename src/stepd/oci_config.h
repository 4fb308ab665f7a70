// stepd/oci_config.h
//
// config.json of a container (OCI runtime specification): that of the user's bundle with the task
// in it, or one that is made for an image. Pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/container_setup.h"

namespace sluice {

// What a task brings to its container.
struct OciTaskDemand {
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // "NAME=value"
    bool terminal = false;
    uid_t uid = 0;  // others than root need a user namespace
    gid_t gid = 0;
    std::vector<ContainerMount> mounts;
    std::vector<std::string> hooks_disabled;
};

// The file system of a bundle: an absolute path.
Result<std::string> oci_root(std::string_view config, const std::string& bundle);

// The config.json of the bundle at that path, for one task. Cgroups are left out: the container
// stays in the step's, with its limits and devices.
Result<std::string> oci_config_of_bundle(std::string_view config, const std::string& bundle,
                                         const OciTaskDemand& demand);

// What an image says of the programs in it.
struct ImageWords {
    std::vector<std::string> environment;
    std::vector<std::string> entrypoint;
    std::string workdir;
};
Result<ImageWords> parse_image_words(std::string_view image_config);

struct ImageDemand {
    OciTaskDemand task;
    ContainerSetup setup;
    ImageWords words;
    std::string root;
};
std::string oci_config_of_image(const ImageDemand& demand);

// The member of a JSON document in which a runtime reports the state of a container.
std::optional<pid_t> oci_state_pid(std::string_view state);

// Digests in an OCI layout: of the manifest with that tag (in index.json), of the configuration (in
// a manifest). "blobs/sha256/..."
Result<std::string> manifest_path(std::string_view index, std::string_view tag);
Result<std::string> image_config_path(std::string_view manifest);

}  // namespace sluice
