//! Where planted contradictions are lost on the way: not a candidate, no verdict, another unit surer, or found.
//! It says what a shortfall of recall is due to, stage by stage.

use crate::measure::report::Report;

/// How far a planted contradiction came, the later the further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The newer unit states nothing that could be held against another, or the older one is not near it at all.
    NotNear,
    /// The older unit is near the newer one, but others are nearer.
    NotAmongCandidates,
    /// They were held against each other, and no verdict came.
    NoVerdict,
    /// There was a verdict, but a surer one about another unit.
    AnotherWasSurer,
    /// The surest verdict about the newer unit was this one.
    Alarm,
}

impl Stage {
    const ALL: [Self; 5] = [
        Self::NotNear,
        Self::NotAmongCandidates,
        Self::NoVerdict,
        Self::AnotherWasSurer,
        Self::Alarm,
    ];

    const fn words(self) -> &'static str {
        match self {
            Self::NotNear => "is not near by words or meaning",
            Self::NotAmongCandidates => "is near, but not among the candidates",
            Self::NoVerdict => "is a candidate without a verdict",
            Self::AnotherWasSurer => "has a verdict, another unit a surer one",
            Self::Alarm => "has the surest verdict",
        }
    }
}

/// How far one planted contradiction came at most, and how sure its best verdict was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) stage: Stage,
    pub(crate) sureness: f64,
}

impl Way {
    /// Of two ways of the same contradiction, the further one.
    pub(crate) fn or_further(self, other: Self) -> Self {
        let further = (other.stage, other.sureness) > (self.stage, self.sureness);
        if further { other } else { self }
    }
}

/// The table: how many contradictions came how far, and how sure the verdicts were.
pub(crate) fn report_stages(name: &str, ways: &[Way], report: &mut Report) {
    report.line(&format!("{name}: of {} planted contradictions, the older unit", ways.len()));
    for stage in Stage::ALL {
        let mut sure: Vec<f64> =
            ways.iter().filter(|way| way.stage == stage).map(|way| way.sureness).collect();
        sure.sort_by(|a, b| b.total_cmp(a));
        let shown: Vec<String> = sure.iter().map(|sureness| format!("{sureness:.2}")).collect();
        let shown = if stage > Stage::NoVerdict { shown.join(" ") } else { String::new() };
        report.line(&format!("    {:>3} {} {shown}", sure.len(), stage.words()));
    }
}
