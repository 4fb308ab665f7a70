// cli/sgpu/show.h
//
// How samples are shown: tables of now with sparklines, charts of a job, CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/sgpu/fetch.h"

namespace sluice {

enum class GpuGroup : std::uint8_t { Gpu, Node, Job, User };

struct GpuLooks {
    bool blocks = true;  // Unicode blocks; otherwise ASCII
    bool header = true;
    std::size_t width = 60;  // of charts
    std::size_t spark_width = 20;
};

// The mean of the known values; absent: there are none.
std::optional<double> mean_of(const std::vector<std::optional<std::uint64_t>>& values);
std::optional<std::uint64_t> most_of(const std::vector<std::optional<std::uint64_t>>& values);

// A value per column, from 0 to `most`; unknown ones are blanks.
std::string sparkline(const std::vector<std::optional<double>>& values, double most, bool blocks);

// The mean of all courses in each of `columns` equal parts of the time from `start` to `end`.
std::vector<std::optional<double>> over_time(const std::vector<const GpuCourse*>& courses,
                                             GpuValue value, std::int64_t start, std::int64_t end,
                                             std::size_t columns);

// A line per GPU, node, job or user: what it does now, and the last minutes.
std::string gpu_table(const std::vector<GpuCourse>& courses, GpuGroup group, const GpuLooks& looks,
                      std::int64_t from, std::int64_t to);

// Utilisation and memory of a job over its time, and a line per GPU.
std::string gpu_charts(const FoundJob& job, const std::vector<GpuCourse>& courses,
                       const GpuLooks& looks);

std::string gpu_csv(const std::vector<GpuCourse>& courses, bool header);
std::string gpu_json(const std::vector<GpuCourse>& courses, const FoundJob* job);

}  // namespace sluice
