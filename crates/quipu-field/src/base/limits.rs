//! The bounds of a Field's own queues, caches and windows.

use std::time::Duration;

/// Commands that may wait for the writer; one more is answered `OVERLOADED`.
pub const QUEUE_COMMANDS_MAX: usize = 4096;
/// Commands that one sync may cover.
pub const BATCH_COMMANDS_MAX: usize = 1024;
/// How often one batch is decided because other nodes were faster; then it is answered `OVERLOADED`.
pub const CONFLICTS_MAX: usize = 64;
/// Batches during which a node expects that others append too, after it saw that they do.
pub const OTHERS_EXPECTED_BATCHES: u32 = 64;
/// Commits of others that a node reads in its turn. With more to read it lets the others go first.
pub const NEWS_MAX: u64 = 512;
/// How long a node that was faster than others leaves the log to them, where they cannot be kept waiting in a row.
pub const YIELD_WAIT: Duration = Duration::from_millis(2);
/// How long whoever asked waits for the log before being told that it does not answer.
pub const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// How often an append whose outcome is unknown is sent again, with a pause that doubles, while somebody waits.
pub const SETTLE_ATTEMPTS: u32 = 8;
/// The first of those pauses.
pub const SETTLE_PAUSE: Duration = Duration::from_millis(10);
/// How often a log that seems to have gone back is read again before it is not trusted any more.
pub const BEHIND_READS: usize = 3;
/// The pause between two of these reads.
pub const BEHIND_PAUSE: Duration = Duration::from_millis(100);
/// How long a node waits for commits of others before it checks whether the log is still the one that it knows.
pub const FOLLOW_WAIT: Duration = Duration::from_millis(250);
/// How long it leaves what its own writer appends to that.
pub const APPEND_WAIT: Duration = Duration::from_millis(50);
/// How long it waits after it could not check.
pub const FOLLOW_RETRY: Duration = Duration::from_millis(50);
/// Commits that were shown beside the writer after which it is woken to take note of them.
pub const UNSEEN_WAKE_COMMITS: usize = 512;
/// Commits that are kept for it. If there are more it goes on without a state of its own, and makes one when it needs it.
pub const UNSEEN_MAX: usize = 16 * 1024;
pub const POSITION_WAIT: Duration = Duration::from_secs(5);
/// How far reads may push the clock beyond the last logged epoch. After a crash the clock resumes
/// this far ahead, so that no epoch that a reader was given is ever given to a later unit.
pub const CLOCK_RESERVE: u64 = 1024;
/// Units that one DETECT `scan` compares unless a server says otherwise.
pub const SCAN_UNITS_MAX: usize = 5000;
/// How long one DETECT `scan` may take, in milliseconds.
pub const SCAN_MS_MAX: u64 = 2000;
/// Bytes of unit bodies kept in memory.
pub const BODY_CACHE_BYTES: usize = 32 * 1024 * 1024;
/// Commits read from the log at a time.
pub const READ_PAGE: usize = 1024;
/// Commits that are missing beyond which a Field is opened before their texts are read: fewer are read in a moment.
pub const INDEX_LATER_COMMITS: u64 = 4096;
/// How many of their units are added to the index while others wait.
pub const INDEX_AT_ONCE: usize = 64;
/// How long a log that does not give them is left alone.
pub const INDEX_RETRY: Duration = Duration::from_secs(1);
/// How many Fields read texts at once.
pub const INDEXING_FIELDS_MAX: usize = 4;
/// How long a Field that is closed waits for them: without them it leaves no snapshot.
pub const INDEX_LAST_WAIT: Duration = Duration::from_secs(10);
/// How often somebody for whom nobody waits checks whether the index is there.
pub const INDEX_CHECK_PAUSE: Duration = Duration::from_millis(100);
/// Commits after which the tree of the proofs is saved anew.
pub const TREE_SAVED_COMMITS: u64 = 32 * 1024;
/// Commits since the last snapshot after which the next one is made, at least.
pub const SNAPSHOT_COMMITS_MIN: u64 = 20_000;
/// ... and as a share of the log, so that the cost of snapshots stays a share of the work.
pub const SNAPSHOT_SHARE: u64 = 8;
/// How long a snapshot that is due watches the log before it is made, each time it finds it busy.
pub const SNAPSHOT_WATCH: Duration = Duration::from_millis(500);
/// Commits within that time beyond which the log is busy: they need the processors more than a snapshot does.
pub const SNAPSHOT_QUIET_COMMITS: u64 = 100;
/// How many times the least number of commits is waited for beyond when it was due, until it is made in any case.
pub const SNAPSHOT_PATIENCE: u64 = 3;
/// Commits since the last snapshot for which a Field that is put away makes one: reading fewer takes no longer.
pub const SNAPSHOT_PARTING_COMMITS: u64 = 512;
/// How long the storage of snapshots is left alone after a failure at first, and at the most.
pub const DEPOT_RETRY: Duration = Duration::from_millis(500);
/// See [`DEPOT_RETRY`].
pub const DEPOT_RETRY_MAX: Duration = Duration::from_secs(60);
/// How long a server that stops waits for the storage of snapshots.
pub const DEPOT_LAST_WAIT: Duration = Duration::from_secs(5);
/// How many stored snapshots of a Field are kept: where the newest is damaged there is another.
pub const DEPOT_SNAPSHOTS_KEPT: usize = 2;
/// How often a node stores a snapshot of a Field, where nothing else is configured.
pub const DEPOT_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// How long a Field that nobody uses stays open, where nothing else is configured.
pub const FIELD_IDLE: Duration = Duration::from_secs(10 * 60);
/// How many Fields are open at a time, where nothing else is configured: each has threads and files of its own.
pub const FIELDS_OPEN: usize = 256;
/// How many Fields are being opened at the same time; one more waits.
pub const FIELDS_OPENING_MAX: usize = 32;
/// Fields up to this many eligible units are ranked exactly; beyond, candidates are chosen first.
pub const EXACT_RANK_UNITS_MAX: usize = 2048;
/// Candidates by the words of a topic, where candidates are chosen.
pub const CANDIDATES_BY_WORDS: usize = 320;
/// Candidates by each meaning of a topic.
pub const CANDIDATES_BY_MEANING: usize = 384;
/// Candidates of the active task, the newest.
pub const CANDIDATES_BY_TASK: usize = 256;
/// The newest units of a task whose meaning stands for the task's.
pub const TASK_UNITS_MEANT: usize = 32;
/// Conflicts that one ATTUNE carries at most, the newest; DETECT lists all.
pub const CONFLICTS_ATTUNED_MAX: usize = 1000;
/// Tokens that no unit is shorter than; with less than that left of a budget, nothing more fits.
pub const UNIT_TOKENS_MIN: usize = 40;
/// Views of the past that are kept in memory; each may be as large as the present one.
pub const PAST_VIEWS_KEPT: usize = 2;
/// Requests that may wait for a view of the past; one more is answered `OVERLOADED`.
pub const PAST_WAITING_MAX: usize = 64;
pub const SUMMARY_RELATIONS_MAX: usize = 4;
/// Tokens of an extract, where a unit is returned as a summary.
pub const SUMMARY_TOKENS: usize = 64;
/// Commits that one page of the log holds at most.
pub const LOG_PAGE_COMMITS_MAX: usize = 1000;
/// Units that a detector may hold against one other.
pub const DETECT_CANDIDATES_MAX: usize = 8;
/// Conflicts that detection makes of one unit at most, the surest.
pub const DETECT_PER_UNIT_MAX: usize = 3;
/// Milliseconds that a RECORD waits for detection, where nothing else is configured.
pub const DETECT_BUDGET_MS: u64 = 25;
/// How sure a verdict must be to make a conflict, where nothing else is configured.
pub const DETECT_SURENESS: f64 = quipu_recall::detect::SURENESS;
/// RECORDs that may have their detection at once at the same time.
pub const DETECT_AT_ONCE_MAX: usize = 2;
/// RECORDs at the same time above which detection is put off.
pub const DETECT_BUSY_RECORDS: usize = 4;
/// RECORDs in a quarter of a second above which detection is put off.
pub const DETECT_BUSY_PACE: usize = 32;
/// Units that may wait for detection in the background.
pub const DETECT_WAITING_MAX: usize = 65_536;
/// New conflicts that one DETECT notes at most; the next one goes on.
pub const DETECT_FOUND_MAX: usize = 1000;
/// Units whose texts an embedding model is given at a time.
pub const ENRICH_BATCH_UNITS: usize = 32;
/// How often we look for units without a vector when nobody says that there are some.
pub const ENRICH_IDLE: Duration = Duration::from_secs(2);
/// How long we wait after a failed attempt at first, and at the most.
pub const ENRICH_RETRY: Duration = Duration::from_millis(250);
/// See [`ENRICH_RETRY`].
pub const ENRICH_RETRY_MAX: Duration = Duration::from_secs(30);
/// Vectors after which the progress is noted in the server's own log.
pub const ENRICH_REPORT_UNITS: usize = 2000;
/// How long an ATTUNE waits for the vector of its hint.
pub const QUERY_EMBED_WAIT: Duration = Duration::from_millis(300);
/// Hints that are being embedded at the same time; one more goes without.
pub const QUERY_EMBEDS_MAX: usize = 4;
/// Hints whose vectors are remembered.
pub const QUERY_VECTORS_KEPT_MAX: usize = 512;
/// Summaries that a model writes for one COMPACT at most; the rest is extracted.
pub const SYNTHESES_WRITTEN_MAX: usize = 16;
/// Characters of one unit that a summarizer is given.
pub const SYNTHESIS_NOTE_CHARS: usize = 2000;
/// Units that one synthesis of COMPACT stands for at most.
pub const SYNTHESIS_SOURCES_MAX: usize = 128;
/// Tokens of one synthesis that a model writes, about twice.
pub const SYNTHESIS_TOKENS: usize = 1024;
/// Of the characters of a group, how many its synthesis has at most, in hundredths.
pub const SYNTHESIS_SHARE: usize = 35;
/// Characters that a synthesis may have however few its group has, and that it has at most.
pub const SYNTHESIS_CHARS_MIN: usize = 240;
pub const SYNTHESIS_CHARS_MAX: usize = 4096;
/// A group of fewer characters is told with all that it says, or not at all.
pub const SYNTHESIS_WHOLE_CHARS: usize = 400;
/// Characters from which on units of one topic are a group of their own.
pub const SYNTHESIS_GROUP_CHARS: usize = 600;
/// Statements that a COMPACT turns into questions at most, to see whether they can still be answered.
pub const FIDELITY_QUESTIONS_MAX: usize = 400;
/// Within the first how many units an answer is looked for.
pub const FIDELITY_DEPTH: usize = 5;
/// How often a COMPACT is prepared anew because its units changed meanwhile.
pub const COMPACT_ATTEMPTS: usize = 3;
/// Events that one REPLAY returns, where nothing else is configured.
pub const REPLAY_EVENTS_MAX: usize = 10_000;
/// Commits that are read at a time for a subscriber that is behind.
pub const PUSH_PAGE: usize = 64;
/// Bytes of recent commits that are kept ready for subscribers.
pub const PUSH_TAIL_BYTES: usize = 16 * 1024 * 1024;
/// Tokens of the text that a push carries.
pub const PUSH_SUMMARY_TOKENS: usize = 48;
/// Things about which one debounced stream remembers when it last sent something.
pub const DEBOUNCED_THINGS_MAX: usize = 16 * 1024;
pub const UNITS_PAGE_MAX: usize = 200;
/// Reads that are worked on at once for each processor: one may wait for the disk.
pub const TURNS_PER_PROCESSOR: usize = 2;
/// The same where the log is on a server, and most reads wait for it.
pub const TURNS_PER_PROCESSOR_REMOTE: usize = 16;
/// How many there are at least.
pub const TURNS_LEAST: usize = 4;
/// How many askers that have no turn get one where all are taken.
pub const TURNS_GUESTS_MAX: usize = 128;
/// Reads of one key that may wait for a turn; one more is answered `RATE_LIMITED`.
pub const TURNS_WAITING_MAX: usize = 1024;
