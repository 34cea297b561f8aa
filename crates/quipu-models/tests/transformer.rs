//! The local transformer against reference vectors from another implementation
//! (`tools/transformer/reference.py`), and directories that are no models.
#![cfg(test)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use quipu_models::LocalModel;
use quipu_recall::embed::Embedder;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
    vector: Vec<f32>,
}

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny-bert")
}

fn cases(directory: &Path) -> Vec<Case> {
    serde_json::from_slice(&fs::read(directory.join("expected.json")).unwrap()).unwrap()
}

fn agrees_with_the_reference(directory: &Path, tolerance: f32) {
    let model = LocalModel::open(directory).unwrap();
    let cases = cases(directory);
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let together = model.embed(&texts).unwrap();
    for (case, vector) in cases.iter().zip(&together) {
        assert_eq!(vector.len(), model.dimensions());
        let off = vector.iter().zip(&case.vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < tolerance, "{:?} is off by {off}", case.text);
        let alone = model.embed(&[&case.text]).unwrap();
        let apart = alone[0].iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "alone it differs by {apart}");
    }
}

#[test]
fn a_tiny_model_gives_the_vectors_of_the_reference() {
    agrees_with_the_reference(&tiny(), 1e-5);
}

/// Runs where a real model is at hand: `QUIPU_TEST_MODEL` names its directory, with the
/// `expected.json` that `reference.py vectors` wrote.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test may be told where the model is")]
fn a_real_model_gives_the_vectors_of_the_reference_if_there_is_one() {
    if let Ok(directory) = std::env::var("QUIPU_TEST_MODEL") {
        agrees_with_the_reference(Path::new(&directory), 1e-5);
    }
}

#[test]
fn no_texts_give_no_vectors() {
    assert!(LocalModel::open(&tiny()).unwrap().embed(&[]).unwrap().is_empty());
}

#[test]
fn odd_texts_give_vectors_of_length_one() {
    let model = LocalModel::open(&tiny()).unwrap();
    let long = "market ".repeat(20_000);
    let texts = ["", " ", "\0\u{202E}", "👩‍👧", "ابجد", "QmFzZTY0IGlzIG5vdCB0ZXh0", &long];
    for vector in model.embed(&texts).unwrap() {
        let length: f32 = vector.iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

/// A copy of the tiny model in which one file was changed.
fn broken(change: impl FnOnce(&Path)) -> String {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(tiny()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    assert!(LocalModel::open(copy.path()).is_ok());
    change(copy.path());
    LocalModel::open(copy.path()).unwrap_err().to_string()
}

#[test]
fn a_missing_file_is_named() {
    for name in ["config.json", "vocab.txt", "model.safetensors"] {
        let error = broken(|copy| fs::remove_file(copy.join(name)).unwrap());
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn weights_that_are_cut_off_are_refused() {
    let path = |copy: &Path| copy.join("model.safetensors");
    let cut = |share: f64| {
        broken(|copy| {
            let bytes = fs::read(path(copy)).unwrap();
            let kept = (f64::from(u32::try_from(bytes.len()).unwrap()) * share).floor();
            let kept = format!("{kept}").parse::<usize>().unwrap();
            fs::write(path(copy), &bytes[..kept]).unwrap();
        })
    };
    assert!(cut(0.5).contains("which the file does not have"));
    assert!(cut(0.01).contains("model.safetensors"));
    let empty = broken(|copy| fs::write(path(copy), b"").unwrap());
    assert!(empty.contains("model.safetensors"), "{empty}");
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    let error = broken(|copy| {
        let path = copy.join("model.safetensors");
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        fs::write(path, bytes).unwrap();
    });
    assert!(error.contains("not finite"), "{error}");
}

#[test]
fn a_directory_that_does_not_fit_together_is_refused_and_says_where() {
    for (file, from, to, said) in [
        ("config.json", "\"hidden_size\": 20", "\"hidden_size\": 24", "word_embeddings"),
        ("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", "encoder.layer.2"),
        (
            "config.json",
            "\"num_attention_heads\": 4",
            "\"num_attention_heads\": 3",
            "num_attention_heads",
        ),
        ("config.json", "\"gelu\"", "\"relu\"", "hidden_act is relu"),
        ("config.json", "\"bert\"", "\"t5\"", "model_type is t5"),
        ("config.json", "{", "", "config.json"),
        ("vocab.txt", "[CLS]", "[cls]", "no [CLS]"),
        ("vocab.txt", "market\n", "", "tokens"),
    ] {
        let error = broken(|copy| {
            let path = copy.join(file);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{from}");
            fs::write(path, text.replacen(from, to, 1)).unwrap();
        });
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn another_vocabulary_is_another_model() {
    let copy = tempfile::tempdir().unwrap();
    for name in ["config.json", "vocab.txt", "model.safetensors"] {
        fs::copy(tiny().join(name), copy.path().join(name)).unwrap();
    }
    let one = LocalModel::open(copy.path()).unwrap();
    let text = fs::read_to_string(copy.path().join("vocab.txt")).unwrap();
    fs::write(copy.path().join("vocab.txt"), text.replace("market", "bazaar")).unwrap();
    let other = LocalModel::open(copy.path()).unwrap();
    assert_ne!(one.model_id(), other.model_id());
}
