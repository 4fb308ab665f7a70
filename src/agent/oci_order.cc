#include "agent/oci_order.h"

#include "base/text.h"
#include "model/container_setup.h"

namespace sluice {

namespace {

EnvFile env_file_of(const std::string& word) {
    if (word == "true" || word == "yes" || word == "newline") return EnvFile::Lines;
    return word == "null" ? EnvFile::ZeroBytes : EnvFile::None;
}

}  // namespace

wire::OciRuntime oci_order(const OciConfig& config) {
    wire::OciRuntime order;
    order.set_run(config.run);
    order.set_create(config.create);
    order.set_start(config.start);
    order.set_query(config.query);
    order.set_kill(config.kill);
    order.set_delete_(config.remove);
    order.set_container_path(config.container_path);
    order.set_mount_spool_dir(config.mount_spool_dir);
    order.set_env_exclude(config.env_exclude);
    order.set_runtime_env_exclude(config.runtime_env_exclude);
    order.set_env_file(static_cast<std::uint32_t>(env_file_of(config.env_file)));
    order.set_keep(config.disable_cleanup);
    order.set_ignore_config(config.ignore_config);
    for (std::string_view hook : split(config.hooks_disabled, ',')) {
        if (!trim(hook).empty()) order.add_hooks_disabled(std::string(trim(hook)));
    }
    return order;
}

}  // namespace sluice
