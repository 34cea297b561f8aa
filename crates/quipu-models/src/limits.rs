//! The limits for using a model, local or remote.

use std::time::Duration;

/// The largest header of a safetensors file that is read.
pub(crate) const TENSOR_HEADER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Tokens that the local model works on at a time: enough to pay for loading its weights.
pub(crate) const LOCAL_BATCH_TOKENS: usize = 512;

/// Texts that one request to an embeddings endpoint carries.
pub(crate) const EMBED_BATCH_TEXTS: usize = 64;
/// Characters of one text that are sent to an embeddings endpoint; most models read less.
pub(crate) const EMBED_TEXT_CHARS_MAX: usize = 8 * 1024;
pub(crate) const DIMENSIONS_MAX: usize = 8192;
/// The largest answer that is read: 64 vectors of 8192 numbers, written out.
pub(crate) const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of an endpoint's error text that are kept for the log.
pub(crate) const REASON_BYTES_MAX: usize = 200;
/// How often one request is sent at most.
pub(crate) const ATTEMPTS: u32 = 3;
/// The first pause between attempts; each next one is twice as long.
pub(crate) const BACKOFF: Duration = Duration::from_millis(200);
/// The longest pause that an endpoint may ask for within one call; asked for more, we give up.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(5);
/// Calls in a row that fail before an endpoint is left alone.
pub(crate) const BREAKER_FAILURES: u32 = 3;
/// How long an endpoint is not called after failures, at first.
pub(crate) const BREAKER_PAUSE: Duration = Duration::from_secs(2);
pub(crate) const BREAKER_PAUSE_MAX: Duration = Duration::from_secs(60);
pub(crate) const CHAT_TEXT_CHARS_MAX: usize = 16 * 1024;
/// The longest reason that a judge may give.
pub(crate) const RULING_CHARS_MAX: usize = 500;
/// The longest text that a chat model is given.
pub(crate) const PROMPT_CHARS_MAX: usize = 48 * 1024;
