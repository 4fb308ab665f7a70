// model/container_setup.h
//
// What --container-image and its relatives ask for. A job and a step carry it as one text, with a
// line for each setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

// oci.conf: CreateEnvFile.
enum class EnvFile : std::uint8_t { None, Lines, ZeroBytes };

struct ContainerMount {
    std::string source, destination;  // absolute
    std::vector<std::string> flags;   // of mount(8): "ro", "rbind"
    bool operator==(const ContainerMount&) const = default;
};

struct ContainerSetup {
    std::string image;  // as given; empty: that of the named container
    std::string name;   // kept until the job ends; empty: removed with the step
    std::string mounts;
    std::string workdir;      // empty: as the image says
    std::string environment;  // names of variables that the image does not replace
    bool mount_home = false;
    bool writable = false;
    bool entrypoint = false;  // run that of the image, with the command as its arguments

    bool operator==(const ContainerSetup&) const = default;
};

std::string print_container_setup(const ContainerSetup& setup);
// What print_container_setup() made. From the network: every line is checked.
Result<ContainerSetup> parse_container_setup(std::string_view text);

// "SRC:DST[:FLAG+FLAG],...", or SRC alone for the same path inside.
Result<std::vector<ContainerMount>> parse_container_mounts(std::string_view text);
// Letters, digits, '.', '_' and '-'; it is the name of a directory.
bool is_container_name(std::string_view name);

// What skopeo calls the image: "ubuntu:22.04" -> "docker://ubuntu:22.04",
// "nvcr.io#nvidia/pytorch:24.01" -> "docker://nvcr.io/nvidia/pytorch:24.01", "/data/x.tar" ->
// "docker-archive:/data/x.tar".
Result<std::string> image_source(std::string_view image);

}  // namespace sluice
