//! Both protocols show the same or neither: random Fields, and for every agent everything that can be read. What Akashik
//! shows is asked of the Field, what Harn shows of the Harness. `PROPTEST_CASES` says how many Fields are made; 256 if absent.

use proptest::prelude::*;

use super::{
    reading,
    world::{self, Member, Step, World},
};

fn member() -> impl Strategy<Value = Member> {
    (0..=10u8, 0..=10u8, 0..3usize, any::<bool>()).prop_map(|(own, key, role, granted)| Member {
        own,
        key,
        role,
        granted,
    })
}

fn step() -> impl Strategy<Value = Step> {
    // Sessions and what is in them come first, or most of the steps have nothing to work on.
    let kind = prop_oneof![
        3 => 0..3u8,
        4 => 3..6u8,
        6 => 6..16u8,
    ];
    (kind, any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, who, place, what)| Step {
        kind,
        who: usize::from(who),
        place: usize::from(place),
        what: usize::from(what),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn both_protocols_show_the_same_or_neither(
        members in prop::collection::vec(member(), 4),
        steps in prop::collection::vec(step(), 8..48),
    ) {
        world::runtime().block_on(async {
            let mut world = World::new(members).await;
            for step in &steps {
                world.play(step).await;
            }
            world.ends().await;
            for index in 0..world.members.len() {
                reading::compare(&world, index).await;
            }
        });
    }
}
