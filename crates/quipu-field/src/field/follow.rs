//! Waits for commits of other nodes and has them shown here. Also notices a log that went back while nobody wrote,
//! and finishes purges that other nodes decided. Runs only where other nodes append to the same log.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    thread,
};

use quipu_log::{Engine, EngineError, FieldName, Head};

use crate::{
    base::{
        failure::with_causes,
        limits::{FOLLOW_RETRY, FOLLOW_WAIT},
    },
    field::Field,
    write::following::find_behind,
};

/// Follows until the Field is closed, is not held any more, or must not go on.
pub(crate) fn run(engine: &Arc<dyn Engine>, name: &FieldName, field: &Weak<Field>) {
    loop {
        let Some(known) = head_to_follow(field) else { return };
        // The Field itself is not held meanwhile, so that it can be dropped.
        let heard = engine.wait_past(name, known.position, FOLLOW_WAIT);
        let Some(field) = field.upgrade().filter(|field| !field.is_stopping()) else { return };
        let moved = match heard {
            // What was heard may be wrong: then the log may have gone back.
            Ok(position) if position > known.position => {
                catch_up_to(&field, position) || {
                    check(engine.as_ref(), &field, &known);
                    false
                }
            }
            Ok(_) => check(engine.as_ref(), &field, &known),
            Err(EngineError::UnknownField { .. }) => {
                check(engine.as_ref(), &field, &known);
                false
            }
            Err(error) => {
                tracing::warn!(field = %name, error = with_causes(&error), "cannot follow the log");
                false
            }
        };
        field.finish_purges_of_others();
        drop(field);
        if !moved {
            thread::park_timeout(FOLLOW_RETRY);
        }
    }
}

/// Where the node is, as long as it should follow.
fn head_to_follow(field: &Weak<Field>) -> Option<Head> {
    let field = field.upgrade()?;
    let follows = !field.is_stopping() && field.health().failure().is_none();
    follows.then(|| field.head())
}

/// Catches up, and says whether it came as far.
fn catch_up_to(field: &Arc<Field>, position: u64) -> bool {
    field.heard.fetch_max(position, Ordering::Relaxed);
    if let Some(following) = &field.following
        && let Err(error) = following.catch_up(position)
    {
        tracing::warn!(field = %field.name(), error = with_causes(&error), "cannot follow the log");
    }
    field.head().position >= position
}

/// Nothing new: then the log must still be where this node knows it to be, or further.
fn check(engine: &dyn Engine, field: &Field, known: &Head) -> bool {
    match find_behind(engine, field.name(), known) {
        Ok(None) => true,
        Ok(Some(damage)) => {
            let what = format!("the log is not the one that this node knows: {damage}");
            field.health().fail(&what);
            true
        }
        Err(error) => {
            tracing::warn!(field = %field.name(), error = with_causes(&error), "cannot follow the log");
            false
        }
    }
}
