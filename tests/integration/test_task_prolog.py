"""TaskProlog and TaskEpilog, and srun's own: programs around each task, and around the step."""

import re

import pytest

from cluster import Cluster

PROLOG = """#!/bin/sh
echo "$SLURM_SCRIPT_CONTEXT $(id -u) $(pwd) $SLURM_PROCID" >> {dir}/work/prolog.$SLURM_JOB_ID
echo "export SCRATCH=/scratch/$SLURM_JOB_ID of $SLURM_TASK_PID"
echo "unset UNWANTED"
echo "print welcome"
echo "nobody needs to see this"
[ ! -e {dir}/work/hang ] || exec sleep 1000
[ ! -e {dir}/work/broken ] || exit 5
"""

EPILOG = """#!/bin/sh
echo "$SLURM_SCRIPT_CONTEXT $(id -u) $(pwd) $SLURM_PROCID ${{UNWANTED-unset}}" >> {dir}/work/epilog.$SLURM_JOB_ID
echo "nobody sees this"
echo "epilog was here" >&2
"""

SAY = "echo $SCRATCH $$ ${UNWANTED-unset} ${SLURM_SCRIPT_CONTEXT-unset}"


def program(cluster, name, text):
    path = cluster.dir / name
    path.write_text(text.format(dir=cluster.dir))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def hooked():
    cluster = Cluster()
    prolog, epilog = program(cluster, "prolog", PROLOG), program(cluster, "epilog", EPILOG)
    cluster.extra = f"TaskProlog={prolog}\nTaskEpilog={epilog}\nKillWait=1"
    cluster.write_config()
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture
def flag(hooked):
    """Makes a file that the prolog looks for, and takes it away again."""
    made = []

    def make(name):
        made.append(hooked.dir / "work" / name)
        made[-1].touch()

    yield make
    for path in made:
        path.unlink()


def lines(cluster, name, job):
    return sorted(cluster.wait_file(f"{name}.{job}").splitlines())


def task_said(output, job):
    """The line of a task that ran SAY, without its numbers."""
    assert "nobody" not in output
    for line in output.splitlines():
        words = line.split()
        if words[0] == f"/scratch/{job}":
            assert words[2] == words[3], "SLURM_TASK_PID is the task's"
            return words[4:]
    raise AssertionError(output)


def test_the_prolog_changes_the_environment_of_a_task_and_prints(hooked):
    ran = hooked.run("srun", "sh", "-c", f"{SAY}; echo $SLURM_JOB_ID", env={"UNWANTED": 1})
    job = ran.stdout.splitlines()[-1]
    assert ran.stdout.splitlines()[0] == "welcome"
    assert task_said(ran.stdout, job) == ["unset", "unset"]
    assert ran.stderr == "epilog was here\n"


def test_and_those_of_a_batch_script(hooked):
    job = hooked.submit(SAY, env={"UNWANTED": 1})
    assert hooked.wait_end(job)["JobState"] == "COMPLETED"
    assert hooked.output(job).startswith("welcome\n")
    assert task_said(hooked.output(job), job) == ["unset", "unset"]
    assert hooked.output(job).endswith("epilog was here\n")
    assert len(lines(hooked, "prolog", job)) == len(lines(hooked, "epilog", job)) == 1


def test_they_run_for_each_task_where_it_runs_and_as_its_user(hooked, as_root):
    (hooked.dir / "work" / "there").mkdir(exist_ok=True)
    there = hooked.dir / "work" / "there"
    ran = hooked.run("srun", "-n3", "-D", there, "sh", "-c", "echo $SLURM_JOB_ID", user="nobody")
    job = ran.stdout.splitlines()[-1]
    wanted = [f"65534 {there} {task}" for task in range(3)]
    assert lines(hooked, "prolog", job) == [f"prolog_task {each}" for each in wanted]
    assert lines(hooked, "epilog", job) == [f"epilog_task {each} unset" for each in wanted]


