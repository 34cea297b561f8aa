//! The module of `docs/modules.md` does what the page says.

use serde_json::{Value, json};

use super::modules::*;
use crate::module::*;

const PAGE: &str = include_str!("../../../../../docs/modules.md");

fn documented() -> Module {
    let (_, rest) = PAGE.split_once("```harn\n").unwrap();
    compiled(rest.split_once("```").unwrap().0)
}

#[test]
fn the_example_asks_and_decides_as_it_reads() {
    let input = json!({"plan": "ship it"});
    for (said, asked, expected) in [
        ("yes, it is", &["llm:main:1", "time:1"][..], json!({"verdict": "approved", "at": 5})),
        (
            "no tests",
            &["llm:main:1", "time:1", "host:tools.invoke:1"][..],
            json!({"verdict": "held", "at": 5, "ticket": 12}),
        ),
    ] {
        let answers: [(&str, Value); 3] = [
            ("llm:main:1", json!(said)),
            ("time:1", json!(5)),
            ("host:tools.invoke:1", json!({"id": 12})),
        ];
        let mut table = Table::of(&answers);
        assert_eq!(completed(run(&documented(), &policy(), &input, &mut table)), expected);
        assert_eq!(table.keys(), asked);
    }
}

#[test]
fn the_table_of_limits_says_the_limits() {
    let says = |row: &str| assert!(PAGE.contains(row), "{row}");
    says(&format!("| source | {} KiB |", SOURCE_BYTES_MAX / 1024));
    says(&format!("hang on one another | {CHAIN_MAX} |"));
    says(&format!("| questions of a run | {CALLS_MAX} |"));
    says(&format!("| snapshot | {} MiB |", SNAPSHOT_BYTES_MAX / 1024 / 1024));
    assert_eq!(WORK_MAX, 20_000_000);
    says("| steps of all its passes | 20,000,000 |");
}
