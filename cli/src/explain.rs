//! `assay explain`: one row, from its text to its reward; or which rows of a run to look at.

mod disagree;
mod faults;
mod find;
mod listing;
mod lowest;
mod report;

use std::path::{Path, PathBuf};

use assay::engine::runs::{MANIFEST, RunManifest};
use assay::engine::{BadRows, FileRun, FileRunSpec};
use assay::setup::Environment;
use assay::verifiers::code::Code;
use assay::verifiers::{Sample, TrainingState};
use assay::{Engine, ScoreOptions};
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output;
use super::run_files::json;
use super::setup::{ConfigArgs, EngineArgs, TrainingArgs};
use super::signals::stop_on_signals;
use super::spooled::Spooled;
use super::text::{Cut, inline};
use find::{Found, Search, Wanted};
use listing::ListedRun;
use report::Explained;

/// One row, from its text to its reward; or which rows of a run to look at.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The configuration: TOML, or JSON of the same shape; or a run folder, whose rows are shown as
    /// they were judged
    #[arg(value_name = "CONFIG|RUN")]
    target: PathBuf,
    /// JSON lines (also .gz, .zst), Parquet, a dataset folder (FOLDER:SPLIT), or - for stdin. With a
    /// run folder only for --labels, and by default the files that it was made of
    data: Vec<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// With --disagree: the column that says right or wrong; by default that of the run
    #[arg(long, value_name = "COLUMN")]
    labels: Option<String>,
    /// Set a value, as in `--set combine.how=min` or `--set reward.NAME.weight=0.5`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Let the configuration name files below this folder too
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    training: TrainingArgs,
    /// Leave nothing out of long texts and of lists of rows
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false)]
struct Which {
    /// The row of this id
    #[arg(long, allow_hyphen_values = true)]
    id: Option<String>,
    /// The row over all data, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    row: Option<u64>,
    /// The rows with faults, by the kind of the fault, with the reasons that came first
    #[arg(long)]
    faults: bool,
    /// The N rows with the lowest rewards, with their parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    lowest: Option<u32>,
    /// The rows whose reward says something else than the label, or two of whose rewards disagree
    #[arg(long)]
    disagree: bool,
}

impl Which {
    /// The one row that was asked for, if it was one.
    fn wanted(&self) -> Option<Wanted> {
        match (&self.id, self.row) {
            (Some(id), _) => Some(Wanted::Id(id.clone())),
            (None, Some(row)) => Some(Wanted::Row(row - 1)),
            (None, None) => None,
        }
    }
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    if args.labels.is_some() && !args.which.disagree {
        return Err(Failure::usage("--labels COLUMN goes with --disagree alone"));
    }
    if args.target.is_dir() {
        args.refuse_judging()?;
        return args.list(&args.target, &args.data, args.labels.as_deref());
    }
    if args.data.is_empty() {
        let target = args.target.display();
        let why = format!(
            "{target} is a configuration, and there are no data: `assay explain CONFIG DATA... \
             --id ID`; the rows of a run are listed by its folder, as in `assay explain RUN \
             --faults`"
        );
        return Err(Failure::usage(why));
    }
    match args.which.wanted() {
        Some(wanted) => one(args, wanted, environment),
        None => judged(args, environment),
    }
}

