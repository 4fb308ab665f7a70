"""Jobs that are submitted, start and end while the controllers of a shared state, its database or the network between
them fail or are upgraded, and what must be true of these jobs afterwards."""

import threading
import time

from cluster import SharedCluster
from shared_state import location

SHORT = "#!/bin/sh\necho $SLURM_JOB_ID >>runs.$SLURM_JOB_NAME\nsleep 0.1\n"
# Counts how often it is started; ends when the round does.
STEADY = "#!/bin/sh\necho $SLURM_JOB_ID >>runs.$SLURM_JOB_NAME\nwhile [ ! -e go.$1 ]; do sleep 0.1; done\n"


class Load:
    """Submissions one after the other by several users at a time, and jobs that run all the time."""

    def __init__(self, cluster, tag, submitters=2):
        self.cluster, self.tag = cluster, tag
        self.acknowledged, self.tried, self.answers = {}, [], []
        self.ended = threading.Event()
        self.steady = {}
        for number, node in enumerate(cluster.nodes):
            name = f"{tag}-steady{number}"
            self.steady[name] = cluster.run("sbatch", "--parsable", "-J", name, "-w", node, "/dev/stdin", tag,
                                            input=STEADY).stdout.strip()
        for job in self.steady.values():
            cluster.wait_state(job, "RUNNING")
        for name in self.steady:
            cluster.wait_file(f"runs.{name}")
        self.threads = [threading.Thread(target=self.submit, args=(number,)) for number in range(submitters)]
        for thread in self.threads:
            thread.start()
        self.progress(3)

    def submit(self, number):
        count = 0
        while not self.ended.is_set():
            name = f"{self.tag}-{number}-{count}"
            count += 1
            self.tried.append(name)
            result = self.cluster.run("sbatch", "--parsable", "-J", name, "-o", "/dev/null", input=SHORT, check=False)
            if result.returncode == 0:
                self.acknowledged[name] = result.stdout.strip()
                self.answers.append(time.monotonic())
            time.sleep(0.05)

    def progress(self, count=5):
        """Waits for so many more answers."""
        before = len(self.answers)
        self.cluster.wait_for(lambda: len(self.answers) >= before + count, what="submissions to be answered")

    def runs(self, name):
        path = self.cluster.dir / "work" / f"runs.{name}"
        return path.read_text().split() if path.exists() else []

    def end(self):
        """Ends all jobs and checks them; how long no submission was answered, at most."""
        self.ended.set()
        for thread in self.threads:
            thread.join()
        self.cluster.wait_for(lambda: not self.cluster.run("squeue", "-h", "-t", "PD").stdout, what="all to start")
        for name, job in self.steady.items():
            found = self.cluster.job(job)
            assert (found["JobState"], found["Restarts"]) == ("RUNNING", "0"), found
            assert self.runs(name) == [job]
        (self.cluster.dir / "work" / f"go.{self.tag}").touch()
        self.cluster.wait_for(lambda: not self.cluster.run("squeue", "-h").stdout, what="an empty queue")
        for name, job in self.acknowledged.items():
            assert self.runs(name) == [job], f"{name} was acknowledged as {job}, and ran as {self.runs(name)}"
        for name in self.tried:
            assert len(self.runs(name)) <= 1, f"{name} ran as {self.runs(name)}"
        for job in self.steady.values():
            found = self.cluster.wait_end(job)
            assert (found["JobState"], found["Restarts"], found["ExitCode"]) == ("COMPLETED", "0", "0:0"), found
        return max(after - before for before, after in zip(self.answers, self.answers[1:]))


def start_cluster(hosts, munged, *servers, **options):
    extra = options.pop("extra", "")
    return SharedCluster(location(*servers), hosts.by_name, address=hosts.address, cpus=8,
                         extra=f"AuthType=auth/munge\nAuthInfo=socket={munged[0]}\n{extra}", **options)
