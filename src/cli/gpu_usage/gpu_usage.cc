// See gpu_usage.h.
#include "cli/gpu_usage/gpu_usage.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/common/gpu_count.h"
#include "cli/common/listing.h"
#include "cli/gpu_usage/idle.h"
#include "surface/arguments.h"
#include "surface/json.h"
#include "surface/report_text.h"

namespace sluice {

namespace {

enum Option : std::size_t {
    kUsers,
    kPartition,
    kLabs,
    kTypes,
    kIdle,
    kDays,
    kJsonOutput,
    kHelpText,
    kUsageText,
    kVersionText
};

struct OptionRow {
    OptionSpelling spelling;
    const char* value;
    const char* help;
};
constexpr Argument kNone = Argument::None, kValue = Argument::Required;
// clang-format off
constexpr OptionRow kOptions[] = {
    {{"users",     'u', kNone,  kUsers},       nullptr, "a line for each user"},
    {{"partition", 'p', kValue, kPartition},   "name",  "only this partition, or the jobs of this lab (account)"},
    {{"labs",      'l', kNone,  kLabs},        nullptr, "a line for each lab: in use, cap (GrpTRES), pending, overcap"},
    {{"types",     't', kNone,  kTypes},       nullptr, "a line for each type of GPU, as without options; with -u or -l: a column for each type"},
    {{"idle",      'i', kNone,  kIdle},        nullptr, "GPU hours of each user: held, and of these unused"},
    {{"days",      'd', kValue, kDays},        "number", "with --idle: jobs that ran in the last so many days (7)"},
    {{"json",      0,   kNone,  kJsonOutput},  nullptr, "print everything as JSON"},
    {{"version",   'V', kNone,  kVersionText}, nullptr, "print the version and exit"},
    {{"help",      'h', kNone,  kHelpText},    nullptr, "show this text"},
    {{"usage",     0,   kNone,  kUsageText},   nullptr, "show this text"},
};
// clang-format on

struct Wanted {
    bool users = false, labs = false, types = false, json = false, idle = false;
    std::int64_t days = 7;
    std::optional<std::string> partition;
};

// ---- bars

constexpr std::size_t kBarWidth = 20;

struct Bar {
    std::uint64_t used = 0, most = 0;
};

// Green while there is room, yellow above 70 %, red when nothing is left.
std::string bar_text(const Bar& bar, bool coloured) {
    if (bar.most == 0) return {};
    const std::uint64_t used = std::min(bar.used, bar.most);
    const std::size_t full = used * kBarWidth / bar.most;
    const std::string blocks = std::string(full, '#') + std::string(kBarWidth - full, '.');
    if (!coloured) return "[" + blocks + "]";
    const int colour = used >= bar.most ? 31 : used * 10 > bar.most * 7 ? 33 : 32;
    return fmt::format("[\033[{}m{}\033[0m]", colour, blocks);
}

// A table whose columns are as wide as their longest text. The first is aligned to the left; bars
// are at the end.
class GpuTable {
public:
    explicit GpuTable(std::vector<std::string> headers) : lines_{std::move(headers)}, bars_(1) {}

    void add(std::vector<std::string> cells, const Bar& bar = {}) {
        lines_.push_back(std::move(cells));
        bars_.push_back(bar);
    }

