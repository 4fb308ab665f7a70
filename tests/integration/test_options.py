"""Options that say how a job lies on the nodes: kept, shown, handed on, changed and refused."""

import pytest

TREE = """
SwitchName=s0 Nodes=n[1-2]
SwitchName=s1 Nodes=n[3-4]
SwitchName=top Switches=s[0-1]
"""

LAYOUT = ["--ntasks-per-core=1", "--ntasks-per-socket=2", "--switches=1@2", "--contiguous",
          "--spread-job", "--gres-flags=enforce-binding", "--threads-per-core=1",
          "--prefer=first"]


@pytest.fixture(scope="module")
def held(shared):
    """A job that will not start, with many demands."""
    job = shared.submit("true", "-H", *LAYOUT)
    yield shared, job
    shared.run("scancel", job)


def test_records_show_the_layout(held):
    cluster, job = held
    record = cluster.job(job)
    assert record["NtasksPerN:B:S:C"] == "0:0:2:1"
    assert record["ReqB:S:C:T"] == "0:0:*:1"
    assert record["Switches"] == "1@00:02:00"
    assert record["Contiguous"] == "1"
    assert record["Prefer"] == "first"
    assert record["SpreadJob"] == "Yes" and record["GresEnforceBind"] == "Yes"


def test_listings_show_the_layout(held):
    cluster, job = held
    names = "NTPerCore:|,NTPerSocket:|,Threads:|,ReqSwitch:|,Wait4Switch:|,Contiguous:|,Prefer:|"
    shown = cluster.run("squeue", "-h", "-j", job, "-O", names).stdout.split("|")
    assert [word.strip() for word in shown[:7]] == ["1", "2", "1", "1", "2:00", "1", "first"]
    letters = cluster.run("squeue", "-h", "-j", job, "-o", "%H %I %J %z %X %O").stdout.split()
    assert letters == ["*", "*", "1", "*:*:1", "N/A", "1"]


@pytest.mark.parametrize("change, key, value", [
    ("Contiguous=no", "Contiguous", "0"), ("Prefer=common", "Prefer", "common"),
    ("ReqSockets=1", "Socks/Node", "1"), ("Switches=2@1:00", "Switches", "2@00:01:00"),
    ("wait-for-switch=30", "Switches", "2@00:00:30"), ("TimeMin=1", "TimeMin", "00:01:00"),
    ("Features=common", "Features", "common"), ("MinCPUsNode=2", "MinCPUsNode", "2")])
def test_a_waiting_job_can_be_changed(held, change, key, value):
    cluster, job = held
    cluster.run("scontrol", "update", f"JobId={job}", change)
    assert cluster.job(job)[key] == value


@pytest.mark.parametrize("change, words", [
    ("Features=a&", "Invalid feature specification"), ("Contiguous=maybe", "Invalid Contiguous value: maybe"),
    ("ThreadSpec=x", "Invalid ThreadSpec value: x")])
def test_wrong_changes_are_refused(held, change, words):
    cluster, job = held
    result = cluster.run("scontrol", "update", f"JobId={job}", change, check=False)
    assert result.returncode != 0 and words in result.stdout + result.stderr


def test_jobs_find_their_demands_in_the_environment(shared):
    _, output = shared.run_job("env", "--ntasks-per-core=1", "--ntasks-per-socket=2", "--hint=compute_bound",
                               "--gpus-per-node=1", "-C", "common")
    for line in ("SLURM_NTASKS_PER_CORE=1", "SLURM_NTASKS_PER_SOCKET=2", "SLURM_HINT=compute_bound",
                 "SLURM_GPUS_PER_NODE=1"):
        assert line in output.splitlines()


