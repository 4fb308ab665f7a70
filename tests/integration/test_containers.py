"""--container: the script or the task runs in an OCI bundle, through the runtime that oci.conf names."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

NAME = "%n.%u.%j.%s.%t"
RUNTIMES = {"runc": "runc --root=%m/state --log=/dev/null", "crun": "crun --root=%m/state --cgroup-manager=disabled"}
APPLETS = "sh ls cat id env pwd sleep echo touch stat mount kill test mkdir head dd tail".split()


def oci_conf(runtime, way="run"):
    command = RUNTIMES[runtime]
    start = {"run": f'RunTimeRun="{command} run -b %b {NAME}"\n',
             "create": f'RunTimeCreate="{command} create -b %b {NAME}"\nRunTimeStart="{command} start {NAME}"\n'
                       f'RunTimeQuery="{command} state {NAME}"\n'}
    return start[way] + f'RunTimeKill="{command} kill {NAME} KILL"\nRunTimeDelete="{command} delete --force {NAME}"\n'


def hybrid():
    return Path("/sys/fs/cgroup/unified").is_dir()


def make_root(path):
    for name in ("bin", "etc", "tmp", "proc", "dev", "sys"):
        (path / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", path / "bin" / "busybox")
    for applet in APPLETS:
        (path / "bin" / applet).symlink_to("busybox")
    (path / "etc" / "name").write_text("box\n")


def make_bundle(cluster, user="root", **changes):
    """What `runc spec --rootless` makes, with the processes of the node in /proc."""
    bundle = cluster.dir / "work" / f"bundle-{user}"
    make_root(bundle / "rootfs")
    config = {"ociVersion": "1.0.2", "root": {"path": "rootfs"},
              "process": {"args": ["sh"], "cwd": "/etc", "user": {"uid": 0, "gid": 0}, "env": ["OF_BUNDLE=yes"]},
              "mounts": [{"destination": "/proc", "type": "bind", "source": "/proc", "options": ["rbind"]},
                         {"destination": "/dev", "type": "bind", "source": "/dev", "options": ["rbind"]}],
              "linux": {"namespaces": [{"type": "mount"}], "cgroupsPath": "/elsewhere"}, **changes}
    (bundle / "config.json").write_text(json.dumps(config))
    subprocess.run(["chown", "-hR", user, bundle], check=True)
    return bundle


def hide_one_cgroup_version(cluster):
    """crun refuses machines with both generations of cgroups."""
    if hybrid():
        hide = ["unshare", "-m", "sh", "-c", 'umount /sys/fs/cgroup/unified && exec "$@"', "sh"]
        cluster.under.update({name: hide for name in cluster.nodes})


def make_container_cluster(make_cluster, runtime="runc", way="run", **options):
    files = {"oci.conf": oci_conf(runtime, way), **options.pop("files", {})}
    cluster = make_cluster(start=False, files=files, **options)
    if runtime == "crun":
        hide_one_cgroup_version(cluster)
    return cluster.start()


def left_of(cluster):
    """Bundles in the spool, mounts and cgroups of containers."""
    found = [str(path) for path in cluster.dir.rglob("oci.*") if path.is_dir()]
    found += [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(cluster.dir) in line]
    found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/*.*.*.{'[0-9]' * 10}.*")]
    return found


def wait_accounted(cluster, rows):
    cluster.wait_for(lambda: cluster.run("sacct", "-anP", "-S", "now-1day", "-o", "JobID,Container").stdout.split() == rows,
                     what=f"{rows} in sacct")


def wait_clean(cluster):
    cluster.wait_for(lambda: not left_of(cluster), what="no traces of containers")


SHOW = 'cat /etc/name; echo "$SLURM_CONTAINER $OF_BUNDLE $1"; pwd; head -c 7 /proc/self/cgroup >/dev/null; exit 3'


@pytest.mark.parametrize("way", ["run", "create"])
@pytest.mark.parametrize("runtime", ["runc", "crun"])
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_batch_script_runs_in_the_bundle(as_root, make_cluster, runtime, way, user):
    cluster = make_container_cluster(make_cluster, runtime, way, nodes=1)
    bundle = make_bundle(cluster, user)
    script = cluster.dir / "work" / "script"
    script.write_text(f"#!/bin/sh\n{SHOW}\n")
    job = cluster.run("sbatch", "--parsable", f"--container={bundle}", script, "word", user=user).stdout.strip()
    record = cluster.wait_end(job)
    assert cluster.output(job).splitlines() == ["box", f"{bundle} yes word", "/etc"]
    assert record["ExitCode"] == "3:0" and record["Container"] == str(bundle)
    assert cluster.run("squeue", "-h", "-t", "all", "-O", "Container:200", "-j", job).stdout.strip() == str(bundle)
    wait_accounted(cluster, [f"{job}|{bundle}", f"{job}.batch|{bundle}"])
    wait_clean(cluster)


def test_every_task_of_a_step_has_a_container(as_root, make_cluster):
    cluster = make_container_cluster(make_cluster)
    bundle = make_bundle(cluster, "nobody")
    done = cluster.run("srun", "-l", "-N2", "-n4", "--container", bundle, "sh", "-c",
                       "cat /etc/name; cat; exit $SLURM_PROCID", user="nobody", input="from srun\n", check=False)
    lines = done.stdout.splitlines()
    assert [lines.count(f"{task}: box") for task in range(4)] == [1, 1, 1, 1]
    assert [lines.count(f"{task}: from srun") for task in range(4)] == [1, 1, 1, 1]
    assert done.returncode == 3
    wait_accounted(cluster, [f"1|{bundle}", f"1.0|{bundle}"])
    wait_clean(cluster)


def test_salloc_runs_its_command_in_the_container_on_the_node(as_root, make_cluster):
    cluster = make_container_cluster(make_cluster, nodes=1)
    bundle = make_bundle(cluster, "nobody")
    done = cluster.run("salloc", f"--container={bundle}", "cat", "/etc/name", user="nobody")
    assert done.stdout == "box\n"


def test_the_container_is_in_the_cgroup_of_its_step(as_root, make_cluster):
    """Although its config.json names another one, and the runtime runs as root."""
    conf = "ConstrainRAMSpace=yes\n"
    for user in ("root", "nobody"):
        cluster = make_container_cluster(make_cluster, nodes=1, files={"cgroup.conf": conf})
        bundle = make_bundle(cluster, user)
        record, output = cluster.run_job("cat /proc/self/cgroup", f"--container={bundle}", user=user)
        confined = [line for line in output.splitlines() if ":memory:" in line or ":freezer:" in line]
        assert confined and all(f"/job_{record['JobId']}/step_batch" in line for line in confined)
        if user == "root":
            continue  # runc has a cgroup of its own then, whose counter of killed processes goes with it
        # tail keeps a line in memory until it ends.
        record, output = cluster.run_job("dd if=/dev/zero bs=1M count=400 | tail", "--mem=50M",
                                         f"--container={bundle}", user=user)
        assert record["JobState"] == "OUT_OF_MEMORY"
        wait_clean(cluster)


@pytest.mark.parametrize("way", ["run", "create"])
def test_signals_reach_the_container(as_root, make_cluster, way):
    cluster = make_container_cluster(make_cluster, way=way, nodes=1)
    bundle = make_bundle(cluster, "nobody")
    job = cluster.submit("trap 'echo caught; exit 5' USR1; echo up; while :; do sleep 0.1; done",
                         f"--container={bundle}", user="nobody")
    cluster.wait_file(f"slurm-{job}.out")
    cluster.wait_for(lambda: "up" in cluster.output(job), what="the script")
    cluster.run("scancel", "-b", "-s", "USR1", job)
    assert cluster.wait_end(job)["ExitCode"] == "5:0"
    assert "caught" in cluster.output(job)
    job = cluster.submit("echo up; sleep 1000", f"--container={bundle}", user="nobody")
    cluster.wait_file(f"slurm-{job}.out")
    cluster.run("scancel", job)
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"
    wait_clean(cluster)


def fake_runtime(cluster, body):
    path = cluster.dir / "work" / "runtime"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_signal_while_the_runtime_still_starts_the_container_reaches_the_script(as_root, make_cluster):
    cluster = make_cluster(nodes=1, start=False)
    sent = cluster.dir / "work" / "sent"
    slow = f"start {NAME}; while [ ! -e {sent} ]; do sleep 0.05; done"
    (cluster.dir / "etc" / "oci.conf").write_text(oci_conf("runc", "create").replace(f"start {NAME}", slow))
    cluster.start()
    bundle = make_bundle(cluster, "nobody")
    job = cluster.submit("trap 'echo caught; exit 5' USR1; echo up; while :; do sleep 0.1; done",
                         f"--container={bundle}", user="nobody")
    cluster.wait_file(f"slurm-{job}.out")
    cluster.run("scancel", "-b", "-s", "USR1", job)
    sent.touch()
    assert cluster.wait_end(job)["ExitCode"] == "5:0"
    assert cluster.output(job) == "up\ncaught\n"
    wait_clean(cluster)


def test_a_runtime_that_hangs_is_killed_and_its_container_deleted(as_root, make_cluster):
    cluster = make_cluster(start=False, nodes=1, extra="KillWait=1", files={"oci.conf": ""})
    runtime = fake_runtime(cluster, f"""
