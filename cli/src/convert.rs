//! `assay convert`: what others wrote, in our own format.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use assay::data::open_once;
use assay::engine::did_you_mean;
use assay::engine::runs::write_atomic;
use assay::rubrics::Rubric;
use assay::rubrics::formats::{self, Format};
use clap::{Args as ClapArgs, Subcommand};

use super::exit::{Exit, Failure};
use super::output;
use super::run_files::file_out;
use super::text::{harmless, inline};

/// What others wrote, in our own format.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A rubric of any known format (`assay list rubrics`), as TOML
    Rubric(RubricArgs),
}

#[derive(Debug, ClapArgs)]
struct RubricArgs {
    /// The rubric, or a row that holds one: TOML and YAML by its ending, else JSON; - for stdin
    file: PathBuf,
    /// Read it as this format, whatever it looks like
    #[arg(long, value_name = "FORMAT", value_parser = format_named)]
    from: Option<Format>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "OUT", value_parser = file_out)]
    output: Option<PathBuf>,
    /// Write JSON instead of TOML
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let What::Rubric(args) = &args.what;
    let name = inline(&args.file.display().to_string());
    let refuse = |why: String| Failure::usage(format!("{name}: {why}"));
    let bytes = read(&args.file).map_err(|error| refuse(error.to_string()))?;
    let path = args.file.display().to_string();
    let rubric = match args.from {
        Some(format) => formats::read_text_as(format, &path, &bytes),
        None => formats::read_text(&path, &bytes),
    };
    let rubric = rubric.map_err(|error| refuse(inline(&error.to_string())))?;
    let text = written(&rubric, args.json).map_err(refuse)?;
    let Some(out) = &args.output else {
        print(&text);
        return Ok(Exit::Ok);
    };
    write_atomic(out, text.as_bytes()).map_err(Failure::io(out))?;
    output::note(&format!("wrote {}", out.display()));
    Ok(Exit::Ok)
}

fn format_named(name: &str) -> Result<Format, String> {
    let names = || Format::ALL.iter().map(|format| format.name());
    let found = Format::ALL.into_iter().find(|format| format.name() == name);
    found.ok_or_else(|| match did_you_mean(name, names()) {
        Some(near) => format!("no format is called so; did you mean \"{near}\"?"),
        None => {
            format!("no format is called so; known: {}", names().collect::<Vec<_>>().join(", "))
        }
    })
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        open_once(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn written(rubric: &Rubric, json: bool) -> Result<String, String> {
    if json {
        let text = serde_json::to_string_pretty(rubric).map_err(|error| error.to_string())?;
        return Ok(format!("{text}\n"));
    }
    let no_toml = |error| format!("cannot be written as TOML, try --json: {error}");
    formats::to_toml(rubric).map_err(no_toml)
}

/// Prints the rubric as it is, or, for the eyes of a terminal, with escapes for what it would obey.
fn print(text: &str) {
    if std::io::stdout().is_terminal() {
        output::text(&harmless(text));
    } else {
        output::data(text);
    }
}
