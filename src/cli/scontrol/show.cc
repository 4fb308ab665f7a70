// cli/scontrol/show.cc
//
// scontrol show: which entity, and the records of it.
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/common/start_hint.h"
#include "cli/scontrol/session.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "surface/explain.h"
#include "surface/jobs.h"
#include "surface/licenses.h"
#include "surface/nodes.h"
#include "surface/reservations.h"
#include "surface/steps.h"

namespace sluice {

namespace {

using Id = const std::string*;  // nullptr: all of them

struct Listed {
    Table table;
    Looks looks;
};

Result<Listed> fetch(Session& session, TableKind kind, const Filter& filter) {
    return Listed{TRY(fetch_table(session.client, kind, all_columns(kind), filter)),
                  looks_for(session.invocation, session.client, session.now)};
}

JsonMeta meta_of(const Session& session, const Looks& looks) {
    return json_meta(session.invocation, looks, *session.json);
}

using AppendRecord = void (*)(const SheetRow&, const RecordStyle&, std::string&);

std::string records_of(const Session& session, const Sheet& sheet, AppendRecord append) {
    std::string out;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) append({&sheet, i}, session.style, out);
    return out;
}

// Why a job waits, after its record. Only for jobs that were named, because each explanation costs
// time of the controller; a list of all jobs contains records only.
void append_explanation(Session& session, std::int64_t id, const Filter& filter, std::string& out) {
    if (filter.jobs.empty()) return;
    Result<std::vector<Explanation>> answer =
        fetch_explanations(session.client, fmt::format("{}", id));
    if (!answer || answer->empty()) return;
    const bool one_line = session.style.one_line;
    out.resize(out.find_last_not_of('\n') + 1);
    for (const std::string& line : explanation_lines(answer->front(), session.now)) {
        fmt::format_to(std::back_inserter(out), "{}{}", one_line ? " " : "\n     ", line);
    }
    out += one_line ? "\n" : "\n\n";
}

// An array's record stands for tasks: one that was named is shown as itself.
std::string job_records(Session& session, const Sheet& sheet, const Filter& filter) {
    std::string out;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        SheetRow job{&sheet, i};
        if (is_array_record(job) && !filter.jobs.empty() && filter.jobs[0].tasks) {
            Result<TaskSet> waiting = TaskSet::parse(job.text(JobColumn::ArrayTasks));
            const std::uint32_t task = filter.jobs[0].tasks->first();
            if (!waiting || !waiting->contains(task)) continue;
            job.task = task;
        }
        append_job_record(job, session.style, out);
        if (session.style.details && base_state(job) == JobState::Pending) {
            append_explanation(session, job.number(JobColumn::Id), filter, out);
        }
    }
    return out;
}

int show_jobs(Session& session, Id id) {
    Filter filter{.all_states = true, .include_hidden = true};
    if (id) {
        Result<JobRef> ref = parse_job_ref(*id);
        if (!ref) {
            session.streams.err("scontrol_print_job error: Invalid job id specified\n");
            return 1;
        }
        filter.jobs.push_back(*ref);
    }
    Result<Listed> listed = fetch(session, TableKind::Jobs, filter);
    if (!listed) {
        if (!session.quiet) print_api_error(session.streams, "slurm_load_jobs", listed.error());
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out_long(jobs_json(sheet, meta_of(session, listed->looks)));
        return 0;
    }
    std::string out = job_records(session, sheet, filter);
    const bool any = !out.empty();
    session.streams.out_long(std::move(out));
    if (any) return 0;
    if (id) {
        if (!session.quiet) session.streams.err(fmt::format("Job {} not found\n", *id));
        return 1;
    }
    if (!session.quiet) session.streams.out("No jobs in the system\n");
    return 0;
}

int show_nodes(Session& session, Id id) {
    Filter filter{.include_hidden = true};
    std::vector<std::string> wanted;
    if (id) {
        Result<Hostlist> hosts = Hostlist::parse(*id);
        if (!hosts) {
            print_error(session.streams, session.invocation,
                        fmt::format("Invalid hostlist: {}", *id));
            return 1;
        }
        wanted = hosts->names();
        if (session.json) filter.nodes = wanted;
    }
    Result<Listed> listed = fetch(session, TableKind::Nodes, filter);
    if (!listed) {
        print_api_error(session.streams, "slurm_load_node", listed.error());
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out_long(nodes_json(sheet, meta_of(session, listed->looks)));
        return 0;
    }
    if (!id) {
        session.streams.out(sheet.rows() ? records_of(session, sheet, append_node_record)
                                         : std::string("No nodes in the system\n"));
        return 0;
    }
    int code = 0;
    std::string out;
    for (const std::string& name : wanted) {
        std::uint32_t row = 0;
        while (row < sheet.rows() && sheet.text(row, NodeColumn::Name) != name) ++row;
        if (row < sheet.rows()) {
            append_node_record({&sheet, row}, session.style, out);
        } else {
            out += fmt::format("Node {} not found\n", name);
            code = 1;
        }
    }
    session.streams.out(out);
    return code;
}

