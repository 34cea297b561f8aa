//! The server is killed and started again under the Rust client, while it records and listens: nothing
//! is recorded twice, nothing is lost, and every push comes once.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use quipu_client::{
    Field, Pushes, Retry,
    akashik::{
        AttunePayload, Format, MemoryType, RecordPayload, Scope, SubscriptionEvent, UnitView,
    },
};
use tempfile::TempDir;

use crate::support::{Settings, wait_until};

const WRITERS: usize = 4;
const EACH: usize = 25;
const KILLS: usize = 4;

/// Patient enough for a busy machine.
const PATIENT: Retry = Retry {
    attempts: 1000,
    first_pause: Duration::from_millis(20),
    longest_pause: Duration::from_millis(200),
    within: Duration::from_secs(300),
};

/// Records its units one after the other.
async fn write(field: Field, writer: usize, done: Arc<AtomicUsize>) {
    let agent = field.agent(&format!("writer-{writer}"), "writer").unwrap();
    for number in 0..EACH {
        let content = format!("unit {writer}-{number}");
        let unit = RecordPayload::draft(MemoryType::Observation, content, "to be counted");
        agent.record(&unit).await.unwrap();
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// The summaries of all pushes, as they came.
async fn listen(mut pushes: Pushes) -> Vec<String> {
    let mut told = Vec::new();
    while told.len() < WRITERS * EACH {
        told.push(pushes.next().await.unwrap().unwrap().summary);
    }
    told
}

async fn contents(field: &Field) -> Vec<String> {
    let watcher = field.agent("watcher", "watcher").unwrap();
    let scope = Scope::new("watcher", 10 * WRITERS * EACH);
    let ask = AttunePayload { scope, context_hint: None, format: Format::Full, since_epoch: None };
    let units = watcher.attune(&ask).await.unwrap().record.into_iter();
    let content = |unit| match unit {
        UnitView::Unit(unit) => unit.content,
        UnitView::Id { id } => panic!("only the id of {id}"),
    };
    units.map(|scoped| content(scoped.memory_unit)).collect()
}

#[test]
fn a_client_neither_doubles_nor_loses_anything_when_the_server_is_killed() {
    let data = TempDir::new().unwrap();
    let mut server = Settings::dev(data.path()).start();
    let address = server.address.to_string();
    let again = Settings::dev(data.path()).argument("--listen").argument(&address);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let field = Field::connect(format!("http://{address}")).retry(PATIENT).build().unwrap();
    let pushes = runtime.block_on(async {
        for name in (0..WRITERS).map(|n| format!("writer-{n}")).chain(["watcher".to_owned()]) {
            field.agent(&name, "writer").unwrap().register().await.unwrap();
        }
        let watcher = field.agent("watcher", "watcher").unwrap();
        let subscription = watcher.subscribe([SubscriptionEvent::MemoryRecorded]).await.unwrap();
        watcher.pushes(&subscription)
    });
    let listening = runtime.spawn(listen(pushes));
    let done = Arc::new(AtomicUsize::new(0));
    let writing: Vec<_> = (0..WRITERS)
        .map(|writer| runtime.spawn(write(field.clone(), writer, Arc::clone(&done))))
        .collect();
    for kill in 1..=KILLS {
        let reached = kill * WRITERS * EACH / (KILLS + 1);
        wait_until(300, "enough is recorded", || {
            (done.load(Ordering::SeqCst) >= reached).then_some(())
        });
        server.kill();
        server = again.start();
    }
    runtime.block_on(async {
        for writer in writing {
            writer.await.unwrap();
        }
        let expected = WRITERS * EACH;
        let found = contents(&field).await;
        assert_eq!(found.len(), expected, "{found:?}");
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), expected, "{found:?}");
        let told = listening.await.unwrap();
        assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), expected, "{told:?}");
    });
    drop(server);
}
