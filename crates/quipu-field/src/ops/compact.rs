//! COMPACT on the handle: what is prepared before the writer sees it, and what follows its commit. The rule
//! itself is in `rules/compact.rs` of quipu-core.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
};

use quipu_log::BodyAddress;
use quipu_wire::akashik::{CompactPayload, CompactResponse, CompactStrategy, Fidelity};

use crate::{
    base::{
        error::FieldError, failure::with_causes, limits::COMPACT_ATTEMPTS, unavailable::Unavailable,
    },
    compact::{Material, Survey, positions, purge, write, written_by_compact},
    field::Field,
    write::job::Outcome,
};
use quipu_core::{
    Message, Refusal, Sight, State, UnitId,
    ids::TraceId,
    rules::{Action, compact, folding},
};

/// What a purge of some units and hints erases.
struct Marked {
    texts: BTreeSet<BodyAddress>,
    /// What to know of units that repeat them.
    quoted: Option<String>,
}

impl Marked {
    fn of(state: &State, units: &[UnitId], hints: &[TraceId]) -> Self {
        let ordinals = units.iter().filter_map(|unit| state.units.find(*unit)).collect();
        let mut texts = purge::texts(state, &ordinals);
        texts.extend(hints.iter().filter_map(|trace| state.hints.get(*trace)).map(purge::hint));
        Self { texts, quoted: purge::quoted(state, &ordinals) }
    }
}

impl Field {
    /// COMPACT. A purge is answered when its texts are erased.
    pub async fn compact(
        self: &Arc<Self>,
        message: Message,
        payload: CompactPayload,
    ) -> Result<CompactResponse, FieldError> {
        if payload.dry_run {
            return self.foresee_compact(message, payload).await;
        }
        let purges = payload.strategy == CompactStrategy::Purge;
        let (outcome, warning) = self.decide_compact(&message, &payload).await?;
        let mut response = compact::respond(&outcome.events);
        response.warnings.extend(warning);
        if purges {
            let (units, hints) = compact::purged(&outcome.events);
            let (units, hints) = (units.to_vec(), hints.to_vec());
            let erased = self.regardless(move |field| field.erase(&units, &hints)).await;
            let (bytes, warnings) = erased?;
            response.storage_reclaimed_bytes = Some(bytes);
            response.warnings.extend(warnings);
        }
        Ok(response)
    }

    /// Writes the summaries and submits them, and does so again where the units changed meanwhile. Whoever
    /// asked is refused if they still do after some attempts.
    async fn decide_compact(
        self: &Arc<Self>,
        message: &Message,
        payload: &CompactPayload,
    ) -> Result<(Outcome, Option<String>), FieldError> {
        let mut attempts = 1..COMPACT_ATTEMPTS;
        loop {
            let (asked, payload) = (message.clone(), payload.clone());
            let prepared = self.blocking(move |field| field.prepare_compact(payload, &asked)).await;
            let (command, warning) = match prepared {
                Err(FieldError::Refused(Refusal::Compact(compact::Error::Changed)))
                    if attempts.next().is_some() =>
                {
                    continue;
                }
                prepared => prepared?,
            };
            match self.submit(message.clone(), Action::Compact(Box::new(command))).await {
                Err(FieldError::Refused(Refusal::Compact(compact::Error::Changed)))
                    if attempts.next().is_some() => {}
                decided => return Ok((decided?, warning)),
            }
        }
    }

    /// What a COMPACT would do now, summaries and warnings included. Nothing is written, and nothing is remembered
    /// of it but what a model wrote, so that the COMPACT itself says the same.
    async fn foresee_compact(
        self: &Arc<Self>,
        message: Message,
        payload: CompactPayload,
    ) -> Result<CompactResponse, FieldError> {
        self.clock.check(message.epoch)?;
        let mut attempts = 1..COMPACT_ATTEMPTS;
        loop {
            let (message, payload) = (message.clone(), payload.clone());
            match self.blocking(move |field| field.foresee(&message, payload)).await {
                Err(FieldError::Refused(Refusal::Compact(compact::Error::Changed)))
                    if attempts.next().is_some() => {}
                foreseen => return foreseen,
            }
        }
    }

    fn foresee(
        &self,
        message: &Message,
        payload: CompactPayload,
    ) -> Result<CompactResponse, FieldError> {
        let (command, warning) = self.prepare_compact(payload, message)?;
        let (mut response, marked) = {
            let published = self.view.read();
            let foreseen = compact::foresee(&published.state, message, &command)?;
            let marked = (command.strategy() == CompactStrategy::Purge)
                .then(|| Marked::of(&published.state, &foreseen.units, &foreseen.hints));
            (foreseen.response, marked)
        };
        response.warnings.extend(warning);
        if let Some(marked) = marked {
            response.storage_reclaimed_bytes = Some(self.bodies.bytes_of(&marked.texts)?);
            response.warnings.extend(marked.quoted);
        }
        Ok(response)
    }

