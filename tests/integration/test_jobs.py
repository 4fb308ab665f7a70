"""A batch job from sbatch to its end: output, exit codes, environment, arguments."""

import os
import re

import pytest


def test_all_cpus_are_slots_where_nobody_says_how_many_tasks(shared):
    _, output = shared.run_job("echo $SLURM_TASKS_PER_NODE $SLURM_JOB_CPUS_PER_NODE", "--exclusive")
    slots, cpus = output.split()
    assert slots == cpus != "1"
    _, output = shared.run_job("echo $SLURM_TASKS_PER_NODE", "--exclusive", "-n1")
    assert output == "1\n"


def test_sbatch_says_the_job_id_and_the_output_is_there(shared):
    said = shared.run("sbatch", "--wrap", "echo hello; echo oops >&2").stdout
    job = re.fullmatch(r"Submitted batch job (\d+)\n", said).group(1)
    record = shared.wait_end(job)
    assert record["JobState"] == "COMPLETED" and record["ExitCode"] == "0:0"
    assert shared.output(job) == "hello\noops\n"


def test_the_script_may_come_from_standard_input(shared):
    script = "#!/bin/sh\n#SBATCH -o from_input.out\necho from standard input\n"
    shared.run("sbatch", "--wait", input=script)
    assert (shared.dir / "work/from_input.out").read_text() == "from standard input\n"


@pytest.mark.parametrize("body, exit_code", [
    ("exit 3", "3:0"), ("exit 143", "143:0"), ("kill -9 $$", "0:9"), ("false", "1:0")])
def test_a_failing_script_is_recorded_with_its_code(shared, body, exit_code):
    record, _ = shared.run_job(body)
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", exit_code)


def test_the_log_tells_the_life_of_a_job_and_of_a_node(cluster):
    log = cluster.dir / "log" / "slurmctld.log"

    def logged(line):
        cluster.wait_for(lambda: line in log.read_text(), what=line)

    logged("Node n1 now responding")
    job = cluster.submit("exit 3", "-w", "n1")
    for line in ("submit_batch_job: JobId={} InitPrio=", "sched: Allocate JobId={} NodeList=n1 #CPUs=1 Partition=debug",
                 "job_complete: JobId={} WEXITSTATUS 3", "job_complete: JobId={} done"):
        logged(line.format(job))
    waiting = cluster.submit("true", "--hold")
    cluster.run("scancel", waiting)
    logged(f"kill_job: REQUEST_KILL_JOB JobId={waiting} uid {os.getuid()}")
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=fan")
    logged("update_node: node n1 reason set to: fan")
    logged("update_node: node n1 state set to DRAINED")
    assert re.search(r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\] sched: Allocate ", log.read_text(), re.M)


def test_a_running_job_is_listed_and_then_leaves_the_queue(shared):
    job = shared.submit("while [ ! -e go-on ]; do sleep 0.05; done", "-J", "listed", "-n", "2")
    shared.wait_state(job, "RUNNING")
    line = shared.run("squeue", "-h", "-j", job, "-o", "%i %P %j %t %C %D").stdout
    assert line == f"{job} debug listed R 2 1\n"
    (shared.dir / "work" / "go-on").touch()
    shared.wait_end(job)
    assert shared.run("squeue", "-h", "-j", job).stdout == ""


EXPECTED = {
    "SLURM_JOB_ID": "{job}", "SLURM_JOBID": "{job}", "SLURM_JOB_NAME": "env",
    "SLURM_JOB_PARTITION": "debug", "SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2",
    "SLURM_NTASKS": "4", "SLURM_NPROCS": "4", "SLURM_CPUS_PER_TASK": "2",
    "SLURM_JOB_CPUS_PER_NODE": "4(x2)", "SLURM_TASKS_PER_NODE": "2(x2)", "SLURM_CPUS_ON_NODE": "4",
    "SLURM_NTASKS_PER_NODE": "2", "SLURM_CLUSTER_NAME": "test", "SLURM_NODEID": "0",
    "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_GTIDS": "0", "ENVIRONMENT": "BATCH",
    "SLURM_MEM_PER_NODE": "200", "KEPT": "from the caller", "SLURM_SUBMIT_DIR": "{work}",
}


