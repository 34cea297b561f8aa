//! What holds for every module that asks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::modules::*;
use crate::module::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Model,
    Clock,
    Secret(u8),
    Tool,
    Unless,
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Model),
        Just(Step::Clock),
        (0..3_u8).prop_map(Step::Secret),
        Just(Step::Tool),
        Just(Step::Unless),
    ];
    prop::collection::vec(step, 0..8)
}

fn any_answer() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|it| json!(it)),
        any::<i32>().prop_map(|it| json!(it)),
        any::<i32>().prop_map(|it| json!(f64::from(it) / 4.0)),
        "[a-z\"\\\\é]{0,6}".prop_map(|it| json!(it)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|it| json!(it)),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..3).prop_map(|it| json!(it)),
        ]
    })
}

/// A module that takes these steps; what it asks later depends on what it was told.
fn source(steps: &[Step]) -> String {
    let mut source = "pub fn entry(harness: Harness, input: any) {\n  let seen = \"\"\n".to_owned();
    for (number, step) in steps.iter().enumerate() {
        source += &match step {
            Step::Model => format!(
                "  const m{number} = harness.llm.call(\"q\" + seen)\n  seen = seen + m{number}.text\n"
            ),
            Step::Clock => "  seen = seen + to_string(harness.clock.now_ms())\n".to_owned(),
            Step::Secret(name) => format!(
                "  const s{number} = harness.secrets.read(\"s{name}\")\n  seen = seen + to_string(s{number}.len())\n"
            ),
            Step::Tool => {
                "  seen = seen + json_stringify(harness.tools.invoke(\"t\", [seen]))\n".to_owned()
            }
            Step::Unless => {
                "  if seen.len() > 9 { seen = seen + to_string(harness.clock.timestamp()) }\n"
                    .to_owned()
            }
        };
    }
    source + "  return {seen: seen, input: input}\n}\n"
}

/// Answers whatever is asked from a few values, and keeps what it said.
struct Live<'a> {
    values: &'a [Value],
    table: Table,
}

impl Answers for Live<'_> {
    fn answer(&mut self, request: &Request) -> Answer {
        let number = self.table.asked.len();
        let any = self.values.get(number).cloned().unwrap_or_default();
        let value = match request.capability.as_str() {
            "llm.call" => json!({"text": any.to_string()}),
            "clock.now_ms" => json!(number),
            "clock.timestamp" => json!(2.0),
            "secrets.read" => json!(format!("secret {number}")),
            _ => any,
        };
        self.table.answers.insert(request.key.clone(), value.clone());
        self.table.asked.push(request.clone());
        Answer::Value(value)
    }
}

fn live<'a>(values: &'a [Value]) -> Live<'a> {
    Live { values, table: Table::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_recorded_run_replays_to_the_same_value_with_the_same_keys(
        steps in any_steps(), values in prop::collection::vec(any_answer(), 8), given in any_answer(),
    ) {
        let module = compiled(&source(&steps));
        let mut live = live(&values);
        let ran = run(&module, &policy(), &given, &mut live);
        let recording = live.table.recording();
        let plan = recording.plan(&json!({}));
        let replay = replay_module(&module, &policy(), &given, &plan, &recording).unwrap();
        let ModuleRun::Completed { value, sha256 } = ran else { panic!("{ran:?}") };
        prop_assert_eq!(replay.end, ModuleEnd::Completed { value, sha256 });
        let mut asked: Vec<_> = live.table.keys().into_iter().map(str::to_owned).collect();
        asked.sort();
        prop_assert_eq!(replay.report.consulted.into_iter().collect::<Vec<_>>(), asked);
        prop_assert_eq!(replay.report.request_drift, []);
    }

    #[test]
    fn stopping_at_any_question_and_going_on_changes_nothing(
        steps in any_steps(), values in prop::collection::vec(any_answer(), 8), stop: prop::sample::Index,
    ) {
        let module = compiled(&source(&steps));
        let mut live = live(&values);
        let whole = run(&module, &policy(), &input(), &mut live);
        let mut table = live.table.clone();
        prop_assume!(!table.asked.is_empty());
        let key = table.asked[stop.index(table.asked.len())].key.clone();
        let answer = table.answers.remove(&key).unwrap();
        let (request, snapshot) = suspended(run(&module, &policy(), &input(), &mut table));
        prop_assert_eq!(&request.key, &key);
        table.answers.insert(key, answer);
        prop_assert_eq!(resume(&module, &policy(), &snapshot, &mut table).unwrap(), whole);
    }

    #[test]
    fn every_source_compiles_or_is_refused_in_words(text in "[a-z0-9(){}\\[\\].,:+*?!=<>|&\"$ \n-]{0,200}") {
        for source in [format!("pub fn entry(input: any) {{\n{text}\n}}"), text] {
            let compiled = Module::compile(&source, "entry");
            prop_assert_ne!(compiled.err(), Some(ModuleError::CompilerFailed));
        }
    }
}
