// What running steps use on this node, asked by sstat: the supervisors are asked, and slurmd waits
// for none of them longer than a moment.
#include <algorithm>

#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"

namespace sluice {

namespace {
constexpr std::chrono::seconds kUsageTime{3};
}

void Jobs::ask_usage(const wire::AskUsage& question, const Identity& asker, UsageAnswer answer) {
    const std::uint64_t number = next_question_++;
    UsageQuestion open;
    wire::StepCommand command;
    command.set_ask_usage(number);
    const bool of_all_jobs = question.all_steps() && question.job() == 0;
    for (const auto& [key, job] : node_.jobs) {
        if (!of_all_jobs && key.job.value != question.job()) continue;
        const bool may_ask = may_see_steps(asker, job.hook.user);
        if (!may_ask && of_all_jobs) continue;
        if (!may_ask) return answer(Error{ErrorCode::AccessDenied, ""});
        for (const auto& [step, run] : job.runs) {
            const bool is_meant =
                question.all_steps() ||
                std::count(question.steps().begin(), question.steps().end(), step.value) > 0;
            StepLine* line = is_meant ? line_to({key, step}) : nullptr;
            if (!line) continue;
            line->send(command);
            ++open.open;
        }
    }
    if (open.open == 0) return answer(wire::StepUsages{});
    open.answer = std::move(answer);
    open.patience = loop_.after(kUsageTime, [this, number] { answer_usage(number); });
    usage_questions_.emplace(number, std::move(open));
}

void Jobs::on_usage(const wire::UsageSoFar& usage) {
    auto question = usage_questions_.find(usage.question());
    if (question == usage_questions_.end()) return;
    *question->second.answers.add_steps() = usage.usage();
    if (--question->second.open == 0) answer_usage(usage.question());
}

void Jobs::answer_usage(std::uint64_t number) {
    auto question = usage_questions_.extract(number);
    if (question.empty()) return;
    UsageQuestion& asked = question.mapped();
    loop_.cancel(asked.patience);
    if (asked.open > 0) log_info("{} supervisors did not say what their steps use", asked.open);
    asked.answer(std::move(asked.answers));
}

}  // namespace sluice
