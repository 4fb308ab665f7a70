"""GPUs as devices: steps are kept from those of others, nodes without theirs take no jobs, NVML finds them."""

import os
import subprocess
from pathlib import Path

import pytest

from test_cgroup import mounts

# Device numbers that every kernel has: /dev/zero and /dev/full.
NUMBERS = (5, 7)
TRY_ALL = "for i in 0 1; do head -c1 {dir}/dev/gpu$i >/dev/null 2>&1 && echo opened $i || echo denied $i; done"
HOLD = "; while [ ! -e {flag} ]; do sleep 0.05; done"


def add_devices(cluster, files=("gpu0", "gpu1")):
    for name, number in zip(files, NUMBERS):
        path = cluster.dir / "dev" / name
        if not path.exists():
            os.mknod(path, 0o020666, os.makedev(1, number))
            path.chmod(0o666)


def gpu_cluster(make_cluster, nodes=1, cgroup="", devices=True, gres=None, **options):
    cluster = make_cluster(start=False, nodes=nodes, extra="GresTypes=gpu\n", node_extra="Gres=gpu:a40:2", **options)
    (cluster.dir / "etc" / "gres.conf").write_text(
        gres if gres is not None else f"Name=gpu Type=a40 File={cluster.dir}/dev/gpu[0-1]\n")
    (cluster.dir / "etc" / "cgroup.conf").write_text(cgroup)
    if devices:
        add_devices(cluster)
    return cluster


def cgroup_conf(generation, *lines):
    return "\n".join([f"CgroupPlugin=cgroup/{generation}", f"CgroupMountpoint={mounts()[generation]}", *lines]) + "\n"


@pytest.mark.parametrize("generation", sorted(mounts()))
def test_nobody_opens_the_gpus_of_others(make_cluster, as_root, generation):
    cluster = gpu_cluster(make_cluster, nodes=2, cgroup=cgroup_conf(generation, "ConstrainDevices=yes")).start()
    say = TRY_ALL.format(dir=cluster.dir) + "; echo $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES $SLURM_JOB_GPUS"
    jobs = [cluster.submit(say + HOLD.format(flag="devices-done"), "--gres=gpu:1", "-wn1", "--mem=50") for _ in range(2)]
    cluster.wait_for(lambda: all(len(cluster.output(job).splitlines()) == 3 for job in jobs
                                 if cluster.wait_file(f"slurm-{job}.out")), what="both to have looked")
    assert cluster.output(jobs[0]).splitlines() == ["opened 0", "denied 1", "0 0 0"]
    assert cluster.output(jobs[1]).splitlines() == ["denied 0", "opened 1", "0 0 1"]
    (cluster.dir / "work" / "devices-done").touch()
    for job in jobs:
        cluster.wait_end(job)
    _, none = cluster.run_job(TRY_ALL.format(dir=cluster.dir))
    assert none.splitlines() == ["denied 0", "denied 1"]
    # The steps of a job: each has its own part, on each node.
    step = "srun -N2 -n2 -l --gres=gpu:1 sh -c '" + TRY_ALL.format(dir=cluster.dir) + \
        "; echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS'"
    _, output = cluster.run_job(step, "-N2", "--gres=gpu:2")
    for task in "01":
        assert [line[3:] for line in output.splitlines() if line.startswith(task)] == ["opened 0", "denied 1", "0 0"]


def test_without_constraints_gpus_have_the_nodes_numbers(make_cluster, as_root):
    cluster = gpu_cluster(make_cluster).start()
    say = TRY_ALL.format(dir=cluster.dir) + "; echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS"
    hold = cluster.submit("echo here" + HOLD.format(flag="plain-done"), "--gres=gpu:1")
    cluster.wait_file(f"slurm-{hold}.out")
    _, output = cluster.run_job(say, "--gres=gpu:1")
    assert output.splitlines() == ["opened 0", "opened 1", "1 1"]
    (cluster.dir / "work" / "plain-done").touch()
    cluster.wait_end(hold)


