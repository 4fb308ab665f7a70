#include "controller/power_programs.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "base/log.h"
#include "controller/job_variables.h"
#include "model/hostlist.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {
namespace {

constexpr auto kPowerLookAgain = std::chrono::milliseconds(50);
constexpr std::size_t kPowerOrdersAtOnce = 16;

std::string_view key_of(PowerProgram program) {
    constexpr std::string_view kKeys[] = {"SuspendProgram", "ResumeProgram", "ResumeFailProgram"};
    return kKeys[static_cast<std::size_t>(program)];
}

const std::string& path_of(PowerProgram program, const Config& config) {
    if (program == PowerProgram::Suspend) return config.suspend_program;
    return program == PowerProgram::Resume ? config.resume_program : config.resume_fail_program;
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    return out + '"';
}

std::string text_or_null(std::string_view text) {
    return text.empty() ? "null" : quoted(text);
}

std::string hosts_of(const std::vector<std::string>& names) {
    return Hostlist(names).sorted().to_string();
}

std::string job_json(const ResumedFor& resumed) {
    const Job& job = *resumed.job;
    return fmt::format(
        "{{\"extra\": null, \"job_id\": {}, \"features\": {}, \"nodes_alloc\": {}, "
        "\"nodes_resume\": {}, \"oversubscribe\": {}, \"partition\": {}, \"reservation\": {}}}",
        job.id.value, text_or_null(job.request->shape.constraint),
        quoted(job.run.allocation ? job.run.allocation->node_names : ""),
        quoted(hosts_of(resumed.nodes)),
        quoted(job.run.allocation && job.run.allocation->sharers > 1 ? "OK" : "NO"),
        quoted(job.partition), text_or_null(job.run.reservation));
}

}  // namespace

std::string resume_json(const RunPowerProgram& order) {
    std::string jobs;
    for (const ResumedFor& each : order.jobs)
        jobs += fmt::format("{}\n  {}", jobs.empty() ? "" : ",", job_json(each));
    return fmt::format("{{\"all_nodes_resume\": {}, \"jobs\": [{}]}}\n",
                       quoted(hosts_of(order.nodes)), jobs);
}

PowerPrograms::PowerPrograms(const PublishedState& published, Inbox& inbox)
    : published_(published),
      inbox_(inbox),
      queue_(std::numeric_limits<std::uint32_t>::max()),
      thread_([this] { run(); }) {}

PowerPrograms::~PowerPrograms() {
    stopping_ = true;
    queue_.close();
    thread_.join();
}

void PowerPrograms::take(RunPowerProgram order) {
    (void)queue_.try_push(std::move(order));
}

void PowerPrograms::run() {
    while (!stopping_) {
        const auto orders =
            running_.empty()
                ? queue_.take(kPowerOrdersAtOnce)
                : queue_.take_until(kPowerOrdersAtOnce,
                                    std::chrono::steady_clock::now() + kPowerLookAgain);
        if (stopping_) return;
        look_at_running();
        for (const RunPowerProgram& order : orders) start(order);
    }
}

void PowerPrograms::start(const RunPowerProgram& order) {
    const auto live = published_.config.get();
    const std::string& program = path_of(order.program, live->config);
    if (program.empty()) return;  // taken out of slurm.conf meanwhile
    const std::string nodes = hosts_of(order.nodes);
    Variables variables{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
    add_variable(variables, "SLURM_CONF", live->config.path);
    Running started{.what = fmt::format("{}: {} {}", key_of(order.program), program, nodes)};
    if (order.program == PowerProgram::Resume) {
        Result<Fd> file = memory_file("resume", resume_json(order));
        if (file) {
            started.resume_file = std::move(*file);
            add_variable(variables, "SLURM_RESUME_FILE",
                         fmt::format("/proc/{}/fd/{}", getpid(), started.resume_file.get()));
        } else {
            log_error("{}: SLURM_RESUME_FILE: {}", started.what, file.error().detail);
        }
    }
    const auto pid = spawn_quiet({program, nodes}, variables);
    if (!pid) return log_error("{}: {}", started.what, pid.error().detail);
    log_info("{}", started.what);
    started.pid = *pid;
    started.deadline = std::chrono::steady_clock::now() + order.limit;
    running_.push_back(std::move(started));
    if (order.program != PowerProgram::ResumeFail)
        inbox_.push({.event = PowerProgramStarted{order.program, order.nodes}});
}

void PowerPrograms::look_at_running() {
    std::erase_if(running_, [&](Running& each) {
        const auto status = wait_for_exit(each.pid, std::chrono::milliseconds(0));
        if (!status) {
            if (each.deadline && std::chrono::steady_clock::now() >= *each.deadline) {
                log_error("{}: killed, it took too long", each.what);
                kill(-each.pid, SIGKILL);  // it leads a session
                each.deadline.reset();
            }
            return false;
        }
        if (*status != 0) log_error("{}: failed, wait status {}", each.what, *status);
        return true;
    });
}

}  // namespace sluice
