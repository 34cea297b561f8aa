//! `quipu verify`: reads a whole data directory, changes nothing, and either vouches for it or names the
//! first position that cannot be trusted.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use quipu_field::{
    purge::tombstoned,
    restore::catch_up,
    snapshot::format::{self, SnapshotDir, SnapshotError},
    view::Published,
};
use quipu_log::{
    BodyAddress, Damage, DamageKind, Engine, EngineError, FieldName, Head, Pace, sqlite,
};
use quipu_wire::Hash;
use serde::Serialize;

use super::proof;
use crate::{
    storage::{
        data_dir::{self, DataArgs},
        log_address::LogAddress,
        pinned::Pinned,
    },
    ui::{
        failure::Failure,
        output::{self, count},
        progress::Progress,
    },
};

const ABOUT: &str = "\
Check a data directory from the first commit to the last. It changes nothing, and a server may run
on the directory meanwhile.

For each field: the storage itself, the whole hash chain, every text against the commitment in its
header, the state built from nothing, and each snapshot against the state at its very position.
Erased texts are counted; their headers still verify, and each must have the tombstone of a purge.
Exits 0, or 1 and names the first bad position.

Of a log on a server (--log), the chain, the texts and the state are checked; the server keeps its own storage.

Examples:
  quipu verify --data ./quipu-data
  quipu verify --log postgres://user@host/database";

const AFTER: &str = "\
A running server says its head too; it is the one that this command prints, or a later one:
  curl -s http://127.0.0.1:7070/v1/field/status -H \"Authorization: Bearer $QUIPU_KEY\"";

/// The arguments of `quipu verify`.
#[derive(Debug, Args)]
#[command(about = "Check a data directory from the first commit to the last", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Check the log on a server instead: the address that `quipu serve` was given
    #[arg(long, env = "QUIPU_LOG", hide_env_values = true, value_name = "URL")]
    log: Option<String>,
    /// Only this field
    #[arg(long, value_name = "NAME")]
    field: Option<FieldName>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Check a proof file instead of a data directory, offline
    #[arg(long, value_name = "FILE", requires = "checkpoint_key", conflicts_with_all = ["field", "json"])]
    proof: Option<PathBuf>,
    /// The key that the proof's checkpoint must be signed with (`quipu proof --show-key`)
    #[arg(long, value_name = "KEY", requires = "proof")]
    checkpoint_key: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    fields: Vec<FieldReport>,
}

#[derive(Debug, Serialize)]
struct FieldReport {
    field: FieldName,
    ok: bool,
    /// Whether the log itself is whole; a bad snapshot can be deleted without loss.
    log_ok: bool,
    commits: u64,
    units: u64,
    conflicts: u64,
    bodies_erased: u64,
    /// Texts with a tombstone that are still there; the next start of the server erases them.
    purges_unfinished: u64,
    snapshots: u64,
    head: Hash,
    state: Option<Hash>,
    /// The lowest damaged position; null where nothing is damaged or no position can be named.
    first_bad_position: Option<u64>,
    damage: Vec<String>,
}

pub(crate) fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    if let (Some(file), Some(key)) = (&args.proof, &args.checkpoint_key) {
        return proof::check(file, key);
    }
    let log = Log::open(args)?;
    let place = log.to_string();
    let mut fields = log
        .engine
        .fields()
        .map_err(|error| Failure::caused(format!("cannot read {place}"), &error))?;
    if let Some(wanted) = &args.field {
        if !fields.contains(wanted) {
            return Err(log.no_such_field(wanted));
        }
        fields.retain(|field| field == wanted);
    }
    let fields: Vec<FieldReport> = fields.iter().map(|field| check_field(&log, field)).collect();
    let report = Report { ok: fields.iter().all(|field| field.ok), fields };
    let text = if args.json { as_json(&report)? } else { as_text(&place, &report) };
    output::print(&text)?;
    if report.ok { Ok(()) } else { Err(summary_of_damage(args.json, &report)) }
}

struct Log {
    engine: Arc<dyn Engine>,
    /// Its directory; none if it is on a server.
    dir: Option<PathBuf>,
}

impl Log {
    fn open(args: &VerifyArgs) -> Result<Self, Failure> {
        let place = args.log.as_deref().map_or(Ok(LogAddress::Sqlite), LogAddress::parse)?;
        if let Some(engine) = place.open_server()? {
            return Ok(Self { engine, dir: None });
        }
        let dir = args.data.data.clone();
        Ok(Self { engine: data_dir::open_read_only(&dir)?, dir: Some(dir) })
    }

    fn no_such_field(&self, field: &FieldName) -> Failure {
        match &self.dir {
            Some(dir) => data_dir::no_such_field(dir, field),
            None => Failure::new(format!("there is no field {field} in the log")),
        }
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.dir {
            Some(dir) => write!(f, "{}", dir.display()),
            None => f.write_str("the log"),
        }
    }
}

