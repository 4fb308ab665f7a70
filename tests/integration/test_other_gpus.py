"""AutoDetect=rsmi, oneapi and nrt: GPUs of AMD and Intel through stand-ins of their libraries, Neuron devices through sysfs."""

import subprocess
from pathlib import Path

import pytest

from test_devices import NUMBERS, OWN_DEV

# As OWN_DEV has /dev: the part of /sys that the daemon reads.
OWN_SYS = """
mount -t tmpfs none /sys/bus && mount -t tmpfs none /sys/class &&
for each in 0001:02:03.0/128 0001:02:04.0/129 0000:03:00.0/130 0000:04:00.0/131; do
  mkdir -p /sys/bus/pci/devices/${each%/*}/drm/renderD${each#*/} /sys/bus/pci/devices/${each%/*}/drm/card0 || exit 1
  echo 0 > /sys/bus/pci/devices/${each%/*}/local_cpulist
done
for each in 0 1; do mkdir -p /sys/class/neuron_device/neuron$each; echo trn1 > /sys/class/neuron_device/neuron$each/device_name; done
mkdir /dev/dri; """

WAYS = {"rsmi": ("instinct_mi250", "/dev/dri/renderD12{}", (8, 9), "ROCR_VISIBLE_DEVICES"),
        "oneapi": ("intel(r)_data_center_gpu_max_1550", "/dev/dri/renderD13{}", (0, 1), "ZE_AFFINITY_MASK"),
        "nrt": ("trn1", "/dev/neuron{}", (0, 1), None)}
VARIABLES = ["CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    directory = tmp_path_factory.mktemp("gpus")
    for path in (directory, directory.parent):
        path.chmod(0o755)
    source = Path(__file__).with_name("fake_gpus.c")
    for name in ("librocm_smi64.so", "libze_loader.so.1"):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(directory / name), str(source)], check=True)
    return directory


def gpu_cluster(make_cluster, libraries, way, gres, **files):
    cluster = make_cluster(start=False, nodes=1, extra="GresTypes=gpu\n", node_extra=f"Gres={gres}",
                           files={"gres.conf": f"AutoDetect={way}\n", **files})
    names = [pattern.format(minor) for _, pattern, minors, _ in WAYS.values() for minor in minors]
    make = OWN_SYS + "".join(f"mknod -m 666 {name} c 1 {number} && " for name, number in zip(names, list(NUMBERS) * 6))
    cluster.under["n1"] = ["unshare", "-m", "sh", "-c", OWN_DEV.format(dir=cluster.dir, make="{make}").replace("{make}", make),
                           "sh"]
    before = cluster.environment
    cluster.environment = lambda **more: before(**{"LD_LIBRARY_PATH": str(libraries), **more})
    return cluster


@pytest.mark.parametrize("way", WAYS)
def test_gpus_of_other_makers_are_found(as_root, make_cluster, libraries, way):
    name, pattern, minors, variable = WAYS[way]
    cluster = gpu_cluster(make_cluster, libraries, way, f"gpu:{name}:2", **{"cgroup.conf": "ConstrainDevices=yes\n"}).start()
    log = (cluster.dir / "log" / "n1.stderr").read_text() + "".join(
        path.read_text() for path in (cluster.dir / "log").glob("*n1*"))
    assert f"AutoDetect={way}: 2 GPUs" in log
    assert f"AutoDetect={way}: {name} {pattern.format(minors[1])}: gpu:{name}" in log
    files = " ".join(pattern.format(minor) for minor in minors)
    show = "; ".join(f"echo {each}=${each}" for each in VARIABLES)
    done = cluster.run("srun", f"--gres=gpu:{name}:1", "sh", "-c",
                       f"{show}; for each in {files}; do head -c 0 $each 2>/dev/null && echo open || echo denied; done")
    lines = done.stdout.splitlines()
    assert lines[:4] == [f"{each}={'0' if each == variable else ''}" for each in VARIABLES]
    assert sorted(lines[4:]) == ["denied", "open"]


def test_all_makers_are_found_together(as_root, make_cluster, libraries):
    gres = "gpu:instinct_mi250:2,gpu:max_1550:2,gpu:trn1:2"
    cluster = gpu_cluster(make_cluster, libraries, "full", gres).start()
    for kind, variable in (("instinct_mi250", "ROCR_VISIBLE_DEVICES"), ("max_1550", "ZE_AFFINITY_MASK")):
        done = cluster.run("srun", f"--gres=gpu:{kind}:2", "sh", "-c", f"echo ${variable} $CUDA_VISIBLE_DEVICES")
        assert len(done.stdout.strip().split(",")) == 2 and len(done.stdout.split()) == 1


@pytest.mark.parametrize("way, reason", [("rsmi", "librocm_smi64.so"), ("oneapi", "libze_loader.so"),
                                         ("nrt", "/sys/class/neuron_device: no devices")])
def test_a_node_without_them_is_drained_with_the_reason(as_root, make_cluster, way, reason):
    cluster = make_cluster(start=False, nodes=1, extra="GresTypes=gpu\n", node_extra="Gres=gpu:2",
                           files={"gres.conf": f"AutoDetect={way}\n"})
    cluster.checked = False
    cluster.start_controller()
    cluster.start_node("n1", wait=False)
    cluster.wait_for(lambda: cluster.node_state("n1") == "drain", what="n1 to be drained")
    assert f"AutoDetect={way}: {reason}" in cluster.run("sinfo", "-h", "-R", "-o", "%200E").stdout
