"""Binding of tasks to the CPUs and the memory of this machine. Nodes have two CPUs, which must be there."""

import os
import re
from pathlib import Path

import pytest

from cluster import Cluster, wait_for
from test_cgroup import memory_mount, mounts

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two CPUs")

ALLOWED = "grep Cpus_allowed_list /proc/self/status"
AFFINITY = "TaskPlugin=task/affinity,task/cgroup"


@pytest.fixture(scope="module")
def bound():
    """Two nodes with two CPUs each: the same ones, as both are on this machine."""
    cluster = Cluster(nodes=2, cpus=2, node_extra="Sockets=1 CoresPerSocket=2", extra=AFFINITY)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def allowed(cluster, *options, check=True):
    """The CPUs of each task, by its number."""
    done = cluster.run("srun", "-l", *options, "sh", "-c", ALLOWED, check=check)
    found = re.findall(r"^(\d+): Cpus_allowed_list:\s+(\S+)$", done.stdout, re.M)
    return [cpus for _, cpus in sorted(found, key=lambda entry: int(entry[0]))]


def test_each_task_has_its_own_cpu(bound):
    assert allowed(bound, "-N1", "-n2") == ["0", "1"]
    assert allowed(bound, "-N2", "-n4") == ["0", "1", "0", "1"]
    assert allowed(bound, "-N1", "-n1", "-c2") == ["0-1"]
    assert allowed(bound, "-N1", "-n2", "--cpu-bind=none") == ["0-1", "0-1"]
    assert allowed(bound, "-N1", "-n1", "-c2", "--cpu-bind=cores") == ["0-1"]
    assert allowed(bound, "-N1", "-n2", "--cpu-bind=sockets") == ["0-1", "0-1"]


def test_lists_are_for_the_tasks_of_each_node(bound):
    assert allowed(bound, "-N2", "-n4", "--cpu-bind=map_cpu:1,0") == ["1", "0", "1", "0"]
    assert allowed(bound, "-N1", "-n2", "--cpu-bind=mask_cpu:0x2*2") == ["1", "1"]
    assert allowed(bound, "-N1", "-n2", "--cpu-bind=mask_cpu:3,1") == ["0-1", "0"]


def test_jobs_and_steps_are_bound_to_what_they_have(bound):
    """Two jobs with a CPU each, at the same time on one node."""
    script = f"{ALLOWED}\nsrun -n1 {ALLOWED}\ntouch here-$SLURM_JOB_ID\nwhile [ ! -e both ]; do sleep 0.05; done"
    jobs = [bound.submit(script, "-n1", "-wn1") for _ in range(2)]
    work = bound.dir / "work"
    wait_for(lambda: all((work / f"here-{job}").exists() for job in jobs))
    (work / "both").touch()
    seen = []
    for job in jobs:
        assert bound.wait_end(job)["JobState"] == "COMPLETED"
        cpus = re.findall(r"Cpus_allowed_list:\s+(\S+)", bound.output(job))
        assert len(cpus) == 2 and cpus[0] == cpus[1]
        seen.append(cpus[0])
    assert sorted(seen) == ["0", "1"]


def test_tasks_report_their_binding(bound):
    done = bound.run("srun", "-N1", "-wn1", "-n2", "--cpu-bind=verbose", "true")
    lines = re.findall(r"^cpu-bind=MASK - n1, task  (\d)  (\d) \[\d+\]: mask (\S+) set$", done.stderr, re.M)
    assert sorted(lines) == [("0", "0", "0x1"), ("1", "1", "0x2")]
    done = bound.run("srun", "--exclusive", "-wn1", "-n1", "--cpu-bind=v,map_cpu:1", "--mem-bind=v,local", "true")
    assert re.search(r"^cpu-bind=MAP  - n1, task  0  0 \[\d+\]: mask 0x2 set$", done.stderr, re.M)
    assert re.search(r"^mem-bind=LOC - n1, task  0  0 \[\d+\]: mask 0x\w+ set$", done.stderr, re.M)
    assert bound.run("srun", "-n1", "--cpu-bind=cores", "true").stderr == ""
    quiet = bound.run("srun", "-n1", "true", env={"SLURM_CPU_BIND": "verbose"})
    assert "cpu-bind=MASK - " in quiet.stderr


def variables(cluster, *options):
    done = cluster.run("srun", "-wn1", "-N1", *options, "sh", "-c", "env | grep -E '(CPU|MEM)_BIND' | sort")
    return sorted(set(done.stdout.splitlines()))


