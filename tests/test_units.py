"""The service units: systemd understands them, and they hold the settings that the daemons rely on."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
UNITS = ROOT / "packaging/systemd"
NEWER_KEYS = {"DelegateSubgroup"}  # systemd before 254 says that it ignores it


def settings(unit):
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str
    parser.read(UNITS / f"{unit}.service.in")
    return parser


@pytest.mark.parametrize("unit", ["slurmctld", "slurmd", "slurmdbd"])
def test_systemd_understands_it(unit, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    (tmp_path / "sbin").mkdir()
    (tmp_path / "sbin" / unit).touch(mode=0o755)
    file = tmp_path / f"{unit}.service"
    file.write_text((UNITS / f"{unit}.service.in").read_text().replace("@CMAKE_INSTALL_PREFIX@", str(tmp_path)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", file], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if not any(f"'{key}'" in line for key in NEWER_KEYS)]
    assert (done.returncode, said) == (0, [])


@pytest.mark.parametrize("unit", ["slurmctld", "slurmd", "slurmdbd"])
def test_it_starts_when_network_files_and_time_are_there(unit):
    after = settings(unit)["Unit"]["After"].split()
    assert {"network-online.target", "remote-fs.target", "time-sync.target", "munge.service"} <= set(after)
    service = settings(unit)["Service"]
    assert (service["Type"], service["Restart"]) == ("notify", "on-failure")
    assert service["ExecStart"].split()[:2] == [f"@CMAKE_INSTALL_PREFIX@/sbin/{unit}", "-D"]


@pytest.mark.parametrize("unit", ["slurmctld", "slurmdbd"])
def test_the_controller_and_the_database_are_confined(unit):
    service = settings(unit)["Service"]
    assert service["ProtectSystem"] == "strict"
    # Where the example configuration keeps state, logs and the pid file.
    assert {"/var/spool", "/var/log", "/run"} <= set(service["ReadWritePaths"].split())
    for name in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "MemoryDenyWriteExecute", "RestrictSUIDSGID",
                 "RestrictNamespaces", "LockPersonality", "ProtectControlGroups", "ProtectKernelModules",
                 "ProtectKernelTunables"):
        assert service[name] == "yes", name
    assert set(service["RestrictAddressFamilies"].split()) == {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"}
    # It becomes SlurmUser by itself, gives it its files, and asks for a higher priority and more open files.
    capabilities = set(service["CapabilityBoundingSet"].split())
    assert {"CAP_SETUID", "CAP_SETGID", "CAP_CHOWN", "CAP_SYS_NICE", "CAP_SYS_RESOURCE"} <= capabilities
    assert not capabilities & {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_MODULE", "CAP_NET_ADMIN", "CAP_KILL"}


def test_jobs_outlive_the_node_daemon_and_are_not_confined_by_its_unit():
    service = settings("slurmd")["Service"]
    assert (service["KillMode"], service["Delegate"], service["TasksMax"]) == ("process", "yes", "infinity")
    assert int(service["OOMScoreAdjust"]) < 0  # os/process.cc takes it back for tasks
    assert (service["LimitMEMLOCK"], service["LimitSTACK"]) == ("infinity", "infinity")
    inherited = ("Protect", "Private", "Restrict", "Capability", "SystemCall", "NoNewPrivileges", "ReadWrite",
                 "MemoryDeny", "LockPersonality", "MemoryMax", "CPUQuota")
    assert [name for name in service if name.startswith(inherited)] == []
