"""Distributed training as users write it: a rank per task, gloo, a checkpoint after each step. train.py STEPS DIRECTORY"""

import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

STEPS, DIRECTORY = int(sys.argv[1]), Path(sys.argv[2])
RANK = int(os.environ.get("RANK", os.environ.get("SLURM_PROCID", "0")))
SIZE = int(os.environ.get("WORLD_SIZE", os.environ.get("SLURM_NTASKS", "1")))
CHECKPOINT = DIRECTORY / "checkpoint.pt"

stop = False


def on_term(*_):
    global stop
    stop = True


signal.signal(signal.SIGTERM, on_term)
dist.init_process_group("gloo", init_method="env://", rank=RANK, world_size=SIZE)
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
replica = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(replica.parameters(), lr=0.01)
first = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT)
    model.load_state_dict(saved["model"])
    first = saved["step"]
(DIRECTORY / f"started.{os.environ.get('SLURM_RESTART_COUNT', '0')}.{RANK}").write_text(f"{first}\n")
for step in range(first, STEPS):
    replica(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    # All ranks stop at the same step, though the signal comes to each at its own time.
    stopping = torch.tensor([int(stop)])
    dist.all_reduce(stopping)
    if RANK == 0:
        torch.save({"model": model.state_dict(), "step": step + 1}, f"{CHECKPOINT}.new")
        os.replace(f"{CHECKPOINT}.new", CHECKPOINT)
    if stopping.item():
        sys.exit(1)
    time.sleep(float(os.environ.get("STEP_TIME", "0")))
total = torch.tensor([RANK + 1])
dist.all_reduce(total)
weights = [torch.zeros_like(model.weight) for _ in range(SIZE)]
dist.all_gather(weights, model.weight.detach())
same = all(torch.equal(weights[0], each) for each in weights)
if RANK == 0:
    print(f"done {STEPS} from {first}, sum {total.item()}, replicas {'equal' if same else 'differ'}", flush=True)
