//! `assay man`: the manual page of the command, and that of each verb.

use clap::{Args as ClapArgs, Command};

use super::exit::{Exit, Failure};
use super::output;
use super::text::inline;

/// Print the manual page.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The verb whose page is printed, as in `assay man score` or `assay man cache stats`; by default
    /// the page of the command, which names them all
    verb: Vec<String>,
}

/// Prints the page of `command`, or of the verb of it that is asked for. Every page that a page
/// names can be printed.
pub(super) fn run(args: &Args, command: Command) -> Result<Exit, Failure> {
    let mut command = without_help(command);
    command.build();
    for verb in &args.verb {
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let Some(found) = command.find_subcommand(verb) else {
            let verbs = names.join(", ");
            let (have, of) = (inline(verb), command.get_name());
            let why = format!("{of} has no verb \"{have}\", and no page of it; there are: {verbs}");
            return Err(Failure::usage(why));
        };
        command = found.clone();
    }
    let has_verbs = command.has_subcommands();
    let verb = args.verb.join(" ");
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    if has_verbs {
        let more = if verb.is_empty() { String::new() } else { format!("{verb} ") };
        text.push_str(&format!(
            ".SH PAGES\n\\fBassay man {more}\\fR\\fIVERB\\fR prints the page of a verb.\n"
        ));
    }
    output::text(&text);
    Ok(Exit::Ok)
}

/// The command without the verb `help`, which has no page.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
