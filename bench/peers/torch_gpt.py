"""One contender of torch_ratio.py: trains the peer GPT with PyTorch and prints its step times.

GPT with 4 layers, width 256, 8 heads, 256 tokens, 8 sequences a step, a vocabulary of 4,096, learned positions, untied
head, AdamW. Modes: single (one thread, fp32), bf16 (the same under autocast), ddp (two processes, gloo), pipe
(torch.distributed.pipeline.sync, two partitions, 4 chunks).

    torch_gpt.py MODE [--steps 5] [--warm-up 2]   ->   {"steps_s": [...], "loss": ..., "torch": "1.13.1"}
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, SEQUENCE, BATCH, VOCABULARY = 4, 256, 8, 256, 8, 4096


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        # No buffer: gloo cannot broadcast booleans.
        self.hidden = torch.ones(SEQUENCE, SEQUENCE, dtype=torch.bool).triu(1)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        scores = torch.matmul(q, k.transpose(2, 3)) * (width // HEADS) ** -0.5
        weights = torch.softmax(scores.masked_fill(self.hidden, float("-inf")), dim=-1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp_norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x))))


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(SEQUENCE, WIDTH)

    def forward(self, tokens):
        return self.table(tokens) + self.positions.weight[: tokens.shape[1]]


def layers():
    head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False))
    return [Embedding(), *(Block() for _ in range(LAYERS)), head]


def data():
    tokens = torch.randint(0, VOCABULARY, (BATCH, SEQUENCE + 1), generator=torch.Generator().manual_seed(1))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def loss_of(logits, targets):
    return functional.cross_entropy(logits.reshape(-1, VOCABULARY), targets.reshape(-1))


def train(model, forward, tokens, targets, options, between=lambda: None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    times = []
    for _ in range(options.warm_up + options.steps):
        between()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(forward(tokens), targets)
        loss.backward()
        optimizer.step()
        between()
        times.append(time.perf_counter() - begin)
    return {"steps_s": times[options.warm_up :], "loss": loss.item(), "torch": torch.__version__}


def single(options):
    model = nn.Sequential(*layers())
    return train(model, model, *data(), options)


def bf16(options):
    model = nn.Sequential(*layers())

    def forward(tokens):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(tokens).float()

    return train(model, forward, *data(), options)


def pipe(options):
    from torch.distributed import rpc
    from torch.distributed.pipeline.sync import Pipe

    rpc.init_rpc("pipe", rank=0, world_size=1)
    parts = layers()
    model = nn.Sequential(nn.Sequential(*parts[:3]), nn.Sequential(*parts[3:]))
    piped = Pipe(model, chunks=4, checkpoint="never")
    result = train(model, lambda tokens: piped(tokens).local_value(), *data(), options)
    rpc.shutdown()
    return result


def ddp_rank(rank, options, results):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers()))
    tokens, targets = (part.chunk(2)[rank] for part in data())
    result = train(model, model, tokens, targets, options, between=dist.barrier)
    if rank == 0:
        results.put(result)


def ddp(options):
    import torch.multiprocessing as processes

    results = processes.get_context("spawn").SimpleQueue()
    processes.spawn(ddp_rank, (options, results), 2)
    return results.get()


def main():
    modes = {"single": single, "bf16": bf16, "ddp": ddp, "pipe": pipe}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=2)
    options = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29541")
    # Pipe has one worker per device, and so one thread for both partitions on a CPU.
    torch.set_num_threads(2 if options.mode == "pipe" else 1)
    torch.manual_seed(0)
    print(json.dumps(modes[options.mode](options)))


if __name__ == "__main__":
    main()
