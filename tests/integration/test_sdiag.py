"""sdiag: counters go up by what was done, and are reset by administrators only."""

import json
import re

import pytest

USER = "nobody"
KEYS = {"req_time", "req_time_start", "server_thread_count", "agent_queue_size", "agent_count", "agent_thread_count",
        "dbd_agent_queue_size", "gettimeofday_latency", "schedule_cycle_max", "schedule_cycle_last", "schedule_cycle_sum",
        "schedule_cycle_total", "schedule_cycle_mean", "schedule_cycle_mean_depth", "schedule_cycle_per_minute",
        "schedule_cycle_depth", "schedule_exit", "schedule_queue_length", "jobs_submitted", "jobs_started", "jobs_completed",
        "jobs_canceled", "jobs_failed", "jobs_pending", "jobs_running", "job_states_ts", "bf_backfilled_jobs",
        "bf_last_backfilled_jobs", "bf_backfilled_het_jobs", "bf_cycle_counter", "bf_cycle_mean", "bf_cycle_sum",
        "bf_cycle_last", "bf_cycle_max", "bf_depth_mean", "bf_depth_mean_try", "bf_exit", "bf_last_depth",
        "bf_last_depth_try", "bf_depth_sum", "bf_depth_try_sum", "bf_queue_len", "bf_queue_len_mean", "bf_queue_len_sum",
        "bf_table_size", "bf_table_size_sum", "bf_table_size_mean", "bf_when_last_cycle", "bf_active",
        "rpcs_by_message_type", "rpcs_by_user", "pending_rpcs", "pending_rpcs_by_hostlist"}


def statistics(cluster, *options):
    return json.loads(cluster.run("sdiag", "--json", *options).stdout)["statistics"]


def requests(cluster):
    return {each["message_type"]: each["count"] for each in statistics(cluster)["rpcs_by_message_type"]}


def jobs(cluster):
    found = statistics(cluster)
    return {name: found["jobs_" + name] for name in ("submitted", "started", "completed", "canceled", "failed")}


def test_jobs_are_counted_as_they_come_and_go(cluster):
    cluster.run("sdiag", "-r")
    assert set(jobs(cluster).values()) == {0}
    done = [cluster.submit("true"), cluster.submit("exit 3")]
    array = cluster.submit("true", "--array=1-3")
    held = cluster.submit("true", "--hold", "--array=1-4")
    long = cluster.submit("sleep 1000")
    for job in (*done, array):
        cluster.wait_end(job)
    cluster.wait_state(long, "RUNNING")
    cluster.wait_for(lambda: jobs(cluster) == {"submitted": 10, "started": 6, "completed": 5, "canceled": 0, "failed": 0},
                     what="five ended jobs")
    found = statistics(cluster)
    assert (found["jobs_pending"], found["jobs_running"]) == (4, 1)
    cluster.run("scancel", held, long)
    cluster.wait_end(long)
    cluster.wait_for(lambda: jobs(cluster)["canceled"] == 5, what="cancelled jobs")
    assert jobs(cluster)["completed"] == 5
    cluster.wait_for(lambda: statistics(cluster)["dbd_agent_queue_size"] == 0, what="delivered facts")


def test_requests_are_counted_by_type_and_user(cluster):
    cluster.run("sdiag", "-r")
    assert requests(cluster)["REQUEST_STATS_INFO"] == 1, "the reset itself"
    for _ in range(3):
        cluster.run("squeue")
    cluster.run("scontrol", "ping")
    job = cluster.submit("sleep 1000")
    cluster.run("scancel", job)
    cluster.wait_end(job)
    before = requests(cluster)
    assert before["REQUEST_SUBMIT_BATCH_JOB"] == 1 and before["REQUEST_KILL_JOB"] == 1 and before["REQUEST_PING"] == 1
    cluster.run("squeue")
    after = requests(cluster)
    assert after["REQUEST_JOB_INFO"] == before["REQUEST_JOB_INFO"] + 1
    assert after["REQUEST_STATS_INFO"] == before["REQUEST_STATS_INFO"] + 1
    found = statistics(cluster)
    assert found["server_thread_count"] >= 1
    for each in found["rpcs_by_message_type"] + found["rpcs_by_user"]:
        assert each["average_time"]["number"] == each["total_time"] // each["count"]
    assert sum(each["count"] for each in found["rpcs_by_message_type"]) == \
        sum(each["count"] for each in found["rpcs_by_user"])


