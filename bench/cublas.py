"""Times the vendor's library (cuBLAS, through PyTorch) on products and prints a line of JSON for each.

    python3 bench/cublas.py [--types f32,f16] $(cat bench/cublas-shapes.txt) > cublas.jsonl

A shape is MxNxK or MxNxKxBATCH, with :NT, :TN or :TT behind it where A or B is stored transposed. f32 is true float32,
with TF32 off; tf32 and bf16 are known as well. bench/gpu-machine.ts takes the lines into its record.
"""

import argparse
import json
import time

import torch

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}

WARM_UP_S = 0.3
SAMPLES = 15
SAMPLE_MS = 5.0


def operands(shape):
    """Random A and B in f32 over [-1, 1), as they are multiplied: a transposed one is a view of what is stored."""
    sizes, _, layout = shape.partition(":")
    m, n, k, *batch = map(int, sizes.split("x"))
    trans_a, trans_b = (letter == "T" for letter in layout or "NN")

    def matrix(rows, cols, trans):
        stored = torch.rand(*batch, *((cols, rows) if trans else (rows, cols)), device="cuda") * 2 - 1
        return stored.transpose(-1, -2) if trans else stored

    return matrix(m, k, trans_a), matrix(k, n, trans_b), 2 * m * n * k * (batch[0] if batch else 1)


def graph_of(run, repeats):
    """Runs in a CUDA graph: launching them costs nothing then."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            run()
    return graph


def replay_ms(graph):
    start, stop = torch.cuda.Event(True), torch.cuda.Event(True)
    start.record()
    graph.replay()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop)


def median_ms(run):
    run()
    torch.cuda.synchronize()
    one = graph_of(run, 1)
    single = min(replay_ms(one) for _ in range(5))
    repeats = max(1, min(200, round(SAMPLE_MS / single)))
    graph = graph_of(run, repeats)
    end = time.time() + WARM_UP_S
    while time.time() < end:
        replay_ms(graph)
    return sorted(replay_ms(graph) / repeats for _ in range(SAMPLES))[SAMPLES // 2]


def relative_error(a, b, c):
    """Against float64, over the first 256 rows of the first product."""
    while a.dim() > 2:
        a, b, c = a[0], b[0], c[0]
    exact = a[:256].double() @ b.double()
    return ((c[:256].double() - exact).norm() / exact.norm()).item()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--types", default="f32,f16")
parser.add_argument("shapes", nargs="+")
arguments = parser.parse_args()
for shape in arguments.shapes:
    a32, b32, operations = operands(shape)
    for name in arguments.types.split(","):
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        # `to` keeps the layout, so a transposed operand stays transposed.
        a, b = a32.to(DTYPES[name]), b32.to(DTYPES[name])
        ms = median_ms(lambda: a @ b)
        error = relative_error(a, b, a @ b)
        line = {"shape": shape, "dtype": name, "ms": ms, "tflops": operations / ms / 1e9, "rel_err": error}
        print(json.dumps(line), flush=True)
