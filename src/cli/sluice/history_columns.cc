// See history_columns.h.
#include "cli/sluice/history_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/sizes.h"
#include "model/times.h"

namespace sluice {

namespace {

using Line = HistoryLine;

constexpr double kAmountMost = 1e15;

std::optional<double> real_in(std::string_view text) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = problem == std::errc{} && end == text.data() + text.size();
    if (!is_whole || !(value >= 0) || !(value < kAmountMost)) return {};
    return value;
}

bool set_number(std::optional<std::uint32_t>& member, std::string_view cell) {
    const std::optional<std::uint64_t> number = to_number(cell);
    if (!number || *number > 0xffffffff) return false;
    member = static_cast<std::uint32_t>(*number);
    return true;
}

template <std::optional<std::uint32_t> Line::*Member>
bool number(Line& line, std::string_view cell) {
    return set_number(line.*Member, cell);
}
template <std::string Line::*Member>
bool text(Line& line, std::string_view cell) {
    line.*Member = cell;
    return true;
}
template <std::string AccountedJob::*Member>
bool job_text(Line& line, std::string_view cell) {
    line.job.*Member = cell;
    return true;
}
template <std::string AccountedJob::*Job, std::string AccountedStep::*Step>
bool both_texts(Line& line, std::string_view cell) {
    line.job.*Job = cell;
    line.step.*Step = cell;
    return true;
}
// "Unknown" or "None": it has not happened.
template <std::optional<Time> Line::*Member>
bool moment(Line& line, std::string_view cell) {
    if (cell == "Unknown" || cell == "None") return true;
    const Result<Time> time = parse_moment(cell, Time{}, PassedTime::IsMeant);
    if (!time || *time <= Time{}) return false;
    line.*Member = *time;
    return true;
}
template <std::optional<Seconds> Line::*Member>
bool duration(Line& line, std::string_view cell) {
    const Result<TimeLimit> length = parse_time_limit(cell);
    if (!length || length->unlimited()) return false;
    line.*Member = length->length();
    return true;
}
template <std::optional<Tres> Line::*Member>
bool tres(Line& line, std::string_view cell) {
    Result<Tres> amounts = parse_tres(cell);
    if (!amounts) return false;
    line.*Member = *std::move(amounts);
    return true;
}

bool job_id(Line& line, std::string_view cell) {
    Result<JobRef> id = parse_job_ref(cell);
    if (!id) return false;
    line.id = *std::move(id);
    return true;
}
bool job_id_raw(Line& line, std::string_view cell) {
    Result<JobRef> id = parse_job_ref(cell);
    if (!id || id->tasks) return false;
    line.raw_id = *std::move(id);
    return true;
}

// "CANCELLED by 1000"
bool state(Line& line, std::string_view cell) {
    const std::vector<std::string_view> parts = words(cell);
    line.state = parts.empty() ? std::nullopt : find_state(parts.front());
    if (!line.state) return false;
    if (parts.size() == 1) return true;
    std::optional<std::uint32_t> by;
    if (parts.size() != 3 || parts[1] != "by" || !set_number(by, parts[2])) return false;
    line.killed_by = UserId{*by};
    return true;
}

bool exit_in(ExitStatus& exit, std::string_view cell) {
    const std::vector<std::string_view> parts = split(cell, ':');
    std::optional<std::uint32_t> code, signal;
    if (parts.size() != 2 || !set_number(code, parts[0]) || !set_number(signal, parts[1]))
        return false;
    if (*code > 255 || *signal > 255) return false;
    exit = {.code = static_cast<std::uint8_t>(*code), .signal = static_cast<std::uint8_t>(*signal)};
    return true;
}
bool exit_code(Line& line, std::string_view cell) {
    return exit_in(line.exit, cell);
}
bool derived_exit_code(Line& line, std::string_view cell) {
    return exit_in(line.job.derived_exit, cell);
}

bool time_limit(Line& line, std::string_view cell) {
    if (cell == "Partition_Limit") return true;
    const Result<TimeLimit> limit = parse_time_limit(cell);
    if (limit) line.time_limit = *limit;
    return limit.has_value();
}

bool nodes_named(Line& line, std::string_view cell) {
    if (cell != "None assigned") line.node_names = cell;
    return true;
}

bool reason(Line& line, std::string_view cell) {
    for (int i = 0; i < kReasonCount; ++i) {
        if (reason_name(static_cast<Reason>(i)) == cell) line.job.reason = static_cast<Reason>(i);
    }
    return true;  // reasons of other versions mean nothing here
}

bool priority(Line& line, std::string_view cell) {
    std::optional<std::uint32_t> value;
    if (!set_number(value, cell)) return false;
    line.job.priority = *value;
    return true;
}
bool tasks(Line& line, std::string_view cell) {
    std::optional<std::uint32_t> value;
    if (!set_number(value, cell)) return false;
    line.step.tasks = line.usage.tasks = *value;
    return true;
}

// "[days-][hours:]minutes:seconds.fraction"
std::optional<Microseconds> cpu_time_in(std::string_view cell) {
    double days = 0;
    if (const std::size_t dash = cell.find('-'); dash != cell.npos) {
        const std::optional<double> count = real_in(cell.substr(0, dash));
        if (!count) return {};
        days = *count;
        cell.remove_prefix(dash + 1);
    }
    double seconds = 0;
    for (const std::string_view part : split(cell, ':')) {
        const std::optional<double> count = real_in(part);
        if (!count) return {};
        seconds = seconds * 60 + *count;
    }
    const double total = (days * 86400 + seconds) * 1e6;
    if (!(total < static_cast<double>(sizes::kCpuMicroseconds))) return {};
    return Microseconds{std::llround(total)};
}
template <Microseconds Usage::*Member>
bool cpu_time(Line& line, std::string_view cell) {
    const std::optional<Microseconds> time = cpu_time_in(cell);
    if (time) line.step.usage.*Member = *time;
    return time.has_value();
}
bool total_cpu(Line& line, std::string_view cell) {
    line.total_cpu = cpu_time_in(cell);
    return line.total_cpu.has_value();
}
bool average_cpu(Line& line, std::string_view cell) {
    const std::optional<Microseconds> time = cpu_time_in(cell);
    if (!time) return false;
    line.usage.cpu_ms.total = static_cast<std::uint64_t>(time->count() / 1000);  // of one task yet
    line.is_sampled = true;
    return true;
}

// "2776K", "1.50M"; bytes without a unit.
std::optional<std::uint64_t> kilobytes_in(std::string_view cell) {
    constexpr std::string_view kUnits = "KMGTP";
    double factor = 1.0 / 1024;
    if (const std::size_t unit = cell.empty() ? cell.npos : kUnits.find(cell.back());
        unit != cell.npos) {
        factor = std::pow(1024.0, static_cast<double>(unit));
        cell.remove_suffix(1);
    }
    const std::optional<double> amount = real_in(cell);
    if (!amount || *amount * factor >= kAmountMost) return {};
    return static_cast<std::uint64_t>(std::llround(*amount * factor));
}
template <std::uint64_t TaskAmounts::*Member>
bool rss(Line& line, std::string_view cell) {
    const std::optional<std::uint64_t> amount = kilobytes_in(cell);
    if (!amount) return false;
    line.usage.rss_kb.*Member = *amount;  // the average is that of one task yet
    line.is_sampled = true;
    return true;
}
bool rss_node(Line& line, std::string_view cell) {
    line.usage.rss_kb.most_node = cell;
    return true;
}
bool rss_task(Line& line, std::string_view cell) {
    std::optional<std::uint32_t> task;
    if (!set_number(task, cell)) return false;
    line.usage.rss_kb.most_task = *task;
    return true;
}

constexpr std::string_view kNumber = "a number";
constexpr std::string_view kMoment = "a time such as 2026-01-31T12:00:00";
constexpr std::string_view kLength = "a time such as 1-02:03:04";
constexpr std::string_view kTres = "cpu=N,node=N,...";
constexpr std::string_view kExit = "code:signal";
constexpr std::string_view kMemory = "an amount such as 2776K";

using J = AccountedJob;
using S = AccountedStep;
// clang-format off
constexpr HistoryColumn kColumns[] = {
    {"Account",         text<&Line::account>},
    {"AdminComment",    job_text<&J::admin_comment>},
    {"AllocCPUS",       number<&Line::cpus>, kNumber},
    {"AllocNodes",      number<&Line::nodes>, kNumber},
    {"AllocTRES",       tres<&Line::tres_allocated>, kTres},
    {"AveCPU",          average_cpu, kLength},
    {"AveRSS",          rss<&TaskAmounts::total>, kMemory},
    {"Cluster",         text<&Line::cluster>},
    {"Comment",         job_text<&J::comment>},
    {"Constraints",     job_text<&J::constraint>},
    {"Container",       both_texts<&J::container, &S::container>},
    {"DerivedExitCode", derived_exit_code, kExit},
    {"Elapsed",         duration<&Line::elapsed>, kLength},
    {"Eligible",        moment<&Line::eligible>, kMoment},
    {"End",             moment<&Line::end>, kMoment},
    {"ExitCode",        exit_code, kExit},
    {"Extra",           job_text<&J::extra>},
    {"FailedNode",      job_text<&J::failed_node>},
    {"GID",             number<&Line::gid>, kNumber},
    {"Group",           text<&Line::group>},
    {"JobID",           job_id, "a job such as 12, 12_3 or 12.batch"},
    {"JobIDRaw",        job_id_raw, "a job such as 12 or 12.batch"},
    {"JobName",         text<&Line::name>},
    {"Layout",          [](Line& line, std::string_view cell) {
                            if (cell != "Unknown") line.step.layout = cell;
                            return true;
                        }},
    {"Licenses",        job_text<&J::licenses>},
    {"MaxRSS",          rss<&TaskAmounts::most>, kMemory},
    {"MaxRSSNode",      rss_node},
    {"MaxRSSTask",      rss_task, kNumber},
    {"NCPUS",           number<&Line::cpus>, kNumber},
    {"NNodes",          number<&Line::nodes>, kNumber},
    {"NTasks",          tasks, kNumber},
    {"NodeList",        nodes_named},
    {"Partition",       job_text<&J::partition>},
    {"Priority",        priority, kNumber},
    {"QOS",             job_text<&J::qos>},
    {"QOSREQ",          job_text<&J::qos_requested>},
    {"Reason",          reason},
    {"ReqCPUS",         number<&Line::cpus_requested>, kNumber},
    {"ReqNodes",        number<&Line::nodes_requested>, kNumber},
    {"ReqReservation",  job_text<&J::reservation_requested>},
    {"ReqTRES",         tres<&Line::tres_requested>, kTres},
    {"Reservation",     job_text<&J::reservation>},
    {"Restarts",        number<&Line::restarts>, kNumber},
    {"Start",           moment<&Line::start>, kMoment},
    {"State",           state, "a state such as COMPLETED or CANCELLED by 1000"},
    {"StdErr",          both_texts<&J::std_err, &S::std_err>},
    {"StdIn",           both_texts<&J::std_in, &S::std_in>},
    {"StdOut",          both_texts<&J::std_out, &S::std_out>},
    {"Submit",          moment<&Line::submit>, kMoment},
    {"SubmitLine",      both_texts<&J::submit_line, &S::submit_line>},
    {"Suspended",       duration<&Line::suspended>, kLength},
    {"SystemComment",   job_text<&J::system_comment>},
    {"SystemCPU",       cpu_time<&Usage::cpu_system>, kLength},
    {"Timelimit",       time_limit, kLength},
    {"TotalCPU",        total_cpu, kLength},
    {"UID",             number<&Line::uid>, kNumber},
    {"User",            text<&Line::user>},
    {"UserCPU",         cpu_time<&Usage::cpu_user>, kLength},
    {"WCKey",           job_text<&J::wckey>},
    {"WorkDir",         both_texts<&J::work_dir, &S::work_dir>},
};
constexpr std::string_view kDerived[] = {
    "AssocID",       "CPUTime",   "CPUTimeRAW", "DBIndex",    "ElapsedRaw",    "Flags",
    "OriginalSLUID", "Planned",   "PlannedCPU", "PlannedCPURAW", "QOSRAW",     "ReqMem",
    "ReservationId", "Reserved",  "ResvCPU",    "ResvCPURAW", "SLUID",         "TimelimitRaw",
    "WCKeyID",
};
// clang-format on

}  // namespace

const HistoryColumn* find_history_column(std::string_view name) {
    const auto found = std::find_if(
        std::begin(kColumns), std::end(kColumns),
        [&](const HistoryColumn& each) { return equals_ignoring_case(each.name, name); });
    return found == std::end(kColumns) ? nullptr : found;
}

bool is_derived_column(std::string_view name) {
    return std::any_of(std::begin(kDerived), std::end(kDerived),
                       [&](std::string_view each) { return equals_ignoring_case(each, name); });
}

}  // namespace sluice
