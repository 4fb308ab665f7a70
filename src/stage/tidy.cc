#include "stage/tidy.h"

#include <fmt/format.h>

#include "base/text.h"
#include "os/files.h"
#include "stage/cache.h"

namespace sluice::stage {

namespace {
constexpr std::string_view kTree = "staging.";  // and then the job and a number
}

void tidy(const wire::TidyOrder& order, ReportLine& line) {
    std::set<std::string> jobs;
    for (const wire::RunId& run : order.jobs())
        jobs.insert(fmt::format("{}.{}", run.job(), run.restarts()));
    for (const std::string& name : list_directory(order.scratch_base())) {
        if (!name.starts_with(kTree)) continue;
        const std::string job = name.substr(kTree.size(), name.rfind('.') - kTree.size());
        const std::string tree = fmt::format("{}/{}", order.scratch_base(), name);
        if (!jobs.contains(job) && is_older(tree, order.made_ns())) remove_tree(tree);
    }
    const Result<Cache> cache = Cache::open(order.cache(), order.cache_size());
    if (cache) cache->tidy(jobs, order.made_ns());
    report_sources(order.cache(), line);
}

void report_sources(const std::string& directory, ReportLine& line) {
    const Result<Cache> cache = Cache::open(directory, 0);
    if (!cache) return;
    wire::StageReport report;
    wire::SourceList& list = *report.mutable_cached();
    for (const std::uint64_t source : cache->sources()) list.add_sources(source);
    line.send(report);
}

}  // namespace sluice::stage
