"""scontrol reconfigure: taken over as a whole, or refused with the reason."""

from pathlib import Path


def rewrite(cluster, old, new):
    text = cluster.conf.read_text()
    assert old in text
    cluster.conf.write_text(text.replace(old, new))


def test_a_new_partition_appears(cluster):
    rewrite(cluster, "PartitionName=debug", "PartitionName=extra Nodes=n2 MaxTime=10\nPartitionName=debug")
    cluster.run("scontrol", "reconfigure")
    job = cluster.submit("true", "-p", "extra")
    assert cluster.wait_end(job)["NodeList"] == "n2"
    assert "extra" in cluster.run("sinfo", "-h", "-o", "%R").stdout


def test_nodes_are_not_away_meanwhile(cluster):
    log = cluster.dir / "log" / "n1.log"
    seen = log.read_text().count("registered with")

    def is_back():
        assert cluster.node_state("n1") == "idle"
        return log.read_text().count("registered with") > seen

    cluster.run("scontrol", "reconfigure")
    cluster.wait_for(is_back, what="n1 to register again")
    assert cluster.node_state("n1") == "idle"


def test_a_bad_file_changes_nothing(cluster):
    job = cluster.submit("sleep 1000")
    cluster.wait_state(job, "RUNNING")
    good = cluster.conf.read_text()
    cluster.conf.write_text(good + "NoSuchKey=1\n")
    # The tools themselves read the file too: the signal reaches the controller without them.
    cluster.daemons["slurmctld"].send_signal(1)
    log = cluster.dir / "log" / "slurmctld.log"
    cluster.wait_for(lambda: "NoSuchKey" in log.read_text(), what="the refusal in the log")
    cluster.conf.write_text(good)
    assert cluster.state(job) == "RUNNING" and cluster.alive("slurmctld")


def test_a_file_that_would_strand_a_running_job_is_refused(cluster):
    job = cluster.submit("sleep 1000", "-w", "n2")
    cluster.wait_state(job, "RUNNING")
    good = cluster.conf.read_text()
    cluster.conf.write_text("".join(line for line in good.splitlines(True)
                                    if not line.startswith("NodeName=n2")))
    result = cluster.run("scontrol", "reconfigure", check=False)
    cluster.conf.write_text(good)
    assert result.returncode != 0 and "n2" in result.stderr + result.stdout
    assert cluster.state(job) == "RUNNING"


def test_running_and_waiting_jobs_stay(cluster):
    job = cluster.submit("while [ ! -e go ]; do sleep 0.05; done")
    cluster.wait_state(job, "RUNNING")
    held = cluster.submit("true", "--hold")
    rewrite(cluster, "KillWait=2", "KillWait=3")
    cluster.run("scontrol", "reconfigure")
    shown = cluster.run("scontrol", "show", "config").stdout
    assert "KillWait                = 3 sec" in shown
    assert "\nBOOT_TIME               = 2" in shown
    assert f"\nNEXT_JOB_ID             = {int(held) + 1}\n" in shown
    assert cluster.state(held) == "PENDING" and cluster.state(job) == "RUNNING"
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_one_after_the_other_reaches_the_nodes(cluster):
    """slurmd registers anew with what it has read; what it is told meanwhile must not be lost."""
    seen = cluster.dir / "work" / "prologs"
    seen.touch()
    prolog = cluster.dir / "etc" / "prolog"
    prolog.write_text(f"#!/bin/sh\necho $SLURM_JOB_ID >> {seen}\n")
    prolog.chmod(0o755)
    without = cluster.conf.read_text()
    log = cluster.dir / "log" / "n1.log"

    def has_prolog():
        job = cluster.submit("true", "-w", "n1", "-o", "/dev/null")
        cluster.wait_end(job)
        return job in seen.read_text().split()

    for at_once in (True, False) * 3:
        readings = log.read_text().count("configuration read again")
        cluster.conf.write_text(f"Prolog={prolog}\n{without}")
        cluster.run("scontrol", "reconfigure")
        if not at_once:  # just when it has left to come back
            cluster.wait_for(lambda: log.read_text().count("configuration read again") > readings,
                             what="n1 to read the configuration")
        cluster.conf.write_text(without)
        cluster.run("scontrol", "reconfigure")
        cluster.wait_for(lambda: not has_prolog(), what="n1 to know of the second reconfiguration")
    cluster.conf.write_text(f"Prolog={prolog}\n{without}")
    cluster.run("scontrol", "reconfigure")
    cluster.wait_for(has_prolog, what="the prolog to be run")


def test_a_new_timeout_is_what_nodes_are_judged_by(cluster):
    cluster.kill("n2")
    cluster.conf.write_text(f"SlurmdTimeout=5\n{cluster.conf.read_text()}")
    cluster.run("scontrol", "reconfigure")
    cluster.wait_for(lambda: cluster.node_state("n2").startswith("down"), what="n2 to be down")
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="n1 to be there")
    cluster.start_node("n2")


class Grouped:
    """A cluster whose controller has an /etc/group of its own."""

    def __init__(self, make_cluster, **options):
        self.cluster = make_cluster(
            start=False, partitions="PartitionName=debug Nodes=ALL Default=YES AllowGroups=sluicers", **options)
        self.file = self.cluster.dir / "etc" / "group"
        self.members("")
        mount = f'mount --bind {self.file} /etc/group && exec "$@"'
        self.cluster.under["slurmctld"] = ["unshare", "-m", "sh", "-c", mount, "sh"]
        self.cluster.start()
        self.cluster.run("scontrol", "create", "reservation", "ReservationName=r", "Groups=sluicers", "StartTime=now",
                         "Duration=60", "Nodes=n1")

    def members(self, names):
        self.file.write_text(f"{Path('/etc/group').read_text()}sluicers:x:54399:{names}\n")

    def submit(self, *options):
        return self.cluster.run("sbatch", "-D", "/tmp", "-o", "/dev/null", *options, "--wrap", "true", user="nobody",
                                check=False)


def test_groups_are_asked_for_again(make_cluster, as_root):
    grouped = Grouped(make_cluster)
    assert "group not permitted" in grouped.submit().stderr
    grouped.members("nobody")
    assert "group not permitted" in grouped.submit().stderr  # remembered for GroupUpdateTime
    grouped.cluster.run("scontrol", "reconfigure")
    assert grouped.submit().returncode == 0
    grouped.cluster.wait_for(lambda: grouped.submit("--reservation=r").returncode == 0,
                             what="the reservation to let the group in")


def test_groups_are_asked_for_again_by_and_by(make_cluster, as_root):
    grouped = Grouped(make_cluster, extra="GroupUpdateTime=1")
    assert "group not permitted" in grouped.submit().stderr
    grouped.members("nobody")
    grouped.cluster.wait_for(lambda: grouped.submit("--reservation=r").returncode == 0,
                             what="the reservation to let the group in")
