//! Builds, measures, and writes the page. A step that fails is noted and the next begins: what is known stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::about::{About, Ended, machine, revision};
use super::options::{Mode, Options, Part};
use super::own::{DATA, Step, steps};
use crate::clock::{self, Stopwatch};
use crate::command::{Cargo, succeed};

/// Where data lies while it is measured: on the disk of the checkout, ignored by git.
const SCRATCH: &str = "target/bench/data";

/// Those that need least come first: each has an even share of the time that is left, so what they do not need is for
/// the slow ones. The shares are the business of `bench/peers/turns.py`.
const PEERS: &str = "quipu redis postgres nats sqlite langgraph-sqlite mcp-memory memrust ai-memory mentedb txtai \
                     mem0-qdrant mem0-faiss hindsight";

/// Where results go, relative to the root.
struct Outputs {
    own: String,
    peers: String,
    page: String,
}

impl Outputs {
    fn of(mode: Mode) -> Self {
        if mode == Mode::Smoke {
            let place = |name: &str| format!("target/bench/smoke/{name}");
            return Self {
                own: place("quipu"),
                peers: place("peers"),
                page: place("benchmarks.md"),
            };
        }
        let today = clock::now_utc()[..10].to_owned();
        let place = |name: &str| format!("bench/runs/{today}-{name}");
        Self { own: place("quipu"), peers: place("peers"), page: "docs/benchmarks.md".to_owned() }
    }
}

/// Does what is asked; whether all of it went well.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> bool {
    let all = Options::parse(arguments).and_then(|options| all(root, &options));
    match all {
        Ok(failures) => failures == 0,
        Err(why) => {
            eprintln!("FAILED: {why}");
            false
        }
    }
}

/// Whether a path is a labelled set or a folder with some. Asked first: what comes takes long.
fn has_sets(path: &Path) -> bool {
    let is_set = |name: &str| name.ends_with(".json") || name.ends_with(".json.gz");
    let mut within = fs::read_dir(path).into_iter().flatten().flatten();
    path.is_file() || within.any(|entry| entry.file_name().to_str().is_some_and(is_set))
}

fn all(root: &Path, options: &Options) -> Result<usize, String> {
    let (places, whole) = (Outputs::of(options.mode), Stopwatch::start());
    if let Some(data) = options.data.as_ref().filter(|data| !has_sets(data)) {
        return Err(format!(
            "there is no labelled data in {}: no *.json and no *.json.gz",
            data.display()
        ));
    }
    let steps = requested_steps(options)?;
    let mut failures = 0;
    if options.wants(Part::Own) || options.wants(Part::Peers) {
        let quipu = binary(root, options)?;
        if options.wants(Part::Own) {
            failures += own(root, &places, options, &quipu, steps)?;
        }
        if options.wants(Part::Peers) {
            println!("\n==> the others");
            // Some of them not coming to their end is a result; the page tells it.
            if let Err(why) = peers(root, &places, options, &quipu) {
                println!("    not all came to their end: {why}");
            }
        }
    }
    if options.wants(Part::Report) {
        println!("\n==> the page");
        report(root, &places, options.mode)?;
    }
    println!("\n{failures} steps failed, {} in all.", whole.elapsed());
    Ok(failures)
}

/// The program that is measured, with `quipu-bench` beside it: the one that was given, or one that is built.
fn binary(root: &Path, options: &Options) -> Result<PathBuf, String> {
    if let Some(given) = &options.quipu {
        return fs::canonicalize(given).map_err(|error| format!("{}: {error}", given.display()));
    }
    let (profile, folder): (&[&str], _) = match options.mode {
        Mode::Smoke => (&[], "debug"),
        Mode::Quick | Mode::Full => (&["--release"], "release"),
    };
    println!("==> build");
    let build =
        [&["build", "--package", "quipu-cli", "--package", "quipu-bench"], profile].concat();
    Cargo::new(&build).run(root).map_err(|why| format!("the build: {why}"))?;
    Ok(root.join("target").join(folder).join("quipu"))
}

/// Quipu's own figures; how many steps failed.
fn own(
    root: &Path,
    places: &Outputs,
    options: &Options,
    quipu: &Path,
    steps: Vec<Step>,
) -> Result<usize, String> {
    let folder = root.join(&places.own);
    // A binary does not say what it was built from.
    let given = options.quipu.as_ref().map(|_| "of a binary that was given".to_owned());
    let revision = given.unwrap_or_else(|| revision(root));
    let mut about = About::begin(&revision, options.mode, &machine());
    if options.steps.is_some() {
        about = about.go_on(&folder);
    }
    fs::create_dir_all(root.join(SCRATCH)).map_err(|error| format!("{SCRATCH}: {error}"))?;
    let mut failures = 0;
    for step in steps {
        println!("\n==> {}", step.command());
        let ended = perform(root, places, options, quipu, &step);
        if let Ended::Failed { why } = &ended {
            eprintln!("FAILED: {why}");
            failures += 1;
        }
        about.note(&step, &ended);
        about.save(&folder)?;
    }
    Ok(failures)
}

