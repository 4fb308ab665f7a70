"""GPU usage: slurmd samples NVML (here a stand-in), sgpu shows it, exporters learn which job has a GPU, and a GPU that is
not clean gets no jobs."""

import base64
import csv
import gzip
import json
import subprocess
import time
from pathlib import Path

import pytest

from cluster import wait_for

SOURCE = Path(__file__).with_name("fake_nvml.c")


class Gpus:
    """The GPUs of the nodes: what each does is written to files, for each node its own."""

    def __init__(self, directory, nodes):
        self.directory = directory
        for parent in (directory, directory.parent):
            parent.chmod(0o755)
        for node in nodes:
            (directory / node).mkdir()
            subprocess.run(["cc", "-shared", "-fPIC", "-o", str(directory / node / "libnvidia-ml.so.1"), str(SOURCE)],
                           check=True)

    def set(self, node, gpu, **values):
        path = self.directory / node / f"nvml.gpu{gpu}"
        fresh = path.with_suffix(".new")
        fresh.write_text(" ".join(f"{key}={value}" for key, value in values.items()) + "\n")
        fresh.rename(path)

    def xid(self, node, gpu, number):
        with open(self.directory / node / "nvml.xids", "a") as file:
            file.write(f"{gpu} {number}\n")

    def hang(self, node, on=True):
        self._switch(node, "hang", on)

    def lose(self, node, gpu, on=True):
        self._switch(node, f"lost{gpu}", on)

    def _switch(self, node, name, on):
        path = self.directory / node / name
        path.touch() if on else path.unlink()


@pytest.fixture
def gpu_cluster(make_cluster, tmp_path):
    """Two nodes with two GPUs each, sampled every second."""
    def make(extra="", partitions=None, start=True, **options):
        cluster = make_cluster(start=False, nodes=2, gpus={"a40": ["n1", "n2"]}, partitions=partitions,
                               extra="GpuSampleTime=1\n" + extra, **options)
        cluster.gpus_now = Gpus(tmp_path, cluster.nodes)
        for node in cluster.nodes:
            cluster.under[node] = ["env", f"LD_LIBRARY_PATH={tmp_path / node}"]
        return cluster.start() if start else cluster
    return make


HOLD = "while [ ! -e {flag} ]; do sleep 0.1; done"


def hold(cluster, flag, *options, before=""):
    """A job that runs until the file is there."""
    job = cluster.submit(before + HOLD.format(flag=flag), *options)
    cluster.wait_state(job, "RUNNING")
    return job


def let_go(cluster, flag, job):
    (cluster.dir / "work" / flag).touch()
    return cluster.wait_end(job)


def courses(cluster, *words, **options):
    """What sgpu --json prints, by node and number."""
    printed = json.loads(cluster.run("sgpu", "--json", *map(str, words), **options).stdout)
    return {(gpu["node"], gpu["gpu"]): gpu for gpu in printed["gpus"]}


def node_fields(cluster, node):
    printed = cluster.run("scontrol", "-d", "show", "node", node).stdout
    return dict(word.split("=", 1) for word in printed.split() if "=" in word)


