"""scontrol: hold, release, requeue, update; nodes and partitions."""

import pytest


def reason(cluster, job):
    return cluster.job(job)["Reason"]


@pytest.mark.parametrize("verb, expected", [("hold", "JobHeldAdmin"), ("uhold", "JobHeldUser")])
def test_hold_and_release(cluster, verb, expected):
    if cluster.user != "root":
        expected = "JobHeldUser"
    cluster.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    job = cluster.submit("echo ran")
    cluster.run("scontrol", verb, job)
    assert reason(cluster, job) == expected and cluster.job(job)["Priority"] == "0"
    cluster.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    other = cluster.submit("true")
    cluster.wait_end(other)
    assert cluster.state(job) == "PENDING"
    cluster.run("scontrol", "release", job)
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_requeue_runs_the_job_again_under_its_id(make_cluster):
    cluster = make_cluster(extra="SchedulerParameters=requeue_delay=1")
    job = cluster.submit("echo run $SLURM_RESTART_COUNT >>runs; [ -n \"$SLURM_RESTART_COUNT\" ] "
                         "|| sleep 1000", "--requeue")
    cluster.wait_file("runs")
    cluster.run("scontrol", "requeue", job)
    record = cluster.wait_end(job, timeout=60)
    assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "1")
    assert (cluster.dir / "work" / "runs").read_text() == "run\nrun 1\n"


def test_requeuehold_waits_for_release(make_cluster):
    cluster = make_cluster(extra="SchedulerParameters=requeue_delay=1")
    job = cluster.submit("echo run >>runs; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 1000")
    cluster.wait_file("runs")
    cluster.run("scontrol", "requeuehold", job)
    cluster.wait_state(job, "PENDING", "REQUEUE_HOLD")
    cluster.run("scontrol", "release", job)
    assert cluster.wait_end(job, timeout=60)["JobState"] == "COMPLETED"


def test_a_running_job_that_is_held_waits_once_it_is_requeued(make_cluster):
    cluster = make_cluster(extra="SchedulerParameters=requeue_delay=1")
    job = cluster.submit("echo run >>runs; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 1000", "--requeue")
    cluster.wait_file("runs")
    held = cluster.run("scontrol", "hold", job)
    assert (held.stdout, held.stderr, cluster.state(job)) == ("", "", "RUNNING")
    cluster.run("scontrol", "requeue", job)
    cluster.wait_for(lambda: cluster.job(job)["Restarts"] == "1", what="the job to be back in the queue")
    assert reason(cluster, job).startswith("JobHeld") and cluster.job(job)["Priority"] == "0"
    cluster.run("scontrol", "release", job)
    assert cluster.wait_end(job, timeout=60)["JobState"] == "COMPLETED"


def test_a_job_that_may_not_be_requeued(shared):
    job = shared.submit("sleep 1000", "--no-requeue")
    shared.wait_state(job, "RUNNING")
    assert shared.run("scontrol", "requeue", job, check=False).returncode != 0
    assert shared.state(job) == "RUNNING"
    shared.run("scancel", job)


def test_update_of_a_waiting_job(shared):
    job = shared.submit("true", "--hold")
    shared.run("scontrol", "update", f"JobId={job}", "Name=renamed", "TimeLimit=30")
    record = shared.job(job)
    assert (record["JobName"], record["TimeLimit"]) == ("renamed", "00:30:00")
    bad = shared.run("scontrol", "update", f"JobId={job}", "TimeLimit=soon", check=False)
    assert bad.returncode != 0 and bad.stderr + bad.stdout
    shared.run("scancel", job)


def test_update_of_a_waiting_job_refuses_what_there_is_not(shared):
    job = shared.submit("true", "--hold")
    for change, words in [("ExcNodeList=nope", "Invalid node name specified"),
                          ("Features=nofeat", "Invalid feature specification"),
                          ("Gres=foo:1", "Invalid generic resource (gres) specification"),
                          ("NumTasks=0", "Task count specification invalid"),
                          ("Partition=", "Invalid partition name specified")]:
        wrong = shared.run("scontrol", "update", f"JobId={job}", change, check=False)
        assert wrong.returncode == 1 and wrong.stderr.startswith(words), wrong.stderr
    shared.run("scancel", job)


def test_the_end_of_a_running_job_is_set(shared):
    job = shared.submit("sleep 1000", "-t", "60")
    shared.wait_state(job, "RUNNING")
    shared.run("scontrol", "update", f"JobId={job}", "EndTime=now+10minutes")
    assert shared.job(job)["TimeLimit"].startswith("00:1")
    shared.run("scancel", job)


def test_begin_time_keeps_a_job_waiting(shared):
    job = shared.submit("true", "--begin=now+1hour")
    assert shared.wait_state(job, "PENDING")["Reason"] == "BeginTime"
    soon = shared.submit("true", "--begin=now+2")
    assert shared.wait_end(soon)["JobState"] == "COMPLETED"
    assert shared.state(job) == "PENDING"
    shared.run("scancel", job)


def test_a_drained_node_finishes_its_job_and_takes_no_other(cluster):
    job = cluster.submit("while [ ! -e go-on ]; do sleep 0.05; done", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=broken fan")
    assert cluster.node_state("n1") == "drng"
    other = cluster.submit("true", "-w", "n1")
    (cluster.dir / "work" / "go-on").touch()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.wait_for(lambda: cluster.node_state("n1") == "drain", what="n1 to be drained")
    assert cluster.state(other) == "PENDING"
    assert "broken fan" in cluster.run("sinfo", "-h", "-R").stdout
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    assert cluster.wait_end(other)["JobState"] == "COMPLETED"


def test_a_partition_that_is_down(cluster):
    cluster.run("scontrol", "update", "PartitionName=debug", "State=DOWN")
    job = cluster.submit("true")
    cluster.wait_for(lambda: reason(cluster, job) == "PartitionDown", what="the reason")
    cluster.run("scontrol", "update", "PartitionName=debug", "State=UP")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_a_drained_node_stays_drained_when_the_controller_restarts(cluster):
    cluster.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=disk")
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="n1 to be back")
    assert cluster.node_state("n2").startswith("drain")
    assert "Reason=disk" in cluster.run("scontrol", "show", "node", "n2").stdout


def test_nodes_of_a_partition_change_until_slurm_conf_is_read_again(cluster):
    cluster.run("scontrol", "update", "PartitionName=debug", "Nodes=n2", "MaxTime=5")
    assert cluster.run("sinfo", "-h", "-o", "%N %l").stdout == "n2 5:00\n"
    record, _ = cluster.run_job("true")
    assert record["NodeList"] == "n2"
    wrong = cluster.run("scontrol", "update", "PartitionName=debug", "MaxNodes=many", check=False)
    assert wrong.returncode == 1 and "MaxNodes=many: a number or UNLIMITED is needed" in wrong.stderr
    cluster.run("scontrol", "reconfigure")
    assert cluster.run("sinfo", "-h", "-o", "%N %l").stdout == "n[1-2] infinite\n"
