"""A whole Sluice cluster on loopback: real daemons, own directory, own ports.

Used by the integration tests, and by hand:

    tools/cluster.py up --nodes 4        # prints the variables to export, runs until Ctrl-C

Everything lives under one directory, and every process of the cluster carries that directory in
its environment (MARKER), so that stop() can prove that nothing has survived.
"""

import atexit
import fcntl
import functools
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

MARKER = "SLUICE_CLUSTER_DIR"
ROOT = Path(__file__).resolve().parent.parent
PORT_BLOCKS = range(10000, 32000, 40)  # below the ports that the kernel hands out by itself

ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
         "DEADLINE"}


@functools.cache
def default_prefix():
    """Where the programs are, for all users: what lies below a closed directory (/root) is copied."""
    prefix = Path(os.environ.get("SLUICE_PREFIX", ROOT / "build" / "prefix"))
    if all(parent.stat().st_mode & 0o001 for parent in prefix.parents):
        return prefix
    open_to_all = Path(tempfile.mkdtemp(prefix="sluice-prefix-"))
    open_to_all.chmod(0o755)
    atexit.register(shutil.rmtree, open_to_all, ignore_errors=True)
    return Path(shutil.copytree(prefix, open_to_all / "prefix", symlinks=True))


PATIENCE = 120  # seconds: only ever reached when something is wrong, however slow the machine


def wait_for(condition, timeout=PATIENCE, what="the condition", interval=0.02):
    """The first true value of condition(), or an AssertionError that says what was awaited."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}; last value: {value!r}")
        time.sleep(interval)


def process_state(pid):
    """R, S, T, ... as ps shows it."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def is_frozen(pid):
    """Whether a process of a suspended job stands still: by its cgroup's freezer, or by SIGSTOP."""
    if process_state(pid) == "T":
        return True
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, kind, path = line.split(":", 2)
        if kind == "freezer" and path != "/":
            return Path(f"/sys/fs/cgroup/freezer{path}/freezer.state").read_text() == "FROZEN\n"
        events = Path(f"/sys/fs/cgroup{path}/cgroup.events")
        if not kind and events.exists():
            return "frozen 1" in events.read_text()
    return False


