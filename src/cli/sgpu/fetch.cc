#include "cli/sgpu/fetch.h"

#include <algorithm>

#include "cli/common/ask_accounting.h"
#include "cli/common/ask_node.h"
#include "cli/common/listing.h"
#include "model/columns.h"
#include "model/hostlist.h"
#include "os/user.h"
#include "surface/names.h"

namespace sluice {

namespace {

// Connections at the same time: there may be a thousand nodes.
constexpr std::size_t kAskedAtOnce = 64;
constexpr int kPointsMost = 20'000;

std::string user_name(std::uint32_t id) {
    const std::optional<User> user = find_user(id);
    return user ? user->name : fmt::format("{}", id);
}

template <typename Numbers>
std::vector<std::optional<std::uint64_t>> known(const Numbers& numbers) {
    std::vector<std::optional<std::uint64_t>> values;
    for (const std::uint64_t number : numbers)
        values.push_back(number == 0 ? std::nullopt : std::optional(number - 1));
    return values;
}

// Lists of a node that is out of order are cut to the same length.
GpuCourse course_of(const std::string& node, const wire::GpuSeries& series) {
    GpuCourse course{.node = node,
                     .uuid = series.uuid(),
                     .type = series.type(),
                     .user = series.job() == 0 ? "" : user_name(series.user()),
                     .out_of_service = series.out_of_service(),
                     .gpu = series.gpu(),
                     .job = series.job(),
                     .memory_all = series.memory_all(),
                     .start = series.start(),
                     .interval = std::max(1u, series.interval())};
    const auto put = [&](GpuValue value, const auto& numbers) {
        course.values[static_cast<std::size_t>(value)] = known(numbers);
    };
    put(GpuValue::Utilization, series.percent());
    put(GpuValue::UtilizationMost, series.percent_most());
    put(GpuValue::Memory, series.memory());
    put(GpuValue::Power, series.power());
    put(GpuValue::Temperature, series.temperature());
    put(GpuValue::SmClock, series.sm_clock());
    put(GpuValue::MemoryClock, series.memory_clock());
    put(GpuValue::Processes, series.processes());
    course.steps.assign(series.step().begin(), series.step().end());
    const auto points = static_cast<std::size_t>(std::clamp(series.percent_size(), 0, kPointsMost));
    for (auto& values : course.values) values.resize(points);
    course.steps.resize(points);
    course.ecc_errors = series.ecc_errors();
    course.xids.assign(series.xids().begin(), series.xids().end());
    return course;
}

Result<std::optional<FoundJob>> find_in_queue(Client& client, const JobRef& job) {
    using C = JobColumn;
    std::vector<ColumnId> columns;
    for (C column : {C::Id, C::Name, C::UserId, C::NodeList, C::State, C::StartTime, C::EndTime})
        columns.push_back(static_cast<ColumnId>(column));
    const Filter filter{.jobs = {job}, .include_hidden = true};
    const Result<Table> table = fetch_table(client, TableKind::Jobs, columns, filter);
    if (!table && table.error().code == ErrorCode::InvalidJobId) return std::optional<FoundJob>();
    if (!table) return table.error();
    const Sheet sheet(*table, Looks{});
    if (sheet.rows() == 0) return std::optional<FoundJob>();
    const SheetRow row{&sheet, 0};
    const auto state = static_cast<ShownState>(row.number(C::State));
    const bool has_started = !row.text(C::NodeList).empty();
    FoundJob found{.id = static_cast<std::uint32_t>(row.number(C::Id)),
                   .name = std::string(row.text(C::Name)),
                   .user = user_name(static_cast<std::uint32_t>(row.number(C::UserId))),
                   .nodes = std::string(row.text(C::NodeList)),
                   .state = std::string(state_name(state))};
    if (has_started) found.start = row.number(C::StartTime);
    const bool has_ended = state != ShownState::Running && state != ShownState::Suspended &&
                           state != ShownState::Completing;
    if (has_started && has_ended) found.end = row.number(C::EndTime);
    return std::optional(found);
}

}  // namespace

Result<FoundJob> find_job(Client& client, const JobRef& job, const std::string& written) {
    std::optional<FoundJob> found = TRY(find_in_queue(client, job));
    if (!found) {
        AccountingQuestion question{.kind = AccountingQuestion::Kind::Jobs};
        question.jobs.jobs = {written};
        const Result<std::vector<AccountedRun>> runs = ask_rows<AccountedRun>(client, question);
        if (!runs || runs->empty())
            return Error{ErrorCode::InvalidJobId, fmt::format("job {} is not known", written)};
        const AccountedJob& last = runs->back().job;
        found = FoundJob{.id = last.job.value,
                         .name = last.name,
                         .user = user_name(last.user.value),
                         .nodes = last.node_names,
                         .state = std::string(state_name(last.state))};
        if (last.start) found->start = to_unix(*last.start);
        if (last.end) found->end = to_unix(*last.end);
    }
    found->printed = written;
    if (found->start == 0 || found->nodes.empty())
        return Error{ErrorCode::JobNotRunning, fmt::format("job {} has not started", written)};
    return *std::move(found);
}

Result<std::vector<wire::NodeAddress>> find_gpu_nodes(Client& client, const std::string& nodes) {
    using N = NodeColumn;
    std::vector<ColumnId> columns;
    for (N column : {N::Name, N::Address, N::Port, N::Gres})
        columns.push_back(static_cast<ColumnId>(column));
    const Table table =
        TRY(fetch_table(client, TableKind::Nodes, columns, Filter{.include_hidden = true}));
    const Sheet sheet(table, Looks{});
    Hostlist wanted;
    if (!nodes.empty()) wanted = TRY(Hostlist::parse(nodes));
    std::vector<wire::NodeAddress> addresses;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const SheetRow row{&sheet, i};
        const bool has_gpus = row.text(N::Gres).find("gpu") != std::string_view::npos;
        const bool is_wanted = nodes.empty() ? has_gpus : wanted.contains(row.text(N::Name));
        if (!is_wanted) continue;
        wire::NodeAddress& address = addresses.emplace_back();
        address.set_name(std::string(row.text(N::Name)));
        address.set_address(std::string(row.text(N::Address)));
        address.set_port(static_cast<std::uint32_t>(row.number(N::Port)));
    }
    return addresses;
}

