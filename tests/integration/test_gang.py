"""Jobs on the same CPUs: stopped to make room, taking turns, or side by side."""

from cluster import is_frozen, wait_for

LAB = """PartitionName=low Nodes=ALL Default=YES PriorityTier=1
PartitionName=high Nodes=ALL PriorityTier=2"""
SUSPEND = "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nSchedulerTimeSlice=1"
SHARED = "PartitionName=shared Nodes=ALL Default=YES OverSubscribe=FORCE:2"

COUNTING = "echo $$ > pid; i=0; while :; do i=$((i+1)); echo $i > count.tmp; mv count.tmp count; sleep 0.05; done"


def test_a_job_that_makes_room_is_stopped_and_goes_on(make_cluster):
    cluster = make_cluster(nodes=1, partitions=LAB, extra=SUSPEND)
    work = cluster.dir / "work"
    victim = cluster.submit(COUNTING, "-n4", "-p", "low")
    wait_for(lambda: (work / "count").exists(), what="the first job at work")
    boss = cluster.submit("touch boss; while [ ! -e leave ]; do sleep 0.05; done", "-n4", "-p", "high")
    wait_for(lambda: (work / "boss").exists(), what="the job of the higher tier")
    cluster.wait_state(victim, "SUSPENDED")
    assert cluster.run("squeue", "-h", "-j", victim, "-o", "%t").stdout.strip() == "S"
    pid = (work / "pid").read_text().strip()
    wait_for(lambda: is_frozen(pid), what="the first job's processes to be stopped")
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_state(victim, "SUSPENDED")
    assert is_frozen(pid)
    (work / "leave").touch()
    assert cluster.wait_end(boss)["JobState"] == "COMPLETED"
    cluster.wait_state(victim, "RUNNING")
    before = int((work / "count").read_text())
    wait_for(lambda: int((work / "count").read_text()) > before, what="the first job to go on")
    cluster.run("scancel", victim)
    cluster.wait_end(victim)


def test_jobs_take_turns_on_their_cpus(make_cluster):
    cluster = make_cluster(nodes=1, partitions=SHARED, extra="PreemptMode=GANG\nSchedulerTimeSlice=1")
    first = cluster.submit("sleep 600", "-n4")
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("sleep 600", "-n4")
    third = cluster.submit("true", "-n4")
    for running, stopped in ((second, first), (first, second), (second, first)):
        wait_for(
            lambda running=running, stopped=stopped: cluster.job(running)["JobState"] == "RUNNING"
            and cluster.job(stopped)["JobState"] == "SUSPENDED",
            what=f"{running} to have its turn",
        )
    assert cluster.job(third)["JobState"] == "PENDING"
    cluster.run("scancel", second, first)
    assert cluster.wait_end(third)["JobState"] == "COMPLETED"


def test_jobs_run_side_by_side_without_gang(make_cluster):
    cluster = make_cluster(nodes=1, partitions=SHARED)
    meet = 'touch "$1"; while [ ! -e "$2" ]; do sleep 0.05; done'
    jobs = [cluster.submit(f"set -- {a} {b}; {meet}", "-n4") for a, b in (("here", "there"), ("there", "here"))]
    for job in jobs:
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert "OverSubscribe=FORCE:2" in cluster.run("scontrol", "show", "partition", "shared").stdout
