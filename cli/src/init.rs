//! `assay init`: a configuration and some rows to start from.

mod recipe;
mod trainers;

use std::path::PathBuf;

use assay::Config;
use assay::data::{Preset, PresetFile};
use assay::engine::runs::write_atomic;
use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;

use super::exit::{Exit, Failure};
use super::output;
use super::text::quoted;

const CONFIG: &str = include_str!("../../fixtures/init/assay.toml");
const SCRIPT: &str = include_str!("../../fixtures/init/brief.rhai");
const DATA: &str = include_str!("../../fixtures/init/data.jsonl");

/// A configuration and some rows to start from.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The folder, which is made where it is not there
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Write the lines by which this trainer takes its rewards too
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(trainers::names()))]
    trainer: Option<String>,
    /// Start from this recipe, by its id or number, and rows of its first case
    #[arg(long, value_name = "ID", conflicts_with = "trainer")]
    recipe: Option<String>,
    /// Start from a public data set, with its columns as published
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Preset::names()))]
    #[arg(conflicts_with_all = ["recipe", "trainer"])]
    task: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let schema =
        serde_json::to_string_pretty(&Config::json_schema()).map_err(anyhow::Error::from)?;
    let mut files = Vec::new();
    let mut computed = None;
    if let Some(name) = &args.recipe {
        let recipe::Start { config, rows, id, words } = recipe::start(name)?;
        match config {
            Some(config) => files.push(file("assay.toml", config)),
            None => computed = Some((id, words)),
        }
        files.push(file("data.jsonl", rows));
    } else if let Some(made) = args.trainer.as_deref().and_then(|name| trainers::files(name, DATA))
    {
        files.extend(made.into_iter().map(|(name, text)| file(name, text)));
    } else if let Some(made) = args.task.as_deref().and_then(task) {
        files.extend(made);
    } else {
        let own = [("assay.toml", CONFIG), ("brief.rhai", SCRIPT), ("data.jsonl", DATA)];
        files.extend(own.map(|(name, text)| file(name, text.to_owned())));
    }
    if computed.is_none() {
        files.insert(1, file("assay.schema.json", format!("{schema}\n")));
    }
    for PresetFile { name, .. } in &files {
        let path = args.dir.join(name);
        if path.symlink_metadata().is_ok() {
            let path = path.display();
            return Err(Failure::usage(format!("{path} is there already; nothing was written")));
        }
    }
    if args.dir.is_file() {
        let dir = args.dir.display();
        return Err(Failure::usage(format!(
            "{dir} is a file: name a folder, or none for this one"
        )));
    }
    for PresetFile { name, text } in &files {
        let path = args.dir.join(name);
        let folder = path.parent().unwrap_or(&args.dir);
        std::fs::create_dir_all(folder).map_err(Failure::io(folder))?;
        write_atomic(&path, text.as_bytes()).map_err(Failure::io(&path))?;
        output::note(&format!("wrote {}", path.display()));
    }
    let place = |name: &str| quoted(&args.dir.join(name).display().to_string());
    let (config, data) = (place("assay.toml"), place("data.jsonl"));
    output::note("next:");
    if let Some((id, words)) = computed {
        output::line(&format!("assay recipe run {id} {data}{words}"));
        return Ok(Exit::Ok);
    }
    output::line(&format!("assay validate {config} {data}"));
    output::line(&format!("assay score {config} {data} --output {}", place("run")));
    Ok(Exit::Ok)
}

fn file(name: &str, text: String) -> PresetFile {
    PresetFile { name: name.to_owned(), text }
}

/// The configuration and the rows of a public data set, and what lies beside them.
fn task(name: &str) -> Option<Vec<PresetFile>> {
    let Preset { about, config, files, rows } = Preset::find(name)?;
    let rows = rows.into_iter().map(|row| row.json + "\n").collect();
    let mut all = vec![file("assay.toml", format!("# {about}\n{}", config.trim_start()))];
    all.push(file("data.jsonl", rows));
    all.extend(files);
    Some(all)
}
