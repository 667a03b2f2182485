//! `assay join`: the rows that were scored, and what they earned, in one file.

mod aligned;
mod cells;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use assay::data::{FoundColumns, ReadLimits, TableWriter, escape};
use assay::engine::runs::{InputFile, OutputFile, RunInputs, RunManifest};
use clap::{Args as ClapArgs, ValueEnum};

use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::run_files::{self, file_out};
use super::spooled::Spooled;
use aligned::{Aligned, Counts, JoinedRow};
use cells::Added;

/// Put the rows that were scored and their rewards together.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run folder
    run: PathBuf,
    /// The rows that were scored, in their order
    #[arg(long, value_name = "DATA", required = true)]
    with: Vec<PathBuf>,
    /// The file to write; by default standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_out)]
    output: Option<PathBuf>,
    /// The form of the rows; by default what the ending of FILE says, else jsonl
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// What the names of the columns that are added start with, where the data have columns of these
    /// names
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Jsonl,
    Parquet,
    Csv,
}

/// What is joined with what.
struct Job<'a> {
    run: &'a Path,
    data: &'a [PathBuf],
    manifest: RunManifest,
    added: Added,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let form = args.form()?;
    args.refuse_inputs()?;
    if form == Form::Parquet && args.output.is_none() {
        return Err(Failure::usage("Parquet cannot go to standard output: -o FILE.parquet"));
    }
    let spooled = Spooled::new(&args.with)?;
    let manifest = run_files::manifest(&args.run)?;
    compare_files(&spooled.paths, &manifest)?;
    let added = Added::of(&args.run, &args.prefix)?;
    let job = Job { run: &args.run, data: &spooled.paths, manifest, added };
    // The first pass finds what does not fit before anything is written.
    let (columns, counts) = job.columns()?;
    match &args.output {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            job.write(form, &columns, &mut out)?;
            out.flush()?;
        }
        Some(path) => {
            let failed = Failure::io(path);
            let mut out = BufWriter::new(OutputFile::create(path).map_err(&failed)?);
            match form {
                Form::Parquet => job.parquet(&columns, &mut out)?,
                _ => job.write(form, &columns, &mut out)?,
            }
            let out = out.into_inner().map_err(|error| failed(error.into_error()))?;
            out.commit().map_err(failed)?;
        }
    }
    output::note(&counts.text(args.output.as_deref()));
    Ok(Exit::Ok)
}

impl Args {
    fn form(&self) -> Result<Form, Failure> {
        if let Some(form) = self.format {
            return Ok(form);
        }
        let ending = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        match ending {
            Some("parquet") => Ok(Form::Parquet),
            Some("csv") => Ok(Form::Csv),
            None | Some("jsonl" | "json" | "ndjson") => Ok(Form::Jsonl),
            Some(_) => {
                let why = "the ending of the file names no form: .jsonl, .parquet or .csv, or --format FORM";
                Err(Failure::usage(format!("-o: {why}")))
            }
        }
    }

    /// Refuses to write over what is read.
    fn refuse_inputs(&self) -> Result<(), Failure> {
        let Some(real) = self.output.as_ref().and_then(|path| path.canonicalize().ok()) else {
            return Ok(());
        };
        let is_read = |path: &PathBuf| path.canonicalize().is_ok_and(|own| own == real);
        let in_run = self.run.canonicalize().is_ok_and(|run| real.starts_with(run));
        if in_run || self.with.iter().any(is_read) {
            let shown = real.display();
            return Err(Failure::usage(format!("-o: {shown} is read: write to another file")));
        }
        Ok(())
    }
}

/// Refuses a file that was changed since it was scored, by its name and its digest; says so where the
/// rows are in other files than those that were scored.
fn compare_files(data: &[PathBuf], manifest: &RunManifest) -> Result<(), Failure> {
    let scored = &manifest.identity.inputs;
    let given = RunInputs::find(data, &ReadLimits::default())?;
    if scored.iter().any(|file| file.sha256.is_none()) || given.files() == scored.as_slice() {
        return Ok(());
    }
    let is_named = |file: &InputFile, other: &InputFile| {
        Path::new(&other.path).file_name() == Path::new(&file.path).file_name()
    };
    let is_changed = |file: &&InputFile| {
        !scored.contains(file) && scored.iter().any(|other| is_named(file, other))
    };
    if let Some(changed) = given.files().iter().find(is_changed) {
        let file = escape(&changed.path);
        return Err(Failure::usage(format!(
            "--with: {file} was changed since the run scored it: its SHA-256 is another than in \
             manifest.json; score it as it is now (`assay score CONFIG {file} -o OTHER`), or join a copy \
             under another name, whose rows are matched by number and id alone"
        )));
    }
    output::note(
        "note: --with: not the bytes that were scored: rows are matched by number and id, and what they \
         hold is not compared",
    );
    Ok(())
}

