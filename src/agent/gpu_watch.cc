#include "agent/gpu_watch.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "base/text.h"
#include "model/devices.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMegabyte = 1u << 20;
constexpr milliseconds kLookAgain{300};    // memory of a process that was killed is freed soon
constexpr int kLooks = 6;                  // until what is there counts as left behind
constexpr milliseconds kDriverTime{5000};  // a job's end does not wait longer for the driver
constexpr Seconds kSendTime{10};

Time now() {
    return from_unix(std::time(nullptr));
}

const std::vector<std::string> kFatalXids = {"48", "62", "63", "64",  "74",  "79",
                                             "92", "94", "95", "119", "120", "140"};

GpuRecord record_of(const GpuSample& sample, Time at, std::vector<GpuHolder> holders) {
    const GpuReading& reading = sample.reading;
    GpuRecord record{.time = at, .holders = std::move(holders), .xids = sample.xids};
    const auto put = [&](GpuRecord::Value which, const auto& value) {
        if (value) record.set(which, *value);
    };
    put(GpuRecord::Percent, reading.percent);
    put(GpuRecord::Power, reading.watts);
    put(GpuRecord::Temperature, reading.celsius);
    put(GpuRecord::SmClock, reading.sm_clock);
    put(GpuRecord::MemoryClock, reading.memory_clock);
    put(GpuRecord::EccErrors, reading.ecc_errors);
    record.set(GpuRecord::Memory, reading.memory_mb);
    record.set(GpuRecord::Processes, reading.processes.size());
    return record;
}

// Of /dev/nvidia3.
std::optional<std::uint32_t> minor_in(const std::vector<std::string>& files) {
    constexpr std::string_view kFile = "/dev/nvidia";
    for (const std::string& file : files) {
        if (!file.starts_with(kFile)) continue;
        const auto minor = to_number(std::string_view(file).substr(kFile.size()));
        if (minor && *minor <= UINT32_MAX) return static_cast<std::uint32_t>(*minor);
    }
    return {};
}

void send_answers(const Fd& connection, const GpuHistoryDemand& demand, const std::string& node) {
    const timeval limit{kSendTime.count(), 0};
    setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    std::vector<wire::GpuSeries> all = gpu_history(demand);
    std::string frames;
    for (std::size_t i = 0; i <= all.size(); ++i) {
        wire::StepOutput output;
        wire::GpuAnswer& answer = *output.mutable_gpus();
        answer.set_node(node);
        answer.set_interval(demand.interval);
        answer.set_more(i < all.size());
        if (i < all.size()) *answer.add_gpus() = std::move(all[i]);
        append_frame(frames, output);
    }
    set_blocking(connection, true);
    if (!write_all(connection.get(), frames)) log_debug("sgpu did not wait for its answer");
}

}  // namespace

GpuWatch::GpuWatch(EventLoop& loop, std::shared_ptr<const Site> site, Handlers handlers)
    : loop_(loop),
      site_(std::move(site)),
      handlers_(std::move(handlers)),
      threads_(loop),
      directory_(site_->spool + "/gpu_samples"),
      store_(directory_, site_->config.gpu_usage_size * kMegabyte) {
    find_gpus();
}

void GpuWatch::find_gpus() {
    gpus_.clear();
    const std::vector<Device> devices = devices_of(site_->gres, "gpu");
    for (std::uint32_t i = 0; i < devices.size(); ++i)
        gpus_.push_back({.gpu = i,
                         .uuid = devices[i].uuid,
                         .type = devices[i].line->type,
                         .minor = minor_in(devices[i].files)});
    const std::vector<std::uint32_t> here = device_numbers(site_->node.gres, site_->gres, "gpu");
    controller_numbers_.assign(gpus_.size(), 0);
    for (std::uint32_t i = 0; i < gpus_.size(); ++i) controller_numbers_[i] = i;
    for (std::uint32_t number = 0; number < here.size(); ++number) {
        if (here[number] < controller_numbers_.size()) controller_numbers_[here[number]] = number;
    }
}

void GpuWatch::open_files() {
    const auto expanded = [&](const std::string& path) {
        return expand_node_path(path, site_->node.name, site_->hostname);
    };
    files_.open(expanded(site_->config.gpu_stat_dir), expanded(site_->config.gpu_job_mapping_dir));
}

void GpuWatch::open() {
    if (const Result<std::string> text = read_file(book_path())) book_ = GpuBook::parse(*text);
}

void GpuWatch::keep_only(const std::set<JobKey>& jobs) {
    std::vector<JobKey> gone;
    for (const auto& [key, _] : book_.jobs()) {
        if (!jobs.contains(key)) gone.push_back(key);
    }
    for (const JobKey& key : gone) book_.job_leaves(key);
    open_files();
    files_.update(book_, gpus_, instance_names_);
    set_timer();
}

