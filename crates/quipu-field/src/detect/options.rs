//! How a Field looks for units that disagree.

use std::sync::Arc;

use quipu_recall::{
    Detector,
    detect::{BuiltIn, Judge, Thresholds},
};

use crate::base::limits::{DETECT_BUDGET_MS, SCAN_MS_MAX, SCAN_UNITS_MAX};

/// How a Field looks for units that disagree.
#[derive(Debug, Clone)]
pub struct DetectionOptions {
    /// What finds units that disagree; without it only what authors say themselves counts.
    pub detector: Option<Arc<dyn Detector>>,
    /// Whether RECORD uses it. DETECT does in any case.
    pub automatic: bool,
    /// How long one RECORD may wait for it, in milliseconds. With 0 everything is deferred.
    pub budget_ms: u64,
    /// The model that confirms or denies what was found. Nothing waits for it but DETECT.
    pub judge: Option<Arc<dyn Judge>>,
    /// How many units one DETECT `scan` compares; the next one goes on from there.
    pub scan_units_max: usize,
    /// How long one DETECT `scan` may take, in milliseconds.
    pub scan_ms_max: u64,
}

impl DetectionOptions {
    /// The built-in detector. Verdicts that are less sure than `sureness` are no conflicts.
    #[must_use]
    pub fn built_in(sureness: f64) -> Self {
        let detector = BuiltIn::new(Thresholds { sureness });
        Self { detector: Some(Arc::new(detector)), ..Self::default() }
    }
}

impl Default for DetectionOptions {
    fn default() -> Self {
        Self {
            detector: None,
            automatic: true,
            budget_ms: DETECT_BUDGET_MS,
            judge: None,
            scan_units_max: SCAN_UNITS_MAX,
            scan_ms_max: SCAN_MS_MAX,
        }
    }
}
