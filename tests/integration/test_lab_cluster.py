"""The cluster of packaging/examples/lab-cluster, with all its nodes on this machine: what its users are promised about
labs, caps, partitions and preemption. Each test begins and ends with an empty queue."""

import os
import re
from pathlib import Path

import pytest
from cluster import Cluster

EXAMPLE = Path(__file__).resolve().parents[2] / "packaging" / "examples" / "lab-cluster"
# The example's users, played by users of this host.
PEOPLE = {"ann": "daemon", "bob": "bin", "carol": "sys", "dave": "games", "erin": "man"}
ANN, BOB, CAROL, DAVE, ERIN = PEOPLE.values()
ALL_GPUS = 284
# What the cluster of a test has in its own place or way.
OF_SITE = {"SlurmctldHost", "SlurmUser", "AuthType", "StateSaveLocation", "SlurmdSpoolDir", "SlurmctldPidFile",
           "SlurmdPidFile", "SlurmctldLogFile", "SlurmdLogFile", "ProctrackType", "TaskPlugin", "ReturnToService"}
WORK = "sleep 1000"
# Saves its work when it is preempted.
CHECKPOINTED = "trap 'echo saved >>saved.$SLURM_JOB_ID; exit 0' TERM; sleep 1000 & wait"


def example(name):
    return (EXAMPLE / name).read_text()


def lines_of(text, *keys):
    """The lines that begin with one of the keys."""
    return [line for line in text.splitlines() if line.split("=")[0] in keys]


def names_in(hostlist):
    """n[1-3] -> n1, n2, n3."""
    found = re.fullmatch(r"(.*)\[(\d+)-(\d+)\]", hostlist)
    if not found:
        return [hostlist]
    return [f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1)]


class LabCluster(Cluster):
    """The example's own configuration; only hosts, ports, directories and device files differ."""

    def __init__(self):
        self.described = {}  # the words of its line, by node
        for line in lines_of(example("slurm.conf"), "NodeName"):
            name, words = line.removeprefix("NodeName=").split(None, 1)
            self.described |= dict.fromkeys(names_in(name), words)
        super().__init__(nodes=len(self.described),
                         partitions="\n".join(lines_of(example("slurm.conf"), "PartitionName")))

    def write_config(self):
        self.nodes = list(self.described)
        super().write_config()
        for number in range(8):
            self.make_device(self.dir / "dev" / f"nvidia{number}")
        (self.dir / "etc" / "gres.conf").write_text(example("gres.conf").replace("/dev/", f"{self.dir}/dev/"))

    def config_text(self):
        own = [line for line in example("slurm.conf").splitlines()
               if re.match(r"\w+=", line) and line.split("=")[0] not in OF_SITE | {"NodeName", "PartitionName"}]
        keys = {line.split("=")[0] for line in own}
        harness = [line for line in super().config_text().splitlines() if line.split("=")[0] not in keys]
        return "\n".join(own + harness) + "\n"

    def node_lines(self):
        return "\n".join(f"NodeName={name} NodeAddr={self.address} Port={self.ports.numbers[number]} {words}"
                         for number, (name, words) in enumerate(self.described.items(), 1))


@pytest.fixture(scope="module")
def started():
    if os.getuid() != 0:
        pytest.skip("needs root: it runs jobs of several users")
    cluster = LabCluster()
    try:
        cluster.start()
        for name in ("policy.sh", "labs.cfg"):
            text = example(name)
            for played, player in PEOPLE.items():
                text = text.replace(f"'{played}'", f"'{player}'")
            (cluster.dir / name).write_text(text)
        cluster.run("sh", cluster.dir / "policy.sh")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def labs(started):
    yield started
    started.cancel_all()


def submit(cluster, user, *options, body=WORK, count=1):
    """Jobs of a user: their ids."""
    return [cluster.submit(body, "-o", "/dev/null", *options, user=user) for _ in range(count)]


def queue(cluster, job):
    """State, partition and reason."""
    return cluster.run("squeue", "-hj", job, "-o", "%T %P %r").stdout.split()


