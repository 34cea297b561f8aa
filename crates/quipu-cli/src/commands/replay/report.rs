//! What is said of each replay: a line, and a case of a JUnit file.

use std::time::Duration;

use serde_json::json;

use super::carry::{Carried, Verdict};
use crate::ui::output::harmless;

/// The line of a replay, for people or as JSON.
pub(super) fn line(carried: &Carried, as_json: bool) -> String {
    let (word, why) = words(&carried.verdict);
    let seconds = carried.took.as_secs_f64();
    if as_json {
        let line = json!({
            "task_id": carried.source, "replay_task_id": carried.replay, "result": word,
            "reason": why, "seconds": (seconds * 1000.0).round() / 1000.0,
        });
        return format!("{line}\n");
    }
    let why = why.map(|why| format!("  {}", harmless(why).replace('\n', " "))).unwrap_or_default();
    format!("{word:<7}  {}  {seconds:.1}s{why}\n", harmless(&carried.source))
}

const fn words(verdict: &Verdict) -> (&'static str, Option<&String>) {
    match verdict {
        Verdict::Same => ("same", None),
        Verdict::Drifted(why) => ("drifted", Some(why)),
        Verdict::Failed(why) => ("failed", Some(why)),
    }
}

pub(super) fn summary(all: &[Carried]) -> String {
    let count = |word: &str| all.iter().filter(|it| words(&it.verdict).0 == word).count();
    let (same, drifted, failed) = (count("same"), count("drifted"), count("failed"));
    format!("{} replayed: {same} the same, {drifted} drifted, {failed} failed\n", all.len())
}

/// All replays as a JUnit file: a drift is a failure, what did not come to its end is an error.
pub(super) fn junit(all: &[Carried]) -> String {
    let took = |time: Duration| format!("{:.3}", time.as_secs_f64());
    let count = |word: &str| all.iter().filter(|it| words(&it.verdict).0 == word).count();
    let whole = took(all.iter().map(|it| it.took).sum());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite \
         name=\"quipu replay\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{whole}\">\n",
        all.len(),
        count("drifted"),
        count("failed"),
    );
    for carried in all {
        let persona = carried.persona.as_deref().unwrap_or("tasks");
        let (name, time) = (escaped(&carried.source), took(carried.took));
        let class = escaped(persona);
        xml += &format!("<testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">");
        let element = match &carried.verdict {
            Verdict::Same => None,
            Verdict::Drifted(why) => Some(("failure", why)),
            Verdict::Failed(why) => Some(("error", why)),
        };
        if let Some((element, why)) = element {
            let replay = carried.replay.as_deref().unwrap_or("no replay");
            let (why, replay) = (escaped(why), escaped(replay));
            xml += &format!("<{element} message=\"{why}\">{replay}</{element}>");
        }
        xml.push_str("</testcase>\n");
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// Text as XML may have it, in an attribute or between tags.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            found if found.is_control() || matches!(found, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            found => out.push(found),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(source: &str, verdict: Verdict) -> Carried {
        let (persona, replay) = (Some("persona_a".to_owned()), Some("task_replay_1".to_owned()));
        let took = Duration::from_millis(1250);
        Carried { source: source.to_owned(), persona, replay, verdict, took }
    }

    #[test]
    fn each_replay_is_a_case_and_nothing_that_somebody_wrote_becomes_markup() {
        let drifted = Verdict::Drifted("it asked \"<b>&\u{1b}\u{7}\" under llm:main:1".to_owned());
        let failed = Verdict::Failed("the command ended with exit status: 3".to_owned());
        let all = [
            carried("task_1", Verdict::Same),
            carried("task_2", drifted),
            carried("task_3", failed),
        ];
        let xml = junit(&all);
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"1\" time=\"3.750\""), "{xml}");
        let asked = "<failure message=\"it asked &quot;&lt;b&gt;&amp;\u{fffd}\u{fffd}&quot; under llm:main:1\">";
        assert!(xml.contains(asked), "{xml}");
        assert!(xml.contains("<error message=\"the command ended with exit status: 3\">"), "{xml}");
        assert!(line(&all[0], false).starts_with("same     task_1  1.2s"));
        assert_eq!(summary(&all), "3 replayed: 1 the same, 1 drifted, 1 failed\n");
    }
}
