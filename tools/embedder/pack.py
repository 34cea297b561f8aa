"""Packs a static token table into the one file that `quipu-recall` carries in the binary.

    python pack.py TABLE_DIR SENTENCES OUT

TABLE_DIR holds `model.int8.safetensors` (tensors `embeddings` and `scale`) and `tokenizer.json` (WordPiece).
SENTENCES is any plain English text, one sentence a line, that is no evaluation data: the mean of its vectors
is the point from which the one-bit codes are taken.

The table is turned by a fixed random rotation first. Turning changes no cosine, and after it the signs of a
vector say more about it. Layout, little-endian:

    "quipuemb" | u32 version | u32 dimensions | u32 rows | u32 bytes of vocabulary
    | vocabulary, a token a line, in order of its id | f32 mean x dimensions | f32 scale x rows
    | i8 row x dimensions x rows
"""

import json
import struct
import sys

import numpy
from tokenizers import Tokenizer

VERSION = 1
SEED = 20261115


def load(directory):
    with open(f"{directory}/model.int8.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    part = lambda name: data[slice(*header[name]["data_offsets"])]
    rows, dimensions = header["embeddings"]["shape"]
    table = numpy.frombuffer(part("embeddings"), dtype=numpy.int8).reshape(rows, dimensions)
    scale = numpy.frombuffer(part("scale"), dtype=numpy.float32)
    return table.astype(numpy.float32) * scale[:, None]


def rotation(dimensions):
    drawn = numpy.random.default_rng(SEED).standard_normal((dimensions, dimensions))
    q, r = numpy.linalg.qr(drawn)
    return (q * numpy.sign(numpy.diag(r))).astype(numpy.float32)


def embed(table, ids):
    vector = table[ids].mean(axis=0) if ids else numpy.zeros(table.shape[1], numpy.float32)
    length = numpy.linalg.norm(vector)
    return vector / length if length > 0 else vector


def main(directory, sentences, out):
    tokenizer = Tokenizer.from_file(f"{directory}/tokenizer.json")
    tokenizer.no_padding()
    vocabulary = tokenizer.get_vocab()
    unknown = vocabulary["[UNK]"]
    table = load(directory)
    table = table @ rotation(table.shape[1])
    scale = numpy.abs(table).max(axis=1) / 127
    scale[scale == 0] = 1
    codes = numpy.rint(table / scale[:, None]).astype(numpy.int8)
    packed = codes.astype(numpy.float32) * scale[:, None].astype(numpy.float32)
    with open(sentences, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    ids = [[at for at in one.ids if at != unknown] for one in tokenizer.encode_batch(lines)]
    mean = numpy.mean([embed(packed, one) for one in ids if one], axis=0).astype(numpy.float32)
    names = "\n".join(sorted(vocabulary, key=vocabulary.get)).encode()
    with open(out, "wb") as file:
        file.write(b"quipuemb" + struct.pack("<IIII", VERSION, table.shape[1], len(table), len(names)))
        file.write(names)
        file.write(mean.tobytes())
        file.write(scale.astype(numpy.float32).tobytes())
        file.write(codes.tobytes())
    print(f"{len(lines)} sentences, length of the mean {numpy.linalg.norm(mean):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
