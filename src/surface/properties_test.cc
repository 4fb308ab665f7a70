// Each column is shown somewhere, and JSON has the keys and types of Slurm's data parser v0.0.45.
#include "surface/properties.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "surface/jobs.h"
#include "surface/licenses.h"
#include "surface/nodes.h"
#include "surface/priorities.h"
#include "surface/reservations.h"
#include "surface/steps.h"

namespace sluice {
namespace {

constexpr std::size_t kColumnsMax = 512;

// The compiler writes the name of an enumerator, and a cast where a number has none.
template <auto Column>
constexpr bool is_declared() {
    const std::string_view function = __PRETTY_FUNCTION__;
    const std::string_view argument = function.substr(function.rfind("Column = ") + 9);
    return argument.front() != '(';
}

template <typename Enum, std::size_t... Numbers>
std::set<ColumnId> declared_columns(std::index_sequence<Numbers...>) {
    std::set<ColumnId> columns;
    ((is_declared<static_cast<Enum>(Numbers)>() ? void(columns.insert(Numbers)) : void()), ...);
    return columns;
}

template <typename Enum, typename Line>
void expect_all_shown(std::span<const Property<Line>> properties, std::set<ColumnId> elsewhere) {
    std::set<ColumnId> shown = std::move(elsewhere);
    for (const Property<Line>& each : properties) {
        const bool has_place =
            !each.field.name.empty() || !each.record_key.key.empty() || !each.json_key.path.empty();
        EXPECT_TRUE(has_place);
        if (has_place) shown.insert(each.needs.all().begin(), each.needs.all().end());
    }
    EXPECT_EQ(shown, declared_columns<Enum>(std::make_index_sequence<kColumnsMax>()));
}

TEST(Properties, EachColumnIsShownSomewhere) {
    std::set<ColumnId> of_sprio;
    for (const PriorityField& field : priority_fields()) {
        of_sprio.insert(field.needs.all().begin(), field.needs.all().end());
    }
    expect_all_shown<JobColumn>(job_properties(), of_sprio);
    expect_all_shown<NodeColumn>(node_properties(), {});
    expect_all_shown<PartitionColumn>(partition_properties(), {});
    expect_all_shown<StepColumn>(step_properties(), {});
    expect_all_shown<ReservationColumn>(reservation_properties(), {});
}

// For nouns without a table of properties: each column changes what is printed.
template <typename Enum>
void expect_each_matters(std::string (*print)(const SheetRow& row)) {
    const std::set<ColumnId> columns =
        declared_columns<Enum>(std::make_index_sequence<kColumnsMax>());
    auto printed = [&](ColumnId set) {
        Table table;
        table.set_rows(1);
        for (ColumnId id : columns) {
            const std::uint32_t text = table.intern(id == set ? "x" : "");
            Table::Column& column = table.add_column(id);
            column.numbers = {id == set ? 7 : 0};
            column.texts = {text};
        }
        const Looks looks;
        const Sheet sheet(table, looks);
        return print({&sheet, 0});
    };
    for (ColumnId id : columns) EXPECT_NE(printed(id), printed(kColumnsMax)) << id;
}

TEST(Properties, EachColumnOfLicensesIsShown) {
    expect_each_matters<LicenseColumn>([](const SheetRow& row) {
        std::string out;
        append_license_record(row, {}, out);
        return out;
    });
}

TEST(Properties, HelpListsLettersFirst) {
    std::string letters;
    for (const JobField& field : job_fields()) letters += field.letter ? field.letter : '.';
    EXPECT_TRUE(letters.starts_with("aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ..."));
    EXPECT_EQ(job_fields().back().name, "Wait4Switch");
}

// Paths of a document and the types of their values: s text, i integer, r real, b boolean, 0 null,
// [ list, n number with the marks set and infinite.
class JsonTypes {
public:
    explicit JsonTypes(std::string_view text) : text_(text) { value(""); }

