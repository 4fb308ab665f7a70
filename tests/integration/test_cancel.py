"""scancel and its many ways to name jobs."""

import contextlib
import socket
import sys
import threading

from cluster import process_state


def sleeper(cluster, *options):
    job = cluster.submit("sleep 1000", *options)
    cluster.wait_state(job, "RUNNING")
    return job


def test_a_waiting_job(shared):
    job = shared.submit("true", "--hold")
    shared.run("scancel", job)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_sbatch_wait_of_a_job_that_never_ran_fails(shared):
    waiting = shared.popen("sbatch", "--parsable", "--wait", "--hold", "--wrap", "true")
    job = waiting.stdout.readline().strip()
    shared.run("scancel", job)
    assert waiting.wait(timeout=60) == 1
    waiting.communicate()


def test_a_running_job_and_its_children(shared):
    job = shared.submit("sleep 1000 & echo $! >child.pid; wait")
    pid = int(shared.wait_file("child.pid"))
    shared.run("scancel", job)
    record = shared.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("CANCELLED", "0:15")
    assert pid not in shared.processes()
    assert f"*** JOB {job} ON {record['BatchHost']} CANCELLED AT" in shared.output(job)


def test_at_any_moment_of_its_start(shared):
    jobs = [shared.submit("sleep 1000") for _ in range(30)]
    for job in jobs:
        shared.run("scancel", job)
    # SIGTERM was enough for each that had started.
    assert {shared.wait_end(job)["ExitCode"] for job in jobs} <= {"0:0", "0:15"}


def test_a_job_that_ignores_term_is_killed_after_killwait(shared):
    job = shared.submit("trap '' TERM; echo up; while :; do sleep 0.1; done")
    shared.wait_file(f"slurm-{job}.out")
    shared.run("scancel", job)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_children_that_outlive_the_script_have_the_grace_time_too(shared):
    job = shared.submit("(trap 'sleep 0.5; echo saved; exit' TERM; echo up; while :; do sleep 0.1; done)\necho after")
    shared.wait_file(f"slurm-{job}.out")
    shared.run("scancel", job)
    shared.wait_for(lambda: "saved\n" in shared.output(job), what="the child's last words")
    assert shared.wait_end(job)["JobState"] == "CANCELLED"
    assert "after" not in shared.output(job)


def test_tasks_hear_of_the_end_once(shared):
    """Though the srun in the script hears of it too, and tells them."""
    (shared.dir / "work" / "count.py").write_text(
        "import os, signal, time\n"
        "heard = os.open('heard.txt', os.O_WRONLY | os.O_CREAT)\n"
        "signal.signal(signal.SIGTERM, lambda *_: os.write(heard, b'TERM\\n'))\n"
        "os.write(heard, b'up\\n')\n"
        "while True:\n"
        "    time.sleep(1)\n")
    job = shared.submit(f"exec srun -n1 {sys.executable} count.py")
    shared.wait_file("heard.txt")
    shared.run("scancel", job)
    shared.wait_end(job)
    assert (shared.dir / "work" / "heard.txt").read_text() == "up\nTERM\n"


def test_several_by_id_by_name_by_state(shared):
    one, two = sleeper(shared), sleeper(shared)
    named, held = sleeper(shared, "-J", "by-name"), shared.submit("true", "--hold")
    shared.run("scancel", one, two)
    shared.run("scancel", "--name=by-name")
    shared.run("scancel", "--me", "--state=PENDING")
    for job in (one, two, named, held):
        assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_a_signal_alone_does_not_end_the_job(shared):
    job = shared.submit("trap 'echo got it' USR1; echo up; while :; do sleep 0.1; done")
    shared.wait_file(f"slurm-{job}.out")
    shared.run("scancel", "--signal=USR1", "--batch", job)
    shared.wait_for(lambda: "got it" in shared.output(job), what="the signal")
    assert shared.state(job) == "RUNNING"
    shared.run("scancel", job)


def test_a_finished_or_unknown_job(shared):
    job = shared.submit("true")
    shared.wait_end(job)
    shared.run("scancel", job, check=False)
    assert shared.state(job) == "COMPLETED"
    shared.run("scancel", "4000000", check=False)
    assert shared.run("scontrol", "ping").returncode == 0


