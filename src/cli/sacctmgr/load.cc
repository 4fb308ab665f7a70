// cli/sacctmgr/load.cc
//
// sacctmgr load: the steps that a file of sacctmgr dump asks for. All are done, or none; an error
// names the line.
#include <map>

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/change_policy.h"
#include "cli/sacctmgr/change.h"
#include "cli/sacctmgr/commands.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

// "User - 'bob':DefaultAccount='cs':MaxJobs=3".
struct FileLine {
    std::size_t number = 0;
    std::string title, name;
    std::vector<std::string> words;  // "MaxJobs=3", without quotes
};

// At colons outside of quotes, which are removed.
std::vector<std::string> split_options(std::string_view text) {
    std::vector<std::string> pieces(1);
    char quote = 0;
    for (const char c : text) {
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? '\0' : c;
        else if (c == ':' && !quote)
            pieces.emplace_back();
        else
            pieces.back() += c;
    }
    return pieces;
}

Result<FileLine> parse_line(std::size_t number, std::string_view text) {
    FileLine line{.number = number};
    const std::size_t dash = text.find(" - ");
    if (dash != std::string_view::npos) {
        line.title = to_lower(trim(text.substr(0, dash)));
        line.words = split_options(trim(text.substr(dash + 3)));
        line.name = to_lower(line.words.front());
        line.words.erase(line.words.begin());
    }
    const bool is_known = line.title == "cluster" || line.title == "parent" ||
                          line.title == "account" || line.title == "user";
    if (is_known && !line.name.empty()) return line;
    return Error{ErrorCode::BadArgument, fmt::format(" Misformatted line({}): {}", number, text)};
}

// Equal but for the times of changes, which a preview does not know.
bool is_same(Policy a, Policy b) {
    for (Policy* each : {&a, &b}) {
        each->version = 0;
        for (Association& record : each->associations) record.modified = {};
        for (Account& record : each->accounts) record.modified = {};
        for (PolicyUser& record : each->users) record.modified = {};
        for (ClusterRecord& record : each->clusters) record.modified = {};
    }
    return a == b;
}

class Loader {
public:
    Loader(Policy policy, std::string cluster)
        : policy_(std::move(policy)), cluster_(std::move(cluster)) {}

    Result<void> read(std::string_view text, bool clean);
    const PolicyChange& change() const { return change_; }
    const std::string& cluster() const { return cluster_; }

private:
    Result<void> read_line(const FileLine& line, bool clean);
    Result<void> read_cluster(const FileLine& line, bool clean);
    Result<void> read_record(const FileLine& line);
    Result<void> finish();
    // Applies a step to the copy; steps that change nothing are left out.
    Result<void> take(PolicyStep step);
    Result<void> remove_all();

    Policy policy_;
    std::string cluster_;  // empty: that of the file
    std::string parent_ = "root";
    PolicyChange change_;
    std::map<std::string, std::string> default_accounts_, default_wckeys_, coordinated_;
};

Result<void> Loader::take(PolicyStep step) {
    const Policy before = policy_;
    TRY(preview(policy_, {{step}}));
    if (!is_same(before, policy_)) change_.steps.push_back(std::move(step));
    return {};
}

Result<void> Loader::remove_all() {
    PolicyStep root{.verb = PolicyVerb::Modify, .entity = PolicyEntity::User, .names = {"root"}};
    root.clusters = {cluster_};
    root.record.default_account = "root";
    TRY(take(root));
    PolicyStep all{.verb = PolicyVerb::Delete, .entity = PolicyEntity::Account};
    all.clusters = {cluster_};
    for (const Association& each : policy_.associations) {
        if (!each.deleted && each.cluster == cluster_ && each.user.empty() && each.parent)
            all.names.push_back(each.account);
    }
    return all.names.empty() ? Result<void>{} : take(all);
}

Result<void> Loader::read_cluster(const FileLine& line, bool clean) {
    if (cluster_.empty()) cluster_ = line.name;
    bool is_known = false;
    for (const ClusterRecord& each : policy_.clusters)
        is_known = is_known || (!each.deleted && each.name == cluster_);
    SacctmgrWords words =
        TRY(read_change_words(SacctmgrEntity::Cluster, PolicyVerb::Add, line.words));
    words.step.entity = PolicyEntity::Cluster;
    words.step.names = {cluster_};
    words.step.verb = is_known ? PolicyVerb::Modify : PolicyVerb::Add;
    if (is_known && clean) TRY(remove_all());
    return take(std::move(words.step));
}

// Words of users that are applied when all accounts exist.
bool keep_for_later(const std::string& word, std::string_view key, std::string& value) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos || !means(word.substr(0, at), key, key.size() - 1)) return false;
    value = to_lower(word.substr(at + 1));
    return true;
}

Result<void> Loader::read_record(const FileLine& line) {
    const bool is_user = line.title == "user";
    FileLine rest = line;
    if (is_user) {
        std::erase_if(rest.words, [&](const std::string& word) {
            return keep_for_later(word, "defaultaccount", default_accounts_[line.name]) ||
                   keep_for_later(word, "defaultwckey", default_wckeys_[line.name]) ||
                   keep_for_later(word, "coordinator", coordinated_[line.name]);
        });
    }
    const SacctmgrEntity entity = is_user ? SacctmgrEntity::User : SacctmgrEntity::Account;
    SacctmgrWords words = TRY(read_change_words(entity, PolicyVerb::Add, rest.words));
    PolicyStep& step = words.step;
    step.entity = is_user ? PolicyEntity::User : PolicyEntity::Account;
    step.names = {line.name};
    step.clusters = {cluster_};
    if (is_user)
        step.accounts = {parent_};
    else
        step.record.parent = parent_;
    TRY(take(step));
    step.verb = PolicyVerb::Modify;  // of what existed before
    step.wckeys.clear();
    // A line without a partition is not about the associations with one.
    if (is_user && step.partitions.empty()) step.partitions.emplace_back();
    return take(std::move(step));
}

