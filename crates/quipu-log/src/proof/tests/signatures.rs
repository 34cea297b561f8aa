//! Keys, notes and checkpoints: the specification's example, a golden text, and everything that is refused.
//! The golden texts were made by another implementation (Python with its `cryptography` package).

use proptest::prelude::*;
use quipu_wire::hash::Hash;

use crate::proof::{
    CheckpointError, Frontier, KeyError, KeyName, KeyNameError, LeafHash, NOTE_BYTES_MAX, Note,
    NoteError, SIGNATURES_MAX, SignedCheckpoint, SigningKey, TreeHead, VerifierKey,
};

const SECRET: &str =
    "PRIVATE+KEY+quipu.example/default+20a71ca1+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const PUBLIC: &str = "quipu.example/default+20a71ca1+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";
const GOLDEN: &str = "\
quipu.example/default
5
PLsu7yjik5i5UodNsLH+ezDFl81KykwyF+rocngwutE=

\u{2014} quipu.example/default IKccoR9L3JNhtic8V7qxBz1YhU+c5rD9GUF+dIL8DxVIv4/gmyrZbzXCaWEIl2wcYrmZ/WSBaMZcoLZz3uOaGNDHbwQ=
";

const SPEC_KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const SPEC_NOTE: &str = "\
This is an example message.

\u{2014} example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
";

fn key(name: &str, seed: u8) -> SigningKey {
    SigningKey::from_seed(name.parse().unwrap(), &[seed; 32])
}

fn public(key: &SigningKey) -> Vec<VerifierKey> {
    vec![key.verifier().clone()]
}

fn signature_line(text: &str, key: &SigningKey) -> String {
    let note = Note::sign(text.to_owned(), key).unwrap().to_string();
    note.rsplit_once("\n\n").unwrap().1.to_owned()
}

#[test]
fn writes_the_golden_checkpoint() {
    let key: SigningKey = SECRET.parse().unwrap();
    let leaves: Vec<_> =
        (1..=5).map(|n| LeafHash::of_commit(&Hash::of(format!("commit {n}").as_bytes()))).collect();
    let head = leaves.iter().collect::<Frontier>().head();
    let checkpoint = SignedCheckpoint::sign(head, &key);
    assert_eq!(checkpoint.to_string(), GOLDEN);
    let read: SignedCheckpoint = GOLDEN.parse().unwrap();
    assert_eq!(read, checkpoint);
    let said = read.verify(&[PUBLIC.parse().unwrap()]).unwrap();
    assert_eq!((said.origin.as_str(), said.head), ("quipu.example/default", head));
}

#[test]
fn verifies_the_example_of_the_specification() {
    let note: Note = SPEC_NOTE.parse().unwrap();
    let keys = [SPEC_KEY.parse().unwrap()];
    assert_eq!(note.verify(&keys).unwrap(), [&keys[0]]);
    assert_eq!(note.text(), "This is an example message.\n");
    assert_eq!(note.to_string(), SPEC_NOTE);
    assert_eq!(keys[0].to_string(), SPEC_KEY);
    let other: Note = SPEC_NOTE.replace("example m", "Example m").parse().unwrap();
    let name = keys[0].name().clone();
    assert_eq!(other.verify(&keys), Err(NoteError::BadSignature { name }));
}

#[test]
fn reads_back_both_halves_of_a_key() {
    let key: SigningKey = SECRET.parse().unwrap();
    assert_eq!(key.to_secret_text(), SECRET);
    assert_eq!(key.verifier().to_string(), PUBLIC);
    assert_eq!(PUBLIC.parse::<VerifierKey>().unwrap(), *key.verifier());
    assert_eq!(key.verifier().id(), 0x20a7_1ca1);
}

#[test]
fn never_shows_the_secret_in_debug_or_in_an_error() {
    let key: SigningKey = SECRET.parse().unwrap();
    assert_eq!(format!("{key:?}"), format!("SigningKey({PUBLIC})"));
    let secret = SECRET.rsplit_once('+').unwrap().1;
    for spoiled in [
        SECRET.replace("20a71ca1", "20a71ca2"),
        SECRET.replace("PRIVATE", "Private"),
        SECRET.replace("+AQAB", "+AgAB"),
        SECRET.replace("quipu.example/default", ""),
        format!("{SECRET}\n"),
    ] {
        let refused = spoiled.parse::<SigningKey>().unwrap_err();
        let shown = format!("{refused} {refused:?}");
        assert!(!shown.contains(&secret[4..20]), "{shown}");
    }
}

#[test]
fn refuses_a_public_key_with_any_byte_changed() {
    for at in 0..PUBLIC.len() {
        for change in [1, 2, 0x20] {
            let mut bytes = PUBLIC.as_bytes().to_vec();
            bytes[at] ^= change;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(changed.parse::<VerifierKey>().is_err(), "{changed}");
        }
    }
}

