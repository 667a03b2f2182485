//! The samples of a log, a line each, without the members that nobody reads.

use super::super::elements::Elements;
use super::LogFormat;
use super::members::{Members, Place};

/// The samples of a file that is one object: the elements of one of its members.
pub(in super::super) struct Samples {
    format: &'static LogFormat,
    members: Members,
    list: Option<Elements>,
    lines: Vec<u8>,
    slim: Slim,
}

impl Samples {
    pub(in super::super) fn new(format: &'static LogFormat) -> Self {
        let slim = Slim::new(&format.drop);
        Self { format, members: Members::default(), list: None, lines: Vec::new(), slim }
    }

    /// The format of the log.
    pub(in super::super) fn format(&self) -> &'static LogFormat {
        self.format
    }

    /// Why the log is not whole, once all of it was read.
    pub(in super::super) fn defect(&self, rows: u64) -> Option<String> {
        let (tool, list) = (self.format.name(), &self.format.rows);
        if !self.members.has_ended() {
            return Some(format!(
                "a log of {tool} that has no end after sample {rows}; it was cut, or is still written"
            ));
        }
        let none = format!(
            "a log of {tool} without \"{list}\": it ended before the first sample, or holds the header \
             alone; name the log with its samples"
        );
        self.list.is_none().then_some(none)
    }

    pub(in super::super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            let place = self.members.step(*byte);
            if place != Place::Value || self.members.key() != self.format.rows.as_bytes() {
                continue;
            }
            if self.list.is_none() && *byte == b'[' {
                self.list = Some(Elements::default());
            }
            if let Some(list) = self.list.as_mut().filter(|list| list.is_open()) {
                list.push(&[*byte], &mut self.lines);
            }
        }
        self.slim.push(&self.lines, out);
        self.lines.clear();
    }
}

/// Passes lines on, with null in the place of the members that nobody reads.
pub(super) struct Slim {
    drop: &'static [String],
    members: Members,
    is_dropped: bool,
}

impl Slim {
    pub(super) fn new(drop: &'static [String]) -> Self {
        Self { drop, members: Members::default(), is_dropped: false }
    }

    /// Starts with the next sample.
    pub(super) fn restart(&mut self) {
        (self.members, self.is_dropped) = (Members::default(), false);
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            if *byte == b'\n' {
                self.restart();
                out.push(b'\n');
                continue;
            }
            let was_within = self.members.is_within();
            let place = self.members.step(*byte);
            if self.is_dropped && place == Place::Value {
                continue;
            }
            self.is_dropped = false;
            out.push(*byte);
            let key = self.members.key();
            if self.members.is_within()
                && !was_within
                && self.drop.iter().any(|own| own.as_bytes() == key)
            {
                self.is_dropped = true;
                out.extend_from_slice(b"null");
            }
        }
    }
}
