"""Options of steps: where their tasks run, what each of them runs, how long they may."""

import re
import signal

import pytest


def lines(result):
    return sorted(result.stdout.splitlines())


def counts(text):
    found = {}
    for line in text.splitlines():
        found[line] = found.get(line, 0) + 1
    return found


SHOW = 'echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_NODEID'


# ---- --overcommit

def test_overcommit_runs_more_tasks_than_cpus(shared):
    result = shared.run("srun", "-w", "n1", "-n", "50", "-O", "sh", "-c",
                        "echo $SLURM_CPUS_ON_NODE $SLURM_TASKS_PER_NODE $SLURM_OVERCOMMIT")
    assert counts(result.stdout) == {"1 50 1": 50}


def test_overcommit_of_a_job_is_inherited_by_its_steps(shared):
    record, output = shared.run_job("env | grep -E '^SLURM_(OVERCOMMIT|TASKS_PER_NODE|JOB_CPUS_PER_NODE)=' | sort\n"
                                    "srun sh -c 'echo $SLURMD_NODENAME'", "-w", "n[1-2]", "-n", "10", "-c", "2", "-O")
    assert output.splitlines()[:3] == ["SLURM_JOB_CPUS_PER_NODE=2(x2)", "SLURM_OVERCOMMIT=1", "SLURM_TASKS_PER_NODE=5(x2)"]
    assert counts("\n".join(output.splitlines()[3:])) == {"n1": 5, "n2": 5}
    assert (record["NumCPUs"], record["NumTasks"], record["NumNodes"]) == ("4", "10", "2")


def test_without_overcommit_it_is_refused(shared):
    result = shared.run("salloc", "-w", "n1", "-n2", "srun", "-n3", "true", check=False)
    assert "srun: error: Unable to create step for job" in result.stderr
    assert "More processors requested than permitted" in result.stderr
    assert shared.run("salloc", "-w", "n1", "-n2", "srun", "-n3", "-O", "true").returncode == 0
    result = shared.run("srun", "-w", "n1", "-n", "513", "-O", "true", check=False)
    assert result.returncode == 1


# ---- --relative, --nodelist, --exclude, -N

@pytest.mark.parametrize("options, nodes", [
    ("-r 1 -N1 -n1", ["n2"]), ("-r 1 -N2 -n2", ["n2", "n3"]), ("-r 2 -N1 -n1", ["n3"]),
    ("-w n2 -n1 -N1", ["n2"]), ("-x n1 -n2 -N2", ["n2", "n3"]), ("-w n3 -N2 -n2", ["n1", "n3"])])
def test_a_step_uses_the_nodes_it_names(shared, options, nodes):
    result = shared.run("salloc", "-w", "n[1-3]", "-N3", "srun", *options.split(), "sh", "-c", "echo $SLURMD_NODENAME")
    assert lines(result) == nodes


@pytest.mark.parametrize("options, text", [
    ("-r 2 -N2 -n2", "--relative and --nodes option incompatible with count of allocated nodes (2+2>3)"),
    ("-r 1", "--relative and SLURM_JOB_NUM_NODES option incompatible with count of allocated nodes (1+3>3)"),
    ("-r 1 -N1 -n1 -w n1", "-r,--relative not allowed with -w,--nodelist or -x,--exclude."),
    ("-r x", 'Invalid numeric value "x" for --relative.'),
    ("-N4", "Only allocated 3 nodes asked for 4"),
    ("-x n1", "Only allocated 2 nodes asked for 3\nsrun: error: Are required nodes explicitly excluded?"),
    ("-N1 -n1 -w n1 -x n1", "Requested node n1 is also in the excluded list.\nsrun: error: Job not submitted."),
    ("-N1 -n1 -x n[1-3]", "Hostlist is empty!  Can't run job."),
    ("-N1 -n1 -w n9", "Requested node configuration is not available"),
    ("-m plane", "Invalid plane size or size not specified\nsrun: error: Invalid --distribution specification"),
    ("-m arbitrary -n4", "You asked for 4 tasks but hostlist specified 0 nodes"),
])
def test_nodes_that_the_job_does_not_have(shared, options, text):
    result = shared.run("salloc", "-w", "n[1-3]", "-N3", "srun", *options.split(), "true", check=False)
    assert text in result.stderr and result.returncode != 0


