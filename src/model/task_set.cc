// model/task_set.cc: sets of array task indexes.
//
// Canonical form: walk the set upwards; a range takes the next task as long as the distance stays
// that of its first two. So every set has exactly one list of ranges, equality of lists is equality
// of sets, and a change can only touch the ranges around it: refolding stops where a new range
// starts at the same task as an old one.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/sizes.h"

namespace sluice {

namespace {

using Range = TaskSet::Range;

std::uint64_t count_of(const Range& range) {
    return (range.last - range.first) / range.step + 1;
}

Range single(std::uint32_t task) {
    return {task, task, 1};
}

// Tasks `from`, `from` + step, ..., `to`; a single one always has step 1.
Range stretch(std::uint32_t from, std::uint32_t to, std::uint32_t step) {
    return from == to ? single(from) : Range{from, to, step};
}

// Appends ranges, each above all before it, and keeps the canonical form.
class Folder {
public:
    void add(Range next) {
        if (!folded_.empty() && takes(next.first)) {
            Range& open = folded_.back();
            open.step = next.first - open.last;
            open.last = next.first;
            if (next.first == next.last) return;
            next = stretch(next.first + next.step, next.last, next.step);
            bool continues = next.first - open.last == open.step &&
                             (next.first == next.last || next.step == open.step);
            if (continues) {
                open.last = next.last;
                return;
            }
        }
        folded_.push_back(next);
    }

    const std::vector<Range>& folded() const { return folded_; }
    std::vector<Range> take() { return std::move(folded_); }

private:
    bool takes(std::uint32_t task) const {
        const Range& open = folded_.back();
        return open.first == open.last || task - open.last == open.step;
    }

    std::vector<Range> folded_;
};

Error bad_array(std::string_view text) {
    return {ErrorCode::InvalidArray, fmt::format("\"{}\"", text.substr(0, sizes::kWord))};
}

std::optional<Range> parse_range(std::string_view text) {
    std::uint64_t step = 1;
    std::size_t dash = text.find('-');
    if (std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        std::optional<std::uint64_t> number = to_number(text.substr(colon + 1));
        if (!number || *number == 0 || dash == std::string_view::npos) return {};
        step = std::min<std::uint64_t>(*number, kArrayTaskMax + 1);
        text = text.substr(0, colon);
    }
    std::optional<std::uint64_t> first = to_number(text.substr(0, dash));
    std::optional<std::uint64_t> last = first;
    if (dash != std::string_view::npos) last = to_number(text.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kArrayTaskMax) return {};
    *last -= (*last - *first) % step;
    return stretch(static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last),
                   static_cast<std::uint32_t>(step));
}

// Joins ranges without a step that overlap or touch. They are sorted by their first task.
std::vector<Range> joined(const std::vector<Range>& ranges) {
    std::vector<Range> result;
    std::optional<Range> open;
    for (const Range& range : ranges) {
        if (open && range.first <= open->last + 1) {
            open->last = std::max(open->last, range.last);
        } else {
            if (open) result.push_back(*open);
            open = range;
        }
    }
    if (open) result.push_back(*open);
    return result;
}

bool lower(const Range& a, const Range& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
}

// Ranges that interleave ("0-8:2,1"): those with a step are split into single tasks.
std::vector<Range> untangled(const std::vector<Range>& ranges) {
    std::vector<Range> result;
    for (const Range& range : ranges) {
        if (range.step == 1) {
            result.push_back(range);
            continue;
        }
        for (std::uint64_t task = range.first; task <= range.last; task += range.step)
            result.push_back(single(static_cast<std::uint32_t>(task)));
    }
    std::sort(result.begin(), result.end(), lower);
    return joined(result);
}

bool overlap(const std::vector<Range>& sorted) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].first <= sorted[i - 1].last) return true;
    }
    return false;
}

std::vector<Range> fold(const std::vector<Range>& sorted) {
    Folder folder;
    for (const Range& range : sorted) folder.add(range);
    return folder.take();
}

std::uint64_t stepped_tasks(const std::vector<Range>& ranges) {
    std::uint64_t total = 0;
    for (const Range& range : ranges) total += range.step == 1 ? 0 : count_of(range);
    return total;
}

void append_run(std::string& text, std::uint32_t first, std::uint32_t last) {
    if (!text.empty()) text += ',';
    text += fmt::format_int(first).c_str();
    if (last != first) text.append("-").append(fmt::format_int(last).c_str());
}

}  // namespace

Result<TaskSet> TaskSet::parse(std::string_view text) {
    SteppedTasks budget{kArrayTaskMax + 1};
    return parse(text, budget);
}

Result<TaskSet> TaskSet::parse(std::string_view text, SteppedTasks& budget) {
    std::vector<Range> ranges;
    std::uint64_t total = 0;
    for (std::string_view piece : split(text, ',')) {
        piece = trim(piece);
        if (piece.empty()) continue;
        std::optional<Range> range = parse_range(piece);
        if (!range) return bad_array(text);
        ranges.push_back(*range);
        total += count_of(*range);
        if (total > kArrayTaskMax + 1) return bad_array(text);
    }
    if (ranges.empty()) return bad_array(text);
    const std::uint64_t stepped = stepped_tasks(ranges);
    if (stepped > budget.left) {
        return Error{ErrorCode::InvalidArray,
                     fmt::format("\"{}\": too many tasks of ranges with a step",
                                 text.substr(0, sizes::kWord))};
    }
    budget.left -= stepped;
    std::sort(ranges.begin(), ranges.end(), lower);
    if (overlap(ranges)) ranges = untangled(ranges);
    TaskSet set;
    set.ranges_ = fold(ranges);
    return set;
}

