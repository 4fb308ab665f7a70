"""The OUTPUT ENVIRONMENT VARIABLES of the manual pages: each is set where the page says so, or docs/migration-from-slurm.md
says that it is not."""

import os
from pathlib import Path

import pytest

from cluster import Cluster
from test_binding import AFFINITY

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two CPUs")
GUIDE = Path(__file__).parents[2] / "docs" / "migration-from-slurm.md"

# Of a job, wherever its commands run.
JOB = """SLURM_CLUSTER_NAME SLURM_JOBID SLURM_JOB_ACCOUNT SLURM_JOB_CPUS_PER_NODE SLURM_JOB_ID SLURM_JOB_NAME SLURM_JOB_NODELIST
SLURM_JOB_NUM_NODES SLURM_JOB_PARTITION SLURM_JOB_QOS SLURM_JOB_RESERVATION SLURM_NNODES SLURM_NODELIST SLURM_SUBMIT_DIR
SLURM_SUBMIT_HOST SLURM_TASKS_PER_NODE"""
# Where the options below ask for it.
DEMANDS = """SLURM_CPUS_PER_GPU SLURM_CPUS_PER_TASK SLURM_DISTRIBUTION SLURM_DIST_PLANESIZE SLURM_GPUS SLURM_GPUS_PER_NODE
SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GPU_BIND SLURM_GPU_FREQ SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU
SLURM_MEM_PER_NODE SLURM_NTASKS SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_SOCKET
SLURM_OVERCOMMIT SLURM_THREADS_PER_CORE"""
# Of a process on a node.
PLACE = """SLURMD_NODENAME SLURM_CPUS_ON_NODE SLURM_GPUS_ON_NODE SLURM_GTIDS SLURM_LOCALID SLURM_NODEID SLURM_NPROCS
SLURM_PRIO_PROCESS SLURM_PROCID SLURM_SHARDS_ON_NODE SLURM_TASK_PID SLURM_TOPOLOGY_ADDR SLURM_TOPOLOGY_ADDR_PATTERN
SLURM_UMASK SLURM_OOM_KILL_STEP SLURM_JOB_START_TIME SLURM_JOB_END_TIME SLURM_JOB_SLUID CUDA_VISIBLE_DEVICES SCRATCH
SLURM_TMPDIR"""
BINDING = "_BIND _BIND_LIST _BIND_PREFER _BIND_TYPE _BIND_VERBOSE"
PAGES = {
    "sbatch": [JOB, DEMANDS, PLACE, "SLURM_JOB_DEPENDENCY SLURM_JOB_GPUS SLURM_EXPORT_ENV",
               BINDING.replace("_BIND", "SBATCH_MEM_BIND", 1).replace(" _BIND", " SBATCH_MEM_BIND"),
               "SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_MIN "
               "SLURM_ARRAY_TASK_STEP SLURM_RESTART_COUNT"],
    "salloc": [JOB, DEMANDS, BINDING.replace("_BIND", "SLURM_MEM_BIND", 1).replace(" _BIND", " SLURM_MEM_BIND")],
    "srun": [JOB, PLACE, "SLURM_CPUS_PER_TASK SLURM_CPU_FREQ_REQ SLURM_DISTRIBUTION SLURM_JOB_DEPENDENCY SLURM_NTASKS "
             "SLURM_OVERCOMMIT SLURM_MEM_PER_CPU SLURM_MEM_PER_NODE SRUN_DEBUG SLURMD_DEBUG SLURM_JOB_GROUP",
             BINDING.replace("_BIND", "SLURM_MEM_BIND", 1).replace(" _BIND", " SLURM_MEM_BIND"),
             "SLURM_LAUNCH_NODE_IPADDR SLURM_SRUN_COMM_HOST SLURM_STEP_GPUS SLURM_STEP_ID SLURM_STEPID SLURM_STEP_NODELIST "
             "SLURM_STEP_NUM_NODES SLURM_STEP_NUM_TASKS SLURM_STEP_TASKS_PER_NODE"],
}
ABSENT = """SLURM_SRUN_COMM_PORT SLURM_STEP_LAUNCHER_PORT SLURM_JOB_NODES SLURM_NODE_ALIASES SLURM_MEM_BIND_SORT SLURM_HET_SIZE
SLURM_PROFILE"""
# Together they ask for everything that has a variable.
OPTIONS = [
    "-N2 -n4 --ntasks-per-node=2 -c1 --mem-per-cpu=200 --gpus-per-node=1 --cpu-freq=high --mem-bind=verbose,prefer,local "
    "-m plane=2 --gpu-bind=none --gpu-freq=low --dependency=afterany:1 --time=10",
    "-N1 --mem=300 --overcommit --gres=shard:2 --qos=normal --reservation=res --threads-per-core=1 --ntasks-per-core=1",
    "-N1 --gpus=2 --cpus-per-gpu=1 --mem-per-gpu=100 --ntasks-per-gpu=1",
    "-N1 -n2 --gpus-per-task=1",
    "-N1 -n2 --sockets-per-node=2 --ntasks-per-socket=1 --gpus-per-socket=1",
]