def test_a_list_that_is_longer_than_the_step_is_cut(shared):
    result = shared.run("salloc", "-w", "n[1-2]", "-N2", "srun", "-N1", "-n1", "-w", "n2,n1", "sh", "-c", SHOW)
    assert result.stdout == "0 n2 0\n"
    assert ("srun: error: Required nodelist includes more nodes than permitted by max-node count (2 > 1). "
            "Eliminating nodes from the nodelist.\n") in result.stderr


# ---- --distribution

@pytest.mark.parametrize("distribution, tasks, told", [
    ("block", ["0 n1 0", "1 n1 0", "2 n1 0", "3 n1 0", "4 n2 1", "5 n2 1"], "block  4,2"),
    ("cyclic", ["0 n1 0", "1 n2 1", "2 n1 0", "3 n2 1", "4 n1 0", "5 n2 1"], "cyclic  3(x2)"),
    ("plane=2", ["0 n1 0", "1 n1 0", "2 n2 1", "3 n2 1", "4 n1 0", "5 n1 0"], "plane 2 4,2"),
    ("cyclic:fcyclic,NoPack", ["0 n1 0", "1 n2 1", "2 n1 0", "3 n2 1", "4 n1 0", "5 n2 1"],
     "cyclic:fcyclic,nopack  3(x2)"),
])
def test_tasks_are_laid_out_by_the_distribution(shared, distribution, tasks, told):
    _, output = shared.run_job(f"srun -n6 -m {distribution} sh -c '{SHOW}' | sort\n"
                               f"srun -n6 -m {distribution} sh -c "
                               "'echo $SLURM_DISTRIBUTION \"$SLURM_DIST_PLANESIZE\" $SLURM_TASKS_PER_NODE' | sort -u",
                               "-w", "n[1-2]", "-N2", "-n8")
    assert output.splitlines() == [*tasks, told]


def test_a_job_hands_its_distribution_on(shared):
    _, output = shared.run_job(f"srun sh -c '{SHOW}' | sort", "-w", "n[1-2]", "-N2", "-n6", "-m", "plane=3")
    assert output.splitlines() == ["0 n1 0", "1 n1 0", "2 n1 0", "3 n2 1", "4 n2 1", "5 n1 0"]


@pytest.mark.parametrize("in_job", [True, False])
def test_an_arbitrary_distribution_names_the_node_of_each_task(shared, tmp_path, in_job):
    hosts = tmp_path / "hosts"
    hosts.write_text("n3\nn1\nn3\n")
    before = ["salloc", "-w", "n[1-3]", "-N3", "--ntasks-per-node=2"] if in_job else []
    expected = ["0 n3 1", "1 n1 0", "2 n3 1"]
    result = shared.run(*before, "srun", "-m", "arbitrary", "-w", "n3,n1,n3", "sh", "-c", SHOW)
    assert lines(result) == expected
    result = shared.run(*before, "srun", "-m", "arbitrary", "sh", "-c", SHOW, env={"SLURM_HOSTFILE": str(hosts)})
    assert lines(result) == expected
    result = shared.run(*before, "srun", "-n4", "true", env={"SLURM_HOSTFILE": str(hosts)}, check=False)
    assert result.stderr.endswith("srun: error: Too few NodeNames in Slurm Hostfile\n"
                                  "srun: error: Failure getting NodeNames from hostfile\n") or in_job


# ---- --multi-prog

def test_each_task_runs_its_own_program(shared, tmp_path):
    programs = tmp_path / "programs"
    programs.write_text("# comment\n0-1,3  echo first %t %o\n*  sh -c 'echo rest $SLURM_PROCID'\n")
    result = shared.run("srun", "-N2", "-n5", "-l", "--multi-prog", str(programs))
    assert lines(result) == ["0: first 0 0", "1: first 1 1", "2: rest 2", "3: first 3 2", "4: rest 4"]
    programs.write_text("0 echo a\n2 echo c\n")
    result = shared.run("srun", "-n3", "--multi-prog", str(programs), check=False)
    assert (result.returncode, result.stderr) == \
        (1, f"srun: error: Configuration file {programs} invalid, no record for task id 1\n")


# ---- time limits of steps

