"""Owns how the scorer sees text: the table of `tools/embedder`, its word pieces, and files of pairs."""

import json
import struct
import unicodedata

import numpy
import torch

PIECES = 48
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LABELS = ("contradiction", "entailment", "neutral")


def load_table(path):
    """The vocabulary, and one vector of length 1 for each of its pieces."""
    data = open(path, "rb").read()
    version, dimensions, rows, length = struct.unpack_from("<IIII", data, 8)
    assert data[:8] == b"quipuemb" and version == 1
    at = 24
    names = data[at : at + length].decode().split("\n")[:rows]
    at += length + 4 * dimensions + 4 * rows
    table = numpy.frombuffer(data, numpy.int8, rows * dimensions, at).reshape(rows, dimensions).astype(numpy.float32)
    lengths = numpy.linalg.norm(table, axis=1, keepdims=True)
    return {name: at for at, name in enumerate(names)}, table / numpy.maximum(lengths, 1.0)


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
            head = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if head + word[start:end] in ids), None)
            if end is None:
                mine = [ids["[UNK]"]]
                break
            mine.append(ids[head + word[start:end]])
            start = end
        found += mine
    return found[:PIECES]


def read(path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    return [(row["a"], row["b"], LABELS.index(row["label"])) for row in rows if row["label"] in LABELS]


def tensor(texts, ids):
    """Word pieces of many texts, with -1 behind the last."""
    known = {}
    rows = []
    for text in texts:
        if text not in known:
            mine = pieces(text, ids) or [ids["[UNK]"]]
            known[text] = mine + [-1] * (PIECES - len(mine))
        rows.append(known[text])
    return torch.tensor(rows, device=DEVICE)


def f1(scores, truth, threshold):
    found = scores >= threshold
    hits = (found & truth).sum().item()
    precision = hits / max(found.sum().item(), 1)
    recall = hits / max(truth.sum().item(), 1)
    return 2 * precision * recall / max(precision + recall, 1e-9), precision, recall
