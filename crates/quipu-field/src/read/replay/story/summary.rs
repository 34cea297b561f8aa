//! Tells the story of a chain: what it is about, the argument for it, how it ended, and last what is left out.

use quipu_log::{Engine, EngineError, FieldName};

use super::{
    super::{
        chain::{Chain, Trace},
        links::Target,
    },
    after, attunes, dispute,
    grounds::{self, Said},
    page::{Page, Part},
    phrases::{
        BRIEF_CHARS, LONG_CHARS, brief, capitalized, counted, listed, plain, plural, quoted,
        with_article,
    },
    reader::{Reader, StoryUnit},
    work,
};
use quipu_core::{Event, UnitId, ids::ConflictId, outline::ERASED};

/// What a story has told of what there is.
struct Story<'a> {
    reader: Reader<'a>,
    chain: &'a Chain,
    page: Page,
    said: Said,
    disputes: usize,
}

/// The story of a chain.
pub(crate) fn summarize_chain(
    engine: &dyn Engine,
    field: &FieldName,
    trace: &Trace<'_>,
    chain: &Chain,
) -> Result<String, EngineError> {
    let reader = Reader { engine, field, trace, places: &chain.places };
    let (page, said) = (Page::empty(), Said::default());
    let mut story = Story { reader, chain, page, said, disputes: 0 };
    match trace.target {
        Target::Unit(unit) | Target::Decision(unit) => story.of_unit(*unit)?,
        Target::Conflict(conflict) => story.of_conflict(*conflict)?,
        Target::Task(task) => story.of_task(task)?,
        Target::Session(session) => story.of_session(session)?,
    }
    let last = story.left_out();
    Ok(story.page.finish(last))
}

