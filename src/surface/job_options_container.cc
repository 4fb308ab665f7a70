// Setters of options about containers.
#include <initializer_list>

#include "surface/job_options_setters.h"

namespace sluice::job_option {

namespace {

template <std::string ContainerSetup::*Member>
Result<void> set_text(JobOptions& options, const OptionUse& use) {
    if (use.value.empty() || use.value.find('\n') != use.value.npos) return invalid(use);
    options.image.*Member = use.value;
    return {};
}

template <bool ContainerSetup::*Member, bool kValue>
Result<void> set_flag(JobOptions& options, const OptionUse&) {
    options.image.*Member = kValue;
    return {};
}

Error refuse_value(const OptionUse& use, const Error& error) {
    Error refused = invalid(use);
    refused.hint = error.detail;
    return refused;
}

}  // namespace

// Compat: the bundle is looked for on the nodes, so its path must not depend on where we are.
Result<void> set_container(JobOptions& options, const OptionUse& use) {
    if (!use.value.starts_with('/')) return invalid(use, "an absolute path");
    options.request.container = use.value;
    return {};
}

Result<void> set_container_image(JobOptions& options, const OptionUse& use) {
    TRY(set_text<&ContainerSetup::image>(options, use));
    const Result<std::string> source = image_source(use.value);
    if (!source) return refuse_value(use, source.error());
    return {};
}

Result<void> set_container_mounts(JobOptions& options, const OptionUse& use) {
    TRY(set_text<&ContainerSetup::mounts>(options, use));
    const Result<std::vector<ContainerMount>> mounts = parse_container_mounts(use.value);
    if (!mounts) return refuse_value(use, mounts.error());
    return {};
}

Result<void> set_container_name(JobOptions& options, const OptionUse& use) {
    if (!is_container_name(use.value)) {
        return invalid(use, "letters, digits, '.', '_' and '-'");
    }
    return set_text<&ContainerSetup::name>(options, use);
}

Result<void> set_container_workdir(JobOptions& options, const OptionUse& use) {
    if (!use.value.starts_with('/')) return invalid(use, "an absolute path");
    return set_text<&ContainerSetup::workdir>(options, use);
}

Result<void> set_container_env(JobOptions& options, const OptionUse& use) {
    return set_text<&ContainerSetup::environment>(options, use);
}

Result<void> set_container_mount_home(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::mount_home, true>(options, use);
}

Result<void> set_no_container_mount_home(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::mount_home, false>(options, use);
}

Result<void> set_container_writable(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::writable, true>(options, use);
}

Result<void> set_container_readonly(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::writable, false>(options, use);
}

Result<void> set_container_entrypoint(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::entrypoint, true>(options, use);
}

Result<void> set_no_container_entrypoint(JobOptions& options, const OptionUse& use) {
    return set_flag<&ContainerSetup::entrypoint, false>(options, use);
}

Result<void> complete_container(JobOptions& options) {
    const bool has_image = !options.image.image.empty() || !options.image.name.empty();
    if (!has_image) {
        for (const char* name :
             {"container-entrypoint", "container-env", "container-mount-home", "container-mounts",
              "container-readonly", "container-remap-root", "container-workdir",
              "container-writable", "no-container-entrypoint", "no-container-mount-home"}) {
            if (!is_given(options, name)) continue;
            return Error{ErrorCode::BadArgument,
                         fmt::format("--{} needs --container-image or --container-name", name)};
        }
        return {};
    }
    if (is_given(options, "container")) {
        return Error{ErrorCode::BadArgument,
                     "--container and --container-image are mutually exclusive"};
    }
    options.request.container = options.image.image;
    options.request.container_setup = print_container_setup(options.image);
    TRY(parse_container_setup(options.request.container_setup));
    return {};
}

}  // namespace sluice::job_option
