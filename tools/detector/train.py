"""Trains the scorer that `quipu-recall` carries beside its rules: do two sentences contradict?

    python train.py TABLE TEACHER DATA OUT

TABLE is `crates/quipu-recall/models/static-256.bin`; TEACHER a folder with `minilm.npz`, `config.json` and `vocab.txt`;
DATA a folder with `snli.jsonl`, `cad.jsonl`, `breaking.jsonl`, `templates.jsonl` (all to learn from) and
`snli-dev.jsonl` (to choose the epoch and the size). The README says where they are from. No test part is read here.
"""

import argparse
import json
import time

import numpy
import torch
from torch import nn

import teacher
from pairs import DEVICE, f1, load_table, read, tensor
from scorer import Scorer, predict, quantize, save

LEARNED = ("snli", "cad", "breaking", "templates")
NEAR = 7


def best(scores, truth):
    return max((f1(scores, truth, at / 100)[0], at / 100) for at in range(5, 96, 5))


def fit(table, data, dev, size, epochs, drop, say):
    """The best epoch of one run, by F1 on the held-out part."""
    a, b, soft = data
    model = Scorer(table, size, drop).to(DEVICE)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=2e-3, weight_decay=0.01)
    steps = epochs * (len(soft) // 1024 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps + 1, pct_start=0.1)
    kept = (0.0, None)
    for epoch in range(epochs):
        model.train()
        for batch in torch.randperm(len(soft), device=DEVICE).split(1024):
            loss = nn.functional.binary_cross_entropy_with_logits(model(a[batch], b[batch]), soft[batch])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 2.0)
            optimizer.step()
            schedule.step()
        score, at = best(predict(model, dev[0], dev[1]), dev[2])
        if score > kept[0]:
            kept = (score, {name: value.clone() for name, value in model.state_dict().items()})
        if epoch % 4 == 3:
            say(f"size {size} drop {drop} epoch {epoch + 1}: loss {loss.item():.3f}, dev F1 {score:.4f} at {at}")
    model.load_state_dict(kept[1])
    return kept[0], model


def main():
    arguments = argparse.ArgumentParser()
    for name in ("table", "teacher", "data", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--epochs", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=20261115)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    start = time.time()
    say = lambda text: print(f"[{time.time() - start:.0f} s] {text}", flush=True)
    parts = {name: read(f"{given.data}/{name}.jsonl") for name in LEARNED}
    rows = [row for part in parts.values() for row in part]
    held = read(f"{given.data}/snli-dev.jsonl")
    truth = torch.tensor([row[2] == 0 for row in held], device=DEVICE)
    body, tokenizer = teacher.load(given.teacher)

    public = [row for name, part in parts.items() if name != "templates" for row in part]
    sentences = sorted({text for row in public for text in row[:2]})
    near = teacher.neighbours(body, tokenizer, sentences, NEAR).tolist()
    meetings = sorted({(min(i, j), max(i, j)) for i, row in enumerate(near) for j in row})
    more = [(sentences[i], sentences[j]) for i, j in meetings]
    say(f"{len(rows)} labelled pairs, {len(sentences)} sentences, {len(more)} pairs of neighbours")

    def report(epoch, model):
        score, at = best(teacher.label(model, tokenizer, held), truth)
        say(f"teacher epoch {epoch + 1}: dev F1 {score:.4f} at {at}")

    taught = teacher.train(body, tokenizer, rows, 2, report)
    own = torch.tensor([float(row[2] == 0) for row in rows], device=DEVICE)
    soft = torch.cat([0.6 * own + 0.4 * teacher.label(taught, tokenizer, rows), teacher.label(taught, tokenizer, more)])
    numpy.savez_compressed(f"{given.out}/labels.npz", meetings=numpy.array(meetings, numpy.int32), soft=soft.cpu().numpy().astype(numpy.float16))
    say(f"labelled; {soft[len(rows):].mean().item():.2f} of the neighbours contradict")

    ids, table = load_table(given.table)
    everything = rows + more
    data = (tensor([row[0] for row in everything], ids), tensor([row[1] for row in everything], ids), soft)
    dev = (tensor([row[0] for row in held], ids), tensor([row[1] for row in held], ids), truth)
    score, model = fit(table, data, dev, 96, given.epochs, 0.05, say)
    save(quantize(model), f"{given.out}/contradiction.bin")
    scores = predict(model, dev[0], dev[1])
    say(f"kept size {model.size}, dev F1 {score:.4f}; rounded {best(scores, truth)}")
    for at in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        say(f"  threshold {at}: F1 %.3f, precision %.3f, recall %.3f" % f1(scores, truth, at))
    pick = rows[::1500] + held[:20]
    score = predict(model, tensor([row[0] for row in pick], ids), tensor([row[1] for row in pick], ids)).tolist()
    with open(f"{given.out}/reference.json", "w", encoding="utf-8") as file:
        json.dump([{"a": row[0], "b": row[1], "score": value} for row, value in zip(pick, score)], file, indent=1)


if __name__ == "__main__":
    main()
