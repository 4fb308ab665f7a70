"""A PostgreSQL server that asks for TLS and a password."""

import os
import shutil
import subprocess

from shared_state import StateServer

PASSWORD = "pass:word"


def make_certificate(directory, name):
    """A key and a certificate for 127.0.0.1 that is its own authority: the path of the certificate."""
    key, certificate = f"{directory}/{name}.key", f"{directory}/{name}.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=database", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    os.chmod(certificate, 0o644)
    os.chmod(key, 0o600)
    return certificate


class SecureServer(StateServer):
    def __init__(self):
        super().__init__("127.0.0.1")
        self.make_database()
        self.psql(f"ALTER USER sluice PASSWORD '{PASSWORD}'")

    def serve(self):
        self.certificate = make_certificate(self.dir, "server")
        if os.getuid() == 0:
            shutil.chown(f"{self.dir}/server.key", "nobody", "nogroup")
        command = super().serve()
        with open(f"{self.dir}/data/pg_hba.conf", "w", encoding="utf-8") as rules:
            rules.write("local all all trust\nhostssl all all 0.0.0.0/0 scram-sha-256\n")
        return (*command, "-c", "ssl=on", "-c", f"ssl_cert_file={self.certificate}", "-c",
                f"ssl_key_file={self.dir}/server.key")