@pytest.fixture(scope="module")
def accounted():
    cluster = Cluster(nodes=3, cpus=2, dbd="", extra=f"GresTypes=gpu,shard\nLaunchParameters=use_interactive_step\n{AFFINITY}\n", node_extra={
        name: "Gres=gpu:a40:2,shard:8 Sockets=2 CoresPerSocket=1 ThreadsPerCore=1" for name in ("n1", "n2", "n3")})
    for number in (0, 1):
        cluster.make_device(cluster.dir / "dev" / f"gpu{number}")
    (cluster.dir / "etc" / "gres.conf").write_text(
        f"Name=gpu Type=a40 File={cluster.dir}/dev/gpu[0-1]\nName=shard Count=8\n")
    try:
        cluster.start()
        cluster.run("sacctmgr", "-i", "add", "account", "lab")
        cluster.run("sacctmgr", "-i", "add", "user", cluster.user, "account=lab")
        cluster.run("scontrol", "create", "reservation", "ReservationName=res", "StartTime=now", "Duration=60",
                    "Nodes=n3", f"Users={cluster.user}")
        cluster.wait_end(cluster.submit("true"))
        yield cluster
    finally:
        cluster.stop()


def variables_in(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def of_batch(cluster, options):
    _, output = cluster.run_job("env", "--export=ALL", *options)
    return variables_in(output)


def of_array_that_ran_twice(cluster):
    job = cluster.submit('[ -n "$SLURM_RESTART_COUNT" ] && exec env\nscontrol requeue ${SLURM_ARRAY_JOB_ID}_3\nsleep 1000', "--array=3")
    cluster.wait_for(lambda: cluster.job(f"{job}_3").get("JobState") == "COMPLETED", what="its second run")
    return variables_in((cluster.dir / "work" / f"slurm-{job}_3.out").read_text())


def collect(cluster, page):
    """The variables of this kind of job, with all of the options."""
    found = of_array_that_ran_twice(cluster) if page == "sbatch" else {}
    for options in OPTIONS:
        words = options.split()
        seen = of_batch(cluster, words) if page == "sbatch" else \
            variables_in(cluster.run(page, *words, "env").stdout)
        found = seen | found
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_variables_of_the_manual_are_set(accounted, page):
    found = collect(accounted, page)
    expected = " ".join(PAGES[page]).split()
    missing = [name for name in expected if name not in found]
    assert missing == []
    assert [name for name in ABSENT.split() if name in found] == []
    if page != "salloc":
        assert found["SLURM_JOB_DEPENDENCY"] == "afterany:1"
    assert found["SLURM_JOB_RESERVATION"] == "res"
    prefix = "SBATCH" if page == "sbatch" else "SLURM"
    assert [found[f"{prefix}_MEM_BIND{part}"] for part in ("_TYPE", "_VERBOSE", "_PREFER")] == ["local", "verbose", "prefer"]


def test_what_is_not_set_is_documented():
    text = GUIDE.read_text()
    assert [name for name in ABSENT.split() if name not in text] == []


def test_a_job_of_srun_has_the_default_memory_and_a_job_without_options_no_demands(accounted):
    found = variables_in(accounted.run("srun", "env").stdout)
    assert found["SLURM_MEM_PER_CPU"] == "100" and found["SLURM_OOM_KILL_STEP"] == "0" and found["SLURMD_DEBUG"] == "2"
    assert "SLURM_JOB_DEPENDENCY" not in found
    verbose = variables_in(accounted.run("srun", "--slurmd-debug=debug", "--oom-kill-step", "env").stdout)
    assert verbose["SLURMD_DEBUG"] > "2" and verbose["SLURM_OOM_KILL_STEP"] == "1"


def test_a_job_that_a_job_submits_does_not_inherit_its_dependency(accounted):
    job = accounted.submit("sbatch --parsable --wait -o inner.out --wrap 'echo [$SLURM_JOB_DEPENDENCY]'", "-dafterany:1", "-n1")
    accounted.wait_end(job)
    assert accounted.wait_file("inner.out") == "[]\n"


def test_the_shell_of_salloc_on_a_node_has_the_gpus_of_the_job(accounted):
    text = "echo job=$SLURM_JOB_GPUS step=$SLURM_STEP_GPUS cuda=$CUDA_VISIBLE_DEVICES\nsrun sh -c 'echo step=$SLURM_STEP_GPUS' </dev/null\n"
    done = accounted.run("salloc", "--gres=gpu:1", input=text)
    assert "job=0 step= cuda=0" in done.stdout and "step=0" in done.stdout
