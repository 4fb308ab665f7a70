#include "cli/common/host_file.h"

#include <string.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::string_view kArbitrary = "arbitrary";

// Compat: the number of tasks that a job hands on in a variable does not count beside a list that
// was asked for.
bool names_all_tasks(const JobOptions& options) {
    return options.distribution == kArbitrary &&
           source_of(options, "ntasks") != Source::CommandLine;
}

Result<std::vector<std::string>> hosts_of_file(const std::string& file, const JobOptions& options) {
    constexpr std::string_view kFailed = "Failure getting NodeNames from hostfile";
    Result<std::string> text = read_file(file);
    if (!text) {
        return Error{ErrorCode::InvalidNodeName,
                     fmt::format("slurm_allocate_resources error opening file {}, {}\n{}", file,
                                 strerror(errno), kFailed)};
    }
    std::vector<std::string> names = TRY(Hostlist::parse(TRY(hosts_in(file)))).names();
    if (names_all_tasks(options)) return names;
    const std::uint32_t tasks =
        options.request.shape.ntasks.value_or(static_cast<std::uint32_t>(names.size()));
    if (names.size() < tasks) {
        return Error{ErrorCode::InvalidNodeName,
                     fmt::format("Too few NodeNames in Slurm Hostfile\n{}", kFailed)};
    }
    names.resize(tasks);
    return names;
}

Result<std::vector<std::string>> hosts_of_option(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    std::vector<std::string> names = TRY(Hostlist::parse(shape.nodelist)).names();
    if (!names.empty() && names_all_tasks(options)) return names;
    const std::uint32_t tasks = shape.ntasks.value_or(1);
    if (names.size() == tasks) return names;
    return Error{
        ErrorCode::InvalidTaskCount,
        fmt::format("You asked for {} tasks but hostlist specified {} nodes", tasks, names.size())};
}

}  // namespace

Result<std::string> hosts_in(const std::string& file) {
    Result<std::string> text = read_file(file);
    if (!text) return Error{ErrorCode::BadArgument, fmt::format("cannot read {}", file)};
    std::vector<std::string> names;
    for (std::string_view word : words(*text)) {
        for (std::string_view name : split(word, ',')) {
            if (!name.empty()) names.emplace_back(name);
        }
    }
    if (names.empty()) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Hostlist is empty!\n{} names no node", file)};
    }
    return join(names, ",");
}

Result<void> complete_arbitrary(JobOptions& options, const Environment& environment) {
    Shape& shape = options.request.shape;
    std::vector<std::string> names;
    const std::optional<std::string_view> file = environment.find("SLURM_HOSTFILE");
    if (file && !file->empty() && shape.nodelist.empty()) {
        names = TRY(hosts_of_file(std::string(*file), options));
    } else if (options.distribution == kArbitrary && shape.nodelist.empty() &&
               source_of(options, "distribution") == Source::Environment) {
        options.distribution.clear();  // of the job, whose list the step does not know
        return {};
    } else if (options.distribution == kArbitrary) {
        if (shape.nodelist.find('/') != std::string::npos)
            shape.nodelist = TRY(hosts_in(shape.nodelist));
        names = TRY(hosts_of_option(options));
    } else {
        return {};
    }
    options.distribution = kArbitrary;
    shape.arbitrary = true;
    shape.nodelist = join(names, ",");
    shape.ntasks = static_cast<std::uint32_t>(names.size());
    shape.ntasks_per_node.reset();
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    shape.nodes_min = static_cast<std::uint32_t>(names.size());
    shape.nodes_max = shape.nodes_min;
    shape.node_sizes.clear();
    options.nodes_given = shape.nodes_min;
    return {};
}

}  // namespace sluice