def test_samples_of_a_job_are_shown_while_it_runs_and_afterwards(gpu_cluster, as_root):
    cluster = gpu_cluster()
    cluster.gpus_now.set("n1", 0, percent=80, memory=20480, power=300, temperature=70, sm=1400, mem=1593)
    cluster.gpus_now.set("n2", 0, percent=40, memory=10240)
    job = hold(cluster, "used", "-N2", "--gres=gpu:1")
    cluster.run("srun", f"--jobid={job}", "-N2", "--overlap", "--gres=gpu:1", "true")  # n2 learns of the job
    other = hold(cluster, "other", "-wn1", "--gres=gpu:1")
    now = wait_for(lambda: (lambda c: c if len(c) == 2 and all(len(g["utilization"]) > 2 for g in c.values()) else None)(
        courses(cluster, job)), what="samples of both nodes")
    first = now[("n1", 0)]
    assert (first["utilization"][-1], first["memory_mb"][-1], first["memory_total_mb"]) == (80, 20480, 49152)
    assert (first["power_w"][-1], first["temperature_c"][-1], first["sm_clock_mhz"][-1]) == (300, 70, 1400)
    assert (first["job_id"], first["user"], first["type"]) == (int(job), "root", "a40")
    assert now[("n2", 0)]["utilization"][-1] == 40
    # The table of now: every GPU with the job that has it.
    table = [line.split() for line in cluster.run("sgpu", "-h").stdout.splitlines()]
    assert ["n1", "0", "a40", "root", str(job), "80%"] == table[0][:6]
    assert {(row[0], row[1]): row[4] for row in table} == {
        ("n1", "0"): str(job), ("n1", "1"): str(other), ("n2", "0"): str(job), ("n2", "1"): "-"}
    by_job = {row.split()[0]: row.split()[1:4] for row in cluster.run("sgpu", "-h", "--by=job").stdout.splitlines()}
    assert by_job[str(job)] == ["root", "2", "60%"] and by_job[str(other)][1] == "1"
    assert cluster.run("sgpu", "-h", "--by=node", "-w", "n2").stdout.split()[:3] == ["n2", "2", "20%"]
    let_go(cluster, "other", other)
    let_go(cluster, "used", job)
    # Afterwards, also with a slurmd that was started since.
    cluster.kill("n1")
    cluster.start_node("n1")
    assert max(filter(None, courses(cluster, job)[("n1", 0)]["utilization"])) == 80
    chart = cluster.run("sgpu", str(job), "--ascii").stdout
    assert f"Job {job} " in chart and "Utilization, mean of all GPUs" in chart and "mean  80%  peak  80%" in chart
    rows = list(csv.DictReader(cluster.run("sgpu", "--csv", str(job)).stdout.splitlines()))
    assert {row["utilization"] for row in rows if row["node"] == "n1"} >= {"80"}
    assert {row["step"] for row in rows if row["node"] == "n1"} >= {"batch"}
    # The second job had another GPU.
    assert set(courses(cluster, other)) == {("n1", 1)}


def test_a_step_is_named_by_its_samples(gpu_cluster):
    cluster = gpu_cluster()
    job = hold(cluster, "steps", "--gres=gpu:1", "-wn1",
               before="srun --gres=gpu:1 sh -c '" + HOLD.format(flag="step") + "'\n")

    def steps():
        rows = csv.DictReader(cluster.run("sgpu", "--csv", str(job)).stdout.splitlines())
        return {row["step"] for row in rows}
    wait_for(lambda: "0" in steps(), what="samples of the step")
    (cluster.dir / "work" / "step").touch()
    wait_for(lambda: "batch" in steps(), what="samples after the step")
    let_go(cluster, "steps", job)