/// The steps that are asked for, in the order of the list.
fn requested_steps(options: &Options) -> Result<Vec<Step>, String> {
    let mut steps = steps(options.mode);
    let Some(names) = &options.steps else { return Ok(steps) };
    if let Some(name) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        return Err(format!("there is no step {name}: they are {}", known.join(", ")));
    }
    steps.retain(|step| names.iter().any(|name| name == step.name));
    Ok(steps)
}

fn perform(root: &Path, places: &Outputs, options: &Options, quipu: &Path, step: &Step) -> Ended {
    let out = format!("{}/{}", places.own, step.name);
    // What an earlier run left here must not be taken for this one's.
    fs::remove_dir_all(root.join(&out)).ok();
    let data = options.data.as_ref().and_then(|data| fs::canonicalize(data).ok());
    if step.needs_data() && data.is_none() {
        return Ended::NotRun { why: "no labelled data was given; `--data DATA` names it" };
    }
    let mut command = Command::new(quipu.with_file_name("quipu-bench"));
    command.current_dir(root);
    for word in step.arguments.split(' ') {
        match (&data, word == DATA) {
            (Some(data), true) => command.arg(data),
            _ => command.arg(word),
        };
    }
    if let Some(place) = step.directory_option() {
        command.args([place, SCRATCH]);
    }
    command.args(["--out", &out]);
    let watch = Stopwatch::start();
    match succeed(&mut command).and_then(|()| anonymous(&root.join(&out), data.as_deref())) {
        Ok(()) => Ended::Ok { seconds: watch.seconds() },
        Err(why) => Ended::Failed { why },
    }
}

/// What is kept names no path of this machine.
fn anonymous(out: &Path, data: Option<&Path>) -> Result<(), String> {
    let Some(data) = data else { return Ok(()) };
    let path = out.join("summary.md");
    let failed = |error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(failed)?;
    fs::write(&path, text.replace(&data.display().to_string(), DATA)).map_err(failed)
}

fn peers(root: &Path, places: &Outputs, options: &Options, quipu: &Path) -> Result<(), String> {
    let mut command = python(root, "peers");
    command.args(["run", "--mode", options.mode.name(), "--quipu"]).arg(quipu);
    command.arg("--out").arg(root.join(&places.peers));
    match options.mode {
        Mode::Smoke => command.args(["--vectors", "hash", "--only", "quipu", "sqlite"]),
        Mode::Quick | Mode::Full => command.arg("--only").args(PEERS.split_whitespace()),
    };
    if let Some(minutes) = options.minutes.as_deref() {
        command.args(["--minutes", minutes]);
    }
    for (name, value) in [("--data", &options.data), ("--home", &options.home)] {
        if let Some(value) = value {
            let value = std::path::absolute(value).map_err(|error| error.to_string())?;
            command.arg(name).arg(value);
        }
    }
    succeed(&mut command)
}

fn report(root: &Path, places: &Outputs, mode: Mode) -> Result<(), String> {
    let mut command = python(root, "report");
    // Without names it takes the newest of each, also where they are not of the same day.
    if mode == Mode::Smoke {
        for (name, place) in [("--own", &places.own), ("--peers", &places.peers)] {
            command.arg(name).arg(root.join(place));
        }
    }
    command.arg("--page").arg(root.join(&places.page));
    succeed(&mut command)
}

/// A module of the folder `bench`; it leaves nothing beside its sources.
fn python(root: &Path, module: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", module]).current_dir(root.join("bench"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_whether_it_works_touches_nothing_that_is_committed() {
        let places = Outputs::of(Mode::Smoke);
        for place in [places.own, places.peers, places.page] {
            assert!(place.starts_with("target/"), "{place}");
        }
    }

    #[test]
    fn the_labelled_data_is_named_data_in_what_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let summary = folder.path().join("summary.md");
        fs::write(&summary, "`quipu-bench recall /some/where --limit 1`\n").unwrap();
        anonymous(folder.path(), Some(Path::new("/some/where"))).unwrap();
        assert_eq!(fs::read_to_string(summary).unwrap(), "`quipu-bench recall DATA --limit 1`\n");
    }

    #[test]
    fn single_steps_are_run_in_order_and_unknown_ones_refused() {
        let names = |steps: &str| {
            let options = Options::parse(&["--steps", steps]).unwrap();
            requested_steps(&options)
                .map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names("growth,probe"), Ok(vec!["probe", "growth"]));
        assert!(
            names("probe,grow").unwrap_err().starts_with("there is no step grow: they are probe,")
        );
    }

    #[test]
    fn a_folder_without_labelled_sets_is_refused_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_sets(&folder.path().join("nowhere")));
        fs::create_dir(folder.path().join("recall")).unwrap();
        assert!(!has_sets(folder.path()), "its folders are not looked into");
        fs::write(folder.path().join("recall/small.json.gz"), "").unwrap();
        assert!(has_sets(&folder.path().join("recall")));
        assert!(has_sets(&folder.path().join("recall/small.json.gz")));
    }

    #[test]
    fn a_step_without_its_data_is_not_run_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let places = Outputs::of(Mode::Smoke);
        let recall = steps(Mode::Smoke).into_iter().find(|step| step.name == "recall").unwrap();
        let quipu = Path::new("no-such-program");
        let ended = perform(folder.path(), &places, &Options::default(), quipu, &recall);
        assert!(matches!(ended, Ended::NotRun { why } if why.contains("--data")));
    }
}
