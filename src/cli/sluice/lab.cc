// See lab.h.
#include "cli/sluice/lab.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/change_policy.h"
#include "cli/common/gpu_count.h"
#include "cli/common/listing.h"
#include "cli/sluice/lab_plan.h"
#include "model/errors.h"
#include "os/user.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kLabUsage =
    "sluice lab add NAME --gpus N [--users a,b,...] [--dry-run]\n"
    "sluice lab set NAME [--gpus N] [--users +c,-a] [--dry-run]\n"
    "sluice lab remove NAME [--dry-run]\n"
    "sluice lab list";

enum LabOption : std::size_t { kLabGpus, kLabUsers, kLabDryRun };
constexpr OptionSpelling kLabOptions[] = {
    {"gpus", 0, Argument::Required, kLabGpus},
    {"users", 0, Argument::Required, kLabUsers},
    {"dry-run", 'n', Argument::None, kLabDryRun},
};

constexpr std::uint64_t kGpusMost = 1'000'000;

struct LabWords {
    std::string verb;
    std::vector<std::string> names;
    std::optional<std::string> users;
    LabRequest request;
    bool dry_run = false;
};

Error bad_words(std::string text) {
    return {ErrorCode::BadArgument, std::move(text)};
}

Result<LabWords> read_words(const std::vector<std::string>& words) {
    const Arguments given = TRY(parse_arguments(words, kLabOptions, OptionsEnd::Nowhere));
    LabWords read;
    for (const GivenOption& option : given.options) {
        if (option.id == kLabDryRun) read.dry_run = true;
        if (option.id == kLabUsers) read.users = option.value;
        if (option.id != kLabGpus) continue;
        read.request.gpus = to_number(*option.value);
        if (!read.request.gpus || *read.request.gpus == 0 || *read.request.gpus > kGpusMost)
            return bad_words(fmt::format("--gpus={}: a number from 1 to {} is needed",
                                         *option.value, kGpusMost));
    }
    if (!given.operands.empty()) read.verb = given.operands.front();
    if (given.operands.size() > 1)
        read.names.assign(given.operands.begin() + 1, given.operands.end());
    return read;
}

// "+c,-a", or with lab add "a,b". Users have to be known on this host: another name may be a typing
// error.
Result<void> read_users(LabWords& words) {
    if (!words.users) return {};
    const bool adds = words.verb == "add";
    for (const std::string& word : split_list(*words.users)) {
        const bool is_signed = word.starts_with('+') || word.starts_with('-');
        if (adds == is_signed)
            return bad_words(fmt::format("--users={}: {}", word,
                                         adds ? "a new lab has only new users, without a sign"
                                              : "+NAME adds a user, -NAME removes one"));
        const std::string name = to_lower(is_signed ? word.substr(1) : word);
        const bool joins = word.front() != '-';
        if (joins && !find_user(name))
            return bad_words(fmt::format("--users={}: there is no such user on this host", word));
        const LabRequest& known = words.request;
        for (const std::vector<std::string>& list : {known.joining, known.leaving}) {
            if (std::find(list.begin(), list.end(), name) != list.end())
                return bad_words(fmt::format("--users: {} appears twice", name));
        }
        (joins ? words.request.joining : words.request.leaving).push_back(name);
    }
    return {};
}

using Plan = Result<PolicyChange> (*)(const Policy&, const std::string&, const LabRequest&);

struct LabVerb {
    std::string_view name;
    Plan plan;
    bool takes_gpus, needs_gpus, takes_users, needs_any;
};
constexpr LabVerb kLabVerbs[] = {
    {"add", plan_lab_add, true, true, true, true},
    {"set", plan_lab_set, true, false, true, true},
    {"remove", plan_lab_remove, false, false, false, false},
};

