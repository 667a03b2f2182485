//! One line of a record: a request by its digest, and the reply or the fault.

use std::borrow::Cow;

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::prelude::*;
use serde::de::IgnoredAny;

use super::super::{JudgeReply, Subject};

/// A line as it is written.
#[derive(Serialize)]
struct Written<'a> {
    request: &'a str,
    judge: &'a Value,
    subject: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a JudgeReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<RecordedFault<'a>>,
}

/// A line as it is read.
#[derive(Deserialize)]
struct Read<'a> {
    reply: Option<JudgeReply>,
    #[serde(default, borrow)]
    fault: Option<RecordedFault<'a>>,
}

/// As much of a line as the index needs.
#[derive(Deserialize)]
struct Indexed<'a> {
    #[serde(borrow)]
    request: Cow<'a, str>,
    reply: Option<IgnoredAny>,
    fault: Option<IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
struct RecordedFault<'a> {
    kind: FaultKind,
    why: Cow<'a, str>,
}

/// What is kept of a question.
pub(super) struct Entry<'a> {
    pub(super) request: &'a Digest,
    pub(super) judge: &'a Value,
    pub(super) subject: &'a Subject,
    pub(super) answer: &'a Result<JudgeReply, Fault>,
}

impl Entry<'_> {
    /// The line, with its end.
    pub(super) fn line(&self) -> Result<Vec<u8>, serde_json::Error> {
        let criterion = &self.subject.criterion;
        let written = Written {
            request: &canonical::hex(self.request),
            judge: self.judge,
            subject: if self.subject.swapped {
                Cow::Owned(format!("{criterion} (swapped)"))
            } else {
                Cow::Borrowed(criterion)
            },
            reply: self.answer.as_ref().ok(),
            fault: self
                .answer
                .as_ref()
                .err()
                .map(|fault| RecordedFault { kind: fault.kind, why: Cow::Borrowed(&fault.why) }),
        };
        let mut line = serde_json::to_vec(&written)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The digest of a line, and whether it holds a reply and not a fault.
pub(super) fn index(line: &[u8]) -> Result<(Digest, bool), String> {
    let read: Indexed<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let digest = digest_of(&read.request).ok_or("`request` is not a SHA-256 in hexadecimal")?;
    match (read.reply, read.fault) {
        (Some(_), None) => Ok((digest, true)),
        (None, Some(_)) => Ok((digest, false)),
        _ => Err("expected exactly one of `reply` and `fault`".to_owned()),
    }
}

/// What a line answers.
pub(super) fn answer(line: &[u8]) -> Result<Result<JudgeReply, Fault>, String> {
    let read: Read<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match (read.reply, read.fault) {
        (Some(reply), None) => Ok(Ok(reply)),
        (None, Some(fault)) => Ok(Err(Fault::new(fault.kind, fault.why.into_owned()))),
        _ => Err("expected exactly one of `reply` and `fault`".to_owned()),
    }
}

fn digest_of(hex: &str) -> Option<Digest> {
    let nibbles: Option<Vec<u32>> = hex.chars().map(|char| char.to_digit(16)).collect();
    let bytes = nibbles?
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high << 4 | low).ok(),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()?;
    bytes.try_into().ok()
}
