//! The whole list of cases, in the order in which they run.

use crate::{
    ops,
    protocol::{clock_rules, envelope, errors},
    rule::Rule,
    security,
};

/// The cases of each part, with the operation that the part is about.
pub(crate) fn groups() -> Vec<(Option<&'static str>, &'static [Rule])> {
    vec![
        (None, envelope::CASES),
        (None, clock_rules::CASES),
        (Some("REGISTER"), ops::register::CASES),
        (Some("DEREGISTER"), ops::deregister::CASES),
        (Some("RECORD"), ops::record::CASES),
        (Some("RECORD"), ops::record_effects::CASES),
        (Some("ATTUNE"), ops::attune::CASES),
        (Some("ATTUNE"), ops::attune_scope::CASES),
        (Some("DETECT"), ops::detect::CASES),
        (Some("MERGE"), ops::merge::CASES),
        (Some("MERGE"), ops::merge_strategies::CASES),
        (Some("SUBSCRIBE"), ops::subscribe::CASES),
        (Some("SUBSCRIBE"), ops::subscribe_events::CASES),
        (Some("REPLAY"), ops::replay::CASES),
        (Some("REPLAY"), ops::replay_reasons::CASES),
        (Some("COMPACT"), ops::compact::CASES),
        (Some("HANDOFF"), ops::handoff::CASES),
        (Some("COORDINATE"), ops::coordinate::CASES),
        (Some("COORDINATE"), ops::coordinate_moves::CASES),
        (Some("SESSION"), ops::session::CASES),
        (None, errors::CASES),
        (None, security::authority::CASES),
        (None, security::credentials::CASES),
        (None, security::visibility::CASES),
    ]
}

/// Every case, for listings.
pub fn catalogue() -> Vec<&'static Rule> {
    groups().into_iter().flat_map(|(_, rules)| rules).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_say_level_part_and_number() {
        let rules = catalogue();
        let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.len());
        for name in names {
            let mut parts = name.splitn(4, '_');
            let level = parts.next().unwrap();
            assert!(["l0", "l1", "l2", "l3"].contains(&level), "{name}");
            assert!(parts.next().unwrap().chars().all(|c| c.is_ascii_lowercase()), "{name}");
            assert!(parts.next().unwrap().parse::<u8>().is_ok(), "{name}");
            assert!(parts.next().is_some(), "{name}");
        }
    }

    #[test]
    fn numbers_are_not_used_twice_within_a_level_and_a_part() {
        let rules = catalogue();
        let prefix = |name: &str| name.splitn(4, '_').take(3).collect::<Vec<_>>().join("_");
        let prefixes: BTreeSet<String> = rules.iter().map(|rule| prefix(rule.name)).collect();
        assert_eq!(prefixes.len(), rules.len());
    }

    #[test]
    fn every_case_names_its_requirements_and_ends_in_a_full_stop() {
        for rule in catalogue() {
            assert!(rule.requirements.split(' ').all(|id| id.contains('-')), "{}", rule.name);
            assert!(rule.sentence.ends_with('.'), "{}", rule.name);
        }
    }

    #[test]
    fn every_level_has_cases_that_are_demanded() {
        use crate::rule::Strength;
        for level in 0..=3 {
            let musts = catalogue().into_iter().filter(|rule| rule.strength == Strength::Must);
            assert!(musts.filter(|rule| rule.level() == level).count() >= 15, "level {level}");
        }
    }
}