int show_partitions(Session& session, Id id) {
    // Compat: hidden ones are shown when named.
    Filter filter{.include_hidden = session.all || id};
    if (id) filter.partitions = {*id};
    Result<Listed> listed = fetch(session, TableKind::Partitions, filter);
    if (!listed) {
        print_api_error(session.streams, "slurm_load_partitions", listed.error());
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out(partitions_json(sheet, meta_of(session, listed->looks)));
        return 0;
    }
    session.streams.out(records_of(session, sheet, append_partition_record));
    if (sheet.rows() > 0) return 0;
    if (!id) {
        session.streams.out("No partitions in the system\n");
        return 0;
    }
    session.streams.out(fmt::format("Partition {} not found\n", *id));
    return 1;
}

int show_steps(Session& session, Id id) {
    Filter filter{.include_hidden = true};
    if (id) {
        Result<JobRef> ref = parse_job_ref(*id);
        if (ref) filter.jobs.push_back(*ref);
        if (!ref) {
            print_error(
                session.streams, session.invocation,
                fmt::format(
                    "scontrol_print_step: slurm_get_job_steps({}) failed: Invalid job id specified",
                    *id));
            return 1;
        }
    }
    Result<Listed> listed = fetch(session, TableKind::Steps, filter);
    if (!listed || (id && listed->table.rows() == 0)) {
        const Error error = listed ? Error{ErrorCode::InvalidJobId, ""} : listed.error();
        print_error(session.streams, session.invocation,
                    fmt::format("scontrol_print_step: slurm_get_job_steps({}) failed: {}",
                                id ? *id : "", to_string(error)));
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out(steps_json(sheet, meta_of(session, listed->looks)));
    } else {
        session.streams.out(sheet.rows() ? records_of(session, sheet, append_step_record)
                                         : std::string("No job steps in the system\n"));
    }
    return 0;
}

int show_reservations(Session& session, Id id) {
    Filter filter;
    if (id) filter.names = {*id};
    Result<Listed> listed = fetch(session, TableKind::Reservations, filter);
    if (!listed) {
        print_api_error(session.streams, "slurm_load_reservations", listed.error());
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out(reservations_json(sheet, meta_of(session, listed->looks)));
        return 0;
    }
    session.streams.out(records_of(session, sheet, append_reservation_record));
    if (sheet.rows() > 0) return 0;
    session.streams.out(id ? fmt::format("Reservation {} not found\n", *id)
                           : std::string("No reservations in the system\n"));
    return id ? 1 : 0;
}

int show_licenses(Session& session, Id id) {
    Filter filter;
    if (id) filter.names = {*id};
    Result<Listed> listed = fetch(session, TableKind::Licenses, filter);
    if (!listed) {
        print_api_error(session.streams, "slurm_load_licenses", listed.error());
        return 1;
    }
    const Sheet sheet(listed->table, listed->looks);
    if (session.json) {
        session.streams.out(licenses_json(sheet, meta_of(session, listed->looks)));
        return 0;
    }
    session.streams.out(records_of(session, sheet, append_license_record));
    if (sheet.rows() > 0) return 0;
    session.streams.out(id ? fmt::format("License {} not found\n", *id)
                           : std::string("No licenses configured in Slurm.\n"));
    return id ? 1 : 0;
}

// Tools read no nodes and switches otherwise.
std::optional<Config> whole_configuration(Session& session) {
    if (!has_configuration(session.invocation, session.client, session.streams)) return {};
    Result<Config> config = load_config((*session.client.config())->path);
    if (config) return *std::move(config);
    print_fatal(session.streams, session.invocation, to_string(config.error()));
    return {};
}

// Which daemons belong on this host.
int show_daemons(Session& session, Id) {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    std::string host(name);
    host = host.substr(0, host.find('.'));
    std::optional<Config> config = whole_configuration(session);
    if (!config) return 1;
    std::string out;
    for (const ControllerHost& controller : config->controllers) {
        if (controller.name == host) out = "slurmctld ";
    }
    const bool is_node = std::any_of(
        config->nodes.begin(), config->nodes.end(),
        [&](const NodeConfig& node) { return node.name == host || node.hostname == host; });
    if (is_node) out += "slurmd ";
    session.streams.out(out + "\n");
    return 0;
}