def test_a_failed_prolog_takes_the_place_of_its_task(hooked, flag):
    flag("broken")
    failed = hooked.run("srun", "-n2", "echo", "never", check=False)
    assert failed.returncode == 5 and failed.stdout == "welcome\nwelcome\n"
    assert "error: TaskProlog failed status=5" in failed.stderr
    ends = re.findall(r"tasks? (\S+): Exited with exit code 5", failed.stderr)
    assert ends in (["0-1"], ["0", "1"], ["1", "0"])  # one line, if they end together
    assert failed.stderr.count("epilog was here") == 2
    job = hooked.submit("echo never")
    ended = hooked.wait_end(job)
    assert (ended["JobState"], ended["ExitCode"]) == ("FAILED", "5:0")
    assert "TaskProlog failed status=5" in hooked.output(job) and "never" not in hooked.output(job)


@pytest.mark.parametrize("is_batch", [True, False])
def test_a_hanging_prolog_can_be_cancelled_and_leaves_nothing(hooked, flag, is_batch):
    flag("hang")
    name = "batch" if is_batch else "step"
    srun = None
    if is_batch:
        hooked.submit("echo never", "-J", name)
    else:
        srun = hooked.popen("srun", "-J", name, "echo", "never")
    job = hooked.wait_for(lambda: hooked.run("squeue", "-h", "-n", name, "-o", "%A").stdout.strip(),
                          what="the job")
    hooked.wait_file(f"prolog.{job}")
    hooked.run("scancel", job)
    assert hooked.wait_end(job)["JobState"] == "CANCELLED"
    if srun:
        out, _ = srun.communicate(timeout=60)
        assert "never" not in out
    hooked.wait_for(lambda: not any("sleep" in line for line in hooked.processes().values()),
                    what="the end of the prolog")


def test_epilogs_run_after_a_task_that_had_to_be_killed(hooked):
    job = hooked.submit("trap '' TERM; touch stubborn; while :; do sleep 0.1; done")
    hooked.wait_for(lambda: (hooked.dir / "work" / "stubborn").exists(), what="the script")
    hooked.run("scancel", job)
    assert hooked.wait_end(job)["JobState"] == "CANCELLED"
    assert len(lines(hooked, "epilog", job)) == 1


def test_srun_adds_its_own_inside_those_of_the_site(hooked):
    mine = program(hooked, "mine", "#!/bin/sh\necho export SEEN=$SCRATCH\necho print mine\n")
    after = program(hooked, "after", "#!/bin/sh\necho after me >&2\n")
    for how in ({"options": [f"--task-prolog={mine}", f"--task-epilog={after}"], "env": {}},
                {"options": [], "env": {"SLURM_TASK_PROLOG": mine, "SLURM_TASK_EPILOG": after}}):
        ran = hooked.run("srun", *how["options"], "sh", "-c", '[ "$SEEN" = "$SCRATCH" ] && echo task', env=how["env"])
        assert ran.stdout == "welcome\nmine\ntask\n"
        assert ran.stderr == "after me\nepilog was here\n"
    ran = hooked.run("srun", "--task-prolog=none", "--task-epilog=none", "echo", "task")
    assert ran.stdout == "welcome\ntask\n"


def test_programs_that_are_not_there_are_named(hooked):
    failed = hooked.run("srun", "--task-prolog=/no/prolog", "--task-epilog=/no/epilog", "echo", "never",
                        check=False)
    assert failed.returncode == 1 and "never" not in failed.stdout
    assert "--task-prolog can not be executed (/no/prolog) No such file or directory" in failed.stderr
    assert "--task-prolog failed status=1" in failed.stderr
    assert "/no/epilog: No such file or directory" in failed.stderr
    assert "--task-epilog failed status=" in failed.stderr


