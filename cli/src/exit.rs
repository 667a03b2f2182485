//! Exit codes: the one table from what went wrong to what the shell sees.

use std::ops::Range;

use assay::data::DataError;
use assay::engine::StreamError;
use assay::engine::runs::RunError;
use assay::{ConfigError, EngineError};
use miette::{NamedSource, SourceSpan};

use super::output;
use super::text::inline;

/// Longer lines of a configuration are cut where an error is drawn.
const LINE_BYTES_MAX: usize = 1000;
/// What is kept of them on each side of the place.
const AROUND_BYTES: usize = 150;
/// What stands for the rest.
const CUT: &str = "…";

/// What the shell sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    /// Everything went well.
    Ok = 0,
    /// A threshold was missed, or a check of the data did not hold.
    Threshold = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// More faults than `--max-fault-rate`, data that cannot be read, or a failure of I/O.
    Fault = 3,
    /// SIGINT or SIGTERM; the run can go on.
    Interrupted = 130,
}

/// Why a command ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The configuration, with the place in it.
    Config(Box<ConfigError>),
    /// The command line, or a file that it names.
    Usage(String),
    /// Data, a run folder, or I/O.
    Run(Box<RunError>),
    /// Anything else that failed outside.
    Other(anyhow::Error),
}

impl Failure {
    /// Tells the user, and says how the process ends.
    pub(super) fn report(self) -> Exit {
        match self {
            Self::Config(error) => {
                output::styled_note(&format!("{:?}", miette::Report::new(Drawn::from(*error))));
                Exit::Usage
            }
            Self::Usage(message) => {
                output::note(&format!("error: {message}"));
                Exit::Usage
            }
            Self::Run(error) => {
                output::note(&format!("error: {error}"));
                match *error {
                    RunError::Locked { .. }
                    | RunError::Foreign { .. }
                    | RunError::Shards { .. }
                    | RunError::Data(DataError::NoColumn { .. } | DataError::NoRows { .. })
                    | RunError::Stream(StreamError::Data(
                        DataError::NoColumn { .. } | DataError::NoRows { .. },
                    )) => Exit::Usage,
                    RunError::Stopped => Exit::Interrupted,
                    RunError::Io { .. }
                    | RunError::Changed { .. }
                    | RunError::Data(_)
                    | RunError::Stream(_) => Exit::Fault,
                }
            }
            Self::Other(error) => {
                output::note(&format!("error: {error:#}"));
                Exit::Fault
            }
        }
    }

    /// What the user would be told.
    #[cfg(feature = "serve")]
    pub(super) fn text(self) -> String {
        match self {
            Self::Config(error) => format!("{:?}", miette::Report::new(Drawn::from(*error))),
            Self::Usage(message) => message,
            Self::Run(error) => error.to_string(),
            Self::Other(error) => format!("{error:#}"),
        }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }
}

/// An error in a configuration, drawn with the place in its text.
#[derive(Debug, miette::Diagnostic, thiserror::Error)]
#[error("{message}")]
struct Drawn {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    text: NamedSource<String>,
    #[label]
    span: Option<SourceSpan>,
}

/// The text of a configuration with `?` for every byte of a character that a terminal obeys: places in
/// it stay what they are.
fn same_length(text: &str) -> String {
    let line_ends = text.replace("\r\n", " \n");
    let mut shown = String::with_capacity(text.len());
    for char in line_ends.chars() {
        let mut own = [0; 4];
        let own = char.encode_utf8(&mut own);
        let is_kept = matches!(char, '\n' | '\t') || output::plain(own) == *own;
        shown.push_str(if is_kept { own } else { "????".get(..own.len()).unwrap_or_default() });
    }
    shown
}

/// The text with its long lines cut to what is around the place, and the place in it. Its number of
/// lines stays: whoever draws them counts them, and cannot draw a column beyond 65,535.
fn window(text: String, span: Option<Range<usize>>) -> (String, Option<Range<usize>>) {
    let is_long = |line: &str| line.len() > LINE_BYTES_MAX;
    if !text.lines().any(is_long) {
        return (text, span);
    }
    let (start, end) = span.clone().map_or((0, 0), |span| (span.start, span.end));
    let mut shown = String::with_capacity(text.len());
    let (mut at, mut from, mut until) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        let within = |place: usize| place.clamp(at, at + body.len()) - at;
        let (first, last) = (within(start), within(end));
        let kept = if is_long(body) {
            body.floor_char_boundary(first.saturating_sub(AROUND_BYTES))
                ..body.ceil_char_boundary(last.min(first + AROUND_BYTES) + AROUND_BYTES)
        } else {
            0..body.len()
        };
        let (lead, trail) = (kept.start > 0, kept.end < body.len());
        shown.push_str(if lead { CUT } else { "" });
        let place = |place: usize| shown.len() + place.clamp(kept.start, kept.end) - kept.start;
        if (at..=at + body.len()).contains(&start) {
            from = place(first);
        }
        if (at..=at + body.len()).contains(&end) {
            until = place(last);
        }
        shown.push_str(body.get(kept.clone()).unwrap_or_default());
        shown.push_str(if trail { CUT } else { "" });
        shown.push_str(line.get(body.len()..).unwrap_or_default());
        at += line.len();
    }
    (shown, span.map(|_| from..until.max(from)))
}

impl From<ConfigError> for Drawn {
    fn from(error: ConfigError) -> Self {
        let (text, span) = window(same_length(error.text()), error.span());
        Self {
            text: NamedSource::new(inline(error.name()), text),
            span: span.map(SourceSpan::from),
            message: output::plain(&error.message),
            help: error.help.as_deref().map(output::plain),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Config(error) => Self::Config(error),
            EngineError::Io(error) => error.into(),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        RunError::from(error).into()
    }
}

impl From<StreamError<std::io::Error>> for Failure {
    fn from(error: StreamError<std::io::Error>) -> Self {
        RunError::from(error).into()
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_its_place() {
        let line = format!("é{}bad{}", "x".repeat(70_000), "y".repeat(70_000));
        let text = format!("a\n{line}\nb {line}");
        for place in [text.find("bad"), text.rfind("bad")] {
            let start = place.unwrap_or_default();
            let (shown, span) = window(text.clone(), Some(start..start + 3));
            let span = span.unwrap_or_default();
            assert_eq!(shown.get(span.clone()), Some("bad"), "{shown}");
            assert_eq!(shown.lines().count(), 3);
            assert!(shown.lines().all(|line| line.len() <= LINE_BYTES_MAX), "{shown}");
            let before = |text: &str, at: usize| text.get(..at).map(|text| text.lines().count());
            assert_eq!(before(&shown, span.start), before(&text, start));
        }
        let (shown, span) = window(text.clone(), Some(0..text.len()));
        assert_eq!(span, Some(0..shown.len() - CUT.len()));
        assert_eq!(window("short".to_owned(), Some(1..2)), ("short".to_owned(), Some(1..2)));
        assert_eq!(window(line, None).1, None);
    }
}
