"""The task of a job as submitit writes it: it ignores TERM and CONT, and USR2 makes rank 0 save its state, requeue the
job from inside the step and exit with 255."""

import os
import pathlib
import signal
import subprocess
import sys
import time

job, rank = os.environ["SLURM_JOB_ID"], int(os.environ["SLURM_PROCID"])
state = pathlib.Path(sys.argv[1])
for name in ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES", "SLURM_NODEID", "SLURM_JOB_NODELIST", "SLURM_LOCALID"):
    assert name in os.environ, name


def checkpoint_and_requeue(*_):
    if rank == 0:
        (state / "saved").write_text("7")
        subprocess.check_call(["scontrol", "requeue", job], timeout=60)
    sys.exit(-1)


for ignored in (signal.SIGTERM, signal.SIGCONT):
    signal.signal(ignored, lambda *_: print("bypassed", flush=True))
signal.signal(signal.SIGUSR2, checkpoint_and_requeue)
if (state / "saved").exists():
    print(f"resumed at {(state / 'saved').read_text()}, restart {os.environ['SLURM_RESTART_COUNT']}", flush=True)
    sys.exit(0)
assert "SLURM_RESTART_COUNT" not in os.environ
(state / f"waiting.{rank}").touch()
while True:
    time.sleep(0.05)
