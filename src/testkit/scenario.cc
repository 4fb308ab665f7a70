#include "testkit/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/question.h"
#include "model/errors.h"
#include "model/node_keys.h"
#include "model/qos_keys.h"
#include "testkit/scenario_words.h"

namespace sluice {

std::string Scenario::run(std::string_view text) {
    std::size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        std::vector<std::string> parts;
        for (std::string_view word : words(line)) parts.emplace_back(word);
        std::string problem = run_line(parts.front(), parts);
        if (problem.empty() && cluster_) problem = broken_invariant(*cluster_).value_or("");
        if (!problem.empty()) return fmt::format("line {}: {}: {}", number, line, problem);
    }
    return {};
}

void Scenario::ensure_cluster() {
    if (cluster_) return;
    if (settings_.partitions.empty()) add_partition("main", {{"default", "yes"}});
    cluster_ = std::make_unique<Cluster>(std::make_shared<Settings>(settings_), now_);
    for (const auto& [name, options] : qos_) set_qos(name, options);
    for (const NodeConfig& node : settings_.nodes) {
        if (cluster_->node(*cluster_->find_node(node.name)).power.state == PowerState::Up)
            apply_event(NodeRegistered{node.name, {}, {}});
    }
}

void Scenario::set_qos(const std::string& name, const Words& options) {
    Policy policy = cluster_->policy();
    auto qos = std::find_if(policy.qos.begin(), policy.qos.end(),
                            [&](const Qos& each) { return each.name == name; });
    if (qos == policy.qos.end()) {
        qos = policy.qos.insert(qos, Qos{});
        qos->id = static_cast<std::uint32_t>(policy.qos.size());
        qos->name = qos->description = name;
    }
    parse_qos_change({options.begin(), options.end()}).value().apply_to(*qos);
    apply_event(PolicyChanged{std::make_shared<const Policy>(std::move(policy))});
}

void Scenario::apply_event(Event event) {
    apply(*cluster_, now_, event, effects_);
}

std::string Scenario::change_node(const std::string& name, const std::vector<std::string>& words) {
    if (words.at(2) == "is") {
        NodeIndex index = *cluster_->find_node(name);
        std::string shown = to_lower(print_node_state_complete(node_base(cluster_->node(index)),
                                                               node_flags(cluster_->node(index))));
        return shown == words.at(3) ? "" : "is " + shown;
    }
    Words options = options_in(words, 2);
    bool refused = options.erase("refused") > 0;
    const Result<NodeChange> change = parse_node_change({options.begin(), options.end()});
    if (!change) return refused ? "" : "refused: " + to_string(change.error());
    apply_event(UpdateNode{RequestId{next_request_++}, {UserId{0}, GroupId{0}}, {name}, *change});
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    if (error && !refused) return "refused: " + to_string(*error);
    return !error && refused ? "was accepted" : "";
}

Result<std::vector<Explanation>> Scenario::why(const std::string& job) {
    ensure_cluster();
    JobRef ref = TRY(parse_job_ref(job));
    const ExplainJob question{RequestId{next_request_++}, {UserId{0}, GroupId{0}}, std::move(ref)};
    const Answer answer = answer_to(*cluster_->copy_for_questions(), now_, question);
    if (const auto* error = std::get_if<Error>(&answer)) return *error;
    return std::get<std::vector<Explanation>>(answer);
}

// Restarts the controller from what the store would keep; the nodes register with their runs.
void Scenario::restart() {
    StoredState stored;
    stored.reservations = cluster_->reservations();
    NodeNames names;
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        names.push_back(cluster_->node(NodeIndex{i}).config.name);
        stored.nodes.push_back(stored_form(cluster_->node(NodeIndex{i})));
    }
    std::map<std::string, std::vector<RunId>> running;
    cluster_->jobs().for_each([&](const Job& job) {
        stored.jobs.push_back(stored_form(job, names));
        stored.next_job_id = std::max(stored.next_job_id, job.id.value + 1);
        if (!job.run.allocation || !is_live(job)) return;
        for (const NodeShare& share : job.run.allocation->nodes)
            running[names[share.node.value]].push_back({job.id, job.run.restarts, kBatchStep});
    });
    stored.policy = cluster_->policy_ptr();
    stored.usage = cluster_->usage().rows();
    stored.triggers = cluster_->triggers().all();
    cluster_ = std::make_unique<Cluster>(std::make_shared<Settings>(settings_), now_);
    cluster_->restore(stored, now_);
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        const Node& node = cluster_->node(NodeIndex{i});
        const std::string name = node.config.name;
        if (!node.removed && node.power.state == PowerState::Up)
            apply_event(NodeRegistered{name, {}, running[name]});
    }
    apply_event(Tick{});
}

