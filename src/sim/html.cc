// sim/html.cc
//
// The report as a page: the numbers, and three charts drawn as SVG. No scripts, no other files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report.h"

namespace sluice {
namespace {

constexpr int kWidth = 900, kHeight = 220, kLeft = 60, kBottom = 24, kTop = 10;
constexpr int kBuckets = 300;

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

// The average of a quantity in each of kBuckets equal parts of the time.
std::vector<double> averages(const std::vector<Sample>& samples, std::uint64_t Sample::*quantity) {
    std::vector<double> sums(kBuckets, 0);
    if (samples.size() < 2) return sums;
    auto start = static_cast<double>(to_unix(samples.front().time));
    double width = (static_cast<double>(to_unix(samples.back().time)) - start) / kBuckets;
    if (width <= 0) return sums;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        double from = (static_cast<double>(to_unix(samples[i].time)) - start) / width;
        double to = (static_cast<double>(to_unix(samples[i + 1].time)) - start) / width;
        auto value = static_cast<double>(samples[i].*quantity);
        for (int b = static_cast<int>(from); b < kBuckets && b < to; ++b) {
            sums[static_cast<std::size_t>(b)] +=
                value * (std::min<double>(to, b + 1) - std::max<double>(from, b));
        }
    }
    return sums;
}

std::string frame(std::string_view title, double top, std::string_view unit, double days,
                  const std::string& inside) {
    return fmt::format(
        "<h2>{}</h2>\n<svg viewBox=\"0 0 {} {}\" role=\"img\">\n"
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"axis\"/>\n"
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"axis\"/>\n"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.4g}{}</text>\n"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">0</text>\n"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n{}</svg>\n",
        title, kWidth, kHeight, kLeft, kHeight - kBottom, kWidth, kHeight - kBottom, kLeft, kTop,
        kLeft, kHeight - kBottom, kLeft - 5, kTop + 10, top, unit, kLeft - 5, kHeight - kBottom,
        kWidth, kHeight - 8, days >= 0 ? fmt::format("{:.2f} days", days) : std::string(), inside);
}

std::string curve(const std::vector<double>& values, double top, std::string_view style) {
    std::string points;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double x = kLeft + (kWidth - kLeft) * static_cast<double>(i) / (kBuckets - 1);
        double y = kHeight - kBottom - (kHeight - kBottom - kTop) * std::min(1.0, values[i] / top);
        points += fmt::format("{:.1f},{:.1f} ", x, y);
    }
    return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", style, points);
}

std::string utilisation_chart(const Outcome& outcome, double days) {
    auto shares = [&](std::uint64_t Sample::*quantity, std::uint64_t all) {
        std::vector<double> values = averages(outcome.samples, quantity);
        for (double& value : values) value *= 100.0 / static_cast<double>(all);
        return values;
    };
    std::string curves =
        curve(shares(&Sample::cpus, std::max<std::uint64_t>(outcome.cpus, 1)), 100, "cpu");
    if (outcome.gpus > 0) curves += curve(shares(&Sample::gpus, outcome.gpus), 100, "gpu");
    std::string title = outcome.gpus > 0 ? "Use of CPUs (blue) and GPUs (orange)" : "Use of CPUs";
    return frame(title, 100, " %", days, curves);
}

std::string queue_chart(const Outcome& outcome, double days) {
    std::vector<double> waiting = averages(outcome.samples, &Sample::waiting);
    double top = std::max(1.0, *std::max_element(waiting.begin(), waiting.end()));
    return frame("Jobs waiting", top, "", days, curve(waiting, top, "cpu"));
}

struct WaitClass {
    std::string_view name;
    double most;  // seconds
};
constexpr WaitClass kWaitClasses[] = {
    {"none", 0},     {"1 min", 60},  {"10 min", 600}, {"1 h", 3600},      {"4 h", 14400},
    {"12 h", 43200}, {"1 d", 86400}, {"3 d", 259200}, {"1 week", 604800}, {"more", 1e18},
};

std::string wait_chart(const Trace& trace, const Outcome& outcome) {
    std::array<double, std::size(kWaitClasses)> counts{};
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (!outcome.jobs[i].start || !outcome.jobs[i].end) continue;
        double wait = wait_of(trace.jobs[i], outcome.jobs[i]);
        std::size_t index = 0;
        while (wait > kWaitClasses[index].most) ++index;
        ++counts[index];
    }
    double top = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
    std::string bars;
    double step = static_cast<double>(kWidth - kLeft) / static_cast<double>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        double height = (kHeight - kBottom - kTop) * counts[i] / top;
        double x = kLeft + step * static_cast<double>(i);
        bars += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{:.0f} jobs"
            "</title></rect>\n<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            x + 4, kHeight - kBottom - height, step - 8, height, counts[i], x + step / 2,
            kHeight - 8, kWaitClasses[i].name);
    }
    return frame("Jobs by how long they waited (at most)", top, "", -1, bars);
}

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}h1{font-size:1.5em}h2{font-size:1.1em;margin:1.5em 0 .3em}"
    "svg{width:100%;height:auto}svg text{font-size:12px;fill:#555}"
    ".axis{stroke:#999}polyline{fill:none;stroke-width:1.5}"
    ".cpu{stroke:#1f6fb2}.gpu{stroke:#e08214}rect{fill:#1f6fb2}"
    "pre{background:#f4f4f4;padding:1em;overflow-x:auto;font-size:13px}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "pre{background:#242424}svg text{fill:#aaa}}";

}  // namespace

std::string print_html(const std::string& title, const Trace& trace, const Outcome& outcome,
                       const Summary& summary) {
    double days = summary.makespan / 86400;
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
        "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}{4}"
        "<h2>Numbers</h2>\n<pre>{5}</pre>\n</body>\n</html>\n",
        escaped(title), kStyle, utilisation_chart(outcome, days), queue_chart(outcome, days),
        wait_chart(trace, outcome), escaped(print_summary(summary)));
}

}  // namespace sluice
