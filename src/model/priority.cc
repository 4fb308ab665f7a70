#include "model/priority.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

// The factors of a line, in the order in which they are written.
constexpr Factor PriorityFactors::*kFactors[] = {
    &PriorityFactors::age,      &PriorityFactors::assoc,     &PriorityFactors::fair_share,
    &PriorityFactors::job_size, &PriorityFactors::partition, &PriorityFactors::qos};

Error malformed(std::string_view text) {
    return {ErrorCode::ProtocolError, fmt::format("'{}' is no line of priority factors", text)};
}

bool read(std::string_view text, double& number) {
    auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    return wrong == std::errc{} && end == text.data() + text.size();
}

bool read(std::string_view text, Factor& factor) {
    const std::size_t colon = text.find(':');
    return colon != std::string_view::npos && read(text.substr(0, colon), factor.raw) &&
           read(text.substr(colon + 1), factor.weighted);
}

bool read_tres(std::string_view text, std::vector<PriorityFactors::OfTres>& tres) {
    for (std::string_view word : split(text, ',')) {
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) return false;
        tres.push_back({std::string(word.substr(0, equals)), {}});
        if (!read(word.substr(equals + 1), tres.back().factor)) return false;
    }
    return true;
}

bool read_line(std::string_view text, PriorityLine& line) {
    const std::vector<std::string_view> parts = words(text);
    constexpr std::size_t kFirstFactor = 5;
    const std::size_t count = kFirstFactor + std::size(kFactors);
    if (parts.size() != count && parts.size() != count + 1) return false;
    line.partition = parts[0];
    line.by_hand = parts[2] == "1";
    if (!read(parts[1], line.total) || !read(parts[3], line.factors.site) ||
        !read(parts[4], line.factors.nice)) {
        return false;
    }
    for (std::size_t i = 0; i < std::size(kFactors); ++i) {
        if (!read(parts[kFirstFactor + i], line.factors.*kFactors[i])) return false;
    }
    return parts.size() == count || read_tres(parts[count], line.factors.tres);
}

}  // namespace

double PriorityFactors::fixed() const {
    double sum = job_size.weighted + partition.weighted + qos.weighted;
    for (const OfTres& each : tres) sum += each.factor.weighted;
    return sum;
}

double PriorityFactors::moving() const {
    return age.weighted + assoc.weighted + fair_share.weighted + site - nice;
}

void append_priority_line(const PriorityLine& line, std::string& out) {
    auto put = std::back_inserter(out);
    const PriorityFactors& factors = line.factors;
    fmt::format_to(put, "{} {} {} {} {}", line.partition, line.total, line.by_hand ? 1 : 0,
                   factors.site, factors.nice);
    for (auto factor : kFactors) {
        fmt::format_to(put, " {}:{}", (factors.*factor).raw, (factors.*factor).weighted);
    }
    char before = ' ';
    for (const PriorityFactors::OfTres& each : factors.tres) {
        fmt::format_to(put, "{}{}={}:{}", before, each.name, each.factor.raw, each.factor.weighted);
        before = ',';
    }
    out += '\n';
}

Result<std::vector<PriorityLine>> parse_priority_lines(std::string_view text) {
    std::vector<PriorityLine> lines;
    for (std::string_view each : split(text, '\n')) {
        if (each.empty()) continue;
        if (!read_line(each, lines.emplace_back())) return malformed(each);
    }
    return lines;
}

}  // namespace sluice