def test_the_time_limit_of_a_step_ends_it(shared):
    job = shared.submit("srun -J limited -n1 -t 5 sleep 1000; echo code $?; sleep 1000", "-n2")
    shared.wait_for(lambda: "limited" in shared.run("squeue", "-h", "-s", "-j", job).stdout, what="the step")
    assert "TimeLimit=00:05:00" in shared.run("scontrol", "show", "step", f"{job}.0").stdout
    assert "limited 5:00" in shared.run("squeue", "-h", "-s", "-j", job, "-o", "%j %l").stdout.splitlines()
    shared.run("scontrol", "update", f"StepId={job}.0", "TimeLimit=00:00:01")
    assert "TimeLimit=00:01:00" in shared.run("scontrol", "show", "step", f"{job}.0").stdout
    refused = "Update of this parameter is not supported: Comment=3\nRequest aborted\n"
    for words, text in (([f"StepId={job}.9", "TimeLimit=3"], "slurm_update error: Invalid job id specified\n"),
                        ([f"StepId={job}.0", "Comment=3"], refused),
                        ([f"StepId={job}.0", "TimeLimit=xx"], "Invalid TimeLimit value")):
        result = shared.run("scontrol", "update", *words, check=False)
        assert result.returncode == 1 and text in result.stderr
    shared.run("scancel", job)


# ---- other options

def test_ignored_signals_are_not_passed_on(shared):
    step = shared.popen("srun", "--ignore-signals=USR1,TERM", "sh", "-c",
                        "trap 'echo usr2' USR2; trap 'echo wrong' USR1 TERM; echo ready; "
                        "for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done", stdout=-1, text=True)
    assert step.stdout.readline() == "ready\n"
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGUSR2):
        step.send_signal(number)
    assert step.communicate(timeout=30)[0] == "usr2\n"
    assert step.returncode == 0


def test_verbose_says_what_becomes_of_the_tasks(shared):
    result = shared.run("salloc", "-w", "n1", "-n2", "srun", "-v", "-n2", "sh", "-c", "exit $SLURM_PROCID", check=False)
    said = result.stderr
    job = re.search(r"job allocation (\d+)", said).group(1)
    for line in ("defined options", "ntasks              : 2", f"jobid {job}: nodes(1):`n1', cpu counts: 2(x1)",
                 f"launching StepId={job}.0 on host n1, 2 tasks: [0-1]", "Node n1, 2 tasks started",
                 f"Received task exit notification for 1 task of StepId={job}.0 (status=0x0000).",
                 "n1: task 0: Completed", f"Received task exit notification for 1 task of StepId={job}.0 (status=0x0100).",
                 "error: n1: task 1: Exited with exit code 1"):
        assert f"srun: {line}\n" in said
    assert "srun: launching" not in shared.run("srun", "-w", "n1", "true").stderr


def test_what_is_not_built_is_refused_by_name(shared):
    for option in ("--bb=x", "--network=x", "--no-allocate"):
        result = shared.run("srun", option, "true", check=False)
        assert f"{option.split('=')[0]} is not supported by Sluice" in result.stderr and result.returncode == 1
    result = shared.run("srun", "--async", "true", check=False)
    assert result.stderr == ("srun: error: --async is only valid for steps submitted within an existing job "
                             "allocation.\n") and result.returncode == 1
    result = shared.run("sbatch", "--requeue=expedite", "--wrap", "true", check=False)
    assert "Requested operation not supported on this system" in result.stderr and result.returncode == 1


# ---- many steps

def test_many_steps_at_once_and_one_after_another(shared):
    _, output = shared.run_job("for i in $(seq 40); do srun -n1 -c1 --exact -Q echo $i & done; wait", "-w", "n1", "-n4",
                               timeout=120)
    assert sorted(map(int, output.split())) == list(range(1, 41))


def test_a_launcher_has_all_cpus_of_the_job(shared):
    """mpirun starts its daemons with --external-launcher, also where -c gives each task its own CPUs."""
    for tasks, cpus in (("4", "1"), ("2", "2")):
        step = "-n1 sh -c 'echo $SLURM_CPUS_ON_NODE'"
        _, output = shared.run_job(f"srun --external-launcher {step}; srun {step}", "-N1", "-n", tasks, "-c", cpus)
        assert output.split() == ["4", cpus]