@pytest.mark.parametrize("hint, threads", [("nomultithread", "1"), ("memory_bound", "1"), ("multithread", "")])
def test_a_hint_is_handed_on_to_the_steps(shared, hint, threads):
    told = "echo $SLURM_HINT:$SLURM_THREADS_PER_CORE:$SLURM_DISTRIBUTION"
    _, output = shared.run_job(f"{told}; srun -n1 sh -c '{told}'", f"--hint={hint}", "-n3", "-m", "block:*")
    assert output.splitlines() == [f"{hint}:{threads}:block:cyclic"] * 2
    result = shared.run("salloc", f"--hint={hint}", "-m", "*:block", "sh", "-c", told)
    assert result.stdout == f"{hint}:{threads}:block:block\n"


def test_generic_resources_are_listed(shared):
    for tool in ("sbatch", "srun", "salloc"):
        result = shared.run(tool, "--gres=help")
        assert result.stdout == "Valid gres options are:\ngpu[[:type]:count]\n"
    for tool, variable in (("sbatch", "SBATCH_GRES"), ("srun", "SLURM_GRES"), ("salloc", "SALLOC_GRES")):
        result = shared.run(tool, *(["--wrap=true"] if tool == "sbatch" else ["true"]), env={variable: "help"})
        assert result.stdout == "Valid gres options are:\ngpu[[:type]:count]\n"
    script = shared.dir / "work" / "help.sh"
    script.write_text("#!/bin/sh\n#SBATCH --gres=help\n")
    assert shared.run("sbatch", script).stdout == "Valid gres options are:\ngpu[[:type]:count]\n"


@pytest.mark.parametrize("options, words", [
    (["-C", "common*1&last*1"], "Invalid feature specification"),
    (["-C", "common&nosuch"], "Invalid feature specification"),
    (["--prefer=nosuch"], "Invalid preferred feature specification"),
    (["--time-min=10", "-t", "5"], "Invalid time-min specification"),
    (["--time-min=0"], "Invalid time-min specification"),
    (["--switches=0"], 'Invalid numeric value "0" for --switches'),
    (["--deadline=now+1minute", "-t", "10"], "Requested time limit is invalid"),
    (["--gpus=1", "--mem=1G", "--mem-per-gpu=1G"], "mutually exclusive"),
    (["--thread-spec=1", "-S1"], "--thread-spec")])
def test_what_contradicts_itself_is_refused(shared, options, words):
    result = shared.run("sbatch", *options, "--wrap", "true", check=False)
    assert result.returncode != 0 and words in result.stderr


def test_switches_come_from_topology_conf(make_cluster):
    cluster = make_cluster(nodes=4, extra="TopologyPlugin=topology/tree", files={"topology.conf": TREE})
    shown = cluster.run("scontrol", "show", "topology").stdout
    assert shown == ("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
                     "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
                     "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[0-1]\n")
    assert cluster.run("scontrol", "show", "topology", "n3").stdout.count("SwitchName=") == 2


def test_what_a_job_asked_for_survives_a_restart(cluster):
    job = cluster.submit("true", "-H", "--contiguous", "--switches=2", "--prefer=")
    cluster.kill("slurmctld")
    cluster.start_controller()
    record = cluster.job(job)
    assert record["Contiguous"] == "1" and record["Switches"] == "2@00:05:00"


def test_a_full_queue_is_waited_for(make_cluster):
    cluster = make_cluster(nodes=1, extra="MaxJobCount=1\nMinJobAge=1")
    first = cluster.submit("true", "--hold")
    waiting = cluster.popen("sbatch", "--wrap", "true")
    said = waiting.stderr.readline()
    assert said == "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
    cluster.run("scancel", first)
    output, _ = waiting.communicate()
    assert waiting.returncode == 0 and output.startswith("Submitted batch job ")


def test_the_extra_text_is_shown_changed_and_survives_a_crash(cluster):
    job = cluster.submit("true", "-H", "--extra=user text, with = signs")
    assert cluster.run("squeue", "-h", "-j", job, "-O", "extra:40").stdout.strip() == "user text, with = signs"
    cluster.run("scontrol", "update", f"jobid={job}", "Extra=other")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["Extra"] == "other"
    long = cluster.run("sbatch", "--extra", "x" * 1025, "--wrap", "true", check=False)
    assert long.returncode != 0 and "extra" in long.stderr
