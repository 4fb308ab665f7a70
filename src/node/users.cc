// Which run looks up its user, and which waits for the result. Where users are in a directory
// service, each look-up costs more than starting a job.
#include <algorithm>

#include "node/handlers.h"

namespace sluice {

bool knows_user(const Deciding& on, const UserKey& user) {
    const auto known = on.state.known_users.find(user);
    return known != on.state.known_users.end() &&
           on.now.steady - known->second < on.state.settings.group_update_time;
}

// The first run asks for itself.
bool must_wait_for_user(const Deciding& on, const RunKey& run, const UserKey& user) {
    if (knows_user(on, user)) return false;
    const auto [question, is_first] = on.state.questions.try_emplace(user, UserQuestion{run, {}});
    if (!is_first) question->second.waiting.push_back(run);
    return !is_first;
}

// If there was no answer, each may ask for itself.
void on_user_asked(const Deciding& on, const RunKey& asker) {
    auto& questions = on.state.questions;
    const auto question = std::find_if(questions.begin(), questions.end(), [&](const auto& entry) {
        return entry.second.asker == asker;
    });
    if (question == questions.end()) return;
    const std::vector<RunKey> waiting = std::move(question->second.waiting);
    questions.erase(question);
    for (const RunKey& run : waiting) start(on, run);
}

}  // namespace sluice
