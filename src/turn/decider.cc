#include "turn/decider.h"

#include <algorithm>

namespace sluice {

namespace {

// After the controller was blocked, until the messages that arrived meanwhile are read: no timer
// fires before.
constexpr Seconds kCatchUp{2};

std::shared_ptr<const NodeNames> names_of(const Cluster& cluster) {
    auto names = std::make_shared<NodeNames>();
    for (std::uint32_t index = 0; index < cluster.node_count(); ++index) {
        names->push_back(cluster.node(NodeIndex{index}).config.name);
    }
    return names;
}

// The answer to this request among the effects from `first` on, if any.
const Answer* answer_to(RequestId request, const Effects& effects, std::size_t first) {
    for (std::size_t i = first; i < effects.size(); ++i) {
        const Reply* reply = std::get_if<Reply>(&effects[i]);
        if (reply && reply->request == request) return &reply->answer;
    }
    return nullptr;
}

}  // namespace

Decider::Decider(std::unique_ptr<Cluster> cluster)
    : cluster_(std::move(cluster)), node_names_(names_of(*cluster_)) {}

std::optional<Time> Decider::next_tick() const {
    const auto due = cluster_->next_timer();
    return due ? std::optional(std::max(*due, timers_from_)) : std::nullopt;
}

void Decider::begin(const LoopClock::Turn& turn) {
    now_ = turn.now;
    timers_from_ = turn.blocked == Seconds{0} ? timers_from_ + turn.step : now_ + kCatchUp;
    if (turn.step != Seconds{0}) decide(ClockStepped{turn.step});
    if (turn.blocked != Seconds{0}) decide(StoodStill{turn.blocked});
}

const Answer* Decider::decide(const Event& event, RequestId request) {
    const std::size_t first = effects_.size();
    apply(*cluster_, now_, event, effects_);
    if (node_names_->size() != cluster_->node_count()) node_names_ = names_of(*cluster_);
    return answer_to(request, effects_, first);
}

const Answer* Decider::refuse(RequestId request, Error error) {
    effects_.push_back(Reply{request, std::move(error)});
    return &std::get<Reply>(effects_.back()).answer;
}

bool Decider::tick(std::size_t decided, std::size_t waiting) {
    const auto due = next_tick();
    const bool fires = tick_gate_.may_tick(due && *due <= now_, decided, waiting);
    if (fires) decide(Tick{});
    return fires;
}

PassReport Decider::pass() {
    return schedule(*cluster_, now_, effects_);
}

Decisions Decider::finish() {
    Decisions decisions;
    decisions.changes = cluster_->take_changes();
    decisions.node_names = node_names_;
    // Welcomes come first: a node takes no orders before its registration is answered. An older
    // order that follows the welcome is one that the registration repeats anyway.
    for (Effect& effect : effects_) {
        auto* answered = std::get_if<NodeAnswered>(&effect);
        if (!answered) continue;
        const auto index = cluster_->find_node(answered->node);
        decisions.orders.push_back(
            {std::move(answered->node),
             NodeWelcome{index.value_or(NodeIndex{}), std::move(answered->error),
                         std::move(answered->jobs)}});
    }
    for (Effect& effect : effects_) pack(effect, decisions);
    effects_.clear();
    return decisions;
}

void Decider::pack(Effect& effect, Decisions& decisions) const {
    std::visit(
        [&](auto& it) {
            using Kind = std::decay_t<decltype(it)>;
            if constexpr (std::is_same_v<Kind, Reply>) {
                decisions.replies.push_back(std::move(it));
            } else if constexpr (std::is_same_v<Kind, SendMail>) {
                decisions.mails.push_back(std::move(it));
            } else if constexpr (std::is_same_v<Kind, RunJobProgram>) {
                decisions.programs.push_back(std::move(it));
            } else if constexpr (std::is_same_v<Kind, RunPowerProgram>) {
                decisions.power_programs.push_back(std::move(it));
            } else if constexpr (std::is_same_v<Kind, RunTrigger>) {
                decisions.triggers.push_back(std::move(it));
            } else if constexpr (!std::is_same_v<Kind, NodeAnswered>) {
                const std::string& name = node_names_->at(it.node.value);
                decisions.orders.push_back({name, std::move(it)});
            }
        },
        effect);
}

}  // namespace sluice
