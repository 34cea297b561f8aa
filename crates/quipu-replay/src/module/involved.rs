//! Refuses a source whose expressions would take the compiler deeper than its stack. It bounds brackets itself; a
//! long row of operators, calls or members it does not, and an overflowing stack ends the process. Works on the
//! kernel's own tokens, so that strings and comments are what they are there.

use harn_lexer::{Lexer, StringSegment, Token, TokenKind};

use super::limits::{CHAIN_MAX, INTERPOLATION_COST};

/// The line of the first expression that is too involved; nothing if there is none. What cannot be read at all is
/// left to the compiler, which says so.
pub(super) fn too_involved(source: &str) -> Option<usize> {
    Chains::default().first_too_involved(source)
}

/// The expressions around a place: for each open bracket, how much hangs together at that level so far.
#[derive(Default)]
struct Chains {
    levels: Vec<usize>,
    /// The sum of `levels`: how deep the tree is at this place at most.
    depth: usize,
    /// How many of `levels` belong to texts around this one.
    floor: usize,
}

impl Chains {
    fn first_too_involved(&mut self, source: &str) -> Option<usize> {
        let tokens = Lexer::new(source).tokenize().ok()?;
        let outer = std::mem::replace(&mut self.floor, self.levels.len());
        self.levels.push(0);
        for (index, token) in tokens.iter().enumerate() {
            if let TokenKind::InterpolatedString(segments) = &token.kind
                && let Some(line) = self.first_in_text(segments)
            {
                return Some(line);
            }
            if self.takes_too_much(&tokens, index) {
                return Some(token.span.line);
            }
        }
        self.depth -= self.levels.drain(self.floor..).sum::<usize>();
        self.floor = outer;
        None
    }

    /// Expressions in a text are parsed inside of whatever is around it.
    fn first_in_text(&mut self, segments: &[StringSegment]) -> Option<usize> {
        for segment in segments {
            let StringSegment::Expression(source, line, _) = segment else { continue };
            self.depth += INTERPOLATION_COST;
            let found = self.depth > CHAIN_MAX || self.first_too_involved(source).is_some();
            self.depth -= INTERPOLATION_COST;
            if found {
                return Some(*line);
            }
        }
        None
    }

    /// Takes the next token, and says whether the tree is too deep with it.
    fn takes_too_much(&mut self, tokens: &[Token], index: usize) -> bool {
        let kind = &tokens[index].kind;
        if opens(kind) {
            self.add();
            self.levels.push(0);
        } else if closes(kind) {
            self.close();
        } else if ends(kind) || *kind == TokenKind::Newline && !goes_on(tokens, index) {
            self.reset();
        } else if hangs_on(kind) {
            self.add();
        }
        self.depth > CHAIN_MAX
    }

    fn add(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            *level += 1;
            self.depth += 1;
        }
    }

    fn reset(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.depth -= std::mem::take(level);
        }
    }

    /// A bracket that nothing opened closes nothing; the compiler refuses it.
    fn close(&mut self) {
        self.reset();
        if self.levels.len() > self.floor + 1 {
            self.levels.pop();
        }
    }
}

fn opens(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::LBrace | TokenKind::LParen | TokenKind::LBracket)
}

fn closes(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket)
}

fn ends(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Comma | TokenKind::Semicolon | TokenKind::Eof)
}

/// Whether a token makes the tree deeper: all that is no operand, no bracket and no separator. A keyword in the
/// middle of an expression counts too; one at the beginning of a statement costs that statement nothing that matters.
fn hangs_on(kind: &TokenKind) -> bool {
    !matches!(
        kind,
        TokenKind::Identifier(_)
            | TokenKind::StringLiteral(_)
            | TokenKind::InterpolatedString(_)
            | TokenKind::RawStringLiteral(_)
            | TokenKind::IntLiteral(_)
            | TokenKind::FloatLiteral(_)
            | TokenKind::DurationLiteral(_)
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Nil
            | TokenKind::Newline
            | TokenKind::LineComment { .. }
            | TokenKind::BlockComment { .. }
    )
}

/// Whether the expression before a line's end may go on behind it: where the line ends in an operator, or the next
/// begins with one.
fn goes_on(tokens: &[Token], newline: usize) -> bool {
    let is_space = |kind: &TokenKind| {
        let comment =
            matches!(kind, TokenKind::LineComment { .. } | TokenKind::BlockComment { .. });
        comment || *kind == TokenKind::Newline
    };
    let says = |token: &Token| !is_space(&token.kind);
    let before = tokens[..newline].iter().rev().find(|token| says(token));
    let after = tokens[newline..].iter().find(|token| says(token));
    let waits = |kind: &TokenKind| hangs_on(kind) && !closes(kind) && !opens(kind);
    before.is_some_and(|token| waits(&token.kind))
        || after.is_some_and(|token| waits(&token.kind) && !begins(&token.kind))
}

/// Whether a keyword can only begin something new.
fn begins(kind: &TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Let
            | TokenKind::Const
            | TokenKind::Var
            | TokenKind::If
            | TokenKind::For
            | TokenKind::While
            | TokenKind::Match
            | TokenKind::Return
            | TokenKind::Throw
            | TokenKind::Try
            | TokenKind::Fn
            | TokenKind::Pub
            | TokenKind::Guard
            | TokenKind::Break
            | TokenKind::Continue
            | TokenKind::Eof
    )
}
