//! The keys as they are written, wherever they are kept: one document, read whole and replaced whole.

use serde::{Deserialize, Serialize};

use super::key::StoredKey;

const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    keys: Vec<StoredKey>,
}

pub(super) fn decode(text: &[u8]) -> Result<Vec<StoredKey>, String> {
    let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if document.format != FORMAT {
        let found = document.format;
        return Err(format!("format {found} is not the {FORMAT} that is known here"));
    }
    Ok(document.keys)
}

/// Writes the keys for people to look at.
pub(super) fn encode_pretty(keys: Vec<StoredKey>) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(&Document { format: FORMAT, keys })?;
    text.push(b'\n');
    Ok(text)
}

/// Writes the keys in few bytes.
pub(super) fn encode(keys: Vec<StoredKey>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Document { format: FORMAT, keys })
}

/// Adds the keys of `others` to `keys`. A key that is in both is revoked if either says so. Says whether anything changed.
pub(super) fn unite(keys: &mut Vec<StoredKey>, others: &[StoredKey]) -> bool {
    let mut changed = false;
    for other in others {
        match keys.iter_mut().find(|key| key.info.id == other.info.id) {
            None => keys.push(other.clone()),
            Some(key) if key.info.revoked_at_ms.is_none() && other.info.revoked_at_ms.is_some() => {
                key.info.revoked_at_ms = other.info.revoked_at_ms;
            }
            Some(_) => continue,
        }
        changed = true;
    }
    changed
}
