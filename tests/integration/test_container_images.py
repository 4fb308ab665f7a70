"""--container-image and the other options of pyxis: images of archives and OCI layouts, unpacked by the user."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from test_containers import hide_one_cgroup_version, make_container_cluster, make_root, oci_conf, wait_clean
from test_devices import gpu_cluster

USER = "nobody"


@pytest.fixture(scope="module")
def layout():
    """An OCI layout with the tags v1 and latest, and an archive of v1."""
    base = Path(tempfile.mkdtemp(prefix="sluice-images-"))
    make_root(base / "root")
    images = base / "layout"

    def umoci(*words):
        subprocess.run(["umoci", *map(str, words)], check=True, stdout=subprocess.DEVNULL)

    umoci("init", "--layout", images)
    umoci("new", "--image", f"{images}:v1")
    umoci("insert", "--image", f"{images}:v1", base / "root", "/")
    umoci("config", "--image", f"{images}:v1", "--config.env", "PATH=/bin", "--config.env", "OF_IMAGE=yes",
          "--config.workingdir", "/etc", "--config.entrypoint", "/bin/echo", "--config.entrypoint", "entry")
    umoci("tag", "--image", f"{images}:v1", "latest")
    subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", f"oci:{images}:v1",
                    f"docker-archive:{base}/box.tar:box:v1"], check=True)
    subprocess.run(["chmod", "-R", "a+rX", base], check=True)
    yield images
    shutil.rmtree(base)


@pytest.fixture(scope="module")
def made(layout):
    """One cluster for all tests that leave it as it was."""
    from cluster import Cluster
    if os.getuid() != 0:
        pytest.skip("needs root: it runs jobs of several users")
    cluster = make_container_cluster(lambda start, **options: Cluster(**options), nodes=1)
    try:
        yield cluster
    finally:
        cluster.stop()


def scratch_of(cluster):
    return [str(path) for path in Path("/tmp").glob(f"scratch_n1_{cluster.ports.numbers[1]}/*/.containers/*/bundle")]


def srun(cluster, *words, check=True, **more):
    return cluster.run("srun", *map(str, words), user=more.pop("user", USER), check=check, **more)


@pytest.mark.parametrize("user", ["root", USER])
def test_images_of_layouts_and_archives(made, layout, user):
    for image in (f"oci:{layout}:v1", layout, f"docker-archive:{layout.parent}/box.tar", layout.parent / "box.tar"):
        done = srun(made, f"--container-image={image}", "sh", "-c", "cat /etc/name; pwd; echo $OF_IMAGE $SLURM_PROCID",
                    user=user)
        assert done.stdout.splitlines() == ["box", "/etc", "yes 0"]
        made.wait_for(lambda: not scratch_of(made), what="the image to be removed")
    wait_clean(made)


def test_a_batch_script_runs_in_an_image(made, layout):
    job = made.submit("cat /etc/name; echo $SLURM_CONTAINER.; exit 6", f"--container-image={layout}", user=USER)
    record = made.wait_end(job)
    assert made.output(job) == "box\n.\n"
    assert record["ExitCode"] == "6:0" and record["Container"] == str(layout)


def test_all_tasks_of_a_step_share_the_image(made, layout):
    done = srun(made, "-n3", f"--container-image={layout}", "--container-writable", "sh", "-c",
                "echo $SLURM_PROCID > /seen.$SLURM_PROCID; while ! test -e /seen.2; do sleep 0.1; done; ls / | cat")
    assert done.stdout.split().count("seen.2") == 3


def test_the_file_system_can_be_written_only_if_asked(made, layout):
    for option, ok in (("--container-readonly", False), ("--container-remap-root", False), ("--container-writable", True)):
        done = srun(made, f"--container-image={layout}", option, "sh", "-c", "echo x > /file && cat /file", check=False)
        assert (done.returncode == 0) == ok
    done = srun(made, f"--container-image={layout}", "sh", "-c", "echo x > $SCRATCH/file && cat $SCRATCH/file")
    assert done.stdout == "x\n"


def test_workdir_entrypoint_and_variables(made, layout):
    image = f"--container-image={layout}"
    assert srun(made, image, "--container-workdir=/bin", "pwd").stdout == "/bin\n"
    assert srun(made, image, "--container-entrypoint", "word").stdout == "entry word\n"
    assert srun(made, image, "--container-entrypoint", "--no-container-entrypoint", "echo", "word").stdout == "word\n"
    mine = {"OF_IMAGE": "no", "MINE": "1"}
    show = ["sh", "-c", "echo $OF_IMAGE $MINE"]
    assert srun(made, image, *show, env=mine).stdout == "yes 1\n"
    assert srun(made, image, "--container-env=OF_IMAGE", *show, env=mine).stdout == "no 1\n"


def test_mounts(made, layout):
    data = made.dir / "work" / "data"
    data.mkdir(exist_ok=True)
    data.chmod(0o777)
    (data / "file").write_text("from outside\n")
    image = f"--container-image={layout}"
    done = srun(made, image, f"--container-mounts={data}:/mnt/deep:ro,{data}", "sh", "-c",
                f"cat /mnt/deep/file {data}/file; touch /mnt/deep/new; touch {data}/new", check=False)
    assert done.stdout == "from outside\n" * 2 and "Read-only file system" in done.stderr
    assert (data / "new").exists()
    done = srun(made, image, "--container-mount-home", "sh", "-c", "test -d $HOME", env={"HOME": "/root"}, user="root",
                check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("mount, why", [
    ("data:/mnt", "the source must be an absolute path"), ("/tmp:mnt", "the destination must be an absolute path"),
    ("/tmp/../etc:/mnt", "without .."), ("/tmp:/mnt:suid", "unknown flag 'suid'")])
def test_mounts_that_are_no_paths_are_refused_at_once(made, layout, mount, why):
    for tool, command in (("srun", ["true"]), ("sbatch", ["--wrap=true"]), ("salloc", ["true"])):
        done = made.run(tool, f"--container-image={layout}", f"--container-mounts={mount}", *command, check=False)
        assert done.returncode != 0 and "--container-mounts" in done.stderr and why in done.stderr


def test_mounts_that_the_user_may_not_read_or_that_lead_out_are_refused(made, layout):
    secret = made.dir / "work" / "secret"
    secret.mkdir(mode=0o700, exist_ok=True)
    done = srun(made, f"--container-image={layout}", f"--container-mounts={secret}:/mnt", "true", check=False)
    assert done.returncode != 0 and f"{secret}: Permission denied" in done.stderr
    done = srun(made, f"--container-image={layout}", "--container-mounts=/no/such:/mnt", "true", check=False)
    assert done.returncode != 0 and "/no/such: No such file" in done.stderr
    script = f"""
