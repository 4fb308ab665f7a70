#include "cli/squeue/squeue.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "cli/common/listing.h"
#include "cli/squeue/options.h"
#include "model/errors.h"
#include "os/socket.h"
#include "surface/format.h"
#include "surface/jobs.h"
#include "surface/lines.h"
#include "surface/sort.h"
#include "surface/steps.h"

namespace sluice {

namespace {

struct Layout {
    Format<SheetRow> format;
    std::vector<SortKey<SheetRow>> sort;
};

// What the -o and -O of this call are, after the environment and the defaults.
std::string_view default_format(const SqueueOptions& options) {
    if (options.steps) return "%.15i %.8j %.9P %.8u %.9M %N";
    if (options.only_job_state) return "%.18i %.2t";
    if (options.start) return "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
    if (options.long_list) return "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
    return "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
}

constexpr std::string_view kAllJobLetters =
    "%a|%b|%c|%d|%e|%f|%g|%h|%i|%j|%k|%l|%m|%n|%o|%p|%q|%r|%s|%t|%u|%v|%w|%x|%y|%z|%A|%B|%C|%D|%E|"
    "%F|%G|%H|%I|%J|%K|%L|%M|%N|%O|%P|%Q|%R|%S|%T|%U|%V|%W|%X|%Y|%Z";
constexpr std::string_view kAllStepLetters = "%b|%i|%j|%l|%u|%A|%M|%N|%P|%S|%U|";

Format<SheetRow> chosen_format(const Invocation& invocation, const SqueueOptions& options) {
    std::span<const JobField> fields = options.steps ? step_fields() : job_fields();
    std::string_view text;
    if (options.long_format) return parse_long_format(*options.long_format, fields);
    if (options.format) {
        text = *options.format;
    } else if (auto format = invocation.environment.find("SQUEUE_FORMAT")) {
        text = *format;
    } else if (auto long_format = invocation.environment.find("SQUEUE_FORMAT2")) {
        return parse_long_format(*long_format, fields);
    } else {
        text = default_format(options);
    }
    if (text == "%all") text = options.steps ? kAllStepLetters : kAllJobLetters;
    return parse_short_format(text, fields);
}

// Nothing: the sort letters were wrong, and an error has been printed.
std::optional<Layout> chosen_layout(const Invocation& invocation, const SqueueOptions& options,
                                    Streams& streams) {
    const bool steps = options.steps;
    Layout layout{.format = chosen_format(invocation, options)};
    for (const std::string& word : layout.format.unknown) {
        print_error(
            streams, invocation,
            fmt::format("Invalid job {}format specification: {}", steps ? "step " : "", word));
    }
    std::string_view sort = steps ? "P,i" : options.start ? "S" : "P,t,-p";
    if (options.sort) sort = *options.sort;
    std::string unknown;
    layout.sort = parse_sort(sort, steps ? step_fields() : job_fields(), unknown);
    if (!unknown.empty()) {
        print_error(streams, invocation, fmt::format("Invalid sort specification: {}", unknown));
        return {};
    }
    return layout;
}

std::vector<ColumnId> columns_for(const SqueueOptions& options, const Layout& layout) {
    std::vector<ColumnId> columns;
    auto add = [&](const Needs& needed) {
        columns.insert(columns.end(), needed.all().begin(), needed.all().end());
    };
    append_needs(layout.format, columns);
    for (const SortKey<SheetRow>& key : layout.sort) add(key.field->needs);
    if (options.steps) {
        if (options.not_user) add(needs(StepColumn::UserId));
        return columns;
    }
    const bool names_tasks = std::any_of(options.filter.jobs.begin(), options.filter.jobs.end(),
                                         [](const JobRef& ref) { return ref.tasks.has_value(); });
    if (options.array_elements || names_tasks) add(kJobIdNeeds);
    if (options.expand_patterns) add(kFilenameNeeds);
    if (options.not_user) add(needs(JobColumn::UserId));
    if (!options.licenses.empty()) add(needs(JobColumn::Licenses));
    if (options.running_over || options.running_under) add(kElapsedNeeds);
    return columns;
}

bool names_license(std::string_view licenses, const std::vector<std::string>& wanted) {
    for (const std::string& word : split_list(licenses)) {
        std::string name = word.substr(0, word.find_first_of(":@"));
        if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) return true;
    }
    return false;
}

// The choices that the server does not know of.
bool is_wanted(const SheetRow& job, const SqueueOptions& options) {
    if (options.not_user) {
        const std::int64_t user =
            options.steps ? job.number(StepColumn::UserId) : job.number(JobColumn::UserId);
        if (user == *options.not_user) return false;
    }
    if (options.steps) return true;
    if (!options.licenses.empty() &&
        !names_license(job.text(JobColumn::Licenses), options.licenses)) {
        return false;
    }
    if (options.running_over || options.running_under) {
        if (shown_state(job) != ShownState::Running) return false;
        const std::int64_t elapsed = elapsed_seconds(job);
        if (options.running_over && elapsed <= *options.running_over) return false;
        if (options.running_under && elapsed >= *options.running_under) return false;
    }
    return true;
}

// The tasks that -j named of this array, when it named tasks and not the whole of it.
std::optional<TaskSet> named_tasks(const SheetRow& job, const Filter& filter) {
    std::optional<TaskSet> named;
    for (const JobRef& ref : filter.jobs) {
        if (ref.job.value != job.number(JobColumn::ArrayJobId)) continue;
        if (!ref.tasks) return {};
        if (!named) named.emplace();
        ref.tasks->for_each([&](std::uint32_t task) { named->insert(task); });
    }
    return named;
}

// An array that has not started is one row of the listing: it becomes one line, or one per task.
void add_lines(const SheetRow& job, const SqueueOptions& options, std::vector<SheetRow>& lines) {
    std::optional<TaskSet> named;
    if (!options.steps && is_array_record(job)) named = named_tasks(job, options.filter);
    if (!named && !(options.array_elements && !options.steps && is_array_record(job))) {
        lines.push_back(job);
        return;
    }
    Result<TaskSet> tasks = TaskSet::parse(job.text(JobColumn::ArrayTasks));
    if (!tasks) {
        lines.push_back(job);
        return;
    }
    tasks->for_each([&](std::uint32_t task) {
        if (named && !named->contains(task)) return;
        SheetRow line = job;
        line.task = task;
        lines.push_back(line);
    });
}

std::string lines_of(const Sheet& sheet, const SqueueOptions& options, const Layout& layout) {
    std::vector<SheetRow> lines;
    lines.reserve(sheet.rows());
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const SheetRow job{&sheet, i};
        if (is_wanted(job, options)) add_lines(job, options, lines);
    }
    sort_rows(lines, keys_that_matter(lines, sheet, layout.sort));
    std::string out;
    out.reserve(lines.size() * 100 + 256);
    if (!options.no_header) {
        if (options.long_list || options.repeat_seconds) out += date_line(sheet.looks().now);
        append_header(layout.format, out);
    }
    Lines printed(layout.format, sheet);
    for (const SheetRow& line : lines) printed.append(line, out);
    if (options.repeat_seconds) out += '\n';
    return out;
}

