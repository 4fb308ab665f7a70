"""Mail: MailProg is run as mail(1) would be, and is told of the job."""

import pytest

MAIL_PROG = """#!/bin/sh
readlink /proc/self/fd/0 > {dir}/work/stdin
ls -l /proc/$$/fd | grep -c socket > {dir}/work/sockets
env > {dir}/work/variables.$SLURM_JOB_ID.$SLURM_JOB_STATE
echo "$1 $2 | $3" >> {dir}/work/mails
{more}
"""


@pytest.fixture
def mailing(make_cluster):
    def make(more="", extra=""):
        cluster = make_cluster(start=False, nodes=1)
        program = cluster.dir / "mail"
        program.write_text(MAIL_PROG.format(dir=cluster.dir, more=more))
        program.chmod(0o755)
        cluster.extra = f"MailProg={program}\n{extra}"
        cluster.write_config()
        return cluster.start()
    return make


def mails(cluster, count):
    """The first mails, once there are so many."""
    path = cluster.dir / "work" / "mails"
    cluster.wait_for(lambda: path.exists() and len(path.read_text().splitlines()) >= count,
                     what=f"{count} mails")
    return path.read_text().splitlines()


def log_says(cluster, text):
    return lambda: text in (cluster.dir / "log" / "slurmctld.log").read_text()


def without_times(mail):
    return " ".join("TIME" if word.startswith("00:") else word for word in mail.split())


def test_a_job_tells_of_its_start_and_its_end(mailing):
    cluster = mailing()
    job = cluster.submit("exit 3", "-J", "train", "--mail-type=ALL")
    begun, ended = mails(cluster, 2)
    name = f"-s Slurm Job_id={job} Name=train"
    assert begun.startswith(f"{name} Began, Queued time 00:00:0")
    assert begun.endswith(f" | {cluster.user}")
    assert without_times(ended.replace(",", " ,")) == (
        f"{name} Failed , Run time TIME , FAILED , ExitCode 3 | {cluster.user}")
    assert (cluster.dir / "work" / "stdin").read_text() == "/dev/null\n"
    assert (cluster.dir / "work" / "sockets").read_text() == "0\n"
    variables = (cluster.dir / "work" / f"variables.{job}.FAILED").read_text().splitlines()
    for line in (f"SLURM_JOB_USER={cluster.user}", "SLURM_JOB_NAME=train", "SLURM_JOB_NODELIST=n1",
                 "SLURM_JOB_MAIL_TYPE=Failed", "SLURM_JOB_EXIT_CODE_MAX=3", "SLURM_CLUSTER_NAME=test"):
        assert line in variables


def test_addresses_are_qualified_unless_they_were_given(mailing):
    cluster = mailing(extra="MailDomain=example.org")
    cluster.run_job("true", "--mail-type=END")
    cluster.run_job("true", "--mail-type=END", "--mail-user=bob,eve@example.com")
    addresses = [mail.split(" | ")[1] for mail in mails(cluster, 2)]
    assert addresses == [f"{cluster.user}@example.org", "bob,eve@example.com"]


def test_an_array_tells_once(mailing):
    cluster = mailing()
    array = cluster.submit("exit $((SLURM_ARRAY_TASK_ID - 1))", "-J", "sweep", "-a", "1-3", "--mail-type=ALL",
                           "--mail-user=bob")
    name = f"-s Slurm Array Summary Job_id={array}_* ({array}) Name=sweep"
    assert mails(cluster, 2) == [f"{name} Began | bob", f"{name} Failed, Mixed, ExitCode [0-2] | bob"]


def test_a_program_that_is_missing_or_fails_is_a_line_in_the_log(mailing):
    cluster = mailing(more="exit 7")
    assert cluster.run_job("true", "--mail-type=END")[0]["JobState"] == "COMPLETED"
    cluster.wait_for(log_says(cluster, f"MailProg: {cluster.dir}/mail failed"))
    cluster.extra = "MailProg=/nonexistent/mail"
    cluster.write_config()
    cluster.run("scontrol", "reconfigure")
    assert cluster.run_job("true", "--mail-type=END")[0]["JobState"] == "COMPLETED"
    cluster.wait_for(log_says(cluster, "MailProg: /nonexistent/mail: No such file"))


def test_a_program_that_hangs_keeps_nobody_waiting(mailing):
    cluster = mailing(more="while [ ! -e ${0%/*}/work/go ]; do sleep 0.05; done")
    for _ in range(2):
        cluster.run_job("true", "--mail-type=ALL")
    assert len(mails(cluster, 1)) == 1
    (cluster.dir / "work" / "go").touch()
    mails(cluster, 4)


def test_what_is_no_address_is_refused(mailing):
    cluster = mailing()
    for address in ("-f", "|id", "/etc/passwd"):
        refused = cluster.run("sbatch", f"--mail-user={address}", "--wrap=true", check=False)
        assert refused.returncode != 0 and "--mail-user" in refused.stderr
    job = cluster.submit("true", "-H", "--mail-type=END")
    refused = cluster.run("scontrol", "update", f"JobId={job}", "MailUser=-f", check=False)
    assert refused.returncode != 0
    cluster.run("scontrol", "update", f"JobId={job}", "MailType=ALL", "MailUser=bob")
    shown = cluster.run("scontrol", "show", "job", job).stdout
    assert "MailUser=bob MailType=INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT" in shown