def wait_queue(cluster, jobs, *wanted):
    """Waits until squeue shows these words of each job: state, partition, reason."""
    for job in jobs:
        cluster.wait_for(lambda: queue(cluster, job)[:len(wanted)] == list(wanted),
                         what=f"job {job} to be {wanted}; it is {queue(cluster, job)}")


def wait_running(cluster, jobs):
    wait_queue(cluster, jobs, "RUNNING")


def refused(cluster, user, *options):
    result = cluster.run("sbatch", *options, "--wrap", "true", user=user, check=False)
    assert result.returncode == 1, result.stdout
    return result.stderr


def used(cluster, by="-l"):
    """gpu_usage as a dictionary: the first number of each line."""
    lines = cluster.run("gpu_usage", by).stdout.splitlines()[1:]
    return {line.split()[0]: int(re.search(r"\d+", line.split(None, 1)[1])[0]) for line in lines if line.strip()}


# ---- labs and caps

def test_the_caps_of_the_labs_are_all_gpus_of_the_cluster(labs):
    shown = labs.run("sacctmgr", "-nP", "show", "assoc", "format=account,user,grptres").stdout.splitlines()
    caps = {line.split("|")[0]: int(line.rsplit("=", 1)[1]) for line in shown if re.search(r"\|\|gres/gpu=\d+$", line)}
    assert len(caps) == 14 and sum(caps.values()) == ALL_GPUS
    gres = labs.run("sinfo", "-hN", "-p", "short", "-o", "%G").stdout.split()
    assert sum(int(each.split("(")[0].rsplit(":", 1)[1]) for each in gres) == ALL_GPUS
    # Loading the same file again changes nothing.
    again = labs.run("sacctmgr", "-i", "load", f"file={labs.dir}/labs.cfg").stdout
    assert "Nothing new added" in again, again


def test_a_lab_has_its_gpus_and_no_more(labs):
    """Each lab gets a dedicated job queue with capacity = their contributed number of GPUs."""
    jobs = submit(labs, CAROL, "--gres=gpu:8", count=3)
    wait_running(labs, jobs)
    more = submit(labs, DAVE, "--gres=gpu:1")
    wait_queue(labs, more, "PENDING", "short", "AssocGrpGRES")
    cpus_only = submit(labs, DAVE, "-c2")
    wait_running(labs, cpus_only)
    labs.run("scancel", jobs[0])
    wait_running(labs, more)


def test_ten_jobs_at_once_run_in_parallel(labs):
    wait_running(labs, submit(labs, DAVE, "--gres=gpu:1", count=10))


def test_overcap_uses_what_is_free_and_gives_it_back_to_owners(labs):
    """Any member can use any number of free GPUs; the jobs are terminated when someone with priority shows up, after
    a signal that can be caught to save checkpoints; they resume by themselves."""
    overcap = ("-p", "overcap", "-A", "overcap")
    all_gpus = submit(labs, ERIN, *overcap, "--gres=gpu:8", body=CHECKPOINTED, count=35)
    all_gpus += submit(labs, ERIN, *overcap, "--gres=gpu:4", body=CHECKPOINTED)
    wait_running(labs, all_gpus)
    assert sum(1 for job in all_gpus if labs.job(job)["QOS"] == "overcap") == 36
    owners = submit(labs, CAROL, "--gres=gpu:8", count=3)
    wait_running(labs, owners)

    def preempted():
        return [job for job in all_gpus if labs.job(job)["Restarts"] == "1"]

    labs.wait_for(lambda: len(preempted()) == 3, what="three jobs of overcap to be requeued")
    for job in preempted():
        assert labs.wait_file(f"saved.{job}") == "saved\n"
    owned = submit(labs, CAROL, "--gres=gpu:1")
    wait_queue(labs, owned, "PENDING", "short", "AssocGrpGRES")
    assert len(preempted()) == 3
    labs.run("scancel", *owners, *owned)
    wait_running(labs, all_gpus)


