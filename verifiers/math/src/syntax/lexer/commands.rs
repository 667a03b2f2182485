//! Tokens that begin with a backslash: commands of LaTeX, escapes, environments.

use super::Lexer;
use crate::stop::Stop;
use crate::syntax::commands::Command;
use crate::syntax::token::{Tok, relates};
use crate::syntax::{commands, environments, unit_reader};

/// The longest argument that is dropped, in bytes.
const ARGUMENT_MAX: usize = 256;

impl<'a> Lexer<'a> {
    pub(crate) fn command(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let tail = &rest[1..];
        if tail.starts_with('\\') {
            return self.backslashes(tail);
        }
        let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        if end == 0 {
            return self.escaped(tail);
        }
        let name = &tail[..end];
        match commands::command(name) {
            Command::Tok(tok) => self.push(tok, 1 + end),
            Command::Letter => self.push(Tok::Letter(name), 1 + end),
            Command::Skip if name == "cr" && self.rows > 0 => self.push(Tok::Row, 1 + end),
            Command::Skip => {
                self.at += 1 + end;
                // `\left.` and `\right.` are empty delimiters.
                let bracket = matches!(name, "left" | "right");
                self.at += usize::from(bracket && self.rest().starts_with('.'));
                if matches!(name, "SI" | "qty" | "num") && self.rest().starts_with('[') {
                    self.at += self.rest().find(']').map_or(0, |at| at + 1);
                }
                if matches!(name, "mathbb" | "Bbb") {
                    self.blackboard();
                }
            }
            Command::Prose => {
                self.at += 1 + end;
                self.prose();
            }
            Command::Drop => {
                self.at += 1 + end;
                self.dropped()?;
            }
            Command::Begin => self.environment(1 + end),
            Command::End => {
                self.rows = self.rows.saturating_sub(1);
                let close = tail.find('}').ok_or(Stop::Unreadable)?;
                self.push(Tok::End, close + 2);
            }
            Command::Unknown => return self.split_command(name),
        }
        Ok(())
    }

    /// Skips arguments without meaning: a color, a width, a label.
    fn dropped(&mut self) -> Result<(), Stop> {
        for (open, close) in [('*', "*"), ('[', "]"), ('{', "}")] {
            let rest = self.rest();
            let tail = rest.trim_start();
            let near = tail.get(..ARGUMENT_MAX).unwrap_or(tail);
            if tail.starts_with(open)
                && let Some(end) = near.find(close)
            {
                // White text cannot be seen.
                if near.get(..end).is_some_and(|said| said.contains("white")) {
                    return Err(Stop::Unreadable);
                }
                self.at += rest.len() - tail.len() + end + 1;
            }
        }
        Ok(())
    }

    /// The real numbers; other sets stay letters.
    fn blackboard(&mut self) {
        let rest = self.rest();
        if rest.trim_start().starts_with("{R}") {
            self.push(Tok::Reals, rest.len() - rest.trim_start().len() + 3);
        } else if rest.trim_start().starts_with('R') {
            self.push(Tok::Reals, rest.len() - rest.trim_start().len() + 1);
        }
    }

    /// `\pir`, `\cdotx`: a known command with letters attached.
    fn split_command(&mut self, name: &'a str) -> Result<(), Stop> {
        for end in (2..name.len()).rev() {
            let head = &name[..end];
            if let Command::Tok(tok @ (Tok::Pi | Tok::Times | Tok::Frac)) = commands::command(head)
            {
                self.push(tok, 1 + end);
                return Ok(());
            }
            if matches!(head, "quad" | "qquad") {
                self.at += 1 + end;
                return Ok(());
            }
        }
        if !self.tokens.is_empty() && unit_reader::is_command(name) {
            self.push(Tok::Word(name), 1 + name.len());
            return Ok(());
        }
        if self.is_operand(name) {
            self.push(Tok::Letter(name), 1 + name.len());
            return Ok(());
        }
        Err(Stop::Unreadable)
    }