impl Job<'_> {
    /// Reads everything once: the columns of the output, and what does not fit.
    fn columns(&self) -> Result<(FoundColumns, Counts), Failure> {
        let mut columns = FoundColumns::default();
        let mut rows = Aligned::open(self.run, self.data, &self.manifest)?;
        rows.each(&mut |row| {
            for (name, value) in &row.members.0 {
                columns.add(name, value.get());
            }
            Ok(())
        })?;
        let counts = rows.counts()?;
        for (name, example) in self.added.columns() {
            if columns.place(&name).is_some() {
                let shown = assay::data::escape(&name);
                let why = format!(
                    "the data have a column \"{shown}\" of their own; --prefix TEXT names the \
                     columns that are added, as in --prefix assay_"
                );
                return Err(Failure::usage(why));
            }
            columns.add(&name, example);
        }
        Ok((columns, counts))
    }

    /// Writes lines or CSV.
    fn write(
        &self,
        form: Form,
        columns: &FoundColumns,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        if form == Form::Csv {
            let names = columns.iter().map(|(name, _)| cells::csv(name));
            writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
        }
        let mut rows = Aligned::open(self.run, self.data, &self.manifest)?;
        rows.each(&mut |row| {
            if form == Form::Csv {
                let cells = self.cells(row, columns).into_iter();
                let cells: Vec<String> = cells.map(|cell| cells::csv_of(cell.as_deref())).collect();
                writeln!(out, "{}", cells.join(","))?;
            } else {
                self.line(row, out)?;
            }
            Ok(())
        })
    }

    /// Writes Parquet.
    fn parquet(&self, columns: &FoundColumns, out: impl Write + Send) -> Result<(), Failure> {
        let mut writer = TableWriter::new(out, columns)?;
        let mut rows = Aligned::open(self.run, self.data, &self.manifest)?;
        rows.each(&mut |row| Ok(writer.write(self.cells(row, columns))?))?;
        writer.finish()?;
        Ok(())
    }

    /// The members of a row and what is added, as one line.
    fn line(&self, row: &JoinedRow<'_>, out: &mut impl Write) -> Result<(), Failure> {
        let mut first = true;
        let added = self.added.cells(row.scored);
        let own = row.members.0.iter().map(|(name, value)| (name.as_str(), value.get()));
        let added = added.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(added) {
            let name = serde_json::to_string(name).map_err(anyhow::Error::from)?;
            write!(out, "{}{name}:{value}", if first { "{" } else { "," })?;
            first = false;
        }
        Ok(writeln!(out, "}}")?)
    }

    /// The cells of a row along the columns; `None` is null.
    fn cells(&self, row: &JoinedRow<'_>, columns: &FoundColumns) -> Vec<Option<String>> {
        let mut cells = vec![None; columns.len()];
        let own = row.members.0.iter().map(|(name, value)| (name.clone(), value.get().to_owned()));
        for (name, value) in own.chain(self.added.cells(row.scored)) {
            if let Some(cell) = columns.place(&name).and_then(|at| cells.get_mut(at)) {
                *cell = (value != "null").then_some(value);
            }
        }
        cells
    }
}

impl Counts {
    fn text(&self, out: Option<&Path>) -> String {
        let to = out.map_or_else(String::new, |path| format!("{}: ", path.display()));
        let mut text = format!("{to}{} rows", count(self.joined));
        if self.unscored > 0 {
            let unscored = count(self.unscored);
            text.push_str(&format!(
                "; {unscored} rows of the data were not scored, and are left out"
            ));
        }
        if self.unread > 0 {
            let unread = count(self.unread);
            text.push_str(&format!("; {unread} rows cannot be read: they have their id alone"));
        }
        text
    }
}
