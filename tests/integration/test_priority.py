"""Priorities: multifactor, sprio, scontrol top, and what survives a restart."""

WEIGHTS = """PriorityType=priority/multifactor
PriorityWeightPartition=1000
PriorityWeightJobSize=1000
PriorityWeightAge=1000000
PriorityMaxAge=1-0
PriorityCalcPeriod=1
PriorityWeightTRES=cpu=2000
PriorityFlags=NO_NORMAL_TRES"""


def drained(make_cluster, extra=WEIGHTS):
    """Two nodes of four CPUs that start nothing, so that jobs wait."""
    cluster = make_cluster(extra=extra)
    cluster.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    return cluster


def listed(cluster, job, letters="%Y"):
    return cluster.run("sprio", "-h", "-j", job, "-o", letters).stdout.strip()


def test_sprio_agrees_with_squeue_and_scontrol(make_cluster):
    cluster = drained(make_cluster)
    one = cluster.submit("true")
    wide = cluster.submit("true", "-N2", "-n", "4")
    assert listed(cluster, one, "%J %P %T") == "312 1000 cpu=2000"
    assert listed(cluster, wide, "%J %P %T") == "750 1000 cpu=8000"
    for job in (one, wide):
        shown = cluster.run("squeue", "-h", "-j", job, "-o", "%Q").stdout.strip()
        assert listed(cluster, job) == shown == cluster.job(job)["Priority"]
    held = cluster.submit("true", "--hold")
    assert listed(cluster, held) == ""
    header, weights = cluster.run("sprio", "-w").stdout.splitlines()
    assert header.split()[2:] == ["PRIORITY", "SITE", "AGE", "JOBSIZE", "PARTITION", "TRES"]
    assert weights.split() == ["Weights", "1", "1000000", "1000", "1000", "cpu=2000"]


def test_the_first_in_line_starts_first(make_cluster):
    cluster = drained(make_cluster)
    jobs = [cluster.submit("date +%s.%N >$SLURM_JOB_ID; sleep 0.1", "-N2", "--exclusive")
            for _ in range(3)]
    cluster.run("scontrol", "top", jobs[2])
    cluster.run("scontrol", "update", f"JobId={jobs[0]}", "Nice=50000")
    cluster.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    for job in jobs:
        cluster.wait_end(job)
    started = [float((cluster.dir / "work" / job).read_text()) for job in jobs]
    assert started[2] < started[1] < started[0]


def test_a_priority_set_by_hand_survives_a_restart(make_cluster):
    cluster = drained(make_cluster)
    job = cluster.submit("true")
    by_hand = cluster.submit("true")
    cluster.run("scontrol", "update", f"JobId={by_hand}", "Priority=77")
    before = int(cluster.job(job)["Priority"])
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(by_hand)["Priority"] == "77"
    assert int(cluster.job(job)["Priority"]) >= before
    assert listed(cluster, by_hand, "%Y %P") == "77 0"
    cluster.run("scontrol", "hold", by_hand)
    cluster.run("scontrol", "release", by_hand)
    assert int(cluster.job(by_hand)["Priority"]) > 3000


def test_without_multifactor_sprio_says_so(make_cluster):
    cluster = drained(make_cluster, "PriorityType=priority/basic")
    first, second = (int(cluster.job(cluster.submit("true"))["Priority"]) for _ in range(2))
    assert first == second + 1
    answer = cluster.run("sprio", check=False)
    assert answer.returncode == 1 and "priority/basic" in answer.stderr


def test_bad_words_are_refused(make_cluster):
    cluster = drained(make_cluster)
    job = cluster.submit("true")
    for change in ("Nice=x", "Priority=-1", "SiteFactor=9999999999"):
        answer = cluster.run("scontrol", "update", f"JobId={job}", change, check=False)
        assert answer.returncode != 0, change
    assert cluster.run("scontrol", "top", "99999", check=False).returncode == 1
