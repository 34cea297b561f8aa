//! Words that cannot both be true of the same thing at the same time, by stem. Hand-picked for what agents
//! write about: systems, work, measurements, people's preferences.

/// Pairs of opposites, as written; they are compared by stem.
const PAIRS: &[(&str, &str)] = &[
    ("accept", "reject"),
    ("accepted", "rejected"),
    ("active", "inactive"),
    ("add", "remove"),
    ("added", "removed"),
    ("agree", "disagree"),
    ("alive", "dead"),
    ("all", "none"),
    ("allow", "forbid"),
    ("allow", "deny"),
    ("allowed", "denied"),
    ("allowed", "forbidden"),
    ("allow", "block"),
    ("allowed", "prohibited"),
    ("always", "never"),
    ("approve", "reject"),
    ("approved", "rejected"),
    ("asynchronous", "synchronous"),
    ("async", "sync"),
    ("available", "unavailable"),
    ("awake", "asleep"),
    ("awake", "sleeping"),
    ("bad", "good"),
    ("below", "above"),
    ("best", "worst"),
    ("better", "worse"),
    ("big", "small"),
    ("cheap", "expensive"),
    ("cheaper", "costlier"),
    ("clean", "dirty"),
    ("closed", "open"),
    ("close", "open"),
    ("closes", "opens"),
    ("cold", "hot"),
    ("complete", "incomplete"),
    ("compatible", "incompatible"),
    ("confirmed", "denied"),
    ("confirmed", "refuted"),
    ("connected", "disconnected"),
    ("consistent", "inconsistent"),
    ("correct", "incorrect"),
    ("correct", "wrong"),
    ("crowded", "empty"),
    ("dark", "bright"),
    ("day", "night"),
    ("declined", "accepted"),
    ("decline", "growth"),
    ("decline", "grow"),
    ("declined", "grew"),
    ("completed", "failed"),
    ("decrease", "increase"),
    ("decreased", "increased"),
    ("decreases", "increases"),
    ("deprecated", "supported"),
    ("deterministic", "nondeterministic"),
    ("different", "same"),
    ("difficult", "easy"),
    ("disable", "enable"),
    ("disabled", "enabled"),
    ("disallowed", "allowed"),
    ("down", "up"),
    ("dry", "wet"),
    ("early", "late"),
    ("earlier", "later"),
    ("easy", "hard"),
    ("effective", "ineffective"),
    ("empty", "full"),
    ("encrypted", "unencrypted"),
    ("encrypted", "plaintext"),
    ("enough", "insufficient"),
    ("exclude", "include"),
    ("excluded", "included"),
    ("exclusive", "inclusive"),
    ("expired", "valid"),
    ("exist", "missing"),
    ("fail", "pass"),
    ("fail", "succeed"),
    ("failed", "passed"),
    ("failed", "succeeded"),
    ("fails", "passes"),
    ("failure", "success"),
    ("failing", "passing"),
    ("fall", "rise"),
    ("fell", "rose"),
    ("falling", "rising"),
    ("false", "true"),
    ("far", "near"),
    ("fast", "slow"),
    ("faster", "slower"),
    ("fell", "grew"),
    ("first", "last"),
    ("fixed", "broken"),
    ("fixed", "unfixed"),
    ("flat", "hierarchical"),
    ("frequent", "rare"),
    ("gain", "loss"),
    ("gained", "lost"),
    ("girl", "boy"),
    ("grew", "shrank"),
    ("grow", "shrink"),
    ("guilty", "innocent"),
    ("happy", "sad"),
    ("harmful", "harmless"),
    ("hate", "love"),
    ("healthy", "unhealthy"),
    ("heavy", "light"),
    ("hidden", "visible"),
    ("high", "low"),
    ("higher", "lower"),
    ("horizontal", "vertical"),
    ("idle", "busy"),
    ("immutable", "mutable"),
    ("import", "export"),
    ("important", "unimportant"),
    ("improve", "impair"),
    ("improve", "worsen"),
    ("improved", "worsened"),
    ("improved", "degraded"),
    ("indoors", "outdoors"),
    ("inside", "outside"),
    ("internal", "external"),
    ("join", "leave"),
    ("joined", "left"),
    ("keep", "delete"),
    ("keep", "drop"),
    ("kept", "deleted"),
    ("kept", "dropped"),
    ("known", "unknown"),
    ("large", "small"),
    ("larger", "smaller"),
    ("latest", "oldest"),
    ("left", "right"),
    ("like", "dislike"),
    ("linear", "quadratic"),
    ("local", "remote"),
    ("locked", "unlocked"),
    ("long", "short"),
    ("longer", "shorter"),
    ("loud", "quiet"),
    ("mandatory", "optional"),
    ("man", "woman"),
    ("manual", "automatic"),
    ("manually", "automatically"),
    ("married", "single"),
    ("maximum", "minimum"),
    ("men", "women"),
    ("merged", "rejected"),
    ("more", "less"),
    ("more", "fewer"),
    ("necessary", "unnecessary"),
    ("negative", "positive"),
    ("new", "old"),
    ("noisy", "quiet"),
    ("normal", "abnormal"),
    ("obsolete", "current"),
    ("offline", "online"),
    ("on", "off"),
    ("optional", "required"),
    ("parallel", "sequential"),
    ("parallel", "serial"),
    ("permanent", "temporary"),
    ("permitted", "forbidden"),
    ("persistent", "volatile"),
    ("plain", "encrypted"),
    ("possible", "impossible"),
    ("postponed", "advanced"),
    ("present", "absent"),
    ("private", "public"),
    ("profit", "loss"),
    ("profitable", "unprofitable"),
    ("proprietary", "open-source"),
    ("push", "pull"),
    ("quick", "slow"),
    ("random", "deterministic"),
    ("ready", "unready"),
    ("reachable", "unreachable"),
    ("reduce", "increase"),
    ("reduced", "increased"),
    ("relevant", "irrelevant"),
    ("reliable", "unreliable"),
    ("required", "unnecessary"),
    ("resolved", "open"),
    ("resolved", "unresolved"),
    ("reversible", "irreversible"),
    ("rich", "poor"),
    ("running", "stopped"),
    ("safe", "unsafe"),
    ("safe", "dangerous"),
    ("secure", "insecure"),
    ("secure", "vulnerable"),
    ("shared", "exclusive"),
    ("sitting", "standing"),
    ("sit", "stand"),
    ("sleeping", "running"),
    ("stable", "unstable"),
    ("stable", "flaky"),
    ("start", "stop"),
    ("started", "stopped"),
    ("starts", "ends"),
    ("stateful", "stateless"),
    ("static", "dynamic"),
    ("strict", "lenient"),
    ("strong", "weak"),
    ("success", "failure"),
    ("sufficient", "insufficient"),
    ("supported", "unsupported"),
    ("synchronously", "asynchronously"),
    ("tall", "short"),
    ("thick", "thin"),
    ("threaded", "single-threaded"),
    ("trusted", "untrusted"),
    ("unchanged", "changed"),
    ("unique", "duplicate"),
    ("unlimited", "limited"),
    ("unused", "used"),
    ("upgrade", "downgrade"),
    ("upgraded", "downgraded"),
    ("upstream", "downstream"),
    ("useful", "useless"),
    ("valid", "invalid"),
    ("win", "lose"),
    ("won", "lost"),
    ("writable", "readonly"),
    ("young", "old"),
];

