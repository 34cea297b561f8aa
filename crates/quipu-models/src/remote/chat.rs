//! `/chat/completions` of an endpoint: an instruction and a text, and what the model writes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{endpoint::Endpoint, error::CallError};
use crate::limits::{CHAT_TEXT_CHARS_MAX, PROMPT_CHARS_MAX};

#[derive(Debug, Clone)]
pub struct ChatModel(Arc<Endpoint>);

/// No option of sampling is sent: endpoints differ in which they take.
#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Debug, Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: Written,
}

#[derive(Debug, Deserialize)]
struct Written {
    content: Option<String>,
}

impl ChatModel {
    #[must_use]
    pub const fn new(endpoint: Arc<Endpoint>) -> Self {
        Self(endpoint)
    }

    #[must_use]
    pub fn name(&self) -> &str {
        self.0.model()
    }

    /// What the model writes: no control characters but ends of lines, and never empty.
    pub(super) fn ask(&self, instruction: &str, text: &str) -> Result<String, CallError> {
        let text = text.get(..text.floor_char_boundary(PROMPT_CHARS_MAX)).unwrap_or(text);
        let messages = [
            Message { role: "system", content: instruction },
            Message { role: "user", content: text },
        ];
        let request = Request { model: self.0.model(), messages, stream: false };
        let answer: Answer = self.0.call("/chat/completions", &request)?;
        let written = answer.choices.into_iter().next().and_then(|choice| choice.message.content);
        let mut written = written.unwrap_or_default();
        written.retain(|letter| letter == '\n' || !letter.is_control());
        let written = written.trim();
        if written.is_empty() {
            return Err(self.0.distrust("the answer has no text".to_owned()));
        }
        if written.len() > CHAT_TEXT_CHARS_MAX {
            return Err(self.0.distrust(format!("a text of {} bytes", written.len())));
        }
        Ok(written.to_owned())
    }
}
