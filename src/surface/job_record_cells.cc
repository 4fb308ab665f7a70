// surface/job_record_cells.cc
//
// Words of scontrol show job that are neither plain columns nor fields of squeue.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/hostlist.h"
#include "model/quantity.h"
#include "surface/job_cells.h"
#include "surface/record.h"

namespace sluice::job_cells {

namespace {

// "gpu:h100:2,bw:lustre:4" of "gpu:h100:2(IDX:0-1),bw:lustre(CNT:4)".
std::string without_indexes(std::string_view detail) {
    constexpr std::string_view kCount = "(CNT:";
    std::string counts;
    bool copies = true;
    for (std::size_t i = 0; i < detail.size(); ++i) {
        if (detail.substr(i).starts_with(kCount)) {
            counts += ':';
            i += kCount.size() - 1;
        } else if (detail[i] == '(' || detail[i] == ')') {
            copies = detail[i] == ')';
        } else if (copies) {
            counts += detail[i];
        }
    }
    return std::string(trim(counts));
}

// The devices of all nodes together: "gpu:h100:2".
std::string total_gres(std::string_view detail) {
    std::vector<GresCount> total;
    for (std::string_view line : split(detail, '\n')) {
        const std::size_t at = line.find("GRES=");
        if (at == std::string_view::npos) continue;
        Result<std::vector<GresCount>> gres = parse_gres(without_indexes(line.substr(at + 5)));
        if (!gres) continue;
        for (const GresCount& each : *gres) {
            auto same = [&](const GresCount& other) {
                return other.name == each.name && other.type == each.type;
            };
            auto known = std::find_if(total.begin(), total.end(), same);
            if (known == total.end()) {
                total.push_back(each);
            } else {
                known->count += each.count;
            }
        }
    }
    return print_gres(total);
}

// Compat: neighbours that give the same share one line: "Nodes=n[1-2] CPU_IDs=0 Mem=100 GRES=".
std::vector<std::string> merged_details(std::string_view detail) {
    std::vector<std::string> lines, names;
    std::string_view given;  // by each of the names
    const auto end_line = [&] {
        if (names.empty()) return;
        const Hostlist hosts(std::exchange(names, {}));
        lines.push_back(fmt::format("Nodes={}{}", hosts.to_string(), given));
    };
    for (std::string_view line : split(detail, '\n')) {
        const std::string_view name = word_value(line, "Nodes=");
        if (name.empty()) continue;
        const std::string_view gives = line.substr(line.find(name) + name.size());
        if (gives != given) end_line();
        given = gives;
        names.emplace_back(name);
    }
    end_line();
    return lines;
}

}  // namespace

bool is_in_array(const SheetRow& job) {
    return job.has(C::ArrayJobId);
}
bool is_batch(const SheetRow& job) {
    return job.number(C::Batch) == 1;
}
bool has_mail(const SheetRow& job) {
    return !job.text(C::MailType).empty();
}
bool has_detail(const SheetRow& job) {
    return !job.text(C::AllocDetail).empty();
}
bool has_core_spec(const SheetRow& job) {
    return !job.has(C::ThreadSpec);
}

bool is_memory_per_gpu(const SheetRow& job) {
    return job.has(C::MemPerGpu);
}
bool is_memory_per_node(const SheetRow& job) {
    return !job.has(C::MemPerGpu) && !is_memory_per_cpu(job);
}
bool is_memory_per_cpu(const SheetRow& job) {
    return !job.has(C::MemPerGpu) && !job.has(C::MemPerNode) && job.has(C::MemPerCpu);
}

void task_throttle(const SheetRow& job, std::string& out) {
    if (is_in_array(job) && job.number(C::ArrayLimit) > 0) {
        append_number(job.number(C::ArrayLimit), out);
    }
}

void user_with_id(const SheetRow& job, std::string& out) {
    const std::int64_t user = job.number(C::UserId);
    out += fmt::format("{}({})", job.sheet->user_name(user), user);
}
void group_with_id(const SheetRow& job, std::string& out) {
    const std::int64_t group = job.number(C::GroupId);
    out += fmt::format("{}({})", job.sheet->group_name(group), group);
}

// Compat: words of a record are cut at blanks, so a reason has none.
void reason_word(const SheetRow& job, std::string& out) {
    const std::size_t start = out.size();
    append_reason(job, out);
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), ' ', '_');
}

void run_time(const SheetRow& job, std::string& out) {
    append_long_duration(elapsed_seconds(job), out);
}

std::int64_t seconds_before_suspend(const SheetRow& job) {
    const std::int64_t suspended = job.number(C::SuspendTime);
    if (suspended <= 0) return 0;
    return suspended - job.number(C::StartTime) - or_zero(job.number(C::SuspendedSeconds));
}
void before_suspend(const SheetRow& job, std::string& out) {
    append_number(seconds_before_suspend(job), out);
}

void submit_process(const SheetRow& job, std::string& out) {
    text_cell<C::AllocNode>(job, out);
    out += ':';
    number_cell<C::AllocSid>(job, out);
}

// "2", "2-4", or the allowed numbers: "1,5,9".
void node_counts(const SheetRow& job, std::string& out) {
    const bool pending = base_state(job) == JobState::Pending;
    const std::string_view sizes = pending ? job.text(C::NodeSizes) : std::string_view{};
    if (!sizes.empty()) {
        out += sizes;
        return;
    }
    number_cell<C::NodeCount>(job, out);
    const std::int64_t most = job.number(C::NodeCountMax);
    const bool limited = most != kAbsent && most != kUnlimited;
    if (pending && limited && most != job.number(C::NodeCount)) out += fmt::format("-{}", most);
}

void cores_and_threads(const SheetRow& job, std::string& out) {
    out += "0:0:";
    number_or<C::CoresPerSocket, "*">(job, out);
    out += ':';
    number_or<C::ThreadsPerCore, "*">(job, out);
}

void tasks_per(const SheetRow& job, std::string& out) {
    number_cell<C::NtasksPerNode>(job, out);
    out += ":0:";
    number_or<C::NtasksPerSocket, "*">(job, out);
    out += ':';
    number_or<C::NtasksPerCore, "*">(job, out);
}

void job_gres(const SheetRow& job, std::string& out) {
    const std::string gres = total_gres(job.text(C::AllocDetail));
    out += gres.empty() ? "(null)" : gres;
}

void alloc_lines(const SheetRow& job, std::string& out) {
    out += join(merged_details(job.text(C::AllocDetail)), "\n");
}

// Compat: a value of a record has one line.
void sync_rules(const SheetRow& job, std::string& out) {
    std::string_view rules = job.text(C::Sync);
    if (!rules.empty() && rules.back() == '\n') rules.remove_suffix(1);
    for (const char each : rules) out.push_back(each == '\n' ? ';' : each);
}

void switches(const SheetRow& job, std::string& out) {
    if (!job.has(C::SwitchesMax)) return;
    append_number(job.number(C::SwitchesMax), out);
    out += '@';
    long_duration_cell<C::SwitchesWait, "00:00:00">(job, out);
}

void mail_user(const SheetRow& job, std::string& out) {
    const std::string_view user = job.text(C::MailUser);
    out += user.empty() ? job.sheet->user_name(job.number(C::UserId)) : user;
}

}  // namespace sluice::job_cells