    std::string text(bool has_bars, bool coloured) const {
        std::vector<std::size_t> widths(lines_[0].size());
        for (const auto& line : lines_) {
            for (std::size_t i = 0; i < line.size(); ++i) {
                widths[i] = std::max(widths[i], line[i].size());
            }
        }
        std::string out;
        for (std::size_t row = 0; row < lines_.size(); ++row) {
            std::string line = fmt::format("{:<{}}", lines_[row][0], widths[0]);
            for (std::size_t i = 1; i < widths.size(); ++i) {
                line += fmt::format("  {:>{}}", lines_[row][i], widths[i]);
            }
            const std::string bar = has_bars ? bar_text(bars_[row], coloured) : "";
            if (!bar.empty()) line += "  " + bar;
            out += line + "\n";
        }
        return out;
    }

private:
    std::vector<std::vector<std::string>> lines_;
    std::vector<Bar> bars_;
};

// ---- tables

// GPUs that are requested without a type have no row of their own in the cluster.
std::string type_name(const std::string& type, const GpusOfType& gpus) {
    return type == "gpu" && gpus.total == 0 ? "any" : type;
}

GpuTable type_table(const GpuFacts& facts) {
    GpuTable table({"TYPE", "TOTAL", "IN USE", "FREE", "DOWN", "PENDING"});
    auto add = [&](const std::string& name, const GpusOfType& gpus) {
        table.add(
            {name, fmt::to_string(gpus.total), fmt::to_string(gpus.in_use),
             fmt::to_string(gpus.free()), fmt::to_string(gpus.down), fmt::to_string(gpus.pending)},
            {gpus.in_use, gpus.total});
    };
    GpusOfType all;
    const std::map<std::string, GpusOfType> types = count_by_type(facts);
    for (const auto& [type, gpus] : types) {
        add(type_name(type, gpus), gpus);
        all.total += gpus.total;
        all.in_use += gpus.in_use;
        all.down += gpus.down;
        all.pending += gpus.pending;
    }
    if (types.size() != 1) add("all", all);
    return table;
}

std::uint64_t count_in(const GpuCounts& counts, const std::string& type) {
    auto found = counts.find(type);
    return found == counts.end() ? 0 : found->second;
}

// Users, or labs with their caps.
GpuTable share_table(const GpuFacts& facts, const std::vector<GpuShare>& shares, bool of_labs,
                     bool with_types) {
    std::vector<std::string> headers = {of_labs ? "LAB" : "USER", "IN USE"};
    if (of_labs) headers.emplace_back("CAP");
    headers.insert(headers.end(), {"OVERCAP", "PENDING"});
    const std::map<std::string, GpusOfType> types = count_by_type(facts);
    if (with_types) {
        for (const auto& [type, gpus] : types) headers.push_back(to_upper(type_name(type, gpus)));
    }
    std::uint64_t total = 0;
    for (const auto& [type, gpus] : types) total += gpus.total;
    GpuTable table(headers);
    for (const GpuShare& share : shares) {
        const std::uint64_t in_use = total_of(share.in_use);
        std::vector<std::string> cells = {share.name.empty() ? "-" : share.name,
                                          fmt::to_string(in_use)};
        if (of_labs) cells.push_back(share.cap ? fmt::to_string(*share.cap) : "-");
        cells.push_back(fmt::to_string(total_of(share.overcap)));
        cells.push_back(fmt::to_string(total_of(share.pending)));
        if (with_types) {
            for (const auto& [type, gpus] : types) {
                cells.push_back(
                    fmt::to_string(count_in(share.in_use, type) + count_in(share.overcap, type)));
            }
        }
        const Bar bar = of_labs ? Bar{in_use, share.cap.value_or(0)}
                                : Bar{in_use + total_of(share.overcap), total};
        table.add(std::move(cells), bar);
    }
    return table;
}

// ---- JSON

void write_counts(Json& json, std::string_view key, const GpuCounts& counts) {
    json.open_object(key);
    json.number("total", static_cast<std::int64_t>(total_of(counts)));
    json.open_object("types");
    for (const auto& [type, count] : counts) json.number(type, static_cast<std::int64_t>(count));
    json.close();
    json.close();
}

void write_shares(Json& json, std::string_view key, const std::vector<GpuShare>& shares,
                  bool of_labs) {
    json.open_list(key);
    for (const GpuShare& share : shares) {
        json.open_object();
        json.text("name", share.name);
        write_counts(json, "in_use", share.in_use);
        write_counts(json, "overcap", share.overcap);
        write_counts(json, "pending", share.pending);
        if (of_labs && share.cap) {
            json.number("cap", static_cast<std::int64_t>(*share.cap));
        } else if (of_labs) {
            json.null("cap");
        }
        json.close();
    }
    json.close();
}

std::string json_text(const GpuFacts& facts) {
    Json json;
    json.open_object();
    json.open_list("types");
    for (const auto& [type, gpus] : count_by_type(facts)) {
        json.open_object();
        json.text("type", type_name(type, gpus));
        json.number("total", static_cast<std::int64_t>(gpus.total));
        json.number("in_use", static_cast<std::int64_t>(gpus.in_use));
        json.number("free", static_cast<std::int64_t>(gpus.free()));
        json.number("down", static_cast<std::int64_t>(gpus.down));
        json.number("pending", static_cast<std::int64_t>(gpus.pending));
        json.close();
    }
    json.close();
    write_shares(json, "users", count_by_user(facts), false);
    write_shares(json, "labs", count_by_lab(facts), true);
    json.close();
    return json.take();
}

int answer_idle(const Wanted& wanted, const Invocation& invocation, Client& client,
                Streams& streams) {
    const Result<std::vector<IdleGpus>> users = fetch_idle_gpus(
        client, from_unix(std::time(nullptr)), Seconds{wanted.days * 24 * 3600}, wanted.partition);
    if (!users) {
        print_accounting_error(streams, invocation, users.error());
        return 1;
    }
    if (wanted.json) return streams.out(idle_json(*users)), 0;
    GpuTable table({"USER", "GPU HOURS", "UNUSED", "UNUSED%", "NOT MEASURED"});
    for (const IdleGpus& user : *users) {
        const double measured = user.held - user.unknown;
        table.add({user.name, fmt::format("{:.1f}", user.held), fmt::format("{:.1f}", user.unused),
                   measured > 0 ? fmt::format("{:.0f}%", 100 * user.unused / measured) : "-",
                   fmt::format("{:.1f}", user.unknown)});
    }
    streams.out(table.text(false, false));
    return 0;
}

int answer(const Wanted& wanted, const Invocation& invocation, Client& client, Streams& streams) {
    if (wanted.idle) return answer_idle(wanted, invocation, client, streams);
    const bool with_labs = wanted.labs || wanted.json || wanted.users || wanted.partition;
    Result<GpuFacts> facts = fetch_gpu_facts(client, with_labs);
    if (!facts) {
        print_error(streams, invocation, to_string(facts.error()));
        return 1;
    }
    if (wanted.partition && !select_partition_or_lab(*wanted.partition, *facts)) {
        print_error(streams, invocation,
                    fmt::format("-p (--partition): there is no partition with GPUs and no lab "
                                "named '{}'",
                                *wanted.partition));
        return 1;
    }
    if (wanted.json) return streams.out(json_text(*facts)), 0;
    const bool has_bars = streams.out_is_terminal();
    const bool coloured = has_bars && invocation.environment.find("NO_COLOR").value_or("").empty();
    std::vector<GpuTable> tables;
    if (wanted.users) {
        tables.push_back(share_table(*facts, count_by_user(*facts), false, wanted.types));
    }
    if (wanted.labs) {
        tables.push_back(share_table(*facts, count_by_lab(*facts), true, wanted.types));
    }
    if (tables.empty()) tables.push_back(type_table(*facts));
    for (const GpuTable& table : tables) {
        if (&table != &tables.front()) streams.out("\n");
        streams.out(table.text(has_bars, coloured));
    }
    return 0;
}

Result<std::int64_t> days_in(const std::string& text) {
    constexpr std::uint64_t kDaysMost = 3660;
    const std::optional<std::uint64_t> days = to_number(text);
    if (days && *days > 0 && *days <= kDaysMost) return static_cast<std::int64_t>(*days);
    return Error{ErrorCode::BadArgument,
                 fmt::format("--days={}: a number from 1 to {} is needed", text, kDaysMost)};
}

std::string help_text() {
    constexpr std::size_t kColumn = 28;
    return "Usage: gpu_usage [OPTIONS]\nShows who uses the GPUs of the cluster.\n\n" +
           help_lines(gpu_usage_option_help(), kColumn);
}

}  // namespace

std::vector<OptionHelp> gpu_usage_option_help() {
    std::vector<OptionHelp> all;
    for (const OptionRow& row : kOptions) {
        all.push_back({.name = row.spelling.name,
                       .letter = row.spelling.letter,
                       .value = row.value ? row.value : "",
                       .text = row.help});
    }
    return all;
}

int run_gpu_usage(const Invocation& invocation, Client& client, Streams& streams) {
    std::vector<OptionSpelling> spellings;
    for (const OptionRow& row : kOptions) spellings.push_back(row.spelling);
    const Result<Arguments> given =
        parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    Wanted wanted;
    for (const GivenOption& option : given->options) {
        if (option.id == kVersionText) return print_version(streams), 0;
        if (option.id == kHelpText || option.id == kUsageText) return streams.out(help_text()), 0;
        if (option.id == kPartition) wanted.partition = option.value;
        wanted.users |= option.id == kUsers;
        wanted.labs |= option.id == kLabs;
        wanted.types |= option.id == kTypes;
        wanted.json |= option.id == kJsonOutput;
        wanted.idle |= option.id == kIdle;
        if (option.id != kDays) continue;
        const Result<std::int64_t> days = days_in(*option.value);
        if (!days) {
            print_error(streams, invocation, days.error().detail);
            return 1;
        }
        wanted.days = *days;
    }
    if (!given->operands.empty()) {
        print_error(streams, invocation,
                    fmt::format("Unknown arguments: {}", join(given->operands, " ")));
        return 1;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    return answer(wanted, invocation, client, streams);
}

}  // namespace sluice
