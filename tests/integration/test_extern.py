"""PrologFlags: the step "extern", which contains what slurmd does not start, and when the Prolog runs."""

import os
import signal
import socket

import pytest

HOLD = "until [ -e go ]; do sleep 0.1; done"
HOOK = """#!/bin/sh
echo $SLURMD_NODENAME >> {dir}/work/{name}.$SLURM_JOB_ID
while [ -e {dir}/work/{name}.hang.$SLURMD_NODENAME ]; do sleep 0.05; done
[ ! -e {dir}/work/{name}.broken ]
"""


@pytest.fixture
def contained(make_cluster):
    return make_cluster(extra="PrologFlags=Contain")


@pytest.fixture
def hooked(make_cluster):
    """Builds clusters with these flags and a prolog that can hang on a node, or fail."""
    def make(flags, **options):
        cluster = make_cluster(start=False, **options)
        for name in ("prolog", "epilog"):
            path = cluster.dir / name
            path.write_text(HOOK.format(dir=cluster.dir, name=name))
            path.chmod(0o755)
        cluster.extra = f"PrologFlags={flags}\nProlog={cluster.dir}/prolog\nEpilog={cluster.dir}/epilog"
        cluster.write_config()
        return cluster.start()
    return make


def go(cluster):
    (cluster.dir / "work" / "go").touch()


def supervisors(cluster, job):
    """Pids of the slurmstepd of the job's container."""
    return [pid for pid, line in cluster.processes().items() if f"[{job}.extern]" in line]


def running(cluster, job, count):
    return cluster.wait_for(lambda: len(supervisors(cluster, job)) == count and supervisors(cluster, job),
                            what=f"{count} containers of job {job}")


def steps(cluster, job, fields="JobID,State,ExitCode"):
    lines = cluster.run("sacct", "-nP", "-j", job, "-o", fields).stdout.splitlines()
    return [line.split("|") for line in lines]


def cgroups(cluster, job):
    tops = {f"slurm_{node}_{port}{end}" for node, port in zip(cluster.nodes, cluster.ports.numbers[1:])
            for end in ("", ".scope")}
    return [path for path, _, _ in os.walk("/sys/fs/cgroup") if path.endswith(f"/job_{job}") and tops & set(path.split("/"))]


def wait_nothing_left(cluster, job):
    def left():
        spool = list((cluster.dir / "spool").glob(f"*/job{int(job):05}"))
        daemons = {daemon.pid for daemon in cluster.daemons.values()}
        processes = [line for pid, line in cluster.processes().items() if pid not in daemons]
        return [*map(str, spool), *processes, *cgroups(cluster, job)]
    try:
        cluster.wait_for(lambda: not left(), timeout=30, what=f"nothing of job {job} to be left")
    except AssertionError as error:
        raise AssertionError(f"left: {left()}\n{error}") from None


def test_a_job_has_the_steps_batch_extern_and_0(contained):
    job = contained.submit(f"srun -N2 -n2 true; {HOLD}", "-N2")
    running(contained, job, 2)
    shown = contained.run("squeue", "-hs", "-j", job, "-o", "%i %j %N").stdout.split("\n")
    assert f"{job}.extern extern n[1-2]" in shown
    record = contained.run("scontrol", "show", "step", f"{job}.extern").stdout
    assert f"StepId={job}.extern " in record and "State=RUNNING" in record and "NodeList=n[1-2]" in record
    go(contained)
    assert contained.wait_end(job)["JobState"] == "COMPLETED"
    contained.wait_for(lambda: steps(contained, job) == [
        [job, "COMPLETED", "0:0"], [f"{job}.batch", "COMPLETED", "0:0"], [f"{job}.extern", "COMPLETED", "0:0"],
        [f"{job}.0", "COMPLETED", "0:0"]], what="the steps in sacct")
    assert steps(contained, f"{job}.extern", "JobName,NTasks,NNodes,AllocCPUS,Layout,AllocTRES") == [
        ["extern", "2", "2", "2", "Unknown", "billing=2,cpu=2,mem=200M,node=2"]]
    wait_nothing_left(contained, job)


@pytest.mark.parametrize("flags, containers", [("", 0), ("Alloc", 0), ("Contain", 1), ("X11", 1)])
def test_only_contain_and_what_implies_it_have_containers(make_cluster, flags, containers):
    cluster = make_cluster(nodes=1, extra=f"PrologFlags={flags}" if flags else "")
    job = cluster.submit(HOLD)
    cluster.wait_for(lambda: (cluster.dir / "work" / f"slurm-{job}.out").exists(), what="the script")
    running(cluster, job, containers) if containers else None
    assert len(supervisors(cluster, job)) == containers
    go(cluster)
    cluster.wait_end(job)


