// surface/job_table.cc
//
// The properties of jobs: fields of squeue, keys of scontrol show job, JSON in the order of Slurm's
// data parser.
#include "model/columns.h"
#include "surface/job_cells.h"
#include "surface/jobs.h"
#include "surface/properties.h"
#include "surface/records.h"

namespace sluice {

namespace {

using namespace job_cells;

constexpr Needs with(Needs base, C column) {
    base.ids[base.count++] = static_cast<ColumnId>(column);
    return base;
}

void waiting_tasks(const SheetRow& job, std::string& out) {
    if (is_array_record(job)) append_array_tasks(job, out);
}

constexpr std::uint8_t kWhole = kWholeValue;
constexpr Needs kNodesNeeds = needs(C::State, C::CompletingNodes, C::NodeList);

// clang-format off
constexpr Property<SheetRow> kProperties[] = {
    {text<C::Account>,               list('a', "Account", "ACCOUNT"), record("Account"), json("account")},
    {moment<C::EligibleTime>,        list("AccrueTime", "ACCRUE_TIME"), record("AccrueTime"), json("accrue_time")},
    {text<C::AdminComment>,          list("admin_comment", "ADMIN_COMMENT"), record("AdminComment", kIfSet), json("admin_comment")},
    {text<C::AllocNode>,             list("AllocNodes", "ALLOC_NODES"), json("allocating_node")},
    {optional_number<C::ArrayJobId>, record("ArrayJobId", kIfSet), json("array_job_id")},
    {optional_number<C::ArrayTaskId>, json("array_task_id")},
    {optional_number<C::ArrayLimit>, record("ArrayTaskThrottle", task_throttle, kIfSet), json("array_max_tasks")},
    {made_of(kJobIdNeeds),           list('K', "ArrayTaskID", "ARRAY_TASK_ID", array_task_id), record("ArrayTaskId", append_array_tasks).when(is_in_array), json("array_task_string", json_text_of<waiting_tasks>)},
    {word<"0">,                      list("AssocID", "ASSOC_ID"), json("association_id", json_zero)},
    {word<"">,                       json("batch_features")},
    {flag<C::Batch, "1", "0">,       list("BatchFlag", "BATCH_FLAG"), record("BatchFlag"), json("batch_flag")},
    {text<C::BatchHost>,             record("BatchHost", kIfSet), json("batch_host")},
    {made_of(C::GresEnforceBind, C::SpreadJob, C::UseMinNodes), json("flags", write_flags)},
    {word<"(null)">,                 list("BurstBuffer", "BURST_BUFFER"), json("burst_buffer")},
    {word<"(null)">,                 list("BurstBufferState", "BURST_BUFFER_STATE"), json("burst_buffer_state")},
    {word<"">,                       list("Cluster", "CLUSTER", cluster), json("cluster", json_cluster)},
    {word<"(null)">,                 list("ClusterFeature", "CLUSTER_FEATURES"), json("cluster_features")},
    {text<C::Command>,               list('o', "Command", "COMMAND"), record("Command"), json("command")},
    {text<C::Comment>,               list('k', "Comment", "COMMENT"), record("Comment", kIfSet), json("comment")},
    {word<"(null)">,                 list("Container", "CONTAINER"), json("container")},
    {word<"(null)">,                 list("ContainerID", "CONTAINER_ID"), json("container_id")},
    {word<"(null)">,                 list("ContainerType", "CONTAINER_TYPE"), json("container_type").since(45)},
    {flag<C::Contiguous, "1", "0">,  list('O', "Contiguous", "CONTIGUOUS").sorted(), record("Contiguous"), json("contiguous")},
    {number<C::CoreSpec>,            record("CoreSpec", number_or<C::CoreSpec, "*">).when(has_core_spec), json("core_spec")},
    {number<C::ThreadSpec>,          record("ThreadSpec", kIfSet), json("thread_spec", write_thread_spec)},
    {optional_number<C::CoresPerSocket>, list('I', "Cores", "CORES_PER_SOCKET", number_or<C::CoresPerSocket, "*">).sorted(), json("cores_per_socket")},
    {made_of(C::AllocTres),          json("billable_tres", write_billing)},
    {optional_number<C::CpusPerTask, 1>, list("cpus-per-task", "CPUS_PER_TASK"), record("CPUs/Task"), json("cpus_per_task")},
    {word<"">,                       json("cpu_frequency_minimum", json_unset)},
    {word<"">,                       json("cpu_frequency_maximum", json_unset)},
    {word<"">,                       json("cpu_frequency_governor", json_unset)},
    {text<C::CpusPerTres, "N/A">,    list("cpus-per-tres", "CPUS_PER_TRES"), record("CpusPerTres", kIfSet), json("cpus_per_tres")},
    {word<"No">,                     list("CronJob", "CRON_JOB"), json("cron")},
    {moment<C::Deadline, "N/A">,     list("Deadline", "DEADLINE"), record("Deadline"), json("deadline")},
    {word<"0:00">,                   list("DelayBoot", "DELAY_BOOT"), record("DelayBoot", word_cell<"00:00:00">), json("delay_boot", json_unset)},
    {text<C::Dependency>,            list('E', "Dependency", "DEPENDENCY"), record("Dependency"), json("dependency")},
    {made_of(C::DerivedExitCode),    list("DerivedEC", "DERIVED_EC", exit_code<C::DerivedExitCode>), record("DerivedExitCode", exit_code<C::DerivedExitCode>, kIfDetails), json("derived_exit_code", write_exit<C::DerivedExitCode>)},
    {moment<C::EligibleTime>,        list("EligibleTime", "ELIGIBLE_TIME"), record("EligibleTime"), json("eligible_time")},
    {moment<C::EndTime>,             list('e', "EndTime", "END_TIME").sorted(), record("EndTime"), json("end_time")},
    {text<C::ExcNodes, "">,          list('x', "ExcNodes", "EXC_NODES").with(kWhole), record("ExcNodeList"), json("excluded_nodes")},
    {made_of(C::ExitCode),           list("exit_code", "EXIT_CODE", exit_code<C::ExitCode>), record("ExitCode", exit_code<C::ExitCode>), json("exit_code", write_exit<C::ExitCode>)},
    {word<"">,                       json("extra")},
    {word<"">,                       json("failed_node")},
    {text<C::Features>,              list('f', "Feature", "FEATURES").sorted(), record("Features"), json("features")},
    {word<"NA">,                     list("Origin", "ORIGIN"), json("federation_origin")},
    {word<"NA">,                     list("SiblingsActive", "ACTIVE_SIBLINGS"), json("federation_siblings_active")},
    {word<"NA">,                     list("SiblingsViable", "VIABLE_SIBLINGS"), json("federation_siblings_viable")},
    {made_of(C::AllocDetail),        record("AllocDetail", alloc_lines, kLines | kIfDetails), json("gres_detail", write_gres_detail)},
    {number<C::GroupId>,             list('G', "GroupID", "GROUP").sorted(), record("GroupId", group_with_id), json("group_id")},
    {made_of(C::GroupId),            list('g', "GroupName", "GROUP", group_name).sorted(), json("group_name", json_text_of<group_name>)},
    {word<"N/A">,                    list("HetJobID", "HET_JOB_ID"), json("het_job_id", json_unset)},
    {word<"N/A">,                    list("HetJobIDSet", "HET_JOB_ID_SET"), json("het_job_id_set")},
    {word<"N/A">,                    list("HetJobOffset", "HET_JOB_OFFSET"), json("het_job_offset", json_unset)},
    {number<C::Id>,                  list('A', "JobID", "JOBID"), record("JobId"), json("job_id")},
    {made_of(C::AllocDetail, C::AllocLayout, C::NodeList, C::NodeCount, C::CpuCount, C::Exclusive), json("job_resources", write_resources)},
    {text<C::NodeSizes>,             json("job_size_str", json_list<C::NodeSizes>)},
    {made_of(C::State, C::BaseState), json("job_state", write_states)},
    {moment<C::LastSchedEval>,       list("LastSchedEval", "LAST_SCHED_EVAL"), record("LastSchedEval"), json("last_sched_evaluation")},
    {text<C::Licenses>,              list('W', "Licenses", "LICENSES"), record("Licenses"), json("licenses")},
    {text<C::LicensesAlloc>,         list("LicensesAlloc", "LICENSES_ALLOC"), record("LicensesAlloc"), json("licenses_allocated").since(43)},
    {text<C::MailType>,              record("MailType").when(has_mail), json("mail_type", json_list<C::MailType>)},
    {text<C::MailUser>,              record("MailUser", mail_user).when(has_mail), json("mail_user")},
    {optional_number<C::CpuCount>,   list("MaxCPUs", "MAX_CPUS"), json("max_cpus")},
    {optional_number<C::NodeCountMax>, json("max_nodes")},
    {word<"(null)">,                 list("MCSLabel", "MCSLABEL"), record("MCS_label", word_cell<"N/A">), json("mcs_label")},
    {text<C::MemPerTres, "N/A">,     list("mem-per-tres", "MEM_PER_TRES"), record("MemPerTres", kIfSet), json("memory_per_tres")},
    {word<"">,                       json("memory_update_delay", json_zero).since(45)},
    {word<"">,                       json("memory_update_margin", json_zero).since(45)},
    {text<C::Name>,                  list('j', "Name", "NAME").sorted(), record("JobName"), json("name")},
    {word<"(null)">,                 list("Network", "NETWORK"), record("Network"), json("network")},
    {made_of(kNodesNeeds),           list('N', "NodeList", "NODELIST", append_nodes).with(kWhole | kWholeHeader).sorted(), record("NodeList", append_nodes), json("nodes", json_text_of<append_nodes>)},
    {number<C::Nice>,                list('y', "Nice", "NICE"), record("Nice"), json("nice")},
    {optional_number<C::NtasksPerCore>, list("NTPerCore", "NTASKS_PER_CORE", number_or<C::NtasksPerCore, "N/A">), json("tasks_per_core")},
    {optional_number<C::NtasksPerGpu>, record("NtasksPerTRES", kIfSet), json("tasks_per_tres")},
    {optional_number<C::NtasksPerNode>, list("NTPerNode", "NTASKS_PER_NODE"), json("tasks_per_node")},
    {optional_number<C::NtasksPerSocket>, list("NTPerSocket", "NTASKS_PER_SOCKET", number_or<C::NtasksPerSocket, "N/A">), json("tasks_per_socket")},
    {word<"0">,                      list("NTPerBoard", "NTASKS_PER_BOARD"), json("tasks_per_board", json_unset)},
    {optional_number<C::CpuCount>,   list('C', "NumCPUs", "CPUS").sorted(), record("NumCPUs"), json("cpus")},
    {optional_number<C::NodeCount>,  list('D', "NumNodes", "NODES").sorted(), json("node_count")},
    {optional_number<C::TaskCount, 1>, list("NumTasks", "TASKS"), record("NumTasks"), json("tasks")},
    {text<C::Partition>,             list('P', "Partition", "PARTITION").sorted(), record("Partition"), json("partition")},
    {word<"">,                       json("power/flags", json_no_list).until(44)},
    {text<C::Prefer>,                list("Prefer", "PREFER"), record("Prefer", kIfSet), json("prefer")},
    {optional_number<C::MemPerCpu>,  record("MinMemoryCPU", memory).when(is_memory_per_cpu), json("memory_per_cpu")},
    {optional_number<C::MemPerNode>, record("MinMemoryNode", memory).when(is_memory_per_node), json("memory_per_node")},
    {optional_number<C::MinCpusNode, 1>, list('c', "MinCpus", "MIN_CPUS").sorted(), record("MinCPUsNode"), json("minimum_cpus_per_node")},
    {optional_number<C::MinTmpDisk>, list('d', "MinTmpDisk", "MIN_TMP_DISK", disk).sorted(number_key<C::MinTmpDisk>), record("MinTmpDiskNode", disk), json("minimum_tmp_disk_per_node")},
    {word<"N/A">,                    list("PreemptTime", "PREEMPT_TIME"), json("preempt_time", json_unset)},
    {word<"">,                       json("preemptable_time", json_unset)},
    {made_of(C::SuspendTime, C::StartTime, C::SuspendedSeconds), record("SecsPreSuspend", before_suspend), json("pre_sus_time", write_before_suspend)},
    {made_of(C::BaseState, C::Priority), json("hold", write_hold)},
    {optional_number<C::Priority>,   list('Q', "PriorityLong", "PRIORITY").sorted(), record("Priority"), json("priority")},
    {word<"">,                       json("priority_by_partition", json_no_list)},
    {word<"NotSet">,                 list("Profile", "PROFILE"), json("profile", json_no_list)},
    {text<C::Qos>,                   list('q', "QOS", "QOS"), record("QOS"), json("qos")},
    {word<"0">,                      list("Reboot", "REBOOT"), record("Reboot"), json("reboot", json_false)},
    {text<C::ReqNodes, "">,          list('n', "ReqNodes", "REQ_NODES").with(kWhole).sorted(), record("ReqNodeList"), json("required_nodes")},
    {number<C::SwitchesMax>,         list("ReqSwitch", "REQ_SWITCH"), json("required_switches")},
    {flag<C::Requeue, "1", "0">,     list("Requeue", "REQUEUE"), record("Requeue"), json("requeue")},
    {word<"N/A">,                    list("ResizeTime", "RESIZE_TIME"), json("resize_time", json_unset)},
    {number<C::Restarts>,            list("RestartCnt", "RESTART_COUNT"), record("Restarts"), json("restart_cnt")},
    {text<C::Reservation>,           list('v', "Reservation", "RESERVATION").sorted(), record("Reservation", kIfSet), json("resv_name")},
    {text<C::SchedNodes>,            list('Y', "SchedNodes", "SCHEDNODES").with(kWhole | kWholeHeader), record("SchedNodeList", kIfSet), json("scheduled_nodes")},
    {word<"N/A">,                    list("SegmentSize", "SEGMENT_SIZE"), json("segment_size", json_zero).since(43)},
    {word<"">,                       json("selinux_context")},
    {made_of(C::OverSubscribe, C::Exclusive), json("shared", write_shared)},
    {made_of(C::Sluid, C::Id),       json("step_id", write_step_id).since(44)},
    {word<"0">,                      list("SPerBoard", "SOCKETS_PER_BOARD"), json("sockets_per_board", json_zero)},
    {optional_number<C::SocketsPerNode>, list('H', "Sockets", "SOCKETS_PER_NODE", number_or<C::SocketsPerNode, "*">).sorted(), record("Socks/Node", number_or<C::SocketsPerNode, "*">), json("sockets_per_node")},
    {moment<C::StartTime>,           list('S', "StartTime", "START_TIME").sorted(start_key), record("StartTime"), json("start_time")},
    {text<C::ReasonDetail>,          json("state_description")},
    {made_of(C::Reason, C::ReasonDetail), list('r', "Reason", "REASON", append_reason), record("Reason", reason_word), json("state_reason", write_reason)},
    {text<C::StdIn>,                 list("STDIN", "STDIN", file_name<C::StdIn>), record("StdIn", expanded<C::StdIn>).when(is_batch), json("standard_input")},
    {text<C::StdOut>,                list("STDOUT", "STDOUT", file_name<C::StdOut>), record("StdOut", expanded<C::StdOut>).when(is_batch), json("standard_output")},
    {text<C::StdErr>,                list("STDERR", "STDERR", file_name<C::StdErr>), record("StdErr", expanded<C::StdErr>).when(is_batch), json("standard_error")},
    {made_of(C::StdIn),              json("stdin_expanded", json_text_of<expanded<C::StdIn>>).since(43)},
    {made_of(C::StdOut),             json("stdout_expanded", json_text_of<expanded<C::StdOut>>).since(43)},
    {made_of(C::StdErr),             json("stderr_expanded", json_text_of<expanded<C::StdErr>>).since(43)},
    {moment<C::SubmitTime>,          list('V', "SubmitTime", "SUBMIT_TIME").sorted(), record("SubmitTime"), json("submit_time")},
    {text<C::SubmitLine>,            record("SubmitLine", kIfSet), json("submit_line").since(44)},
    {moment<C::SuspendTime, "None">, record("SuspendTime"), json("suspend_time")},
    {word<"(null)">,                 list("system_comment", "SYSTEM_COMMENT"), json("system_comment")},
    {number<C::TimeLimit>,           list('l', "TimeLimit", "TIME_LIMIT", time_limit).with(kWhole).sorted(number_key<C::TimeLimit>), record("TimeLimit", long_duration_cell<C::TimeLimit, "Partition_Limit">), json("time_limit", json_minutes<C::TimeLimit>)},
    {number<C::TimeMin>,             list("MinTime", "TIME_MIN", time_min), record("TimeMin", long_duration_cell<C::TimeMin, "N/A">), json("time_minimum", json_minutes<C::TimeMin>)},
    {optional_number<C::ThreadsPerCore>, list('J', "Threads", "THREADS_PER_CORE", number_or<C::ThreadsPerCore, "*">).sorted(), json("threads_per_core")},
    {text<C::TresBind, "N/A">,       list("tres-bind", "TRES_BIND"), record("TresBind", kIfSet), json("tres_bind")},
    {text<C::TresFreq, "N/A">,       list("tres-freq", "TRES_FREQ"), record("TresFreq", kIfSet), json("tres_freq")},
    {text<C::TresPerJob, "N/A">,     list("tres-per-job", "TRES_PER_JOB"), record("TresPerJob", kIfSet), json("tres_per_job")},
    {text<C::TresPerNode, "N/A">,    list('b', "tres-per-node", "TRES_PER_NODE"), record("TresPerNode", kIfSet), json("tres_per_node")},
    {text<C::TresPerSocket, "N/A">,  list("tres-per-socket", "TRES_PER_SOCKET"), record("TresPerSocket", kIfSet), json("tres_per_socket")},
    {text<C::TresPerTask, "N/A">,    list("tres-per-task", "TRES_PER_TASK"), record("TresPerTask", kIfSet), json("tres_per_task")},
    {text<C::ReqTres>,               record("ReqTRES"), json("tres_req_str")},
    {text<C::AllocTres>,             record("AllocTRES"), json("tres_alloc_str")},
    {number<C::UserId>,              list('U', "UserID", "UID").sorted(), record("UserId", user_with_id), json("user_id")},
    {made_of(C::UserId),             list('u', "UserName", "USER", user_cell<C::UserId>).sorted(), json("user_name", json_text_of<user_cell<C::UserId>>)},
    {number<C::SwitchesWait>,        json("maximum_switch_wait_time")},
    {text<C::Wckey>,                 list('w', "WCKey", "WCKEY"), record("WCKey", kIfSet), json("wckey")},
    {text<C::WorkDir>,               list('Z', "WorkDir", "WORK_DIR"), record("WorkDir"), json("current_working_directory")},
    // In no JSON of their own.
    {made_of(C::BatchHost, C::Batch, C::AllocNode), list('B', "BatchHost", "EXEC_HOST", batch_host).sorted()},
    {made_of(C::Id, C::ArrayJobId),  list('F', "ArrayJobID", "ARRAY_JOB_ID", array_job_id)},
    {made_of(C::OverSubscribe),      list('h', "OverSubscribe", "OVER_SUBSCRIBE", over_subscribe).sorted(), record("OverSubscribe", over_subscribe)},
    {made_of(kJobIdNeeds),           list('i', "JobArrayID", "JOBID", append_job_id).sorted(id_key)},
    {made_of(with(kElapsedNeeds, C::TimeLimit)), list('L', "TimeLeft", "TIME_LEFT", time_left).with(kWhole).sorted(time_left_key)},
    {made_of(C::MemPerNode, C::MemPerCpu, C::MemPerGpu), list('m', "MinMemory", "MIN_MEMORY", memory).sorted(memory_key), record("MinMemoryTRES", memory).when(is_memory_per_gpu)},
    {made_of(kElapsedNeeds),         list('M', "TimeUsed", "TIME", time_used).with(kWhole).sorted(time_used_key), record("RunTime", run_time)},
    {made_of(C::Priority),           list('p', "Priority", "PRIORITY", priority_share).sorted(number_key<C::Priority>)},
    {made_of(C::State, C::Reason, C::ReasonDetail, C::CompletingNodes, C::NodeList), list('R', "ReasonList", "NODELIST(REASON)", nodes_or_reason).with(kWholeNodes | kWholeHeader)},
    {text<C::Sluid>,                 list('s', "Sluid", "SLUID"), record("SLUID", text_cell<C::Sluid, "">, kIfDetails)},
    {made_of(C::State),              list('t', "StateCompact", "ST", state_short).sorted(state_key), record("JobState", state)},
    {made_of(C::State),              list('T', "State", "STATE", state).sorted()},
    {made_of(C::CoreSpec, C::ThreadSpec), list('X', "CoreSpec", "CORE_SPEC", core_spec)},
    {made_of(C::SocketsPerNode, C::CoresPerSocket, C::ThreadsPerCore), list('z', "SCT", "S:C:T", sockets_cores_threads).sorted()},
    {number<C::AllocSid>,            list("AllocSID", "ALLOC_SID")},
    {word<"0">,                      list("BoardsPerNode", "BOARDS_PER_NODE")},
    {made_of(C::Exclusive),          list("Exclusive", "EXCLUSIVE", exclusive), record("Exclusive", exclusive)},
    {text<C::TresPerNode, "N/A">,    list("Gres", "TRES_PER_NODE")},
    {made_of(C::NodeCountMax, C::NodeCount), list("MaxNodes", "MAX_NODES", nodes_max)},
    {word<"NA">,                     list("OriginRaw", "ORIGIN_RAW")},
    {made_of(C::BaseState, C::StartTime, C::SubmitTime), list("PendingTime", "PENDING_TIME", pending_time)},
    {word<"NA">,                     list("SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW")},
    {word<"NA">,                     list("SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW")},
    {made_of(C::AllocTres, C::ReqTres), list("tres-alloc", "TRES_ALLOC", tres_alloc)},
    {made_of(C::SwitchesMax, C::SwitchesWait), list("Wait4Switch", "WAIT4SWITCH", switches_wait), record("Switches", switches, kIfSet)},
    // In records only.
    {word<"Main">,                   record("Scheduler")},
    {made_of(C::AllocNode, C::AllocSid), record("AllocNode:Sid", submit_process)},
    {made_of(C::BaseState, C::NodeSizes, C::NodeCount, C::NodeCountMax), record("NumNodes", node_counts)},
    {made_of(C::CoresPerSocket, C::ThreadsPerCore), record("ReqB:S:C:T", cores_and_threads)},
    {made_of(C::NtasksPerNode, C::NtasksPerSocket, C::NtasksPerCore), record("NtasksPerN:B:S:C", tasks_per)},
    {made_of(C::AllocDetail),        record("JOB_GRES", job_gres, kIfDetails).when(has_detail)},
    {flag<C::GresEnforceBind, "Yes">, record("GresEnforceBind", kIfSet)},
    {flag<C::SpreadJob, "Yes">,      record("SpreadJob", kIfSet)},
    {moment<C::LastCheckpoint>,      record("LastCheckpoint", kIfSet)},
    {flag<C::KillOnInvalidDep, "Yes">, record("KillOnInvalidDependent", kIfSet)},
};
// clang-format on

// Compat: the order of lines and words is what people's scripts know.
constexpr std::string_view kRecord[] = {
    "JobId ArrayJobId ArrayTaskId ArrayTaskThrottle JobName",
    "SLUID",
    "UserId GroupId MCS_label",
    "Priority Nice Account QOS WCKey",
    "JobState Reason Dependency",
    "Requeue Restarts BatchFlag Reboot ExitCode",
    "DerivedExitCode",
    "RunTime TimeLimit TimeMin",
    "SubmitTime EligibleTime",
    "AccrueTime",
    "StartTime EndTime Deadline",
    "SuspendTime SecsPreSuspend LastSchedEval Scheduler",
    "Partition AllocNode:Sid",
    "ReqNodeList ExcNodeList",
    "NodeList SchedNodeList",
    "BatchHost",
    "NumNodes NumCPUs NumTasks CPUs/Task ReqB:S:C:T",
    "ReqTRES",
    "AllocTRES",
    "Socks/Node NtasksPerN:B:S:C CoreSpec ThreadSpec",
    "JOB_GRES",
    "AllocDetail",
    "MinCPUsNode MinMemoryTRES MinMemoryNode MinMemoryCPU MinTmpDiskNode",
    "Features DelayBoot",
    "Prefer",
    "Reservation",
    "OverSubscribe Exclusive Contiguous Licenses LicensesAlloc Network",
    "Command",
    "SubmitLine",
    "WorkDir",
    "AdminComment",
    "Comment",
    "StdErr",
    "StdIn",
    "StdOut",
    "Switches",
    "GresEnforceBind SpreadJob",
    "CpusPerTres",
    "MemPerTres",
    "TresBind",
    "TresFreq",
    "TresPerJob",
    "TresPerNode",
    "TresPerSocket",
    "TresPerTask",
    "NtasksPerTRES",
    "MailUser MailType",
    "LastCheckpoint",
    "KillOnInvalidDependent",
};

}  // namespace

std::span<const Property<SheetRow>> job_properties() {
    return kProperties;
}

std::span<const JobField> job_fields() {
    static const std::vector<JobField> fields = fields_of<SheetRow>({kProperties});
    return fields;
}

void append_job_record(const SheetRow& job, const RecordStyle& style, std::string& out) {
    static const RecordLayout layout(record_keys<SheetRow>(kProperties), kRecord);
    layout.append(job, style, out);
}

std::string jobs_json(const Sheet& jobs, const JsonMeta& meta) {
    Json json(meta.style);
    json.open_object();
    write_json_rows("jobs", json_keys<SheetRow>(kProperties), jobs, json);
    json.optional_number("last_backfill", kAbsent);
    json.optional_number("last_update", to_unix(jobs.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
