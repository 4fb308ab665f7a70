"""srun: alone, inside jobs, over several nodes; streams, exit codes, signals."""

import os
import pty
import re
import signal
import subprocess

import pytest


def test_alone_it_allocates_runs_and_gives_back(shared):
    result = shared.run("srun", "-n2", "sh", "-c", "echo task $SLURM_PROCID of $SLURM_NTASKS")
    assert sorted(result.stdout.splitlines()) == ["task 0 of 2", "task 1 of 2"]
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-t", "R,CG").stdout, what="its end")


def test_inside_a_job_it_uses_the_jobs_nodes(shared):
    record, output = shared.run_job("srun sh -c 'echo $SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID."
                                    "$SLURM_NODEID.$SLURMD_NODENAME'", "-N2", "--ntasks-per-node=2")
    job = record["JobId"]
    nodes = sorted({line.split(".")[-1] for line in output.splitlines()})
    assert sorted(line.rsplit(".", 1)[0] for line in output.splitlines()) == \
        [f"{job}.0.{rank}.{rank // 2}" for rank in range(4)]
    assert len(nodes) == 2


def test_tasks_know_where_they_were_launched_from(shared):
    told = dict(line.split("=", 1) for line in shared.run("srun", "-l", "env").stdout.splitlines() if "=" in line)
    told = {name.removeprefix("0: "): value for name, value in told.items()}
    assert told["SLURM_LAUNCH_NODE_IPADDR"] == told["SLURM_SRUN_COMM_HOST"] == "127.0.0.1"
    assert (told["SLURM_JOB_CPUS_PER_NODE"], told["SLURM_LABELIO"]) == ("1", "1")


def variables(text):
    return {line.split("=", 1)[0]: line.split("=", 1)[1] for line in text.splitlines() if "=" in line}


def test_its_options_are_in_the_environment_of_the_tasks(shared):
    told = variables(shared.run("srun", "-n2", "-c2", "--ntasks-per-node=2", "env").stdout)
    assert (told["SLURM_CPUS_PER_TASK"], told["SLURM_TRES_PER_TASK"]) == ("2", "cpu=2")
    assert told["SLURM_NTASKS_PER_NODE"] == "2"
    assert "SLURM_CPUS_PER_TASK" not in variables(shared.run("srun", "env").stdout)


def test_its_options_are_told_rather_than_those_of_its_job(shared):
    told = variables(shared.run("salloc", "-n2", "--ntasks-per-node=2", "srun", "-n1", "-c2", "--ntasks-per-node=1",
                                "env").stdout)
    assert (told["SLURM_CPUS_PER_TASK"], told["SLURM_NTASKS_PER_NODE"]) == ("2", "1")


def test_tasks_have_no_files_open_but_their_own(cluster):
    """Not even one that slurmd was started with."""
    cluster.kill("n1", signal.SIGTERM)
    cluster.under["n1"] = ["sh", "-c", 'exec "$@" 7<>/dev/null', "sh"]
    cluster.start_node("n1")
    look = "for fd in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do [ ! -h /proc/$$/fd/$fd ] || echo open $fd; done"
    # A second shell, since the one of the script has the script open.
    assert cluster.run_job(f"exec sh -c '{look}'", "-w", "n1")[1] == ""
    assert cluster.run("srun", "-w", "n1", "sh", "-c", look).stdout == ""


def test_a_step_with_more_memory_than_its_job_is_refused(shared):
    for option in ("--mem=900G", "--mem-per-cpu=5000"):
        result = shared.run("salloc", "-n1", "--mem=1000", "srun", option, "hostname", check=False)
        assert result.returncode == 1 and result.stdout == ""
        assert re.search(r"srun: error: Unable to create step for job \d+: Memory required by task is not available\n",
                         result.stderr)


def test_steps_hold_the_memory_they_ask_for(shared, tmp_path):
    """A step of 700 of 1000 MB runs until it is let go; who comes meanwhile has the rest, or all without holding it."""
    goes = "srun -n1 --exact {} true 2>>errors && echo {}\n"
    script = (f"cd {tmp_path}; srun -n1 --exact --mem=700 sh -c 'touch there; until [ -e go ]; do sleep 0.1; done' &\n"
              "until [ -e there ]; do sleep 0.1; done\n"
              + goes.format("--mem=400 --immediate", "--mem=400")
              + "".join(goes.format(option, option) for option in ("--mem=300", "--mem=0", "--overlap"))
              + "touch go; wait\n" + goes.format("--mem=400", "later"))
    _, output = shared.run_job(script, "-n2", "-N1", "--mem=1000")
    assert output.splitlines() == ["--mem=300", "--mem=0", "--overlap", "later"]
    assert "Requested nodes are busy" in (tmp_path / "errors").read_text()