std::optional<TaskSet> TaskSet::from_ranges(const std::vector<Range>& ranges) {
    std::uint64_t next = 0;
    for (const Range& range : ranges) {
        const bool right = range.first >= next && range.first <= range.last && range.step > 0 &&
                           range.last <= kArrayTaskMax &&
                           (range.last - range.first) % range.step == 0 &&
                           (range.first != range.last || range.step == 1);
        if (!right) return {};
        next = std::uint64_t{range.last} + 1;
    }
    TaskSet set;
    set.ranges_ = fold(ranges);
    return set;
}

// Compat: a step is printed only if it describes the whole set and the set is not small.
std::string TaskSet::to_string() const {
    if (ranges_.size() == 1 && ranges_[0].step > 1 && size() >= 6 &&
        ranges_[0].last - ranges_[0].first > 10) {
        return fmt::format("{}-{}:{}", ranges_[0].first, ranges_[0].last, ranges_[0].step);
    }
    std::string text;
    std::optional<Range> run;
    auto add = [&](std::uint32_t first, std::uint32_t last) {
        if (run && first == run->last + 1) {
            run->last = last;
            return;
        }
        if (run) append_run(text, run->first, run->last);
        run = Range{first, last, 1};
    };
    for (const Range& range : ranges_) {
        if (range.step == 1) {
            add(range.first, range.last);
            continue;
        }
        for (std::uint64_t task = range.first; task <= range.last; task += range.step) {
            add(static_cast<std::uint32_t>(task), static_cast<std::uint32_t>(task));
        }
    }
    if (run) append_run(text, run->first, run->last);
    return text;
}

std::uint64_t TaskSet::size() const {
    std::uint64_t total = 0;
    for (const Range& range : ranges_) total += count_of(range);
    return total;
}

std::size_t TaskSet::find_range(std::uint32_t task) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), task,
                                  [](std::uint32_t t, const Range& r) { return t < r.first; });
    return static_cast<std::size_t>(after - ranges_.begin()) - 1;
}

bool TaskSet::contains(std::uint32_t task) const {
    std::size_t index = find_range(task);
    if (index == std::size_t(-1)) return false;
    const Range& range = ranges_[index];
    return task <= range.last && (task - range.first) % range.step == 0;
}

bool TaskSet::intersects(const TaskSet& other) const {
    if (size() > other.size()) return other.intersects(*this);
    for (const Range& range : ranges_) {
        for (std::uint64_t task = range.first; task <= range.last; task += range.step) {
            if (other.contains(static_cast<std::uint32_t>(task))) return true;
        }
    }
    return false;
}

std::uint32_t TaskSet::last() const {
    return ranges_.back().last;
}

// Replaces the ranges [index, index + removed) by `pieces` and restores the canonical form.
void TaskSet::replace(std::size_t index, std::size_t removed, const std::vector<Range>& pieces) {
    std::size_t start = index > 0 ? index - 1 : 0;
    Folder folder;
    for (std::size_t i = start; i < index; ++i) folder.add(ranges_[i]);
    for (const Range& piece : pieces) folder.add(piece);
    std::size_t end = index + removed;
    for (bool settled = false; end < ranges_.size() && !settled; ++end) {
        folder.add(ranges_[end]);
        // The range added last is unchanged, so the ranges after it are unchanged too.
        settled = folder.folded().back() == ranges_[end];
    }
    std::vector<Range> folded = folder.take();
    auto at = ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(start),
                            ranges_.begin() + static_cast<std::ptrdiff_t>(end));
    ranges_.insert(at, folded.begin(), folded.end());
}

void TaskSet::insert(std::uint32_t task) {
    if (contains(task)) return;
    std::size_t index = find_range(task);
    if (index == std::size_t(-1)) return replace(0, 0, {single(task)});
    Range range = ranges_[index];
    if (task > range.last) return replace(index + 1, 0, {single(task)});
    std::uint32_t below = task - (task - range.first) % range.step;
    replace(index, 1,
            {stretch(range.first, below, range.step), single(task),
             stretch(below + range.step, range.last, range.step)});
}

void TaskSet::erase(std::uint32_t task) {
    if (!contains(task)) return;
    std::size_t index = find_range(task);
    Range range = ranges_[index];
    std::vector<Range> pieces;
    if (task > range.first) pieces.push_back(stretch(range.first, task - range.step, range.step));
    if (task < range.last) pieces.push_back(stretch(task + range.step, range.last, range.step));
    replace(index, 1, pieces);
}

Result<ArraySpec> parse_array(std::string_view text) {
    SteppedTasks budget{kArrayTaskMax + 1};
    return parse_array(text, budget);
}

Result<ArraySpec> parse_array(std::string_view text, SteppedTasks& budget) {
    std::string_view rest = trim(text);
    if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
    ArraySpec spec;
    if (std::size_t percent = rest.find('%'); percent != std::string_view::npos) {
        std::optional<std::uint64_t> limit = to_number(rest.substr(percent + 1));
        if (!limit || *limit > kArrayTaskMax) return bad_array(text);
        spec.limit = static_cast<std::uint32_t>(*limit);
        rest = rest.substr(0, percent);
    }
    Result<TaskSet> tasks = TaskSet::parse(rest, budget);
    if (!tasks) return bad_array(text);
    spec.tasks = *std::move(tasks);
    return spec;
}

std::string print_array(const ArraySpec& spec) {
    std::string text = spec.tasks.to_string();
    if (spec.limit > 0) text += fmt::format("%{}", spec.limit);
    return text;
}

}  // namespace sluice