Result<void> Loader::read_line(const FileLine& line, bool clean) {
    if (line.title == "cluster") return read_cluster(line, clean);
    if (cluster_.empty())
        return Error{ErrorCode::BadArgument,
                     " You need to specify a cluster name first in your file."};
    if (line.title != "parent") return read_record(line);
    parent_ = line.name;
    for (const Association& each : policy_.associations) {
        const bool is_it = !each.deleted && each.cluster == cluster_ && each.user.empty();
        if (is_it && each.account == parent_) return {};
    }
    return Error{ErrorCode::BadArgument,
                 fmt::format(" line({}) You need to add this parent ({}) as a child before you can "
                             "add children to it.",
                             line.number, parent_)};
}

Result<void> Loader::finish() {
    PolicyStep step{.verb = PolicyVerb::Modify, .entity = PolicyEntity::User};
    step.clusters = {cluster_};
    for (const auto& [user, account] : default_accounts_) {
        if (account.empty()) continue;
        PolicyStep each = step;
        each.names = {user};
        each.record.default_account = account;
        TRY(take(std::move(each)));
    }
    for (const auto& [user, wckey] : default_wckeys_) {
        if (wckey.empty()) continue;
        PolicyStep each{.verb = PolicyVerb::Add, .entity = PolicyEntity::User, .names = {user}};
        each.clusters = {cluster_};
        each.record.default_wckey = wckey;
        TRY(take(std::move(each)));
    }
    for (const auto& [user, accounts] : coordinated_) {
        if (accounts.empty()) continue;
        PolicyStep each{
            .verb = PolicyVerb::Add, .entity = PolicyEntity::Coordinator, .names = {user}};
        for (std::string_view account : split(accounts, ',')) each.accounts.emplace_back(account);
        TRY(take(std::move(each)));
    }
    return {};
}

Result<void> Loader::read(std::string_view text, bool clean) {
    std::size_t number = 0;
    for (std::string_view raw : split(text, '\n')) {
        ++number;
        const std::string_view line = trim(raw);
        if (line.empty() || line.starts_with('#')) continue;
        const FileLine parsed = TRY(parse_line(number, line));
        Result<void> done = read_line(parsed, clean);
        if (done) continue;
        const Error& error = done.error();
        if (error.detail.starts_with(" line(")) return error;
        std::string detail = error.detail.substr(0, error.detail.find("\n Use keyword"));
        if (!detail.starts_with(' ')) detail = " " + detail;
        return Error{error.code, fmt::format("{}\n Problem with line({})", detail, number)};
    }
    return finish();
}

std::string list_steps(const PolicyChange& change) {
    std::string out;
    for (const PolicyStep& step : change.steps) {
        constexpr std::string_view kVerbs[] = {"Add", "Modify", "Delete"};
        constexpr std::string_view kEntities[] = {"account",     "user",    "qos",
                                                  "coordinator", "cluster", "resource"};
        out += fmt::format(" {:<6} {:<11} {}", kVerbs[static_cast<std::size_t>(step.verb)],
                           kEntities[static_cast<std::size_t>(step.entity)], join(step.names, ","));
        if (!step.accounts.empty()) out += " account=" + join(step.accounts, ",");
        if (step.record.parent) out += " parent=" + *step.record.parent;
        if (step.record.default_account) out += " defaultaccount=" + *step.record.default_account;
        for (const auto& [name, value] : settings_of(step.limits))
            out += fmt::format(" {}={}", name, value);
        out += '\n';
    }
    return out;
}

}  // namespace

int load_policy(AccountingCommand& command) {
    if (command.read_only) {
        command.streams.err("Can't run this command in readonly mode.\n");
        return 1;
    }
    std::string file, cluster;
    bool clean = false;
    for (const std::string& word : command.words) {
        const std::size_t at = word.find('=');
        const std::string_view key = std::string_view(word).substr(0, at);
        if (at == std::string::npos && means(word, "clean", 3))
            clean = true;
        else if (at == std::string::npos || means(key, "file", 1))
            file = at == std::string::npos ? word : word.substr(at + 1);
        else if (means(key, "cluster", 3))
            cluster = to_lower(word.substr(at + 1));
        else
            return command.say("Unknown option: " + word);
    }
    if (file.empty()) return command.say("You need to specify a file to load.");
    const std::string path =
        file.starts_with('/') ? file : command.invocation.directory + "/" + file;
    const Result<std::string> text = read_file(path);
    if (!text)
        return command.say(fmt::format("Unable to read \"{}\": {}", file, text.error().detail));
    Result<Policy> policy = ask_policy(command.client);
    if (!policy) return command.fail(to_string(policy.error()));
    Loader loader(*std::move(policy), cluster);
    if (Result<void> done = loader.read(*text, clean); !done) {
        command.streams.err(done.error().detail + "\n");
        return command.say("Nothing was changed");
    }
    command.streams.out(fmt::format("For cluster {}\n", loader.cluster()));
    if (loader.change().steps.empty()) return command.streams.out(" Nothing new added.\n"), 0;
    if (!command.quiet) command.streams.out(list_steps(loader.change()));
    if (!command.is_agreed(kCommitQuestion)) return 0;
    const Result<void> sent = send_change(command.client, loader.change());
    return sent ? 0 : report_refusal(command, loader.change().steps.front(), sent.error());
}

}  // namespace sluice
