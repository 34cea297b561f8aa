//! Puts texts together that share distinctive words. One pass, in order, without randomness: a text joins the
//! topic with which it shares most, or starts its own.

use std::collections::BTreeMap;

use quipu_recall::Analyzed;

const DISTINCTIVE_WORDS: usize = 8;
/// Words that a text must share with a topic to join it.
const SHARED_MIN: usize = 2;

/// The topics of texts, each as places in `texts`, in the order of their first text.
pub(super) fn topics(texts: &[Analyzed]) -> Vec<Vec<usize>> {
    let spread = spread(texts);
    let mut topics: Vec<Vec<usize>> = Vec::new();
    let mut by_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let words = distinctive_words(text, &spread, texts.len());
        let topic = closest(&words, &by_word).unwrap_or_else(|| {
            topics.push(Vec::new());
            topics.len() - 1
        });
        if let Some(members) = topics.get_mut(topic) {
            members.push(at);
        }
        for word in words {
            let of_word = by_word.entry(word).or_default();
            if !of_word.contains(&topic) {
                of_word.push(topic);
            }
        }
    }
    topics
}

/// In how many texts each word is.
fn spread(texts: &[Analyzed]) -> BTreeMap<&str, usize> {
    let mut spread = BTreeMap::new();
    for (word, _) in texts.iter().flat_map(Analyzed::terms) {
        *spread.entry(word).or_default() += 1;
    }
    spread
}

/// The words that say most about a text: in few other texts, but in some, and in no more than half of
/// many.
fn distinctive_words<'a>(
    text: &'a Analyzed,
    spread: &BTreeMap<&str, usize>,
    texts: usize,
) -> Vec<&'a str> {
    let most = (texts / 2).max(8);
    let mut words: Vec<(usize, &str)> = text
        .terms()
        .filter_map(|(word, _)| Some((*spread.get(word)?, word)))
        .filter(|(texts, _)| (2..=most).contains(texts))
        .collect();
    words.sort_unstable();
    words.truncate(DISTINCTIVE_WORDS);
    words.into_iter().map(|(_, word)| word).collect()
}

/// The topic that shares most words, the older where several do.
fn closest(words: &[&str], by_word: &BTreeMap<&str, Vec<usize>>) -> Option<usize> {
    let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
    for topic in words.iter().filter_map(|word| by_word.get(word)).flatten() {
        *shared.entry(*topic).or_default() += 1;
    }
    let best = shared.into_iter().max_by_key(|(topic, words)| (*words, std::cmp::Reverse(*topic)));
    best.filter(|(_, words)| *words >= SHARED_MIN).map(|(topic, _)| topic)
}

#[cfg(test)]
mod tests {
    use super::topics;
    use quipu_recall::analyze;

    #[test]
    fn texts_that_share_distinctive_words_are_one_topic() {
        let texts = [
            "The harbour at Kiel is closed by ice",
            "Quarterly revenue grew by 14% in Asia",
            "Ice in the harbour of Kiel melts",
            "Revenue in Asia is due to one customer",
            "A stray remark",
        ]
        .map(analyze);
        assert_eq!(topics(&texts), [vec![0, 2], vec![1, 3], vec![4]]);
        assert!(topics(&[]).is_empty());
    }
}
