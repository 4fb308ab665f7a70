#include "agent/adoption.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/cgroup.h"

namespace sluice {

namespace {
constexpr std::size_t kQuestionMax = 128;
}  // namespace

std::string adoption_socket(std::string_view node) {
    return fmt::format("sluice.adopt.{}", node);
}

Adoption::Adoption(EventLoop& loop, Jobs& jobs)
    : jobs_(jobs),
      service_(loop, kQuestionMax,
               [this](const std::string& line, const Peer& peer, const LineService::Answer& say) {
                   say(peer.uid == 0 ? answer(line, peer.pid) : "");
               }) {}

void Adoption::open(const Site& site) {
    if (service_.is_open() || !site.config.prolog_flags.contain) return;
    if (Result<void> opened = service_.open(adoption_socket(site.node.name)); !opened) {
        log_error("pam_slurm_adopt will not reach this node: {}", to_string(opened.error()));
    }
}

std::string Adoption::answer(const std::string& question, pid_t pid) {
    const std::vector<std::string_view> parts = words(question);
    const std::optional<std::uint64_t> user =
        parts.size() == 3 ? to_number(parts[1]) : std::nullopt;
    const bool newest = parts.size() == 3 && parts[2] == "newest";
    if (!user || *user > 0xffffffff || parts[0] != "adopt" || (!newest && parts[2] != "only"))
        return "error the question is not understood";
    const std::vector<JobKey> jobs = jobs_.jobs_of(static_cast<std::uint32_t>(*user));
    if (jobs.empty()) return "none";
    if (jobs.size() > 1 && !newest) return fmt::format("several {}", jobs.size());
    if (Result<void> moved = jobs_.adopt(jobs.back(), pid); !moved)
        return fmt::format("error {}", moved.error().detail);
    log_info("process {} of UID:{} is now in the container of job {}", pid, *user,
             jobs.back().job.value);
    return fmt::format("job {}", jobs.back().job.value);
}

// ---- the jobs

std::vector<JobKey> Jobs::jobs_of(std::uint32_t user) const {
    std::vector<JobKey> found;
    for (const auto& [key, job] : node_.jobs) {
        if (job.hook.user == user && !job.runs.empty() && !job.takes_no_more())
            found.push_back(key);
    }
    return found;  // in the order of their numbers
}

Result<void> Jobs::adopt(const JobKey& job, pid_t pid) {
    const RunKey run = extern_of(job);
    const RunHere* here = node_.find(run);
    if (!here || !here->is_started || !line_to(run)) {
        return Error{ErrorCode::NodeUnable,
                     fmt::format("job {} has no container on this node", job.job.value)};
    }
    if (!site_->cgroups) {
        return Error{ErrorCode::NodeUnable,
                     "slurmd uses no cgroups here, so that it cannot contain processes"};
    }
    return move_into_cgroup(cgroup_of(run), pid);
}

}  // namespace sluice
