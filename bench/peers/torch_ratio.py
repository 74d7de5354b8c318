"""Times `stagewright run` against PyTorch on the same model, in interleaved rounds, and prints the ratios.

    torch_ratio.py STAGEWRIGHT [--rounds 5] [--steps 5] [--python /usr/bin/python3] [--json FILE]

Each round runs every contender for a few steps, in turn, so that whatever else the machine does meets them alike. A
contender's figure is the smallest step of all rounds; beside it the median over the rounds of each round's median. PyTorch runs
with its best setting of the C library's allocator. Ratios are of the smallest steps.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

MODEL = {
    "version": 1, "name": "peer-gpt", "family": "gpt2", "layers": 4, "hidden": 256, "heads": 8,
    "vocabulary": 4096, "max_sequence": 256, "tied_embeddings": False,
}
PLAN = {
    "version": 1, "sequence": 256, "schedule": "1f1b",
    "optimizer": {"kind": "adamw", "learning_rate": 3e-4, "clip_norm": None},
}
ALLOCATOR = {name: "1073741824" for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")}
ALLOCATOR["MALLOC_TOP_PAD_"] = "268435456"

# What of ours, against which mode of PyTorch or which contender of ours, and the goal.
PLANS = {
    "one rank": {"ranks": 1, "micro_batch_size": 8, "micro_batches": 1, "precision": {"compute": "fp32"}},
    "dp2": {"ranks": 2, "dp": 2, "micro_batch_size": 4, "micro_batches": 1, "precision": {"compute": "fp32"}},
    "pp2, 4 chunks": {"ranks": 2, "pp": 2, "micro_batch_size": 2, "micro_batches": 4, "precision": {"compute": "fp32"}},
    "bf16": {"ranks": 1, "micro_batch_size": 8, "micro_batches": 1, "precision": {"compute": "bf16"}},
}
RATIOS = [
    ("one rank", "torch single", 0.8),
    ("dp2", "torch ddp", 0.75),
    ("pp2, 4 chunks", "torch pipe", 0.6),
    ("pp2, 4 chunks", "one rank", 0.8),
    ("bf16", "torch bf16", 1.0),
]


def write_inputs(folder):
    (folder / "model.json").write_text(json.dumps(MODEL))
    generator = random.Random(1)
    tokens = [generator.randrange(MODEL["vocabulary"]) for _ in range(65536)]
    (folder / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    for name, own in PLANS.items():
        plan = {**PLAN, **{key: value for key, value in own.items() if key != "ranks"}}
        plan |= {"model": str(folder / "model.json"), "cluster": f"1x{own['ranks']}xcpu"}
        if "pp" in own:  # embedding and two blocks; two blocks and the head
            del plan["pp"]
            plan["stages"] = [{"first_layer": 0, "layers": 3}, {"first_layer": 3, "layers": 3}]
        (folder / f"{name}.plan.json").write_text(json.dumps(plan))


def output_of(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{") :])


def contenders(options, folder):
    """Name -> a function that returns the times of some steps."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    plain["OMP_NUM_THREADS"] = "1"
    script = pathlib.Path(__file__).with_name("torch_gpt.py")

    def ours(name):
        command = [options.stagewright, "run", folder / f"{name}.plan.json", "--data", folder / "tokens.bin",
                   "--token-width", "2", "--steps", str(options.steps + 2), "--json"]
        return lambda: output_of(command, plain)["step_times_s"][2:]

    def torch(mode):
        command = [options.python, script, mode, "--steps", str(options.steps)]
        return lambda: output_of(command, plain | ALLOCATOR)["steps_s"]

    result = {}
    for name, other, _ in RATIOS:
        result[name] = ours(name)
        if other.startswith("torch"):
            result[other] = torch(other.split()[1])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stagewright", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_inputs(folder)
        run = contenders(options, folder)
        rounds = {name: [] for name in run}
        loads = []
        for _ in range(options.rounds):
            loads.append(os.getloadavg()[0])
            for name, steps in run.items():
                rounds[name].append(steps())
    best = {name: min(min(steps) for steps in each) for name, each in rounds.items()}
    middle = {name: statistics.median(statistics.median(steps) for steps in each) for name, each in rounds.items()}
    report = {
        "rounds": options.rounds, "steps": options.steps, "load": loads, "cores": os.cpu_count(),
        "contenders": {name: {"min_s": best[name], "median_s": middle[name]} for name in best},
        "ratios": [
            {"of": name, "to": other, "ratio": best[name] / best[other], "ratio_of_medians": middle[name] / middle[other],
             "goal": goal, "met": best[name] / best[other] <= goal}
            for name, other, goal in RATIOS
        ],
    }
    print(f"{'of':<16}{'to':<16}{'ms':>8}{'ms':>8}{'ratio':>8}{'medians':>9}{'goal':>6}")
    for row in report["ratios"]:
        print(f"{row['of']:<16}{row['to']:<16}{1e3 * best[row['of']]:>8.0f}{1e3 * best[row['to']]:>8.0f}"
              f"{row['ratio']:>8.2f}{row['ratio_of_medians']:>9.2f}{row['goal']:>6.2f}{'' if row['met'] else '  missed'}")
    print(f"load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores; ms: smallest step of {options.rounds} rounds")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
