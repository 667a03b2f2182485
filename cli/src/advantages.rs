//! `assay advantages`: what each rollout of a run earned, relative to the others of its prompt.

mod data;
mod rollouts;

use std::io::Write as _;
use std::path::PathBuf;

use assay::engine::Document;
use assay::engine::runs::write_atomic;
use assay::setup::Environment;
use assay::trainer::TrainerError;
use assay::trainer::advantages::{AdvantageConfig, AdvantageValues, GroupReport};
use assay::trainer::request::{AdvantageReply, AdvantageRequest};
use clap::Args as ClapArgs;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::run_files::file_out;
use super::setup::{assignment, state};
use data::DataColumns;
use rollouts::Rollouts;

/// What each rollout of a run earned, relative to the others of its prompt.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run folder
    run: PathBuf,
    /// The file of JSON lines, one for each row of the run; by default standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_out)]
    output: Option<PathBuf>,
    /// The configuration whose [advantage] says how, in place of that of the run
    #[arg(long, value_name = "CONFIG")]
    config: Option<PathBuf>,
    /// The estimator, such as grpo (the default), rloo or gdpo; it and the preset take the place of an
    /// [advantage]
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// The library and version whose settings are filled in, such as trl-1.16
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A setting of the estimator, as in `--set eps=1e-6`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// So many rows, one after another, share a prompt; by default the group of the row, else its prompt
    /// in the data
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    group_size: Option<u64>,
    /// The reward whose steps are the steps of process supervision; they need token ids
    #[arg(long, value_name = "NAME")]
    steps: Option<String>,
    #[command(flatten)]
    data: DataColumns,
    /// What the estimator kept from the batch before: the file of an earlier `--state-out`
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write what the estimator keeps for the next batch
    #[arg(long, value_name = "FILE")]
    state_out: Option<PathBuf>,
    /// Print what is to be said of the groups as JSON
    #[arg(long, requires = "output")]
    json: bool,
}

/// A line of the output. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    group: &'a str,
    /// Null where the row has none.
    reward: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advantage: Option<f64>,
    /// One for each token, where the estimator gives one for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    advantages: Option<&'a [f64]>,
}

/// What `--json` prints. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Report {
    rows: usize,
    #[serde(flatten)]
    groups: GroupReport,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let config = args.estimator(environment)?;
    let rollouts = Rollouts::read(&args.run, args.steps.as_deref())?;
    let needed = args.group_size.is_none() && rollouts.lacks_groups();
    let columns = args.data.read(&args.run, &rollouts.ids, needed)?;
    let keys = rollouts.groups(args.group_size, columns.as_ref())?;
    if let Some(note) = rollouts.cut(&keys) {
        output::note(&note);
    }
    let mut request = rollouts.request(&keys);
    if let Some(columns) = columns {
        columns.fill(&mut request);
    }
    if let Some(path) = &args.state {
        request.state = state(path)?;
    }
    let reply = request.answer(Some(&config)).map_err(|error| refused(&error))?;
    args.write(&request, &rollouts.ids, &keys, &reply)?;
    let report = Report { rows: keys.len(), groups: reply.report };
    if args.json {
        output::json(&report)?;
    } else {
        output::note(&report.text());
    }
    Ok(Exit::Ok)
}

impl Args {
    /// The table [advantage]: that of the flags, of the configuration or of the run, and `--set` over it.
    fn estimator(&self, environment: &Environment) -> Result<AdvantageConfig, Failure> {
        let mut config = match &self.config {
            _ if self.kind.is_some() || self.preset.is_some() => AdvantageConfig {
                kind: self.kind.clone(),
                preset: self.preset.clone(),
                ..AdvantageConfig::default()
            },
            Some(path) => environment.document(path)?.config()?.advantage.unwrap_or_default(),
            None => rollouts::advantage(&self.run)?,
        };
        for set in &self.sets {
            let (key, value) = assignment(set)?;
            config.settings.insert(key.trim().to_owned(), Document::value(value.trim()));
        }
        if config.kind.is_none() && config.preset.is_none() {
            config.kind = Some("grpo".to_owned());
        }
        config.build().map_err(|error| refused(&error))?;
        Ok(config)
    }

    fn write(
        &self,
        request: &AdvantageRequest,
        ids: &[String],
        keys: &[String],
        reply: &AdvantageReply,
    ) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for (at, ((id, group), reward)) in ids.iter().zip(keys).zip(&request.rewards).enumerate() {
            let (advantage, advantages) = match &reply.advantages {
                AdvantageValues::Rollouts(values) => (values.get(at).copied(), None),
                AdvantageValues::Tokens(rows) => (None, Some(rows.row(at))),
            };
            let line = Line { id, group, reward: *reward, advantage, advantages };
            serde_json::to_writer(&mut lines, &line).map_err(anyhow::Error::from)?;
            lines.push(b'\n');
        }
        match &self.output {
            Some(path) => write_atomic(path, &lines).map_err(Failure::io(path))?,
            None => output::take_note(std::io::stdout().lock().write_all(&lines)),
        }
        if let Some(path) = &self.state_out {
            let state = serde_json::to_vec_pretty(&reply.state).map_err(anyhow::Error::from)?;
            write_atomic(path, &state).map_err(Failure::io(path))?;
        }
        Ok(())
    }
}

impl Report {
    fn text(&self) -> String {
        let Self { rows, groups } = self;
        let said = [
            ("groups of a single reward", groups.of_one),
            ("groups without variance", groups.without_variance),
            ("groups without a reward", groups.without_reward),
            ("rows without a reward", groups.missing),
        ];
        let mut text = format!("{} rows in {} groups", shown(*rows), shown(groups.groups));
        for (what, amount) in said.iter().filter(|(_, amount)| *amount > 0) {
            text.push_str(&format!("; {what}: {}", shown(*amount)));
        }
        text
    }
}

fn shown(amount: usize) -> String {
    count(amount as u64)
}

fn refused(error: &TrainerError) -> Failure {
    match error {
        TrainerError::Setting(own) => {
            let gap = if own.setting.is_empty() { "" } else { "." };
            Failure::refused(own.code, format!("advantage{gap}{}: {own}", own.setting))
        }
        TrainerError::Input { .. } => Failure::usage(error.to_string()),
    }
}
