"""A small transformer reads both sentences together, learns the labelled pairs, and then labels many more for the scorer.

The unlabelled pairs are made of the sentences of the training files only: each with those nearest in meaning, so that the
scorer sees many sentences about the same scene and not only the three that somebody wrote.
"""

import numpy
import torch
from torch import nn
from transformers import BertConfig, BertModel, BertTokenizerFast

from pairs import DEVICE


def load(folder):
    """MiniLM from `minilm.npz` (its word table as int8 with a scale a row, the rest as f16)."""
    stored = numpy.load(f"{folder}/minilm.npz")
    state = {}
    for name in stored.files:
        if name.endswith(".scale"):
            continue
        value = torch.tensor(stored[name].astype(numpy.float32))
        if name + ".scale" in stored.files:
            value *= torch.tensor(stored[name + ".scale"])[:, None]
        state[name] = value
    model = BertModel(BertConfig.from_json_file(f"{folder}/config.json"))
    missing = model.load_state_dict(state, strict=False)
    assert not [name for name in missing.missing_keys if "position_ids" not in name], missing
    return model.to(DEVICE), BertTokenizerFast(f"{folder}/vocab.txt", do_lower_case=True)


class Teacher(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(2 * body.config.hidden_size, 3)

    def forward(self, batch):
        hidden = self.body(**batch).last_hidden_state
        mask = batch["attention_mask"][:, :, None].float()
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.out(self.drop(torch.cat([hidden[:, 0], mean], 1)))


def batches(tokenizer, rows, size):
    for at in range(0, len(rows), size):
        part = rows[at : at + size]
        given = tokenizer([row[0] for row in part], [row[1] for row in part], padding=True, truncation=True, max_length=128,
                          return_tensors="pt")
        yield given.to(DEVICE), part


def neighbours(body, tokenizer, sentences, count):
    """For each sentence the `count` nearest others, by the mean of the hidden states."""
    body.eval()
    vectors = []
    with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
        for at in range(0, len(sentences), 1024):
            given = tokenizer(sentences[at : at + 1024], padding=True, truncation=True, max_length=64, return_tensors="pt").to(DEVICE)
            mask = given["attention_mask"][:, :, None].float()
            mean = (body(**given).last_hidden_state.float() * mask).sum(1) / mask.sum(1)
            vectors.append(nn.functional.normalize(mean, dim=1))
    vectors = torch.cat(vectors)
    found = []
    for part in vectors.split(2048):
        found.append((part @ vectors.T).topk(count + 1, dim=1).indices[:, 1:].cpu())
    return torch.cat(found)


def train(body, tokenizer, rows, epochs, report):
    model = Teacher(body).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    steps = epochs * (len(rows) // 64 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-4, total_steps=steps + 1, pct_start=0.1)
    for epoch in range(epochs):
        model.train()
        order = [rows[at] for at in torch.randperm(len(rows)).tolist()]
        for given, part in batches(tokenizer, order, 64):
            truth = torch.tensor([row[2] for row in part], device=DEVICE)
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = nn.functional.cross_entropy(model(given).float(), truth)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        report(epoch, model)
    return model


def label(model, tokenizer, rows):
    """How likely each pair is a contradiction, as the mean over both orders."""
    model.eval()
    found = []
    with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
        for given, part in batches(tokenizer, rows, 1024):
            there = torch.softmax(model(given).float(), 1)[:, 0]
            swapped = [(row[1], row[0]) for row in part]
            back = torch.softmax(model(next(batches(tokenizer, swapped, 1024))[0]).float(), 1)[:, 0]
            found.append((there + back) / 2)
    return torch.cat(found)
