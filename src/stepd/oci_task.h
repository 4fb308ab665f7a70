// stepd/oci_task.h
//
// A task in a container: --container names an OCI bundle, --container-image an image. The process
// that would become the task writes the config.json and becomes the runtime of oci.conf instead. It
// has the user's rights and is in the cgroup of the step, as all that it starts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/container_setup.h"
#include "order.pb.h"
#include "os/process.h"
#include "os/user.h"
#include "stepd/oci_config.h"
#include "stepd/oci_pattern.h"

namespace sluice {

class OciTask {
public:
    static bool is_wanted(const wire::StepOrder& order);

    // Null: the order asks for no container. Borrows order and user.
    static Result<std::shared_ptr<const OciTask>> make(const wire::StepOrder& order,
                                                       const User& user, std::uint32_t task);

    // Makes the new process of `spec` run its program in the container, after its prologs.
    void add_to(ProcessSpec& spec) const;
    // In a process of its own, with the user's rights, when the task has ended.
    void clean_up(int wait_status) const;

private:
    OciTask(const wire::StepOrder& order, const User& user, std::uint32_t task);

    Result<void> make_directory() const;
    Result<void> prepare(OciFacts& facts, const std::vector<std::string>& entries) const;
    Result<void> prepare_bundle(OciFacts& facts, OciTaskDemand demand) const;
    Result<void> prepare_image(OciFacts& facts, OciTaskDemand demand) const;
    Error run(std::vector<std::string> argv, const std::vector<std::string>& entries) const;
    Error create_and_start(const OciFacts& facts, const std::vector<std::string>& entries) const;
    std::vector<std::string> runtime_environment(const std::vector<std::string>& entries) const;
    std::string image_name() const;

    const wire::StepOrder& order_;
    const wire::OciRuntime& oci_;
    const User& user_;
    std::string container_;                // the bundle, or the image
    std::optional<ContainerSetup> setup_;  // of an image
    std::string problem_;                  // why there is no such container
    OciFacts facts_;
};

}  // namespace sluice
