"""PostgreSQL servers for the state that several controllers share: on TCP, one alone or two of which the second one
is a synchronous replica of the first."""

import socket
import subprocess

from sql_server import Postgresql


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


class StateServer(Postgresql):
    """A server with the database `sluice`, that any user of the hosts may use. `of`: the primary that it copies."""

    def __init__(self, address, of=None):
        self.address, self.port, self.of = address, free_port(address), of
        super().__init__()

    def make_data(self):
        if self.of is None:
            return super().make_data()
        return (f"{self.bin}/pg_basebackup", "-h", self.of.address, "-p", str(self.of.port), "-U", "sluice",
                "-D", f"{self.dir}/data", "-R", "-c", "fast")

    def serve(self):
        with open(f"{self.dir}/data/pg_hba.conf", "w", encoding="utf-8") as rules:
            rules.write("local all all trust\nhost all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")
        return (f"{self.bin}/postgres", "-D", f"{self.dir}/data", "-k", self.socket, "-p", str(self.port),
                "-c", f"listen_addresses={self.address}", "-c", "max_connections=200")

    def psql(self, text, database="postgres"):
        return self.run(f"{self.bin}/psql", "-h", self.socket, "-p", str(self.port), "-U", "sluice", "-XAtqc", text,
                        database).stdout.strip()

    def prepare(self):
        self.psql("SELECT 1")

    def make_database(self):
        self.psql("CREATE DATABASE sluice")
        return self

    def make_synchronous(self):
        """Every commit waits for the replica, from now on."""
        self.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.psql("SELECT pg_reload_conf()")

    def promote(self):
        self.run(f"{self.bin}/pg_ctl", "-D", f"{self.dir}/data", "promote")

    def signal_all(self, number):
        """To the server and all its processes."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        for pid in [str(self.process.pid), *children.stdout.split()]:
            subprocess.run(["kill", f"-{int(number)}", pid], check=False)


def location(*servers):
    where = ",".join(f"{each.address}:{each.port}" for each in servers)
    return f"postgresql://sluice@{where}/sluice?target_session_attrs=read-write"