def test_passes_and_backfilled_jobs_are_counted(cluster):
    cluster.run("sdiag", "-r")
    first = cluster.submit("sleep 1000", "-N1", "--exclusive", "-t60")
    cluster.wait_state(first, "RUNNING")
    wide = cluster.submit("true", "-N2", "--exclusive", "-t10")
    small = cluster.submit("true", "-n1", "-t5")
    cluster.wait_end(small)
    cluster.wait_for(lambda: jobs(cluster)["completed"] == 1, what="the end of the small job")
    found = statistics(cluster)
    assert found["bf_backfilled_jobs"] == found["bf_last_backfilled_jobs"] == 1
    assert found["jobs_started"] == 2 and found["jobs_pending"] == 1
    assert found["bf_cycle_counter"] > 0 and found["bf_when_last_cycle"]["number"] >= found["req_time_start"]["number"]
    for kind, last, most, total, exits in (
            ("bf", "bf_cycle_last", "bf_cycle_max", "bf_cycle_counter", "bf_exit"),
            ("schedule", "schedule_cycle_last", "schedule_cycle_max", "schedule_cycle_total", "schedule_exit")):
        assert found[last] <= found[most] <= found[f"{kind}_cycle_sum"]
        assert sum(found[exits].values()) == found[total]
    assert found["bf_last_depth_try"] <= found["bf_last_depth"]
    cluster.run("scancel", first, wide)


def test_only_administrators_reset(cluster, as_root):
    cluster.submit("true")
    assert jobs(cluster)["submitted"] == 1
    refused = cluster.run("sdiag", "-r", user=USER, check=False)
    assert refused.returncode == 255
    assert refused.stderr == "slurm_reset_statistics: Access/permission denied\n"
    assert jobs(cluster)["submitted"] == 1
    shown = cluster.run("sdiag", user=USER).stdout
    assert "Jobs submitted: 1\n" in shown
    reset = cluster.run("sdiag", "-r")
    assert reset.stdout == "Reset scheduling statistics\n"
    found = statistics(cluster)
    assert found["jobs_submitted"] == 0
    assert [each["user"] for each in found["rpcs_by_user"]] == ["root"], "no longer nobody"


LINE = re.compile(r"^\t(\S+) +\( *(\d+)\) count:(\d+) +ave_time:(\d+) +total_time:(\d+)$", re.M)


@pytest.mark.parametrize("option, column, falls", [("-a", 2, True), ("-i", 1, False), ("-t", 4, True), ("-T", 3, True)])
def test_requests_are_sorted(shared, option, column, falls):
    for _ in range(2):
        shared.run("squeue")
    shared.run("scontrol", "ping")
    shown = shared.run("sdiag", option).stdout.split("statistics by user")[0]
    values = [int(line[column]) for line in LINE.findall(shown)]
    assert len(values) >= 3 and values == sorted(values, reverse=falls)


def test_exporters_find_their_lines(shared):
    shown = shared.run("sdiag").stdout
    for pattern in (r"^Server thread count:  \d+$", r"^Agent queue size:     \d+$", r"^DBD Agent queue size: \d+$",
                    r"^\tTotal backfilled jobs \(since last slurm start\): \d+$",
                    r"^\tTotal backfilled jobs \(since last stats cycle start\): \d+$",
                    r"^\tTotal backfilled heterogeneous job components: \d+$"):
        assert len(re.findall(pattern, shown, re.M)) == 1, pattern
    assert len(re.findall(r"^\tLast cycle: +\d+$", shown, re.M)) == 2


def test_json_has_the_keys_of_slurm(shared):
    document = json.loads(shared.run("sdiag", "--json").stdout)
    assert set(document) == {"statistics", "meta", "errors", "warnings"}
    assert set(document["statistics"]) == KEYS
    assert document["meta"]["plugin"]["data_parser"] == "data_parser/v0.0.45"
