"""Records a training step of a GPT with torch.profiler, for `stagewright profile --from-pytorch`.

The sizes are those of a model file (family gpt2: pre-norm, learned positions, GELU, tied or untied head), so that the
trace and the file are of one model. Warm-up steps are trained first and not recorded.

    torch_trace.py MODEL.json OUT.json [--batch 4] [--steps 3] [--sequence S] [--annotate] [--keep-all]

Without --keep-all the Python frames that are no modules and operations below other operations are left out of the file,
which nothing reads and which are most of it. --annotate records the blocks as named ranges ("block 3") in place of
Python's module calls. Needs torch 1.13 or later.
"""
import argparse
import json

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = torch.matmul(q, k.transpose(2, 3)) * (width // self.heads) ** -0.5
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, sizes, annotate):
        super().__init__()
        width = sizes["hidden"]
        self.annotate = annotate
        self.table = nn.Embedding(sizes["vocabulary"], width)
        self.positions = nn.Embedding(sizes["max_sequence"], width)
        inner = sizes.get("feed_forward", 4 * width)
        self.blocks = nn.ModuleList(Block(width, sizes["heads"], inner) for _ in range(sizes["layers"]))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, sizes["vocabulary"], bias=False)
        if sizes.get("tied_embeddings", True):
            self.head.weight = self.table.weight

    def forward(self, tokens):
        x = self.table(tokens) + self.positions.weight[: tokens.shape[1]]
        for number, block in enumerate(self.blocks):
            if self.annotate:
                with torch.profiler.record_function(f"block {number}"):
                    x = block(x)
            else:
                x = block(x)
        return self.head(self.norm(x))


def is_module(event):
    return event.get("cat") == "python_function" and event["name"].startswith("nn.Module: ")


def short(events):
    """Without frames of Python that are no modules, operations inside operations, and what optimizers run."""
    kept, end_of, optimizer_until = [], {}, 0
    order = sorted(
        (event for event in events if event.get("ph") == "X"), key=lambda event: (event["ts"], -event.get("dur", 0))
    )
    first = order[0]["ts"]
    for event in order:
        if event.get("cat") == "cpu_op":
            if event["ts"] < max(end_of.get(event["tid"], first), optimizer_until):
                continue
            end_of[event["tid"]] = event["ts"] + event["dur"]
        elif event["name"].startswith("Optimizer."):
            optimizer_until = event["ts"] + event["dur"]
        elif event.get("cat") != "user_annotation" and not is_module(event):
            continue
        wanted = ("Sequence number", "Fwd thread id", "Input Dims", "Input type")
        if event["name"] != "aten::embedding":
            wanted = wanted[:2]
        event["ts"] = round(event["ts"] - first, 3)
        args = event.pop("args", {})
        args = {name: args[name] for name in wanted if name in args}
        kept.append({**event, "args": args} if args else event)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--annotate", action="store_true")
    parser.add_argument("--keep-all", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with open(options.model, encoding="utf-8") as file:
        sizes = json.load(file)
    model = Gpt(sizes, options.annotate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    length = options.sequence or sizes["max_sequence"]
    tokens = torch.randint(0, sizes["vocabulary"], (options.batch, length + 1))

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(tokens[:, :-1])
        functional.cross_entropy(logits.reshape(-1, sizes["vocabulary"]), tokens[:, 1:].reshape(-1)).backward()
        optimizer.step()

    for _ in range(options.warm_up):
        step()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=not options.annotate
    ) as profiler:
        for _ in range(options.steps):
            step()
            profiler.step()
    profiler.export_chrome_trace(options.out)
    if not options.keep_all:
        with open(options.out, encoding="utf-8") as file:
            trace = json.load(file)
        trace["traceEvents"] = short(trace["traceEvents"])
        with open(options.out, "w", encoding="utf-8") as file:
            events = ",\n".join(json.dumps(event, separators=(",", ":")) for event in trace.pop("traceEvents"))
            head = {name: trace[name] for name in ("schemaVersion", "deviceProperties") if name in trace}
            file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n' + events + "\n]}\n")


if __name__ == "__main__":
    main()
