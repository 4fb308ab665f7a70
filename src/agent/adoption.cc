#include "agent/adoption.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/cgroup.h"
#include "os/socket.h"
#include "os/stream.h"

namespace sluice {

namespace {
constexpr std::size_t kLoginsMax = 64;
constexpr std::size_t kQuestionMax = 128;
constexpr std::chrono::seconds kQuestionTime{10};
}  // namespace

struct Adoption::Login {
    std::unique_ptr<Stream> stream;
    std::string question;
    pid_t pid = 0;
    EventLoop::TimerId patience = 0;
    bool gone = false;
};

std::string adoption_socket(std::string_view node) {
    return fmt::format("sluice.adopt.{}", node);
}

void Adoption::open(const Site& site) {
    if (listener_ || !site.config.prolog_flags.contain) return;
    Result<Fd> listener = listen_as(adoption_socket(site.node.name));
    if (!listener) {
        return log_error("pam_slurm_adopt will not reach this node: {}",
                         to_string(listener.error()));
    }
    listener_ = std::move(*listener);
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) {
        while (Fd connection = accept_connection(listener_)) admit(std::move(connection));
    });
}

void Adoption::admit(Fd connection) {
    const std::optional<Peer> peer = peer_of(connection);
    if (!peer || peer->uid != 0 || logins_.size() >= kLoginsMax) return;
    auto login = std::make_shared<Login>();
    login->pid = peer->pid;
    login->stream = std::make_unique<Stream>(
        loop_, std::move(connection),
        Stream::Handlers{[this, login](std::string_view bytes) { on_data(login, bytes); },
                         [this, login] { leave(login); },
                         {}});
    login->patience = loop_.after(kQuestionTime, [this, login] { leave(login); });
    logins_.push_back(login);
}

void Adoption::on_data(const std::shared_ptr<Login>& login, std::string_view bytes) {
    login->question += bytes;
    const std::size_t end = login->question.find('\n');
    if (end == std::string::npos && login->question.size() <= kQuestionMax) return;
    login->stream->send(answer(login->question.substr(0, end), login->pid) + "\n");
    login->question.clear();
    login->stream->close_after_drain();
    if (login->stream->closed()) leave(login);
}

void Adoption::leave(const std::shared_ptr<Login>& login) {
    if (login->gone) return;
    login->gone = true;
    loop_.cancel(login->patience);
    loop_.later([login] { login->stream.reset(); });  // we are in one of its functions
    logins_.remove(login);
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
