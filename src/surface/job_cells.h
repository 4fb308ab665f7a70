// surface/job_cells.h
//
// Texts and JSON values of jobs that are no plain columns. surface/job_table.cc says where each is
// shown.
#pragma once

#include <string>
#include <string_view>

#include "model/columns.h"
#include "surface/cells.h"
#include "surface/jobs.h"
#include "surface/json.h"

namespace sluice::job_cells {

using C = JobColumn;
using Key = std::string_view;

// Fields of squeue, and their order in --sort.
void array_job_id(const SheetRow& job, std::string& out);
void array_task_id(const SheetRow& job, std::string& out);
void state(const SheetRow& job, std::string& out);
void state_short(const SheetRow& job, std::string& out);
void nodes_or_reason(const SheetRow& job, std::string& out);
void batch_host(const SheetRow& job, std::string& out);
void time_used(const SheetRow& job, std::string& out);
void time_limit(const SheetRow& job, std::string& out);
void time_left(const SheetRow& job, std::string& out);
void time_min(const SheetRow& job, std::string& out);
void pending_time(const SheetRow& job, std::string& out);
void memory(const SheetRow& job, std::string& out);
void disk(const SheetRow& job, std::string& out);
void priority_share(const SheetRow& job, std::string& out);
void over_subscribe(const SheetRow& job, std::string& out);
void sockets_cores_threads(const SheetRow& job, std::string& out);
void stage_progress(const SheetRow& job, std::string& out);
void switches_wait(const SheetRow& job, std::string& out);
void exclusive(const SheetRow& job, std::string& out);
void group_name(const SheetRow& job, std::string& out);
void cluster(const SheetRow& job, std::string& out);
void core_spec(const SheetRow& job, std::string& out);
void nodes_max(const SheetRow& job, std::string& out);
void tres_alloc(const SheetRow& job, std::string& out);
std::int64_t id_key(const SheetRow& job);
std::int64_t state_key(const SheetRow& job);
std::int64_t time_used_key(const SheetRow& job);
std::int64_t time_left_key(const SheetRow& job);
std::int64_t memory_key(const SheetRow& job);
std::int64_t start_key(const SheetRow& job);

template <C Column>
void file_name(const SheetRow& job, std::string& out) {
    const std::string_view pattern = job.text(Column);
    if (pattern.empty()) {
        out += "(null)";
    } else if (job.looks().expand_patterns) {
        out += expanded_path(job, pattern);
    } else {
        out += pattern;
    }
}
template <C Column>
void expanded(const SheetRow& job, std::string& out) {
    out += expanded_path(job, job.text(Column));
}
template <C Column>
void exit_code(const SheetRow& job, std::string& out) {
    append_exit_code(job.number(Column), out);
}

// Words of scontrol show job, and when they are there.
void task_throttle(const SheetRow& job, std::string& out);
void user_with_id(const SheetRow& job, std::string& out);
void group_with_id(const SheetRow& job, std::string& out);
void reason_word(const SheetRow& job, std::string& out);
void run_time(const SheetRow& job, std::string& out);
void before_suspend(const SheetRow& job, std::string& out);
void submit_process(const SheetRow& job, std::string& out);
void node_counts(const SheetRow& job, std::string& out);
void cores_and_threads(const SheetRow& job, std::string& out);
void tasks_per(const SheetRow& job, std::string& out);
void job_gres(const SheetRow& job, std::string& out);
void alloc_lines(const SheetRow& job, std::string& out);
void sync_rules(const SheetRow& job, std::string& out);
void switches(const SheetRow& job, std::string& out);
void mail_user(const SheetRow& job, std::string& out);
std::int64_t seconds_before_suspend(const SheetRow& job);
bool is_in_array(const SheetRow& job);
bool is_batch(const SheetRow& job);
bool has_mail(const SheetRow& job);
bool has_detail(const SheetRow& job);
bool has_core_spec(const SheetRow& job);
bool is_memory_per_gpu(const SheetRow& job);
bool is_memory_per_node(const SheetRow& job);
bool is_memory_per_cpu(const SheetRow& job);

// JSON.
void write_states(const SheetRow& job, Json& json, Key key);
void write_reason(const SheetRow& job, Json& json, Key key);
void write_thread_spec(const SheetRow& job, Json& json, Key key);
void write_billing(const SheetRow& job, Json& json, Key key);
void write_before_suspend(const SheetRow& job, Json& json, Key key);
void write_shared(const SheetRow& job, Json& json, Key key);
void write_flags(const SheetRow& job, Json& json, Key key);
void write_hold(const SheetRow& job, Json& json, Key key);
void write_gres_detail(const SheetRow& job, Json& json, Key key);
void write_resources(const SheetRow& job, Json& json, Key key);
void write_step_id(const SheetRow& job, Json& json, Key key);
void write_exit_code(std::int64_t value, Json& json, Key key);
template <C Column>
void write_exit(const SheetRow& job, Json& json, Key key) {
    write_exit_code(job.number(Column), json, key);
}

}  // namespace sluice::job_cells
