//! Why a reply is not a verdict.

use crate::judge::JudgeReply;

/// Why a reply is not a verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// It holds no verdict of the shape that was asked for.
    #[error("the reply of the judge holds no verdict: {0}")]
    NoVerdict(String),
    /// It ended at its greatest length.
    #[error("the reply of the judge was cut at its greatest length, before a verdict")]
    Cut,
    /// It holds two verdicts, and takes back neither.
    #[error("the reply of the judge holds verdicts that disagree")]
    Disagree,
    /// What holds a verdict was copied from the material.
    #[error("the reply of the judge repeats the material and holds no verdict of its own")]
    Echo,
    /// The judge refused.
    #[error("the judge refused to answer")]
    Refused,
}

impl ReplyError {
    /// The error of a reply of which nothing was read. `echoed`: what was found in it was copied.
    pub(super) fn of(reply: &JudgeReply, text: &str, echoed: bool) -> Self {
        match reply.finish_reason.as_str() {
            _ if echoed => Self::Echo,
            "refusal" | "content_filter" => Self::Refused,
            _ => Self::NoVerdict(beginning(text)),
        }
    }
}

fn beginning(text: &str) -> String {
    match text.trim() {
        "" => "it is empty".to_owned(),
        text => format!("\"{}\"", text.chars().take(80).collect::<String>().escape_debug()),
    }
}
