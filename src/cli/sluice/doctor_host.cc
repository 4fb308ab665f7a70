// cli/sluice/doctor_host.cc: see doctor_host.h.
#include "cli/sluice/doctor_host.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "auth/key_file.h"
#include "auth/munge.h"
#include "auth/token.h"
#include "data/usage.h"
#include "os/cgroup.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::uint64_t kMegabyte = 1ull << 20, kGigabyte = 1ull << 30;
constexpr std::uint64_t kFreeLeast = 100 * kMegabyte;  // of a daemon's directory
constexpr std::uint64_t kPlenty = 10 * kGigabyte;      // enough, however large the disk is
constexpr std::uint64_t kManyFiles = 10'000;
constexpr std::uint64_t kSmallFile = kMegabyte;

bool has_cgroups(const Config& config) {
    return config.proctrack_type == "proctrack/cgroup" && config.cgroup.plugin != "disabled";
}

}  // namespace

std::optional<SpaceProblem> problem_of(const SpaceFacts& facts) {
    if (facts.total == 0) return {};
    const std::string text = fmt::format("{} of {} are free", data::print_size(facts.free),
                                         data::print_size(facts.total));
    const bool is_full = facts.free < std::min(kFreeLeast, facts.total / 20);
    if (is_full) return SpaceProblem{Severity::Error, text};
    if (facts.files_total > 0 && facts.files_free < facts.files_total / 100)
        return SpaceProblem{Severity::Error,
                            fmt::format("room for {} more files is left", facts.files_free)};
    if (facts.free < facts.total / 20 && facts.free < kPlenty)
        return SpaceProblem{Severity::Warning, text};
    return {};
}

std::optional<SpaceProblem> problem_of(const QuotaFacts& facts) {
    const auto is_over = [](std::uint64_t used, std::uint64_t limit, std::uint64_t percent) {
        return limit > 0 && used >= limit / 100 * percent;
    };
    const bool is_full =
        is_over(facts.used, facts.limit, 100) || is_over(facts.files, facts.files_limit, 100);
    const bool is_nearly =
        is_over(facts.used, facts.limit, 95) || is_over(facts.files, facts.files_limit, 95);
    if (!is_nearly) return {};
    const std::string text =
        is_over(facts.used, facts.limit, 95)
            ? fmt::format("{} of a quota of {} are used", data::print_size(facts.used),
                          data::print_size(facts.limit))
            : fmt::format("{} of a quota of {} files are used", facts.files, facts.files_limit);
    return SpaceProblem{is_full ? Severity::Error : Severity::Warning, text};
}

bool are_small_files(std::uint64_t files, std::uint64_t bytes) {
    return files >= kManyFiles && bytes / files < kSmallFile;
}

void check_space(DoctorReport& report, const std::string& use, const std::string& directory) {
    report.checked("space");
    const auto facts = space_of(directory);
    if (!facts) {
        return report.add({Severity::Error, "space", directory,
                           fmt::format("{}: {}", use, std::strerror(errno)),
                           fmt::format("make the directory, or change {} in slurm.conf", use)});
    }
    if (const auto problem = problem_of(*facts)) {
        report.add({problem->severity, "space", directory,
                    fmt::format("{}: {}", use, problem->text),
                    "delete what is not needed there, or use a larger file system"});
    }
}

void check_credentials(DoctorReport& report, const Config& config) {
    report.checked("credentials");
    if (config.auth_type == "auth/munge") {
        const Munge munge(std::string(list_option(config.auth_info, "socket").value_or("")));
        const auto made = munge.encode("sluice doctor");
        const auto read = made ? munge.decode(*made) : Result<Munge::Decoded>(made.error());
        if (read) return;
        return report.add({Severity::Error, "credentials", "munged", read.error().detail,
                           "start munged here, with the munge.key of all other hosts "
                           "(systemctl start munge; munge -n | unmunge)"});
    }
    if (geteuid() != 0) return;  // only daemons can read the key
    const std::string beside = default_token_key_path(config.path);
    const std::string path(list_option(config.auth_info, "key").value_or(beside));
    const auto key = read_key({.path = path,
                               .what = "the key of AuthType=auth/slurm",
                               .size_min = 1,
                               .group_may_read = true});
    if (key) return;
    report.add({Severity::Error, "credentials", path, key.error().detail,
                "copy slurm.key from the controller's host: owner SlurmUser, mode 0600"});
}

void check_cgroups(DoctorReport& report, const Config& config) {
    if (!has_cgroups(config)) return;
    report.checked("cgroups");
    if (detect_cgroups(config.cgroup.mountpoint) != CgroupVersion::None) return;
    if (geteuid() != 0) return;  // only slurmd may write there
    report.add({Severity::Error, "cgroups", config.cgroup.mountpoint,
                "no cgroup file system is mounted here that can be written to",
                "mount cgroup2, or set CgroupMountpoint in cgroup.conf; in a container use "
                "ProctrackType=proctrack/linuxproc"});
}

void check_gpus(DoctorReport& report, const std::string& node, std::string_view gres) {
    if (!gres.starts_with("gpu") && gres.find(",gpu") == std::string_view::npos) return;
    report.checked("gpu");
    struct stat facts {};
    const bool has_driver = stat("/proc/driver/nvidia/version", &facts) == 0 ||
                            stat("/sys/module/amdgpu", &facts) == 0 ||
                            stat("/sys/module/i915", &facts) == 0 ||
                            stat("/sys/module/xe", &facts) == 0;
    if (has_driver) return;
    report.add(
        {Severity::Error, "gpu", node,
         fmt::format("Gres={} is configured, and no GPU driver is loaded", gres),
         "load the driver (modprobe nvidia; nvidia-smi), or remove the GPUs from slurm.conf"});
}

void check_home(DoctorReport& report, const std::string& home, uid_t user) {
    report.checked("home");
    const auto facts = space_of(home);
    if (!facts || access(home.c_str(), W_OK) != 0) {
        return report.add({Severity::Error, "home", home, std::strerror(errno),
                           "jobs cannot write their output there: use --chdir and --output, or ask "
                           "your administrator"});
    }
    constexpr const char* kRemedy =
        "delete or move files (du -sh ~/.[!.]* ~/* shows which are large), and write results to a "
        "project directory";
    if (const auto problem = problem_of(*facts))
        report.add({problem->severity, "home", home, problem->text, kRemedy});
    const auto quota = quota_of(home, user);
    const auto over = quota ? problem_of(*quota) : std::nullopt;
    if (over) report.add({over->severity, "quota", home, over->text, kRemedy});
}

void check_small_files(DoctorReport& report, const std::string& directory) {
    constexpr unsigned kThreads = 4;
    report.checked("files");
    const auto found = data::disk_usage(directory, kThreads);
    if (!found) {
        return report.add({Severity::Error, "files", directory, found.error().detail,
                           "name a directory that you can read"});
    }
    const data::DiskUsage& all = found->all;
    if (!are_small_files(all.files, all.bytes)) return;
    report.add({Severity::Warning, "files", directory,
                fmt::format("{} files of {} on average: slow to read on a file server", all.files,
                            data::print_size(all.bytes / all.files)),
                fmt::format("pack them: sdata pack {} TARGET", directory)});
}

}  // namespace sluice
