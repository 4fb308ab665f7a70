"""kill -9 at random moments: nothing that was acknowledged is lost, no id is given twice."""

import os
import random
import re
import threading

LONG = bool(os.environ.get("SLUICE_LONG"))
ROUNDS = 40 if LONG else 6


class Load(threading.Thread):
    """Submits job after job; remembers what was acknowledged."""

    def __init__(self, cluster, name, *options, body="true"):
        super().__init__()
        self.body = body
        self.cluster, self.label, self.options = cluster, name, options
        self.accepted, self.attempts, self.over = [], [], threading.Event()

    def run(self):
        while not self.over.is_set():
            label = f"{self.label}-{len(self.attempts)}"
            self.attempts.append(label)
            result = self.cluster.run("sbatch", "--parsable", "-J", label, "-o", "/dev/null",
                                      *self.options, "--wrap", self.body, check=False)
            if result.returncode == 0:
                self.accepted.append((result.stdout.strip(), label))

    def end(self):
        self.over.set()
        self.join()


def listed(cluster):
    lines = cluster.run("squeue", "-h", "-t", "all", "-o", "%A %j").stdout.splitlines()
    return [tuple(line.split()) for line in lines]


def check_nothing_lost(cluster, loads):
    accepted = [entry for load in loads for entry in load.accepted]
    assert len({job for job, _ in accepted}) == len(accepted), "an id was given twice"
    found = listed(cluster)
    assert len({job for job, _ in found}) == len(found)
    assert len({name for _, name in found}) == len(found), "a submission became two jobs"
    missing = set(accepted) - set(found)
    assert not missing, f"{len(missing)} of {len(accepted)} acknowledged jobs are lost: {missing}"
    return accepted


def wait_for_progress(cluster, loads, more):
    start = sum(len(load.accepted) for load in loads)
    cluster.wait_for(lambda: sum(len(load.accepted) for load in loads) >= start + more, 60,
                     what=f"{more} more submissions")


def test_the_controller_dies_under_load(make_cluster):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    cluster = make_cluster(nodes=1, extra="MaxJobCount=100000")
    loads = [Load(cluster, f"load{i}", "--hold") for i in range(3)]
    for load in loads:
        load.start()
    try:
        for _ in range(ROUNDS):
            wait_for_progress(cluster, loads, dice.randrange(1, 30))
            cluster.kill("slurmctld")
            cluster.start_controller()
        wait_for_progress(cluster, loads, 5)
    finally:
        for load in loads:
            load.end()
    accepted = check_nothing_lost(cluster, loads)
    assert len(accepted) > ROUNDS


def test_all_daemons_die_under_load_and_every_job_runs(make_cluster):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    cluster = make_cluster(nodes=2, extra="MaxJobCount=100000")
    loads = [Load(cluster, f"load{i}", body="echo $SLURM_JOB_ID >>ran") for i in range(2)]
    for load in loads:
        load.start()
    try:
        for _ in range(ROUNDS):
            wait_for_progress(cluster, loads, dice.randrange(1, 20))
            for name in dice.sample(["slurmctld", "n1", "n2"], dice.randrange(1, 4)):
                cluster.kill(name)
            if not cluster.alive("slurmctld"):
                cluster.start_controller()
            for name in cluster.nodes:
                if not cluster.alive(name):
                    cluster.start_node(name, wait=False)
    finally:
        for load in loads:
            load.end()
    cluster.wait_for(lambda: not cluster.run("squeue", "-h").stdout, 120, what="an empty queue")
    check_nothing_lost(cluster, loads)
    states = set(cluster.run("squeue", "-h", "-t", "all", "-o", "%T").stdout.split())
    assert states == {"COMPLETED"}
    jobs = sorted(job for job, _ in listed(cluster))
    restarts = re.findall(r" Restarts=(\d+) ", cluster.run("scontrol", "-o", "show", "job").stdout)
    assert restarts == ["0"] * len(jobs), "no daemon's death is a reason to run a job again"
    assert sorted((cluster.dir / "work" / "ran").read_text().split()) == jobs, "each ran once"