def test_overcap_needs_account_and_partition(labs):
    """Set both partition and account to overcap."""
    assert "Batch job submission failed" in refused(labs, CAROL, "-p", "overcap")
    assert "Batch job submission failed" in refused(labs, CAROL, "-A", "overcap")
    assert "Batch job submission failed" in refused(labs, CAROL, "-A", "overcap", "-p", "short,user-overcap")
    assert "Batch job submission failed" in refused(labs, CAROL, "-A", "rail-lab")
    script = "#!/bin/bash\n#SBATCH --partition=overcap\n#SBATCH --account=overcap\nsleep 1000\n"
    job = labs.submit(script, "-o", "/dev/null", user=CAROL)
    wait_running(labs, [job])


def test_a_waiting_job_moves_to_overcap_and_back(labs):
    wait_running(labs, submit(labs, CAROL, "--gres=gpu:8", count=3))
    [job] = submit(labs, CAROL, "--gres=gpu:8", "--hold")
    labs.run("scontrol", "update", "job", job, "account=overcap", "qos=overcap", "partition=overcap", user=CAROL)
    record = labs.job(job)
    assert (record["Account"], record["QOS"], record["Partition"]) == ("overcap", "overcap", "overcap")
    labs.run("scontrol", "update", "job", job, "account=kira-lab", "qos=normal", "partition=short", user=CAROL)
    record = labs.job(job)
    assert (record["Account"], record["QOS"], record["Partition"]) == ("kira-lab", "normal", "short")
    labs.run("scontrol", "release", job, user=CAROL)
    wait_queue(labs, [job], "PENDING", "short", "AssocGrpGRES")
    labs.run("scontrol", "update", "job", job, "account=overcap", "qos=overcap", "partition=overcap", user=CAROL)
    wait_queue(labs, [job], "RUNNING", "overcap")


# ---- partitions

@pytest.mark.parametrize("partition, hours", [("debug", 4), ("short", 48), ("long", 168), ("user-overcap", 48),
                                              ("overcap", 48)])
def test_the_longest_time_of_a_partition(labs, partition, hours):
    account = ("-A", "overcap") if partition == "overcap" else ()
    [fits] = submit(labs, DAVE, "-p", partition, *account, "-t", f"{hours}:00:00")
    wait_running(labs, [fits])
    [too_long] = submit(labs, DAVE, "-p", partition, *account, "-t", f"{hours}:01:00")
    wait_queue(labs, [too_long], "PENDING", partition, "PartitionTimeLimit")


def test_debug_comes_before_short_and_short_before_long(labs):
    """debug: the highest priority; short: the middle; long: the lowest."""
    node = ("-w", "titan7", "--gres=gpu:4")
    [running] = submit(labs, CAROL, *node)
    wait_running(labs, [running])
    in_line = [submit(labs, DAVE, "-p", name, *node)[0] for name in ("long", "short", "debug")]
    while in_line:
        labs.run("scancel", running)
        running = in_line.pop()
        wait_running(labs, [running])
        assert all(queue(labs, job)[0] == "PENDING" for job in in_line)


def test_a_user_has_five_gpus_in_debug(labs):
    jobs = submit(labs, DAVE, "-p", "debug", "--gres=gpu:1", count=5)
    wait_running(labs, jobs)
    sixth = submit(labs, DAVE, "-p", "debug", "--gres=gpu:1")
    wait_queue(labs, sixth, "PENDING", "debug", "QOSMaxGRESPerUser")
    wait_running(labs, submit(labs, CAROL, "-p", "debug", "--gres=gpu:5"))
    wait_running(labs, submit(labs, DAVE, "-p", "short", "--gres=gpu:1"))


def test_an_interactive_job_of_debug(labs):
    result = labs.run("srun", "--gres", "gpu:1", "-p", "debug", "-J", "test", "sh", "-c",
                      "echo $SLURM_JOB_PARTITION $CUDA_VISIBLE_DEVICES $SLURM_CPUS_ON_NODE", user=CAROL)
    assert result.stdout == "debug 0 1\n"  # one CPU unless more are asked for


# ---- a lab with limits per user

