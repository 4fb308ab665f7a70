// model/job_id.h
//
// Ids of jobs, array tasks and steps, in the forms that commands take and print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace sluice {

using JobId = Id<struct JobIdTag>;
using StepId = Id<struct StepIdTag>;

// Compat: the steps that are not numbered have these names and, inside Slurm tools, these ids.
constexpr StepId kBatchStep{0xfffffffb};
constexpr StepId kExternStep{0xfffffffc};
constexpr StepId kInteractiveStep{0xfffffffa};

constexpr std::uint32_t kArrayTaskMax = 4'000'000;

// Only the tasks of ranges with a step ("0-8:2") are visited one by one. One request may name a
// limited number of them; each parsed text takes its tasks from what is left.
struct SteppedTasks {
    std::uint64_t left = 0;
};

// A set of array task indexes, kept as ranges with a step, each above the one before: a million
// tasks in one range cost one entry. Equal sets have equal ranges, however they were made.
class TaskSet {
public:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t last = 0;  // inclusive, reachable from first by step
        std::uint32_t step = 1;
        bool operator==(const Range&) const = default;
    };

    // "0-15:4,20,30-31", without the "%limit" part.
    static Result<TaskSet> parse(std::string_view text);
    // The same, if one request has many of these texts: see SteppedTasks.
    static Result<TaskSet> parse(std::string_view text, SteppedTasks& budget);
    // From ranges in ascending order, as ranges() returns them. Nothing for others.
    static std::optional<TaskSet> from_ranges(const std::vector<Range>& ranges);
    std::string to_string() const;  // as Slurm: "0-20:2", "0,4,8,12", pairs as "1-2"

    bool empty() const { return ranges_.empty(); }
    std::uint64_t size() const;
    bool contains(std::uint32_t task) const;
    std::uint32_t first() const { return ranges_.front().first; }  // the lowest; not empty
    std::uint32_t last() const;                                    // the highest; not empty
    bool intersects(const TaskSet& other) const;
    void insert(std::uint32_t task);
    void erase(std::uint32_t task);
    template <typename Visit>
    void for_each(Visit visit) const {
        for (const Range& range : ranges_) {
            for (std::uint64_t task = range.first; task <= range.last; task += range.step) {
                visit(static_cast<std::uint32_t>(task));
            }
        }
    }
    const std::vector<Range>& ranges() const { return ranges_; }
    bool operator==(const TaskSet&) const = default;

private:
    std::size_t find_range(std::uint32_t task) const;  // the last that starts at or below, or -1
    void replace(std::size_t index, std::size_t removed, const std::vector<Range>& pieces);

    std::vector<Range> ranges_;  // canonical: see task_set.cc
};

// --array: "0-15:4%3".
struct ArraySpec {
    TaskSet tasks;
    std::uint32_t limit = 0;  // tasks running at once; 0: no limit
    bool operator==(const ArraySpec&) const = default;
};
Result<ArraySpec> parse_array(std::string_view text);
Result<ArraySpec> parse_array(std::string_view text, SteppedTasks& budget);
std::string print_array(const ArraySpec& spec);  // "0-15:4%3"

// What scancel, squeue -j and scontrol take: "12", "12_3", "12_[1-5%2]", "12.0", "12.batch",
// "12_3.0", "12+1".
struct JobRef {
    JobId job;
    std::optional<TaskSet> tasks;                // "_3" or "_[1-5]"
    std::optional<std::uint32_t> het_component;  // "+1"
    std::optional<StepId> step;                  // ".0", ".batch", ".extern"
    bool operator==(const JobRef&) const = default;
};
Result<JobRef> parse_job_ref(std::string_view text);
Result<JobRef> parse_job_ref(std::string_view text, SteppedTasks& budget);
std::string to_string(const JobRef& ref);
std::string print_step(StepId step);  // "0", "batch", "extern", "interactive"

}  // namespace sluice
