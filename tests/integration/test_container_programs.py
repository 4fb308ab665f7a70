"""Programs that run containers themselves, as the user guide has them: singularity (apptainer) and docker, by stand-ins."""

import re
from pathlib import Path

import pytest

from test_devices import make_nvml, nvml_cluster

GUIDE = Path(__file__).parents[2] / "docs" / "user-guide.md"


def put_program(cluster, name, body):
    path = cluster.dir / "work" / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return f"{path.parent}:{cluster.prefix}/bin:/usr/bin:/bin"


def line_of_guide(start):
    return next(line.strip() for line in GUIDE.read_text().splitlines() if line.strip().startswith(start))


SINGULARITY = """
[ "$1 $2 $3" = "exec --nv -B" ] || exit 9
echo "bound $4" && touch "$4/file" && echo "image $5" && shift 5
echo "$SLURM_JOB_ID $SLURM_PROCID $CUDA_VISIBLE_DEVICES $MINE"
exec "$@"
"""


def test_singularity_has_scratch_gpus_and_environment(make_cluster):
    cluster = make_cluster(nodes=1, gpus={"a40": ["n1"]})
    path = put_program(cluster, "singularity", SINGULARITY)
    command = line_of_guide("srun --gres=gpu:1 singularity").replace("nvidia-smi", "echo 'Hello world!'")
    record, output = cluster.run_job(f"echo $SCRATCH\n{command}; ls $SCRATCH", "--gres=gpu:2",
                                     env={"PATH": path, "MINE": "1"})
    assert record["JobState"] == "COMPLETED", output
    scratch, *lines = output.splitlines()
    assert lines == [f"bound {scratch}", "image docker://ubuntu", f"{record['JobId']} 0 0 1", "Hello world!", "file"]
    cluster.wait_for(lambda: not Path(scratch).exists(), what="the scratch directory to be removed")


def test_docker_is_told_the_gpus_and_cpus_of_the_job(make_cluster, as_root, tmp_path):
    cluster = nvml_cluster(make_cluster, make_nvml(tmp_path), "AutoDetect=nvml\n",
                           **{"cgroup.conf": "ConstrainCores=yes\n"}).start()
    path = put_program(cluster, "docker", 'for word; do echo "$word"; done')
    record, output = cluster.run_job(f"echo $NV_GPU\n{line_of_guide('docker run')}", "-c2", "--gres=gpu:2", env={"PATH": path})
    assert record["JobState"] == "COMPLETED", output
    uuids, *words = output.splitlines()
    assert len(uuids.split(",")) == 2 and all(re.fullmatch(r"GPU-[\w-]+", uuid) for uuid in uuids.split(","))
    # The quotes are docker's: it would take the second UUID for another word.
    assert words[:3] == ["run", "--gpus", f'"device={uuids}"']
    assert re.fullmatch(r"--cpuset-cpus=\d+([,-]\d+)*", words[3]) and words[4:] == ["image", "command"]
