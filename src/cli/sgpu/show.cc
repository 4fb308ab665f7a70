#include "cli/sgpu/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/times.h"
#include "surface/json.h"

namespace sluice {

namespace {

using Values = std::vector<std::optional<std::uint64_t>>;

constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kLetters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
constexpr int kSteps = 8;  // of a character
constexpr std::size_t kRows = 8;
constexpr const char* kColumns[kGpuValues] = {"utilization",      "utilization_max", "memory_mb",
                                              "power_w",          "temperature_c",   "sm_clock_mhz",
                                              "memory_clock_mhz", "processes"};

std::string or_dash(std::optional<double> value, const char* unit = "") {
    return value ? fmt::format("{:.0f}{}", *value, unit) : "-";
}

std::string gigabytes(std::optional<double> megabytes) {
    return megabytes ? fmt::format("{:.1f}G", *megabytes / 1024) : "-";
}

std::optional<double> last_of(const Values& values) {
    for (auto value = values.rbegin(); value != values.rend(); ++value) {
        if (*value) return static_cast<double>(**value);
    }
    return {};
}

// ---- tables

// Columns as wide as their longest text; the first ones are aligned to the left.
class Lines {
public:
    explicit Lines(std::size_t left) : left_(left) {}
    void add(std::vector<std::string> cells, std::string tail = {}) {
        cells_.push_back(std::move(cells));
        tails_.push_back(std::move(tail));
    }
    std::string text() const {
        std::vector<std::size_t> widths;
        for (const auto& line : cells_) {
            widths.resize(std::max(widths.size(), line.size()));
            for (std::size_t i = 0; i < line.size(); ++i)
                widths[i] = std::max(widths[i], line[i].size());
        }
        std::string out;
        for (std::size_t row = 0; row < cells_.size(); ++row) {
            std::string line;
            for (std::size_t i = 0; i < cells_[row].size(); ++i) {
                const bool is_left = i < left_;
                line += is_left ? fmt::format("{:<{}}  ", cells_[row][i], widths[i])
                                : fmt::format("{:>{}}  ", cells_[row][i], widths[i]);
            }
            line += tails_[row];
            out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
        return out;
    }

private:
    std::size_t left_;
    std::vector<std::vector<std::string>> cells_;
    std::vector<std::string> tails_;
};

std::string key_of(const GpuCourse& course, GpuGroup group) {
    if (group == GpuGroup::Node) return course.node;
    if (group == GpuGroup::User) return course.user.empty() ? "-" : course.user;
    return course.job == 0 ? "-" : fmt::format("{}", course.job);
}

std::optional<double> mean(const std::vector<const GpuCourse*>& courses,
                           std::optional<double> (*pick)(const GpuCourse&)) {
    double sum = 0;
    std::size_t count = 0;
    for (const GpuCourse* course : courses) {
        const std::optional<double> value = pick(*course);
        if (!value) continue;
        sum += *value;
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

std::optional<double> now_used(const GpuCourse& course) {
    return last_of(course.of(GpuValue::Utilization));
}
std::optional<double> mean_used(const GpuCourse& course) {
    return mean_of(course.of(GpuValue::Utilization));
}
std::optional<double> now_memory(const GpuCourse& course) {
    return last_of(course.of(GpuValue::Memory));
}
std::optional<double> now_power(const GpuCourse& course) {
    return last_of(course.of(GpuValue::Power));
}

void add_gpu(const GpuCourse& course, const GpuLooks& looks, std::int64_t from, std::int64_t to,
             Lines& lines) {
    const auto spark = over_time({&course}, GpuValue::Utilization, from, to, looks.spark_width);
    std::string tail = sparkline(spark, 100, looks.blocks);
    if (!course.out_of_service.empty()) tail += "  out of service: " + course.out_of_service;
    lines.add(
        {course.node, fmt::format("{}", course.gpu), course.type.empty() ? "-" : course.type,
         course.user.empty() ? "-" : course.user, key_of(course, GpuGroup::Job),
         or_dash(now_used(course), "%"),
         fmt::format("{}/{}", gigabytes(now_memory(course)),
                     gigabytes(static_cast<double>(course.memory_all))),
         or_dash(now_power(course), "W"), or_dash(last_of(course.of(GpuValue::Temperature)), "C")},
        tail);
}

void add_group(const std::string& key, const std::vector<const GpuCourse*>& courses, GpuGroup group,
               const GpuLooks& looks, std::int64_t from, std::int64_t to, Lines& lines) {
    std::vector<std::string> cells{key};
    if (group == GpuGroup::Job)
        cells.push_back(courses.front()->user.empty() ? "-" : courses.front()->user);
    double memory = 0, power = 0;
    for (const GpuCourse* course : courses) {
        memory += now_memory(*course).value_or(0);
        power += now_power(*course).value_or(0);
    }
    cells.insert(
        cells.end(),
        {fmt::format("{}", courses.size()), or_dash(mean(courses, now_used), "%"),
         or_dash(mean(courses, mean_used), "%"), gigabytes(memory), fmt::format("{:.0f}W", power)});
    const auto spark = over_time(courses, GpuValue::Utilization, from, to, looks.spark_width);
    lines.add(std::move(cells), sparkline(spark, 100, looks.blocks));
}

// ---- charts

// Rows of characters, the highest first; each character has kSteps steps.
std::string chart(const std::vector<std::optional<double>>& values, double most,
                  const std::string& unit, const GpuLooks& looks) {
    std::string out;
    for (std::size_t row = kRows; row-- > 0;) {
        const bool is_labelled = row + 1 == kRows || row == kRows / 2 - 1;
        const double label = most * static_cast<double>(row + 1) / kRows;
        out += is_labelled ? fmt::format("{:>7}", fmt::format("{:.0f}{}", label, unit))
                           : std::string(7, ' ');
        out += looks.blocks ? " ┤" : " |";
        for (const std::optional<double>& value : values) {
            const double height = value && most > 0 ? *value / most * kRows : 0;
            const double part = std::clamp(height - static_cast<double>(row), 0.0, 1.0);
            auto step = static_cast<int>(std::lround(part * kSteps));
            if (row == 0 && value) step = std::max(step, 1);  // known, and zero
            if (looks.blocks) {
                out += kBlocks[step];
            } else {
                out += step == 0 ? " " : step * 2 < kSteps ? "." : "#";
            }
        }
        while (!out.empty() && out.back() == ' ') out.pop_back();
        out += '\n';
    }
    return out;
}

std::string axis(const FoundJob& job, std::int64_t start, std::int64_t end, const GpuLooks& looks) {
    const std::string from = fmt::format("{}", print_duration(Seconds{start - job.start}));
    const std::string to = fmt::format("{}", print_duration(Seconds{end - job.start}));
    const std::size_t used = from.size() + to.size();
    const std::size_t gap = looks.width > used ? looks.width - used : 1;
    return std::string(9, ' ') + from + std::string(gap, ' ') + to + "\n";
}

std::string row_of(const GpuCourse& course, double memory_all) {
    const auto& used = course.of(GpuValue::Utilization);
    const auto most = most_of(course.of(GpuValue::UtilizationMost));
    const auto memory = most_of(course.of(GpuValue::Memory));
    return fmt::format(
        "mean {:>4}  peak {:>4}  memory {:>6} of {}", or_dash(mean_of(used), "%"),
        most ? fmt::format("{}%", *most) : std::string("-"),
        gigabytes(memory ? std::optional(static_cast<double>(*memory)) : std::nullopt),
        gigabytes(memory_all));
}

std::string notes(const std::vector<GpuCourse>& courses) {
    std::string out;
    for (const GpuCourse& course : courses) {
        const std::string name = fmt::format("{} GPU {}", course.node, course.gpu);
        if (course.ecc_errors > 0)
            out += fmt::format("{}: {} uncorrected memory errors\n", name, course.ecc_errors);
        if (!course.xids.empty())
            out += fmt::format("{}: XID {}\n", name, fmt::join(course.xids, ", "));
    }
    return out;
}

}  // namespace

std::optional<double> mean_of(const Values& values) {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& value : values) {
        if (!value) continue;
        sum += static_cast<double>(*value);
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

std::optional<std::uint64_t> most_of(const Values& values) {
    std::optional<std::uint64_t> most;
    for (const auto& value : values) {
        if (value) most = std::max(most.value_or(0), *value);
    }
    return most;
}

std::string sparkline(const std::vector<std::optional<double>>& values, double most, bool blocks) {
    std::string line;
    for (const auto& value : values) {
        const double part = value && most > 0 ? std::clamp(*value / most, 0.0, 1.0) : 0;
        const int step = value ? std::max(1, static_cast<int>(std::lround(part * kSteps))) : 0;
        line += (blocks ? kBlocks : kLetters)[step];
    }
    return line;
}

std::vector<std::optional<double>> over_time(const std::vector<const GpuCourse*>& courses,
                                             GpuValue value, std::int64_t start, std::int64_t end,
                                             std::size_t columns) {
    std::vector<double> sums(columns);
    std::vector<std::size_t> counts(columns);
    const double length = std::max<double>(1, static_cast<double>(end - start));
    const auto place_of = [&](std::int64_t time) {
        return static_cast<double>(time - start) / length * static_cast<double>(columns);
    };
    const auto column = [&](double place) {
        return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(columns) - 1));
    };
    for (const GpuCourse* course : courses) {
        const Values& values = course->of(value);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t time =
                course->start + static_cast<std::int64_t>(i) * std::int64_t{course->interval};
            if (!values[i] || time < start || time > end) continue;
            // An interval may be as long as several columns.
            const std::size_t last = column(std::ceil(place_of(time + course->interval)) - 1);
            for (std::size_t each = column(std::floor(place_of(time))); each <= last; ++each) {
                sums[each] += static_cast<double>(*values[i]);
                ++counts[each];
            }
        }
    }
    std::vector<std::optional<double>> means(columns);
    for (std::size_t i = 0; i < columns; ++i) {
        if (counts[i] > 0) means[i] = sums[i] / static_cast<double>(counts[i]);
    }
    return means;
}

std::string gpu_table(const std::vector<GpuCourse>& courses, GpuGroup group, const GpuLooks& looks,
                      std::int64_t from, std::int64_t to) {
    if (group == GpuGroup::Gpu) {
        Lines lines(4);
        if (looks.header) {
            lines.add({"NODE", "GPU", "TYPE", "USER", "JOB", "UTIL", "MEMORY", "POWER", "TEMP"},
                      "HISTORY");
        }
        for (const GpuCourse& course : courses) add_gpu(course, looks, from, to, lines);
        return lines.text();
    }
    const bool is_job = group == GpuGroup::Job;
    std::map<std::pair<std::size_t, std::string>, std::vector<const GpuCourse*>> groups;
    for (const GpuCourse& course : courses) {
        const std::string key = key_of(course, group);
        groups[{is_job ? key.size() : 0, key}].push_back(&course);  // job ids by number
    }
    Lines lines(is_job ? 2 : 1);
    std::vector<std::string> header{is_job ? "JOB" : group == GpuGroup::Node ? "NODE" : "USER"};
    if (is_job) header.emplace_back("USER");
    header.insert(header.end(), {"GPUS", "UTIL", "MEAN", "MEMORY", "POWER"});
    if (looks.header) lines.add(std::move(header), "HISTORY");
    for (const auto& [key, members] : groups)
        add_group(key.second, members, group, looks, from, to, lines);
    return lines.text();
}

std::string gpu_charts(const FoundJob& job, const std::vector<GpuCourse>& courses,
                       const GpuLooks& looks) {
    std::vector<const GpuCourse*> all;
    std::int64_t start = courses.front().start, end = start;
    double memory_all = 0;
    for (const GpuCourse& course : courses) {
        all.push_back(&course);
        start = std::min(start, course.start);
        const auto points = static_cast<std::int64_t>(course.steps.size());
        end = std::max(end, course.start + points * std::int64_t{course.interval} - 1);
        memory_all = std::max(memory_all, static_cast<double>(course.memory_all));
    }
    std::string out = fmt::format(
        "Job {} ({}) of {}, {}: {} GPU{} on {}\n\nUtilization, mean of all GPUs\n", job.printed,
        job.name, job.user, job.state, courses.size(), courses.size() == 1 ? "" : "s", job.nodes);
    const auto used = over_time(all, GpuValue::Utilization, start, end, looks.width);
    out += chart(used, 100, "%", looks) + axis(job, start, end, looks);
    out += "\nMemory, mean of all GPUs\n";
    auto memory = over_time(all, GpuValue::Memory, start, end, looks.width);
    for (auto& value : memory) {
        if (value) *value /= 1024;
    }
    double most = memory_all / 1024;
    for (const auto& value : memory) most = std::max(most, value.value_or(0));
    out += chart(memory, most, "G", looks) + axis(job, start, end, looks) + "\n";
    Lines lines(2);
    for (const GpuCourse& course : courses) {
        const auto spark =
            over_time({&course}, GpuValue::Utilization, start, end, looks.spark_width);
        lines.add({course.node, fmt::format("GPU {}", course.gpu)},
                  sparkline(spark, 100, looks.blocks) + "  " +
                      row_of(course, static_cast<double>(course.memory_all)));
    }
    return out + lines.text() + notes(courses);
}

std::string gpu_csv(const std::vector<GpuCourse>& courses, bool header) {
    std::string out;
    if (header) {
        out += fmt::format("time,node,gpu,uuid,type,job,user,step,memory_total_mb,{}\n",
                           fmt::join(kColumns, ","));
    }
    for (const GpuCourse& course : courses) {
        for (std::size_t i = 0; i < course.steps.size(); ++i) {
            const std::int64_t time =
                course.start + static_cast<std::int64_t>(i) * std::int64_t{course.interval};
            out += fmt::format(
                "{},{},{},{},{},{},{},{},{}", time, course.node, course.gpu, course.uuid,
                course.type, course.job == 0 ? "" : fmt::format("{}", course.job), course.user,
                course.job == 0 ? "" : print_step(StepId{course.steps[i]}), course.memory_all);
            for (const Values& values : course.values) {
                out += ',';
                if (values[i]) out += fmt::format("{}", *values[i]);
            }
            out += '\n';
        }
    }
    return out;
}

std::string gpu_json(const std::vector<GpuCourse>& courses, const FoundJob* job) {
    Json json;
    json.open_object();
    if (job) {
        json.number("job_id", job->id);
        json.text("state", job->state);
    }
    json.open_list("gpus");
    for (const GpuCourse& course : courses) {
        json.open_object();
        json.text("node", course.node);
        json.number("gpu", course.gpu);
        json.text("uuid", course.uuid);
        json.text("type", course.type);
        if (course.job == 0) json.null("job_id");
        if (course.job != 0) json.number("job_id", course.job);
        json.text("user", course.user);
        json.text("out_of_service", course.out_of_service);
        json.number("memory_total_mb", static_cast<std::int64_t>(course.memory_all));
        json.number("uncorrected_errors", static_cast<std::int64_t>(course.ecc_errors));
        json.open_list("xids");
        for (const std::uint32_t xid : course.xids) json.number({}, xid);
        json.close();
        json.number("start", course.start);
        json.number("interval", course.interval);
        for (std::size_t value = 0; value < kGpuValues; ++value) {
            json.open_list(kColumns[value]);
            for (const auto& each : course.values[value]) {
                if (!each) json.null({});
                if (each) json.number({}, static_cast<std::int64_t>(*each));
            }
            json.close();
        }
        json.close();
    }
    json.close();
    json.close();
    return json.take();
}

}  // namespace sluice