#[test]
fn says_what_is_wrong_with_a_key() {
    let name: KeyName = "a".parse().unwrap();
    // The neutral element of the curve as a key would accept signatures that nobody made.
    let weak = "a+00000000+AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(weak.parse::<VerifierKey>(), Err(KeyError::Weak { name: name.clone() }));
    let form = KeyError::Form { form: "name+id+key" };
    assert_eq!("a+00000000".parse::<VerifierKey>(), Err(form));
    let material = || KeyError::Material { name: name.clone() };
    assert_eq!("a+00000000+AQ==".parse::<VerifierKey>(), Err(material()));
    let other_algorithm = PUBLIC.replace("+AQ", "+BA");
    let refused = other_algorithm.parse::<VerifierKey>();
    assert!(matches!(refused, Err(KeyError::Material { .. })), "{refused:?}");
    let refused = PUBLIC.replace("20a71ca1", "20A71CA1").parse::<VerifierKey>();
    assert!(matches!(refused, Err(KeyError::Id { expected: 0x20a7_1ca1, .. })), "{refused:?}");
    let refused = " +00000000+AQ==".parse::<VerifierKey>();
    assert!(matches!(refused, Err(KeyError::Name(_))), "{refused:?}");
}

#[test]
fn refuses_names_that_would_not_read_back() {
    assert_eq!("".parse::<KeyName>(), Err(KeyNameError::Empty));
    for (name, character) in [
        ("a b", ' '),
        ("a+b", '+'),
        ("a\nb", '\n'),
        ("a\u{2003}b", '\u{2003}'),
        ("a\u{1}", '\u{1}'),
    ] {
        let refused = KeyNameError::Character { name: name.to_owned(), character };
        assert_eq!(name.parse::<KeyName>(), Err(refused));
    }
}

#[test]
fn passes_over_signatures_of_unknown_keys() {
    let (ours, stranger) = (key("a.example", 1), key("b.example", 2));
    // The same name with another key is another key.
    let rotated = key("a.example", 3);
    let text = "one\n\ntwo\n";
    let lines: String = [&stranger, &ours, &rotated].map(|key| signature_line(text, key)).concat();
    let note: Note = format!("{text}\n{lines}").parse().unwrap();
    assert_eq!(note.text(), text);
    assert_eq!(note.signatures().len(), 3);
    assert_eq!(note.verify(&public(&ours)).unwrap(), [ours.verifier()]);
    let both = [ours.verifier().clone(), rotated.verifier().clone()];
    assert_eq!(note.verify(&both).unwrap(), [&both[0], &both[1]]);
    let unknown = key("c.example", 4);
    assert_eq!(note.verify(&public(&unknown)), Err(NoteError::NotTrusted { trusted: 1 }));
    assert_eq!(note.verify(&[]), Err(NoteError::NotTrusted { trusted: 0 }));
}

#[test]
fn refuses_a_note_in_which_one_trusted_signature_is_wrong() {
    let (good, bad) = (key("a.example", 1), key("b.example", 2));
    let lines = [signature_line("text\n", &good), signature_line("other\n", &bad)].concat();
    let note: Note = format!("text\n\n{lines}").parse().unwrap();
    let keys = [good.verifier().clone(), bad.verifier().clone()];
    let name = bad.verifier().name().clone();
    assert_eq!(note.verify(&keys), Err(NoteError::BadSignature { name }));
    assert_eq!(note.verify(&public(&good)).unwrap(), [good.verifier()]);

    let line = signature_line("text\n", &good);
    let twice: Note = format!("text\n\n{line}{line}").parse().unwrap();
    let name = good.verifier().name().clone();
    assert_eq!(twice.verify(&public(&good)), Err(NoteError::SignedTwice { name }));
}

#[test]
fn limits_how_much_of_a_note_it_reads() {
    let line = signature_line("text\n", &key("a.example", 1));
    let most = format!("text\n\n{}", line.repeat(SIGNATURES_MAX));
    assert_eq!(most.parse::<Note>().unwrap().signatures().len(), SIGNATURES_MAX);
    assert_eq!(format!("{most}{line}").parse::<Note>(), Err(NoteError::TooManySignatures));
    let text = "a".repeat(NOTE_BYTES_MAX);
    let found = text.len() + 2 + line.len();
    let refused = format!("{text}\n\n{line}").parse::<Note>();
    assert_eq!(refused, Err(NoteError::TooLarge { found }));
    let refused = Note::sign(format!("{text}\n"), &key("a.example", 1));
    assert_eq!(refused, Err(NoteError::TooLarge { found }));
}

