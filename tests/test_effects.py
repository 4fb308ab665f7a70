"""Every key of slurm.conf, every word of SchedulerParameters and every variable with an effect has a test of that
effect, not only of its parsing. A test TEST(ConfigEffects, <key>) is found by its name; the others are listed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# key: the test that fails when the key has no effect.
TESTS = {
    "AccountingStorageBackupHost": "integration/test_dbd.py::test_the_backup_is_asked_when_the_first_host_does_not_answer",
    "AccountingStorageHost": "integration/test_dbd.py::test_the_backup_is_asked_when_the_first_host_does_not_answer",
    "AccountingStoragePort": "integration/test_dbd.py::test_the_backup_is_asked_when_the_first_host_does_not_answer",
    "AccountingStorageType": "integration/test_accounting.py::test_a_job_is_there_when_it_waits_runs_and_has_ended",
    "AccountingStoreFlags": "integration/test_accounting.py::test_scripts_are_kept_where_the_site_asks_for_them",
    "AllowSpecResourcesUsage": "integration/test_place.py::test_threads_are_not_left_to_the_system_unless_allowed",
    "AuthInfo": "integration/test_auth.py::test_munge",
    "AuthType": "integration/test_auth.py::test_shared_key",
    "BcastExclude": "integration/test_bcast.py::test_shared_objects_are_sent_unless_they_are_excluded",
    "BcastParameters": "integration/test_bcast.py::test_a_program_is_sent_and_run",
    "CpuFreqDef": "../src/stepd/cpu_clocks_test.cc",
    "CpuFreqGovernors": "integration/test_step_options.py::test_governors_are_those_that_the_site_allows",
    "ScratchQuota": "integration/test_scratch_quota.py::test_a_job_that_fills_the_disk_is_ended_with_a_reason",
    "SyncTimeout": "integration/test_sync.py::test_a_destination_that_hangs_ends_with_synctimeout",
    "EpilogSlurmctld": "integration/test_job_programs.py::test_the_programs_are_told_of_the_job",
    "Epilog": "integration/test_prolog.py::test_the_programs_are_told_of_the_job",
    "EpilogTimeout": "integration/test_config_effects.py::test_programs_that_take_too_long",
    "GpuFreqDef": "integration/test_gpu_freq.py::test_slurm_conf_says_what_those_get_who_do_not_ask",
    "GpuCleanCheck": "integration/test_gpu_usage.py::test_the_check_can_be_off",
    "GpuCleanMemory": "integration/test_gpu_usage.py::test_a_gpu_that_is_left_in_use_gets_no_jobs_until_it_is_clean",
    "GpuFatalXids": "../src/agent/gpu_book_test.cc",
    "GpuJobMappingDir": "integration/test_gpu_usage.py::test_exporters_learn_which_job_has_a_gpu",
    "GpuJobStats": "integration/test_gpu_usage.py::test_jobstats_finds_its_summary",
    "GpuSampleTime": "integration/test_gpu_usage.py::test_samples_of_a_job_are_shown_while_it_runs_and_afterwards",
    "GpuStatDir": "integration/test_gpu_usage.py::test_exporters_learn_which_job_has_a_gpu",
    "GpuUsageSize": "integration/test_gpu_usage.py::test_the_oldest_samples_make_room",
    "StackDumpProgram": "integration/test_gpu_policy.py::test_a_job_that_hangs_is_reported_with_its_stacks",
    "GresTypes": "integration/test_gres.py",
    "GroupUpdateTime": "integration/test_reconfigure.py::test_groups_are_asked_for_again_by_and_by",
    "InteractiveStepOptions": "integration/test_config_effects.py::test_salloc_runs_its_shell_on_the_first_node",
    "JobAcctGatherFrequency": "integration/test_usage.py::test_memory_is_not_looked_at_more_often_than_configured",
    "JobAcctGatherParams": "integration/test_usage.py::test_a_step_that_takes_more_memory_than_it_has_is_killed",
    "JobAcctGatherType": "integration/test_usage.py::test_nothing_is_sampled_without_a_plugin",
    "JobContainerType": "integration/test_private_dirs.py",
    "NamespaceType": "integration/test_private_dirs.py",
    "JobFileAppend": "integration/test_config_effects.py::test_job_file_append",
    "JobRequeue": "integration/test_config_effects.py::test_job_requeue",
    "KillOnBadExit": "integration/test_config_effects.py::test_kill_on_bad_exit",
    "LaunchParameters": "integration/test_config_effects.py::test_salloc_runs_its_shell_on_the_first_node",
    "MailDomain": "integration/test_mail.py::test_addresses_are_qualified_unless_they_were_given",
    "MailProg": "integration/test_mail.py::test_a_job_tells_of_its_start_and_its_end",
    "MessageTimeout": "integration/test_config_effects.py::test_commands_say_that_they_retry",
    "MpiDefault": "integration/test_mpi.py::test_mpi_default_is_for_sruns_that_name_none",
    "MpiParams": "integration/test_step_options.py::test_ports_are_kept_for_a_step_on_its_nodes",
    "PreemptExemptTime": "integration/test_qos.py",
    "PreemptMode": "integration/test_gang.py::test_a_job_that_makes_room_is_stopped_and_goes_on",
    "PreemptType": "integration/test_gang.py::test_a_job_that_makes_room_is_stopped_and_goes_on",
    "PriorityCalcPeriod": "integration/test_priority.py",
    "PriorityFlags": "integration/test_priority.py",
    "PriorityMaxAge": "integration/test_priority.py",
    "PriorityType": "integration/test_qos.py::test_the_priority_of_a_qos_counts",
    "PriorityWeightAge": "integration/test_priority.py",
    "PriorityWeightJobSize": "integration/test_priority.py",
    "PriorityWeightPartition": "integration/test_priority.py",
    "PriorityWeightTRES": "integration/test_priority.py",
    "CompleteWait": "../src/core/job/configure_test.cc",
    "HealthCheckInterval": "integration/test_health.py::test_the_program_runs_before_the_node_registers_and_again",
    "HealthCheckNodeState": "../src/core/node/health_test.cc",
    "HealthCheckProgram": "integration/test_health.py::test_the_program_runs_before_the_node_registers_and_again",
    "HealthCheckTimeout": "integration/test_health.py::test_a_program_that_hangs_is_killed",
    "InactiveLimit": "../src/core/job/configure_test.cc",
    "MaxBatchRequeue": "integration/test_job_programs.py::test_a_job_whose_prolog_fails_is_requeued_and_held_at_last",
    "PrologSlurmctld": "integration/test_job_programs.py::test_the_programs_are_told_of_the_job",
    "Prolog": "integration/test_prolog.py::test_the_programs_are_told_of_the_job",
    "PrologEpilogTimeout": "integration/test_config_effects.py::test_programs_that_take_too_long",
    "PrologTimeout": "integration/test_config_effects.py::test_programs_that_take_too_long",
    "PrologFlags": "integration/test_extern.py",
    "PropagateResourceLimits": "integration/test_config_effects.py::test_propagated_limits",
    "PropagateResourceLimitsExcept": "integration/test_config_effects.py::test_propagated_limits",
    "SchedulerParameters": "integration/test_config_effects.py::test_requeue_exit",
    "MaxNodeCount": "integration/test_dynamic_nodes.py::test_what_is_refused",
    "ResumeFailProgram": "integration/test_power.py::test_a_node_that_does_not_boot_is_down_and_its_job_runs_elsewhere",
    "ResumeProgram": "integration/test_power.py::test_a_job_is_configuring_until_all_its_nodes_have_booted",
    "ResumeRate": "integration/test_power.py::test_rates_limit_how_many_nodes_a_program_gets",
    "SuspendExcNodes": "integration/test_power.py::test_idle_nodes_are_switched_off_and_on_again_for_jobs",
    "SuspendExcParts": "../src/core/node/power_test.cc",
    "SuspendExcStates": "../src/core/node/power_test.cc",
    "SuspendProgram": "integration/test_power.py::test_idle_nodes_are_switched_off_and_on_again_for_jobs",
    "SuspendRate": "../src/core/node/power_test.cc",
    "SuspendTime": "integration/test_power.py::test_idle_nodes_are_switched_off_and_on_again_for_jobs",
    "SuspendTimeout": "integration/test_power.py::test_everything_continues_when_the_controller_is_killed",
    "DataCacheDir": "integration/test_stage.py::test_a_cache_elsewhere",
    "DataCacheSize": "integration/test_stage.py::test_the_cache_keeps_what_fits",
    "ScratchDir": "integration/test_scratch.py::test_every_node_of_a_job_has_one_around_its_programs",
    "SlurmctldHost": "integration/test_config_effects.py::test_only_the_controllers_host_runs_it",
    "SlurmctldPrimaryOffProg": "integration/test_failover.py::test_programs_of_the_site_run_when_a_controller_begins_and_ends_to_be_active",
    "SlurmctldPrimaryOnProg": "integration/test_failover.py::test_programs_of_the_site_run_when_a_controller_begins_and_ends_to_be_active",
    "SlurmctldParameters": "integration/test_config_effects.py::test_what_changes_the_fate_of_jobs_is_refused",
    "SrunEpilog": "integration/test_config_effects.py::test_srun_epilog",
    "SrunProlog": "integration/test_task_prolog.py::test_the_site_names_programs_around_all_steps",
    "TaskEpilog": "integration/test_task_prolog.py",
    "TaskPlugin": "integration/test_binding.py::test_each_task_has_its_own_cpu",
    "TaskPluginParam": "integration/test_binding.py::test_slurm_conf_says_how_tasks_are_bound_otherwise",
    "TaskProlog": "integration/test_task_prolog.py::test_the_prolog_changes_the_environment_of_a_task_and_prints",
    "SlurmdPort": "integration/test_config_effects.py::test_slurmd_port_is_that_of_nodes_without_a_port",
    "TmpFS": "integration/test_config_effects.py::test_the_disk_of_a_node_is_that_of_tmp_fs",
    **dict.fromkeys(["SlurmctldSyslogDebug", "SlurmdSyslogDebug"],
                    "integration/test_config_effects.py::test_the_level_of_what_goes_to_syslog"),
    "TopologyPlugin": "integration/test_options.py::test_switches_come_from_topology_conf",
    "TreeWidth": "integration/test_tree.py::test_the_width_of_slurm_conf_is_read_again",
    "WaitTime": "integration/test_config_effects.py::test_wait_time",
    "CommunicationParameters":
        "integration/test_handshake.py::test_daemons_listen_on_all_addresses_unless_told_otherwise",
    "PrivateData": "integration/test_authorization.py::test_private_data_is_hidden_in_every_listing",
    "UnkillableStepProgram":
        "integration/test_kill.py::test_a_supervisor_that_does_not_answer_is_given_up_and_its_node_drained",
    "UnkillableStepTimeout":
        "integration/test_kill.py::test_a_supervisor_that_does_not_answer_is_given_up_and_its_node_drained",
    # Refused by name.
    **dict.fromkeys(["CertgenParameters", "CertgenType", "CertmgrParameters", "CertmgrType", "TLSParameters", "TLSType"],
                    "integration/test_handshake.py::test_tls_is_refused_by_name"),
    # Every cluster of the integration tests is made with these: none would start or be found without them.
    **dict.fromkeys(["ClusterName", "NodeName", "PartitionName", "ProctrackType", "SlurmUser", "SlurmctldDebug",
                     "SlurmctldLogFile", "SlurmctldPidFile", "SlurmctldPort", "SlurmdDebug", "SlurmdLogFile",
                     "SlurmdParameters", "SlurmdPidFile", "SlurmdSpoolDir", "StateSaveLocation"],
                    "../tools/cluster.py"),
    # Other names of SlurmctldHost.
    **dict.fromkeys(["BackupAddr", "BackupController", "ControlAddr", "ControlMachine"],
                    "../src/config/load_test.cc"),
    "nohold_on_prolog_fail": "integration/test_prolog.py::test_with_nohold_a_job_whose_prolog_failed_runs_elsewhere",
    "permit_job_expansion": "integration/test_resize.py::test_a_job_takes_over_the_nodes_of_another",
    "youngest_first": "../src/config/effects_test.cc",
}

# What no test can see from outside, or none has been written for: with the reason.
UNTESTED = {
    "bf_interval": "changes when a plan is made, not what is in it",
}


def read(path):
    return (ROOT / path).read_text()


def keys_with_effect():
    """Rows of the table that have a setter, unless that only serves `scontrol show config`."""
    rows = re.findall(r'^    \{"(\w+)",(.*)\},$', read("src/config/keys.cc"), re.M)
    return {name for name, rest in rows if re.search(r"\bset(_\w+|<)", rest) and not rest.endswith(", true")}


def words_with_effect():
    return set(re.findall(r'^    \{"(\w+)",\s+Set,', read("src/config/scheduler_options.cc"), re.M))


def effects_tests():
    return set(re.findall(r"^TEST\(ConfigEffects, (\w+)\)", read("src/config/effects_test.cc"), re.M))


@pytest.mark.parametrize("name", sorted(keys_with_effect() | words_with_effect()))
def test_has_a_test_of_its_effect(name):
    if name in effects_tests():
        assert name not in TESTS and name not in UNTESTED, "it has a test of its name"
        return
    if name in UNTESTED:
        return
    assert name in TESTS, "write TEST(ConfigEffects, ...) or name the test of its effect here"
    file, _, function = TESTS[name].partition("::")
    text = read(Path("tests") / file)
    assert not function or re.search(rf"^def {function}\(", text, re.M), "there is no such test"


def test_nothing_is_listed_that_is_gone():
    known = keys_with_effect() | words_with_effect()
    assert set(TESTS) | set(UNTESTED) <= known, "no key or word with an effect"


VARIABLE = re.compile(r'"((?:SQUEUE|SINFO|SPRIO|SCONTROL|SCANCEL|SBATCH|SALLOC|SRUN)_[A-Z0-9_]+)"')


def test_variables_of_the_commands_are_used_in_tests():
    """The SBATCH_, SALLOC_ and SLURM_ variables of options are walked by JobVariables.DoWhatTheirOptionsDo."""
    used = set()
    for path in (ROOT / "src").rglob("*.cc"):
        if not path.name.endswith("_test.cc") and path.is_relative_to(ROOT / "src/cli"):
            used |= set(VARIABLE.findall(path.read_text()))
    tests = [*(ROOT / "tests/golden").rglob("*.golden"), *(ROOT / "tests/integration").glob("*.py"),
             *(ROOT / "src").rglob("*_test.cc")]
    text = "\n".join(path.read_text() for path in tests)
    used -= {"SRUN_DEBUG"}  # set for tasks, not read
    assert {name for name in used if name not in text} == set()