void GpuWatch::replace_site(std::shared_ptr<const Site> site) {
    site_ = std::move(site);
    store_.set_limit(site_->config.gpu_usage_size * kMegabyte);
    find_gpus();
    open_files();
    files_.update(book_, gpus_, instance_names_);
    set_timer();
}

CleanRules GpuWatch::rules() const {
    const Config& config = site_->config;
    CleanRules rules{.checks = config.gpu_clean_check, .memory_mb_most = config.gpu_clean_memory};
    for (const std::string& word :
         config.gpu_fatal_xids.empty() ? kFatalXids : config.gpu_fatal_xids) {
        if (const auto xid = to_number(word))
            rules.fatal_xids.insert(static_cast<std::uint32_t>(*xid));
    }
    return rules;
}

// ---- sampling

void GpuWatch::set_timer() {
    loop_.cancel(timer_);
    if (!samples()) return;
    timer_ = loop_.after(site_->config.gpu_sample_time, [this] {
        set_timer();
        take_sample();
    });
}

void GpuWatch::take_sample() {
    if (is_sampling_) return;
    SampleDemand demand{.gpus = gpus_, .supervisors = {}};
    for (const auto& [key, _] : book_.jobs()) demand.supervisors[key] = handlers_.supervisors(key);
    is_sampling_ = threads_.run(
        [sampler = sampler_, demand = std::move(demand)] { return sampler->take(demand); },
        [this](const Sample& sample) {
            is_sampling_ = false;
            on_sample(sample);
            if (std::exchange(is_due_, false)) take_sample();
        });
}

void GpuWatch::on_sample(const Sample& sample) {
    if (sample.problem != last_problem_ && !sample.problem.empty())
        log_info("GPUs are not sampled: {}", sample.problem);
    last_problem_ = sample.problem;
    if (instance_names_ != sample.instance_names) {
        instance_names_ = sample.instance_names;
        files_.update(book_, gpus_, instance_names_);
    }
    book_.count(sample);
    keep(sample);
    GpuReport report = book_.report(sample, rules());
    const bool may_be_freed_soon =
        std::any_of(leaving_.begin(), leaving_.end(), [&](const Leaving& job) {
            return job.looks_left > 1 &&
                   std::any_of(report.unfit.begin(), report.unfit.end(), [&](const UnfitGpu& gpu) {
                       return !gpu.is_lasting && job.gpus.contains(gpu.gpu);
                   });
        });
    if (!may_be_freed_soon) {
        tell(std::move(report));
    } else {
        loop_.after(kLookAgain, [this] { take_sample(); });
    }
    let_go(sample);
    write_book();
}

void GpuWatch::keep(const Sample& sample) {
    const Time at = now();
    for (const GpuSample& each : sample.gpus) {
        if (each.gpu >= gpus_.size()) continue;  // gres.conf has changed since
        if (!each.failure.empty()) continue;
        gpus_[each.gpu].memory_all_mb = each.reading.memory_all_mb;
        if (gpus_[each.gpu].uuid.empty() && !each.reading.uuid.empty()) {
            gpus_[each.gpu].uuid = each.reading.uuid;
            files_.update(book_, gpus_, instance_names_);
        }
        if (site_->config.gpu_usage_size == 0) continue;
        const Result<void> kept =
            store_.add(each.gpu, record_of(each, at, book_.holders_of(each.gpu)));
        if (!kept) log_error("samples of GPU {}: {}", each.gpu, kept.error().detail);
    }
}

// The controller numbers GPUs in another order.
void GpuWatch::tell(GpuReport report) {
    std::erase_if(report.unfit, [&](const UnfitGpu& unfit) { return unfit.gpu >= gpus_.size(); });
    for (GpuHere& gpu : gpus_) gpu.out_of_service.clear();
    for (UnfitGpu& unfit : report.unfit) {
        gpus_[unfit.gpu].out_of_service = unfit.reason;
        unfit.gpu = controller_numbers_[unfit.gpu];
    }
    const bool is_news =
        report.has_health &&
        !std::equal(report.unfit.begin(), report.unfit.end(), told_.begin(), told_.end(),
                    [](const UnfitGpu& a, const UnfitGpu& b) { return a.gpu == b.gpu; });
    if (is_news) {
        for (const UnfitGpu& unfit : report.unfit)
            log_error("GPU {} must not be used: {}", unfit.gpu, unfit.reason);
        told_ = report.unfit;
        std::erase_if(told_, [](const UnfitGpu& unfit) { return unfit.is_lasting; });
    }
    if (is_news || report.has_health || !report.jobs.empty()) handlers_.report(report, is_news);
}

