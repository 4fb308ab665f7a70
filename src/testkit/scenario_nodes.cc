// The lines of a scenario about nodes: changes, and what they show.
#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "testkit/scenario.h"
#include "testkit/scenario_words.h"

namespace sluice {

namespace {

// Reasons are one word in a scenario.
std::string with_blanks(std::string text) {
    for (char& c : text) {
        if (c == '_') c = ' ';
    }
    return text;
}

}  // namespace

std::string Scenario::answered(bool refused) const {
    for (auto effect = effects_.rbegin(); effect != effects_.rend(); ++effect) {
        const auto* reply = std::get_if<Reply>(&*effect);
        if (!reply) continue;
        const auto* error = std::get_if<Error>(&reply->answer);
        if (error && !refused) return "refused: " + to_string(*error);
        return !error && refused ? "was accepted" : "";
    }
    return "was not answered";
}

std::string Scenario::reboot(const std::string& name, const Words& options) {
    RebootNodes event{
        .request = RequestId{next_request_++}, .caller = {UserId{0}, GroupId{0}}, .nodes = {name}};
    event.asap = options.contains("asap");
    auto next = options.find("next");
    if (next != options.end())
        event.next = next->second == "down" ? AfterReboot::Down : AfterReboot::Resume;
    if (options.contains("reason")) event.reason = with_blanks(options.at("reason"));
    apply_event(event);
    return answered(options.contains("refused"));
}

// It registers without runs, and reports the end of those it had when told to end them; "rebooted"
// with a new boot.
void Scenario::register_node(const std::string& name, bool rebooted) {
    NodeFacts facts;
    if (rebooted) facts.boot_time = facts.slurmd_start_time = now_;
    apply_event(NodeRegistered{name, facts, {}});
    NodeIndex index = *cluster_->find_node(name);
    std::vector<RunId> ended = cluster_->node(index).orphans;
    for (const RunId& run : ended) apply_event(NodeCleaned{index, run});
}

std::string Scenario::dynamic_node(const std::string& verb, const std::string& name,
                                   const Words& options) {
    const Caller root{UserId{0}, GroupId{0}};
    const RequestId request{next_request_++};
    const bool refused = options.contains("refused");
    if (verb == "delete") {
        apply_event(DeleteNodes{request, root, {name}});
        return answered(refused);
    }
    NodeConfig node{.name = name, .hostname = name, .address = name};
    node.real_memory = 1000;
    if (options.contains("cpus")) node.cpus = as_number(options.at("cpus"));
    node.sockets = node.cpus;
    if (options.contains("feature")) node.features = {options.at("feature")};
    if (options.contains("state")) node.state = options.at("state");
    node.origin = NodeOrigin::Dynamic;
    if (verb == "create") {
        apply_event(CreateNodes{request, root, {node}});
        return answered(refused);
    }
    NodeRegistered event{name, {}, {}};
    event.facts.hostname = name;
    event.dynamic = std::make_shared<NodeConfig>(node);
    apply_event(event);
    const auto* answer = std::get_if<NodeAnswered>(&effects_.back());
    if (!answer) return "was not answered";
    if (answer->error && !refused) return "refused: " + to_string(*answer->error);
    return !answer->error && refused ? "was accepted" : "";
}

std::string Scenario::expect_node(const std::string& name, const Words& options) const {
    const Node& node = cluster_->node(*cluster_->find_node(name));
    std::string state = print_node_state_complete(node_base(node), node_flags(node));
    auto wanted = options.find("state");
    if (wanted != options.end() && state != wanted->second) return fmt::format("is {}", state);
    auto reason = options.find("reason");
    if (reason != options.end() && node.reason != with_blanks(reason->second)) {
        return fmt::format("has the reason \"{}\"", node.reason);
    }
    return {};
}

}  // namespace sluice