@pytest.mark.parametrize("how, state", [(["scancel"], "CANCELLED by 0"), (["exit"], "FAILED")])
def test_it_is_completed_however_the_job_ends(contained, how, state):
    job = contained.submit("exit 3" if how == ["exit"] else HOLD)
    if how == ["scancel"]:
        running(contained, job, 1)
        contained.run("scancel", job)
    contained.wait_end(job)
    contained.wait_for(lambda: [line[:2] for line in steps(contained, job)][2:] == [[f"{job}.extern", "COMPLETED"]],
                       what="the container to be completed")
    assert steps(contained, job)[0][1] == state
    wait_nothing_left(contained, job)


def test_jobs_of_salloc_and_srun_have_it_and_end_as_before(contained):
    done = contained.run("salloc", "-N2", "sh", "-c", "srun -N2 true; echo $SLURM_JOB_ID")
    job = done.stdout.strip()
    contained.wait_state(job, "COMPLETED")
    contained.wait_for(lambda: [line[0] for line in steps(contained, job)] == [job, f"{job}.extern", f"{job}.0"],
                       what="the steps in sacct")
    job = contained.run("srun", "sh", "-c", "echo $SLURM_JOB_ID").stdout.strip()
    contained.wait_state(job, "COMPLETED")
    wait_nothing_left(contained, job)


def test_an_srun_that_is_killed_leaves_no_job(contained):
    srun = contained.popen("srun", "sleep", "1000")
    job = contained.wait_for(lambda: contained.run("squeue", "-h", "-t", "R", "-o", "%i").stdout.strip(), what="the job")
    running(contained, job, 1)
    srun.send_signal(signal.SIGKILL)
    srun.wait()
    contained.wait_end(job)
    wait_nothing_left(contained, job)


def test_a_restarted_slurmd_finds_it(contained):
    job = contained.submit(HOLD, "-w", "n1")
    before = running(contained, job, 1)
    contained.kill("n1")
    contained.start_node("n1")
    assert supervisors(contained, job) == before
    contained.kill("slurmctld")
    contained.start_controller()
    go(contained)
    assert contained.wait_end(job)["JobState"] == "COMPLETED"
    contained.wait_for(lambda: [f"{job}.extern", "COMPLETED", "0:0"] in steps(contained, job), what="its end")
    wait_nothing_left(contained, job)


def test_a_job_that_ends_while_slurmd_is_down_leaves_nothing(contained):
    job = contained.submit(HOLD, "-w", "n1")
    running(contained, job, 1)
    contained.kill("n1")
    go(contained)
    contained.start_node("n1", wait=False)
    assert contained.wait_end(job)["JobState"] == "COMPLETED"
    wait_nothing_left(contained, job)


def test_the_loss_of_its_supervisor_is_no_loss_of_the_job(contained):
    job = contained.submit(f"{HOLD}; srun echo went on", "-w", "n1")
    os.kill(running(contained, job, 1)[0], signal.SIGKILL)
    contained.wait_for(lambda: [f"{job}.extern", "FAILED", "0:9"] in steps(contained, job), what="its end")
    go(contained)
    assert contained.wait_end(job)["JobState"] == "COMPLETED"
    assert contained.output(job) == "went on\n"
    assert contained.job(job)["ExitCode"] == "0:0"
    wait_nothing_left(contained, job)


def test_what_cannot_be_is_refused(make_cluster):
    for flags, words in (("NoHold,Contain", "NoHold cannot be combined with Contain or X11"),
                         ("RunInJob", "PrologFlags=RunInJob is not supported"), ("Alocc", "PrologFlags=Alocc: expected")):
        cluster = make_cluster(start=False, extra=f"PrologFlags={flags}")
        cluster.checked = False  # nothing of it runs
        done = cluster.run("slurmctld", "-D", check=False)
        assert done.returncode != 0 and words in done.stderr


# ---- when the Prolog runs

def started(cluster, name, job):
    path = cluster.dir / "work" / f"{name}.{job}"
    return sorted(path.read_text().split()) if path.exists() else []


