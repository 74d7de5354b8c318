#!/usr/bin/env python3
"""The models that gpu_check times, in PyTorch: bf16 autocast, fp32 weights, AdamW, gradients clipped; eagerly and with
torch.compile. Writes FOLDER/torch-MODEL.step.json. Part of scripts/gpu_check.sh.

    gpu_check_torch.py --model gpt2-350m-like|llama-like --folder FOLDER [--small]
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

WARM_UP = 3
# As in bench/gpu/speed_step.cpp: layers, hidden, heads, kv heads, feed-forward, vocabulary, sequence, batch, steps.
SIZES = {
    "gpt2-350m-like": (24, 1024, 16, 16, 4096, 50257, 1024, 8, 6),
    "llama-like": (8, 2048, 16, 8, 5632, 32000, 2048, 4, 6),
}
SMALL = {
    "gpt2-350m-like": (2, 16, 4, 4, 32, 61, 8, 1, 2),
    "llama-like": (2, 16, 4, 2, 32, 61, 8, 1, 2),
}


class Attention(nn.Module):
    def __init__(self, hidden, heads, kv_heads, sequence, llama):
        super().__init__()
        self.heads, self.kv_heads, self.dim = heads, kv_heads, hidden // heads
        self.qkv = nn.Linear(hidden, (heads + 2 * kv_heads) * self.dim, bias=not llama)
        self.out = nn.Linear(hidden, hidden, bias=not llama)
        self.rotary = llama
        angles = torch.outer(torch.arange(sequence).float(),
                             10000.0 ** (-torch.arange(0, self.dim, 2).float() / self.dim))
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)

    def turn(self, x):
        low, high = x.chunk(2, dim=-1)
        cosine, sine = self.cosine.to(x.dtype), self.sine.to(x.dtype)
        return torch.cat((low * cosine - high * sine, high * cosine + low * sine), dim=-1)

    def forward(self, x):
        batch, sequence, hidden = x.shape
        q, k, v = self.qkv(x).split(
            (self.heads * self.dim, self.kv_heads * self.dim, self.kv_heads * self.dim), dim=-1)
        q = q.view(batch, sequence, self.heads, self.dim).transpose(1, 2)
        k = k.view(batch, sequence, self.kv_heads, self.dim).transpose(1, 2)
        v = v.view(batch, sequence, self.kv_heads, self.dim).transpose(1, 2)
        if self.rotary:
            q, k = self.turn(q), self.turn(k)
        repeats = self.heads // self.kv_heads
        if repeats > 1:
            k, v = k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, sequence, hidden))


class RmsNorm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


class Block(nn.Module):
    def __init__(self, hidden, heads, kv_heads, inner, sequence, llama):
        super().__init__()
        norm = RmsNorm if llama else nn.LayerNorm
        self.llama = llama
        self.before, self.between = norm(hidden), norm(hidden)
        self.attention = Attention(hidden, heads, kv_heads, sequence, llama)
        self.up = nn.Linear(hidden, 2 * inner if llama else inner, bias=not llama)
        self.down = nn.Linear(inner, hidden, bias=not llama)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        y = self.up(self.between(x))
        if self.llama:
            gate, up = y.chunk(2, dim=-1)
            y = F.silu(gate) * up
        else:
            y = F.gelu(y, approximate="tanh")
        return x + self.down(y)


class Model(nn.Module):
    def __init__(self, sizes, llama):
        super().__init__()
        layers, hidden, heads, kv_heads, inner, vocabulary, sequence, _, _ = sizes
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.positions = None if llama else nn.Embedding(sequence, hidden)
        self.blocks = nn.ModuleList(
            Block(hidden, heads, kv_heads, inner, sequence, llama) for _ in range(layers))
        self.norm = RmsNorm(hidden) if llama else nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocabulary, bias=False)
        if not llama:
            self.head.weight = self.embedding.weight

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def seconds_of_step(sizes, llama, compiled, device):
    """The median step, in seconds."""
    torch.manual_seed(1)
    vocabulary, sequence, batch, steps = sizes[5], sizes[6], sizes[7], sizes[8]
    model = Model(sizes, llama).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1,
                                  fused=device == "cuda")
    step_of = torch.compile(model) if compiled else model
    tokens = torch.randint(vocabulary, (batch, sequence), device=device)
    targets = torch.randint(vocabulary, (batch, sequence), device=device)
    times = []
    for step in range(WARM_UP + steps):
        begin = time.perf_counter()
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = step_of(tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        if device == "cuda":
            torch.cuda.synchronize()
        if step >= WARM_UP:
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def save(arguments, figures, summary, failures):
    step = {"step": "torch-" + arguments.model, "status": "failed" if failures else "passed",
            "summary": f"PyTorch {figures['torch']} on {figures['device']}: " + ", ".join(summary), "figures": figures}
    path = os.path.join(arguments.folder, step["step"] + ".step.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(step, file, indent=2)
    os.replace(path + ".new", path)
    print(f"{step['step']}: {step['status']}: {step['summary']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=sorted(SIZES), required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    sizes = (SMALL if arguments.small else SIZES)[arguments.model]
    llama = arguments.model == "llama-like"
    device = "cuda" if torch.cuda.is_available() else "cpu"
    figures = {"torch": torch.__version__, "device": device}
    summary = []
    failures = 0
    torch.backends.cuda.matmul.allow_tf32 = True
    for name, compiled in (("eager", False), ("compiled", True)):
        try:
            seconds = seconds_of_step(sizes, llama, compiled, device)
            figures[name + "_step_s"] = seconds
            summary.append(f"{name} {1e3 * seconds:.1f} ms a step")
        except Exception as problem:  # a compiler that is missing must not hide the other figure
            failures += 1
            figures[name + "_failure"] = str(problem)[:2000]
            summary.append(f"{name} failed: {str(problem).splitlines()[0] if str(problem) else type(problem).__name__}")
        save(arguments, figures, summary, failures)  # what follows may not end in time
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
