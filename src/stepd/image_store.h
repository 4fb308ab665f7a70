// stepd/image_store.h
//
// Images of containers, unpacked on the disk of the node in the scratch directory of the job, which
// is removed with the job. All is done by processes with the user's rights. The tasks of a step
// share an image, and all steps of a job an image with a name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/container_setup.h"
#include "stepd/oci_config.h"

namespace sluice {

struct UnpackedImage {
    std::string root;
    ImageWords words;
};

class ImageStore {
public:
    ImageStore(const std::string& scratch, std::string node, uid_t user);

    // Unpacks `image` unless a container of that name is there. An empty image: it must be there.
    Result<UnpackedImage> take(const std::string& name, const std::string& image,
                               std::uint32_t task, const std::vector<std::string>& environment);
    // The task does not use it any more. With `remove` the last one removes it.
    void give_back(const std::string& name, std::uint32_t task, bool remove);

private:
    Result<void> unpack(const std::string& place, const std::string& image,
                        const std::vector<std::string>& environment) const;
    Result<void> run_tool(const std::string& tool, std::vector<std::string> arguments,
                          const std::string& image,
                          const std::vector<std::string>& environment) const;

    std::string base_;
    std::string node_;
    uid_t user_;
};

// What every container of an image sees of the node, besides /proc, /sys and /dev.
std::vector<ContainerMount> common_mounts(const std::string& scratch);

// Sources must be readable for this process; destinations must be in the tree `root`, or can be
// made there.
Result<void> check_mounts(const std::string& root, const std::vector<ContainerMount>& mounts);

}  // namespace sluice
