//! Exit codes: the one table from what went wrong to what the shell sees.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use assay::data::{DataError, RowError, escape};
use assay::engine::runs::RunError;
use assay::engine::{ErrorFields, StreamError};
use assay::verifiers::code::Code;
use assay::{ConfigError, EngineError};

use serde_json::{Value, json};

use super::output;
use super::text::{inline, no_color};

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
    Usage(Code, String),
    /// Data, a run folder, or I/O.
    Run(Box<RunError>),
    /// Anything else that failed outside.
    Outside(Code, String),
}

impl Failure {
    /// Tells the user, and says how the process ends. With `--json` the last
    /// line is the error as data.
    pub(super) fn report(self, is_json: bool) -> Exit {
        let data = is_json.then(|| self.line());
        let exit = self.tell();
        if let Some(data) = data {
            output::note(&data);
        }
        exit
    }

    /// The line of JSON that says it.
    pub(super) fn line(&self) -> String {
        json!({ "error": self.data() }).to_string()
    }

    fn tell(self) -> Exit {
        match self {
            Self::Config(error) => {
                let is_styled = std::io::stderr().is_terminal() && !no_color();
                let renderer = if is_styled { Renderer::styled() } else { Renderer::plain() };
                let code = error.code.word();
                output::styled_note(&drawn(&error, code, Level::ERROR, &renderer));
                Exit::Usage
            }
            Self::Usage(code, message) => {
                output::note(&format!("error[{code}]: {message}"));
                Exit::Usage
            }
            Self::Run(error) => {
                output::note(&format!("error[{}]: {error}", error.code()));
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
            Self::Outside(code, message) => {
                output::note(&format!("error[{code}]: {message}"));
                Exit::Fault
            }
        }
    }

    /// The error as data: its code, its fields, the sentence. The keys are part of the contract.
    fn data(&self) -> Value {
        let code = match self {
            Self::Config(error) => {
                let (code, message, help) = (error.code, &error.message, &error.help);
                let fields = error.fields();
                return json!({ "code": code, "message": message, "help": help, "fields": fields });
            }
            Self::Usage(code, _) | Self::Outside(code, _) => *code,
            Self::Run(error) => error.code(),
        };
        let message = match self {
            Self::Usage(_, message) | Self::Outside(_, message) => message.clone(),
            Self::Run(error) => error.to_string(),
            Self::Config(error) => error.to_string(),
        };
        if let Self::Run(error) = self
            && let RunError::Stream(StreamError::Row(error)) = &**error
        {
            let (place, field) = (&error.place, error.field());
            let fields = json!({ "file": &*place.file, "row": place.row, "field": field });
            return json!({ "code": code, "message": message, "fields": fields });
        }
        let fields = match self {
            Self::Run(error) => error.fields(),
            _ => ErrorFields::default(),
        };
        if fields == ErrorFields::default() {
            return json!({ "code": code, "message": message });
        }
        json!({ "code": code, "message": message, "fields": fields })
    }

    /// What the user would be told.
    #[cfg(feature = "serve")]
    pub(super) fn text(self) -> String {
        match self {
            Self::Config(error) => {
                drawn(&error, error.code.word(), Level::ERROR, &Renderer::plain())
            }
            Self::Usage(_, message) | Self::Outside(_, message) => message,
            Self::Run(error) => error.to_string(),
        }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(Code::Usage, message.into())
    }

    /// A setting of a flag that is refused.
    pub(super) fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::Usage(code, message.into())
    }

    /// What failed outside.
    pub(super) fn outside(code: Code, message: impl Into<String>) -> Self {
        Self::Outside(code, message.into())
    }

    /// A file that cannot be written, or one of a run that cannot be read.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| RunError::Io { file: path.display().to_string(), source }.into()
    }

    /// A file or folder of the user that cannot be read.
    pub(super) fn unread(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| DataError::Read { file: escape(&path.display().to_string()), source }.into()
    }
}

/// An error in a configuration, or a warning, drawn with the place in its text.
pub(super) fn drawn(
    error: &ConfigError,
    code: &str,
    level: Level<'_>,
    renderer: &Renderer,
) -> String {
    let name = inline(error.name());
    let place: Element<'_> = match error.span() {
        Some(span) => Snippet::source(error.text())
            .path(name)
            .annotation(AnnotationKind::Primary.span(span))
            .into(),
        None => Origin::path(name).into(),
    };
    let title = level.primary_title(output::plain(&error.message));
    let report = title.id(code).element(place);
    let help = error.help.as_deref().map(|help| Level::HELP.message(output::plain(help)));
    renderer.render(&[report.elements(help)])
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

impl From<RowError> for Failure {
    fn from(error: RowError) -> Self {
        StreamError::Row(error).into()
    }
}

impl From<StreamError<io::Error>> for Failure {
    fn from(error: StreamError<io::Error>) -> Self {
        RunError::from(error).into()
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let is_io = error.chain().any(<dyn std::error::Error>::is::<io::Error>);
        let code = if is_io { Code::Unwritable } else { Code::Internal };
        Self::outside(code, format!("{error:#}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::outside(Code::Unwritable, error.to_string())
    }
}
