//! `assay train`: a policy learns from the rewards of a configuration.

mod args;
mod folder;
mod learning;
mod lines;
mod plain;
mod policy;
mod prepared;
mod recorder;
mod session;
mod summary;
mod view;
mod watched;

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};

use assay::engine::runs::{CONFIG, MANIFEST, RunStart, SUMMARY};
use assay::setup::{Environment, Monotonic};

use super::exit::{Exit, Failure};
use super::output;
use super::signals::stop_on_signals;
pub(super) use args::Args;
use folder::{EVALUATIONS, METRICS, MODEL, TrainFolder, TrainManifest, WARNINGS};
use learning::learn;
use plain::PlainLines;
use prepared::Prepared;
use recorder::{Recorder, Told};
use session::Ended;
use summary::{SummaryFiles, TrainSummary};
use view::View;
use watched::Watched;

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let prepared = Prepared::read(args, environment)?;
    let folder = TrainFolder::open(&args.output, std::process::id())?;
    let manifest = prepared.manifest();
    let start = begin(args, &folder, &manifest)?;
    folder.write_json(CONFIG, &prepared.resolved())?;
    let clock = Monotonic::start();
    if start == RunStart::Done {
        if !args.quiet {
            output::note(&format!("{}: complete already", args.output.display()));
        }
        tell(args, &folder.summary()?)?;
        return Ok(Exit::Ok);
    }
    folder.write_json(MANIFEST, &manifest)?;
    let ended = train(args, prepared, &folder)?;
    let manifest = TrainManifest { complete: ended == Ended::Complete, ..manifest };
    finish(args, &folder, &manifest, clock.seconds())?;
    Ok(match ended {
        Ended::Complete => Exit::Ok,
        Ended::Stopped => Exit::Interrupted,
        Ended::Warned => Exit::Threshold,
    })
}

/// How the training starts in its folder, which is emptied where it starts over.
fn begin(args: &Args, folder: &TrainFolder, manifest: &TrainManifest) -> Result<RunStart, Failure> {
    let start = if args.fresh { RunStart::Fresh } else { folder.start(manifest)? };
    if start == RunStart::Fresh {
        if args.resume {
            let folder = args.output.display();
            return Err(Failure::usage(format!("--resume: {folder} has nothing to go on with")));
        }
        folder.clear()?;
    }
    Ok(start)
}

/// Trains, and says how it ended.
fn train(args: &Args, prepared: Prepared, folder: &TrainFolder) -> Result<Ended, Failure> {
    // The threads of one training: nothing else of the command takes the pool that all share.
    let threads = rayon::ThreadPoolBuilder::new().num_threads(prepared.config.threads);
    threads.build_global().map_err(|error| anyhow::anyhow!("threads: {error}"))?;
    let stop = stop_on_signals()?;
    let title = format!("{} -> {}", args.config.config.display(), args.output.display());
    let steps = prepared.config.steps;
    let watched = Arc::new(Mutex::new(Watched { title, steps, ..Watched::default() }));
    let told = if args.quiet {
        Told::Nothing
    } else if args.plain || !std::io::stderr().is_terminal() {
        Told::Lines(PlainLines::start())
    } else {
        Told::View(View::start(Arc::clone(&watched), stop.clone()))
    };
    learn(prepared, folder, &stop, |step| Recorder::new(folder, step, watched, told))
}

/// Writes what the training came to, and tells it.
fn finish(
    args: &Args,
    folder: &TrainFolder,
    manifest: &TrainManifest,
    seconds: f64,
) -> Result<(), Failure> {
    let paths = [METRICS, EVALUATIONS, WARNINGS].map(|name| folder.path(name));
    let [metrics, evaluations, warnings] = &paths;
    let read = TrainSummary::read(&SummaryFiles { metrics, evaluations, warnings })?;
    let complete = manifest.complete;
    let model = complete.then(|| folder.path(MODEL).display().to_string());
    let summary = TrainSummary { complete, seconds, model, ..read };
    folder.write_json(SUMMARY, &summary)?;
    folder.write_json(MANIFEST, manifest)?;
    tell(args, &summary)?;
    if !args.quiet {
        let run = args.output.display();
        output::note(&match &summary.model {
            Some(model) => format!("{run}: {} steps; the policy: {model}", summary.steps),
            None => {
                format!(
                    "{run}: stopped after {} steps: run the same command to go on",
                    summary.steps
                )
            }
        });
    }
    Ok(())
}

/// Prints what the training came to.
fn tell(args: &Args, summary: &TrainSummary) -> Result<(), Failure> {
    if args.json {
        output::json(summary)?;
    } else {
        output::text(&summary.text());
    }
    Ok(())
}