// Connected nodes send a heartbeat, and a pass follows.
void Scenario::wait_until(Time moment) {
    now_ = moment;
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        if (cluster_->node(NodeIndex{i}).connected) apply_event(NodeHeartbeat{NodeIndex{i}, 0, 0});
    }
    apply_event(Tick{});
    schedule(*cluster_, now_, effects_);
}

std::string Scenario::run_line(const std::string& verb, const std::vector<std::string>& words) {
    if (verb == "nodes") return add_nodes(words.at(1), options_in(words, 2)), "";
    if (verb == "partition") return add_partition(words.at(1), options_in(words, 2)), "";
    if (verb == "qos" && cluster_) return set_qos(words.at(1), options_in(words, 2)), "";
    if (verb == "qos") return qos_.emplace_back(words.at(1), options_in(words, 2)), "";
    if (verb == "switch") return add_switch(words.at(1), options_in(words, 2)), "";
    if (verb == "settings") return change_settings(options_in(words, 1));
    ensure_cluster();
    Caller root{UserId{0}, GroupId{0}};
    if (verb == "restart") return restart(), "";
    if (verb == "pass") return schedule(*cluster_, now_, effects_), "";
    if (verb == "clock") {
        const int sign = words.at(1).starts_with('-') ? -1 : 1;
        const Minutes step{sign * static_cast<int>(as_number(words.at(1).substr(1)))};
        now_ += step;
        start_ += step;
        return apply_event(ClockStepped{step}), "";
    }
    if (verb == "at") return wait_until(start_ + Minutes{as_number(words.at(1))}), "";
    const std::string& name = words.at(1);
    if (verb == "account" || verb == "member" || verb == "unmember" || verb == "qoslimit")
        return change_policy(verb, name, options_in(words, 2)), "";
    if (verb == "submit") return submit(name, options_in(words, 2));
    if (verb == "expect") return expect(name, words);
    if (verb == "cancel") {
        CancelJobs event{.request = RequestId{next_request_++}, .caller = root, .filter = {}};
        event.filter.jobs.push_back(
            {.job = find(name), .tasks = {}, .het_component = {}, .step = {}});
        return apply_event(event), "";
    }
    if (verb == "reserve")
        return reserve(ReservationChange::Verb::Create, name, options_in(words, 2));
    if (verb == "rereserve")
        return reserve(ReservationChange::Verb::Update, name, options_in(words, 2));
    if (verb == "unreserve")
        return reserve(ReservationChange::Verb::Delete, name, options_in(words, 2));
    if (verb == "reserved") return reserved(name, words.at(2));
    if (verb == "update") return update(name, words);
    if (verb == "depends") return depends(name, words.at(2));
    if (verb == "end") {
        const Job& job = cluster_->job(find(name));
        ExitStatus exit{.code = static_cast<std::uint8_t>(
                            as_number(option(options_in(words, 2), "code", "0")))};
        NodeIndex head = job.run.allocation->nodes.front().node;
        return apply_event(JobEnded{head, {job.id, job.run.restarts, kBatchStep}, exit, {}}), "";
    }
    if (verb == "clean") {
        const Job& job = cluster_->job(find(name));
        return apply_event(NodeCleaned{*cluster_->find_node(words.at(2)),
                                       {job.id, job.run.restarts, kBatchStep}}),
               "";
    }
    if (verb == "holds") return holds(name, options_in(words, 2));
    if (verb == "node") return change_node(name, words);
    if (verb == "create" || verb == "dynamic" || verb == "delete")
        return dynamic_node(verb, name, options_in(words, 2));
    if (verb == "lost") return apply_event(NodeDisconnected{*cluster_->find_node(name)}), "";
    if (verb == "back" || verb == "rebooted") return register_node(name, verb == "rebooted"), "";
    if (verb == "reboot") return reboot(name, options_in(words, 2));
    if (verb == "shows") return expect_node(name, options_in(words, 2));
    if (verb == "down") {
        return apply_event(UpdateNode{RequestId{next_request_++},
                                      root,
                                      {name},
                                      {.state = NodeCommand::Down, .reason = "test"}}),
               "";
    }
    return control(verb, name);
}

}  // namespace sluice
