"""A script runs once, whenever slurmd dies."""

import os
import shutil
import signal
from pathlib import Path

from cluster import wait_for

# In the place of slurmstepd: the first one waits when it has its order, the others start at once.
WAITING = """#!/usr/bin/python3
import os, socket, sys, time
marks = "{dir}"
first = not os.path.exists(marks + "/first")
if first:
    open(marks + "/first", "w").close()
    line = socket.socket(fileno=os.dup(3))
    line.recv(1, socket.MSG_PEEK)
    line.detach()
    with open(marks + "/pid.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(marks + "/pid.new", marks + "/pid")
    while not os.path.exists(marks + "/go"):
        time.sleep(0.02)
os.execv("{real}", ["slurmstepd"])
"""


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_a_slurmd_that_dies_while_it_starts_a_script_does_not_start_it_twice(make_cluster, tmp_path):
    for path in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        path.chmod(path.stat().st_mode | 0o755)
    cluster = make_cluster(start=False, nodes=1)
    real = Path(cluster.prefix)
    prefix = tmp_path / "prefix"
    (prefix / "sbin").mkdir(parents=True)
    for name in ("slurmctld", "slurmd"):
        shutil.copy(real / "sbin" / name, prefix / "sbin" / name)
    (prefix / "bin").symlink_to(real / "bin")
    stepd = prefix / "sbin" / "slurmstepd"
    stepd.write_text(WAITING.format(dir=tmp_path, real=real / "sbin" / "slurmstepd"))
    stepd.chmod(0o755)
    cluster.prefix = prefix
    cluster.start()
    job = cluster.submit("echo ran >> runs")
    wait_for((tmp_path / "pid").exists, what="the order to be with slurmstepd")
    first = int((tmp_path / "pid").read_text())
    cluster.kill("n1", signal.SIGKILL)
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    (tmp_path / "go").touch()
    wait_for(lambda: is_gone(first), what="the first slurmstepd to end")
    assert (cluster.dir / "work" / "runs").read_text() == "ran\n"
    assert os.listdir(cluster.dir / "work").count("runs") == 1
