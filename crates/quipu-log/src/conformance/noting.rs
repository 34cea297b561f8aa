//! What notes promise. An engine without notes skips these.

use std::thread;

use super::factory::EngineFactory;
use crate::engine::{NOTE_BYTES_MAX, Note};

/// A note is replaced only by a writer that states its version; the largest allowed note is kept.
pub fn replaces_a_note_of_the_expected_version(factory: &dyn EngineFactory) {
    let engine = factory.open();
    let Some(notes) = engine.notes() else { return };
    assert_eq!(notes.get("keys").expect("get"), None);
    let first = notes.put("keys", 0, b"one").expect("put").expect("there was none");
    assert_eq!(notes.put("keys", 0, b"two").expect("put"), None);
    assert_eq!(notes.put("keys", first + 7, b"two").expect("put"), None);
    let one = Note { version: first, bytes: b"one".to_vec() };
    assert_eq!(notes.get("keys").expect("get"), Some(one));
    let large = vec![b'x'; NOTE_BYTES_MAX];
    let second = notes.put("keys", first, &large).expect("put").expect("the version is known");
    assert!(second > first, "versions rise");
    assert_eq!(notes.get("keys").expect("get").expect("a note").bytes, large);
    assert!(notes.put("keys", second, &vec![b'x'; NOTE_BYTES_MAX + 1]).is_err(), "too large");
    for wrong in ["", "a.b", "A", "a b", "*", ">"] {
        assert!(notes.put(wrong, 0, b"x").is_err(), "{wrong:?} is no name");
    }
    assert_eq!(notes.get("other").expect("get"), None);
}

/// Of many that make the same note one wins, and every engine sees its note.
pub fn lets_one_of_many_writers_of_a_note_win(factory: &dyn EngineFactory) {
    const WRITERS: u8 = 4;
    if factory.open().notes().is_none() || !factory.is_shared() {
        return;
    }
    let engines: Vec<_> = (0..WRITERS).map(|_| factory.open()).collect();
    let won: Vec<u8> = thread::scope(|scope| {
        let writers = engines.iter().zip(0..).map(|(engine, seed): (_, u8)| {
            scope.spawn(move || {
                let notes = engine.notes().expect("every engine has them");
                notes.put("first", 0, &[seed]).expect("put").map(|_| seed)
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().filter_map(|writer| writer.join().expect("it ends")).collect()
    });
    assert_eq!(won.len(), 1, "{won:?}");
    for engine in &engines {
        let note = engine.notes().expect("notes").get("first").expect("get").expect("a note");
        assert_eq!(note.bytes, won);
    }
}
