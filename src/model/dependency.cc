// model/dependency.cc: the words of --dependency.
#include "model/dependency.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

struct KindRow {
    DependencyKind kind;
    std::string_view name;
};

constexpr KindRow kKinds[] = {
    {DependencyKind::After, "after"},
    {DependencyKind::AfterAny, "afterany"},
    {DependencyKind::AfterBurstBuffer, "afterburstbuffer"},
    {DependencyKind::AfterCorr, "aftercorr"},
    {DependencyKind::AfterNotOk, "afternotok"},
    {DependencyKind::AfterOk, "afterok"},
    {DependencyKind::Singleton, "singleton"},
    {DependencyKind::Expand, "expand"},
};

constexpr std::uint64_t kJobIdMax = 0xfffffff0;
constexpr std::uint64_t kDelayMax = 60 * 24 * 365 * 10;  // minutes: ten years

Error problem(std::string_view text) {
    return {ErrorCode::DependencyProblem,
            fmt::format("--dependency={}", text.substr(0, sizes::kDependency))};
}

std::optional<DependencyKind> find_kind(std::string_view name) {
    for (const KindRow& row : kKinds) {
        if (equals_ignoring_case(row.name, name)) return row.kind;
    }
    return {};
}

// "12", "12_3" or "12_*".
bool read_job(std::string_view text, Condition& condition) {
    std::size_t bar = text.find('_');
    std::optional<std::uint64_t> job = to_number(text.substr(0, bar));
    if (!job || *job == 0 || *job > kJobIdMax) return false;
    condition.job = JobId(static_cast<std::uint32_t>(*job));
    if (bar == std::string_view::npos) return true;
    std::string_view task = text.substr(bar + 1);
    condition.all_tasks = task == "*";
    if (condition.all_tasks) return true;
    std::optional<std::uint64_t> number = to_number(task);
    if (!number || *number > kArrayTaskMax) return false;
    condition.task = static_cast<std::uint32_t>(*number);
    return true;
}

// The jobs of one condition, each with its delay or that of an earlier one.
bool read_jobs(std::string_view text, DependencyKind kind, std::vector<Condition>& read) {
    Minutes delay{0};
    for (std::string_view word : split(text, ':')) {
        Condition condition{.kind = kind};
        std::size_t plus = word.find('+');
        if (plus != std::string_view::npos) {
            std::optional<std::uint64_t> minutes = to_number(word.substr(plus + 1));
            if (kind != DependencyKind::After || !minutes || *minutes > kDelayMax) return false;
            delay = Minutes{*minutes};  // Compat: it also applies to the jobs that follow
        }
        if (!read_job(word.substr(0, plus), condition)) return false;
        condition.delay = delay;
        read.push_back(condition);
    }
    return true;
}

bool read_condition(std::string_view text, std::vector<Condition>& read) {
    std::size_t colon = text.find(':');
    std::optional<DependencyKind> kind = find_kind(text.substr(0, colon));
    if (kind == DependencyKind::Singleton) {
        read.push_back({.kind = *kind});
        return colon == std::string_view::npos;
    }
    if (!kind) return read_jobs(text, DependencyKind::AfterAny, read);  // bare job ids
    return colon != std::string_view::npos && read_jobs(text.substr(colon + 1), *kind, read);
}

}  // namespace

bool Dependency::never() const {
    auto failed = [](const Condition& condition) { return condition.failed; };
    return any ? !left.empty() && std::all_of(left.begin(), left.end(), failed)
               : std::any_of(left.begin(), left.end(), failed);
}

Result<Dependency> parse_dependency(std::string_view text) {
    Dependency dependency;
    if (text.empty() || equals_ignoring_case(text, "none")) return dependency;
    dependency.any = text.find('?') != std::string_view::npos;
    if (dependency.any && text.find(',') != std::string_view::npos) return problem(text);
    std::vector<Condition> read;
    for (std::string_view part : split(text, dependency.any ? '?' : ',')) {
        if (!read_condition(part, read)) return problem(text);
        if (read.size() > sizes::kConditionCount) {
            return Error{ErrorCode::DependencyProblem,
                         fmt::format("--dependency={}...: more than {} conditions",
                                     text.substr(0, 64), sizes::kConditionCount)};
        }
    }
    std::set<std::tuple<DependencyKind, JobId, std::optional<std::uint32_t>, bool, Minutes>> known;
    for (const Condition& each : read) {
        if (known.insert({each.kind, each.job, each.task, each.all_tasks, each.delay}).second)
            dependency.left.push_back(each);
    }
    dependency.any = dependency.any && dependency.left.size() > 1;
    return dependency;
}

std::string print_dependency(const Dependency& dependency) {
    std::string text;
    for (const Condition& condition : dependency.left) {
        if (!text.empty()) text += dependency.any ? '?' : ',';
        text += kKinds[static_cast<std::size_t>(condition.kind)].name;
        if (condition.kind != DependencyKind::Singleton) {
            text += fmt::format(":{}", condition.job.value);
            if (condition.task) text += fmt::format("_{}", *condition.task);
            if (condition.all_tasks) text += "_*";
            if (condition.delay.count() > 0) text += fmt::format("+{}", condition.delay.count());
        }
        text += condition.failed ? "(failed)" : "(unfulfilled)";
    }
    return text;
}

}  // namespace sluice
