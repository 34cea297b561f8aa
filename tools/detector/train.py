"""Trains the small scorer that `quipu-recall` carries beside its rules: do two sentences contradict?

    python train.py TABLE OUT --train PAIRS... --test PAIRS...

TABLE is `crates/quipu-recall/models/static-256.bin` (see `tools/embedder`). PAIRS are files with one
`{"a": ..., "b": ..., "label": "contradiction" | "entailment" | "neutral"}` a line. Every twentieth pair of the
training files is held out: the epoch that is kept and the threshold are chosen there, never on a test file.
A contradiction has no direction, so each pair is seen in both orders.

The model aligns the word pieces of both sentences softly (decomposable attention) over the frozen table. Layout of
OUT, little-endian: "quipudet" | u32 version | f32 threshold | u32 layers, and for each layer
u32 inputs | u32 outputs | f32 scale x outputs | f32 bias x outputs | i8 weight x inputs x outputs, by output.
"""

import argparse
import json
import struct
import unicodedata

import numpy
import torch
from torch import nn

VERSION = 1
PIECES = 48
SMALL = 64
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load_table(path):
    data = open(path, "rb").read()
    version, dimensions, rows, length = struct.unpack_from("<IIII", data, 8)
    assert data[:8] == b"quipuemb" and version == 1
    at = 24
    names = data[at : at + length].decode().split("\n")
    at += length + 4 * dimensions
    scale = numpy.frombuffer(data, numpy.float32, rows, at)
    at += 4 * rows
    table = numpy.frombuffer(data, numpy.int8, rows * dimensions, at).reshape(rows, dimensions)
    return {name: at for at, name in enumerate(names)}, table * scale[:, None]


def words(text):
    """Lower case without accents; punctuation marks are words."""
    found, word = [], ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        if kind == "Mn":
            continue
        mark = kind.startswith("P") or letter in "$+<=>^`|~"
        if (mark or letter.isspace()) and word:
            found.append(word)
            word = ""
        if mark:
            found.append(letter)
        elif not letter.isspace():
            word += letter
    return found + ([word] if word else [])


def pieces(text, ids):
    found = []
    for word in words(text):
        start, mine = 0, []
        while start < len(word):
            ends = range(len(word), start, -1)
            name = lambda end: ("##" if start else "") + word[start:end]
            end = next((end for end in ends if name(end) in ids), None)
            if end is None:
                mine = [ids["[UNK]"]]
                break
            mine.append(ids[name(end)])
            start = end
        found += mine
    return found[:PIECES]


class Scorer(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.tensor(table, dtype=torch.float32), freeze=True)
        self.project = nn.Linear(table.shape[1], SMALL)
        self.attend = nn.Linear(SMALL, SMALL)
        self.compare = nn.Linear(4 * SMALL, SMALL)
        self.hidden = nn.Linear(4 * SMALL, SMALL)
        self.out = nn.Linear(SMALL, 1)
        self.drop = nn.Dropout(0.25)

    def side(self, x, mask, other, other_mask, scores):
        scores = scores.masked_fill(~other_mask[:, None, :], -1e4)
        met = torch.softmax(scores, 2) @ other
        compared = torch.relu(self.compare(self.drop(torch.cat([x, met, x - met, x * met], 2))))
        compared = compared * mask[:, :, None]
        mean = compared.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return torch.cat([mean, compared.max(1).values], 1)

    def forward(self, a, b):
        am, bm = a >= 0, b >= 0
        x = torch.tanh(self.project(self.drop(self.table(a.clamp(min=0)))))
        y = torch.tanh(self.project(self.drop(self.table(b.clamp(min=0)))))
        scores = torch.relu(self.attend(x)) @ torch.relu(self.attend(y)).transpose(1, 2)
        sides = [self.side(x, am, y, bm, scores), self.side(y, bm, x, am, scores.transpose(1, 2))]
        return self.out(torch.relu(self.hidden(self.drop(torch.cat(sides, 1))))).squeeze(1)


