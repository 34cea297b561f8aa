#!/usr/bin/env python3
"""Reference vectors for the local transformer of quipu-models.

    reference.py tiny DIR             makes a tiny random model in DIR, with expected.json
    reference.py vectors MODEL OUT    writes expected.json for a real model directory to OUT

Needs numpy and tokenizers. The forward pass is in double precision and shares nothing with the
server's: attention over whole matrices, the error function from the C library.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np
from tokenizers import BertWordPieceTokenizer

TEXTS = [
    "The market grows by 34 % a year.",
    "Revenue went up a third since last spring",
    "the deployment was rolled back after the health check failed",
    "",
    "Café naïve 市場 👩‍👧 don't!",
    "one",
    "a long text that goes on and on " * 40,
    "let x = vec![1, 2, 3]; // code",
]
TINY_TOKENS = (
    "[PAD] [UNK] [CLS] [SEP] the market grow ##s by 3 ##4 % a year . revenue went up third since last "
    "spring deployment was rolled back after health check failed cafe na ##ive don ' t ! one long text "
    "that goes on and let x = , ; / 1 2"
).split()


def read_safetensors(path):
    raw = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, place in header.items():
        if name != "__metadata__" and place["dtype"] == "F32":
            start, end = (8 + length + at for at in place["data_offsets"])
            numbers = np.frombuffer(raw[start:end], dtype="<f4")
            tensors[name] = numbers.reshape(place["shape"]).astype(np.float64)
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def norm(x, tensors, name, epsilon):
    mean = x.mean(-1, keepdims=True)
    spread = ((x - mean) ** 2).mean(-1, keepdims=True)
    scaled = (x - mean) / np.sqrt(spread + epsilon)
    return scaled * tensors[name + ".weight"] + tensors[name + ".bias"]


def linear(x, tensors, name):
    return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]


def forward(ids, tensors, config):
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + tensors["embeddings.token_type_embeddings.weight"][0], tensors, "embeddings.LayerNorm", epsilon)
    for at in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{at}."
        q, k, v = (
            linear(x, tensors, f"{layer}attention.self.{part}").reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(mixed, tensors, layer + "attention.output.dense"), tensors, layer + "attention.output.LayerNorm", epsilon)
        wide = linear(x, tensors, layer + "intermediate.dense")
        wide = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + linear(wide, tensors, layer + "output.dense"), tensors, layer + "output.LayerNorm", epsilon)
    pooled = x.mean(0)
    return pooled / np.linalg.norm(pooled)


def expected(directory):
    directory = pathlib.Path(directory)
    config = json.loads((directory / "config.json").read_text())
    cut = json.loads((directory / "sentence_bert_config.json").read_text())["max_seq_length"]
    tensors = read_safetensors(directory / "model.safetensors")
    tokenizer = BertWordPieceTokenizer(str(directory / "vocab.txt"), lowercase=True)
    cases = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        ids = ids[: cut - 1] + ids[-1:] if len(ids) > cut else ids
        vector = forward(ids, tensors, config)
        cases.append({"text": text, "vector": [float(f"{number:.7g}") for number in vector]})
    return cases


def tiny(directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    hidden, wide, layers, positions = 20, 28, 2, 24
    config = {
        "model_type": "bert", "hidden_act": "gelu", "vocab_size": len(TINY_TOKENS), "hidden_size": hidden,
        "num_hidden_layers": layers, "num_attention_heads": 4, "intermediate_size": wide,
        "max_position_embeddings": positions, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    }
    random = np.random.default_rng(20260301)
    tensors = {}

    def draw(name, *shape, around=0.0):
        tensors[name] = around + 0.3 * random.standard_normal(shape)

    def draw_linear(name, inputs, outputs):
        draw(name + ".weight", outputs, inputs)
        draw(name + ".bias", outputs)

    def draw_norm(name):
        draw(name + ".weight", hidden, around=1.0)
        draw(name + ".bias", hidden)

    draw("embeddings.word_embeddings.weight", len(TINY_TOKENS), hidden)
    draw("embeddings.position_embeddings.weight", positions, hidden)
    draw("embeddings.token_type_embeddings.weight", 2, hidden)
    draw_norm("embeddings.LayerNorm")
    for at in range(layers):
        layer = f"encoder.layer.{at}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            draw_linear(f"{layer}attention.{part}", hidden, hidden)
        draw_linear(layer + "intermediate.dense", hidden, wide)
        draw_linear(layer + "output.dense", wide, hidden)
        draw_norm(layer + "attention.output.LayerNorm")
        draw_norm(layer + "output.LayerNorm")
    write_safetensors(directory / "model.safetensors", tensors)
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 16}\n')
    (directory / "vocab.txt").write_text("\n".join(TINY_TOKENS) + "\n")
    save(directory / "expected.json", expected(directory))


def save(path, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    pathlib.Path(path).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["tiny"] and len(sys.argv) == 3:
        tiny(sys.argv[2])
    elif sys.argv[1:2] == ["vectors"] and len(sys.argv) == 4:
        save(sys.argv[3], expected(sys.argv[2]))
    else:
        sys.exit(__doc__)
