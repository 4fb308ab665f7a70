// tools/manual.cc
//
// Makes the manual pages and the tables of the guides from the tables of the code:
//
//     sluice-manual docs/man/sbatch.1.in            prints the page
//     sluice-manual --markdown docs/reference.md    prints the file with its tables made anew
//
// A frame (*.in) is a page in which lines of the form "@options sbatch@" stand for what the tables
// say. In Markdown the same words are in a comment, "<!-- keys slurm.conf -->", and the text up to
// "<!-- end -->" is replaced.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/gpu_usage/gpu_usage.h"
#include "cli/sacct/options.h"
#include "cli/sattach/options.h"
#include "cli/sbcast/sbcast.h"
#include "cli/scancel/options.h"
#include "cli/scontrol/scontrol.h"
#include "cli/sdata/sdata.h"
#include "cli/sdiag/options.h"
#include "cli/seff/seff.h"
#include "cli/sgather/sgather.h"
#include "cli/sgpu/sgpu.h"
#include "cli/sinfo/options.h"
#include "cli/sprio/options.h"
#include "cli/squeue/options.h"
#include "cli/sreport/sreport.h"
#include "cli/sshare/options.h"
#include "cli/sstat/fields.h"
#include "cli/sstat/options.h"
#include "cli/strigger/options.h"
#include "cli/swait/swait.h"
#include "config/key_help.h"
#include "surface/accounted_table.h"
#include "surface/job_options.h"
#include "surface/jobs.h"
#include "surface/nodes.h"
#include "surface/priorities.h"

