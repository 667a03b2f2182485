//! The texts of the rows that a run scored, for the pages that show them.

use std::path::{Path, PathBuf};

use assay::Sample;
use assay::data::{Block, Columns, DataError, ReadLimits, Row, Source, escape};
use assay::engine::runs::{CONFIG, InputFile, RunError, RunInputs, RunManifest};
use assay::verifiers::Content;
use assay::verifiers::code::Code;
use assay_view::{DataRows, RowText, ViewError};

use super::exit::Failure;
use super::output;
use super::run_files::{columns, input_places, is_input, json};
use super::spooled::{Spooled, is_lines};

/// The data of a run, which can be read more than once.
pub(super) struct RunTexts {
    spooled: Spooled,
    columns: Columns,
    /// Files that were found by their sizes, and what they have to be.
    unchecked: Vec<(PathBuf, InputFile)>,
}

impl RunTexts {
    /// The files of `with`, else those that the run names; the inner error says why there are none.
    pub(super) fn find(
        run: &Path,
        manifest: &RunManifest,
        with: &[PathBuf],
    ) -> Result<Result<Self, String>, Failure> {
        let inputs = &manifest.identity.inputs;
        let (mut own, mut unchecked) = (Vec::new(), Vec::new());
        if with.is_empty() {
            for input in inputs {
                let places = input_places(run, input);
                let only = places.first().filter(|first| {
                    let is_first =
                        |path: &PathBuf| path.canonicalize().ok() == first.canonicalize().ok();
                    places.iter().all(is_first) && is_lines(first).unwrap_or_default()
                });
                if let Some(only) = only {
                    unchecked.push((only.clone(), input.clone()));
                    own.push(only.clone());
                    continue;
                }
                let same = places.into_iter().find(|path| is_input(path, input));
                let Some(file) = same else { return Ok(Err(missing(input))) };
                own.push(file);
            }
        } else if RunInputs::find(with, &ReadLimits::default())?.files() != inputs.as_slice() {
            output::note(
                "note: --with: not the bytes that were scored: rows are matched by number and id",
            );
        }
        let spooled = Spooled::new(if with.is_empty() { &own } else { with })?;
        Ok(Ok(Self { spooled, columns: columns(&json(run, CONFIG)?, run.display())?, unchecked }))
    }

    /// Reads files whole that were not read yet: whether they are what was scored.
    pub(super) fn check(&self) -> Result<(), String> {
        let other = self.unchecked.iter().find(|(path, input)| !is_input(path, input));
        other.map_or(Ok(()), |(_, input)| Err(missing(input)))
    }

    /// The rows of files with these columns.
    pub(super) fn of_files(files: &[PathBuf], columns: Columns) -> Result<Self, Failure> {
        Ok(Self { spooled: Spooled::new(files)?, columns, unchecked: Vec::new() })
    }

    /// The files of the rows.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.spooled.paths
    }

    /// The rows, in their order.
    pub(super) fn rows(&self) -> Result<DataRows<'_>, DataError> {
        let source = Source::open(&self.spooled.paths, &ReadLimits::default())?;
        let rows = source.flat_map(|block| -> Vec<Result<RowText, ViewError>> {
            match block {
                Ok(block) => self.of_block(&block).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(ViewError::Data(Box::new(error)))],
            }
        });
        Ok(Box::new(rows))
    }

    /// The rows of a block.
    pub(super) fn of_block(&self, block: &Block) -> Vec<RowText> {
        block.rows(&self.columns).iter().map(text).collect()
    }
}

/// Why the data have no texts: the file of an input is gone, or was changed.
fn missing(input: &InputFile) -> String {
    let name = Path::new(&input.path).file_name().unwrap_or_default();
    let name = escape(&name.to_string_lossy());
    format!("the data, {name}, are not where the run read them, or were changed")
}

/// What a page shows of a row. One that cannot be read has no texts.
fn text(row: &Row) -> RowText {
    match &row.sample {
        Ok(sample) => RowText {
            number: row.index,
            id: sample.id().to_owned(),
            prompt: before(sample),
            completion: sample.completion().to_owned(),
            reference: sample.reference_text().map(std::borrow::Cow::into_owned),
        },
        Err(_) => RowText {
            number: row.index,
            id: format!("row-{}", row.index + 1),
            ..RowText::default()
        },
    }
}

/// The prompt, and the messages of the completion that go before the one that is judged.
fn before(sample: &Sample) -> String {
    let mut text = match sample.prompt_content() {
        Content::Text(text) => text.clone(),
        Content::Messages(messages) => transcript(messages.iter()),
    };
    let Some(messages) = sample.completion_content().messages() else { return text };
    let judged = sample.completion_message();
    let earlier = messages.iter().take_while(|message| {
        judged.is_none_or(|judged| !std::ptr::eq::<assay::verifiers::Message>(*message, judged))
    });
    let earlier = transcript(earlier);
    if !text.is_empty() && !earlier.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&earlier);
    text
}

fn transcript<'a>(messages: impl Iterator<Item = &'a assay::verifiers::Message>) -> String {
    let one = |message: &assay::verifiers::Message| {
        let mut lines = vec![format!("[{}]", message.role), message.text().to_owned()];
        lines.extend(
            message.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)),
        );
        lines.join("\n")
    };
    messages.map(one).collect::<Vec<_>>().join("\n\n")
}

/// Why a run cannot be shown.
pub(super) fn failure(error: ViewError) -> Failure {
    match error {
        ViewError::Io(file, source) => RunError::Io { file, source }.into(),
        ViewError::Damaged(..) => Failure::usage(error.to_string()),
        ViewError::Data(error) => match error.downcast::<DataError>() {
            Ok(error) => (*error).into(),
            Err(error) => Failure::outside(Code::UnreadableFile, error.to_string()),
        },
    }
}