def test_members_of_one_lab_have_16_gpus_and_112_cpus_in_short_and_long(labs):
    gpus = submit(labs, ANN, "-p", "short", "--gres=gpu:8") + submit(labs, ANN, "-p", "long", "--gres=gpu:8")
    cpus = submit(labs, BOB, "-c", "56", count=2)
    wait_running(labs, gpus + cpus)
    wait_queue(labs, submit(labs, ANN, "--gres=gpu:1"), "PENDING", "short", "AssocGrpGRES")
    wait_queue(labs, submit(labs, BOB, "-c", "1"), "PENDING", "short", "AssocGrpCpuLimit")
    wait_running(labs, submit(labs, ANN, "-p", "debug", "--gres=gpu:1"))
    wait_running(labs, submit(labs, BOB, "--gres=gpu:1", "-p", "user-overcap", "-c", "4"))
    wait_running(labs, submit(labs, CAROL, "--gres=gpu:8", count=3))  # another lab has no such limit


def test_a_job_of_short_and_user_overcap_fills_the_limit_first_and_spills_over(labs):
    jobs = submit(labs, ANN, "-p", "short,user-overcap", "--gres=gpu:8", count=4)
    wait_running(labs, jobs)
    partitions = [queue(labs, job)[1] for job in jobs]
    assert sorted(partitions) == ["short", "short", "user-overcap", "user-overcap"]
    assert partitions[:2] == ["short", "short"]
    labs.run("scancel", jobs[0])
    labs.wait_end(jobs[0])
    [later] = submit(labs, ANN, "-p", "short,user-overcap", "--gres=gpu:8")
    wait_queue(labs, [later], "RUNNING", "short")


def test_user_overcap_counts_for_the_lab_and_labmates_preempt_it(labs):
    """It preempts overcap and counts against the lab's cap, but labmates can preempt it."""
    spilled = submit(labs, ANN, "-p", "user-overcap", "--gres=gpu:8", body=CHECKPOINTED, count=8)
    wait_running(labs, spilled)
    ninth = submit(labs, ANN, "-p", "user-overcap", "--gres=gpu:8")
    wait_queue(labs, ninth, "PENDING", "user-overcap", "AssocGrpGRES")
    other_lab = submit(labs, CAROL, "--gres=gpu:8", count=3)
    wait_running(labs, other_lab + spilled)
    mate = submit(labs, BOB, "-p", "short", "--gres=gpu:8", count=2)
    wait_running(labs, mate)

    def preempted():
        return [job for job in spilled if labs.job(job)["Restarts"] == "1"]

    assert len(preempted()) == 2
    wait_queue(labs, preempted(), "PENDING", "user-overcap")
    third = submit(labs, BOB, "-p", "short", "--gres=gpu:8")  # beyond the limit of the user
    wait_queue(labs, third, "PENDING", "short", "AssocGrpGRES")
    assert len(preempted()) == 2
    labs.run("scancel", *mate, *third, *ninth)
    wait_running(labs, spilled)


def test_user_overcap_lets_labmates_in_without_limits_per_user_too(labs):
    all_of_lab = submit(labs, CAROL, "-p", "user-overcap", "--gres=gpu:8", body=CHECKPOINTED, count=3)
    wait_running(labs, all_of_lab)
    wait_running(labs, submit(labs, DAVE, "-p", "debug", "--gres=gpu:4"))
    assert sorted(queue(labs, job)[0] for job in all_of_lab) == ["PENDING", "RUNNING", "RUNNING"]


def test_user_overcap_preempts_overcap_and_not_the_other_way_round(labs):
    overcap = ("-p", "overcap", "-A", "overcap")
    fillers = submit(labs, ERIN, *overcap, "--gres=gpu:8", body=CHECKPOINTED, count=35)
    wait_running(labs, fillers)
    spilled = submit(labs, ANN, "-p", "user-overcap", "--gres=gpu:8", body=CHECKPOINTED)
    wait_running(labs, spilled)
    labs.wait_for(lambda: sum(labs.job(job)["Restarts"] == "1" for job in fillers) == 1, what="one to be requeued")
    # Another lab takes GPUs of overcap, not of user-overcap.
    wait_running(labs, submit(labs, CAROL, "--gres=gpu:8"))
    assert labs.job(spilled[0])["Restarts"] == "0"
    waiting = [job for job in fillers if queue(labs, job)[0] == "PENDING"]
    assert len(waiting) == 2
    assert all(queue(labs, job)[2] in ("Resources", "Priority", "BeginTime", "None") for job in waiting)