class Ports:
    """Ports in a row that no other cluster of these tests uses, kept by a lock for each block."""

    def __init__(self, count):
        blocks = list(PORT_BLOCKS)
        wanted = -(-count // PORT_BLOCKS.step)
        starts = list(range(len(blocks) - wanted + 1))
        random.shuffle(starts)
        for start in starts:
            self.locks = []
            self.numbers = range(blocks[start], blocks[start] + count)
            if all(self.lock(first) for first in blocks[start:start + wanted]) and \
                    all(self.is_free(port) for port in self.numbers):
                return
            self.release()
        raise RuntimeError(f"no {count} free ports in a row")

    def lock(self, first):
        """Whether the block is now ours."""
        name = f"{tempfile.gettempdir()}/.sluice-ports-{os.getuid()}-{first}"
        lock = open(name, "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder removes the file: what we have locked may no longer have that name.
            held = os.path.samestat(os.fstat(lock.fileno()), os.stat(name))
        except OSError:
            held = False
        if held:
            self.locks.append(lock)
        else:
            lock.close()
        return held

    @staticmethod
    def is_free(port):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                return False
        return True

    def release(self):
        for lock in self.locks:
            os.unlink(lock.name)
            lock.close()


class Cluster:
    controllers = ["slurmctld"]

    def __init__(self, nodes=2, cpus=4, memory=4000, extra="", node_extra="", files=None,
                 user=None, prefix=None, gpus=None, partitions=None, address="127.0.0.1",
                 hosts=None, dbd=None):
        """
        extra       lines for slurm.conf
        node_extra  words for the NodeName lines, or a dictionary of them by node
        files       more files for the configuration directory, by name
        user        the one who runs the cluster
        gpus        {"a40": ["n1", "n2"]}: two pretend GPUs of that type for each node named
        address     of the controller, and of nodes that are not in hosts
        hosts       {"n2": (network namespace, address)}: nodes that are on a host of their own
                    as far as connections are concerned
        dbd         lines for slurmdbd.conf: slurmdbd has the accounting database
        """
        self.prefix = Path(prefix or default_prefix())
        self.user = user or pwd.getpwuid(os.getuid()).pw_name
        self.nodes = [f"n{i}" for i in range(1, nodes + 1)]
        self.cpus, self.memory = cpus, memory
        self.extra, self.node_extra = extra, node_extra
        self.files, self.gpus = files or {}, gpus or {}
        self.partitions = partitions or "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE"
        self.address, self.hosts = address, hosts or {}
        self.dir = Path(tempfile.mkdtemp(prefix="sluice-"))
        self.dbd = dbd
        self.ports = Ports(nodes + 1)
        self.dbd_ports = Ports(1) if dbd is not None else None
        self.daemons = {}  # name -> Popen
        self.under = {}  # name -> the words of a command that runs it
        self.checked = True  # False: a test broke the cluster on purpose
        os.chmod(self.dir, 0o755)
        for name in ("etc", "state", "spool", "scratch", "log", "dev", "work"):
            (self.dir / name).mkdir()
        os.chmod(self.dir / "work", 0o1777)
        self.write_config()
        if os.getuid() == 0 and self.user != "root":
            entry = pwd.getpwnam(self.user)
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)

    # ---- configuration

    def config_text(self):
        here, port = self.dir, self.ports.numbers[0]
        own_user = "" if self.user == "root" else "ProctrackType=proctrack/linuxproc\n"
        return f"""\
ClusterName=test
SlurmctldHost={socket.gethostname()}({self.address})
SlurmctldPort={port}
SlurmUser={self.user}
SlurmdUser={self.user}
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool/%n
ScratchDir={here}/scratch
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd-%n.pid
SlurmctldLogFile={here}/log/slurmctld.log
SlurmdLogFile={here}/log/%n.log
SlurmctldDebug=debug
SlurmdDebug=debug
SlurmdParameters=config_overrides
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
KillWait=2
ReturnToService=2
{own_user}{self.dbd_lines()}{self.extra}
{self.gres_types()}
{self.node_lines()}
{self.partitions}
"""

    def dbd_lines(self):
        if self.dbd is None:
            return ""
        return ("AccountingStorageType=accounting_storage/slurmdbd\n"
                f"AccountingStorageHost={self.address}\nAccountingStoragePort={self.dbd_ports.numbers[0]}\n")

    def dbd_text(self):
        return (f"DbdHost={socket.gethostname()}\nDbdPort={self.dbd_ports.numbers[0]}\nSlurmUser={self.user}\n"
                f"LogFile={self.dir}/log/slurmdbd.log\nPidFile={self.dir}/slurmdbd.pid\nDebugLevel=debug\n"
                f"StorageType=accounting_storage/sqlite\nStorageLoc={self.dir}/state/dbd.db\n{self.dbd}\n")

    def gres_types(self):
        return "GresTypes=gpu" if self.gpus else ""

    def node_lines(self):
        lines = []
        for number, name in enumerate(self.nodes, 1):
            kinds = [f"gpu:{kind}:2" for kind, nodes in self.gpus.items() if name in nodes]
            gres = f"Gres={','.join(kinds)}" if kinds else ""
            extra = self.node_extra.get(name, "") if isinstance(self.node_extra, dict) \
                else self.node_extra
            lines.append(
                f"NodeName={name} NodeAddr={self.hosts.get(name, ('', self.address))[1]}"
                f" Port={self.ports.numbers[1 if self.hosts else number]}"
                f" CPUs={self.cpus} RealMemory={self.memory} {gres} {extra}")
        return "\n".join(lines)

    def gres_text(self):
        lines = []
        for kind, nodes in self.gpus.items():
            for number in range(2):
                self.make_device(self.dir / "dev" / f"{kind}_{number}")
            lines += [f"NodeName={node} Name=gpu Type={kind} File={self.dir}/dev/{kind}_[0-1]"
                      for node in nodes]
        return "\n".join(lines) + "\n"

    @staticmethod
    def make_device(path):
        """A pretend GPU; only its name matters, but a device can also be confined by cgroups."""
        if path.exists():
            return
        if os.getuid() == 0:
            os.mknod(path, 0o020666, os.makedev(1, 3))
        else:
            path.touch()

    def write_config(self):
        self.conf = self.dir / "etc" / "slurm.conf"
        self.conf.write_text(self.config_text())
        if self.gpus:
            (self.dir / "etc" / "gres.conf").write_text(self.gres_text())
        if self.dbd is not None:
            (self.dir / "etc" / "slurmdbd.conf").write_text(self.dbd_text())
            (self.dir / "etc" / "slurmdbd.conf").chmod(0o600)
        for name, text in self.files.items():
            path = self.dir / "etc" / name
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            os.chmod(path, 0o600 if name.endswith(".key") else 0o644)

    # ---- processes

    def environment(self, **more):
        path = f"{self.prefix}/bin:{self.prefix}/sbin:/usr/local/bin:/usr/bin:/bin"
        sanitizers = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        return {"PATH": path, "SLURM_CONF": str(self.conf), MARKER: str(self.dir), "LANG": "C",
                "HOME": "/", "SHELL": "/bin/sh", **sanitizers, **{k: str(v) for k, v in more.items()}}

    def as_user(self, user):
        if user is None or user == pwd.getpwuid(os.getuid()).pw_name:
            return []
        entry = pwd.getpwnam(user)
        return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups"]

    def on_host(self, node):
        """What to put before a command so that it runs on the host of a node."""
        return ["nsenter", f"--net=/run/netns/{self.hosts[node][0]}"] if node in self.hosts else []

    def start_daemon(self, name, *argv):
        log = open(self.dir / "log" / f"{name}.stderr", "ab")
        command = [*self.under.get(name, []), *self.on_host(name), *self.as_user(self.user), f"{self.prefix}/sbin/{argv[0]}", *argv[1:]]
        self.daemons[name] = subprocess.Popen(command, env=self.environment(), cwd=self.dir,
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              start_new_session=True)

    def start_controller(self, wait=True, name="slurmctld"):
        self.start_daemon(name, "slurmctld", "-D")
        if wait:
            self.wait_for(self.controller_up, what="slurmctld to answer")

    def start_dbd(self):
        self.start_daemon("slurmdbd", "slurmdbd", "-D")
        self.wait_for(lambda: self.run("sacctmgr", "-n", "show", "cluster", check=False).returncode == 0,
                      what="slurmdbd to answer")

    def start_node(self, name, wait=True):
        self.start_daemon(name, "slurmd", "-D", "-N", name)
        if wait:
            self.wait_for(lambda: self.node_state(name) in ("idle", "mix", "alloc", "comp"),
                          what=f"{name} to register")

    def start(self):
        checked, self.checked = self.checked, False
        if self.dbd is not None:
            self.start_dbd()
        self.start_controller()
        for name in self.nodes:
            self.start_node(name, wait=False)
        self.wait_for(lambda: self.node_states() == dict.fromkeys(self.nodes, "idle"),
                      what="all nodes to be idle")
        self.checked = checked
        return self

    def controller_up(self):
        if self.daemons["slurmctld"].poll() is not None:
            raise AssertionError("slurmctld has ended" + self.logs())
        return self.run("scontrol", "ping", check=False).returncode == 0

    def node_state(self, name):
        return self.run("sinfo", "-h", "-n", name, "-o", "%t", check=False).stdout.strip()

    def node_states(self):
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False).stdout.splitlines()
        return dict(line.split() for line in lines)

    def kill(self, name, number=signal.SIGKILL):
        """Sends the signal and waits for the end of a daemon: its exit status."""
        daemon = self.daemons.pop(name)
        daemon.send_signal(number)
        return daemon.wait(timeout=PATIENCE)

    def alive(self, name):
        return name in self.daemons and self.daemons[name].poll() is None

    # ---- commands

    def run(self, *argv, user=None, check=True, env=None, cwd=None, timeout=60, **options):
        """Runs a command against the cluster, its output as text."""
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        if "input" in options:
            options.pop("stdin")
        result = subprocess.run([*self.as_user(user or self.user), *map(str, argv)],
                                env=self.environment(**(env or {})), cwd=cwd or self.dir / "work",
                                timeout=timeout, text=options.pop("text", True),
                                capture_output=True, **options)
        if check and result.returncode != 0:
            raise AssertionError(f"{argv} gave {result.returncode}: {result.stderr}" + self.logs())
        return result

    def popen(self, *argv, user=None, env=None, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   "stdin": subprocess.PIPE, "cwd": self.dir / "work", **options}
        return subprocess.Popen([*self.as_user(user or self.user), *map(str, argv)],
                                env=self.environment(**(env or {})), **options)

    def submit(self, body, *options, user=None, **more):
        """A batch script of these lines: its job id."""
        script = body if body.startswith("#!") else f"#!/bin/sh\n{body}\n"
        return self.run("sbatch", "--parsable", *options, user=user, input=script,
                        **more).stdout.strip()

    def jobs(self, job, *options):
        """`scontrol show job` as a list of dictionaries, a member for each task of an array."""
        result = self.run("scontrol", "-o", *options, "show", "job", job, check=False)
        return [dict(word.split("=", 1) for word in line.split() if "=" in word)
                for line in result.stdout.splitlines() if line.startswith("JobId=")]

    def job(self, job, *options):
        found = self.jobs(job, *options)
        return found[0] if found else {}

    def state(self, job):
        return self.job(job).get("JobState", "")

    def wait_state(self, job, *states, timeout=PATIENCE):
        def reached():
            found = self.job(job)
            return found if found.get("JobState") in states else None
        return self.wait_for(reached, timeout, f"job {job} to be {' or '.join(states)},"
                             f" it is {self.state(job)}")

    def wait_end(self, job, timeout=PATIENCE):
        return self.wait_state(job, *ENDED, timeout=timeout)

    def output(self, job, name="slurm-{}.out"):
        return (self.dir / "work" / name.format(job)).read_text()

    def run_job(self, body, *options, **more):
        """Submits, waits for the end: (the job's record, what it printed)."""
        job = self.submit(body, *options, **more)
        record = self.wait_end(job)
        return record, self.output(job)

    # ---- checks

    def wait_for(self, condition, timeout=PATIENCE, what="the condition"):
        try:
            return wait_for(condition, timeout, what)
        except AssertionError as error:
            raise AssertionError(f"{error}{self.logs()}") from None

    def wait_file(self, path, timeout=PATIENCE):
        """The text of a file once it is there and not empty; relative to the jobs' directory."""
        path = self.dir / "work" / path
        return self.wait_for(lambda: path.exists() and path.read_text(), timeout, f"file {path}")

    def logs(self, lines=40):
        text = ""
        for path in sorted((self.dir / "log").iterdir()):
            tail = path.read_text(errors="replace").splitlines()[-lines:]
            text += f"\n---- {path.name}\n" + "\n".join(tail)
        return text

    def processes(self):
        """Pids and command lines of all that belongs to this cluster and is not a zombie."""
        mark, found = f"{MARKER}={self.dir}".encode(), {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                ours = mark in (entry / "environ").read_bytes().split(b"\0")
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                if line and (ours or str(self.dir) in line):
                    found[int(entry.name)] = line
            except OSError:
                continue
        return found

    # ---- the end

    def cancel_all(self):
        for name in self.controllers:
            if not self.alive(name):
                self.start_controller(name=name)
        for name in self.nodes:
            if not self.alive(name):
                self.start_node(name, wait=False)
        listed = self.run("squeue", "-h", "-o", "%A").stdout.split()
        if listed:
            self.run("scancel", *sorted(set(listed)), check=False)
        self.wait_for(lambda: not self.run("squeue", "-h").stdout, what="an empty queue")

    def stop(self):
        """Cancels all jobs, stops the daemons, and insists that nothing is left of them."""
        try:
            if self.checked:
                self.cancel_all()
            for name in [*self.nodes, *self.controllers, "slurmdbd"]:
                if self.alive(name):
                    status = self.kill(name, signal.SIGTERM)
                    # A daemon that has only just been started dies of the signal: that is fine.
                    assert not self.checked or status in (0, -signal.SIGTERM), \
                        f"{name} ended with {status}"
            if self.checked:
                self.wait_for(lambda: not self.processes(), 10,
                              f"the end of all processes, left: {self.processes()}")
        finally:
            self.clean_up()

    def clean_up(self):
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            for pid in self.processes():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.05)
        self.ports.release()
        if self.dbd_ports:
            self.dbd_ports.release()
        if not os.environ.get("SLUICE_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)


class SharedCluster(Cluster):
    """Several controllers of one state in PostgreSQL: c1, the primary, c2, ... Each controller and each node is on a
    host of its own. Commands run on the host of the test."""

    def __init__(self, database, hosts, controllers=("c1", "c2"), **options):
        """
        database     what StateSaveLocation is set to
        hosts        {"c1": (network namespace, address), "n1": ...}: all controllers and nodes
        """
        self.database, self.controllers = database, list(controllers)
        options.setdefault("nodes", sum(name.startswith("n") for name in hosts))
        super().__init__(hosts=hosts, **options)

    def config_text(self):
        text = super().config_text()
        own = [line for line in text.splitlines() if line.startswith("SlurmctldHost=")][0]
        all_of_them = "\n".join(f"SlurmctldHost={name}({self.hosts[name][1]})" for name in self.controllers)
        return text.replace(own, all_of_them).replace(f"StateSaveLocation={self.dir}/state",
                                                      f"StateSaveLocation={self.database}")

    def write_config(self):
        super().write_config()
        for name in self.controllers:  # their pid files are on hosts of their own
            conf = self.dir / "etc" / f"{name}.conf"
            conf.write_text(self.conf.read_text().replace("/slurmctld.pid", f"/{name}.pid")
                            .replace("/slurmctld.log", f"/{name}.log"))

    def start_controller(self, wait=True, name=None):
        for each in [name] if name else self.controllers:
            self.start_daemon(each, "slurmctld", "-D", "-f", str(self.dir / "etc" / f"{each}.conf"))
            if wait:
                self.wait_for(lambda: self.ping().get(each) == "UP", what=f"{each} to answer")
        if wait:
            self.wait_for(self.active, what="a controller to be active")

    def ping(self):
        """{"c1": "UP", "c2": "DOWN", "active": "c1"}"""
        found = {}
        for line in self.run("scontrol", "ping", check=False).stdout.splitlines():
            words = line.split()
            if line.startswith("Slurmctld("):
                found[words[2]] = words[4]
            elif line.startswith("Active controller: "):
                found["active"] = words[2]
        return found

    def active(self):
        name = self.ping().get("active")
        return name if name in self.controllers else None

    def other(self, name):
        return next(each for each in self.controllers if each != name)

    def wait_active(self, name, timeout=PATIENCE):
        self.wait_for(lambda: self.active() == name, timeout, f"{name} to be active, it is {self.active()}")

    def cut(self, name, *addresses, undo=False):
        """What the host of a daemon sends to these addresses is dropped, and so no connection with them works."""
        for address in addresses:
            subprocess.run(["ip", "-n", self.hosts[name][0], "route", "del" if undo else "add", "blackhole",
                            f"{address}/32"], check=True)


def main():
    import argparse
    parser = argparse.ArgumentParser(description="A cluster on loopback, until Ctrl-C.")
    parser.add_argument("verb", choices=["up"])
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--conf", default="", help="more lines for slurm.conf")
    options = parser.parse_args()
    cluster = Cluster(nodes=options.nodes, cpus=options.cpus, extra=options.conf,
                      gpus={"a40": ["n1"]})
    try:
        cluster.start()
        print(f"export SLURM_CONF={cluster.conf} PATH={cluster.prefix}/bin:$PATH", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
