//! Tasks and demonstrations, read as the engine reads its rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_trainer::training::{Demonstration, Task};
use assay_verifiers::code::Code;
use assay_verifiers::{Content, Sample};

use super::chat::ChatTemplate;
use crate::data::{Columns, DataError, ReadLimits, Row, RowError, Source, escape};

/// Why tasks cannot be read. Texts in it are escaped already.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A row that is not a row, no task, or no demonstration.
    #[error(transparent)]
    Row(#[from] RowError),
}

/// The tasks of a set, and the rows that they were read from, in the same order. What a row has for a
/// completion counts for nothing.
#[derive(Clone, Debug, Default)]
pub struct TaskRows {
    /// The tasks. Their ids are those of their rows; an id that is there again has ` (2)` after it.
    pub tasks: Vec<Task>,
    /// The rows: reference and metadata, and the prompt as it came.
    pub rows: Vec<Sample>,
}

/// Reads tasks and demonstrations.
#[derive(Clone, Copy)]
pub struct TaskReader<'a> {
    /// Which columns mean what.
    pub columns: &'a Columns,
    /// The limits of reading.
    pub limits: ReadLimits,
    /// What prompts go through; by default they are text, and stay as they are.
    pub chat: Option<&'a ChatTemplate>,
}

impl TaskReader<'_> {
    /// The tasks of files and dataset folders.
    ///
    /// # Errors
    /// Data that cannot be read, a row without a prompt, or a conversation where there is no chat
    /// template.
    pub fn tasks(&self, paths: &[PathBuf]) -> Result<TaskRows, TaskError> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut read = TaskRows::default();
        for block in Source::open(paths, &self.limits)? {
            for row in block?.tasks(self.columns) {
                let (sample, prompt) = self.prompt(row)?;
                let times = seen.entry(sample.id().to_owned()).or_default();
                *times += 1;
                let id = match *times {
                    1 => sample.id().to_owned(),
                    times => format!("{} ({times})", sample.id()),
                };
                read.tasks.push(Task { id, prompt });
                read.rows.push(sample);
            }
        }
        if read.tasks.is_empty() { Err(empty(paths)) } else { Ok(read) }
    }

    /// The demonstrations of files and dataset folders: rows with a prompt and a completion.
    ///
    /// # Errors
    /// Those of [`Self::tasks`], and a row without a completion that is text or ends with a message of
    /// the assistant.
    pub fn demonstrations(&self, paths: &[PathBuf]) -> Result<Vec<Demonstration>, TaskError> {
        let mut read = Vec::new();
        for block in Source::open(paths, &self.limits)? {
            for row in block?.rows(self.columns) {
                let (sample, prompt) = self.prompt(row)?;
                read.push(Demonstration { prompt, completion: sample.completion().to_owned() });
            }
        }
        if read.is_empty() { Err(empty(paths)) } else { Ok(read) }
    }

    /// The sample of a row, and its prompt as the policy sees it.
    fn prompt(&self, row: Row) -> Result<(Sample, String), TaskError> {
        let sample = row.sample?;
        let wrong = |code: Code, why: String| {
            RowError::new(row.place.clone(), code, Some(&self.columns.prompt), why)
        };
        let prompt = match (self.chat, sample.prompt_content()) {
            (Some(chat), content) => {
                chat.prompt(content).map_err(|why| wrong(Code::BadValue, why))?
            }
            (None, Content::Text(text)) => text.clone(),
            (None, Content::Messages(_)) => {
                let why = "a conversation needs the chat template of a model folder";
                return Err(wrong(Code::WrongType, why.to_owned()).into());
            }
        };
        if prompt.is_empty() {
            let why = "missing or empty; a task has a prompt";
            return Err(wrong(Code::MissingValue, why.to_owned()).into());
        }
        Ok((sample, prompt))
    }
}

fn empty(paths: &[PathBuf]) -> TaskError {
    let files = paths.iter().map(|path| escape(&path.display().to_string())).collect();
    DataError::NoRows { files }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::runs::write_atomic;

    fn reader(columns: &Columns) -> TaskReader<'_> {
        TaskReader { columns, limits: ReadLimits::default(), chat: None }
    }

    #[test]
    fn rows_without_a_completion_are_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.jsonl");
        let rows = "{\"id\":\"a\",\"prompt\":\"1+1=\",\"reference\":\"2\",\"digits\":1}\n\
                    {\"id\":\"a\",\"prompt\":\"1+2=\",\"completion\":\"3\"}\n";
        write_atomic(&path, rows.as_bytes()).unwrap();
        let columns = Columns::default();
        let read = reader(&columns).tasks(std::slice::from_ref(&path)).unwrap();
        let ids: Vec<&str> = read.tasks.iter().map(|task| &*task.id).collect();
        assert_eq!(ids, ["a", "a (2)"]);
        assert_eq!(read.rows[0].reference_text().as_deref(), Some("2"));
        assert_eq!(read.rows[0].meta()["digits"], 1);
        let why = reader(&columns).demonstrations(&[path]).unwrap_err().to_string();
        assert!(why.contains("tasks.jsonl:1: completion: missing"), "{why}");
    }

    #[test]
    fn what_is_no_task_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.jsonl");
        let columns = Columns::default();
        for (row, expected) in [
            ("{\"reference\":\"2\"}\n", "tasks.jsonl:1: prompt: missing or empty"),
            ("{\"prompt\":[{\"role\":\"user\",\"content\":\"x\"}]}\n", "needs the chat template"),
            ("", "no rows"),
        ] {
            write_atomic(&path, row.as_bytes()).unwrap();
            let why = reader(&columns).tasks(std::slice::from_ref(&path)).unwrap_err();
            assert!(why.to_string().contains(expected), "{why}");
        }
    }
}