# ---- requests

def test_types_of_gpus_are_asked_for_in_all_ways(labs):
    for options, nodes in ((["--constraint=titan_x", "--gpus-per-node=2"], "titan"),
                           (["--constraint=2080_ti|rtx_6000", "--gpus-per-node=2"], "ti|quadro"),
                           (["--gres=gpu:a40:2"], "ampere"), (["--gpus=a40:1", "--cpus-per-task=15"], "ampere"),
                           (["--ntasks=2", "--gpus-per-task=1", "-c", "6"], "titan"), (["-c", "6"], "titan")):
        [job] = submit(labs, CAROL, *options)
        wait_running(labs, [job])
        assert re.match(f"({nodes})\\d", labs.job(job)["NodeList"]), options
    shown = dict(line.split() for line in labs.run("sinfo", "-h", "-p", "short", "-o", "%f %N").stdout.splitlines())
    assert set(shown) == {"titan_x", "2080_ti", "rtx_6000", "a40"}


def test_the_script_of_the_guide(labs):
    script = """#!/bin/bash
#SBATCH --job-name=guide
#SBATCH --output=/dev/null
#SBATCH --partition="short"
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=7
#SBATCH --gpus-per-node="rtx_6000:1"
#SBATCH --qos="short"
#SBATCH --exclude="quadro1"
#SBATCH --mem-per-gpu="10G"
sleep 1000
"""
    job = labs.submit(script, user=CAROL)
    wait_running(labs, [job])
    record = labs.job(job)
    assert (record["NodeList"], record["NumCPUs"], record["QOS"]) == ("quadro2", "7", "short")
    shown = labs.run("squeue", "-h", "-o", "%.7i %.9P %.8j %.8u %.2t %.10M %.6D %C", "-j", job).stdout.split()
    assert shown[1:5] == ["short", "guide", CAROL, "R"] and shown[-1] == "7"


def test_exported_variables_fill_a_script(labs):
    """sbatch --export=lr=1e-4,gamma=1 fills in the variables that a script uses; output and errors have files of
    their own."""
    home = labs.dir / "guide"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    script = home / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH --output=guide.out\n#SBATCH --error=guide.err\n"
                      f"{labs.prefix}/bin/srun -u echo lr=${{lr}} gamma=${{gamma}}\necho trouble >&2\n")
    job = labs.run("sbatch", "--parsable", "--export=lr=1e-4,gamma=1", script, user=CAROL, cwd=home).stdout.strip()
    assert labs.wait_end(job)["JobState"] == "COMPLETED"
    assert (home / "guide.out").read_text() == "lr=1e-4 gamma=1\n"
    assert (home / "guide.err").read_text().endswith("trouble\n")  # after a word about a user without a login shell


def test_cpus_are_counted_for_each_task(labs):
    """CPUs are multiplied by the number of tasks; an A40 node has 15 of its 128 logical cores per GPU, others 7 of 56."""
    for options, node, cpus in ((["--ntasks-per-node=2", "-c", "6", "--gpus-per-node=2"], "titan", "12"),
                                (["--ntasks=4", "--gpus-per-task=1", "--cpus-per-task=15", "-C", "a40"], "ampere", "60"),
                                (["--ntasks=4", "--gpus-per-task=1", "--cpus-per-task=7", "-C", "rtx_6000"], "quadro", "28"),
                                (["--cpus-per-task=120", "--gpus=a40:8"], "ampere", "120"),
                                (["--cpus-per-task=56", "--gpus=2080_ti:8"], "ti", "56")):
        [job] = submit(labs, CAROL, *options)
        wait_running(labs, [job])
        shown = labs.run("squeue", "-h", "-o%.7i %.9P %.8j %.8u %.2t %.10M %.6D %C", "-j", job).stdout.split()
        assert shown[-1] == cpus and labs.job(job)["NodeList"].startswith(node), options
        labs.run("scancel", job)
        labs.wait_end(job)
    assert "Requested node configuration is not available" in refused(labs, CAROL, "-c", "129")


