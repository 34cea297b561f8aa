//! Ten decisions of the project, and what a reader of their summaries must be able to say.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use super::load::load;
use crate::support::Settings;

/// A decision, and the facts that its "why?" is answered with.
const WHY: [(&str, &[&str]); 10] = [
    (
        "d-cells",
        &[
            "it is the only one that class will certify and it still fits",
            "Only LFP passes the runaway rule",
            "An LFP pack of 2 MWh weighs 18 tonnes",
            "The pack may weigh at most 19 tonnes",
            "one NMC cell set its two neighbours on fire",
        ],
    ),
    (
        "d-pier",
        &[
            "A second pier would eat a third of the budget",
            "The north pier holds no more than 250 kW",
            "A new cable to the south pier costs 640000",
            "contradicted nils's finding \"The north pier can give 400 kW\"",
            "A load bank beats a telephone call",
        ],
    ),
    (
        "d-motor",
        &[
            "It replaces mira's decision \"We take the direct drive\"",
            "the reference ship broke down",
            "overload the thrust bearing of old shafts",
            "The thrust bearing of the Kittiwake failed after 400 hours",
            "the gearbox is the smaller evil",
        ],
    ),
    (
        "d-timetable",
        &[
            "13 minutes of crossing each way and 9 at the plug",
            "At 250 kW a crossing is charged back in about 9 minutes",
            "Commuters accept 40 minutes between sailings but not an hour",
        ],
    ),
    (
        "d-vendor",
        &[
            "60000 more is less than the season that a late pack would cost",
            "Voltic will not deliver before the end of April",
            "Brunnen signs a penalty of 5000 a day",
            "What they did counts more than what their salesman says",
            "Voltic delivered its last three packs nine weeks late",
        ],
    ),
    (
        "d-launch",
        &[
            "The surveyor comes on 11 May and the trials take two days",
            "Without the certificate no passenger may come on board",
            "The surveyor has no free day before 11 May",
            "It replaces otto's intention \"We mean to launch on 20 April\"",
            "otto handed it over to sol",
            "Otto goes on leave until June",
        ],
    ),
    (
        "d-hull",
        &[
            "a new hull would break the budget without ever paying back",
            "The steel hull has 6 mm left where 4 are required",
            "mira voted for \"A new hull never pays for itself\", because: I had left the interest out",
            "The conversion may cost 2.1 million and not a cent more",
        ],
    ),
    (
        "d-crew",
        &[
            "The raft drill at night took more than twice as long",
            "in 4 minutes by daylight and in 9 at night",
            "both give way to \"Two hands are enough by day; a third is needed in the dark and in fog\"",
            "Both are right, at different hours",
        ],
    ),
    (
        "d-fares",
        &[
            "More is forbidden by the concession, and the grant fills the rest of the gap",
            "No fare may rise by more than 8 percent",
            "The regional fund gives 45000 a year",
            "A rise of 15 percent would close the gap at once",
            "(withdrawn at epoch",
        ],
    ),
    (
        "d-winter",
        &[
            "Two crossings are not enough for the island",
            "On an ice day the pack lasts for two crossings",
            "The island must be reached on every day of the year",
            "Later replaced",
            "The diesel goes, and the tug Brant opens the channel",
            "the tug was not known then",
        ],
    ),
];

#[test]
fn who_reads_only_the_summary_can_say_why() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let loaded = load(&server);
    assert!(loaded.units >= 120, "{}", loaded.units);
    let (mut client, mut told, mut missing) = (server.client(), String::new(), Vec::new());
    for (decision, facts) in WHY {
        let payload = json!({"target_type": "decision", "target_id": loaded.id(decision),
                             "depth": "summary"});
        let answer = client.operate("REPLAY", "uma", payload).ok();
        let summary = answer["summary"].as_str().unwrap();
        told.push_str(&format!("{decision}\n{summary}\n\n"));
        assert!(summary.chars().count() <= 6_300, "{decision}: {}", summary.len());
        assert!(!summary.contains("mem-"), "{decision} names ids: {summary}");
        let absent = facts.iter().filter(|fact| !summary.contains(**fact));
        missing.extend(absent.map(|fact| format!("{decision}: {fact}\n  {summary}")));
    }
    // For a person to read.
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("heron-why.txt"), told).unwrap();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