def test_other_users_see_their_own_jobs_only(gpu_cluster, as_root):
    cluster = gpu_cluster()
    job = hold(cluster, "mine", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples")
    refused = cluster.run("sgpu", str(job), user="nobody", check=False)
    assert refused.returncode == 1 and f"no samples of GPUs of job {job}" in refused.stderr
    shown = cluster.run("sgpu", "-h", user="nobody").stdout
    assert {tuple(line.split()[:2]) for line in shown.splitlines()} == {("n1", "1"), ("n2", "0"), ("n2", "1")}
    let_go(cluster, "mine", job)


@pytest.mark.parametrize("words, error", [
    (("--by=disk",), "--by=disk: gpu, node, job or user is needed"),
    (("--minutes=0",), "--minutes=0: a number from 1 to "),
    (("--points=x",), "--points=x: a number from 1 to 20000 is needed"),
    (("--json", "--csv"), "--json and --csv exclude each other"),
    (("1", "2"), "1 2: one job is needed"),
    (("12345",), "job 12345 is not known"),
    (("x",), "Invalid job id"),
    (("--nosuch",), "unrecognized option '--nosuch'"),
])
def test_bad_words_are_refused(shared, words, error):
    done = shared.run("sgpu", *words, check=False)
    assert done.returncode == 1 and error in done.stderr and done.stdout == ""


def test_the_oldest_samples_make_room(gpu_cluster):
    cluster = gpu_cluster()
    folder = cluster.dir / "spool" / "n1" / "gpu_samples" / "0"
    wait_for(lambda: folder.exists() and list(folder.iterdir()), what="samples")
    old = folder / "1000000000.0"
    old.write_bytes(b"\0" * (1 << 20))
    cluster.kill("n1")
    cluster.start_node("n1")
    wait_for(lambda: not old.exists(), what="the old file to be removed")
    assert folder.stat().st_mode & 0o077 == 0


def test_exporters_learn_which_job_has_a_gpu(gpu_cluster, as_root, tmp_path):
    stat, mapping = tmp_path / "gpustat", tmp_path / "mapping"
    cluster = gpu_cluster(f"GpuStatDir={stat}/%n\nGpuJobMappingDir={mapping}/%n\n", start=False)
    (stat / "n1").mkdir(parents=True)
    (stat / "n1" / "1").write_text("99 0\n")  # of an earlier boot
    (stat / "n1" / "README").write_text("not ours")
    cluster.start()
    wait_for(lambda: not (stat / "n1" / "1").exists(), what="old files to be removed")
    job = hold(cluster, "exported", "--gres=gpu:1", "-wn1")
    wait_for(lambda: (stat / "n1" / "0").exists(), what="the file of the GPU")
    assert (stat / "n1" / "0").read_text() == f"{job} 0\n"
    wait_for(lambda: (mapping / "n1" / "0").exists(), what="the mapping")
    assert (mapping / "n1" / "0").read_text() == f"{job}\n"
    wait_for(lambda: (stat / "n1" / "GPU-0000-0").exists(), what="the file with the name that the driver has")
    assert (stat / "n1" / "GPU-0000-0").read_text() == f"{job} 0\n"
    # A slurmd that is started while the job runs knows it.
    cluster.kill("n1")
    cluster.start_node("n1")
    wait_for(lambda: (stat / "n1" / "0").exists(), what="the file after the restart")
    assert (stat / "n1" / "0").read_text() == f"{job} 0\n" and (mapping / "n1" / "0").read_text() == f"{job}\n"
    let_go(cluster, "exported", job)
    wait_for(lambda: not (stat / "n1" / "0").exists() and not (mapping / "n1" / "0").exists(), what="their removal")
    assert not (stat / "n1" / "GPU-0000-0").exists()
    assert (stat / "n1" / "README").exists()


def test_jobstats_finds_its_summary(gpu_cluster, as_root):
    cluster = gpu_cluster("GpuJobStats=yes\n")
    cluster.gpus_now.set("n1", 0, percent=80, memory=20480)
    cluster.gpus_now.set("n2", 0, percent=10, memory=1024)
    job = hold(cluster, "stats", "-N2", "--gres=gpu:1", "--mem=100")
    cluster.run("srun", f"--jobid={job}", "-N2", "--overlap", "--gres=gpu:1", "--mem=10", "true")
    wait_for(lambda: len(courses(cluster, job)) == 2 and all(
        len(gpu["utilization"]) > 2 for gpu in courses(cluster, job).values()), what="samples")
    comment = let_go(cluster, "stats", job)["AdminComment"]
    assert comment.startswith("JS1:")
    stats = json.loads(gzip.decompress(base64.b64decode(comment[4:])))
    assert stats["gpus"] == 2 and stats["total_time"] >= 2 and set(stats["nodes"]) == {"n1", "n2"}
    first = stats["nodes"]["n1"]
    assert first["total_memory"] == 100 << 20 and 0 < first["used_memory"] and first["cpus"] == 1
    assert first["gpu_utilization"] == {"0": 80.0} and first["gpu_used_memory"] == {"0": 20480 << 20}
    assert first["gpu_total_memory"] == {"0": 49152 << 20}
    assert stats["nodes"]["n2"]["gpu_utilization"]["0"] == 10.0


def test_no_summary_is_stored_unless_it_is_asked_for(gpu_cluster):
    cluster = gpu_cluster()
    job = hold(cluster, "nostats", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples")
    assert "AdminComment" not in let_go(cluster, "nostats", job)


def test_a_driver_that_does_not_answer_blocks_nothing(gpu_cluster):
    cluster = gpu_cluster()
    job = hold(cluster, "hanging", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples")
    cluster.gpus_now.hang("n1")
    time.sleep(1.5)  # a sample is being taken
    assert cluster.run("srun", "-wn1", "echo", "runs").stdout == "runs\n"
    assert let_go(cluster, "hanging", job)["JobState"] == "COMPLETED"
    # What the job has left on its GPU is not known: the next job gets the other one.
    assert node_fields(cluster, "n1")["GresDrain"] == "gpu:0"
    assert "the driver does not answer" in cluster.run("scontrol", "show", "node", "n1").stdout
    assert cluster.run_job("echo $SLURM_JOB_GPUS", "--gres=gpu:1", "-wn1")[1] == "1\n"
    assert node_fields(cluster, "n1")["GresDrain"] == "gpu:0-1"
    cluster.gpus_now.hang("n1", on=False)
    job = hold(cluster, "answers", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples once it answers")
    let_go(cluster, "answers", job)


# ---- a clean hand-over

def wait_drained(cluster, node, gpus):
    return wait_for(lambda: (lambda f: f if f["GresDrain"] == gpus else None)(node_fields(cluster, node)),
                    what=f"GresDrain={gpus} of {node}")


def test_a_gpu_that_is_left_in_use_gets_no_jobs_until_it_is_clean(gpu_cluster):
    cluster = gpu_cluster()
    job = hold(cluster, "dirty", "--gres=gpu:1", "-wn1")
    cluster.gpus_now.set("n1", 0, memory=30000)  # and it stays in use
    let_go(cluster, "dirty", job)
    assert node_fields(cluster, "n1")["GresDrain"] == "gpu:0"  # before the job's end is known
    assert "30000 MB of its memory are in use" in cluster.run("scontrol", "show", "node", "n1").stdout
    assert cluster.node_state("n1") == "idle"
    # The rest of the node goes on, with the other GPU.
    assert cluster.run_job("echo $SLURM_JOB_GPUS", "--gres=gpu:1", "-wn1")[1] == "1\n"
    both = cluster.submit("true", "--gres=gpu:2", "-wn1")
    anywhere = cluster.submit("echo $SLURMD_NODENAME", "--gres=gpu:2")
    assert cluster.wait_end(anywhere)["JobState"] == "COMPLETED" and cluster.output(anywhere) == "n2\n"
    assert cluster.state(both) == "PENDING"
    assert "n1" in cluster.run("sinfo", "-R", "-h", "-o", "%E %N").stdout
    cluster.gpus_now.set("n1", 0, memory=300)
    assert cluster.wait_end(both)["JobState"] == "COMPLETED"
    assert node_fields(cluster, "n1")["GresDrain"] == "N/A"


def test_a_process_of_no_job_keeps_a_gpu_from_jobs(gpu_cluster):
    cluster = gpu_cluster()
    foreign = subprocess.Popen(["sleep", "1000"])
    try:
        cluster.gpus_now.set("n2", 1, pids=foreign.pid)
        wait_drained(cluster, "n2", "gpu:1")
        assert f"process {foreign.pid} uses it" in cluster.run("scontrol", "show", "node", "n2").stdout
        assert "out of service: process" in cluster.run("sgpu", "-h").stdout
    finally:
        foreign.kill()
        foreign.wait()
    wait_drained(cluster, "n2", "N/A")  # the driver may still name it


def test_a_fatal_error_takes_one_gpu_out_of_service_until_an_administrator_puts_it_back(gpu_cluster):
    """gres.conf has no AutoDetect: the GPU of the error is found by what the driver says."""
    cluster = gpu_cluster()
    job = hold(cluster, "xid", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples")
    cluster.gpus_now.xid("n1", 1, 31)  # an error of a program
    cluster.gpus_now.xid("n1", 0, 79)
    wait_drained(cluster, "n1", "gpu:0")
    assert "gpu:0: XID 79" in cluster.run("scontrol", "show", "node", "n1").stdout
    assert cluster.state(job) == "RUNNING"
    assert courses(cluster, job)[("n1", 0)]["xids"] == [79]
    let_go(cluster, "xid", job)
    (cluster.gpus_now.directory / "n1" / "nvml.xids").unlink()  # the driver tells of an error once
    cluster.kill("n1")
    cluster.start_node("n1")
    assert cluster.run_job("echo $SLURM_JOB_GPUS", "--gres=gpu:1", "-wn1")[1] == "1\n"
    assert node_fields(cluster, "n1")["GresDrain"] == "gpu:0"
    cluster.run("scontrol", "update", "NodeName=n1", "GresResume=gpu:0")
    assert cluster.run_job("echo $SLURM_JOB_GPUS", "--gres=gpu:2", "-wn1")[1] == "0,1\n"


def test_a_gpu_that_is_lost_takes_no_other_one_with_it(gpu_cluster):
    cluster = gpu_cluster()
    job = hold(cluster, "lost", "--gres=gpu:1", "-wn1")
    wait_for(lambda: courses(cluster, job), what="samples")
    cluster.gpus_now.lose("n1", 0)
    wait_drained(cluster, "n1", "gpu:0")
    assert "GPU is lost" in cluster.run("scontrol", "show", "node", "n1").stdout
    # GPU 1 is sampled and checked as before, and gets jobs.
    cluster.gpus_now.set("n1", 1, memory=30000)
    wait_drained(cluster, "n1", "gpu:0-1")
    cluster.gpus_now.set("n1", 1, memory=300)
    wait_drained(cluster, "n1", "gpu:0")
    let_go(cluster, "lost", job)
    for _ in range(2):
        assert cluster.run_job("echo $SLURM_JOB_GPUS", "--gres=gpu:1", "-wn1")[1] == "1\n"
    cluster.gpus_now.lose("n1", 0, on=False)
    wait_drained(cluster, "n1", "N/A")


def test_an_administrator_takes_a_gpu_out_of_service(gpu_cluster):
    cluster = gpu_cluster()
    cluster.run("scontrol", "update", "NodeName=n1", "GresDrain=gpu:0-1", "Reason=new fan")
    fields = wait_drained(cluster, "n1", "gpu:0-1")
    assert fields["State"].startswith("IDLE")
    job = cluster.submit("true", "--gres=gpu:1", "-wn1")
    assert cluster.run_job("echo cpu", "-wn1")[1] == "cpu\n"
    time.sleep(2.5)  # samples that find them clean
    assert cluster.state(job) == "PENDING" and node_fields(cluster, "n1")["GresDrain"] == "gpu:0-1"
    cluster.run("scontrol", "update", "NodeName=n1", "GresResume=gpu:1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert "gpu:0: new fan" in cluster.run("scontrol", "show", "node", "n1").stdout


def test_the_check_can_be_off(gpu_cluster):
    cluster = gpu_cluster("GpuCleanCheck=no\n")
    cluster.gpus_now.set("n1", 0, memory=30000)
    job = hold(cluster, "unchecked", "--gres=gpu:1", "-wn1")
    wait_for(lambda: len(courses(cluster, job).get(("n1", 0), {}).get("memory_mb", [])) > 2, what="samples")
    let_go(cluster, "unchecked", job)
    assert node_fields(cluster, "n1")["GresDrain"] == "N/A"
