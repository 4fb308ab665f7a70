"""PostgreSQL and MariaDB from Debian's packages, each with a directory and a socket of its own."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


class SqlServer:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="sluice-sql-")
        self.socket = f"{self.dir}/socket"
        os.mkdir(self.socket)
        if AS_NOBODY:
            for path in (self.dir, self.socket):
                shutil.chown(path, "nobody", "nogroup")
        os.chmod(self.dir, 0o755)
        self.run(*self.make_data())
        self.start()

    def run(self, *command, **options):
        return subprocess.run([*AS_NOBODY, *command], check=True, cwd=self.dir, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": self.dir, "LC_ALL": "C"}, **options)

    def start(self):
        self.log = open(f"{self.dir}/log", "a", encoding="utf-8")
        self.process = subprocess.Popen([*AS_NOBODY, *self.serve()], cwd=self.dir, stdout=self.log, stderr=self.log,
                                        env={"PATH": "/usr/bin:/bin", "HOME": self.dir, "LC_ALL": "C"})
        end = time.monotonic() + 60
        while True:
            try:
                return self.prepare()
            except subprocess.CalledProcessError as error:
                assert time.monotonic() < end, error.stderr + open(self.log.name, encoding="utf-8").read()
                time.sleep(0.1)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(self.stop_signal)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir)


class Postgresql(SqlServer):
    stop_signal = signal.SIGINT
    bin = os.path.dirname(max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=""))

    def make_data(self):
        return (f"{self.bin}/initdb", "-D", f"{self.dir}/data", "-U", "sluice", "-A", "trust", "-E", "UTF8",
                "--locale=C", "--no-sync")

    def serve(self):
        return (f"{self.bin}/postgres", "-D", f"{self.dir}/data", "-k", self.socket, "-c", "listen_addresses=")

    def prepare(self):
        self.run(f"{self.bin}/psql", "-h", self.socket, "-U", "sluice", "-c", "SELECT 1", "postgres")

    def conf(self):
        return ("StorageType=accounting_storage/postgresql\n"
                f"StorageHost={self.socket}\nStorageUser=sluice\nStorageLoc=postgres")


class Mariadb(SqlServer):
    stop_signal = signal.SIGTERM

    def make_data(self):
        return ("mariadb-install-db", "--no-defaults", f"--datadir={self.dir}/data",
                "--auth-root-authentication-method=normal", "--skip-test-db")

    def serve(self):
        return ("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.dir}/data",
                f"--socket={self.socket}/mysqld.sock", "--skip-networking", f"--pid-file={self.dir}/pid")

    def prepare(self):
        self.run("mariadb", "--no-defaults", f"--socket={self.socket}/mysqld.sock", "-u", "root",
                 input="CREATE USER IF NOT EXISTS sluice@localhost IDENTIFIED BY 'secret'; "
                       "GRANT ALL ON *.* TO sluice@localhost; CREATE DATABASE IF NOT EXISTS sluice_acct;")

    def conf(self):
        return ("StorageType=accounting_storage/mysql\n"
                f"StorageHost={self.socket}/mysqld.sock\nStorageUser=sluice\nStoragePass=secret\nStorageLoc=sluice_acct")


ENGINES = {"postgresql": Postgresql, "mariadb": Mariadb}