impl Args {
    /// Refuses what judges rows, next to a run whose rows were judged.
    fn refuse_judging(&self) -> Result<(), Failure> {
        let run = self.target.display();
        let engine = &self.engine;
        let given = [
            ("--set", !self.sets.is_empty()),
            ("--allow-path", !self.allow_path.is_empty()),
            ("--jobs", engine.jobs.is_some()),
            ("--cache-dir", engine.cache_dir.is_some()),
            ("--no-cache", engine.no_cache),
            #[cfg(feature = "rubrics")]
            ("--judge-store", engine.judge_store.is_some()),
            ("--step or --state", self.training.read()? != TrainingState::default()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) {
            let why = format!(
                "{run} is a folder, and a run is not judged again: leave out {flag}, or name a \
                 configuration and data, as in `assay explain CONFIG DATA... {flag} ...`"
            );
            return Err(Failure::usage(why));
        }
        if !self.data.is_empty() && !self.which.disagree {
            let why = format!(
                "{run} is a folder: a run needs no data, but for `assay explain RUN DATA... \
                 --disagree --labels COLUMN`"
            );
            return Err(Failure::usage(why));
        }
        Ok(())
    }

    /// The list that was asked for, or one row, of a run.
    fn list(&self, dir: &Path, data: &[PathBuf], labels: Option<&str>) -> Result<Exit, Failure> {
        let run = ListedRun::open(dir)?;
        let shown = if self.full { usize::MAX } else { listing::SHOWN_MAX };
        if self.which.faults {
            faults::list(&run, shown, self.json)?;
        } else if let Some(count) = self.which.lowest {
            lowest::list(&run, count, self.json)?;
        } else if let Some(wanted) = self.which.wanted() {
            lowest::one(&run, &wanted, self.json)?;
        } else {
            disagree::list(&run, data, labels, shown, self.json)?;
        }
        Ok(Exit::Ok)
    }

    fn config(&self) -> ConfigArgs {
        ConfigArgs {
            config: self.target.clone(),
            sets: self.sets.clone(),
            allow_path: self.allow_path.clone(),
        }
    }
}

/// Judges the data into a folder that is dropped, and lists its rows.
fn judged(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let config = args.config();
    let mut document = config.document(environment)?;
    if let Some(column) = &args.labels {
        document.set("data.label", &toml::Value::from(column.as_str()).to_string())?;
    }
    let engine = args.engine.engine(config.builder(environment, document))?;
    let stop = stop_on_signals()?;
    let (folder, spooled) = (tempfile::tempdir()?, Spooled::new(&args.data)?);
    let spec = FileRunSpec {
        data: spooled.paths.clone(),
        output: folder.path().to_owned(),
        bad_rows: BadRows::Fault,
        training: args.training.read()?,
        ..FileRunSpec::default()
    };
    FileRun::open(spec, &engine, std::process::id())?.run(&stop, &mut |_| {})?;
    engine.replies_kept().map_err(|why| Failure::outside(Code::Unwritable, why))?;
    if stop.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    let manifest: RunManifest = json(folder.path(), MANIFEST)?;
    if !manifest.complete {
        output::note("not all rows were judged");
    }
    args.list(folder.path(), &[], None)
}

/// One row of the data, judged now.
fn one(args: &Args, wanted: Wanted, environment: &Environment) -> Result<Exit, Failure> {
    let config = args.config();
    let document = config.document(environment)?;
    let engine = args.engine.engine(config.builder(environment, document))?;
    let plan = engine.plan();
    let found = Search::new(wanted, plan.needs_groups()).run(&args.data, &plan.config)?;
    let sample = match &found.row.sample {
        Ok(sample) => sample.clone(),
        Err(error) => {
            output::note(&format!("row {} cannot be read: {error}", found.row.index + 1));
            return Ok(Exit::Fault);
        }
    };
    let kept = kept(&engine, &sample);
    let Found { group, at, .. } = &found;
    let options = ScoreOptions::at(args.training.read()?);
    let step = options.step;
    let scored = engine.score_with(group.clone(), options);
    let Some(scored) = scored.into_iter().nth(*at) else {
        return Err(anyhow::anyhow!("internal: the engine gave no verdict").into());
    };
    let explained = Explained {
        plan: engine.plan(),
        sample: &sample,
        scored: &scored,
        kept: &kept,
        found: &found,
        step,
    };
    if args.json {
        output::json(&explained.json())?;
    } else {
        output::marked(&explained.text(if args.full { Cut::Never } else { Cut::Long }));
    }
    if found.shared > 1 {
        let (id, shared) = (inline(sample.id()), found.shared);
        output::note(&format!("{shared} rows have id {id}; this is row {}", found.row.index + 1));
    }
    Ok(Exit::Ok)
}

/// For each reward, what the cache knows before the sample is judged.
fn kept(engine: &Engine, sample: &Sample) -> Vec<&'static str> {
    let known = |at| match engine.is_kept(at, sample) {
        Some(true) => "hit",
        Some(false) => "miss",
        None => "off",
    };
    (0..engine.plan().rewards.len()).map(known).collect()
}