impl Story<'_> {
    fn of_unit(&mut self, target: UnitId) -> Result<(), EngineError> {
        let Some(unit) = self.reader.unit(target)? else {
            self.page.say(Part::Subject, "A unit of which only its end is known here");
            return after::explain_end(&self.reader, &mut self.page, &mut self.said, target);
        };
        self.said.add(target);
        self.subject(&unit);
        let (reader, page, said) = (&self.reader, &mut self.page, &mut self.said);
        let told = grounds::direct(reader, page, said, "It", &unit)?;
        if unit.unknown > 0 {
            let more = counted(unit.unknown, "thing", "things");
            let what = "not known here, or not for you to see";
            page.say(Part::Grounds, &format!("It refers to {more} {what}"));
        }
        attunes::explain_attunes(reader, page, said, &unit)?;
        after::explain_end(reader, page, said, target)?;
        self.disputes = dispute::explain_disputes(reader, page, said)?;
        grounds::beneath(reader, page, said, &told)?;
        if let Some(task) = &unit.task {
            if let Some(purpose) = work::purpose(reader, task)? {
                page.say(Part::Task, &format!("It was recorded for {purpose}"));
            }
            work::handoffs(reader, page, Some(task))?;
        }
        Ok(())
    }

    /// What a unit says, and every reason that its author gave.
    fn subject(&mut self, unit: &StoryUnit) {
        let kind = capitalized(&plain(unit.kind.as_str()));
        let (author, epoch) = (&unit.author, unit.epoch);
        let Some(texts) = &unit.texts else {
            let sentence = format!("{kind} of {author} at epoch {epoch}, whose text was purged");
            self.page.say(Part::Subject, &sentence);
            return;
        };
        let content = quoted(&texts.content, LONG_CHARS);
        self.page.say(Part::Subject, &format!("{kind} of {author} at epoch {epoch}: {content}"));
        let sure = unit.score.map(|score| format!(" (confidence {score:.2})")).unwrap_or_default();
        let reasoning = texts.reasoning.as_deref().filter(|text| !text.trim().is_empty());
        let given = [
            ("Because", reasoning.map(|text| format!("{}{sure}", brief(text, LONG_CHARS)))),
            ("Purpose", Some(brief(&texts.purpose, BRIEF_CHARS)).filter(|text| !text.is_empty())),
            ("Question", texts.question.as_deref().map(|text| brief(text, BRIEF_CHARS))),
            ("Evidence", Some(listed(&texts.evidence)).filter(|text| !text.is_empty())),
            ("Assumed", Some(listed(&texts.assumptions)).filter(|text| !text.is_empty())),
        ];
        for (label, text) in given {
            if let Some(text) = text {
                self.page.say(Part::Subject, &format!("{label}: {text}"));
            }
        }
    }

    /// As on the protocol's page; then why it ended so, and why each side held what it held.
    fn of_conflict(&mut self, conflict: ConflictId) -> Result<(), EngineError> {
        let unknown = format!("Conflict {conflict}");
        let dispute = self.chain.places.disputes.get(&conflict);
        let Some((dispute, (a, b))) = dispute.and_then(|dispute| Some((dispute, dispute.sides?)))
        else {
            self.page.say(Part::Subject, &unknown);
            return Ok(());
        };
        self.disputes = 1;
        let (one, other) = (self.reader.unit(a)?, self.reader.unit(b)?);
        let headline = self.conflict_headline(one.as_ref(), other.as_ref());
        self.page.say(Part::Subject, &headline.unwrap_or(unknown));
        let mut sides: Vec<(UnitId, StoryUnit)> =
            [(a, one), (b, other)].into_iter().filter_map(|(id, unit)| Some((id, unit?))).collect();
        sides.sort_by_key(|(id, _)| self.chain.places.units.get(id).copied());
        let recorded: Vec<String> = sides.iter().map(|(_, unit)| recorded(unit, [a, b])).collect();
        self.page.say(Part::Subject, &recorded.join("; "));
        let (reader, page) = (&self.reader, &mut self.page);
        let event = |place: Option<_>| place.map(|place| reader.event(place)).transpose();
        let (ended, escalated) =
            (event(dispute.ended)?.flatten(), event(dispute.escalated)?.flatten());
        match (&ended, &escalated) {
            (Some(found), _) => {
                if let Event::ConflictResolved { strategy, .. } = &found.event {
                    let (actor, epoch) = (&found.actor, found.epoch);
                    let how =
                        format!("Resolved by {actor} using {strategy} strategy at epoch {epoch}");
                    page.say(Part::Subject, &how);
                    page.say(Part::Subject, &capitalized(&dispute::outcome(reader, found)?));
                }
            }
            (None, Some(found)) => {
                let (actor, epoch) = (&found.actor, found.epoch);
                let why = dispute::rationale(found)?;
                let why = why.map(|why| format!(", because: {why}")).unwrap_or_default();
                page.say(
                    Part::Subject,
                    &format!("Escalated to a human by {actor} at epoch {epoch}{why}"),
                );
                page.say(Part::Subject, "Not resolved yet");
            }
            (None, None) => {
                page.say(Part::Subject, "Not resolved yet");
            }
        }
        for ballot in dispute::ballots(reader, dispute)? {
            page.say(Part::Subject, &ballot);
        }
        for (_, unit) in &sides {
            if let Some(reason) = unit.reason() {
                page.say(Part::Subject, &format!("For {}: {reason}", unit.content()));
            }
        }
        self.said.add(a);
        self.said.add(b);
        for (_, unit) in &sides {
            grounds::direct(reader, page, &mut self.said, &unit.recalled(), unit)?;
        }
        Ok(())
    }

    fn conflict_headline(&self, a: Option<&StoryUnit>, b: Option<&StoryUnit>) -> Option<String> {
        let Some(Event::ConflictDetected { conflict_type: kind, .. }) =
            self.chain.origin.as_ref().map(|found| &found.event)
        else {
            return None;
        };
        let kind = capitalized(kind.as_str());
        let (one, other) = (a?.kind, b?.kind);
        Some(if one == other {
            format!("{kind} conflict between two {}", plural(one))
        } else {
            format!("{kind} conflict between {} and {}", with_article(one), with_article(other))
        })
    }

    fn of_task(&mut self, task: &str) -> Result<(), EngineError> {
        let extent = extent(self.chain);
        self.page.say(Part::Subject, &format!("Task {task}: {extent}"));
        if let Some(purpose) = work::purpose(&self.reader, task)? {
            self.page.say(Part::Subject, &capitalized(&purpose));
        }
        self.done()?;
        work::moves(&self.reader, &mut self.page)?;
        work::handoffs(&self.reader, &mut self.page, Some(task))
    }

    fn of_session(&mut self, session: &str) -> Result<(), EngineError> {
        let extent = extent(self.chain);
        self.page.say(Part::Subject, &format!("Session {session}: {extent}"));
        if let Some(goal) = work::goal(&self.reader)? {
            self.page.say(Part::Subject, &goal);
        }
        self.done()?;
        work::handoffs(&self.reader, &mut self.page, None)
    }

    /// What was recorded for a task or in a session, and where that was disputed.
    fn done(&mut self) -> Result<(), EngineError> {
        let (reader, page, said) = (&self.reader, &mut self.page, &mut self.said);
        work::units(reader, page, said)?;
        self.disputes = dispute::explain_disputes(reader, page, said)?;
        Ok(())
    }

    /// What there is besides what was told, by how much of it.
    fn left_out(&self) -> Option<String> {
        let counts = &self.chain.places.counts;
        let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
        let told = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let units = count("RECORD").saturating_sub(told(self.said.units.len()));
        let disputes = count("CONFLICT_CREATED").saturating_sub(told(self.disputes));
        let besides = [
            (units, "more unit", "more units"),
            (disputes, "more dispute", "more disputes"),
            (count("COORDINATE"), "task move", "task moves"),
            (count("TASK_NOTED"), "note of a worker", "notes of workers"),
        ];
        let parts: Vec<String> = besides
            .into_iter()
            .filter(|(number, ..)| *number > 0)
            .map(|(number, one, many)| counted(number, one, many))
            .collect();
        (!parts.is_empty()).then(|| format!("Besides: {}.", parts.join(", ")))
    }
}

/// What one side of a conflict recorded, as the protocol says it.
fn recorded(unit: &StoryUnit, sides: [UnitId; 2]) -> String {
    let text = unit.texts.as_ref();
    let text = text.map_or_else(|| ERASED.to_owned(), |texts| brief(&texts.content, BRIEF_CHARS));
    let towards = unit.grounds.iter().find(|ground| sides.contains(&ground.unit));
    let relation = towards.map(|ground| format!(" with {} relation", ground.kind));
    format!("{} recorded {text}{}", unit.author, relation.unwrap_or_default())
}

fn extent(chain: &Chain) -> String {
    let epochs = chain.epochs.map(|(first, last)| format!(", epochs {first} to {last}"));
    let agents = u64::try_from(chain.agents.len()).unwrap_or(u64::MAX);
    format!(
        "{} by {}{}",
        counted(chain.total, "event", "events"),
        counted(agents, "agent", "agents"),
        epochs.unwrap_or_default()
    )
}
