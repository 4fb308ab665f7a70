"""sluice doctor: each thing that is broken is a finding with a remedy; a healthy cluster has none."""

import glob
import json
import os
import subprocess

import pytest

USER = "nobody"


@pytest.fixture
def cluster(make_cluster, munged):
    return make_cluster(extra=f"AuthInfo=socket={munged[0]}")


def doctor(cluster, *words, code=None, **options):
    done = cluster.run("sluice", "doctor", "--json", *words, check=False, **options)
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_code"] and (code is None or done.returncode == code), done.stdout
    return report


def findings(report, check):
    found = [each for each in report["findings"] if each["check"] == check]
    assert all(each["remedy"] and each["problem"] for each in found)
    return found


@pytest.fixture
def tmpfs(tmp_path):
    if os.getuid() != 0:
        pytest.skip("needs root: it mounts a file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


def fill(directory):
    with open(directory / "full", "wb") as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * 65536)
            file.flush()


def test_a_healthy_cluster_has_no_finding(cluster, tmp_path):
    report = doctor(cluster, tmp_path, code=0, env={"HOME": str(tmp_path)})
    assert report["findings"] == []
    assert {"clock", "controller", "configuration", "version", "nodes", "port", "dns", "credentials", "home",
            "files"} <= set(report["checks"])
    text = cluster.run("sluice", "doctor", env={"HOME": str(tmp_path)}).stdout
    assert text.endswith("0 errors, 0 warnings\n") and text.count("\n") == 1


def test_an_ordinary_user_has_no_finding_either(cluster, as_root):
    assert doctor(cluster, code=0, user=USER, env={"HOME": "/tmp"})["findings"] == []


def test_an_unknown_option_is_refused(cluster):
    refused = cluster.run("sluice", "doctor", "--jason", check=False)
    assert refused.returncode == 1 and "unknown option --jason" in refused.stderr


def test_a_controller_that_is_gone(cluster):
    cluster.kill("slurmctld")
    report = doctor(cluster, code=3, timeout=120)
    assert findings(report, "controller") and "slurmctld cannot be reached" in findings(report, "port")[0]["problem"]


def test_a_node_that_is_gone(cluster):
    cluster.kill("n2")
    cluster.wait_for(lambda: cluster.node_state("n2").endswith("*"), what="n2 to be missed")
    report = doctor(cluster, code=3)
    assert findings(report, "nodes")[0]["subject"].startswith("n2")
    assert "n2" in findings(report, "port")[0]["subject"] and "n1" not in findings(report, "port")[0]["subject"]
    back = findings(report, "way back")
    assert [each["subject"] for each in back] == ["n2"]


def test_another_configuration(cluster):
    path = cluster.conf
    text = path.read_text()
    path.write_text("# only a comment\n" + text)
    assert doctor(cluster, code=0)["findings"] == []
    path.write_text(text + "KillWait=77\n")
    report = doctor(cluster, code=3)
    assert "differs" in findings(report, "configuration")[0]["problem"]
    cluster.run("scontrol", "reconfigure")
    assert doctor(cluster, code=0)["findings"] == []


def test_a_wrong_clock(cluster):
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not library:
        pytest.skip("libfaketime is not installed")
    if any(name.endswith("SAN_OPTIONS") for name in os.environ):
        pytest.skip("sanitizers and libfaketime replace the same functions")
    for offset, code, word in (("+20", 2, "ahead of"), ("-500", 3, "behind")):
        report = doctor(cluster, code=code, env={"LD_PRELOAD": library[0], "FAKETIME": offset,
                                                 "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
        assert word in findings(report, "clock")[0]["problem"]


def test_a_full_home_directory(cluster, tmpfs):
    assert findings(doctor(cluster, env={"HOME": str(tmpfs)}), "home") == []
    fill(tmpfs)
    report = doctor(cluster, code=3, env={"HOME": str(tmpfs)})
    assert findings(report, "home")[0]["subject"] == str(tmpfs)


def test_a_munged_that_is_gone(cluster, munged):
    munged[1].kill()
    munged[1].wait()
    assert findings(doctor(cluster, code=3), "credentials")[0]["subject"] == "munged"


def test_a_full_spool(make_cluster, munged, tmpfs):
    cluster = make_cluster(extra=f"AuthInfo=socket={munged[0]}\nSlurmdSpoolDir={tmpfs}/%n")
    assert findings(doctor(cluster), "space") == []
    fill(tmpfs)
    report = doctor(cluster, code=3)
    assert {each["subject"] for each in findings(report, "space")} == {f"{tmpfs}/n1", f"{tmpfs}/n2"}


def test_very_many_small_files(cluster, tmp_path):
    for number in range(10_001):
        (tmp_path / str(number)).touch()
    assert findings(doctor(cluster, tmp_path / "1", code=3), "files")
    report = doctor(cluster, tmp_path, code=2)
    assert f"sdata pack {tmp_path}" in findings(report, "files")[0]["remedy"]
    (tmp_path / "0").unlink()
    (tmp_path / "1").unlink()
    assert findings(doctor(cluster, tmp_path, code=0), "files") == []


def test_without_a_configuration(cluster):
    report = doctor(cluster, code=3, env={"SLURM_CONF": "/nonexistent/slurm.conf"})
    assert "/nonexistent/slurm.conf" in findings(report, "configuration")[0]["problem"]


def test_a_name_that_cannot_be_resolved(cluster):
    cluster.run("scontrol", "update", "nodename=n2", "nodeaddr=no-such-host.invalid")
    report = doctor(cluster, code=3)
    assert findings(report, "dns")[0]["subject"] == "no-such-host.invalid"