def read(paths, ids):
    rows = [json.loads(line) for path in paths for line in open(path, encoding="utf-8")]
    pad = lambda found: found + [-1] * (PIECES - len(found))
    pairs = [(pieces(row["a"], ids), pieces(row["b"], ids), row["label"] == "contradiction") for row in rows]
    pairs = [pair for pair in pairs if pair[0] and pair[1]]
    a = torch.tensor([pad(pair[0]) for pair in pairs], device=DEVICE)
    b = torch.tensor([pad(pair[1]) for pair in pairs], device=DEVICE)
    return a, b, torch.tensor([pair[2] for pair in pairs], dtype=torch.float32, device=DEVICE)


def predict(model, a, b):
    model.eval()
    with torch.no_grad():
        return torch.cat([
            torch.sigmoid((model(p, q) + model(q, p)) / 2) for p, q in zip(a.split(2048), b.split(2048))
        ])


def f1(scores, truth, threshold):
    found = scores >= threshold
    hits = (found & (truth > 0.5)).sum().item()
    precision = hits / max(found.sum().item(), 1)
    recall = hits / max((truth > 0.5).sum().item(), 1)
    return 2 * precision * recall / max(precision + recall, 1e-9), precision, recall


def best_threshold(scores, truth):
    return max((f1(scores, truth, at / 100)[0], at / 100) for at in range(5, 96))


def quantized(layer):
    weight = layer.weight.detach().cpu().numpy()
    scale = numpy.maximum(numpy.abs(weight).max(axis=1) / 127, 1e-12).astype(numpy.float32)
    codes = numpy.rint(weight / scale[:, None]).astype(numpy.int8)
    return codes, scale, layer.bias.detach().cpu().numpy().astype(numpy.float32)


def save(model, threshold, path):
    layers = [model.project, model.attend, model.compare, model.hidden, model.out]
    with open(path, "wb") as file:
        file.write(b"quipudet" + struct.pack("<IfI", VERSION, threshold, len(layers)))
        for layer in layers:
            codes, scale, bias = quantized(layer)
            file.write(struct.pack("<II", codes.shape[1], codes.shape[0]))
            file.write(scale.tobytes() + bias.tobytes() + codes.tobytes())
            layer.weight.data = torch.tensor(codes * scale[:, None], device=DEVICE)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("table")
    arguments.add_argument("out")
    arguments.add_argument("--train", nargs="+", required=True)
    arguments.add_argument("--test", nargs="*", default=[])
    arguments.add_argument("--epochs", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=20261115)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    ids, table = load_table(given.table)
    a, b, truth = read(given.train, ids)
    held = torch.arange(len(truth), device=DEVICE) % 20 == 7
    dev = (a[held], b[held], truth[held])
    a, b, truth = a[~held], b[~held], truth[~held]
    model = Scorer(table).to(DEVICE)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=2e-3, weight_decay=0.02)
    steps = given.epochs * (len(truth) // 256 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps + 1)
    best = (0.0, 0.5, None)
    for epoch in range(given.epochs):
        model.train()
        for batch in torch.randperm(len(truth), device=DEVICE).split(256):
            p, q = a[batch], b[batch]
            swap = torch.rand(len(batch), 1, device=DEVICE) < 0.5
            p, q = torch.where(swap, q, p), torch.where(swap, p, q)
            loss = nn.functional.binary_cross_entropy_with_logits(model(p, q), truth[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        score, threshold = best_threshold(predict(model, dev[0], dev[1]), dev[2])
        if score > best[0]:
            kept = {name: value.clone() for name, value in model.state_dict().items()}
            best = (score, threshold, kept)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}, held out F1 {score:.3f}", flush=True)
    model.load_state_dict(best[2])
    save(model, best[1], given.out)
    print(f"{len(truth)} pairs, held out F1 {best[0]:.3f} at {best[1]:.2f}")
    for path in given.test:
        a, b, truth = read([path], ids)
        score, precision, recall = f1(predict(model, a, b), truth, best[1])
        print(f"{path}: F1 {score:.3f}, precision {precision:.3f}, recall {recall:.3f} of {len(truth)} pairs")


if __name__ == "__main__":
    main()
