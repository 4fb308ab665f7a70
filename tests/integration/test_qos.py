"""Qualities of service: the table that sacctmgr keeps; preemption, priority and limits by it."""

import re

BY_QOS = "PreemptType=preempt/qos\nPreemptMode=REQUEUE"


def table(cluster, *fields):
    shown = cluster.run("sacctmgr", "-nP", "show", "qos", f"format={','.join(fields)}").stdout
    return [tuple(line.split("|")) for line in shown.splitlines()]


def add(cluster, name, *settings):
    """Adds a QOS that all accounts may use."""
    added = cluster.run("sacctmgr", "-i", "add", "qos", name, *settings)
    cluster.run("sacctmgr", "-i", "modify", "account", "root", "set", f"qos+={name}")
    return added


def test_the_table_is_changed_shown_and_survives_a_crash(cluster):
    added = add(cluster, "low,high", "priority=100", "gracetime=60")
    assert added.stdout == (
        " Adding QOS(s)\n  low\n  high\n Settings\n  Description    = high\n"
        "  Priority                 = 100\n  GraceTime                = 60\n")
    modified = cluster.run("sacctmgr", "-i", "modify", "qos", "where", "name=high", "set",
                           "preempt+=normal,low", "PreemptMode=within,cancel", "preemptexempttime=5")
    assert modified.stdout == " Modified qos...\n  high\n"
    cluster.kill("slurmctld")
    cluster.start_controller()
    fields = ("name", "prio", "gracetime", "preempt", "preemptmode", "preemptexempttime")
    assert table(cluster, *fields) == [
        ("normal", "0", "00:00:00", "", "cluster", ""),
        ("low", "100", "00:01:00", "", "cluster", ""),
        ("high", "100", "00:01:00", "normal,low", "within,cancel", "00:05:00")]
    assert cluster.run("sacctmgr", "show", "qos", "high", "format=name,preempt%8,prio%-5").stdout == (
        "      Name  Preempt Prior \n"
        "---------- -------- ----- \n"
        "      high normal,+ 100   \n")
    gone = cluster.run("sacctmgr", "-i", "delete", "qos", "low,nosuch")
    assert gone.stdout == " Deleting QOS(s)...\n  low\n"
    assert table(cluster, "name", "preempt") == [("normal", ""), ("high", "normal")]


def test_nothing_is_changed_before_somebody_says_yes(cluster):
    def answer(word):
        return cluster.run("sacctmgr", "add", "qos", "high", input=word).stdout.splitlines()[-1]

    assert answer("n\n") == answer("") == " Changes Discarded"
    assert table(cluster, "name") == [("normal",)]
    answer("y\n")
    assert table(cluster, "name") == [("normal",), ("high",)]


def test_what_is_wrong_is_said_and_changes_nothing(cluster):
    add(cluster, "high")
    for words, text in (
            ("add qos high", " Nothing new added.\n"),
            ("add qos bad priority=abc", "sacctmgr: error: Invalid value for Priority (abc)\n"),
            ("add qos bad gracetime=-7", "sacctmgr: error: Invalid value for GraceTime (-7)\n"),
            ("add qos bad frob=1",
             " Unknown option: frob=1\n Use keyword 'where' to modify condition\n"),
            ("add qos bad grptresmins=cpu=x", "sacctmgr: error: Invalid value for GrpTRESMins (cpu=x)\n"),
            ("add qos bad flags=frob",
             "sacctmgr: error: Unknown QOS flag used in:\nsacctmgr: error:   'frob'\n"
             "sacctmgr: error:  Valid QOS flags are\nsacctmgr: error:   'DenyOnLimit,EnforceUsageThreshold,"
             "PartitionMinNodes,PartitionMaxNodes,PartitionTimeLimit,RequiresReservation,OverPartQOS,NoReserve,NoDecay,"
             "Relative,UsageFactorSafe'\n"),
            ("add qos bad max=4", " Unknown option: max=4\n Use keyword 'where' to modify condition\n"),
            ("add qos bad grptres=frob=4", "sacctmgr: error: GrpTRES=frob=4: no TRES known by type frob\n"),
            ("add qos bad grptres=cpu=abc", "sacctmgr: error: Invalid value for GrpTRES (cpu=abc)\n"),
            ("add qos bad maxtrespernode=node=2", "sacctmgr: error: Invalid value for MaxTRESPerNode (node=2)\n"),
            ("add qos bad maxwall=abc", "sacctmgr: error: Bad MaxWall time format: MaxWall=abc\n"),
            ("add qos bad maxjobspu=-7", "sacctmgr: error: Invalid value for MaxJobsPU (-7)\n"),
            ("add qos bad preempt=nosuch",
             " You gave a bad qos 'nosuch'. Valid QOS's are normal,high\n"),
            ("add qos", " Need name of qos to add.\n"),
            ("modify qos high set preemptmode=suspend",
             " PreemptMode=SUSPEND needs PreemptMode=...,GANG in slurm.conf of cluster test\n"),
            ("modify qos nosuch set priority=7", " Nothing modified\n"),
            ("modify qos high", " You didn't give me anything to set\n"),
            ("delete qos normal",
             " normal: jobs that name no QOS are of it\n"),
            ("delete qos nosuch", " Nothing deleted\n"),
            ("delete qos", " No conditions given to remove, not executing.\n"),
            ("show qos format=frob", "Unknown field 'frob'\n"),
            ("frob qos", "invalid keyword: frob\n")):
        answer = cluster.run("sacctmgr", "-i", *words.split(), check=False)
        assert (answer.returncode, answer.stdout, answer.stderr) == (1, "", text), words
    assert table(cluster, "name", "prio") == [("normal", "0"), ("high", "0")]


