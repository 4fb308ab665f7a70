"""Backfill, estimates and preemption on real daemons, as researchers and labs use them."""

from cluster import wait_for

LAB = """PartitionName=lab Nodes=ALL PriorityTier=10 MaxTime=7-0
PartitionName=overcap Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=20 MaxTime=2-0"""
PREEMPT = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE"

# Saves what it has when it is told to leave, and goes on from there.
CHECKPOINTED = """
save() { echo saved > checkpoint; exit 0; }
trap save TERM
echo "restart ${SLURM_RESTART_COUNT:-0}"
[ -e checkpoint ] && exit 0
touch started
while :; do sleep 0.1; done
"""


def test_an_overcap_job_saves_its_work_and_goes_on_where_it_was(make_cluster):
    cluster = make_cluster(nodes=1, partitions=LAB, extra=PREEMPT, gpus={"a40": ["n1"]})
    victim = cluster.submit(CHECKPOINTED, "-p", "overcap", "--gres=gpu:2", "--requeue", "-o", "out", "--open-mode=append")
    work = cluster.dir / "work"
    wait_for(lambda: (work / "started").exists(), what="the first run")
    boss = cluster.submit("true", "-p", "lab", "--gres=gpu:1")
    assert cluster.wait_end(boss)["JobState"] == "COMPLETED"
    ended = cluster.wait_end(victim)
    assert ended["JobState"] == "COMPLETED" and ended["Restarts"] == "1"
    assert (work / "checkpoint").read_text() == "saved\n"
    assert [line for line in (work / "out").read_text().splitlines() if line.startswith("restart")] == ["restart 0", "restart 1"]


# The script knows nothing of it; its step saves what it has.
STEP_SAVES = """
[ -e saved ] && exit 0
srun bash -c 'trap "sleep 1; touch saved; exit 0" TERM; touch started; while :; do sleep 0.1; done'
"""


def test_a_step_saves_its_work_in_the_grace_time(make_cluster):
    cluster = make_cluster(nodes=1, partitions=LAB, extra=PREEMPT + "\nKillWait=0")
    victim = cluster.submit(STEP_SAVES, "-p", "overcap", "-n4", "--requeue", "-o", "out", "--open-mode=append")
    work = cluster.dir / "work"
    wait_for(lambda: (work / "started").exists(), what="the step")
    boss = cluster.submit("true", "-p", "lab", "-n4")
    assert cluster.wait_end(boss)["JobState"] == "COMPLETED"
    assert (work / "saved").exists(), (work / "out").read_text()


def test_a_job_tells_of_its_checkpoint(cluster):
    job = cluster.submit("scontrol update JobId=$SLURM_JOB_ID LastCheckpoint=now && touch told && sleep 600")
    wait_for(lambda: (cluster.dir / "work" / "told").exists(), what="the job to tell")
    record = cluster.job(job)
    assert record["StartTime"] <= record["LastCheckpoint"] < record["EndTime"]
    cluster.run("scontrol", "requeuehold", job)
    cluster.wait_state(job, "PENDING")
    assert "LastCheckpoint" not in cluster.job(job)
    refused = cluster.run("scontrol", "update", f"JobId={job}", "LastCheckpoint=now", check=False)
    assert refused.returncode == 1 and "Job is not running" in refused.stderr


def test_nobody_is_preempted_by_equals(make_cluster):
    cluster = make_cluster(nodes=1, partitions=LAB, extra=PREEMPT)
    first = cluster.submit("sleep 600", "-p", "overcap", "-n4")
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("true", "-p", "overcap", "-n4")
    wait_for(lambda: cluster.job(second)["Reason"] == "Resources", what="the second job to be looked at")
    assert cluster.job(first)["JobState"] == "RUNNING"
    cluster.run("scancel", first)
    assert cluster.wait_end(second)["JobState"] == "COMPLETED"


def test_short_jobs_go_ahead_and_starts_are_foretold(cluster):
    long = cluster.submit("sleep 600", "-n4", "-t60")
    cluster.wait_state(long, "RUNNING")
    wide = cluster.submit("true", "-N2", "-n8", "-t10")
    late = cluster.submit("true", "-n4", "-t90")
    short = cluster.submit("true", "-n4", "-t30")
    assert cluster.wait_end(short)["JobState"] == "COMPLETED"
    assert cluster.job(wide)["JobState"] == "PENDING" and cluster.job(wide)["Reason"] == "Resources"
    assert cluster.job(late)["JobState"] == "PENDING" and cluster.job(late)["Reason"] == "Priority"
    expected = cluster.job(long)["EndTime"]
    assert cluster.job(wide)["StartTime"] == expected
    shown = cluster.run("squeue", "--start", "-h", "-j", wide, "-o", "%S").stdout.strip()
    assert shown == expected
    cluster.run("scancel", long)
    assert cluster.wait_end(wide)["JobState"] == "COMPLETED"
    assert cluster.wait_end(late)["JobState"] == "COMPLETED"


def test_a_test_says_when_it_would_start(cluster):
    long = cluster.submit("sleep 600", "-N2", "-n8", "-t60")
    cluster.wait_state(long, "RUNNING")
    said = cluster.run("sbatch", "--test-only", "-n1", "-t1", "--wrap", "true").stderr
    assert cluster.job(long)["EndTime"] in said
    cluster.run("scancel", long)