    std::map<std::string, char> types;

private:
    void value(const std::string& path) {
        const char c = text_[at_];
        if (c == '{') return object(path);
        if (c == '[') return list(path);
        if (c == '"') {
            text();
            types[path] = 's';
            return;
        }
        const std::size_t end = text_.find_first_of(",]}\n", at_);
        const std::string_view word = text_.substr(at_, end - at_);
        at_ = end;
        const bool is_real = word.find('.') != std::string_view::npos;
        types[path] = word == "null"                      ? '0'
                      : word == "true" || word == "false" ? 'b'
                      : is_real                           ? 'r'
                                                          : 'i';
    }
    void object(const std::string& path) {
        std::set<std::string> keys;
        types[path] = '{';
        while (text_[at_] != '}') {
            ++at_;
            if (text_[at_] == '}') break;
            const std::string key = text();
            ++at_;
            EXPECT_TRUE(keys.insert(key).second) << path << " has two of " << key;
            value(path.empty() ? key : path + "/" + key);
        }
        ++at_;
        if (keys != std::set<std::string>{"set", "infinite", "number"}) return;
        for (const std::string& key : keys) types.erase(path + "/" + key);
        types[path] = 'n';
    }
    void list(const std::string& path) {
        while (text_[at_] != ']') {
            ++at_;
            if (text_[at_] != ']') value(path + "/0");
        }
        ++at_;
        types[path] = '[';
    }
    std::string text() {
        const std::size_t end = text_.find('"', at_ + 1);
        std::string found(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return found;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// One row: without a value in any column, or with the number and the text 1 in each.
Table one_row(bool filled) {
    Table table;
    table.set_rows(1);
    const std::uint32_t text = table.intern(filled ? "1" : "");
    for (ColumnId id = 0; id < kColumnsMax; ++id) {
        Table::Column& column = table.add_column(id);
        column.numbers = {filled ? 1 : kAbsent};
        column.texts = {text};
    }
    return table;
}

using Document = std::string (*)(const Sheet&, const JsonMeta&);

std::map<std::string, char> types_of(Document document, bool filled, int version = kJsonNewest) {
    const Table table = one_row(filled);
    const Looks looks;
    const Sheet sheet(table, looks);
    const std::vector<std::string> args;
    const std::string text =
        document(sheet, {"tool", args, "", {.compact = true, .version = version}});
    return JsonTypes(text).types;
}

// "i boards port": the paths of one type. Each has the right type, whether it has a value or not.
void expect_types(Document document, const std::string& noun,
                  std::initializer_list<std::string_view> expected) {
    for (bool filled : {false, true}) {
        std::map<std::string, char> types = types_of(document, filled);
        for (std::string_view line : expected) {
            for (std::string_view path : words(line.substr(1))) {
                const auto found = types.find(noun + "/0/" + std::string(path));
                ASSERT_NE(found, types.end()) << path;
                EXPECT_EQ(found->second, line[0]) << path << (filled ? ", filled" : ", empty");
            }
        }
        EXPECT_EQ(types["last_update"], 'n');
        for (const char* path : {"meta/plugin/type", "meta/plugin/name", "meta/plugin/data_parser",
                                 "meta/plugin/accounting_storage", "meta/client/source",
                                 "meta/client/user", "meta/client/group", "meta/slurm/release",
                                 "meta/slurm/version/major", "meta/slurm/cluster"}) {
            EXPECT_EQ(types[path], 's') << path;
        }
        for (const char* path : {"meta/command", "errors", "warnings"}) {
            EXPECT_EQ(types[path], '[') << path;
        }
    }
}

TEST(JsonContract, Jobs) {
    expect_types(
        jobs_json, "jobs",
        {"s account admin_comment allocating_node array_task_string batch_features batch_host "
         "burst_buffer burst_buffer_state cluster cluster_features command comment container "
         "container_id container_type cpus_per_tres cron dependency excluded_nodes extra "
         "failed_node features federation_origin federation_siblings_active "
         "federation_siblings_viable group_name het_job_id_set licenses licenses_allocated "
         "mail_user mcs_label memory_per_tres name network nodes partition prefer qos "
         "required_nodes resv_name scheduled_nodes selinux_context step_id/sluid step_id/step_id "
         "state_description state_reason standard_input standard_output standard_error "
         "stdin_expanded stdout_expanded stderr_expanded submit_line system_comment tres_bind "
         "tres_freq tres_per_job tres_per_node tres_per_socket tres_per_task tres_req_str "
         "tres_alloc_str user_name wckey current_working_directory exit_code/signal/name",
         "n accrue_time array_job_id array_task_id array_max_tasks cores_per_socket billable_tres "
         "cpus_per_task cpu_frequency_minimum cpu_frequency_maximum cpu_frequency_governor "
         "deadline delay_boot eligible_time end_time het_job_id het_job_offset "
         "last_sched_evaluation max_cpus max_nodes tasks_per_core tasks_per_tres tasks_per_node "
         "tasks_per_socket tasks_per_board cpus node_count tasks memory_per_cpu memory_per_node "
         "minimum_cpus_per_node minimum_tmp_disk_per_node preempt_time preemptable_time "
         "pre_sus_time priority resize_time sockets_per_node start_time submit_time suspend_time "
         "time_limit time_minimum threads_per_core step_id/job_id step_id/step_het_component "
         "exit_code/return_code exit_code/signal/id derived_exit_code/return_code",
         "i association_id core_spec thread_spec group_id job_id memory_update_delay "
         "memory_update_margin nice required_switches restart_cnt segment_size sockets_per_board "
         "user_id maximum_switch_wait_time",
         "b batch_flag contiguous hold reboot requeue",
         "[ flags gres_detail job_size_str job_state mail_type priority_by_partition profile "
         "shared exit_code/status derived_exit_code/status"});
    EXPECT_EQ(types_of(jobs_json, false)["jobs/0/job_resources"], '0');
    std::map<std::string, char> types = types_of(jobs_json, true);
    for (const char* path : {"nodes/list", "nodes/allocation/0/name"}) {
        EXPECT_EQ(types["jobs/0/job_resources/" + std::string(path)], 's') << path;
    }
    for (const char* path : {"cpus", "nodes/count", "nodes/allocation/0/cpus/used",
                             "nodes/allocation/0/memory/allocated"}) {
        EXPECT_EQ(types["jobs/0/job_resources/" + std::string(path)], 'i') << path;
    }
    EXPECT_EQ(types["jobs/0/job_resources/select_type"], '[');
    EXPECT_EQ(types["jobs/0/job_resources/threads_per_core"], 'n');
    EXPECT_EQ(types["jobs/0/job_resources/nodes/whole"], 'b');
    EXPECT_EQ(types["last_backfill"], 'n');
}

TEST(JsonContract, Nodes) {
    expect_types(
        nodes_json, "nodes",
        {"s architecture burstbuffer_network_address cluster_name specialized_cpus extra gpu_spec "
         "gres gres_drained gres_used instance_id instance_type mcs_label name address hostname "
         "operating_system owner comment reason reason_set_by_user reservation tres_used topology "
         "tres version",
         "n boot_time tls_cert_last_renewal free_mem energy/current_watts last_busy "
         "reason_changed_at resume_after suspend_time slurmd_start_time",
         "i boards cores specialized_cores cpu_binding cpu_load cpus effective_cpus "
         "energy/average_watts energy/base_consumed_energy energy/consumed_energy "
         "energy/previous_consumed_energy energy/last_collected specialized_memory port "
         "real_memory res_cores_per_gpu alloc_memory alloc_cpus alloc_idle_cpus sockets threads "
         "temporary_disk weight",
         "[ cert_flags features active_features next_state_after_reboot state partitions"});
}

TEST(JsonContract, Partitions) {
    expect_types(
        partitions_json, "partitions",
        {"s nodes/allowed_allocation nodes/configured accounts/allowed accounts/deny "
         "groups/allowed qos/allowed qos/deny qos/assigned alternate tres/billing_weights "
         "tres/configured cluster defaults/job partition/exclusive partition/oversubscribe name "
         "node_sets topology",
         "n defaults/partition_memory_per_cpu defaults/partition_memory_per_node defaults/time "
         "maximums/cpus_per_node maximums/cpus_per_socket maximums/partition_memory_per_cpu "
         "maximums/partition_memory_per_node maximums/nodes maximums/time "
         "maximums/over_time_limit timeouts/resume timeouts/suspend suspend_time",
         "i nodes/total cpus/total defaults/memory_per_cpu grace_time maximums/memory_per_cpu "
         "maximums/shares maximums/oversubscribe/jobs minimums/nodes priority/job_factor "
         "priority/tier",
         "[ select_type cpus/task_binding flags partition/state maximums/oversubscribe/flags "
         "preempt_mode"});
}

TEST(JsonContract, Reservations) {
    expect_types(reservations_json, "reservations",
                 {"s accounts burst_buffer features groups licenses name node_list partition tres "
                  "users",
                  "n end_time purge_completed/time start_time",
                  "i core_count max_start_delay node_count", "[ core_specializations flags"});
}

TEST(JsonContract, OlderVersionsHaveTheirOwnKeys) {
    auto has = [](Document document, int version, const std::string& path) {
        return types_of(document, true, version).contains(path);
    };
    EXPECT_TRUE(has(jobs_json, 44, "jobs/0/power/flags"));
    EXPECT_FALSE(has(jobs_json, 45, "jobs/0/power"));
    EXPECT_TRUE(has(jobs_json, 44, "jobs/0/step_id"));
    EXPECT_FALSE(has(jobs_json, 43, "jobs/0/step_id"));
    EXPECT_TRUE(has(jobs_json, 43, "jobs/0/stdout_expanded"));
    EXPECT_FALSE(has(jobs_json, 42, "jobs/0/stdout_expanded"));
    EXPECT_EQ(types_of(nodes_json, true, 44)["nodes/0/tres_weighted"], 'r');
    EXPECT_FALSE(has(nodes_json, 45, "nodes/0/external_sensors"));
    EXPECT_EQ(types_of(partitions_json, true, 44)["partitions/0/cpus/task_binding"], 'i');
    EXPECT_FALSE(has(partitions_json, 44, "partitions/0/partition/exclusive"));
    EXPECT_EQ(types_of(reservations_json, true, 44)["reservations/0/watts"], 'n');
}

TEST(Json, YamlHasALineForEachValue) {
    Json json({.yaml = true});
    json.open_object();
    json.open_list("jobs");
    json.open_object();
    json.text("name", "a \"b\"\n");
    json.open_object("limit");
    json.boolean("set", true);
    json.number("number", 5);
    json.close();
    json.close();
    json.open_object();
    json.close();
    json.close();
    json.texts("words", {"x", "y"});
    json.texts("errors", {});
    json.open_object("none");
    json.close();
    json.null("last");
    json.close();
    EXPECT_EQ(json.take(), R"(jobs:
  - name: "a \"b\"\n"
    limit:
      set: true
      number: 5
  - {}
words:
  - "x"
  - "y"
errors: []
none: {}
last: null
)");
}

TEST(Json, VersionsAreFoundByName) {
    EXPECT_EQ(find_data_parser("v0.0.42"), 42);
    EXPECT_EQ(find_data_parser("data_parser/v0.0.45"), 45);
    EXPECT_FALSE(find_data_parser("v0.0.41"));
    EXPECT_FALSE(find_data_parser("v0.0.4"));
    EXPECT_EQ(data_parser_list(), "v0.0.42, v0.0.43, v0.0.44, v0.0.45");
}

}  // namespace
}  // namespace sluice
