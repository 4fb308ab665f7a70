#include "agent/run_key.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/text.h"

namespace sluice {

std::string job_directory(std::string_view spool, JobId job) {
    return fmt::format("{}/job{:05}", spool, job.value);
}

std::string mark_path(std::string_view spool, const RunKey& key, std::string_view place) {
    return fmt::format("{}/{}.{}.{}", job_directory(spool, key.job.job), print_step(key.step),
                       key.job.restarts, place);
}

// Nobody can have taken it before: it is not known before the run is.
std::string make_place() {
    std::uint64_t number = 0;
    CHECK(getrandom(&number, sizeof number, 0) == sizeof number);
    return fmt::format("{:016x}", number);
}

std::string epilog_path(std::string_view spool, const JobKey& key) {
    return fmt::format("{}/epilog.{}", job_directory(spool, key.job), key.restarts);
}

namespace {

constexpr std::size_t kPlaceSize = 16;

std::optional<StepId> parse_step(std::string_view text) {
    for (StepId step : {kBatchStep, kExternStep, kInteractiveStep}) {
        if (text == print_step(step)) return step;
    }
    std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number > 0xffffffff) return {};
    return StepId{static_cast<std::uint32_t>(*number)};
}

}  // namespace

std::optional<Mark> parse_mark(std::string_view directory_name, std::string_view file_name) {
    if (!directory_name.starts_with("job")) return {};
    std::optional<std::uint64_t> job = to_number(directory_name.substr(3));
    std::vector<std::string_view> parts = split(file_name, '.');
    if (!job || *job > 0xffffffff || parts.size() != 3) return {};
    std::optional<StepId> step = parse_step(parts[0]);
    std::optional<std::uint64_t> restarts = to_number(parts[1]);
    if (!step || !restarts || *restarts > 0xffffffff || parts[2].size() != kPlaceSize) return {};
    return Mark{
        {{JobId{static_cast<std::uint32_t>(*job)}, static_cast<std::uint32_t>(*restarts)}, *step},
        std::string(parts[2])};
}

}  // namespace sluice
