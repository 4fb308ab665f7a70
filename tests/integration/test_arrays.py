"""Job arrays: one submission, one row, many tasks."""


def test_each_task_has_its_index_and_its_output(shared):
    job = shared.submit("echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT "
                        "$SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX", "--array=2-6:2")
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-j", job, check=False).stdout,
                    what="the end of the array")
    for task in (2, 4, 6):
        assert shared.output(job, f"slurm-{{}}_{task}.out") == f"{job} {task} 3 2 6\n"


def test_the_limit_of_tasks_at_once(shared):
    job = shared.submit("sleep 1000", "--array=1-5%2")
    shared.wait_for(lambda: shared.run("squeue", "-h", "-t", "R", "-j", job).stdout.count("\n") == 2,
                    what="two running tasks")
    waiting = shared.run("squeue", "-h", "-t", "PD", "-j", job, "-o", "%i %r").stdout
    assert waiting == f"{job}_[3-5%2] JobArrayTaskLimit\n"
    shared.run("scancel", f"{job}_1")
    shared.wait_for(lambda: shared.state(f"{job}_3") == "RUNNING", what="the third task")
    shared.run("scancel", job)


def test_a_large_array_is_one_line_until_expanded(shared):
    job = shared.submit("true", "--array=0-999", "--hold")
    assert shared.run("squeue", "-h", "-j", job, "-o", "%i").stdout == f"{job}_[0-999]\n"
    assert shared.run("squeue", "-h", "-r", "-j", job).stdout.count("\n") == 1000
    shared.run("scancel", f"{job}_[10-19]")
    assert shared.run("squeue", "-h", "-r", "-j", job).stdout.count("\n") == 990
    assert shared.run("squeue", "-h", "-t", "CA", "-j", job, "-o", "%i").stdout == f"{job}_[10-19]\n"
    assert shared.job(f"{job}_12")["JobState"] == "CANCELLED"
    shared.run("scancel", job)
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-j", job, check=False).stdout,
                    what="an empty queue")


def test_one_task_fails_alone(shared):
    job = shared.submit("exit $SLURM_ARRAY_TASK_ID", "--array=0,1")
    assert shared.wait_end(f"{job}_0")["JobState"] == "COMPLETED"
    record = shared.wait_end(f"{job}_1")
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "1:0")


def test_single_tasks_are_held_changed_and_run_again(make_cluster):
    cluster = make_cluster(extra="SchedulerParameters=requeue_delay=1")
    job = cluster.submit("echo run >>runs_$SLURM_ARRAY_TASK_ID; [ $SLURM_ARRAY_TASK_ID = 0 ] && "
                         "[ -z \"$SLURM_RESTART_COUNT\" ] && sleep 1000; true", "--array=0-8:4,20", "--hold")
    assert cluster.run("squeue", "-h", "-j", job, "-o", "%i").stdout == f"{job}_[0,4,8,20]\n"
    cluster.run("scontrol", "update", f"JobId={job}_4", "TimeLimit=7", "Name=other")
    assert cluster.job(f"{job}_4")["TimeLimit"] == "00:07:00"
    assert cluster.job(f"{job}_8")["JobName"] != "other"
    cluster.run("scancel", f"{job}_20")
    cluster.run("scontrol", "release", f"{job}_0", f"{job}_8")
    assert cluster.wait_end(f"{job}_8")["JobState"] == "COMPLETED"
    assert cluster.job(f"{job}_4")["Reason"].startswith("JobHeld")
    cluster.wait_file("runs_0")
    cluster.run("scontrol", "requeue", f"{job}_0")
    assert cluster.wait_end(f"{job}_0", timeout=60)["JobState"] == "COMPLETED"
    assert (cluster.dir / "work" / "runs_0").read_text() == "run\nrun\n"
    cluster.run("scontrol", "release", job)
    assert cluster.wait_end(f"{job}_4")["JobState"] == "COMPLETED"
    assert not (cluster.dir / "work" / "runs_20").exists()


def test_the_limit_can_be_changed(shared):
    job = shared.submit("sleep 1000", "--array=1-5%1")
    shared.wait_state(f"{job}_1", "RUNNING")
    shared.run("scontrol", "update", f"JobId={job}", "ArrayTaskThrottle=2")
    shared.wait_state(f"{job}_2", "RUNNING")
    assert shared.job(f"{job}_3")["ArrayTaskThrottle"] == "2"
    shared.run("scancel", job)


def test_a_million_tasks_are_one_submission(make_cluster):
    cluster = make_cluster(extra="MaxArraySize=1000001")
    job = cluster.submit("true", "--array=0-1000000", "--hold")
    assert cluster.run("squeue", "-h", "-j", job, "-o", "%i").stdout == f"{job}_[0-1000000]\n"
    cluster.run("scancel", f"{job}_500000")
    assert cluster.run("squeue", "-h", "-j", job, "-o", "%i").stdout == f"{job}_[0-499999,500001-1000000]\n"
    cluster.run("scancel", job)
