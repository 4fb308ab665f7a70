#include "surface/priorities.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "surface/cells.h"

namespace sluice {

namespace {

using C = JobColumn;
using F = PriorityFactors;
using W = PriorityWeights;

constexpr double kWhole = 4294967295;  // what a normalized priority is measured against

// Numbers that sort as the fractions they stand for.
std::int64_t key_of(double value) {
    return std::llround(value * 1e6);
}

void append_weighted(double value, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{:.0f}", value);
}

template <Factor F::*Member, std::uint32_t W::*Weight>
void weighted_cell(const PriorityRow& row, std::string& out) {
    if (!row.line) return append_number(row.weights->*Weight, out);
    append_weighted((row.line->factors.*Member).weighted, out);
}
template <Factor F::*Member, std::uint32_t W::*Weight>
void normal_cell(const PriorityRow& row, std::string& out) {
    if (!row.line) return append_number(row.weights->*Weight, out);
    fmt::format_to(std::back_inserter(out), "{:.7f}", (row.line->factors.*Member).raw);
}
template <Factor F::*Member>
std::int64_t factor_key(const PriorityRow& row) {
    return row.line ? key_of((row.line->factors.*Member).weighted) : 0;
}

void weighted_tres(const PriorityRow& row, std::string& out) {
    if (!row.line) {
        out += row.weights->tres.empty() ? "(null)" : std::string_view(row.weights->tres);
        return;
    }
    const char* before = "";
    for (const F::OfTres& each : row.line->factors.tres) {
        fmt::format_to(std::back_inserter(out), "{}{}={:.0f}", before, each.name,
                       each.factor.weighted);
        before = ",";
    }
}

// Compat: the weights are not repeated here.
void normal_tres(const PriorityRow& row, std::string& out) {
    if (!row.line) return;
    const char* before = "";
    for (const F::OfTres& each : row.line->factors.tres) {
        fmt::format_to(std::back_inserter(out), "{}{}={:.2f}", before, each.name, each.factor.raw);
        before = ",";
    }
}

void priority(const PriorityRow& row, std::string& out) {
    if (row.line) append_number(static_cast<std::int64_t>(row.line->total), out);
}

// Compat: one that was set by hand is shown as it is.
void normal_priority(const PriorityRow& row, std::string& out) {
    if (!row.line) return;
    const double whole = row.line->by_hand ? 1 : kWhole;
    fmt::format_to(std::back_inserter(out), "{:.14f}", row.line->total / whole);
}

std::int64_t priority_key(const PriorityRow& row) {
    return row.line ? key_of(row.line->total) : 0;
}

void site(const PriorityRow& row, std::string& out) {
    if (!row.line) return append_number(1, out);
    append_weighted(row.line->factors.site, out);
}
void nice(const PriorityRow& row, std::string& out) {
    if (row.line) append_weighted(row.line->factors.nice, out);
}
std::int64_t nice_key(const PriorityRow& row) {
    return row.line ? key_of(row.line->factors.nice) : 0;
}
std::int64_t site_key(const PriorityRow& row) {
    return row.line ? key_of(row.line->factors.site) : 0;
}

void job_id(const PriorityRow& row, std::string& out) {
    if (!row.line) {
        out += "Weights";
        return;
    }
    append_number(row.job.number(C::Id), out);
}
std::int64_t job_key(const PriorityRow& row) {
    return row.line ? row.job.number(C::Id) : 0;
}

void partition(const PriorityRow& row, std::string& out) {
    if (row.line) out += row.line->partition;
}

void cluster(const PriorityRow&, std::string& out) {
    out += "(null)";
}

// A job's own facts say nothing about the weights.
template <void (*Cell)(const SheetRow&, std::string&)>
void of_job(const PriorityRow& row, std::string& out) {
    if (row.line) Cell(row.job, out);
}

constexpr Needs kLine = needs(C::PriorityFactors);

// clang-format off
constexpr PriorityField kFields[] = {
    // -o  -O  header       needs              text                                                sort
    {'a', "", "AGE",        kLine,             normal_cell<&F::age, &W::age>,                      factor_key<&F::age>,        kPlain, true},
    {'A', "", "AGE",        kLine,             weighted_cell<&F::age, &W::age>,                    factor_key<&F::age>,        kPlain, true},
    {'b', "", "ASSOC",      kLine,             normal_cell<&F::assoc, &W::assoc>,                  factor_key<&F::assoc>,      kPlain, true},
    {'B', "", "ASSOC",      kLine,             weighted_cell<&F::assoc, &W::assoc>,                factor_key<&F::assoc>,      kPlain, true},
    {'c', "", "CLUSTER",    {},                cluster,                                            nullptr,                    kPlain, true},
    {'f', "", "FAIRSHARE",  kLine,             normal_cell<&F::fair_share, &W::fair_share>,        factor_key<&F::fair_share>, kPlain, true},
    {'F', "", "FAIRSHARE",  kLine,             weighted_cell<&F::fair_share, &W::fair_share>,      factor_key<&F::fair_share>, kPlain, true},
    {'i', "", "JOBID",      needs(C::Id),      job_id,                                             job_key,                    kPlain, true},
    {'j', "", "JOBSIZE",    kLine,             normal_cell<&F::job_size, &W::job_size>,            factor_key<&F::job_size>,   kPlain, true},
    {'J', "", "JOBSIZE",    kLine,             weighted_cell<&F::job_size, &W::job_size>,          factor_key<&F::job_size>,   kPlain, true},
    {'n', "", "QOSNAME",    needs(C::Qos),     of_job<text_cell<C::Qos>>,                          nullptr,                    kPlain, true},
    {'N', "", "NICE",       kLine,             nice,                                               nice_key,                   kPlain, true},
    {'o', "", "ACCOUNT",    needs(C::Account), of_job<text_cell<C::Account>>,                      nullptr,                    kPlain, true},
    {'p', "", "PARTITION",  kLine,             normal_cell<&F::partition, &W::partition>,          factor_key<&F::partition>,  kPlain, true},
    {'P', "", "PARTITION",  kLine,             weighted_cell<&F::partition, &W::partition>,        factor_key<&F::partition>,  kPlain, true},
    {'q', "", "QOS",        kLine,             normal_cell<&F::qos, &W::qos>,                      factor_key<&F::qos>,        kPlain, true},
    {'Q', "", "QOS",        kLine,             weighted_cell<&F::qos, &W::qos>,                    factor_key<&F::qos>,        kPlain, true},
    {'r', "", "PARTITION",  kLine,             partition,                                          nullptr,                    kPlain, true},
    {'s', "", "SLUID",      needs(C::Sluid),   of_job<text_cell<C::Sluid>>,                        nullptr,                    kPlain, true},
    {'S', "", "SITE",       kLine,             site,                                               site_key,                   kPlain, true},
    {'t', "", "TRES",       kLine,             normal_tres,                                        nullptr,                    kPlain, true},
    {'T', "", "TRES",       kLine,             weighted_tres,                                      nullptr,                    kPlain, true},
    {'u', "", "USER",       needs(C::UserId),  of_job<user_cell<C::UserId>>,                       nullptr,                    kPlain, true},
    {'y', "", "PRIORITY",   kLine,             normal_priority,                                    priority_key,               kPlain, true},
    {'Y', "", "PRIORITY",   kLine,             priority,                                           priority_key,               kPlain, true},
};
// clang-format on

}  // namespace

std::span<const PriorityField> priority_fields() {
    return kFields;
}

}  // namespace sluice
