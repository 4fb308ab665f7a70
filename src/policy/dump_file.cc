// See dump_file.h.
#include "policy/dump_file.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "model/errors.h"
#include "policy/apply.h"
#include "policy/words.h"

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

class DumpLoader {
public:
    DumpLoader(Policy& policy, std::string& cluster) : policy_(policy), cluster_(cluster) {}

    Result<void> read(std::string_view text, bool clean);
    PolicyChange take_change() { return std::move(change_); }

private:
    Result<void> read_line(const FileLine& line, bool clean);
    Result<void> read_cluster(const FileLine& line, bool clean);
    Result<void> read_record(const FileLine& line);
    Result<void> finish();
    // Applies a step to the copy; steps that change nothing are left out.
    Result<void> take(PolicyStep step);
    Result<void> remove_all();

    Policy& policy_;
    std::string& cluster_;  // empty: that of the file
    std::string parent_ = "root";
    PolicyChange change_;
    std::map<std::string, std::string> default_accounts_, default_wckeys_, coordinated_;
};

Result<void> DumpLoader::take(PolicyStep step) {
    const Policy before = policy_;
    TRY(preview(policy_, {{step}}));
    if (!is_same(before, policy_)) change_.steps.push_back(std::move(step));
    return {};
}

Result<void> DumpLoader::remove_all() {
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

Result<void> DumpLoader::read_cluster(const FileLine& line, bool clean) {
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

Result<void> DumpLoader::read_record(const FileLine& line) {
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

Result<void> DumpLoader::read_line(const FileLine& line, bool clean) {
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

Result<void> DumpLoader::finish() {
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

Result<void> DumpLoader::read(std::string_view text, bool clean) {
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

}  // namespace

Result<PolicyChange> load_dump(Policy& policy, std::string& cluster, std::string_view text,
                               bool clean) {
    DumpLoader loader(policy, cluster);
    TRY(loader.read(text, clean));
    return loader.take_change();
}

std::vector<std::string> qos_in_dump(std::string_view text) {
    std::vector<std::string> names;
    for (std::string_view line : split(text, '\n')) {
        const std::size_t dash = line.find(" - ");
        if (line.starts_with('#') || dash == std::string_view::npos) continue;
        for (const std::string& word : split_options(line.substr(dash + 3))) {
            const std::size_t at = word.find('=');
            const std::string key = to_lower(word.substr(0, at));
            if (at == std::string::npos || (key != "qos" && key != "defaultqos")) continue;
            for (std::string_view name : split(word.substr(at + 1), ','))
                if (!trim(name).empty()) names.push_back(to_lower(trim(name)));
        }
    }
    return names;
}

}  // namespace sluice