std::vector<GpuCourse> fetch_courses(Client& client, const std::vector<wire::NodeAddress>& nodes,
                                     const GpuQuestion& question,
                                     const std::function<void(const Error&)>& on_error) {
    wire::StepInput input;
    wire::AskGpus& asked = *input.mutable_ask_gpus();
    asked.set_job(question.job);
    if (question.restarts) asked.set_restarts(*question.restarts);
    asked.set_from(question.from);
    asked.set_to(question.to);
    asked.set_points(question.points);
    std::vector<GpuCourse> courses;
    for (std::size_t first = 0; first < nodes.size(); first += kAskedAtOnce) {
        std::vector<AskedNode> open;
        for (std::size_t i = first; i < std::min(nodes.size(), first + kAskedAtOnce); ++i) {
            Result<AskedNode> node = ask_node(client, nodes[i], input);
            if (!node) on_error(node.error());
            if (node) open.push_back(std::move(*node));
        }
        const NodeDeadline deadline = deadline_for_nodes();
        for (AskedNode& node : open) {
            const Result<std::vector<wire::GpuAnswer>> answers = hear_gpus(node, deadline);
            if (!answers) on_error(answers.error());
            for (std::size_t i = 0; answers && i < answers->size(); ++i) {
                for (const wire::GpuSeries& series : (*answers)[i].gpus())
                    courses.push_back(course_of(node.name, series));
            }
        }
    }
    return courses;
}

}  // namespace sluice