def test_cancelling_twice_is_harmless(shared):
    job = sleeper(shared)
    shared.run("scancel", job)
    shared.run("scancel", job, check=False)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_a_signal_for_one_step_reaches_no_other(shared):
    trap = "trap \"echo $SLURM_STEP_ID >>one-step.heard\" USR1; touch one-step.$SLURM_STEP_ID; while :; do sleep 0.05; done"
    step = f"srun -n1 -c1 --exact sh -c '{trap}' &"
    job = shared.submit(f"{step}\n{step}\nwait", "-n2")
    for number in "01":
        shared.wait_for((shared.dir / "work" / f"one-step.{number}").exists, what=f"step {number} to run")
    heard = shared.dir / "work" / "one-step.heard"
    for number in "10":
        shared.run("scancel", "-s", "USR1", f"{job}.{number}")
        shared.wait_for(lambda: heard.exists() and number in heard.read_text(), what=f"step {number} to hear it")
    assert heard.read_text() == "1\n0\n"
    shared.run("scancel", job)
    shared.wait_end(job)


def test_by_reservation_wckey_and_a_file_of_nodes(shared):
    start = shared.run("scontrol", "create", "reservation", "ReservationName=kept", "StartTime=now", "Duration=10",
                       "Nodes=n4", f"Users={shared.user}")
    assert start.returncode == 0
    reserved, keyed = sleeper(shared, "--reservation=kept"), sleeper(shared, "--wckey=paper")
    other, placed = sleeper(shared), sleeper(shared, "-w", "n3")
    shared.run("scancel", "--reservation=kept")
    shared.run("scancel", "--wckey=paper")
    hosts = shared.dir / "work" / "hosts"
    hosts.write_text("n3\nn4\n")
    shared.run("scancel", "-w", hosts)
    for job in (reserved, keyed, placed):
        assert shared.wait_end(job)["JobState"] == "CANCELLED"
    assert shared.state(other) == "RUNNING"
    shared.run("scancel", other)
    shared.run("scontrol", "delete", "ReservationName=kept")


def test_asked_about_a_step_it_ends_the_step_alone(shared):
    job = shared.submit("srun sleep 1000; echo after", "-J", "asked")
    shared.wait_for(lambda: f"{job}.0" in shared.run("squeue", "-s", "-h", "-o", "%i").stdout, what="the step")
    asked = shared.run("scancel", "-i", f"{job}.0", input="n\n")
    assert asked.stdout == f"Cancel step_id={job}.0 name=asked partition=debug [y/n]? "
    shared.run("scancel", "-i", f"{job}.0", input="y\n")
    assert shared.wait_end(job)["JobState"] != "CANCELLED"
    assert "after" in shared.output(job)


def test_a_comment_of_an_administrator(shared):
    job = sleeper(shared)
    shared.run("scancel", "--admin-comment=broken node", job)
    assert shared.wait_end(job)["AdminComment"] == "broken"


def test_stopped_tasks_do_not_run_until_they_are_continued(shared):
    count = "i=0; while :; do i=$((i+1)); echo $i > counted; sleep 0.05; done"
    job = shared.submit(f"srun sh -c '{count}'")
    shared.wait_file("counted")
    shared.run("scancel", "-s", "STOP", job)

    def stands():
        pids = [pid for pid, line in shared.processes().items() if line.startswith("sh -c i=0")]
        return pids and all(process_state(pid) == "T" for pid in pids)

    shared.wait_for(stands, what="the tasks to stop")
    before = (shared.dir / "work" / "counted").read_text()
    assert shared.state(job) == "RUNNING"
    shared.run("scancel", "--signal=SIGCONT", job)
    shared.wait_for(lambda: (shared.dir / "work" / "counted").read_text() not in ("", before), what="them to go on")
    shared.run("scancel", job)
    shared.wait_end(job)


def test_a_signal_whose_answer_is_lost_is_not_sent_again(make_cluster):
    """A controller that ends its connections when it has read a request; a job that is cancelled is cancelled again."""
    cluster = make_cluster(start=False)
    requests = []

    def serve(listener):
        with contextlib.suppress(OSError):  # until it is shut down
            while True:
                connection, _ = listener.accept()
                with connection:
                    if connection.recv(65536):
                        requests.append(1)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0sluice.slurmctld.{cluster.ports.numbers[0]}")
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        for words, unknown in ((["scancel", "-s", "USR1", "1"], True), (["scontrol", "notify", "1", "text"], True),
                               (["scancel", "1"], False)):
            requests.clear()
            result = cluster.run(*words, check=False)
            assert result.returncode != 0
            assert ("it is not known whether this was done" in result.stderr) == unknown, result.stderr
            assert (len(requests) == 1) == unknown, f"{words}: {len(requests)} requests"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