// ---- jobs

void GpuWatch::run_begins(const RunKey& run, std::uint32_t user,
                          const std::vector<std::uint32_t>& gpus) {
    book_.run_begins(run, user, {gpus.begin(), gpus.end()});
    if (!book_.jobs().contains(run.job)) return;
    files_.update(book_, gpus_, instance_names_);
    write_book();
}

void GpuWatch::run_ends(const RunKey& run, const Usage& usage) {
    if (!book_.jobs().contains(run.job)) return;
    book_.run_ends(run, usage);
    write_book();
}

void GpuWatch::job_leaves(const JobKey& job, std::function<void(const NodeUse&)> then) {
    const auto here = book_.jobs().find(job);
    if (here == book_.jobs().end()) return then({});
    const std::set<std::uint32_t> gpus = here->second.gpus;
    const NodeUse use = numbered(book_.job_leaves(job));
    files_.update(book_, gpus_, instance_names_);
    write_book();
    const bool is_checked = samples() && site_->config.gpu_clean_check && last_problem_.empty();
    if (!is_checked) return then(use);
    const std::uint64_t number = ++last_leaving_;
    leaving_.push_back({number, use, gpus, kLooks, std::move(then)});
    is_due_ = is_sampling_;  // the sample that is being taken may be older
    take_sample();
    loop_.after(kDriverTime, [this, number] {
        if (is_sampling_) give_up_looking(number);
    });
}

// The job ends, but what it has left on its GPUs is not known.
void GpuWatch::give_up_looking(std::uint64_t number) {
    const auto found =
        std::find_if(leaving_.begin(), leaving_.end(),
                     [number](const Leaving& each) { return each.number == number; });
    if (found == leaving_.end()) return;
    const Leaving job = std::move(*found);
    leaving_.erase(found);
    GpuReport report{.has_health = true};
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const bool is_left = job.gpus.contains(gpu) && book_.holders_of(gpu).empty();
        const std::string& known = gpus_[gpu].out_of_service;
        if (!known.empty() || is_left)
            report.unfit.push_back({gpu, known.empty() ? "the driver does not answer" : known});
    }
    tell(std::move(report));
    job.then(job.use);
}

// The jobs whose GPUs were looked at often enough.
void GpuWatch::let_go(const Sample& sample) {
    const CleanRules clean = rules();
    std::vector<Leaving> done;
    for (Leaving& job : leaving_) {
        const bool is_clean =
            std::none_of(sample.gpus.begin(), sample.gpus.end(), [&](const GpuSample& each) {
                return job.gpus.contains(each.gpu) && book_.holders_of(each.gpu).empty() &&
                       !unclean_words(each, clean).empty();
            });
        if (is_clean || --job.looks_left <= 0 || !sample.problem.empty()) job.looks_left = 0;
        if (job.looks_left == 0) done.push_back(std::move(job));
    }
    std::erase_if(leaving_, [](const Leaving& job) { return job.looks_left == 0; });
    for (const Leaving& job : done) job.then(job.use);
}

void GpuWatch::write_book() {
    if (gpus_.empty()) return;
    Result<void> done = make_directories(directory_, 0700);
    if (done) done = write_file_atomically(book_path(), book_.print(), {.mode = 0600});
    if (!done) log_error("{}", done.error().detail);
}

// CPU time and memory are told where the controller is to make the summary of jobstats of them.
NodeUse GpuWatch::numbered(NodeUse use) const {
    use.memory_kb = site_->config.gpu_job_stats ? std::max<std::uint64_t>(use.memory_kb, 1) : 0;
    if (!site_->config.gpu_job_stats) use.cpu_ms = 0;
    for (GpuUse& gpu : use.gpus) {
        if (gpu.gpu < controller_numbers_.size()) gpu.gpu = controller_numbers_[gpu.gpu];
    }
    return use;
}

void GpuWatch::answer(const wire::AskGpus& question, const Identity& asker, Fd connection) {
    const std::uint32_t user = asker.user.value;
    GpuHistoryDemand demand{
        .question = question,
        .gpus = gpus_,
        .directory = directory_,
        .interval = static_cast<std::uint32_t>(site_->config.gpu_sample_time.count()),
        .now = now(),
        .sees_all = user == 0 || user == site_->slurm_user,
        .asker = user};
    auto shared = std::make_shared<Fd>(std::move(connection));
    const bool accepted = threads_.run(
        [shared, demand = std::move(demand), node = site_->node.name] {
            send_answers(*shared, demand, node);
            return true;
        },
        [](bool) {});
    if (!accepted) log_info("too many questions of sgpu at the same time");
}

}  // namespace sluice
