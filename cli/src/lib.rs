//! The command line: one file a verb. Data go to stdout, everything else to stderr.

#![expect(clippy::format_push_string, reason = "what people read is short and built once")]

mod advantages;
mod attack;
mod audit;
mod bench;
mod cache;
mod check;
mod completion;
#[cfg(feature = "rubrics")]
mod convert;
mod diagnose;
mod diff;
mod doctor;
#[cfg(any(feature = "models", feature = "rubrics"))]
mod eval;
mod exit;
mod explain;
mod extract;
mod init;
mod join;
mod kinds;
mod line_data;
mod lints;
mod list;
mod man;
mod merge;
#[cfg(feature = "models")]
mod model;
mod output;
#[cfg(feature = "sandbox")]
mod precompile;
mod progress;
mod recipe;
mod report;
mod run_files;
mod run_texts;
mod schema;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod setup;
mod show;
mod shown;
mod signals;
mod spooled;
mod summary;
mod text;
mod threads;
mod ticker;
#[cfg(feature = "train")]
mod train;
mod trial;
mod validate;
mod verdict;
#[cfg(feature = "serve")]
mod view;

use std::ffi::OsString;
use std::io::IsTerminal as _;
#[cfg(feature = "models")]
use std::path::PathBuf;
use std::sync::Arc;

use assay::setup::Environment;
use assay::verifiers::code::Code;
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use exit::{Exit, Failure};
use threads::is_engine_thread;

/// Turns model outputs into rewards that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// The library of ONNX Runtime, or its folder; nothing else is then tried (or `ASSAY_ORT_LIB`)
    #[cfg(feature = "models")]
    #[arg(long, global = true, value_name = "PATH")]
    ort_lib: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Score a dataset into a run folder; goes on by itself where an earlier session stopped
    Score(score::Args),
    /// See whether right answers earn full reward and cheats do not; or whether a model is sound
    Validate(validate::Args),
    /// Attack a configuration on its rows: what is paid that should not be, and what is refused
    Audit(Box<audit::Args>),
    /// Make one run of its shards
    Merge(merge::Args),
    /// Show how one row came by its reward; or the faults, the lowest rewards and what disagrees
    Explain(explain::Args),
    /// Judge one completion with one verifier
    Check(check::Args),
    /// Show the answer of a completion, and whether it stands
    Extract(extract::Args),
    /// Show what moved between two runs, and why
    Diff(diff::Args),
    /// Write what came of a run as one page: figures of all rows, and some of the rows
    Report(report::Args),
    /// Show runs as pages on this machine: all rows, filtered and sorted; groups; what moved between runs
    #[cfg(feature = "serve")]
    View(view::Args),
    /// Tell what each rollout of a run earned, relative to the others of its prompt
    Advantages(advantages::Args),
    /// Put the rows that were scored and their rewards together, as JSON lines, Parquet or CSV
    Join(join::Args),
    /// Tell whether the rewards of a run can be trusted: pass@k, groups, length, drift, distance
    Diagnose(Box<diagnose::Args>),
    /// Train a policy by GRPO on the rewards of a configuration; goes on where it was stopped
    #[cfg(feature = "train")]
    Train(train::Args),
    /// Serve configurations over HTTP, by our protocol and those of trainers
    #[cfg(feature = "serve")]
    Serve(Box<serve::Args>),
    /// Write a rubric of another format in ours
    #[cfg(feature = "rubrics")]
    Convert(convert::Args),
    /// List the verifiers, or the formats of rubrics
    List(list::Args),
    /// Show the manual page of a verifier: an example, docs, settings, cases
    Show(show::Args),
    /// Compute the cases of recipes: rewards of the literature as data
    #[command(subcommand)]
    Recipe(recipe::Verb),
    /// Measure how fast a configuration judges a dataset
    Bench(bench::Args),
    /// Measure a reward model by a published protocol, or a judge by the labels of people
    #[cfg(any(feature = "models", feature = "rubrics"))]
    Eval(eval::Args),
    /// Make a model folder of an ONNX model that is on disk
    #[cfg(feature = "models")]
    #[command(subcommand)]
    Model(model::Verb),
    /// Tell what was found on this machine, what was skipped, and why
    Doctor(doctor::Args),
    /// Write a configuration and some rows to start from
    Init(init::Args),
    /// Look after the verdicts that are kept between runs
    Cache(cache::Args),
    /// Compile the guests of the sandbox ahead, so that the first program starts at once
    #[cfg(feature = "sandbox")]
    Precompile(precompile::Args),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or that of a verb
    Man(man::Args),
}

/// A verifier or a decoder that panics on a thread of the engine costs a verdict or a file, whose
/// fault carries the message: it is not printed to the terminal.
fn quiet_engine_panics() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if is_engine_thread() {
            assay::engine::note_panic(panic);
        } else {
            tell(panic);
        }
    }));
}