def wait_drained(cluster, words, node="n1"):
    def reason():
        found = cluster.run("scontrol", "show", "node", node, check=False).stdout
        return found if words in found else None
    shown = cluster.wait_for(reason, what=f"{node} to be drained for: {words}")
    assert cluster.node_state(node) in ("drain", "drained", "drng")
    return shown


def start_daemons(cluster):
    cluster.start_controller()
    for name in cluster.nodes:
        cluster.start_node(name, wait=False)


def test_a_node_without_its_device_files_takes_no_jobs_until_they_are_there(make_cluster, as_root):
    cluster = gpu_cluster(make_cluster, devices=False)
    start_daemons(cluster)
    wait_drained(cluster, f"Reason=slurmd: gres/gpu: can't stat gres.conf file {cluster.dir}/dev/gpu0: "
                          "No such file or directory")
    assert "this node must not run jobs: gres/gpu" in (cluster.dir / "log" / "n1.log").read_text()
    refused = cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME", check=False)
    assert refused.returncode != 0 and "can't stat gres.conf file" in refused.stderr
    job = cluster.submit("echo ran", "--gres=gpu:1")
    add_devices(cluster, ("gpu0",))
    cluster.kill("n1")
    cluster.start_node("n1", wait=False)
    wait_drained(cluster, f"{cluster.dir}/dev/gpu1: ")
    assert cluster.state(job) == "PENDING"
    os.mknod(cluster.dir / "dev" / "gpu1", 0o020666, os.makedev(1, NUMBERS[1]))
    cluster.kill("n1")
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_reconfigure_looks_at_the_devices_again(make_cluster, as_root):
    cluster = gpu_cluster(make_cluster).start()
    (cluster.dir / "dev" / "gpu1").unlink()
    cluster.run("scontrol", "reconfigure")
    wait_drained(cluster, "can't stat gres.conf file")
    add_devices(cluster)
    cluster.run("scontrol", "reconfigure")
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="n1 to take jobs again")


def test_limits_that_cannot_be_set_drain_the_node(make_cluster, as_root):
    mount = mounts().get("v2")
    if not mount or "memory" in (Path(mount) / "cgroup.controllers").read_text().split():
        pytest.skip("no hierarchy without the memory controller here")
    cluster = gpu_cluster(make_cluster, cgroup=cgroup_conf("v2", "ConstrainRAMSpace=yes"))
    start_daemons(cluster)
    wait_drained(cluster, f"Reason=slurmd: ConstrainRAMSpace=yes: controller memory is not in {mount}/cgroup.controllers")


def test_a_launch_without_its_limits_fails_and_drains_the_node(make_cluster, as_root):
    generation = "v1" if "v1" in mounts() else "v2"
    cluster = gpu_cluster(make_cluster, nodes=2, cgroup=cgroup_conf(generation, "ConstrainDevices=yes")).start()
    missing = cluster.dir / "dev" / "gpu1"
    missing.unlink()
    done = cluster.run("srun", "-wn1", "--gres=gpu:1", "echo", "ran", check=False)
    assert done.returncode != 0 and done.stdout == "" and f"{missing}: No such file or directory" in done.stderr
    wait_drained(cluster, f"Reason=step launch failure: {missing}: No such file or directory")
    job = cluster.submit("echo ran", "-wn2", "--gres=gpu:1")
    wait_drained(cluster, f"Reason=batch job launch failure: {missing}: No such file or directory", "n2")
    assert cluster.wait_state(job, "PENDING")["Restarts"] == "1"