def test_with_alloc_the_prolog_runs_on_all_nodes_when_they_are_allocated(hooked):
    cluster = hooked("Alloc")
    salloc = cluster.popen("salloc", "-N2", "sh", "-c", "echo $SLURM_JOB_ID; read line")
    job = salloc.stdout.readline().strip()
    assert started(cluster, "prolog", job) == ["n1", "n2"]  # no step has run
    cluster.run("srun", "--jobid", job, "-N2", "true")
    salloc.communicate("\n")
    cluster.wait_state(job, "COMPLETED")
    assert started(cluster, "prolog", job) == ["n1", "n2"]  # once on each
    cluster.wait_for(lambda: started(cluster, "epilog", job) == ["n1", "n2"], what="the epilogs")


def test_without_alloc_the_prolog_runs_before_the_first_step(hooked):
    cluster = hooked("Serial")
    job = cluster.run("salloc", "-N2", "sh", "-c", "echo $SLURM_JOB_ID").stdout.strip()
    cluster.wait_state(job, "COMPLETED")
    assert started(cluster, "prolog", job) == []


@pytest.mark.parametrize("flags, waits", [("Alloc", False), ("Contain", False), ("DeferBatch", True)])
def test_a_batch_script_waits_for_one_node_or_for_all(hooked, flags, waits):
    cluster = hooked(flags)
    hang = cluster.dir / "work" / "prolog.hang.n2"
    hang.touch()
    job = cluster.submit("echo ran", "-N2")
    cluster.wait_for(lambda: started(cluster, "prolog", job) == ["n1", "n2"], what="the prologs")
    if waits:
        assert cluster.run("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "CONFIGURING"
        assert not (cluster.dir / "work" / f"slurm-{job}.out").exists()
    else:
        cluster.wait_file(f"slurm-{job}.out")
    hang.unlink()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert cluster.output(job) == "ran\n"


@pytest.mark.parametrize("flags, waits", [("Alloc", True), ("Alloc,NoHold", False)])
def test_salloc_waits_for_the_prolog_unless_nohold(hooked, flags, waits):
    cluster = hooked(flags)
    hang = cluster.dir / "work" / "prolog.hang.n2"
    hang.touch()
    salloc = cluster.popen("salloc", "-N2", "sh", "-c", "echo $SLURM_JOB_ID; srun -N2 -n2 echo step")
    if waits:
        job = cluster.wait_for(lambda: cluster.run("squeue", "-h", "-o", "%i").stdout.strip(), what="the job")
        cluster.wait_for(lambda: started(cluster, "prolog", job) == ["n1", "n2"], what="the prologs")
        assert cluster.run("squeue", "-h", "-o", "%t").stdout.strip() == "CF"
        hang.unlink()
        assert salloc.stdout.readline().strip() == job
    else:
        job = salloc.stdout.readline().strip()  # though one still runs
        hang.unlink()
    assert salloc.communicate()[0] == "step\nstep\n"
    cluster.wait_state(job, "COMPLETED")


def test_with_serial_one_program_runs_at_a_time(hooked):
    cluster = hooked("Alloc,Serial", nodes=1)
    hang = cluster.dir / "work" / "prolog.hang.n1"
    hang.touch()
    first = cluster.submit("true")
    cluster.wait_for(lambda: started(cluster, "prolog", first), what="the first prolog")
    second = cluster.submit("true")
    cluster.wait_for(lambda: cluster.run("squeue", "-h", "-j", second, "-o", "%T").stdout == "CONFIGURING\n",
                     what="the second job")
    assert started(cluster, "prolog", second) == []
    hang.unlink()
    for job in (first, second):
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"
        assert started(cluster, "prolog", job) == ["n1"]


@pytest.mark.parametrize("flags, states", [("Alloc", {"FAILED"}), ("ForceRequeueOnFail", {"PENDING"})])
def test_a_job_that_must_not_be_requeued_is_so_only_with_force(hooked, flags, states):
    cluster = hooked(flags)
    (cluster.dir / "work" / "prolog.broken").touch()
    job = cluster.submit("echo ran", "-w", "n1", "--no-requeue")
    cluster.wait_state(job, *states)
    cluster.wait_for(lambda: cluster.node_state("n1") == "drain", what="the node to be drained")
    assert not (cluster.dir / "work" / f"slurm-{job}.out").exists()


def test_a_prolog_that_fails_on_one_node_requeues_the_job(hooked):
    cluster = hooked("Contain")
    (cluster.dir / "work" / "prolog.broken").touch()
    job = cluster.submit("echo ran", "-N2")
    cluster.wait_for(lambda: "held" in cluster.run("squeue", "-h", "-j", job, "-o", "%r").stdout, what="the hold")
    wait_nothing_left(cluster, job)


# ---- listpids, notify, --wait-for-children

def test_listpids_shows_the_processes_of_steps_on_a_node(contained):
    job = contained.submit(f"srun -N2 -n2 --overlap sh -c 'echo $SLURM_PROCID $$ > task.$SLURM_PROCID; {HOLD}'", "-N2")
    pids = [contained.wait_file(f"task.{task}").split()[1] for task in range(2)]
    lines = contained.run("scontrol", "listpids", job, "n2").stdout.splitlines()
    assert lines[0].split() == ["PID", "JOBID", "STEPID", "LOCALID", "GLOBALID"]
    assert [pids[1], job, "0", "0", "1"] in [line.split() for line in lines]
    assert pids[0] not in {line.split()[0] for line in lines}
    lines = contained.run("scontrol", "listpids", f"{job}.batch", "n1").stdout.splitlines()
    assert {line.split()[2] for line in lines[1:]} == {"batch"} and ["0", "0"] in [line.split()[3:] for line in lines[1:]]
    everything = contained.run("scontrol", "listpids", "*", "n1").stdout
    assert f"{pids[0]:<8} {job:<8} 0        0       0" in everything
    for wrong in (["listpids", "77", "n1"], ["listpids", f"{job}.9", "n1"], ["listpids", job, "nowhere"]):
        done = contained.run("scontrol", *wrong, check=False)
        assert done.returncode == 1 and done.stderr
    go(contained)
    contained.wait_end(job)


def test_listpids_in_a_job_is_about_its_own_node(contained):
    _, output = contained.run_job("scontrol listpids $SLURM_JOB_ID.batch; echo $$", "-w", "n2")
    lines = output.splitlines()
    assert lines[-1] in {line.split()[0] for line in lines[1:-1]}


def test_listpids_finds_the_node_of_its_host(make_cluster):
    cluster = make_cluster(nodes=1, node_extra=f"NodeHostname={socket.gethostname().split('.')[0]}")
    job = cluster.submit(f"echo $$ > pid; {HOLD}")
    pid = cluster.wait_file("pid").strip()
    assert f"{pid:<8} {job:<8} batch    0       0" in cluster.run("scontrol", "listpids").stdout
    go(cluster)
    cluster.wait_end(job)


def test_listpids_names_the_host_that_is_no_node(contained):
    done = contained.run("scontrol", "listpids", check=False)
    assert done.returncode == 1 and f"this host, {socket.gethostname().split('.')[0]}; name a node" in done.stderr


def test_listpids_is_for_owners_and_administrators(contained, as_root):
    job = contained.submit(HOLD)
    running(contained, job, 1)
    done = contained.run("scontrol", "listpids", job, "n1", user="nobody", check=False)
    assert done.returncode == 1 and "denied" in done.stderr
    assert len(contained.run("scontrol", "listpids", "*", "n1", user="nobody").stdout.splitlines()) == 1
    go(contained)
    contained.wait_end(job)


def test_notify_reaches_the_script_and_srun(contained):
    job = contained.submit(HOLD)
    contained.wait_for(lambda: (contained.dir / "work" / f"slurm-{job}.out").exists(), what="the script")
    contained.wait_for(lambda: contained.run("scontrol", "notify", job, "please", "save", check=False).returncode == 0,
                       what="the script to have started")
    assert "please save" in contained.wait_file(f"slurm-{job}.out")
    go(contained)
    contained.wait_end(job)
    assert contained.run("scontrol", "notify", job, "late", check=False).returncode == 1
    assert contained.run("scontrol", "notify", job, check=False).returncode == 1
    (contained.dir / "work" / "go").unlink()
    srun = contained.popen("srun", "sh", "-c", f"echo $SLURM_JOB_ID; {HOLD}")
    job = srun.stdout.readline().strip()
    assert contained.run("scontrol", "notify", f"{job}.0", "hello srun").returncode == 0
    assert srun.stderr.readline() == "srun: hello srun\n"
    go(contained)
    srun.communicate()


def test_with_wait_for_children_a_step_ends_with_its_last_process(contained):
    script = "(while [ ! -e go ]; do sleep 0.1; done; echo late > late) & echo early"
    srun = contained.popen("srun", "--wait-for-children", "sh", "-c", script)
    assert srun.stdout.readline() == "early\n"
    assert srun.poll() is None
    go(contained)
    srun.communicate()
    assert srun.returncode == 0 and (contained.dir / "work" / "late").read_text() == "late\n"
    (contained.dir / "work" / "late").unlink()
    (contained.dir / "work" / "go").unlink()
    contained.run("srun", "sh", "-c", script + "\nexit 0")  # without it what is left is killed
    assert not (contained.dir / "work" / "late").exists()