#[test]
fn refuses_what_is_not_a_note() {
    let line = signature_line("text\n", &key("a.example", 1));
    let open = line.trim_end();
    for (text, expected) in [
        (String::new(), NoteError::NoSignatures),
        ("text\n".to_owned(), NoteError::NoSignatures),
        ("text\n\n".to_owned(), NoteError::NoSignatures),
        (format!("text\n{line}"), NoteError::NoSignatures),
        (format!("text\n\n{open}"), NoteError::OpenLine),
        (format!("te\txt\n\n{line}"), NoteError::ControlCharacter { character: '\t' }),
        (format!("text\r\n\n{line}"), NoteError::ControlCharacter { character: '\r' }),
    ] {
        assert_eq!(text.parse::<Note>(), Err(expected), "{text:?}");
    }
    for spoiled in [
        line.replace('\u{2014}', "-"),
        line.replace("\u{2014} ", "\u{2014}  "),
        line.replace("=\n", "\n"),
        line.replace(".example ", ".example  "),
        "\u{2014} a.example AAAAAA==\n".to_owned(),
        "\u{2014} a.example\n".to_owned(),
        format!("{line}more\n"),
    ] {
        assert_ne!(spoiled, line);
        assert!(format!("text\n\n{spoiled}").parse::<Note>().is_err(), "{spoiled:?}");
    }
    let key = key("a.example", 1);
    assert_eq!(Note::sign("text".to_owned(), &key), Err(NoteError::OpenLine));
    let bell = NoteError::ControlCharacter { character: '\u{7}' };
    assert_eq!(Note::sign("\u{7}\n".to_owned(), &key), Err(bell));
}

fn checkpoint_of(text: &str, key: &SigningKey) -> Result<SignedCheckpoint, CheckpointError> {
    Note::sign(text.to_owned(), key).unwrap().to_string().parse()
}

#[test]
fn refuses_what_is_not_a_checkpoint_even_if_it_is_signed() {
    let key = key("a.example", 1);
    let root = "PLsu7yjik5i5UodNsLH+ezDFl81KykwyF+rocngwutE=";
    for text in
        ["a.example\n5\n".to_owned(), format!("\n5\n{root}\n"), format!("a\n5\n{root}\n\nx\n")]
    {
        assert_eq!(checkpoint_of(&text, &key), Err(CheckpointError::Lines), "{text:?}");
    }
    for size in ["05", "-1", "five", "5 ", "18446744073709551616"] {
        let refused = checkpoint_of(&format!("a.example\n{size}\n{root}\n"), &key);
        assert_eq!(refused, Err(CheckpointError::Size { text: size.to_owned() }));
    }
    for wrong in [&root[..43], "PLsu", &root.replace("tE=", "tF=")] {
        let refused = checkpoint_of(&format!("a.example\n5\n{wrong}\n"), &key);
        assert_eq!(refused, Err(CheckpointError::Root { text: wrong.to_owned() }));
    }
    let refused = checkpoint_of(&format!("a.example\n0\n{root}\n"), &key);
    assert!(matches!(refused, Err(CheckpointError::EmptyRoot { .. })), "{refused:?}");
}

#[test]
fn keeps_the_lines_of_other_logs_that_it_does_not_know() {
    let key = key("a.example", 1);
    let root = "PLsu7yjik5i5UodNsLH+ezDFl81KykwyF+rocngwutE=";
    let text = format!("a.example\n5\n{root}\nmore to say\nand more\n");
    let checkpoint = checkpoint_of(&text, &key).unwrap();
    let said = checkpoint.verify(&public(&key)).unwrap();
    assert_eq!(said.extensions, ["more to say", "and more"]);
    assert_eq!(checkpoint.note().text(), text);
}

#[test]
fn refuses_a_checkpoint_that_a_key_of_another_log_signed() {
    let (ours, other) = (key("a.example", 1), key("b.example", 2));
    let text = SignedCheckpoint::sign(TreeHead::empty(), &ours).note().text().to_owned();
    let forged = checkpoint_of(&text, &other).unwrap();
    let both = [ours.verifier().clone(), other.verifier().clone()];
    let origin = "a.example".to_owned();
    assert_eq!(forged.verify(&both), Err(CheckpointError::Origin { origin }));
    let untrusted = CheckpointError::Note(NoteError::NotTrusted { trusted: 1 });
    assert_eq!(forged.verify(&public(&ours)), Err(untrusted));
}

proptest! {
    #[test]
    fn reads_back_any_note_that_it_signs(lines in prop::collection::vec("[^\\x00-\\x1f]*", 1..6), seed: u8) {
        let text = lines.join("\n") + "\n";
        let key = key("a.example/log", seed);
        let note = Note::sign(text, &key).unwrap();
        let read: Note = note.to_string().parse().unwrap();
        prop_assert_eq!(&read, &note);
        prop_assert!(read.verify(&public(&key)).is_ok());
    }

    #[test]
    fn takes_a_note_only_in_the_spelling_that_it_writes(text in "(\\PC|\n|\u{2014} a AAAAAAA=\n){0,40}") {
        if let Ok(note) = text.parse::<Note>() {
            prop_assert_eq!(note.to_string(), text);
        }
    }
}