def test_a_node_too_small_for_a_task_is_left_out(cluster):
    result = cluster.run("salloc", "-N2", "-n5", "srun", "-n2", "-c2", "sh", "-c", "echo $SLURMD_NODENAME")
    assert result.stdout == "n1\nn1\n"


def test_steps_are_numbered(shared):
    _, output = shared.run_job("for i in 1 2 3; do srun sh -c 'echo $SLURM_STEP_ID'; done")
    assert output.split() == ["0", "1", "2"]


def test_label_puts_the_task_before_each_line(shared):
    result = shared.run("srun", "-n3", "-l", "sh", "-c", "echo line; echo more")
    assert sorted(result.stdout.splitlines()) == sorted(
        f"{task}: {word}" for task in range(3) for word in ("line", "more"))


def test_input_reaches_the_tasks(shared):
    result = shared.run("srun", "-n2", "wc", "-l", input="one\ntwo\nthree\n")
    assert result.stdout.split() == ["3", "3"]


def test_standard_error_stays_apart(shared):
    result = shared.run("srun", "sh", "-c", "echo out; echo err >&2")
    assert result.stdout == "out\n" and "err\n" in result.stderr


def test_much_output_arrives_whole_and_in_order(shared):
    result = shared.run("srun", "-N2", "-n2", "-l", "seq", "100000")
    for task in "01":
        numbers = [line.split()[1] for line in result.stdout.splitlines() if line[0] == task]
        assert numbers == [str(i) for i in range(1, 100001)]