    /// Puts everything observed into a COMPACT: the epoch it will about have, and its summaries.
    fn prepare_compact(
        &self,
        payload: CompactPayload,
        message: &Message,
    ) -> Result<(compact::CompactCommand, Option<String>), FieldError> {
        let epoch = self.clock.now().max(message.epoch).saturating_add(1);
        let command = compact::CompactCommand::new(payload, epoch, self.origin.now_ms());
        match command.strategy() {
            CompactStrategy::Archive | CompactStrategy::Purge => Ok((command, None)),
            CompactStrategy::Summarize => self.prepare_summaries(command, message),
        }
    }

    fn prepare_summaries(
        &self,
        command: compact::CompactCommand,
        message: &Message,
    ) -> Result<(compact::CompactCommand, Option<String>), FieldError> {
        let (candidates, authority) = {
            let published = self.view.read();
            let state = &published.state;
            let registered = state.agents.get(&message.agent).map(|agent| agent.authority);
            let authority = registered.unwrap_or(message.authority).min(message.authority);
            (positions(state, &folding::may_be_summaries(state)), authority)
        };
        let log = (self.engine.as_ref(), &self.name);
        let earlier = written_by_compact(log.0, log.1, &candidates, &self.summaries)?;
        let command = command.with_earlier(earlier, authority);
        let (material, selected, end) = {
            let published = self.view.read();
            let state = &published.state;
            if positions(state, &folding::may_be_summaries(state)) != candidates {
                return Err(FieldError::Refused(compact::Error::Changed.into()));
            }
            let (agent, session) = (&message.agent, command.session(message));
            let sight = Sight::by(state, agent, session, message.authority);
            let selected = command.select(state, &sight);
            let material = Material::of(state, &command, &selected);
            (material, selected, state.units.next_ordinal())
        };
        let author = (self.models.summarizer.as_deref(), &self.summaries);
        let minimum = command.minimum_fidelity();
        let written = write(material, &self.bodies, self.origin.as_ref(), minimum, author)?;
        let fidelity = (!written.syntheses.is_empty()).then(|| {
            let survey = {
                let published = self.view.read();
                let (agent, session) = (&message.agent, command.session(message));
                let sight = Sight::by(&published.state, agent, session, message.authority);
                let sees = |unit| sight.sees(unit);
                let words = published.index.lexical();
                Survey::of(&published.state, words, &sees, &written.syntheses)
            };
            let answers = survey.answers(&written.syntheses, &written.told);
            Fidelity { answers, ..written.kept }.weighed()
        });
        let warning = written.warning;
        let written = compact::Written { syntheses: written.syntheses, selected, end, fidelity };
        Ok((command.with_summaries(written), warning))
    }

    /// Erases the texts of purged units and hints wherever they are: log, snapshots, caches. Answers the
    /// bytes of text and what the caller should know.
    fn erase(&self, units: &[UnitId], hints: &[TraceId]) -> Result<(u64, Vec<String>), FieldError> {
        let (Marked { texts, quoted }, last_purge) = {
            let published = self.view.read();
            (Marked::of(&published.state, units, hints), published.state.last_purge)
        };
        if units.is_empty() && hints.is_empty() {
            return Ok((0, Vec::new()));
        }
        let bytes = self.erase_texts(&texts, last_purge)?;
        self.forget_vectors(units).map_err(|error| not_erased(&error))?;
        Ok((bytes, quoted.into_iter().collect()))
    }

    /// Erases texts from the log and from whatever was read of it, up to the last purge. Answers the bytes.
    pub(crate) fn erase_texts(
        &self,
        texts: &BTreeSet<BodyAddress>,
        last_purge: u64,
    ) -> Result<u64, FieldError> {
        let erased = purge::erase(self.engine.as_ref(), &self.name, texts)?;
        self.bodies.forget();
        self.past.forget();
        self.summaries.forget();
        if let Some(snapshotter) = &self.snapshotter {
            let purged = snapshotter.purge(last_purge);
            purged.map_err(|error| not_erased(&error))?;
        }
        self.purged.fetch_max(last_purge, Ordering::Relaxed);
        Ok(erased.bytes_reclaimed)
    }
}

fn not_erased(error: &dyn std::error::Error) -> Unavailable {
    Unavailable::NotErased { reason: with_causes(error) }
}
