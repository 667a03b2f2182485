//! The completion that `check` judges and `extract` reads.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::Failure;

/// The largest completion, in bytes.
const TEXT_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(super) struct CompletionArgs {
    /// What is judged; - reads stdin, @FILE reads a file, @@ stands for one @
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "completion_file"
    )]
    completion: Option<String>,
    /// Judge the contents of a file
    #[arg(long, value_name = "FILE", conflicts_with = "completion")]
    completion_file: Option<PathBuf>,
}

impl CompletionArgs {
    pub(super) fn text(&self) -> Result<String, Failure> {
        match (&self.completion_file, self.completion.as_deref()) {
            (Some(file), _) => read(file),
            (None, Some("-")) => read(Path::new("-")),
            (None, Some(text)) => match text.strip_prefix('@') {
                Some(literal) if literal.starts_with('@') => Ok(literal.to_owned()),
                Some(file) => read(Path::new(file)),
                None => Ok(text.to_owned()),
            },
            (None, None) => Err(Failure::usage("--completion is missing")),
        }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let fail = |error: std::io::Error| Failure::usage(format!("{shown}: {error}"));
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(TEXT_BYTES_MAX + 1).read_to_string(&mut text)
    } else {
        let file = assay::data::open_once(path).map_err(fail)?;
        file.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text)
    };
    if read.map_err(fail)? as u64 > TEXT_BYTES_MAX {
        return Err(Failure::usage(format!("{shown}: more than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text)
}
