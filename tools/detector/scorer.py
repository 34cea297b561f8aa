"""The scorer: it aligns the word pieces of two sentences softly and looks at what each piece met on the other side.

It is symmetric by its shape: a contradiction has no direction. `crates/quipu-recall/src/detect/learned` does the same in Rust.
Layout of the file, little-endian: "quipudet" | u32 version | u32 layers, and for each layer
u32 inputs | u32 outputs | f32 scale x outputs | f32 bias x outputs | i8 weight x inputs x outputs, by output.
"""

import struct

import numpy
import torch
from torch import nn

VERSION = 1


class Scorer(nn.Module):
    def __init__(self, table, size, drop=0.2):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.tensor(table, dtype=torch.float32), freeze=True)
        self.project = nn.Linear(table.shape[1], size)
        self.context = nn.Linear(3 * size, size)
        self.attend = nn.Linear(size, size)
        self.compare = nn.Linear(4 * size, size)
        self.hidden = nn.Linear(4 * size, size)
        self.out = nn.Linear(size, 1)
        self.drop = nn.Dropout(drop)
        self.size = size

    def layers(self):
        return [self.project, self.context, self.attend, self.compare, self.hidden, self.out]

    def encode(self, ids, mask):
        mask = mask[:, :, None]
        x = torch.relu(self.project(self.drop(self.table(ids.clamp(min=0))))) * mask
        before = nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]
        after = nn.functional.pad(x, (0, 0, 0, 1))[:, 1:]
        return torch.relu(self.context(self.drop(torch.cat([before, x, after], 2)))) * mask

    def side(self, x, mask, other, other_mask, scores):
        scores = scores.masked_fill(~other_mask[:, None, :], -1e4)
        met = torch.softmax(scores, 2) @ other
        compared = torch.relu(self.compare(self.drop(torch.cat([x, met, (x - met).abs(), x * met], 2))))
        compared = compared * mask[:, :, None]
        mean = compared.sum(1) / mask.sum(1, keepdim=True)
        return torch.cat([mean, compared.max(1).values], 1)

    def forward(self, a, b):
        am, bm = a >= 0, b >= 0
        x, y = self.encode(a, am), self.encode(b, bm)
        scores = torch.relu(self.attend(x)) @ torch.relu(self.attend(y)).transpose(1, 2) / self.size**0.5
        left = self.side(x, am, y, bm, scores)
        right = self.side(y, bm, x, am, scores.transpose(1, 2))
        both = torch.cat([left + right, (left - right).abs()], 1)
        return self.out(torch.relu(self.hidden(self.drop(both)))).squeeze(1)


def predict(model, a, b):
    model.eval()
    with torch.no_grad():
        return torch.cat([torch.sigmoid(model(p, q)) for p, q in zip(a.split(4096), b.split(4096))])


def quantize(model):
    """Rounds each layer to int8 with a scale for each output, in place, and gives back what goes into the file."""
    found = []
    for layer in model.layers():
        weight = layer.weight.detach().cpu().numpy()
        scale = numpy.maximum(numpy.abs(weight).max(axis=1) / 127, 1e-12).astype(numpy.float32)
        codes = numpy.rint(weight / scale[:, None]).astype(numpy.int8)
        layer.weight.data = torch.tensor(codes * scale[:, None], device=layer.weight.device)
        found.append((codes, scale, layer.bias.detach().cpu().numpy().astype(numpy.float32)))
    return found


def save(layers, path):
    with open(path, "wb") as file:
        file.write(b"quipudet" + struct.pack("<II", VERSION, len(layers)))
        for codes, scale, bias in layers:
            file.write(struct.pack("<II", codes.shape[1], codes.shape[0]))
            file.write(scale.tobytes() + bias.tobytes() + codes.tobytes())
