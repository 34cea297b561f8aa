//! Owns whether a text lays down a rule that holds from then on: "always", "never", "from now on",
//! "prefer". English only. A cue, not a proof: it is one signal among others, and only counts for units
//! whose type can be an instruction.

/// What says so, as words in lower case.
const CUES: &[&[&str]] = &[
    &["always"],
    &["never"],
    &["whenever"],
    &["every", "time"],
    &["from", "now", "on"],
    &["going", "forward"],
    &["at", "all", "times"],
    &["by", "default"],
    &["prefer"],
    &["prefers"],
    &["preference"],
    &["preferences"],
];
/// The most words of a cue.
const LONGEST: usize = 3;
/// Begins and ends code, whose words instruct nobody.
const FENCE: &str = "```";

/// Whether a cue stands in the text, outside of fenced code. One pass, nothing is allocated.
pub(crate) fn lays_down_a_rule(text: &str) -> bool {
    // Most texts have no fence, and one letter is looked for far faster than three.
    if text.contains('`') { text.split(FENCE).step_by(2).any(has_cue) } else { has_cue(text) }
}

fn has_cue(text: &str) -> bool {
    let mut last: [&str; LONGEST] = [""; LONGEST];
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty()).any(|word| {
        last.rotate_left(1);
        last[LONGEST - 1] = word;
        may_end_cue(word)
            && CUES.iter().any(|cue| {
                let end = last.iter().skip(LONGEST - cue.len());
                end.zip(*cue).all(|(word, cue)| word.eq_ignore_ascii_case(cue))
            })
    })
}

/// Whether the last word of a cue begins as this word does: most words are out by their first letter.
fn may_end_cue(word: &str) -> bool {
    let first = word.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    first.is_ascii_lowercase() && ENDINGS >> (first - b'a') & 1 == 1
}

/// One bit for each letter with which the last word of a cue begins.
const ENDINGS: u32 = {
    let (mut letters, mut at) = (0, 0);
    while at < CUES.len() {
        let cue = CUES[at];
        letters |= 1 << (cue[cue.len() - 1].as_bytes()[0] - b'a');
        at += 1;
    }
    letters
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_rule_from_a_report() {
        for rule in [
            "Always run the tests first.",
            "From now on, answer in French",
            "I'd prefer tabs",
            "use UTC\nby default!",
            "every TIME you deploy",
            "```code``` never do this",
        ] {
            assert!(lays_down_a_rule(rule), "{rule}");
        }
        for report in [
            "",
            "The tests ran.",
            "every other time",
            "```\nalways\n```",
            "preferred_stock rose",
            "```never closed always",
        ] {
            assert!(!lays_down_a_rule(report), "{report}");
        }
    }
}
