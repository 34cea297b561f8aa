//! The fenced blocks of a page: requests, and the answers that follow them.

/// A request of a page, as it stands there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) request: String,
    /// The block after it, if there is one.
    pub(super) answer: Option<String>,
    /// The line of the page at which the request begins.
    pub(super) line: usize,
}

/// The examples of a page. A `json` block that is no answer to a request is an error, because nobody
/// would notice that it is wrong.
pub(super) fn examples(page: &str) -> Result<Vec<Example>, String> {
    let mut examples: Vec<Example> = Vec::new();
    let mut open: Option<(String, String, usize)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.to_owned(), String::new(), number)),
            (Some(_), Some("")) => {
                let (kind, text, line) = open.take().unwrap_or_default();
                close(&mut examples, &kind, text, line)?;
            }
            (Some((_, text, _)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    Ok(examples)
}

fn close(examples: &mut Vec<Example>, kind: &str, text: String, line: usize) -> Result<(), String> {
    match (kind, examples.last_mut()) {
        ("http", _) => examples.push(Example { request: text, answer: None, line: line + 1 }),
        ("json" | "text", Some(last)) if last.answer.is_none() => last.answer = Some(text),
        ("json" | "text", _) => return Err(format!("line {line}: the answer to which request?")),
        _ => {}
    }
    Ok(())
}

impl Example {
    /// Method, path, headers and body.
    pub(super) fn parts(&self) -> (&str, &str, Vec<(&str, &str)>, &str) {
        let (head, body) = self.request.split_once("\n\n").unwrap_or((&self.request, ""));
        let mut lines = head.lines();
        let (method, path) = lines.next().and_then(|line| line.split_once(' ')).unwrap_or_default();
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        (method, path, headers, body)
    }
}

#[test]
fn finds_requests_with_their_answers_also_in_comments() {
    let page = "# P\n<!--\n```http\nPOST /a\nX: y\n\n{}\n```\n-->\n```sh\nls\n```\n```http\nGET /b\n```\nis\n```json\n{}\n```\n";
    let found = examples(page).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].parts(), ("POST", "/a", vec![("X", "y")], "{}\n"));
    assert_eq!((found[1].answer.as_deref(), found[1].line), (Some("{}\n"), 14));
    assert!(examples("```json\n{}\n```\n").is_err());
}
