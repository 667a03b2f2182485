//! `assay model`: model folders of what is on disk.

use std::path::PathBuf;

use assay::reward_models::adopt::{AdoptOptions, Adopted, adopt};
use assay::reward_models::backend::BackendChoice;
use assay::reward_models::models::RunSettings;
use assay::setup::Environment;
use clap::{Args as ClapArgs, Subcommand};

use super::exit::{Exit, Failure};
use super::output;

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Take an ONNX model as it lies on disk, as Optimum exports it: write its manifest and prove it
    Add(AddArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct AddArgs {
    /// The folder: model.onnx, tokenizer.json, config.json
    folder: PathBuf,
    /// The graph, relative to the folder; by default model.onnx or onnx/model.onnx
    #[arg(long, value_name = "FILE")]
    graph: Option<String>,
    /// The name of the model; by default that of the folder
    #[arg(long)]
    name: Option<String>,
    /// The longest text, in tokens; by default as `config.json` and `tokenizer_config.json` say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    max_tokens: Option<u32>,
    /// What runs it; by default ONNX Runtime where its library is found, else rten
    #[arg(long, value_name = "BACKEND", value_parser = ["auto", "ort", "rten"], default_value = "auto")]
    backend: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(Verb::Add(args): &Verb, environment: &Environment) -> Result<Exit, Failure> {
    let options = AdoptOptions {
        graph: args.graph.clone(),
        name: args.name.clone(),
        max_tokens: args.max_tokens.and_then(|most| usize::try_from(most).ok()),
    };
    let backend = match args.backend.as_str() {
        "ort" => BackendChoice::Ort,
        "rten" => BackendChoice::Rten,
        _ => BackendChoice::Auto,
    };
    let run = RunSettings { backend, workers: 1, ..RunSettings::default() };
    let adopted = adopt(&args.folder, &options, &environment.models(), &run)
        .map_err(|error| Failure::Usage(error.code(), error.to_string()))?;
    if args.json {
        output::json(&adopted)?;
    } else {
        tell(&adopted);
    }
    Ok(Exit::Ok)
}

fn tell(adopted: &Adopted) {
    let Adopted { model, kind, backend, inputs, outputs, read, template, .. } = adopted;
    let kind = format!("{kind:?}").to_lowercase();
    output::line(&format!("{model}: {kind}, on {backend}"));
    output::line(&format!("inputs    {}", inputs.join(", ")));
    output::line(&format!("outputs   {}; {read} is read", outputs.join(", ")));
    output::line(&format!("template  {template}"));
    output::line(&format!("limit     {} tokens", adopted.max_tokens));
    output::line(&format!(
        "proof     {} texts ran alone and in a padded batch; a value moved by {:.1e} at most",
        adopted.goldens, adopted.moved
    ));
    output::line(
        "These golden pairs are the graph's own values: compare a score with the model card before you trust one.",
    );
}
