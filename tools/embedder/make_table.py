"""Makes the static embedding table: distils all-MiniLM-L6-v2 piece by piece, then tunes it on texts.

    python make_table.py OUT --texts FILE [FILE ...] [--pairs FILE ...] [--epochs N]

A text file holds one text per line; a pair file holds a question, a tab and the statement that
answers it. Neither may hold a text of an evaluation set. The same input gives the same table on
the same machine.
"""

import argparse
import random
from pathlib import Path

import torch
import torch.nn.functional as F

from student import Student, first_table
from teacher import Teacher

SEED = 20240501
BATCH = 512
HELD_OUT = 0.05
# How sharply neighbours are told apart; the same in both losses.
TEMPERATURE = 0.05


def arguments():
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--pairs", type=Path, nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--pair-weight", type=float, default=0.3)
    return parser.parse_args()


def lines(paths):
    """The different lines of all files that are neither empty nor very short, in order."""
    found = (line.strip() for path in paths for line in path.read_text().splitlines())
    return list(dict.fromkeys(line for line in found if len(line.split()) > 2))


def likeness_loss(student, teacher):
    """Similarities inside a batch should be the teacher's, near neighbours above all."""
    ours, theirs = student @ student.T, teacher @ teacher.T
    off = ~torch.eye(len(ours), dtype=torch.bool)
    error = F.mse_loss(ours[off], theirs[off])
    spread = [
        F.log_softmax(part.masked_fill(~off, -1e4) / TEMPERATURE, dim=1) for part in (ours, theirs)
    ]
    return error * 10 + F.kl_div(spread[0], spread[1], log_target=True, reduction="batchmean")


def pair_loss(questions, statements):
    """A question should be nearer to its statement than to those of the others."""
    near = questions @ statements.T / TEMPERATURE
    return F.cross_entropy(near, torch.arange(len(near)))


def agreement(student, ids, teacher, near=10):
    """Share of the teacher's ten nearest neighbours that the student names too."""
    with torch.no_grad():
        ours = student.vectors(ids)
        tops = []
        for side in (ours, teacher):
            like = side @ side.T
            like.fill_diagonal_(-2)
            tops.append(like.topk(near, dim=1).indices)
        same = (tops[0][:, :, None] == tops[1][:, None, :]).any(2)
        return same.float().mean().item()


def tune(student, texts, targets, pairs, options):
    """Adjusts the table; prints how it does on texts that it is not adjusted to."""
    ids = student.ids(texts)
    held = int(len(texts) * HELD_OUT)
    sides = [student.ids(side) for side in zip(*pairs)] if pairs else None
    optimizer = torch.optim.Adam([student.table], lr=options.rate)
    steps = (len(texts) - held) // BATCH
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps * options.epochs)
    print("before", f"{agreement(student, ids[:held], targets[:held]):.3f}", flush=True)
    for epoch in range(options.epochs):
        order = torch.randperm(len(texts) - held) + held
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH].tolist()
            loss = likeness_loss(student.vectors([ids[at] for at in chosen]), targets[chosen])
            if sides:
                some = random.sample(range(len(pairs)), min(BATCH, len(pairs)))
                questions, statements = (student.vectors([side[at] for at in some]) for side in sides)
                loss = loss + options.pair_weight * pair_loss(questions, statements)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        kept = agreement(student, ids[:held], targets[:held])
        print("epoch", epoch + 1, f"loss {loss.item():.3f} agreement {kept:.3f}", flush=True)


def main():
    """Teacher, first table, tuning, file."""
    options = arguments()
    random.seed(SEED)
    torch.manual_seed(SEED)
    teacher = Teacher()
    texts = lines(options.texts)
    random.shuffle(texts)
    pairs = [tuple(line.split("\t")) for line in lines(options.pairs) if line.count("\t") == 1]
    print(len(texts), "texts,", len(pairs), "pairs", flush=True)
    pieces = teacher.pieces([at for at, _ in teacher.vocabulary()])
    tokenizer = teacher.student_tokenizer()
    student = Student(tokenizer, first_table(pieces, options.dimensions))
    tune(student, texts, teacher.texts(texts), pairs, options)
    print("largest rounding error", student.save(options.out, tokenizer))


if __name__ == "__main__":
    main()