namespace sluice {

namespace {

// Dashes are minus signs, so that they can be copied; long alternatives can be broken after a bar;
// a line must not begin with a request.
std::string roff(std::string_view text) {
    std::string escaped;
    for (char c : text) {
        if (c == '\\') {
            escaped += "\\e";
        } else if (c == '-') {
            escaped += "\\-";
        } else if (c == '|') {
            escaped += "|\\:";
        } else if ((c == '.' || c == '\'') && escaped.empty()) {
            escaped.append("\\&").push_back(c);
        } else {
            escaped += c;
        }
    }
    return escaped;
}

// "a sentence" becomes "A sentence."
std::string sentence(std::string_view text) {
    std::string made(text);
    if (made.empty()) return made;
    if (made[0] >= 'a' && made[0] <= 'z' && made.find("_") != 0) made[0] -= 'a' - 'A';
    if (made.back() != '.') made += '.';
    return made;
}

std::string cell(std::string_view text) {
    std::string made;
    for (char c : text) {
        if (c == '|') made += '\\';
        made += c;
    }
    return made;
}

std::vector<OptionHelp> options_of(std::string_view tool) {
    if (tool == "sbatch") return job_option_help(kSbatch);
    if (tool == "srun") return job_option_help(kSrun);
    if (tool == "salloc") return job_option_help(kSalloc);
    if (tool == "scancel") return cancel_option_help();
    if (tool == "squeue") return squeue_option_help();
    if (tool == "sinfo") return sinfo_option_help();
    if (tool == "sdiag") return sdiag_option_help();
    if (tool == "strigger") return strigger_option_help();
    if (tool == "sprio") return sprio_option_help();
    if (tool == "sshare") return sshare_option_help();
    if (tool == "scontrol") return control_option_help();
    if (tool == "sattach") return sattach_option_help();
    if (tool == "sbcast") return sbcast_option_help();
    if (tool == "sgather") return sgather_option_help();
    if (tool == "swait") return swait_option_help();
    if (tool == "sstat") return sstat_option_help();
    if (tool == "sdata") return sdata_option_help();
    if (tool == "seff") return seff_option_help();
    if (tool == "sacct") return sacct_option_help();
    if (tool == "sreport") return sreport_option_help();
    if (tool == "gpu_usage") return gpu_usage_option_help();
    if (tool == "sgpu") return sgpu_option_help();
    return {};
}

std::string option_list(std::string_view tool) {
    std::string text;
    std::string_view group;
    for (const OptionHelp& option : options_of(tool)) {
        if (!option.is_supported || option.text.empty()) continue;
        if (option.group != group) text += fmt::format(".SS {}\n", group = option.group);
        text += fmt::format(".TP\n.B {}\n{}\n", roff(option_spelling(option)),
                            roff(option.manual.empty() ? sentence(option.text) : option.manual));
        if (!option.variables.empty()) {
            text += fmt::format("Environment: {}.\n", fmt::join(option.variables, ", "));
        }
    }
    return text;
}

// Options that the tool knows and refuses.
std::string refused_options(std::string_view tool) {
    std::vector<std::string> names;
    for (const OptionHelp& option : options_of(tool)) {
        if (!option.is_supported) names.push_back(roff(fmt::format("--{}", option.name)));
    }
    return fmt::format("{}.\n", fmt::join(names, ", "));
}

std::string command_list(std::string_view) {
    std::string text;
    for (const ControlCommandHelp& command : control_command_help()) {
        text +=
            fmt::format(".TP\n.B {}{}{}\n{}\n", command.name, command.operands.empty() ? "" : " ",
                        roff(command.operands), roff(sentence(command.text)));
    }
    return text;
}

template <typename Field>
std::string letters(std::span<const Field> fields) {
    std::string text;
    for (const Field& field : fields) {
        if (!field.letter) continue;
        text += fmt::format(".TP\n.B %{}\n{}", field.letter, roff(field.header));
        if (!field.name.empty()) text += fmt::format(" (\\-O {})", roff(field.name));
        text += "\n";
    }
    return text;
}

template <typename Field>
std::string names(std::span<const Field> fields) {
    std::vector<std::string_view> all;
    for (const Field& field : fields) {
        if (!field.name.empty() && !field.letter) all.push_back(field.name);
    }
    return roff(fmt::format("{}.\n", fmt::join(all, ", ")));
}

std::string letter_list(std::string_view listing) {
    if (listing == "jobs") return letters(job_fields());
    if (listing == "nodes") return letters(node_fields());
    return letters(priority_fields());
}

std::string accounted_names() {
    std::vector<std::string_view> all;
    for (const AccountedField& field : accounted_fields()) all.push_back(field.name);
    return roff(fmt::format("{}.\n", fmt::join(all, ", ")));
}

std::string name_list(std::string_view listing) {
    if (listing == "sstat") return roff(fmt::format("{}.\n", fmt::join(sstat_field_names(), ", ")));
    if (listing == "accounted") return accounted_names();
    return listing == "jobs" ? names(job_fields()) : names(node_fields());
}

const std::map<std::string_view, KeyTable> kTables = {
    {"slurm.conf", KeyTable::SlurmConf},
    {"NodeName", KeyTable::NodeName},
    {"NodeSet", KeyTable::NodeSet},
    {"DownNodes", KeyTable::DownNodes},
    {"PartitionName", KeyTable::PartitionName},
    {"SchedulerParameters", KeyTable::SchedulerParameters},
    {"PreemptParameters", KeyTable::PreemptParameters},
    {"gres.conf", KeyTable::GresConf},
    {"cgroup.conf", KeyTable::CgroupConf},
    {"slurmdbd.conf", KeyTable::SlurmdbdConf},
    {"topology.conf", KeyTable::TopologyConf},
    {"job_container.conf", KeyTable::JobContainerConf},
    {"oci.conf", KeyTable::OciConf},
};

std::string_view value_of(const KeyRow& row) {
    using enum Kind;
    if (!row.choices.empty()) return row.choices;
    switch (row.kind) {
        case Number:
        case Priority:
        case Count:
            return "number";
        case NumberOrMax:
            return "number|UNLIMITED";
        case Real:
            return "number";
        case Percentage:
            return "percent";
        case Port:
        case Ports:
            return "port";
        case Seconds:
        case SecondsOrNever:
            return "seconds";
        case Minutes:
            return "minutes";
        case YesNo:
            return "yes|no";
        case Switch:
            return "0|1";
        case Duration:
        case Limit:
            return "time";
        case Level:
            return "level";
        case Memory:
            return "megabytes";
        case MemoryOrMax:
            return "megabytes|UNLIMITED";
        case Hosts:
            return "hosts";
        case OverSubscribe:
            return "NO|EXCLUSIVE|YES[:N]|FORCE[:N]";
        default:
            return "text";
    }
}

// Words of a list are flags, or have a number.
std::string key_spelling(const KeyRow& row, KeyTable table) {
    const bool is_word =
        table == KeyTable::SchedulerParameters || table == KeyTable::PreemptParameters;
    if (is_word && row.kind == Kind::Switch) return std::string(row.name);
    return fmt::format("{}={}", row.name, value_of(row));
}

std::string default_of(const KeyRow& row) {
    if (row.unset.empty() || row.unset.starts_with('(')) return {};
    return fmt::format(" Default: {}.", row.unset);
}

std::string key_list(std::string_view name) {
    const KeyTable table = kTables.at(name);
    std::string text;
    for (const KeyRow& row : key_rows(table)) {
        if (!row.has_effect) continue;
        text += fmt::format(".TP\n.B {}\n{}{}\n", roff(key_spelling(row, table)), roff(row.help),
                            roff(default_of(row)));
    }
    return text;
}

std::string key_table(std::string_view name) {
    const KeyTable table = kTables.at(name);
    std::string text = "| key | effect |\n|-----|--------|\n";
    for (const KeyRow& row : key_rows(table)) {
        if (!row.has_effect) continue;
        text += fmt::format("| `{}` | {}{} |\n", cell(key_spelling(row, table)), cell(row.help),
                            cell(default_of(row)));
    }
    return text;
}

// Keys that are accepted and do nothing.
std::string ignored_keys(std::string_view name) {
    std::vector<std::string_view> all;
    for (const KeyRow& row : key_rows(kTables.at(name))) {
        const bool is_key = row.kind != Kind::Shown;
        bool is_refused = false;
        for (const RefusedKey& each : refused_keys()) is_refused |= each.key == row.name;
        if (is_key && !row.has_effect && !is_refused) all.push_back(row.name);
    }
    return roff(fmt::format("{}.\n", fmt::join(all, ", ")));
}

std::string refused_spelling(const RefusedKey& key) {
    if (key.words.empty()) return std::string(key.key);
    return fmt::format("{}={}", key.key, key.words);
}

std::string refused_list(std::string_view) {
    std::string text;
    for (const RefusedKey& key : refused_keys()) {
        text += fmt::format(".TP\n.B {}\n{}\n", roff(refused_spelling(key)),
                            roff(sentence(key.reason)));
    }
    return text;
}

std::string refused_table(std::string_view) {
    std::string text = "| refused key | reason |\n|-------------|--------|\n";
    for (const RefusedKey& key : refused_keys()) {
        text += fmt::format("| `{}` | {} |\n", cell(refused_spelling(key)), cell(key.reason));
    }
    return text;
}

using Maker = std::string (*)(std::string_view argument);
const std::map<std::string_view, Maker> kRoffMakers = {
    {"options", option_list},       {"refused-options", refused_options},
    {"commands", command_list},     {"letters", letter_list},
    {"names", name_list},           {"keys", key_list},
    {"ignored-keys", ignored_keys}, {"refused-keys", refused_list},
};
const std::map<std::string_view, Maker> kMarkdownMakers = {
    {"keys", key_table},
    {"refused-keys", refused_table},
};

// The text for "keys slurm.conf"; nothing when there is no such list.
std::optional<std::string> made_for(const std::map<std::string_view, Maker>& makers,
                                    std::string_view words) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    auto maker = makers.find(words.substr(0, blank));
    if (maker == makers.end()) return {};
    return maker->second(trim(words.substr(blank)));
}

// Nothing: a line asks for an unknown list.
std::optional<std::string> page_from(std::istream& frame) {
    std::string page, line;
    while (std::getline(frame, line)) {
        if (!line.starts_with('@') || !line.ends_with('@')) {
            page += line + "\n";
            continue;
        }
        const auto made = made_for(kRoffMakers, std::string_view(line).substr(1, line.size() - 2));
        if (!made) return {};
        page += *made;
    }
    return page;
}

std::optional<std::string> markdown_from(std::istream& file) {
    constexpr std::string_view kBegin = "<!-- ", kEnd = " -->";
    std::string text, line;
    bool is_replaced = false;
    while (std::getline(file, line)) {
        const bool is_mark = line.starts_with(kBegin) && line.ends_with(kEnd);
        if (is_mark) is_replaced = false;
        if (!is_replaced) text += line + "\n";
        if (!is_mark || line == "<!-- end -->") continue;
        const auto made = made_for(kMarkdownMakers,
                                   std::string_view(line).substr(
                                       kBegin.size(), line.size() - kBegin.size() - kEnd.size()));
        if (!made) return {};
        text += "\n" + *made + "\n";
        is_replaced = true;
    }
    return text;
}

int run(std::span<char*> args) {
    const bool is_markdown = args.size() == 2 && args[0] == std::string_view("--markdown");
    if (args.size() != 1 && !is_markdown) {
        std::fputs("usage: sluice-manual FRAME | --markdown FILE\n", stderr);
        return 2;
    }
    std::ifstream file(args.back());
    const auto made = !file ? std::nullopt : is_markdown ? markdown_from(file) : page_from(file);
    if (!made) {
        fmt::print(stderr, "sluice-manual: {}: cannot be read, or asks for an unknown list\n",
                   args.back());
        return 1;
    }
    fmt::print("{}", *made);
    return 0;
}

}  // namespace

}  // namespace sluice

int main(int argc, char** argv) {
    return sluice::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