/// Runs the command with its arguments, of which the first is its own name, and returns its exit code.
/// `adjust` adds what the process knows beyond its environment.
pub fn run(args: impl IntoIterator<Item = OsString>, adjust: impl FnOnce(&mut Environment)) -> u8 {
    quiet_engine_panics();
    let args: Vec<OsString> = args.into_iter().collect();
    let is_json = args.iter().any(|arg| arg == "--json");
    let exit = match Cli::try_parse_from(&args) {
        Ok(cli) => {
            let exit = run_verb(cli, adjust).unwrap_or_else(|failure| failure.report(is_json));
            written(exit)
        }
        Err(error) if error.use_stderr() => {
            refused(&error, &args);
            if is_json {
                let told = in_words(&error.render().to_string());
                let line = told.lines().next().and_then(|line| line.strip_prefix("error: "));
                output::note(&Failure::usage(line.unwrap_or_default()).line());
            }
            Exit::Usage
        }
        Err(error) => {
            output::take_note(error.print());
            written(Exit::Ok)
        }
    };
    exit as u8
}

fn run_verb(cli: Cli, adjust: impl FnOnce(&mut Environment)) -> Result<Exit, Failure> {
    let mut environment = Environment::read();
    adjust(&mut environment);
    environment.notice = Some(Arc::new(|line: &str| output::note(line)));
    #[cfg(feature = "models")]
    environment.demand_ort_library(cli.ort_lib);
    let environment = &environment;
    unread_variables(environment);
    match cli.verb {
        Verb::Score(args) => score::run(&args, environment),
        Verb::Validate(args) => validate::run(&args, environment),
        Verb::Audit(args) => audit::run(&args, environment),
        Verb::Merge(args) => merge::run(&args),
        Verb::Explain(args) => explain::run(&args, environment),
        Verb::Check(args) => check::run(&args, environment),
        Verb::Extract(args) => extract::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Report(args) => report::run(&args),
        #[cfg(feature = "serve")]
        Verb::View(args) => view::run(&args),
        Verb::Advantages(args) => advantages::run(&args, environment),
        Verb::Join(args) => join::run(&args),
        Verb::Diagnose(args) => diagnose::run(&args),
        #[cfg(feature = "train")]
        Verb::Train(args) => train::run(&args, environment),
        #[cfg(feature = "serve")]
        Verb::Serve(args) => serve::run(&args, environment),
        #[cfg(feature = "rubrics")]
        Verb::Convert(args) => convert::run(&args),
        Verb::List(args) => list::run(&args, environment),
        Verb::Show(args) => show::run(&args, environment),
        Verb::Recipe(verb) => recipe::run(&verb, environment),
        Verb::Bench(args) => bench::run(&args, environment),
        #[cfg(any(feature = "models", feature = "rubrics"))]
        Verb::Eval(args) => eval::run(&args, environment),
        #[cfg(feature = "models")]
        Verb::Model(verb) => model::run(&verb, environment),
        Verb::Doctor(args) => doctor::run(&args, environment),
        Verb::Init(args) => init::run(&args),
        Verb::Cache(args) => cache::run(&args, environment),
        #[cfg(feature = "sandbox")]
        Verb::Precompile(args) => precompile::run(&args),
        Verb::Completions { shell } => Ok(completions(shell)),
        Verb::Man(args) => man::run(&args, Cli::command()),
    }
}

/// Says that a variable is not the flag that it is called after.
fn unread_variables(environment: &Environment) {
    for variable in &environment.unread {
        let Some(name) = variable.strip_prefix("ASSAY_") else { continue };
        let flag = name.to_ascii_lowercase().replace('_', "-");
        let is_flag = |command: &clap::Command| {
            command.get_arguments().any(|one| one.get_long() == Some(flag.as_str()))
        };
        if Cli::command().get_subcommands().any(is_flag) {
            output::note(&format!("note: the variable {variable} sets nothing: write --{flag}"));
        }
    }
}

/// Says what is wrong with the command line. An argument that a terminal would obey has no colours
/// beside it, as its own are not told from them.
fn refused(error: &clap::Error, args: &[OsString]) {
    let is_plain = args.iter().all(|arg| !arg.to_string_lossy().contains(char::is_control));
    let is_styled = is_plain && std::io::stderr().is_terminal() && !text::no_color();
    let told = error.render();
    let told = if is_styled { told.ansi().to_string() } else { told.to_string() };
    let told = in_words(&told).replacen("error:", &format!("error[{}]:", Code::Usage), 1);
    output::styled_note(told.trim_end());
}

/// What the parsers of numbers say, in words.
fn in_words(told: &str) -> String {
    const WORDS: [(&str, &str); 7] = [
        ("invalid digit found in string", "expected a whole number, as in 1000"),
        ("cannot parse integer from empty string", "expected a whole number, as in 1000"),
        ("number too large to fit in target type", "the number is too large"),
        ("invalid float literal", "expected a number, as in 0.5"),
        ("cannot parse float from empty string", "expected a number, as in 0.5"),
        ("is not in 1..18446744073709551615", "is not 1 or more"),
        ("is not in 1..=18446744073709551615", "is not 1 or more"),
    ];
    WORDS.iter().fold(told.to_owned(), |told, (own, words)| told.replace(own, words))
}

/// How the process ends, once everything was printed: what did not reach its reader is a failure.
fn written(exit: Exit) -> Exit {
    let Some(why) = output::finish() else { return exit };
    output::note(&format!("error[{}]: standard output: {why}", Code::Unwritable));
    if exit == Exit::Ok { Exit::Fault } else { exit }
}

fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "assay", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Exit::Ok
}