def test_the_script_finds_the_environment_that_slurm_users_know(shared):
    job = shared.submit("env", "-J", "env", "-N2", "-n4", "-c2", "--ntasks-per-node=2",
                        "--mem=200", env={"KEPT": "from the caller"})
    record = shared.wait_end(job)
    found = dict(line.split("=", 1) for line in shared.output(job).splitlines() if "=" in line)
    wanted = {key: value.format(job=job, work=shared.dir / "work")
              for key, value in EXPECTED.items()}
    assert {key: found.get(key) for key in wanted} == wanted
    assert found["SLURM_JOB_NODELIST"] == record["NodeList"]
    assert found["SLURMD_NODENAME"] == record["BatchHost"]


@pytest.mark.parametrize("options, memory", [
    ([], "cpu=100 node="), (["--mem=300"], "cpu= node=300"), (["--mem=0"], "cpu= node="),
    (["--mem-per-cpu=50"], "cpu=50 node=")])
def test_memory_is_told_also_where_it_is_a_default(shared, options, memory):
    _, output = shared.run_job("echo cpu=$SLURM_MEM_PER_CPU node=$SLURM_MEM_PER_NODE", *options)
    assert output.strip() == memory


def test_arguments_reach_the_script(shared):
    script = shared.dir / "work" / "args.sh"
    script.write_text("#!/bin/sh\nfor word; do echo \"[$word]\"; done\n")
    job = shared.run("sbatch", "--parsable", script, "one", "two words", "").stdout.strip()
    shared.wait_end(job)
    assert shared.output(job) == "[one]\n[two words]\n[]\n"


def test_directives_environment_and_command_line_in_rising_order(shared):
    script = "#!/bin/sh\n#SBATCH -J by-directive -c 2\n#SBATCH --time=7\n: work\n#SBATCH -c 4\n"
    job = shared.submit(script, "--hold", "-J", "by-option", env={"SBATCH_TIMELIMIT": "9"})
    record = shared.job(job)
    shared.run("scancel", job)
    assert record["JobName"] == "by-option"
    assert record["TimeLimit"] == "00:09:00"
    assert record["CPUs/Task"] == "2"


@pytest.mark.parametrize("export, expected", [
    ("ALL", "yes:"), ("NONE", ":"), ("NIL", ":"), ("KEPT", "yes:"), ("NEW=1", ":1"),
    ("ALL,NEW=1", "yes:1")])
def test_export_chooses_what_the_job_inherits(shared, export, expected):
    _, output = shared.run_job('echo "$KEPT:$NEW"', f"--export={export}", env={"KEPT": "yes"})
    assert output.splitlines()[-1] == expected


def test_wait_ends_with_the_jobs_exit_code(shared):
    assert shared.run("sbatch", "--wait", "--wrap", "exit 7", check=False).returncode == 7
    assert shared.run("sbatch", "--wait", "--wrap", "true").returncode == 0


def test_the_script_can_be_read_back(shared):
    job = shared.submit("echo 'as it was'", "--hold")
    assert shared.run("scontrol", "write", "batch_script", job, "-").stdout == \
        "#!/bin/sh\necho 'as it was'\n"
    shared.run("scancel", job)


def test_test_only_submits_nothing(shared):
    before = shared.run("squeue", "-h", "-t", "all", "-o", "%A").stdout.split()
    result = shared.run("sbatch", "--test-only", "--wrap", "true")
    line = re.search(r"sbatch: Job (\d+) to start at \S+ a using 1 processors on nodes n\d "
                     r"in partition debug", result.stderr)
    assert shared.run("squeue", "-h", "-t", "all", "-o", "%A").stdout.split() == before
    job = shared.submit("true")  # the number that was shown is not used up
    assert int(job) == int(line[1])
    shared.wait_end(job)


def test_the_interpreter_line_is_honoured(shared):
    _, output = shared.run_job("#!/usr/bin/python3\nprint(6 * 7)\n")
    assert output == "42\n"


def test_nothing_of_a_job_survives_the_end_of_its_script(shared):
    job = shared.submit("setsid sh -c 'echo $$ >daemon.pid; exec sleep 1000' &\n"
                        "while [ ! -s daemon.pid ]; do sleep 0.05; done")
    assert shared.wait_end(job)["JobState"] == "COMPLETED"
    pid = int((shared.dir / "work" / "daemon.pid").read_text())
    assert pid not in shared.processes()
