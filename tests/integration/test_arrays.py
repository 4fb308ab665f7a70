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
    shared.run("scancel", job)
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-j", job, check=False).stdout,
                    what="an empty queue")


def test_one_task_fails_alone(shared):
    job = shared.submit("exit $SLURM_ARRAY_TASK_ID", "--array=0,1")
    assert shared.wait_end(f"{job}_0")["JobState"] == "COMPLETED"
    record = shared.wait_end(f"{job}_1")
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "1:0")
