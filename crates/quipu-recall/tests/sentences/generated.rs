//! English sentences that look random and are the same each time, for tests that need many different ones.

const THINGS: &str = "invoice harbour crane tanker pipeline database cluster backup password certificate \
    garden orchard bakery bicycle tractor violin orchestra painting museum library novel poem \
    vaccine surgeon pharmacy hospital fever allergy pregnancy therapy diet marathon \
    glacier volcano earthquake drought flood hurricane forest river desert island \
    satellite rocket telescope planet comet asteroid battery turbine reactor solar \
    election senator treaty border tariff subsidy pension salary mortgage insurance \
    school teacher exam scholarship university thesis laboratory microscope protein enzyme \
    wedding funeral birthday holiday passport luggage airport train ferry motorway \
    kitchen oven recipe cheese wine coffee chocolate honey bread soup \
    football tennis swimming chess referee stadium trophy coach league captain \
    lawyer verdict contract patent witness prison police burglary fraud lawsuit \
    server browser compiler keyboard firewall router latency deployment migration schema";
const MANNERS: &str = "broken expensive ancient delayed cheap reliable fragile heavy noisy silent \
    frozen poisonous popular forgotten encrypted public private temporary permanent wooden \
    electric digital annual weekly urgent optional illegal profitable dangerous harmless \
    enormous tiny crowded empty famous secret colourful transparent automatic manual";
const DEEDS: &str = "replaces delays damages improves inspects insures measures sells repairs cancels \
    approves rejects explains copies moves hides cleans paints tests funds \
    records translates ships stores heats cools protects blocks teaches follows";
const PLACES: &str = "Berlin Lagos Tokyo Lima Oslo Cairo Boston Delhi Madrid Sydney Nairobi Warsaw Toronto \
    Lisbon Athens Dublin Geneva Seoul Jakarta Havana";

/// Numbers that look random (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn word(&mut self, of: &'static str) -> &'static str {
        let count = of.split_whitespace().count();
        of.split_whitespace().nth(self.below(count)).unwrap()
    }
}

/// A statement, such as somebody would record.
pub(crate) fn statement(dice: &mut Dice) -> String {
    let (a, b) = (dice.word(THINGS), dice.word(THINGS));
    let (how, does, place) = (dice.word(MANNERS), dice.word(DEEDS), dice.word(PLACES));
    let number = 2 + dice.below(97);
    match dice.below(4) {
        0 => format!("The {how} {a} {does} every {b} in {place}."),
        1 => format!("In {place} a {a} {does} {number} of the {how} {b} offers."),
        2 => format!("Nobody {does} the {a} near {place}, because the {b} is too {how}."),
        _ => format!("After {number} days the {how} {b} {does} our {a}; {place} knows."),
    }
}

/// A question, such as a hint.
pub(crate) fn question(dice: &mut Dice) -> String {
    let (a, b) = (dice.word(THINGS), dice.word(THINGS));
    match dice.below(3) {
        0 => format!("Which {a} in {} is {}?", dice.word(PLACES), dice.word(MANNERS)),
        1 => format!("what happens to the {a} when the {b} is {}", dice.word(MANNERS)),
        _ => format!("who {} the {a} and the {b}", dice.word(DEEDS)),
    }
}
