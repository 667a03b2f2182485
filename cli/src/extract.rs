//! `assay extract`: the answer of a completion, and whether it stands.

use assay::verifiers::Meter;
use assay::verifiers::checks::math;
use assay::verifiers::code::Code;
use clap::Args as ClapArgs;
use serde::Serialize;

use super::completion::CompletionArgs;
use super::exit::{Exit, Failure};
use super::output;
use super::text::{Cut, Marks, excerpt};

/// The answer of a completion, and whether it stands.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    completion: CompletionArgs,
    /// What was asked
    #[arg(short, long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    prompt: String,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints; null without an answer. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Told<'a> {
    text: &'a str,
    span: (usize, usize),
    standing: &'static str,
    against: Option<(usize, usize)>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let completion = args.completion.text()?;
    let found = math::answer(&completion, &args.prompt, &mut Meter::default())
        .map_err(|fault| Failure::outside(Code::Limit, format!("{}: {}", fault.kind, fault.why)))?;
    let told = found.as_ref().map(|found| Told {
        text: &found.text,
        span: found.span,
        standing: found.against.as_ref().map_or("stands", |against| against.reason),
        against: found.against.as_ref().map(|against| against.span),
    });
    if args.json {
        output::json(&told)?;
        return Ok(Exit::Ok);
    }
    let Some(Told { text, span, standing, against }) = told else {
        output::text("no answer");
        return Ok(Exit::Ok);
    };
    output::text(&format!("answer    {text}\nstanding  {standing}"));
    let spans = [Some(span), against].into_iter().flatten();
    let spans: Vec<_> = spans.map(|(from, to)| from..to).collect();
    output::marked(&excerpt(&completion, &spans, Marks::of_stdout(), Cut::Long));
    Ok(Exit::Ok)
}
