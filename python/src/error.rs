//! The exceptions of the package.

use std::ops::Range;

use assay::engine::ErrorFields;
use assay::trainer::TrainerError;
use assay::verifiers::BuildError;
use assay::verifiers::code::Code;
use assay::{ConfigError as BadConfig, EngineError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict as _, PyDict, PyType};

create_exception!(assay, AssayError, PyException, "The base of every error of assay.");
create_exception!(assay, DataError, AssayError, "Samples or files that cannot be read.");
create_exception!(
    assay,
    RunError,
    AssayError,
    "A run that cannot go on. Rows that were written stay."
);

/// An exception with two bases: ours, and the one of Python that callers may catch instead.
macro_rules! exception {
    ($name:ident, $base:ty, $builtin:ty, $doc:literal) => {
        #[doc = $doc]
        pub(crate) struct $name;

        impl $name {
            /// The class.
            pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
                static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                let made = CLASS.get_or_try_init(py, || {
                    let bases = (py.get_type::<$base>(), py.get_type::<$builtin>());
                    let members = [("__module__", "assay"), ("__doc__", $doc)].into_py_dict(py)?;
                    let class =
                        py.get_type::<PyType>().call1((stringify!($name), bases, members))?;
                    PyResult::Ok(class.cast_into::<PyType>()?.unbind())
                });
                made.map(|class| class.bind(py))
            }

            /// An exception with this message.
            pub(crate) fn new_err(message: impl Into<String>) -> PyErr {
                let message = message.into();
                Python::attach(|py| match Self::class(py) {
                    Ok(class) => PyErr::from_type(class.clone(), message),
                    Err(error) => error,
                })
            }
        }
    };
}

exception!(
    ConfigError,
    AssayError,
    PyValueError,
    "A configuration that cannot be used. Also a `ValueError`."
);
exception!(
    DataTypeError,
    DataError,
    PyTypeError,
    "A value whose type samples do not have. Also a `TypeError`."
);

/// Why there is no engine, as an exception.
pub(crate) fn of_engine(error: EngineError) -> PyErr {
    match error {
        EngineError::Config(error) => {
            coded(ConfigError::new_err(shown(&error)), error.code.word(), &error.fields())
        }
        EngineError::Io(error) => {
            with_code(AssayError::new_err(error.to_string()), Code::UnreadableFile.word())
        }
    }
}

/// The exception with its code, where nothing more is known.
pub(crate) fn with_code(error: PyErr, code: &str) -> PyErr {
    coded(error, code, &ErrorFields::default())
}

/// The exception with its code and its fields as attributes.
fn coded(error: PyErr, code: &str, fields: &ErrorFields) -> PyErr {
    let ErrorFields { file, line, column, key, found, expected } = fields;
    Python::attach(|py| {
        let set = || {
            let members = PyDict::new(py);
            let texts = [("key", key), ("found", found)];
            let named = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
            named.into_iter().try_for_each(|(name, text)| members.set_item(name, text))?;
            let places = [("line", line), ("column", column)];
            let numbers = places.into_iter().filter_map(|(name, at)| Some((name, (*at)?)));
            numbers.into_iter().try_for_each(|(name, at)| members.set_item(name, at))?;
            if !file.is_empty() {
                members.set_item("file", file)?;
            }
            if !expected.is_empty() {
                members.set_item("expected", expected)?;
            }
            error.value(py).setattr("code", code)?;
            error.value(py).setattr("fields", members)
        };
        set().err().unwrap_or(error)
    })
}

/// What every exception of ours has where nothing more is known: a code by its class, and no fields.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let base = py.get_type::<AssayError>();
    base.setattr("fields", PyDict::new(py))?;
    base.setattr("code", Code::Internal.word())?;
    py.get_type::<DataError>().setattr("code", Code::BadValue.word())?;
    ConfigError::class(py)?.setattr("code", Code::BadValue.word())?;
    DataTypeError::class(py)?.setattr("code", Code::WrongType.word())
}

/// Why a run cannot go on, as an exception.
pub(crate) fn of_run(error: &assay::engine::runs::RunError) -> PyErr {
    coded(RunError::new_err(error.to_string()), error.code().word(), &error.fields())
}

/// Columns of a trainer that have another name as an argument.
const ARGUMENTS: [(&str, &str); 14] = [
    ("group size", "groups"),
    ("token rewards", "token_rewards"),
    ("log-probabilities", "logp"),
    ("old log-probabilities", "old"),
    ("reference log-probabilities", "reference"),
    ("rollout log-probabilities", "rollout"),
    ("proximal log-probabilities", "proximal"),
    ("reference and mask", "reference or mask"),
    ("a pair", "pairs"),
    ("weights of the divergence", "kl_weights"),
    ("tokens of the whole batch", "scale.tokens"),
    ("sequences of the whole batch", "scale.sequences"),
    ("accumulation steps", "scale.accumulation_steps"),
    ("steps per generation", "scale.steps_per_generation"),
];

/// Why a trainer's function computed nothing, as an exception: `ConfigError` for a setting, `ValueError`
/// for a column.
pub(crate) fn of_trainer(error: TrainerError) -> PyErr {
    match error {
        TrainerError::Setting(BuildError { code, setting, found, expected, message, .. }) => {
            let gap = if setting.is_empty() { "" } else { ": " };
            let error = ConfigError::new_err(format!("{setting}{gap}{message}"));
            let key = Some(setting);
            let fields = ErrorFields { key, found, expected, ..ErrorFields::default() };
            coded(error, code.word(), &fields)
        }
        TrainerError::Input { what, have, expected } => {
            let known = ARGUMENTS.iter().find(|(column, _)| *column == what);
            let argument = known.map_or(what.as_str(), |(_, argument)| argument);
            PyValueError::new_err(format!("{argument}: {have}, expected {expected}"))
        }
    }
}

/// The message of a configuration error, with its place in the text and what would help.
fn shown(error: &BadConfig) -> String {
    let marked = error.span().and_then(|span| marked(error.text(), span)).unwrap_or_default();
    let help = error.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("{}{}{marked}{help}", place(error), error.message)
}

/// The line of a span, and marks below it.
fn marked(text: &str, span: Range<usize>) -> Option<String> {
    let (line, column) = line_of(text, span.start)?;
    let width = text.get(span).map_or(1, |text| text.chars().count());
    let room = line.chars().count().saturating_sub(column).max(1);
    let (indent, marks) = (" ".repeat(column), "^".repeat(width.clamp(1, room)));
    Some(format!("\n  {line}\n  {indent}{marks}"))
}

/// `assay.toml:7:3: `, or nothing where the configuration has no file.
fn place(error: &BadConfig) -> String {
    let ErrorFields { file, line, column, .. } = error.fields();
    let place = line.zip(column).map(|(line, column)| format!("{file}:{line}:{column}: "));
    place.unwrap_or_default()
}

/// The line around byte `at`, and the column of that byte in it, in characters.
fn line_of(text: &str, at: usize) -> Option<(&str, usize)> {
    let (before, behind) = (text.get(..at)?, text.get(at..)?);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end = at + behind.find('\n').unwrap_or(behind.len());
    Some((text.get(start..end)?, text.get(start..at)?.chars().count()))
}