def test_tasks_are_told_of_their_binding(bound):
    digits = -(-os.cpu_count() // 4)
    masks = f"0x{1:0{digits}X},0x{2:0{digits}X}"
    assert variables(bound, "-n2") == [
        f"SLURM_CPU_BIND=quiet,mask_cpu:{masks}", f"SLURM_CPU_BIND_LIST={masks}", "SLURM_CPU_BIND_TYPE=mask_cpu:",
        "SLURM_CPU_BIND_VERBOSE=quiet"]
    assert variables(bound, "-n1", "--exclusive", "--cpu-bind=map_cpu:1*2", "--mem-bind=prefer,map_mem:0") == [
        "SLURM_CPU_BIND=quiet,map_cpu:1*2", "SLURM_CPU_BIND_LIST=1*2", "SLURM_CPU_BIND_TYPE=map_cpu:",
        "SLURM_CPU_BIND_VERBOSE=quiet", "SLURM_MEM_BIND=quiet,prefer,map_mem:0", "SLURM_MEM_BIND_LIST=0",
        "SLURM_MEM_BIND_PREFER=prefer", "SLURM_MEM_BIND_TYPE=map_mem:", "SLURM_MEM_BIND_VERBOSE=quiet"]


def test_what_the_step_does_not_have_is_refused(bound):
    done = bound.run("srun", "-n1", "--cpu-bind=map_cpu:99", "true", check=False)
    assert done.returncode != 0
    assert "Unable to satisfy cpu bind request: CPU binding outside of job step allocation, allocated CPUs are: 0x" \
        in done.stderr
    done = bound.run("srun", "-n1", "-c1", "--cpu-bind=rank_ldom", "true", check=False)
    assert done.returncode != 0 and "Entire node must be allocated for rank_ldom" in done.stderr
    assert allowed(bound, "-n2", "-N1", "--cpu-bind=rank_ldom") == ["0-1", "0-1"]
    done = bound.run("srun", "-n1", "--mem-bind=map_mem:1023", "true", check=False)
    assert done.returncode != 0 and "NUMA node 1023 does not exist; cannot bind local task 0 to it" in done.stderr
    # The node is not to blame.
    assert allowed(bound, "-N2", "-n2") != []


def test_bad_words_are_named(bound):
    for option, text, code in [("--cpu-bind=foo", 'unrecognized --cpu-bind argument "foo"', 1),
                               ("--cpu-bind=map_cpu:x", "Failed to validate number: x", 1),
                               ("--mem-bind=sort", 'unrecognized --mem-bind argument "sort"', 255)]:
        done = bound.run("srun", option, "true", check=False)
        assert (done.returncode, text in done.stderr) == (code, True), option
    done = bound.run("srun", "-n1", "--cpu-bind=rank", "true")
    assert done.stderr == "srun: Ignoring --cpu-bind=rank. Rank binding is obsolete.\n"
    assert bound.run("srun", "--cpu-bind=help").stdout.startswith("--cpu-bind: ")


def test_memory_is_bound(bound):
    policy = "import ctypes; m = ctypes.c_int(-1); ctypes.CDLL(None).syscall(239, ctypes.byref(m), 0, 0, 0, 0); print(m.value)"
    for option, mode in [("none", 0), ("local", 4), ("map_mem:0", 2), ("prefer,map_mem:0", 1), ("mask_mem:1", 2)]:
        done = bound.run("srun", "-n1", f"--mem-bind={option}", "python3", "-c", policy)
        assert done.stdout == f"{mode}\n", option


def test_layouts_bind_too(bound):
    assert allowed(bound, "-N1", "-n1", "-c2", "--hint=nomultithread") == ["0-1"]
    assert allowed(bound, "-N1", "-n1", "--exclusive", "--ntasks-per-core=1") == ["0"]
    assert allowed(bound, "-N1", "-n2", "-B", "1:2") == ["0", "1"]
    assert allowed(bound, "-N1", "-n2", "--ntasks-per-socket=2") == ["0-1", "0-1"]


def test_a_shell_of_salloc_leaves_binding_to_its_steps(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, extra=f'{AFFINITY}\nLaunchParameters=use_interactive_step\n'
                           'InteractiveStepOptions="--interactive --preserve-env /bin/sh"')
    done = cluster.run("salloc", "-n2", "-N1", input=f"env | grep CPU_BIND\n{ALLOWED}\nsrun -n2 -l {ALLOWED}\n")
    assert sorted(done.stdout.splitlines()) == [
        "0: Cpus_allowed_list:\t0", "1: Cpus_allowed_list:\t1", "Cpus_allowed_list:\t0-1"]


@pytest.mark.parametrize("param,cpus", [("none", ["0-1", "0-1"]), ("sockets", ["0-1", "0-1"]), ("threads", ["0", "1"])])
def test_slurm_conf_says_how_tasks_are_bound_otherwise(make_cluster, param, cpus):
    cluster = make_cluster(nodes=1, cpus=2, extra=f"{AFFINITY}\nTaskPluginParam={param},verbose")
    assert cluster.run("srun", "-n2", "true").stderr.count("cpu-bind=") == 2
    assert allowed(cluster, "-n2") == cpus
    assert allowed(cluster, "-n2", "--cpu-bind=map_cpu:1,0") == ["1", "0"]  # what a step asks for counts


def pretend(cluster, machine):
    """Makes slurmd see its CPUs in this arrangement."""
    cluster.under["n1"] = ["env", f"HWLOC_SYNTHETIC={machine}"]
    return cluster.start()


def test_autobind_is_for_steps_without_a_match(make_cluster):
    """One task on two sockets."""
    options = {"nodes": 1, "cpus": 2, "node_extra": "Sockets=2", "start": False}
    cluster = pretend(make_cluster(**options, extra=AFFINITY), "pack:2 core:1 pu:1")
    assert allowed(cluster, "-n1", "--exclusive") == ["0-1"]
    assert allowed(cluster, "-n1", "--exclusive", "--cpu-bind=sockets") == ["0"]
    cluster = pretend(make_cluster(**options, extra=f"{AFFINITY}\nTaskPluginParam=autobind=cores"), "pack:2 core:1 pu:1")
    assert allowed(cluster, "-n1", "--exclusive") == ["0"]
    assert allowed(cluster, "-n1", "-c2") == ["0-1"]


def test_threads_of_a_core(make_cluster):
    """slurm.conf counts threads, or cores only."""
    cluster = pretend(make_cluster(nodes=1, cpus=2, node_extra="ThreadsPerCore=2", extra=AFFINITY, start=False),
                      "pack:1 core:1 pu:2")
    assert allowed(cluster, "-n2") == ["0", "1"]
    assert allowed(cluster, "-n1", "--exclusive", "--hint=nomultithread") == ["0"]
    assert allowed(cluster, "-n2", "--cpu-bind=cores") == ["0-1", "0-1"]
    cluster = pretend(make_cluster(nodes=1, cpus=1, extra=AFFINITY, start=False), "pack:1 core:1 pu:2")
    assert allowed(cluster, "-n1") == ["0-1"]


def test_threads_per_core(make_cluster):
    """Of a job, of its steps, and of a step alone. The cores are those of another machine's shape."""
    cluster = pretend(make_cluster(nodes=1, cpus=2, node_extra="ThreadsPerCore=2", extra=AFFINITY, start=False),
                      "pack:1 core:1 pu:2")
    assert allowed(cluster, "-n1", "--threads-per-core=1") == ["0"]
    assert allowed(cluster, "-n2", "--threads-per-core=2") == ["0", "1"]
    body = f"""srun -l {ALLOWED}
srun -l -n1 --threads-per-core=1 {ALLOWED}
srun -n2 --threads-per-core=1 true"""
    lines = cluster.run_job(body, "-n2")[1].splitlines()
    assert sorted(lines[:2]) == ["0: Cpus_allowed_list:\t0", "1: Cpus_allowed_list:\t1"]
    assert lines[2] == "0: Cpus_allowed_list:\t0"
    assert lines[3].endswith("More processors requested than permitted")
    assert cluster.run_job(f"srun -l {ALLOWED}", "-n1", "--threads-per-core=1")[1] == "0: Cpus_allowed_list:\t0\n"


def test_numa_domains(make_cluster):
    cluster = pretend(make_cluster(nodes=1, cpus=2, extra=AFFINITY, start=False), "numa:2 core:1 pu:1")
    assert allowed(cluster, "-n2", "--cpu-bind=map_ldom:1,0") == ["1", "0"]
    assert allowed(cluster, "-n2", "--cpu-bind=mask_ldom:3") == ["0-1", "0-1"]
    assert allowed(cluster, "-n2", "--cpu-bind=rank_ldom") == ["0", "1"]
    assert allowed(cluster, "-n2", "--cpu-bind=ldoms") == ["0", "1"]


def test_a_node_that_pretends_to_have_more_cpus_binds_nothing(make_cluster):
    cluster = make_cluster(nodes=1, cpus=4 * os.cpu_count(), extra=AFFINITY)
    everything = Path("/proc/self/status").read_text().split("Cpus_allowed_list:")[1].split()[0]
    assert allowed(cluster, "-n2") == [everything, everything]
    done = cluster.run("srun", "-n1", "--cpu-bind=verbose,cores", "true")
    assert re.search(r"^cpu-bind=NONE - n1, task  0  0 \[\d+\]: mask 0x\w+$", done.stderr, re.M)
    log = (cluster.dir / "log" / "n1.log").read_text()
    assert f"this machine has {os.cpu_count()}: tasks are not bound" in log


def test_without_the_plugin_a_binding_is_ignored_with_a_warning(shared):
    done = shared.run("srun", "-n1", "--cpu-bind=cores", "echo", "runs")
    assert done.stdout == "runs\n"
    assert done.stderr == ("srun: warning: --cpu-bind=cores has no effect: slurm.conf does not say "
                           "TaskPlugin=task/affinity\n")
    assert shared.run("srun", "-n1", "--cpu-bind=none", "true").stderr == ""


@pytest.mark.parametrize("param,daemon,job", [("verbose", "0", "1"), ("SlurmdOffSpec", "1", "1")])
def test_cpus_of_the_system_are_kept_from_jobs(make_cluster, param, daemon, job):
    cluster = make_cluster(nodes=1, cpus=2, node_extra="CpuSpecList=0", extra=f"{AFFINITY}\nTaskPluginParam={param}")
    pid = cluster.daemons["n1"].pid
    status = Path(f"/proc/{pid}/status").read_text()
    assert re.search(r"Cpus_allowed_list:\s+(\S+)", status)[1] == daemon
    record, output = cluster.run_job(ALLOWED)
    assert re.findall(r"Cpus_allowed_list:\s+(\S+)", output) == [job]
    assert allowed(cluster, "-n1") == [job]


@pytest.mark.skipif("v1" not in mounts() or os.getuid() != 0, reason="needs root and cgroup v1")
def test_cores_are_constrained_and_bound(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, extra=AFFINITY,
                           files={"cgroup.conf": f"ConstrainCores=yes\nCgroupMountpoint={mounts()['v1']}\n"})
    script = f"""job=$(cut -d: -f3 /proc/self/cgroup | grep job_ | head -1)
cat {mounts()['v1']}/cpuset$(dirname $job)/cpuset.cpus
srun -n2 -l {ALLOWED}"""
    record, output = cluster.run_job(script, "-n2")
    assert output.splitlines()[0] == "0-1"
    assert sorted(re.findall(r"list:\s+(\S+)", output)) == ["0", "1"]


@pytest.mark.skipif(os.getuid() != 0 or not memory_mount(), reason="needs root and the memory controller")
def test_want_of_memory_ends_the_step_where_slurm_conf_says_so(make_cluster):
    conf = f"ConstrainRAMSpace=yes\nCgroupMountpoint={memory_mount()}\n"
    cluster = make_cluster(nodes=1, cpus=2, extra="TaskPluginParam=OOMKillStep", files={"cgroup.conf": conf})
    (cluster.dir / "work" / "eat.py").write_text(
        "import os, subprocess, sys, time\nif os.environ['SLURM_PROCID'] == '1':\n"
        "    subprocess.run([sys.executable, '-c', 'x = bytearray(400 << 20)'])\ntime.sleep(1000)\n")
    done = cluster.run("srun", "-n2", "--mem=100M", "python3", "eat.py", check=False)
    assert done.returncode != 0 and "oom_kill event" in done.stderr


@pytest.mark.skipif(os.getuid() != 0 or "v1" not in mounts(), reason="needs root and cgroup v1")
def test_swappiness_of_jobs(make_cluster):
    mount = mounts()["v1"]
    script = f"cat {mount}/memory$(grep :memory: /proc/self/cgroup | cut -d: -f3)/memory.swappiness"
    for swap, value in [("yes", "7"), ("no", Path("/proc/sys/vm/swappiness").read_text().strip())]:
        conf = (f"ConstrainRAMSpace=yes\nConstrainSwapSpace={swap}\nMemorySwappiness=7\nMaxSwapPercent=100\n"
                f"CgroupMountpoint={mount}\n")
        cluster = make_cluster(nodes=1, cpus=2, files={"cgroup.conf": conf})
        record, output = cluster.run_job(script, "--mem=100M")
        assert output.strip() == value, swap
