#include "sim/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/random.h"

namespace sluice {
namespace {

constexpr double kShortest = 30, kLongest = 12 * 3600;  // seconds
constexpr std::uint32_t kAccounts = 5, kUsersPerAccount = 4;

// What people write behind --time: minutes that are round.
constexpr std::int64_t kEstimates[] = {5, 15, 30, 60, 120, 240, 480, 720, 1440};

std::uint32_t random_size(Random& random, std::uint32_t processors) {
    auto powers = static_cast<std::uint64_t>(std::bit_width(processors));
    // The smaller of two, so that wide jobs are the exception.
    std::uint64_t power = std::min(random.below(powers), random.below(powers));
    std::uint64_t size = std::uint64_t{1} << power;
    if (random.chance(0.2)) size = 1 + random.below(size);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, processors));
}

Seconds random_limit(Random& random, Seconds duration) {
    double wanted = static_cast<double>(duration.count()) * random.log_uniform(1, 8) / 60;
    for (std::int64_t estimate : kEstimates) {
        if (static_cast<double>(estimate) >= wanted) return Minutes{estimate};
    }
    return Minutes{kEstimates[std::size(kEstimates) - 1]};
}

}  // namespace

Trace generate(const GenerateOptions& options) {
    Random random(options.seed);
    Trace trace;
    double work = 0;
    for (std::uint32_t i = 0; i < options.jobs; ++i) {
        TraceJob job;
        std::uint32_t size = random_size(random, options.processors);
        job.duration = Seconds{static_cast<std::int64_t>(random.log_uniform(kShortest, kLongest))};
        job.limit = random_limit(random, job.duration);
        std::uint64_t account = std::min(random.below(kAccounts), random.below(kAccounts));
        job.account = fmt::format("{}", account + 1);
        job.user =
            fmt::format("{}", account * kUsersPerAccount + random.below(kUsersPerAccount) + 1);
        job.cpus = size;
        if (options.format == TraceFormat::Csv) job.gpus = size;
        work += static_cast<double>(size) * static_cast<double>(job.duration.count());
        trace.jobs.push_back(std::move(job));
    }
    // Arrivals at random moments of the time in which so much work makes the load.
    double span = work / (options.processors * options.load);
    std::vector<std::int64_t> arrivals;
    for (std::uint32_t i = 0; i < options.jobs; ++i) {
        arrivals.push_back(static_cast<std::int64_t>(random.unit() * span));
    }
    std::sort(arrivals.begin(), arrivals.end());
    for (std::uint32_t i = 0; i < options.jobs; ++i) trace.jobs[i].submit = from_unix(arrivals[i]);
    return trace;
}

std::string print_swf(const Trace& trace, const GenerateOptions& options) {
    std::string text = fmt::format(
        "; Version: 2.2\n; Note: generated, {} jobs, load {}, seed {}\n; MaxProcs: {}\n"
        "; UnixStartTime: 0\n",
        options.jobs, options.load, options.seed, options.processors);
    std::size_t number = 0;
    for (const TraceJob& job : trace.jobs) {
        text += fmt::format("{} {} -1 {} {} -1 -1 {} {} -1 1 {} {} -1 -1 -1 -1 -1\n", ++number,
                            to_unix(job.submit), job.duration.count(), job.cpus, job.cpus,
                            job.limit ? job.limit->count() : -1, job.user, job.account);
    }
    return text;
}

std::string print_gpu_csv(const Trace& trace) {
    std::string text = "submit,duration,gpus,account,user,limit\n";
    for (const TraceJob& job : trace.jobs) {
        text += fmt::format("{},{},{},group{},user{},{}\n", to_unix(job.submit),
                            job.duration.count(), job.gpus, job.account, job.user,
                            job.limit ? fmt::format("{}", job.limit->count()) : "");
    }
    return text;
}

}  // namespace sluice