def test_a_job_of_a_higher_qos_takes_the_place_of_a_lower_one(make_cluster):
    cluster = make_cluster(nodes=1, extra=BY_QOS)
    add(cluster, "urgent", "preempt=normal")
    victim = cluster.submit("echo $SLURM_RESTART_COUNT >>runs; sleep 60", "-c4", "--requeue")
    cluster.wait_state(victim, "RUNNING")
    assert cluster.job(victim)["QOS"] == "normal"
    urgent = cluster.submit("true", "-c4", "--qos=urgent")
    cluster.wait_end(urgent)
    cluster.wait_state(victim, "RUNNING")
    assert cluster.job(victim)["Restarts"] == "1"
    unknown = cluster.run("sbatch", "--qos=nosuch", "--wrap", "true", check=False)
    assert "Batch job submission failed: Invalid qos specification" in unknown.stderr
    cluster.run("scancel", victim)


def test_the_priority_of_a_qos_counts(make_cluster):
    cluster = make_cluster(extra="PriorityType=priority/multifactor\nPriorityWeightQOS=1000")
    cluster.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    add(cluster, "half", "priority=50")
    add(cluster, "high", "priority=100")
    jobs = [cluster.submit("true", f"--qos={qos}") for qos in ("half", "high")]

    def factors():
        return [cluster.run("sprio", "-hj", job, "-o", "%Q").stdout.strip() for job in jobs]

    assert factors() == ["500", "1000"]
    cluster.run("sacctmgr", "-i", "modify", "qos", "high", "set", "priority=25")
    assert factors() == ["1000", "500"]
    in_use = cluster.run("sacctmgr", "-i", "delete", "qos", "high", check=False)
    assert in_use.stderr == (
        " Error with request: Job(s) active, cancel job(s) before remove\n"
        f"  JobID = {jobs[1]:<10} C = test       QOS = high\n")


def test_only_operators_change_it(make_cluster):
    cluster = make_cluster()
    answer = cluster.run("sacctmgr", "-i", "add", "qos", "mine", user="nobody", check=False)
    assert answer.returncode == 1
    assert answer.stderr == " Problem adding QOS: Access/permission denied\n"
    assert cluster.run("sacctmgr", "-nP", "show", "qos", "format=name", user="nobody").stdout == "normal\n"


LIMITS = "AccountingStorageEnforce=limits"


def reasons(cluster, *jobs):
    return [cluster.run("squeue", "-hj", job, "-o", "%r").stdout.strip() for job in jobs]


def test_limits_are_shown_as_they_were_set(make_cluster):
    cluster = make_cluster(extra="GresTypes=gpu")
    add(cluster, "lim", "MaxWall=30", "MaxTRESPerJob=cpu=8,gres/gpu=2", "MaxTRESPerUser=cpu=12",
        "GrpTRES=cpu=14,mem=20G", "MaxJobsPU=3", "MaxSubmitJobsPU=6", "Flags=OverPartQOS", "MinTRES=cpu=2",
        "MaxTRESPerNode=cpu=6")
    cluster.run("sacctmgr", "-i", "modify", "qos", "lim", "set", "flags+=DenyOnLimit", "GrpTRES=mem=-1", "GrpNodes=4")
    cluster.kill("slurmctld")
    cluster.start_controller()
    shown = cluster.run("sacctmgr", "-P", "show", "qos", "lim").stdout.splitlines()[1]
    assert shown == ("lim|0|00:00:00|||cluster|DenyOnLimit,OverPartQOS||1.000000|cpu=14,node=4||||||cpu=8,gres/gpu=2|"
                     "cpu=6||00:30:00|cpu=12|3|6||||||cpu=2")
    cluster.run("sacctmgr", "-i", "modify", "qos", "lim", "set", "flags=-1", "MaxWall=-1", "MaxJobsPU=-1")
    assert table(cluster, "name", "flags", "maxwall", "maxjobspu")[1] == ("lim", "", "", "")


