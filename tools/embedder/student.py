"""The student: one row per word piece. A text's vector is the mean of its rows, at length one."""

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer

MAX_TOKENS = 512
SIF = 1e-4


def first_table(pieces, dimensions):
    """The teacher's vectors of single pieces, turned to their main axes and weighted by rarity."""
    centred = pieces - pieces.mean(0)
    # Signs are fixed below, so that every run of this on one machine gives the same table.
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    axes = axes[:dimensions]
    signs = torch.sign(axes[torch.arange(dimensions), axes.abs().argmax(1)])
    table = centred @ (axes * signs[:, None]).T
    # The vocabulary is in order of frequency; Zipf's law stands in for counts.
    rank = torch.arange(1, len(pieces) + 1, dtype=torch.float64)
    share = (1 / rank) / (1 / rank).sum()
    return table * (SIF / (SIF + share)).float()[:, None]


class Student:
    """Tokenizer and table together."""

    def __init__(self, tokenizer_json, table):
        self.tokenizer = Tokenizer.from_str(tokenizer_json)
        self.unknown = self.tokenizer.token_to_id("[UNK]")
        self.table = torch.nn.Parameter(table.clone())

    def ids(self, texts):
        """The rows of each text; unknown pieces say nothing and are left out."""
        found = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [[row for row in text.ids if row != self.unknown][:MAX_TOKENS] for text in found]

    def vectors(self, ids):
        """One unit vector per list of rows."""
        lengths = torch.tensor([0] + [max(1, len(rows)) for rows in ids[:-1]])
        flat = torch.tensor([row for rows in ids for row in (rows or [0])])
        return F.normalize(F.embedding_bag(flat, self.table, lengths.cumsum(0)), dim=1)

    def save(self, folder, tokenizer_json):
        """Writes 8-bit rows with one scale each, and the tokenizer."""
        folder.mkdir(parents=True, exist_ok=True)
        table = self.table.detach()
        scale = (table.abs().amax(1) / 127).clamp_min(1e-12)
        rows = (table / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
        save_file({"embeddings": rows, "scale": scale}, folder / "model.int8.safetensors")
        (folder / "tokenizer.json").write_text(tokenizer_json)
        return float(np.abs((rows * scale[:, None] - table).numpy()).max())