    /// Whether an unknown command is a term of a relation: then it is a name. No operator has signs
    /// on both sides.
    fn is_operand(&self, name: &str) -> bool {
        let before = self.tokens.last().map(|token| token.tok);
        let rest = &self.rest()[1 + name.len()..];
        let after = rest.trim_start_matches(['$', ' ']);
        let related = after.starts_with(['=', '<', '>']);
        let opens =
            matches!(before, None | Some(Tok::Plus | Tok::Minus)) || before.is_some_and(relates);
        let closes = related || after.is_empty() || after.starts_with(['+', '-']);
        opens && closes && (self.related || related) && !commands::is_sign(name)
    }

    /// `\\`: a new row, or a backslash that was escaped once too often.
    fn backslashes(&mut self, tail: &str) -> Result<(), Stop> {
        let letters =
            tail.get(1..).is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()));
        if self.rows > 0 && !(letters && tail.get(1..).is_some_and(|t| t.starts_with("end{"))) {
            self.push(Tok::Row, 2);
            self.skip_gap();
        } else if letters {
            self.at += 1;
            return self.command();
        } else {
            self.at += 1 + usize::from(
                !tail.get(1..).is_some_and(|t| t.starts_with(['{', '}', '%', '$'])),
            );
        }
        Ok(())
    }

    /// Skips the gap below a row: `\\[4pt]`.
    fn skip_gap(&mut self) {
        let gap = self.rest().strip_prefix('[').and_then(|inner| inner.split_once(']'));
        if let Some((gap, _)) = gap.filter(|(gap, _)| environments::is_gap(gap)) {
            self.at += gap.len() + 2;
        }
    }

    pub(crate) fn escaped(&mut self, tail: &str) -> Result<(), Stop> {
        let Some(first) = tail.chars().next() else {
            // The space of `\ ` was trimmed.
            self.at += 1;
            return Ok(());
        };
        match first {
            '$' => self.push(Tok::Currency("dollar"), 2),
            '{' => self.push(Tok::LSet, 2),
            '}' => self.push(Tok::RSet, 2),
            '%' => self.push(Tok::Percent, 2),
            '|' => self.push(Tok::Bar, 2),
            '(' | ')' | '[' | ']' | ',' | '!' | ';' | ':' | ' ' | '/' | '#' | '&' | '\n' => {
                self.at += 2;
            }
            '_' => self.push(Tok::Under, 2),
            _ => return Err(Stop::Unreadable),
        }
        Ok(())
    }

    /// Notes where the argument of `\text{}` ends.
    pub(crate) fn prose(&mut self) {
        let rest = self.rest();
        let lead = rest.len() - rest.trim_start().len();
        if !rest.trim_start().starts_with('{') || self.prose_end > self.at {
            return;
        }
        let mut depth = 0usize;
        for (at, byte) in rest.bytes().enumerate().skip(lead) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.prose_end = self.at + at + 1;
                self.at += lead + 1;
                return;
            }
        }
        // Never closed: the rest is text. Searching again would take quadratic time.
        self.prose_end = self.text.len();
        self.at += lead + 1;
    }

    fn environment(&mut self, skip: usize) {
        let rest = self.rest();
        let name = rest.get(skip..).and_then(|tail| {
            let tail = tail.trim_start().strip_prefix('{')?;
            tail.find('}').and_then(|end| tail.get(..end))
        });
        let name = name.unwrap_or_default();
        let close = rest.find('}').map_or(rest.len(), |at| at + 1);
        self.rows += 1;
        self.push(Tok::Begin(name), close);
        if name.ends_with("matrix*") && self.rest().starts_with('[') {
            self.at += self.rest().find(']').map_or(0, |at| at + 1);
        }
        // The column specification of an array.
        if name == "array" && self.rest().starts_with('{') {
            self.at += self.rest().find('}').map_or(0, |at| at + 1);
        }
    }
}
