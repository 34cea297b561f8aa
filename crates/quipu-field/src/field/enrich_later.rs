//! The thread that fetches the vectors of a Field's units from the configured model, for as long as the Field is there.

use std::sync::Weak;

use crate::{
    base::{
        failure::with_causes,
        limits::{ENRICH_IDLE, ENRICH_REPORT_UNITS, ENRICH_RETRY, ENRICH_RETRY_MAX},
    },
    enrich::{Enriching, Work},
    field::Field,
};

/// Works until the Field is closed or gone.
pub(crate) fn run(enriching: &Enriching, field: &Weak<Field>) {
    let Some(mut work) = field.upgrade().map(|field| {
        enriching.load(&field.view, &field.name);
        Work::new(&field.view.read())
    }) else {
        return;
    };
    let (mut pause, mut since_report) = (ENRICH_RETRY, 0);
    // Units may be waiting since before a restart, or since a failure.
    let mut look_for_waiting = true;
    while let Some(batch) = field.upgrade().map(|field| field.without_vector(&mut work)) {
        if batch.is_empty() {
            if std::mem::take(&mut look_for_waiting) {
                field.upgrade().iter().for_each(|field| field.release_waiting());
            }
            if !enriching.wait(ENRICH_IDLE, true) {
                return;
            }
            continue;
        }
        // The Field is not held here: it may be closed while the model thinks.
        match enriching.embed(&batch, &mut work) {
            Ok(found) => {
                let Some(field) = field.upgrade() else { return };
                since_report += found.len();
                // A vector without a direction is an answer too: there is nothing to wait for.
                found.iter().filter(|(_, vector)| is_silent(vector)).for_each(|(unit, _)| {
                    work.refuse(unit.ordinal);
                });
                let released: Vec<u32> = found.iter().map(|(unit, _)| unit.ordinal).collect();
                enriching.keep(&field.view, found);
                enriching.note(None);
                field.release(released);
                pause = ENRICH_RETRY;
                if since_report >= ENRICH_REPORT_UNITS {
                    since_report = 0;
                    field.report_progress();
                }
            }
            Err(error) => {
                enriching.note(Some(with_causes(&error)));
                look_for_waiting = true;
                if !enriching.wait(pause, false) {
                    return;
                }
                pause = (pause * 2).min(ENRICH_RETRY_MAX);
            }
        }
        if enriching.is_stopped() {
            return;
        }
    }
}

fn is_silent(vector: &[f32]) -> bool {
    vector.iter().all(|number| *number == 0.0)
}
