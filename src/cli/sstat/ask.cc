#include "cli/sstat/ask.h"

#include <algorithm>

#include "cli/common/ask_node.h"
#include "cli/common/listing.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "protocol/convert.h"
#include "surface/steps.h"

namespace sluice {

namespace {

void add_answer(const std::string& node, const wire::StepUsages& answer,
                std::vector<StepUsageNow>& steps) {
    for (const wire::StepUsage& part : answer.steps()) {
        for (StepUsageNow& step : steps) {
            if (step.step.step.value != part.run().step()) continue;
            Usage usage = from_wire(part.usage());
            usage.rss_max_node = node;
            add_usage(step.usage, usage);
            step.tasks += part.tasks();
            step.parts.push_back({node, {part.pids().begin(), part.pids().end()}});
        }
    }
}

bool runs_on(const std::vector<RunningStep>& steps, std::string_view node) {
    return std::any_of(steps.begin(), steps.end(), [&](const RunningStep& step) {
        const Result<Hostlist> nodes = Hostlist::parse(step.nodes);
        return nodes && nodes->contains(node);
    });
}

}  // namespace

Result<std::vector<RunningStep>> fetch_steps(Client& client, const JobRef& job,
                                             const Looks& looks) {
    using C = StepColumn;
    const auto ids = kStepIdNeeds.all();
    std::vector<ColumnId> columns(ids.begin(), ids.end());
    for (C column : {C::State, C::NodeList, C::Tres}) {
        columns.push_back(static_cast<ColumnId>(column));
    }
    Filter filter{.jobs = {job}, .include_hidden = true};
    filter.jobs[0].step.reset();
    const Table table = TRY(fetch_table(client, TableKind::Steps, columns, filter));
    const Sheet sheet(table, looks);
    std::vector<RunningStep> steps;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const SheetRow row{&sheet, i};
        if (row.number(C::State) != static_cast<std::int64_t>(StepState::Running)) continue;
        RunningStep step{.job = JobId{static_cast<std::uint32_t>(row.number(C::JobId))},
                         .step = StepId{static_cast<std::uint32_t>(row.number(C::StepId))},
                         .nodes = std::string(row.text(C::NodeList)),
                         .tres = std::string(row.text(C::Tres))};
        append_step_id(row, step.id);
        steps.push_back(std::move(step));
    }
    // Compat: the batch script before the numbered steps.
    std::stable_sort(steps.begin(), steps.end(), [](const RunningStep& a, const RunningStep& b) {
        const auto key = [](const RunningStep& each) {
            return std::pair(each.job.value, std::int64_t{each.step == kBatchStep ? 0 : 1});
        };
        return std::pair(key(a), a.step.value) < std::pair(key(b), b.step.value);
    });
    return steps;
}

Result<std::vector<StepUsageNow>> fetch_usage(Client& client, const std::vector<RunningStep>& steps,
                                              const std::function<void(const std::string&)>& on_ask,
                                              const std::function<void(const Error&)>& on_error) {
    wire::Request request;
    request.set_job_allocation(steps.front().job.value);
    const wire::Reply reply = TRY(client.call(request));
    wire::AskUsage question;
    question.set_job(steps.front().job.value);
    std::vector<StepUsageNow> result;
    for (const RunningStep& step : steps) {
        question.add_steps(step.step.value);
        result.emplace_back();
        result.back().step = step;
        result.back().step.sluid = reply.allocation().sluid();
    }
    std::vector<AskedNode> asked;
    for (const wire::NodeAddress& address : reply.allocation().addresses()) {
        if (!runs_on(steps, address.name())) continue;
        on_ask(address.name());
        Result<AskedNode> node = ask_node(client, address, question);
        if (node) {
            asked.push_back(std::move(*node));
        } else {
            on_error(node.error());
        }
    }
    const NodeDeadline deadline = deadline_for_nodes();
    for (AskedNode& node : asked) {
        Result<wire::StepUsages> answer = hear_node(node, deadline);
        if (answer) {
            add_answer(node.name, *answer, result);
        } else {
            on_error(answer.error());
        }
    }
    std::erase_if(result, [](const StepUsageNow& each) { return each.parts.empty(); });
    return result;
}

}  // namespace sluice
