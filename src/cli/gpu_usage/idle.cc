#include "cli/gpu_usage/idle.h"

#include <algorithm>
#include <map>

#include "cli/common/ask_accounting.h"
#include "cli/common/gpu_count.h"
#include "surface/json.h"
#include "surface/names.h"

namespace sluice {

namespace {

constexpr double kHour = 3600;

// The part of the run that lies in the time that was asked for.
Seconds time_in(const AccountedJob& job, Time from, Time to) {
    if (!job.start) return Seconds{0};
    const Time end = std::min(job.end.value_or(to), to);
    const Time start = std::max(*job.start, from);
    return std::max(Seconds{0}, end - start - job.suspended);
}

void add_run(const AccountedJob& job, Time from, Time to, IdleGpus& user) {
    const auto gpus = job.tres_allocated.find(std::string(kGpuTres));
    if (gpus == job.tres_allocated.end()) return;
    const double hours = static_cast<double>(time_in(job, from, to).count()) / kHour *
                         static_cast<double>(gpus->second);
    user.held += hours;
    if (!job.gpu_use || job.gpu_use->use.samples == 0) {
        user.unknown += hours;
        return;
    }
    const GpuUse& use = job.gpu_use->use;
    user.unused += hours * static_cast<double>(use.idle_samples) / static_cast<double>(use.samples);
}

}  // namespace

Result<std::vector<IdleGpus>> fetch_idle_gpus(Client& client, Time now, Seconds length,
                                              const std::optional<std::string>& partition) {
    AccountingQuestion question{.kind = AccountingQuestion::Kind::Jobs};
    const Time from = now - length;
    question.jobs.start = from;
    question.jobs.end = now;
    question.jobs.all_runs = true;
    question.jobs.no_steps = true;
    if (partition) question.jobs.partitions = {*partition};
    const std::vector<AccountedRun> runs = TRY(ask_rows<AccountedRun>(client, question));
    Names names;
    std::map<std::string, IdleGpus> users;
    for (const AccountedRun& run : runs) {
        IdleGpus& user = users[names.user(run.job.user)];
        add_run(run.job, from, now, user);
    }
    std::vector<IdleGpus> all;
    for (auto& [name, user] : users) {
        user.name = name;
        if (user.held > 0) all.push_back(std::move(user));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const IdleGpus& a, const IdleGpus& b) { return a.unused > b.unused; });
    return all;
}

std::string idle_json(const std::vector<IdleGpus>& users) {
    Json json;
    json.open_object();
    json.open_list("users");
    for (const IdleGpus& user : users) {
        json.open_object();
        json.text("name", user.name);
        json.real("gpu_hours", user.held);
        json.real("unused_gpu_hours", user.unused);
        json.real("unmeasured_gpu_hours", user.unknown);
        json.close();
    }
    json.close();
    json.close();
    return json.take();
}

}  // namespace sluice