// The switches of topology.conf; with a name, that switch or those above that node.
int show_topology(Session& session, Id id) {
    std::optional<Config> read = whole_configuration(session);
    if (!read) return 1;
    const Config& config = *read;
    std::string out;
    for (const SwitchLine& line : config.switches) {
        const std::vector<std::string> nodes = nodes_below(config, line);
        const bool wanted =
            !id || line.name == *id || std::find(nodes.begin(), nodes.end(), *id) != nodes.end();
        if (!wanted) continue;
        out += fmt::format(
            "SwitchName={} Level={} LinkSpeed={} Nodes={}", line.name, switch_level(config, line),
            line.link_speed.empty() ? "1" : line.link_speed, Hostlist(nodes).sorted().to_string());
        if (!line.switches.empty()) {
            out += fmt::format(" Switches={}", Hostlist(line.switches).to_string());
        }
        out += '\n';
    }
    session.streams.out(out);
    if (!id || !out.empty() || config.switches.empty()) return 0;
    print_error(session.streams, session.invocation,
                fmt::format("Topology information contains no switch or node named {}", *id));
    return 1;
}

int show_nothing(Session&, Id) {
    return 0;
}
int show_hostnames(Session& session, Id id) {
    return show_hosts(session, "hostnames", id);
}
int show_hostlist(Session& session, Id id) {
    return show_hosts(session, "hostlist", id);
}
int show_hostlistsorted(Session& session, Id id) {
    return show_hosts(session, "hostlistsorted", id);
}
int show_configuration(Session& session, Id id) {
    return show_config(session, id);
}

int show_damaged_records(Session& session, Id) {
    return show_damaged(session);
}

struct Row {
    std::string_view name;
    std::size_t shortest;                  // as few letters are enough
    int (*show)(Session& session, Id id);  // nullptr: not supported here
    bool has_json = false;
};

// Tried in this order: what people abbreviate ("jo", "no", "part", "res") finds the right one.
constexpr Row kEntities[] = {
    {"jobs", 1, show_jobs, true},
    {"jobid", 4, show_jobs, true},
    {"nodes", 1, show_nodes, true},
    {"partitions", 1, show_partitions, true},
    {"config", 1, show_configuration},
    {"hostnames", 5, show_hostnames},
    {"hostlist", 5, show_hostlist},
    {"hostlistsorted", 9, show_hostlistsorted},
    {"steps", 2, show_steps, true},
    {"reservations", 1, show_reservations, true},
    {"licenses", 2, show_licenses, true},
    {"daemons", 2, show_daemons},
    {"damaged", 3, show_damaged_records},
    {"topology", 1, show_topology},
    {"federation", 1, show_nothing},
    {"aliases", 1, nullptr},
    {"assoc_mgr", 2, nullptr},
    {"bbstat", 2, nullptr},
    {"burstbuffer", 2, nullptr},
    {"dwstat", 2, nullptr},
    {"slurmd", 2, nullptr},
    {"topoconf", 5, nullptr},
};

const Row* find_entity(std::string_view name) {
    for (const Row& row : kEntities) {
        if (name.size() >= row.shortest && starts_with_ignoring_case(row.name, name)) return &row;
    }
    return nullptr;
}

}  // namespace

int show(Session& session, const Words& words) {
    const std::size_t equals = words[1].find('=');
    const std::string entity = words[1].substr(0, equals);
    std::string value;
    if (equals != std::string::npos) value = words[1].substr(equals + 1);
    if (equals == std::string::npos && words.size() > 2) value = words[2];
    const bool has_id = equals != std::string::npos || words.size() > 2;
    const Row* row = find_entity(entity);
    if (!row) {
        session.streams.err(fmt::format("invalid entity:{} for keyword:show\n", entity));
        return 1;
    }
    if (!row->show) {
        print_error(session.streams, session.invocation,
                    fmt::format("show {} is not supported", row->name));
        return 1;
    }
    if (session.json && !row->has_json) {
        print_error(session.streams, session.invocation,
                    fmt::format("--json is not supported for show {}", row->name));
        return 1;
    }
    // "show jobid=12", "show node NodeName=n1": people paste what was printed.
    if (value.find('=') != std::string::npos) value = value.substr(value.find('=') + 1);
    return row->show(session, has_id ? &value : nullptr);
}

}  // namespace sluice
