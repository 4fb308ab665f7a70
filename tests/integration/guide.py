"""The commands of the administrator's guide, executed as they are written there."""

import re
import signal
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "admin-guide.md"


def steps_of(section):
    """The commands of a section, in their order."""
    text = re.search(rf"^### {section}$(.*?)^###? ", GUIDE.read_text(), re.M | re.S).group(1)
    return re.findall(r"^    (\S.*)$", text, re.M)


def restart_nodes(cluster):
    for node in cluster.nodes:
        cluster.kill(node, signal.SIGTERM)
        cluster.start_node(node)


def do(cluster, step, **services):
    """With the directories of the cluster, and its daemons in place of services: on a host with one controller and its
    nodes, unless `services` says otherwise."""
    step = step.replace("/backup/", f"{cluster.dir}/work/").replace("/etc/slurm/", f"{cluster.dir}/etc/")
    step = re.sub(r"  +# ", " # ", step)

    def stop():
        cluster.kill("slurmctld", signal.SIGTERM)

    def restart():
        stop()
        cluster.start_controller()
    known = {"systemctl stop slurmctld": stop, "systemctl start slurmctld": cluster.start_controller,
             "systemctl restart slurmctld": restart, "systemctl restart slurmd": lambda: restart_nodes(cluster),
             "systemctl restart slurmd # on each node": lambda: restart_nodes(cluster), **services}
    return known[step]() if step in known else cluster.run("sh", "-c", step)
