//! Both protocols show the same or neither: random Fields, and for every agent everything that can be read. What Akashik
//! shows is asked of the Field, what Harn shows of the Harness. 10,000 Fields are made, by tests side by side.

use std::cell::Cell;

use proptest::{collection::vec, prelude::*, test_runner::TestRunner};

use super::{
    reading,
    world::{self, Member, Step, World},
};

/// How many Fields are made, by all parts together.
const FIELDS: usize = 10_000;

fn member() -> impl Strategy<Value = Member> {
    // Most of them may do something, or there is nothing that could be hidden.
    let own = prop_oneof![1 => 0..=3u8, 4 => 4..=10u8];
    (own, 0..=10u8, 0..3usize, any::<bool>()).prop_map(|(own, key, role, granted)| Member {
        own,
        key,
        role,
        granted,
    })
}

/// What comes first in each Field, or most of the steps have nothing to work on: sessions, who is let in, a unit, a task,
/// and a handoff.
const FIRST: [u8; 7] = [0, 0, 2, 2, 3, 5, 10];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![
        2 => 0..3u8,
        3 => 3..6u8,
        6 => 6..16u8,
    ];
    let (first, more) = (FIRST.map(|kind| step(Just(kind))), vec(step(kind), 1..10));
    (first, more).prop_map(|(first, more)| first.into_iter().chain(more).collect())
}

fn step(kind: impl Strategy<Value = u8>) -> impl Strategy<Value = Step> {
    (kind, any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, who, place, what)| Step {
        kind,
        who: usize::from(who),
        place: usize::from(place),
        what: usize::from(what),
    })
}

/// Says whether there was something that could be hidden.
async fn both_protocols_show_the_same_or_neither(members: Vec<Member>, steps: &[Step]) -> bool {
    let mut world = World::new(members).await;
    for step in steps {
        world.play(step).await;
    }
    world.ends().await;
    for index in 0..world.members.len() {
        reading::compare(&world, index).await;
    }
    !world.opened.is_empty() && !world.units.is_empty()
}

fn hold(fields: usize) {
    let config = ProptestConfig {
        cases: u32::try_from(fields).unwrap(),
        max_shrink_iters: 400,
        ..ProptestConfig::with_source_file(file!())
    };
    let field = (vec(member(), 3), steps());
    let could_hide = Cell::new(0);
    let held = TestRunner::new(config).run(&field, |(members, steps)| {
        let field = both_protocols_show_the_same_or_neither(members, &steps);
        could_hide.set(could_hide.get() + usize::from(world::runtime().block_on(field)));
        Ok(())
    });
    held.unwrap_or_else(|fault| panic!("{fault}"));
    assert!(could_hide.get() > fields / 2, "most Fields are empty: {could_hide:?} of {fields}");
}

macro_rules! parts {
    ($($part:ident)*) => {
        const PARTS: usize = [$(stringify!($part)),*].len();

        $(#[test]
        fn $part() {
            hold(FIELDS / PARTS);
        })*
    };
}

// Each is short enough for a machine that is busy.
parts! {
    part_1 part_2 part_3 part_4 part_5 part_6 part_7 part_8
    part_9 part_10 part_11 part_12 part_13 part_14 part_15 part_16
}