// -w names nodes or their machines; afterwards `wanted` has nodes only. The first name that is
// neither comes back.
Result<std::optional<std::string>> resolve_nodes(Client& client, std::vector<std::string>& wanted) {
    using N = NodeColumn;
    const Table table =
        TRY(fetch_table(client, TableKind::Nodes,
                        {static_cast<ColumnId>(N::Name), static_cast<ColumnId>(N::Hostname)}, {}));
    std::set<std::string> nodes;
    std::multimap<std::string, std::string> by_machine;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        nodes.emplace(table.text(i, N::Name));
        by_machine.emplace(table.text(i, N::Hostname), table.text(i, N::Name));
    }
    std::vector<std::string> resolved;
    for (const std::string& asked : wanted) {
        const std::string name = asked == "localhost" ? host_name() : asked;
        if (nodes.contains(name)) {
            resolved.push_back(name);
            continue;
        }
        auto [begin, end] = by_machine.equal_range(name);
        if (begin == end) return std::optional<std::string>(asked);
        for (auto each = begin; each != end; ++each) resolved.push_back(each->second);
    }
    wanted = std::move(resolved);
    return std::optional<std::string>();
}

// False: a node is unknown or slurmctld cannot be reached, and an error has been printed.
bool has_known_nodes(const Invocation& invocation, SqueueOptions& options, Client& client,
                     Streams& streams) {
    if (options.filter.nodes.empty()) return true;
    Result<std::optional<std::string>> unknown = resolve_nodes(client, options.filter.nodes);
    if (unknown && !*unknown) return true;
    if (unknown) {
        print_error(streams, invocation, fmt::format("Invalid node name {}", **unknown));
    } else {
        print_api_error(streams, "slurm_load_node", unknown.error());
    }
    return false;
}

Result<void> print_once(Time now, const Invocation& invocation, const SqueueOptions& options,
                        const Layout& layout, Client& client, Streams& streams) {
    Table table;
    const TableKind kind = options.steps ? TableKind::Steps : TableKind::Jobs;
    if (!options.matches_nothing) {
        std::vector<ColumnId> columns =
            options.json ? all_columns(kind) : columns_for(options, layout);
        table = TRY(fetch_table(client, kind, columns, options.filter));
    }
    Looks looks = looks_for(invocation, client, now);
    looks.convert_units = options.convert_units;
    looks.expand_patterns = options.expand_patterns;
    const Sheet sheet(table, looks);
    if (options.json) {
        const JsonMeta meta = json_meta(invocation, looks, *options.json);
        streams.out_long(options.steps ? steps_json(sheet, meta) : jobs_json(sheet, meta));
    } else {
        streams.out_long(lines_of(sheet, options, layout));
    }
    return {};
}

}  // namespace

int run_squeue_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    std::optional<SqueueOptions> options = parse_squeue_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (options->start && options->filter.states.empty()) {
        options->filter.states = {ShownState::Pending};
    }
    std::optional<Layout> layout = chosen_layout(invocation, *options, streams);
    if (!layout || !has_configuration(invocation, client, streams)) return 1;
    if (!has_known_nodes(invocation, *options, client, streams)) return 1;
    for (;;) {
        Result<void> printed = print_once(now, invocation, *options, *layout, client, streams);
        if (!printed) {
            print_api_error(streams, options->steps ? "slurm_load_job_steps" : "slurm_load_jobs",
                            printed.error());
            return 1;
        }
        if (options->repeat_seconds == 0) return 0;
        streams.flush();
        std::this_thread::sleep_for(Seconds{options->repeat_seconds});
        now = current_time();
    }
}

int run_squeue(const Invocation& invocation, Client& client, Streams& streams) {
    return run_squeue_at(current_time(), invocation, client, streams);
}

}  // namespace sluice
