//! A sentence transformer in a directory, as [`Embedder`]: BERT's own files, read when the server
//! starts, run on the processor, on the thread of whoever asks.

use std::{fs, io, path::Path};

use quipu_recall::embed::{EmbedError, Embedder, WordPiece};
use sha2::{Digest, Sha256};

use super::{config::Shape, encoder::Encoder, error::DirectoryError, safetensors::Safetensors};
use crate::limits::LOCAL_BATCH_TOKENS;

#[derive(Debug)]
pub struct LocalModel {
    id: String,
    shape: Shape,
    words: WordPiece,
    first: u32,
    last: u32,
    encoder: Encoder,
}

impl LocalModel {
    /// Reads `config.json`, `vocab.txt` and `model.safetensors`, and, where they are there,
    /// `sentence_bert_config.json` and `1_Pooling/config.json`.
    pub fn open(directory: &Path) -> Result<Self, DirectoryError> {
        let shape = Shape::read(directory)?;
        let path = directory.join("vocab.txt");
        let vocabulary = fs::read_to_string(&path)
            .map_err(|source| DirectoryError::Unreadable { path: path.clone(), source })?;
        let lines = vocabulary.lines().count();
        if lines != shape.vocabulary {
            let reason =
                format!("it has {lines} tokens, and config.json says {}", shape.vocabulary);
            return Err(DirectoryError::Wrong { path, reason });
        }
        let words = WordPiece::new(vocabulary.lines());
        let special = |token: &str| {
            words
                .id(token)
                .ok_or_else(|| DirectoryError::wrong(&path, format!("it has no {token}")))
        };
        let (first, last) = (special("[CLS]")?, special("[SEP]")?);
        let weights = directory.join("model.safetensors");
        let encoder = Encoder::read(Safetensors::open(&weights)?, shape)?;
        let hash = fingerprint(&weights, &vocabulary, &shape)
            .map_err(|source| DirectoryError::Unreadable { path: weights, source })?;
        let id = format!("bert-{}x{}-{hash}", shape.layers, shape.hidden);
        Ok(Self { id, shape, words, first, last, encoder })
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = vec![self.first];
        tokens.extend(self.words.ids(text, self.shape.tokens_max - 2));
        tokens.push(self.last);
        tokens
    }
}

/// A hash of everything that changes the vectors, which becomes part of the name.
fn fingerprint(weights: &Path, vocabulary: &str, shape: &Shape) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(weights)?, &mut HashWriter(&mut hash))?;
    hash.update(vocabulary);
    hash.update(format!("{shape:?}"));
    let digest = hash.finalize();
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Embedder for LocalModel {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.shape.hidden
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut batch = Vec::new();
        let mut tokens = 0;
        for text in texts {
            let text = self.tokens(text);
            if tokens + text.len() > LOCAL_BATCH_TOKENS {
                vectors.extend(self.encoder.encode(&std::mem::take(&mut batch)));
                tokens = 0;
            }
            tokens += text.len();
            batch.push(text);
        }
        vectors.extend(self.encoder.encode(&batch));
        Ok(vectors)
    }
}