Result<void> check_words(const LabVerb& verb, const LabWords& words) {
    if (words.names.size() != 1)
        return bad_words(fmt::format("lab {} needs the name of one lab", verb.name));
    const bool has_gpus = words.request.gpus.has_value();
    if (verb.needs_gpus && !has_gpus)
        return bad_words(fmt::format("lab {} needs --gpus, the cap of the lab", verb.name));
    if ((has_gpus && !verb.takes_gpus) || (words.users && !verb.takes_users))
        return bad_words(fmt::format("lab {} takes neither --gpus nor --users", verb.name));
    if (verb.needs_any && !has_gpus && !words.users)
        return bad_words(fmt::format("lab {} needs --gpus or --users", verb.name));
    return {};
}

// The lines of the steps that were made.
Result<std::string> change_lab(const LabVerb& verb, LabWords& words, Client& client) {
    TRY(check_words(verb, words));
    TRY(read_users(words));
    words.request.name = to_lower(words.names.front());
    Policy policy = TRY(ask_policy(client));
    const Config* config = TRY(client.config());
    const PolicyChange change = TRY(verb.plan(policy, config->cluster_name, words.request));
    TRY(preview(policy, change));
    if (!words.dry_run) TRY(send_change(client, change));
    std::string lines;
    for (const PolicyStep& step : change.steps) lines += sacctmgr_line(step) + "\n";
    return lines;
}

Result<std::string> list_labs(Client& client) {
    const Policy policy = TRY(ask_policy(client));
    const Config* config = TRY(client.config());
    const GpuFacts facts = TRY(fetch_gpu_facts(client, true));
    const std::vector<GpuShare> shares = count_by_lab(facts);
    const std::vector<Lab> labs = labs_of(policy, config->cluster_name);
    std::size_t width = 5;
    for (const Lab& lab : labs) width = std::max(width, lab.name.size());
    std::string out =
        fmt::format("{:<{}} {:>6} {:>6} {:>7} USERS\n", "LAB", width, "CAP", "IN-USE", "OVERCAP");
    std::uint64_t caps = 0, all_in_use = 0, all_overcap = 0;
    for (const Lab& lab : labs) {
        auto share = std::find_if(shares.begin(), shares.end(),
                                  [&](const GpuShare& each) { return each.name == lab.name; });
        const std::uint64_t in_use = share == shares.end() ? 0 : total_of(share->in_use);
        const std::uint64_t overcap = share == shares.end() ? 0 : total_of(share->overcap);
        out += fmt::format("{:<{}} {:>6} {:>6} {:>7} {}\n", lab.name, width, *lab.cap, in_use,
                           overcap, join(lab.users, ","));
        caps += *lab.cap;
        all_in_use += in_use;
        all_overcap += overcap;
    }
    std::uint64_t gpus = 0;
    for (const auto& [type, count] : count_by_type(facts)) gpus += count.total;
    out += fmt::format("{:<{}} {:>6} {:>6} {:>7} the cluster has {} GPUs\n", "total", width, caps,
                       all_in_use, all_overcap, gpus);
    return out;
}

// An error of the words or of the policy's rules is a complete text.
int report(const Invocation& invocation, Streams& streams, const Error& error) {
    const bool is_complete = error.code == ErrorCode::BadArgument ||
                             error.code == ErrorCode::NotFound || error.detail.starts_with(' ');
    const std::string text = is_complete ? error.detail : to_string(error);
    print_error(streams, invocation, trim(text));
    return 1;
}

}  // namespace

int run_lab(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
            Streams& streams) {
    Result<LabWords> read = read_words(words);
    if (!read) return report(invocation, streams, read.error());
    Result<std::string> text = bad_words(fmt::format("Usage:\n{}", kLabUsage));
    for (const LabVerb& verb : kLabVerbs) {
        if (verb.name == read->verb) text = change_lab(verb, *read, client);
    }
    if (read->verb == "list") text = list_labs(client);
    if (!text) return report(invocation, streams, text.error());
    streams.out(*text);
    return 0;
}

}  // namespace sluice