fn check_field(log: &Log, field: &FieldName) -> FieldReport {
    let dir = log.dir.as_deref();
    // In this order, so that no snapshot is of a later head than the one that is pinned.
    let snapshots = dir.map(|dir| load_snapshots(dir, field)).unwrap_or_default();
    let mut report = FieldReport::new(field);
    let pinned = match Pinned::new(Arc::clone(&log.engine), field) {
        Ok(pinned) => pinned,
        Err(error) => {
            report.found_error(&error);
            if let Some(dir) = dir {
                check_storage(dir, field, Head::EMPTY, &mut report);
            }
            return report;
        }
    };
    if let Some(dir) = dir {
        check_storage(dir, field, pinned.pinned_head(), &mut report);
    }
    report.head = pinned.pinned_head().hash;
    check_chain(&pinned, field, &snapshots, &mut report, log.engine.as_ref());
    report
}

fn check_storage(dir: &Path, field: &FieldName, head: Head, report: &mut FieldReport) {
    // A field without commits may be one whose making was cut off: there is no database to check.
    let checked = match head {
        Head::EMPTY => sqlite::check_files(dir, field),
        _ => sqlite::check_storage(dir, field),
    };
    if let Err(damage) = checked {
        report.found(&damage);
    }
}

/// A snapshot's claim: at this head, the state has this hash.
struct Claim {
    path: std::path::PathBuf,
    head: Head,
    state: Hash,
}

fn load_snapshots(dir: &Path, field: &FieldName) -> Vec<Result<Claim, SnapshotError>> {
    let directory = data_dir::fields_dir(dir).join(field.as_str()).join("snapshots");
    let mut files = SnapshotDir::new(directory).list();
    files.reverse();
    let claims = files.into_iter().map(|path| {
        let published = format::load(&path)?;
        Ok(Claim { path, head: published.head, state: published.state.hash() })
    });
    // One that a running server replaced meanwhile is no longer there to be checked, and one that an
    // earlier version made is passed over by the server too.
    claims.filter(|claim| !is_nothing_to_check(claim)).collect()
}

fn is_nothing_to_check(claim: &Result<Claim, SnapshotError>) -> bool {
    match claim {
        Err(SnapshotError::Io { source, .. }) => source.kind() == std::io::ErrorKind::NotFound,
        Err(SnapshotError::Older { .. }) => true,
        Ok(_) | Err(SnapshotError::Damaged { .. }) => false,
    }
}

fn check_chain(
    pinned: &Pinned,
    field: &FieldName,
    snapshots: &[Result<Claim, SnapshotError>],
    report: &mut FieldReport,
    engine: &dyn Engine,
) {
    let end = pinned.pinned_head().position;
    let mut progress = Progress::new(format!("verifying {field}"), Some(end));
    let mut published = Published::empty();
    for claim in snapshots {
        report.snapshots += 1;
        match claim {
            Err(error) => report.bad_snapshot(error),
            Ok(claim) => {
                let reached =
                    advance(pinned, field, &mut published, claim.head.position, &mut progress);
                if let Err(error) = reached {
                    report.found_error(&error);
                    report.describe(&published);
                    return;
                }
                compare(claim, &published, report);
            }
        }
    }
    if let Err(error) = advance(pinned, field, &mut published, end, &mut progress) {
        report.found_error(&error);
    } else {
        report.state = Some(published.state.hash());
        if let Err(error) = check_erased(pinned, engine, field, &published, report) {
            report.found_error(&error);
        }
    }
    report.describe(&published);
}

/// Every erased text must have a tombstone; without one, somebody else erased it. A tombstone whose text
/// is still there is a purge that the next start of the server finishes.
fn check_erased(
    pinned: &Pinned,
    engine: &dyn Engine,
    field: &FieldName,
    published: &Published,
    report: &mut FieldReport,
) -> Result<(), EngineError> {
    let erased: BTreeSet<BodyAddress> = pinned.erased().into_iter().collect();
    report.bodies_erased = u64::try_from(erased.len()).unwrap_or(u64::MAX);
    let mut tombstones = tombstoned(&published.state);
    report.purges_unfinished =
        u64::try_from(tombstones.difference(&erased).count()).unwrap_or(u64::MAX);
    if !erased.is_subset(&tombstones) && engine.head(field)? != published.head {
        // A server that runs meanwhile may have purged what was read afterwards.
        let mut later = published.clone();
        catch_up(engine, field, &mut later, Pace::Alone, &mut |_| true)?;
        tombstones = tombstoned(&later.state);
    }
    for body in erased.difference(&tombstones) {
        report.log_ok = false;
        let BodyAddress { position, event } = body;
        let what = format!(
            "position {position}: the text of event {event} was erased without a tombstone"
        );
        report.damage(Some(*position), what);
    }
    Ok(())
}

/// Builds the state up to a position, verifying every commit on the way.
fn advance(
    pinned: &Pinned,
    field: &FieldName,
    published: &mut Published,
    to: u64,
    progress: &mut Progress,
) -> Result<(), EngineError> {
    let to = to.min(pinned.pinned_head().position);
    if published.head.position >= to {
        return Ok(());
    }
    let whole = to == pinned.pinned_head().position;
    let mut stopped = false;
    let reached = catch_up(pinned, field, published, Pace::Alone, &mut |position| {
        progress.reach(position);
        stopped = !whole && position >= to;
        !stopped
    });
    match reached {
        Err(_) if stopped => Ok(()),
        other => other.map(|_| ()),
    }
}

