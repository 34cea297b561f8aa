//! Texts that look like what agents record: words by Zipf's law from a fixed vocabulary, a few
//! sentences each, numbers in between. Seeded: the same seed gives the same texts.

use serde_json::{Value, json};

/// A small generator of numbers (splitmix64), so that a run can be made again.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// A number below `bound`, small ones far more often than large ones.
    fn zipf(&mut self, bound: u64) -> u64 {
        let bits = u64::from(bound.ilog2());
        let magnitude = self.below(bits + 1);
        self.below(1 << magnitude.min(bits)).min(bound - 1)
    }
}

const VOCABULARY: u64 = 16_384;
const SYLLABLES: [&str; 16] = [
    "ma", "ri", "to", "ne", "sol", "ka", "ver", "du", "li", "pon", "sta", "gem", "bra", "qui",
    "fo", "len",
];

/// The word of a rank: a made-up one, always the same.
fn word(rank: u64) -> String {
    let mut dice = Dice::new(rank.wrapping_mul(7919));
    let syllables = 2 + dice.below(3);
    (0..syllables).map(|_| SYLLABLES[usize::try_from(dice.below(16)).unwrap_or(0)]).collect()
}

/// A sentence of about a dozen words.
pub(crate) fn sentence(dice: &mut Dice) -> String {
    let mut words: Vec<String> =
        (0..8 + dice.below(8)).map(|_| word(dice.zipf(VOCABULARY))).collect();
    if dice.below(3) == 0 {
        words.push(format!("{}%", dice.below(100)));
    }
    words.join(" ") + "."
}

/// How many tasks the texts are recorded for, where nothing else is asked for.
pub(crate) const TASKS: u64 = 50;

/// A RECORD payload of about 700 bytes.
pub(crate) fn record(dice: &mut Dice) -> Value {
    record_for(dice, TASKS)
}

/// The same, for one of so many tasks.
pub(crate) fn record_for(dice: &mut Dice, tasks: u64) -> Value {
    const TYPES: [&str; 5] = ["finding", "observation", "decision", "question", "assumption"];
    let content: Vec<String> = (0..2 + dice.below(2)).map(|_| sentence(dice)).collect();
    json!({
        "mode": "committed",
        "type": TYPES[usize::try_from(dice.below(5)).unwrap_or(0)],
        "content": content.join(" "),
        "intent": {"purpose": sentence(dice), "task_id": format!("task-{}", dice.below(tasks))},
        "confidence": {"score": 0.75, "reasoning": sentence(dice), "evidence": ["https://example.com/report"]},
    })
}