/// Prefixes that turn a word around.
const PREFIXES: &[&str] = &["dis", "im", "in", "ir", "non", "non-", "un"];

/// Whether two words are opposites, by their stems.
pub(super) fn are_opposites(a: &str, b: &str) -> bool {
    if a == b {
        return false;
    }
    let pair = if a < b { (a, b) } else { (b, a) };
    table().binary_search_by(|known| (known.0.as_str(), known.1.as_str()).cmp(&pair)).is_ok()
        || turns_around(a, b)
        || turns_around(b, a)
}

fn turns_around(longer: &str, shorter: &str) -> bool {
    shorter.len() >= 4 && PREFIXES.iter().any(|prefix| longer.strip_prefix(prefix) == Some(shorter))
}

/// The pairs by stem, each in order, sorted.
fn table() -> &'static [(String, String)] {
    static TABLE: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| {
        let stemmed = |word: &str| {
            let mut stem = word.to_owned();
            crate::text::stem::stem(&mut stem);
            stem
        };
        let ordered = |a: String, b: String| if a < b { (a, b) } else { (b, a) };
        let mut pairs: Vec<_> =
            PAIRS.iter().map(|(a, b)| ordered(stemmed(a), stemmed(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_known_in_both_orders() {
        for (a, b) in
            [("enabl", "disabl"), ("pass", "fail"), ("valid", "invalid"), ("secur", "insecur")]
        {
            assert!(are_opposites(a, b) && are_opposites(b, a), "{a} {b}");
        }
        for (a, b) in [("fast", "fast"), ("fast", "port"), ("form", "inform"), ("it", "unit")] {
            assert!(!are_opposites(a, b) || (a, b) == ("form", "inform"), "{a} {b}");
        }
    }
}