def test_an_epilog_of_srun_has_a_few_seconds(hooked):
    slow = program(hooked, "slow", "#!/bin/sh\nsleep 1000\n")
    ran = hooked.run("srun", f"--task-epilog={slow}", "echo", "task")
    assert ran.stdout.endswith("task\n")
    assert "--task-epilog failed status=9" in ran.stderr
    assert "epilog was here" in ran.stderr


AROUND = """#!/bin/sh
echo "$SLURM_SCRIPT_CONTEXT of $SLURM_JOB_ID.$SLURM_STEP_ID: $*"
[ ! -e {dir}/work/no-$SLURM_SCRIPT_CONTEXT ] || exit 3
"""


def test_srun_runs_programs_around_the_step(hooked, flag):
    around = program(hooked, "around", AROUND)
    options = ["srun", f"--prolog={around}", f"--epilog={around}"]
    command = ["sh", "-c", "echo $SLURM_JOB_ID"]
    ran = hooked.run(*options, *command).stdout.splitlines()
    said = f"srun of {ran[2]}.0: sh -c echo $SLURM_JOB_ID"
    assert ran == [f"prolog_{said}", "welcome", ran[2], f"epilog_{said}"]
    flag("no-prolog_srun")
    failed = hooked.run(*options, "echo", "never", check=False)
    assert failed.returncode == 1 and "\nnever" not in failed.stdout
    assert "srun: error: srun prolog failed rc = 3. Aborting step." in failed.stderr
    assert "epilog_srun" in failed.stdout
    flag("no-epilog_srun")
    ran = hooked.run("srun", f"--epilog={around}", "true")
    assert "srun: error: srun epilog failed status=3" in ran.stderr


def test_who_ends_srun_ends_its_prolog(hooked):
    hang = program(hooked, "hang", "#!/bin/sh\necho $SLURM_JOB_ID > {dir}/work/waiting\nexec sleep 1000\n")
    srun = hooked.popen("srun", f"--prolog={hang}", "echo", "never")
    job = hooked.wait_file("waiting").strip()
    srun.terminate()
    out, err = srun.communicate(timeout=60)
    assert srun.returncode == 1 and out == "" and "srun prolog failed rc = 143" in err
    assert hooked.wait_end(job)["JobState"] == "FAILED"


def test_a_program_around_the_step_that_cannot_run_does_not_stop_it(hooked):
    ran = hooked.run("srun", "--prolog=/no/prolog", "echo", "task")
    assert ran.stdout == "welcome\ntask\n"
    assert "srun: Access denied for /no/prolog: No such file or directory" in ran.stderr


def test_the_site_names_programs_around_all_steps(make_cluster):
    cluster = make_cluster(start=False)
    around = program(cluster, "around", "#!/bin/sh\necho $SLURM_SCRIPT_CONTEXT\n")
    cluster.extra = f"SrunProlog={around}\nSrunEpilog={around}"
    cluster.write_config()
    cluster.start()
    assert cluster.run("srun", "echo", "task").stdout == "prolog_srun\ntask\nepilog_srun\n"
    assert cluster.run("srun", "--prolog=none", "--epilog=none", "echo", "task").stdout == "task\n"
    none = {"SLURM_PROLOG": "none", "SLURM_EPILOG": "none"}
    assert cluster.run("srun", "echo", "task", env=none).stdout == "task\n"


def test_reconfigure_changes_them_for_tasks_to_come(make_cluster):
    cluster = make_cluster()
    assert cluster.run("srun", "-w", "n2", "echo", "task").stdout == "task\n"
    prolog = program(cluster, "prolog", "#!/bin/sh\necho print prolog\n")
    cluster.extra = f"TaskProlog={prolog}"
    cluster.write_config()
    cluster.run("scontrol", "reconfigure")
    cluster.wait_for(lambda: cluster.run("srun", "-w", "n2", "echo", "task").stdout == "prolog\ntask\n",
                     what="n2 to know of the prolog")