srun --container-image={layout} --container-name=a --container-writable sh -c 'cd /; ln() {{ busybox ln "$@"; }}; ln -s ../../.. out'
srun --container-name=a --container-mounts=/tmp:/out/etc/x true
"""
    record, output = made.run_job(script, user=USER)
    assert record["JobState"] == "FAILED" and "/out/etc/x leads out of the container" in output


def test_a_named_container_is_kept_until_the_job_ends(made, layout):
    script = f"""
srun --container-image={layout} --container-name=mine --container-writable sh -c 'echo changed > /etc/name'
srun --container-name=mine cat /etc/name
srun --container-name=other true
"""
    record, output = made.run_job(script, user=USER)
    assert output.startswith("changed\n") and "the job has no such container on node n1" in output
    assert record["JobState"] == "FAILED"
    made.wait_for(lambda: not scratch_of(made), what="the image to be removed")
    done = srun(made, "--container-name=mine", "true", check=False)
    assert done.returncode != 0 and "no such container" in done.stderr


@pytest.mark.parametrize("user", ["root", USER])
def test_devices_of_others_are_denied_inside(as_root, make_cluster, layout, user):
    cluster = gpu_cluster(make_cluster, cgroup="ConstrainDevices=yes\n", files={"oci.conf": oci_conf("crun")})
    hide_one_cgroup_version(cluster)
    cluster.start()
    done = srun(cluster, "--gres=gpu:1", f"--container-image={layout}", f"--container-mounts={cluster.dir}/dev:/gpus", "sh",
                "-c", "for each in /gpus/*; do head -c 1 $each >/dev/null 2>&1 && echo open || echo denied; done",
                check=False, user=user)
    assert sorted(done.stdout.split()) == ["denied", "open"], done.stderr


@pytest.mark.parametrize("words, why", [
    (["--container-image=x.sqsh"], "squashfs"), (["--container-image=./box.tar"], "must be absolute"),
    (["--container-name=../x"], "letters, digits"), (["--container-workdir=etc", "--container-name=x"], "absolute path"),
    (["--container-mounts=/tmp:/mnt"], "needs --container-image"), (["--container-writable"], "needs --container-image"),
    (["--container=/x", "--container-image=x"], "mutually exclusive"), (["--container-save=/x"], "not supported"),
    (["--no-container-remap-root", "--container-image=x"], "not supported")])
def test_mistakes_are_named(made, words, why):
    for tool, command in (("srun", ["true"]), ("sbatch", ["--wrap=true"]), ("salloc", ["true"])):
        done = made.run(tool, *words, *command, check=False)
        assert done.returncode != 0 and why in done.stderr, done.stderr


def test_images_that_are_not_there_are_named(made, layout):
    for image in (f"oci:{layout}:v9", "/no/such/layout", "docker-archive:/no/such.tar"):
        done = srun(made, f"--container-image={image}", "true", check=False)
        assert done.returncode != 0 and ("no tag 'v9'" in done.stderr or "o such file" in done.stderr), done.stderr


def test_a_missing_tool_is_named_with_its_package(as_root, make_cluster, layout):
    cluster = make_cluster(start=False, nodes=1, files={"oci.conf": oci_conf("runc")})
    hide = 'mount --bind /dev/null /usr/bin/umoci && mount --bind /dev/null /usr/bin/skopeo && exec "$@"'
    cluster.under["n1"] = ["unshare", "-m", "sh", "-c", hide, "sh"]
    cluster.start()
    done = srun(cluster, f"--container-image={layout}", "true", check=False)
    assert done.returncode != 0 and "needs umoci on node n1" in done.stderr and "the package umoci" in done.stderr
    done = srun(cluster, f"--container-image={layout.parent}/box.tar", "true", check=False)
    assert done.returncode != 0 and "needs skopeo on node n1" in done.stderr