def test_the_qos_of_a_partition_caps_what_runs_there(make_cluster):
    cluster = make_cluster(nodes=2, extra=LIMITS)
    add(cluster, "cap", "GrpTRES=cpu=4")
    unknown = cluster.run("scontrol", "update", "PartitionName=debug", "QOS=nosuch", check=False)
    assert unknown.returncode == 1 and "Invalid qos specification" in unknown.stderr
    cluster.run("scontrol", "update", "PartitionName=debug", "QOS=cap")
    assert "QoS=cap" in cluster.run("scontrol", "show", "partition", "debug").stdout
    first = cluster.submit("sleep 60", "-c3", "-t10")
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("true", "-c3", "-t10")
    small = cluster.submit("true", "-c1", "-t10")
    cluster.wait_end(small)
    assert reasons(cluster, second) == ["QOSGrpCpuLimit"]
    why = cluster.run("swhy", second).stdout
    assert "QOS cap has GrpTRES=cpu=4, 3 in use, this one asks for 3" in why
    assert f"held by   job {first} " in why
    assert "--cpus-per-task=1" in why
    kept = cluster.run("sacctmgr", "-i", "delete", "qos", "cap", check=False)
    assert kept.stderr == " QOS cap is that of a partition\n"
    cluster.run("scancel", first)
    cluster.wait_end(second)
    cluster.run("scontrol", "update", "PartitionName=debug", "QOS=")
    wide = [cluster.submit("true", "-c3") for _ in range(2)]
    for job in wide:
        cluster.wait_end(job)


def test_limits_hold_across_a_crash_and_are_those_of_each_user(make_cluster):
    cluster = make_cluster(nodes=2, extra=LIMITS)
    add(cluster, "one", "MaxJobsPerUser=1", "MaxSubmitJobsPerUser=3", "MaxWall=30")
    mine = cluster.submit("sleep 60", "--qos=one", "-t10")
    cluster.wait_state(mine, "RUNNING")
    waits = cluster.submit("true", "--qos=one", "-t10")
    too_long = cluster.submit("true", "--qos=one", "-t40")
    cluster.wait_for(lambda: reasons(cluster, waits, too_long) ==
                 ["QOSMaxJobsPerUserLimit", "QOSMaxWallDurationPerJobLimit"])
    fourth = cluster.run("sbatch", "--qos=one", "-t10", "--wrap", "true", check=False)
    assert fourth.returncode == 1 and fourth.stderr == (
        "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
        "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
        "(job submit limit, user's size and/or time limits)\n"
        "sbatch: QOS one has MaxSubmitJobsPerUser=3, of which 3 are in use\n")
    cluster.run("sacctmgr", "-i", "add", "user", "nobody", "account=root")
    theirs = cluster.submit("true", "--qos=one", "-t10", user="nobody")
    cluster.wait_end(theirs)
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_for(lambda: reasons(cluster, waits) == ["QOSMaxJobsPerUserLimit"])
    cluster.run("scontrol", "update", f"JobId={too_long}", "TimeLimit=20")
    cluster.run("scancel", mine)
    cluster.wait_end(waits)
    cluster.wait_end(too_long)
    cluster.run("sacctmgr", "-i", "modify", "qos", "one", "set", "flags=DenyOnLimit")
    denied = cluster.run("sbatch", "--qos=one", "-t40", "--wrap", "true", check=False)
    assert denied.stderr.splitlines()[0] == "sbatch: error: QOSMaxWallDurationPerJobLimit"


def test_a_job_without_a_time_has_the_longest_that_its_qos_allows(make_cluster):
    cluster = make_cluster(nodes=1, extra=LIMITS)
    add(cluster, "half", "MaxWall=30")
    assert cluster.run("salloc", "--qos=half", "true").returncode == 0  # it does not wait for ever
    record, _ = cluster.run_job("true", "--qos=half")
    assert (record["JobState"], record["TimeLimit"]) == ("COMPLETED", "00:30:00")
    record, _ = cluster.run_job("true", "--qos=half", "-t10")
    assert record["TimeLimit"] == "00:10:00"
    record, _ = cluster.run_job("true")
    assert record["TimeLimit"] == "UNLIMITED"


def test_test_only_says_that_a_job_is_over_a_limit(make_cluster):
    cluster = make_cluster(nodes=1, extra=LIMITS)
    add(cluster, "small", "MaxTRESPerUser=cpu=2")
    fits = cluster.run("sbatch", "--test-only", "--qos=small", "-c2", "--wrap", "true")
    assert re.search(r"Job \d+ to start at 20\d\d-.* using 2 processors on nodes n1 in partition debug", fits.stderr)
    above = cluster.run("sbatch", "--test-only", "--qos=small", "-c3", "--wrap", "true", check=False)
    assert above.returncode == 1 and "Job violates accounting/QOS policy" in above.stderr
    assert "1970" not in above.stderr and "to start at" not in above.stderr
    assert not cluster.run("squeue", "-h").stdout