@pytest.mark.parametrize("body, code", [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_exit_code(shared, body, code):
    result = shared.run("srun", "sh", "-c", body, check=False)
    assert result.returncode == code
    if body.startswith("exit"):
        assert "task 0: Exited with exit code 7" in result.stderr
    if body.startswith("kill"):
        assert "task 0: Killed" in result.stderr


@pytest.mark.parametrize("body, state, reason, code", [
    ("exit 7", "FAILED", "NonZeroExitCode", "7:0"), ("kill -9 $$", "FAILED", "RaisedSignal", "0:9"),
    ("exit $SLURM_PROCID", "FAILED", "NonZeroExitCode", "1:0"), ("true", "COMPLETED", "None", "0:0")])
def test_its_own_job_ends_as_the_tasks_do(shared, body, state, reason, code):
    result = shared.run("srun", "-n2", "sh", "-c", f"echo $SLURM_JOB_ID; {body}", check=False)
    record = shared.wait_end(result.stdout.split()[0])
    assert (record["JobState"], record["ExitCode"]) == (state, code)
    assert record["Reason"].startswith(reason)


def test_its_own_job_stays_cancelled(shared):
    step = shared.popen("srun", "-J", "own", "sleep", "1000")
    job = shared.wait_for(lambda: shared.run("squeue", "-h", "-t", "R", "-n", "own", "-o", "%A")
                          .stdout.strip(), what="its job")
    shared.run("scancel", job)
    step.communicate(timeout=30)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_what_cannot_fit_the_job_does_not_wait(shared):
    _, output = shared.run_job("srun --ntasks-per-node=1 echo task\nsrun -n2 -c3 echo wide",
                               "-N2", "-n5")
    assert output.count("task\n") == 5 and "wide\n" not in output
    assert ("srun: warning: can't honor --ntasks-per-node set to 1 which doesn't match the requested "
            "tasks 5 with the number of requested nodes 2. Ignoring --ntasks-per-node.\n") in output
    assert "Unable to create step for job" in output
    assert "More processors requested than permitted" in output


@pytest.mark.parametrize("option", ["--immediate", "--immediate=1"])
def test_immediate_gives_up_a_step(shared, option):
    job = shared.submit("srun sleep 1000", "-n1")
    shared.wait_for(lambda: f"{job}.0" in shared.run("squeue", "-h", "-s", "-o", "%i").stdout,
                    what="the step")
    result = shared.run("srun", f"--jobid={job}", option, "true", check=False)
    assert result.returncode == 1
    assert f"srun: error: Unable to create step for job {job}: Requested nodes are busy\n" \
        in result.stderr
    shared.run("scancel", job)
    shared.wait_end(job)


def test_the_highest_exit_code_of_all_tasks(shared):
    assert shared.run("srun", "-n4", "-N2", "sh", "-c", "exit $SLURM_PROCID",
                      check=False).returncode == 3


def test_a_program_that_is_not_there(shared):
    result = shared.run("srun", "no-such-program", check=False)
    assert result.returncode == 2
    assert "execve(): no-such-program: No such file or directory" in result.stderr


def test_a_program_that_is_not_found_without_path(shared):
    tool = shared.dir / "work" / "bin" / "mytool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    path = f"{tool.parent}:{shared.environment()['PATH']}"
    assert shared.run("srun", "mytool", env={"PATH": path}).stdout == "found\n"
    result = shared.run("srun", "--export=lr=1e-4", "mytool", check=False, env={"PATH": path})
    assert result.returncode == 2
    assert "execve(): mytool: No such file or directory" in result.stderr
    assert "srun: mytool was looked for without PATH, which --export=lr=1e-4" in result.stderr
    # The variable of a batch script that was submitted so.
    record, output = shared.run_job(f"PATH={path}; export PATH; srun mytool", "--export=lr=1e-4")
    assert "looked for without PATH" in output
    assert "PATH" not in shared.run("srun", "no-such-program", check=False).stderr


def test_kill_on_bad_exit(shared):
    result = shared.run("srun", "-n2", "-K", "sh", "-c",
                        "[ $SLURM_PROCID = 0 ] && exit 5; sleep 1000", check=False)
    assert result.returncode != 0


def count_of(line, text):
    return len(re.findall(f"^{line}$", text, re.MULTILINE))


def cancelled(step, cause):
    return rf"\[\S+\] error: \*\*\* STEP {step} ON n1 CANCELLED AT \S+ {cause} \*\*\*"


@pytest.mark.parametrize("how, is_told", [(["{}"], True), (["{}.0"], True), (["-s", "TERM", "{}.0"], False)])
def test_what_it_says_when_its_step_is_cancelled(shared, how, is_told):
    step = shared.popen("srun", "-w", "n1,n2", "-n2", "sh", "-c", "echo $SLURM_JOB_ID; exec sleep 1000")
    job = {step.stdout.readline().strip() for _ in range(2)}.pop()
    shared.run("scancel", *(word.format(job) for word in how))
    said = step.communicate(timeout=30)[1]
    assert step.returncode == 143
    assert count_of(cancelled(f"{job}.0", "DUE to SIGNAL Terminated"), said) == 1, said
    assert said.count("*** STEP") == 1
    for node, task in (("n1", 0), ("n2", 1)):
        assert count_of(f"srun: error: {node}: task {task}: Terminated", said) == 1, said
    # Who is not told that the step is ended finds out from its tasks.
    aborted = "srun: Job step aborted: Waiting up to 4 seconds for job step to finish."
    assert count_of(aborted, said) == is_told, said
    assert count_of(f"srun: Force Terminated StepId={job}.0", said) == (not is_told), said
    shared.wait_for(lambda: shared.job(job, "-d")["DerivedExitCode"] == "0:15", what="the step's exit")


def test_of_a_task_that_fails_one_node_speaks_for_all(shared):
    body = ("touch up.$SLURM_PROCID; [ $SLURM_PROCID = 1 ] || exec sleep 1000\n"
            "until [ -e up.0 ] && [ -e up.2 ]; do sleep 0.05; done; exit 5")
    result = shared.run("srun", "-K", "-w", "n1,n2", "-n4", "-m", "cyclic", "sh", "-c", body, check=False)
    assert result.returncode == 143
    assert count_of(cancelled(r"\d+\.0", "DUE TO TASK FAILURE"), result.stderr) == 1, result.stderr
    assert result.stderr.count("*** STEP") == 1
    assert count_of(r"srun: Terminating StepId=\d+\.0", result.stderr) == 1
    assert count_of(r"srun: Force Terminated StepId=\d+\.0", result.stderr) == 1


def test_quiet_leaves_the_errors(shared):
    result = shared.run("srun", "-Q", "sh", "-c", "kill -TERM $$", check=False)
    assert re.fullmatch(r"srun: error: n\d: task 0: Terminated\n", result.stderr)


def test_inside_a_cancelled_script_it_says_the_same(shared):
    job = shared.submit("srun sh -c 'echo up; exec sleep 1000'", "-N2", "-n2", "-w", "n1,n2")
    shared.wait_for(lambda: shared.wait_file(f"slurm-{job}.out").count("up\n") == 2, what="the tasks")
    shared.run("scancel", job)
    shared.wait_for(lambda: "n2: task 1: Terminated" in shared.output(job), what="srun's last words")
    said = shared.output(job)
    assert count_of("srun: Job step aborted: Waiting up to 4 seconds for job step to finish.", said) == 1
    assert count_of(cancelled(f"{job}.0", "DUE to SIGNAL Terminated"), said) == 1, said
    assert said.count("*** STEP") == 1


def test_interrupt_twice_ends_the_tasks(shared):
    step = shared.popen("srun", "sh", "-c", "echo up; exec sleep 1000", start_new_session=True)
    assert step.stdout.readline() == "up\n"
    step.send_signal(signal.SIGINT)
    line = step.stderr.readline()
    while "interrupt" not in line:
        assert line, "srun said nothing about the interrupt"
        line = step.stderr.readline()
    assert "srun: interrupt (one more within 1 sec to abort)" in line
    step.send_signal(signal.SIGINT)
    _, rest = step.communicate(timeout=30)
    assert step.returncode != 0
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-t", "R,CG").stdout, what="its end")


def test_when_srun_is_killed_its_tasks_end(shared):
    step = shared.popen("srun", "sh", "-c", "echo $$; exec sleep 1000")
    pid = int(step.stdout.readline())
    step.kill()
    step.communicate()
    shared.wait_for(lambda: pid not in shared.processes(), what="the end of the task")


def test_when_srun_is_killed_its_own_job_is_cancelled(shared):
    step = shared.popen("srun", "-N2", "sh", "-c", "trap 'exit 3' TERM; echo $SLURM_JOB_ID; sleep 1000 & wait")
    job = step.stdout.readline().strip()
    assert step.stdout.readline().strip() == job
    step.kill()
    step.communicate()
    record = shared.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("CANCELLED", "0:0")


def test_output_that_nobody_reads_is_dropped(shared):
    for code in (0, 5):
        result = shared.run("bash", "-c", f"srun sh -c 'echo one; seq 1 300000; exit {code}' | head -n 1; "
                                          "echo ${PIPESTATUS[@]}")
        assert result.stdout == f"one\n{code} 0\n"
        assert "Killed" not in result.stderr and "CANCELLED" not in result.stderr


def test_messages_that_nobody_reads_leave_no_step_behind(shared):
    """A pipe that is closed before the step is launched: the next step starts at once."""
    body = "for i in 1 2 3; do srun -v true 2>&1 | head -1; done; srun -I echo next"
    _, output = shared.run_job(body, "-w", "n1", "-n1")
    assert output.splitlines() == ["srun: defined options"] * 3 + ["next"]


def test_a_step_waits_for_the_one_before(shared):
    _, output = shared.run_job("srun -n1 -c1 --exact sh -c 'sleep 0.3; echo one' & sleep 0.1\n"
                               "srun -n1 -c1 --exact echo two; wait", "-n1")
    assert [line for line in output.splitlines() if "srun" not in line] == ["one", "two"]


def test_two_steps_at_once(shared):
    body = ("srun -n1 --exact sh -c 'touch a; while [ ! -e b ]; do sleep 0.05; done' &\n"
            "srun -n1 --exact sh -c 'touch b; while [ ! -e a ]; do sleep 0.05; done' & wait\n")
    assert shared.run_job(body, "-n2")[0]["JobState"] == "COMPLETED"


def test_output_to_files_per_task(shared):
    shared.run("srun", "-n2", "-o", "task-%t.txt", "sh", "-c", "echo $SLURM_PROCID")
    for task in ("0", "1"):
        assert (shared.dir / "work" / f"task-{task}.txt").read_text() == f"{task}\n"


def test_a_terminal_of_its_own(shared):
    ours, theirs = pty.openpty()
    step = shared.popen("srun", "--pty", "sh", "-c", "test -t 0 && test -t 1 && echo a $((20+2)) tty",
                        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen = b""
    while b"a 22 tty" not in seen:
        seen += os.read(ours, 1000)
    assert step.wait(timeout=30) == 0
    os.close(ours)


@pytest.mark.parametrize("words, text, expected", [
    (["bash"], "echo a $((20+2))\n", "a 22"),  # it changes the mode of the terminal before it reads
    (["bash"], "echo a $((20+2))\necho b $((20+3))\n", "b 23"),
    (["bash"], "", ""),
    (["sh", "-c", "cat; echo ended"], "no newline", "ended"),
])
def test_a_terminal_whose_input_is_no_terminal_ends_with_it(shared, words, text, expected):
    done = shared.run("srun", "--pty", *words, input=text)
    assert done.returncode == 0 and expected in done.stdout


def test_scancel_of_a_step_leaves_the_job(shared):
    job = shared.submit("srun sleep 1000; echo after")
    shared.wait_for(lambda: f"{job}.0" in shared.run("squeue", "-h", "-s", "-o", "%i").stdout,
                    what="the step")
    shared.run("scancel", f"{job}.0")
    shared.wait_end(job)
    assert "after" in shared.output(job)


def test_cancelled_while_it_waits_for_resources(cluster):
    whole = cluster.submit("sleep 1000", "-N2", "--exclusive")
    cluster.wait_state(whole, "RUNNING")
    step = cluster.popen("srun", "-J", "waiting", "true")
    cluster.wait_for(lambda: cluster.run("squeue", "-h", "-n", "waiting").stdout, what="its job")
    step.send_signal(signal.SIGINT)
    step.communicate(timeout=30)
    assert step.returncode != 0
    cluster.wait_for(lambda: not cluster.run("squeue", "-h", "-n", "waiting").stdout,
                     what="the end of its job")


# What keeps a job besides others' jobs is said before the line that it waits.
@pytest.mark.parametrize("options, line", [
    (["-t", "99999"], "Requested partition configuration not available now"),
    (["-N2"], "Requested partition configuration not available now"),
    (["--hold"], "Job is in held state, pending scheduler release"),
], ids=["time", "nodes", "held"])
@pytest.mark.parametrize("tool", ["srun", "salloc"])
def test_it_says_what_it_waits_for_when_no_other_jobs_end_will_do(cluster, tool, options, line):
    cluster.run("scontrol", "update", "PartitionName=debug", "MaxTime=60", "MaxNodes=1")
    step = cluster.popen(tool, *options, "true")
    assert step.stderr.readline() == f"{tool}: {line}\n"
    rest = "".join(step.stderr.readline() for _ in range(2 if tool == "salloc" else 1))
    assert "queued and waiting for resources" in rest
    step.send_signal(signal.SIGINT)
    step.communicate(timeout=30)


def test_it_says_that_its_partition_is_down(cluster):
    cluster.run("scontrol", "update", "PartitionName=debug", "State=DOWN")
    step = cluster.popen("srun", "true")
    assert step.stderr.readline() == "srun: Partition in DOWN state\n"
    assert "queued and waiting for resources" in step.stderr.readline()
    cluster.run("scontrol", "update", "PartitionName=debug", "State=UP")
    step.communicate(timeout=60)
    assert step.returncode == 0


def test_it_waits_for_its_job_while_the_controller_is_away(make_cluster):
    cluster = make_cluster(nodes=1, extra="MessageTimeout=3")
    whole = cluster.submit("sleep 1000", "--exclusive")
    cluster.wait_state(whole, "RUNNING")
    step = cluster.popen("srun", "echo", "ran")
    assert "queued and waiting for resources" in step.stderr.readline()
    cluster.kill("slurmctld")
    with pytest.raises(subprocess.TimeoutExpired):
        step.wait(timeout=8)
    cluster.start_controller()
    cluster.run("scancel", whole)
    output, said = step.communicate(timeout=60)
    assert (step.returncode, output) == (0, "ran\n")
    assert "has been allocated resources" in said and "queued and waiting" not in said


def test_it_can_be_interrupted_while_the_controller_is_away(make_cluster):
    cluster = make_cluster(nodes=1, extra="MessageTimeout=3")
    whole = cluster.submit("sleep 1000", "--exclusive")
    cluster.wait_state(whole, "RUNNING")
    step = cluster.popen("srun", "true")
    assert "queued and waiting for resources" in step.stderr.readline()
    cluster.kill("slurmctld")
    step.send_signal(signal.SIGINT)
    _, said = step.communicate(timeout=60)
    assert step.returncode == 128 + signal.SIGINT and "has been revoked" in said
    cluster.start_controller()


def test_its_own_job_ends_though_it_ended_while_the_controller_was_away(make_cluster):
    cluster = make_cluster(nodes=1, extra="MessageTimeout=3")
    step = cluster.popen("srun", "sh", "-c",
                         "echo $SLURM_JOB_ID; while [ ! -e go ]; do sleep 0.05; done; exit 5")
    job = step.stdout.readline().strip()
    cluster.kill("slurmctld")
    (cluster.dir / "work" / "go").touch()
    step.communicate(timeout=60)
    assert step.returncode == 5
    cluster.start_controller()
    record = cluster.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "5:0")