def test_gpus_without_cpus_cannot_be_used(labs):
    """More than 7 CPUs per GPU lead to free GPUs on a node without free CPUs."""
    wait_running(labs, submit(labs, CAROL, "-w", "quadro1", "--gres=gpu:1", "-c", "56"))
    waits = submit(labs, DAVE, "-w", "quadro1", "--gres=gpu:1")
    wait_queue(labs, waits, "PENDING", "short", "Resources")


def test_a_job_without_gpus_gets_none(labs):
    result = labs.run("srun", "-p", "debug", "sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]", user=CAROL)
    assert result.stdout == "[]\n"
    two = labs.run("srun", "-p", "debug", "--gres=gpu:2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES", user=CAROL)
    assert two.stdout == "0,1\n"


def test_an_interactive_shell_has_a_terminal(labs):
    """srun --gres gpu:1 -p debug -J test --pty bash, also in overcap."""
    for options in (["-p", "debug"], ["-p", "overcap", "-A", "overcap"]):
        result = labs.run("srun", "--gres", "gpu:1", *options, "-J", "test", "--pty", "bash", "-c",
                          "tty >/dev/null && echo terminal $SLURM_JOB_PARTITION", user=CAROL)
        assert result.stdout.strip() == f"terminal {options[1]}"


def test_gpu_usage_shows_labs_and_users(labs):
    jobs = submit(labs, ANN, "--gres=gpu:8", count=2) + submit(labs, CAROL, "--gres=gpu:4")
    jobs += submit(labs, CAROL, "-A", "overcap", "-p", "overcap", "--gres=gpu:2")
    wait_running(labs, jobs)
    by_lab = used(labs)
    assert (by_lab["cvmlp-lab"], by_lab["kira-lab"], by_lab["rail-lab"]) == (16, 4, 0)
    by_user = used(labs, "-u")
    assert by_user[ANN] == 16 and by_user[CAROL] == 4  # beside overcap
    of_lab = labs.run("gpu_usage", "-u", "-p", "kira-lab").stdout
    assert CAROL in of_lab and ANN not in of_lab


# ---- sluice

def test_sluice_lab_makes_changes_and_removes_a_lab(labs):
    lines = labs.run("sluice", "lab", "add", "tiny-lab", "--gpus", "2", "--users", "lp").stdout.splitlines()
    jobs = submit(labs, "lp", "--gres=gpu:1", count=2)
    wait_running(labs, jobs)
    [third] = submit(labs, "lp", "--gres=gpu:1")
    wait_queue(labs, [third], "PENDING", "short", "AssocGrpGRES")
    labs.run("sluice", "lab", "set", "tiny-lab", "--gpus", "3")
    wait_running(labs, [third])
    listed = labs.run("sluice", "lab", "list").stdout
    assert re.search(r"^tiny-lab +3 +3 +0 lp$", listed, re.M), listed
    assert listed.splitlines()[-1].split() == ["total", str(ALL_GPUS + 3), "3", "0", "the", "cluster", "has",
                                               str(ALL_GPUS), "GPUs"]
    busy = labs.run("sluice", "lab", "remove", "tiny-lab", check=False)
    assert busy.returncode == 1 and "Job(s) active" in busy.stderr
    labs.cancel_all()
    labs.run("sluice", "lab", "remove", "tiny-lab")
    assert "Invalid account" in refused(labs, "lp")
    for line in lines:  # the commands that were printed do the same
        labs.run(*line.split())
    wait_running(labs, submit(labs, "lp", "--gres=gpu:1"))
    denied = labs.run("sluice", "lab", "set", "tiny-lab", "--gpus", "9", user="lp", check=False)
    assert denied.returncode == 1 and "denied" in denied.stderr
    labs.cancel_all()
    labs.run("sluice", "lab", "remove", "tiny-lab")


def test_sluice_import_finds_nothing_to_refuse_in_the_example(labs):
    report = labs.run("sluice", "import", "conf", EXAMPLE / "slurm.conf").stdout.splitlines()
    assert re.fullmatch(r"\d+ used, 0 used in part, 0 without effect, 0 refused", report[-1]), report