echo $* >> {cluster.dir}/work/calls
[ $1 != run ] || {{ trap '' TERM INT; echo up; (trap '' TERM; sleep 1000) & wait; sleep 1000; }}
[ $1 != delete ] || sleep 1000""")
    conf = f'RunTimeRun="{runtime} run %b %p"\nRunTimeKill="{runtime} kill %j %p"\n' \
           f'RunTimeDelete="{runtime} delete %j.%s"\n'
    cluster.files["oci.conf"] = conf
    cluster.write_config()
    cluster.start()
    (cluster.dir / "work" / "calls").touch()
    (cluster.dir / "work" / "calls").chmod(0o666)
    bundle = make_bundle(cluster, "nobody")
    job = cluster.submit("true", f"--container={bundle}", user="nobody")
    cluster.wait_file(f"slurm-{job}.out")
    cluster.run("scancel", job)
    cluster.wait_end(job)
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="n1 to be idle")
    calls = [line.split() for line in (cluster.dir / "work" / "calls").read_text().splitlines()]
    assert [call[0] for call in calls] == ["run", "kill", "delete"]
    assert calls[1][1:] == [job, calls[0][2]]
    wait_clean(cluster)


def test_patterns_variables_and_the_environment_file(as_root, make_cluster):
    """Runtimes that know no config.json, such as singularity."""
    cluster = make_cluster(start=False, nodes=1, files={"oci.conf": ""})
    runtime = fake_runtime(cluster, 'env=$1; shift; echo "$@"; echo "$SECRET.$HIDDEN.$OPEN"; tr "\\0" "\\n" <$env | '
                                    'grep -E "^(SECRET|HIDDEN|OPEN)="')
    conf = f'RunTimeRun="{runtime} %e %r %j %s %t %n %u %U 100%% %@"\nIgnoreFileConfigJson=true\n' \
           f'CreateEnvFile=null\nEnvExclude="^SECRET="\nRunTimeEnvExclude="^(HIDDEN|OTHER)="\n' \
           f'ContainerPath={cluster.dir}/work/made-%u-%j-%s-%t\n'
    cluster.files["oci.conf"] = conf
    cluster.write_config()
    cluster.start()
    words = {"SECRET": "1", "HIDDEN": "2", "OPEN": "3"}
    done = cluster.run("srun", "--container=/some/image", "echo", "it's", "a b", user="nobody", env=words)
    uid = subprocess.check_output(["id", "-u", "nobody"], text=True).strip()
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"/some/image 1 0 0 n1 nobody {uid} 100% echo it's a b", "1..3"]
    assert sorted(lines[2:]) == ["HIDDEN=2", "OPEN=3"]
    assert not list((cluster.dir / "work").glob("made-*"))


def test_a_bundle_is_kept_to_look_for_mistakes(as_root, make_cluster):
    cluster = make_cluster(start=False, nodes=1, files={"oci.conf": ""})
    runtime = fake_runtime(cluster, "true")
    cluster.files["oci.conf"] = f'RunTimeRun={runtime}\nDisableCleanup=yes\nDisableHooks=prestart,poststop\n' \
                                f'MountSpoolDir=/tmp/of-%j\nContainerPath={cluster.dir}/work/kept\n'
    cluster.write_config()
    cluster.start()
    hooks = {"prestart": [{"path": "/bin/x"}], "poststart": [{"path": "/bin/y"}]}
    bundle = make_bundle(cluster, "nobody", hooks=hooks)
    record, _ = cluster.run_job("true", f"--container={bundle}", user="nobody")
    config = json.loads((cluster.dir / "work" / "kept" / "config.json").read_text())
    assert list(config["hooks"]) == ["poststart"]
    assert config["process"]["args"] == [f"/tmp/of-{record['JobId']}/slurm_script"]
    assert "cgroupsPath" not in config["linux"] and config["root"]["path"] == f"{bundle}/rootfs"


def test_what_cannot_be_run_is_refused_by_name(as_root, make_cluster):
    cluster = make_container_cluster(make_cluster, nodes=1)
    for tool, command in (("sbatch", ["--wrap=true"]), ("srun", ["true"]), ("salloc", ["true"])):
        done = cluster.run(tool, "--container=bundle", *command, check=False)
        assert done.returncode != 0 and "--container" in done.stderr and "absolute path" in done.stderr
    done = cluster.run("srun", "--container=/no/such/bundle", "true", check=False, user="nobody")
    assert done.returncode != 0 and "/no/such/bundle/config.json: No such file" in done.stderr
    record, output = cluster.run_job("true", "--container=/no/such/bundle", user="nobody")
    assert record["JobState"] == "FAILED" and "/no/such/bundle/config.json: No such file" in output
    bundle = make_bundle(cluster, "root")  # whose root file system another user cannot write
    record, output = cluster.run_job("true", f"--container={bundle}", user="nobody")
    assert record["JobState"] == "FAILED" and "has no /var/run/slurm/slurm_script" in output
    (bundle / "config.json").write_text("{")
    done = cluster.run("srun", f"--container={bundle}", "true", check=False)
    assert done.returncode != 0 and "config.json is no JSON object" in done.stderr
    wait_clean(cluster)


def test_a_node_without_oci_conf_refuses_containers(make_cluster):
    cluster = make_cluster(nodes=1)
    done = cluster.run("srun", "--container=/bundle", "true", check=False)
    assert done.returncode != 0 and "node n1 has no oci.conf" in done.stderr
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME", check=False)


def test_the_end_of_slurmd_leaves_the_container_alone(as_root, make_cluster):
    cluster = make_container_cluster(make_cluster, nodes=1)
    bundle = make_bundle(cluster, "nobody")
    job = cluster.submit("echo up; while ! test -e /proc/1/root/none && ! test -e /tmp/go; do sleep 0.1; done; exit 4",
                         f"--container={bundle}", user="nobody")
    cluster.wait_file(f"slurm-{job}.out")
    cluster.kill("n1")
    (bundle / "rootfs" / "tmp" / "go").touch()
    cluster.start_node("n1")
    assert cluster.wait_end(job)["ExitCode"] == "4:0"
    wait_clean(cluster)
