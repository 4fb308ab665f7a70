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
    assert "KillWait                = 3 sec" in cluster.run("scontrol", "show", "config").stdout
    assert cluster.state(held) == "PENDING" and cluster.state(job) == "RUNNING"
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


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