def test_where_no_device_program_can_be_loaded_the_node_takes_no_jobs_and_gpus_keep_their_numbers(make_cluster, as_root):
    if "v2" not in mounts():
        pytest.skip("no cgroup v2 here")
    cluster = gpu_cluster(make_cluster, cgroup=cgroup_conf("v2", "ConstrainDevices=yes")).start()
    body = "echo here" + HOLD.format(flag="no-program-done")
    first, job = [cluster.submit(body, "--gres=gpu:1", "--mem=50") for _ in range(2)]
    for each in (first, job):
        cluster.wait_file(f"slurm-{each}.out")
    step = ["srun", f"--jobid={job}", "--overlap", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"]
    assert cluster.run(*step).stdout == "0\n"
    cluster.kill("n1")
    cluster.under["n1"] = ["setpriv", "--bounding-set=-sys_admin,-bpf"]
    cluster.start_node("n1", wait=False)
    wait_drained(cluster, "Reason=slurmd: ConstrainDevices=yes: BPF_PROG_LOAD of the device program: Operation not permitted")
    assert cluster.run(*step).stdout == "1\n"
    (cluster.dir / "work" / "no-program-done").touch()
    for each in (first, job):
        cluster.wait_end(each)


# ---- NVML

def make_nvml(directory):
    for path in (directory, directory.parent):
        path.chmod(0o755)
    source = Path(__file__).with_name("fake_nvml.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(directory / "libnvidia-ml.so.1"), str(source)], check=True)
    return directory


@pytest.fixture(scope="module")
def nvml(tmp_path_factory):
    return make_nvml(tmp_path_factory.mktemp("nvml"))


# A /dev of its own for slurmd: with the devices that jobs need, and GPUs.
OWN_DEV = """
mkdir -p {dir}/real-dev && mount --rbind /dev {dir}/real-dev && mount -t tmpfs -o mode=755 none /dev &&
cp -a {dir}/real-dev/null {dir}/real-dev/zero {dir}/real-dev/full {dir}/real-dev/random {dir}/real-dev/urandom \
  {dir}/real-dev/tty {dir}/real-dev/fd /dev && {make} exec "$@"
"""


def nvml_cluster(make_cluster, library, gres, gpus="gpu:a40:2", files=(4, 5), **options):
    cluster = make_cluster(start=False, nodes=1, extra="GresTypes=gpu\n", node_extra=f"Gres={gpus}",
                           files={"gres.conf": gres, **options})
    make = "".join(f"mknod -m 666 /dev/nvidia{minor} c 1 {number} && " for minor, number in zip(files, NUMBERS * 2))
    cluster.under["n1"] = ["unshare", "-m", "sh", "-c", OWN_DEV.format(dir=cluster.dir, make=make), "sh"]
    before = cluster.environment
    cluster.environment = lambda **more: before(**{"LD_LIBRARY_PATH": str(library), **more})
    return cluster


def test_nvml_finds_the_gpus(make_cluster, as_root, nvml):
    conf = cgroup_conf("v1" if "v1" in mounts() else "v2", "ConstrainDevices=yes")
    cluster = nvml_cluster(make_cluster, nvml, "AutoDetect=nvml\n", **{"cgroup.conf": conf}).start()
    log = (cluster.dir / "log" / "n1.log").read_text()
    assert "AutoDetect=nvml: 4 GPUs" in log
    assert "AutoDetect=nvml: nvidia_a40 /dev/nvidia4: gpu:a40" in log
    assert "nvidia_h100_pcie /dev/nvidia6: not used" in log
    hold = cluster.submit("echo here" + HOLD.format(flag="nvml-done"), "--gres=gpu:a40:1")
    cluster.wait_file(f"slurm-{hold}.out")
    look = "for i in 4 5; do head -c1 /dev/nvidia$i >/dev/null 2>&1 && echo opened $i; done; echo $CUDA_VISIBLE_DEVICES"
    _, output = cluster.run_job(look, "--gres=gpu:a40:1")
    assert output.splitlines() == ["opened 5", "0"]
    (cluster.dir / "work" / "nvml-done").touch()
    cluster.wait_end(hold)


def test_found_gpus_are_known_by_uuid_and_linked_ones_go_together(make_cluster, as_root, nvml):
    cluster = nvml_cluster(make_cluster, nvml, "AutoDetect=nvml\n", "gpu:4", (4, 5, 6, 7)).start()
    say = "echo $NV_GPU $CUDA_VISIBLE_DEVICES \"<$ROCR_VISIBLE_DEVICES>\""
    assert cluster.run_job(say, "--gres=gpu:2")[1] == "GPU-0000-0,GPU-0000-3 0,3 <>\n"
    assert cluster.run_job(f"srun --gres=gpu:1 sh -c '{say}'", "--gres=gpu:4")[1] == "GPU-0000-0 0 <>\n"


def test_mig_devices_are_gpus_of_their_own(make_cluster, as_root, tmp_path):
    (make_nvml(tmp_path) / "mig").touch()
    cluster = nvml_cluster(make_cluster, tmp_path, "AutoDetect=nvml\n", "gpu:3g.20gb:1,gpu:1g.5gb:1", (4,)).start()
    assert "nvidia_a40_1g.5gb /dev/nvidia4: gpu:1g.5gb" in (cluster.dir / "log" / "n1.log").read_text()
    assert cluster.run_job("echo $CUDA_VISIBLE_DEVICES", "--gres=gpu:1g.5gb:1")[1] == "MIG-0000-1\n"
    assert cluster.run_job("echo $CUDA_VISIBLE_DEVICES", "--gres=gpu:2")[1] == "MIG-0000-0,MIG-0000-1\n"


def test_what_gres_conf_says_is_compared_with_what_is_found(make_cluster, as_root, nvml):
    gres = "AutoDetect=nvml\nName=gpu Type=a40 File=/dev/nvidia4 Cores=1\n"
    cluster = nvml_cluster(make_cluster, nvml, gres)
    start_daemons(cluster)
    wait_drained(cluster, "Cores=1 of gres.conf, but Cores=0 are found")


@pytest.mark.parametrize("gres, gpus, files, reason", [
    ("AutoDetect=nvml\n", "gpu:a40:2", (4,), "gres/gpu: can't stat gres.conf file /dev/nvidia5: No such file"),
    ("NodeName=n1 AutoDetect=nvml\n", "gpu:l4:2", (4, 5), None),
])
def test_gpus_that_are_not_there_drain_the_node(make_cluster, as_root, nvml, gres, gpus, files, reason):
    cluster = nvml_cluster(make_cluster, nvml, gres, gpus, files)
    cluster.conf.write_text(cluster.conf.read_text().replace("SlurmdParameters=config_overrides\n", "")
                            .replace("RealMemory=4000", "RealMemory=100").replace("CPUs=4", "CPUs=1"))
    start_daemons(cluster)
    wait_drained(cluster, reason or "gres/gpu count reported lower than configured (0 < 2)")


def test_without_the_library_the_reason_says_so(make_cluster, as_root, tmp_path):
    if any(os.path.exists(f"{path}/libnvidia-ml.so.1") for path in ("/usr/lib", "/usr/lib/x86_64-linux-gnu")):
        pytest.skip("this machine has the real one")
    cluster = nvml_cluster(make_cluster, tmp_path, "AutoDetect=nvml\n")
    start_daemons(cluster)
    wait_drained(cluster, "Reason=slurmd: gres/gpu: AutoDetect=nvml: libnvidia-ml.so.1: cannot open shared object file")


def test_a_node_without_gpus_needs_no_library(make_cluster):
    cluster = make_cluster(nodes=1, extra="GresTypes=gpu\n", files={"gres.conf": "AutoDetect=nvml\n"})
    assert cluster.run_job("echo ran")[1] == "ran\n"


def test_nvml_can_be_off_for_a_node(make_cluster, as_root):
    cluster = gpu_cluster(make_cluster)
    (cluster.dir / "etc" / "gres.conf").write_text(
        f"AutoDetect=nvml\nNodeName=n1 AutoDetect=off\nName=gpu Type=a40 File={cluster.dir}/dev/gpu[0-1]\n")
    cluster.start()
    assert cluster.run_job("echo $CUDA_VISIBLE_DEVICES", "--gres=gpu:2")[1] == "0,1\n"