fn compare(claim: &Claim, published: &Published, report: &mut FieldReport) {
    let wrong = if claim.head != published.head {
        "is not of this log"
    } else if claim.state != published.state.hash() {
        "holds another state than the log gives at its position"
    } else {
        return;
    };
    let what = format!("snapshot {} {wrong}", claim.path.display());
    report.damage(Some(claim.head.position), what);
}

impl FieldReport {
    fn new(field: &FieldName) -> Self {
        Self {
            field: field.clone(),
            ok: true,
            log_ok: true,
            commits: 0,
            units: 0,
            conflicts: 0,
            bodies_erased: 0,
            purges_unfinished: 0,
            snapshots: 0,
            head: Hash::ZERO,
            state: None,
            first_bad_position: None,
            damage: Vec::new(),
        }
    }

    fn describe(&mut self, published: &Published) {
        self.commits = published.head.position;
        self.units = u64::try_from(published.state.units.len()).unwrap_or(u64::MAX);
        self.conflicts =
            u64::try_from(published.state.conflicts.iter().count()).unwrap_or(u64::MAX);
    }

    fn damage(&mut self, position: Option<u64>, what: String) {
        self.ok = false;
        self.first_bad_position = match (self.first_bad_position, position) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if !self.damage.contains(&what) {
            self.damage.push(what);
        }
    }

    fn bad_snapshot(&mut self, error: &SnapshotError) {
        let (SnapshotError::Io { path, .. }
        | SnapshotError::Older { path }
        | SnapshotError::Damaged { path, .. }) = error;
        // A snapshot is named after its position.
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let position = stem.and_then(|stem| stem.parse().ok());
        self.damage(position, format!("snapshot {}", quipu_field::with_causes(error)));
    }

    fn found(&mut self, damage: &Damage) {
        self.log_ok = false;
        self.damage(Some(damage.position).filter(|position| *position > 0), damage.to_string());
    }

    fn found_error(&mut self, error: &EngineError) {
        match error {
            EngineError::Damaged(damage) => self.found(damage),
            EngineError::HeadMoved { .. }
            | EngineError::Sealed { .. }
            | EngineError::Full
            | EngineError::Poisoned { .. }
            | EngineError::Unavailable { .. }
            | EngineError::Io { .. }
            | EngineError::UnknownField { .. }
            | EngineError::InvalidBatch { .. } => {
                self.found(&Damage::new(
                    0,
                    DamageKind::StorageUnreadable(quipu_field::with_causes(error)),
                ));
            }
        }
    }
}

fn as_json(report: &Report) -> Result<String, Failure> {
    serde_json::to_string_pretty(report)
        .map(|text| text + "\n")
        .map_err(|error| Failure::caused("cannot write the result as JSON", &error))
}

fn as_text(place: &str, report: &Report) -> String {
    if report.fields.is_empty() {
        return format!("{place} has no field yet: ok\n");
    }
    let mut text = String::new();
    for field in &report.fields {
        text.push_str(&field_text(field));
    }
    let commits = report.fields.iter().map(|field| field.commits).sum();
    let fields = u64::try_from(report.fields.len()).unwrap_or(u64::MAX);
    if report.ok {
        text.push_str(&format!("ok: {}, {}\n", count(fields, "field"), count(commits, "commit")));
    }
    text
}

fn field_text(report: &FieldReport) -> String {
    let row = |name: &str, value: String| vec![format!("  {name}"), value];
    let mut rows = vec![
        row("commits", output::thousands(report.commits)),
        row("units", output::thousands(report.units)),
        row("conflicts", output::thousands(report.conflicts)),
        row("bodies erased", output::thousands(report.bodies_erased)),
        row("purges unfinished", output::thousands(report.purges_unfinished)),
        row("snapshots", output::thousands(report.snapshots)),
        row("head", report.head.to_string()),
    ];
    let state = report.state.map_or_else(|| "not built".to_owned(), |hash| hash.to_string());
    rows.push(row("state", state));
    let verdict = if report.ok { "ok" } else { "DAMAGED" };
    let mut text = format!("field {}: {verdict}\n{}", report.field, output::table(&rows));
    for damage in &report.damage {
        text.push_str(&format!("  damage: {}\n", output::harmless(damage)));
    }
    text
}

fn summary_of_damage(json: bool, report: &Report) -> Failure {
    if json {
        return Failure::reported();
    }
    let bad: Vec<String> = report
        .fields
        .iter()
        .filter(|field| !field.ok)
        .map(|field| {
            let what = if field.log_ok { "has a bad snapshot" } else { "is damaged" };
            let at = field.first_bad_position.map(|position| format!(" at position {position}"));
            format!("field {} {what}{}", field.field, at.unwrap_or_default())
        })
        .collect();
    Failure::new(bad.join("; ")).advise(if report.fields.iter().all(|field| field.log_ok) {
        "the log is whole; stop the server and delete the named snapshots, which are only a cache"
    } else {
        "keep a copy of the directory as it is, then restore it from a backup"
    })
}
