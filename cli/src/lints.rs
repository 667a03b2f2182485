//! Lints: what is wrong with a configuration and its rows, each under a code. A lint is a file in `lints/`, whose
//! doc comment is its page, and a word below; one that looks for texts in rows is an entry of `lints/texts.toml`.

pub(crate) mod look;
mod problem;
pub(crate) mod script;
mod sentences;
mod texts;

use assay::ConfigError;
use assay::data::DataError;
use assay::engine::Document;
use assay::verifiers::code::Code;

use look::{Finding, Look, Tested};
pub(crate) use problem::Problem;

/// How a lint looks.
enum Find {
    /// At rows beside the plan: `assay score` says it too.
    Rows(fn(Look<'_>) -> Vec<Finding>),
    /// At what came of a trial.
    Trial(fn(Tested<'_>) -> Vec<Finding>),
}

/// A lint, and the file whose first comment is its page.
struct Lint {
    code: &'static str,
    file: &'static str,
    find: Find,
}

impl Lint {
    fn page(&self) -> String {
        let lines = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// What its page says to type.
    fn fix(&self) -> String {
        let page = self.page();
        let rest = page.split_once("Fix: ").map_or("", |(_, rest)| rest);
        let (fix, _) = rest.split_once("\n\n").unwrap_or((rest, ""));
        fix.trim_end().trim_end_matches('.').replace('\n', " ")
    }
}

macro_rules! lints {
    (rows: $($rows:ident)+, trial: $($trial:ident)+) => {
        $(mod $rows;)+
        $(mod $trial;)+

        const OWN: &[Lint] = &[
            $(Lint {
                code: stringify!($rows),
                file: include_str!(concat!("lints/", stringify!($rows), ".rs")),
                find: Find::Rows(|look| $rows::find(look).into_iter().collect()),
            },)+
            $(Lint {
                code: stringify!($trial),
                file: include_str!(concat!("lints/", stringify!($trial), ".rs")),
                find: Find::Trial(|tested| $trial::find(tested).into_iter().collect()),
            },)+
        ];
    };
}

lints! {
    rows:
        duplicate_id
        group_layout
        mixed_group
        nested_reference
        verifier_slip
        wrong_column,
    trial:
        abstained_as_zero
        combination_fails
        constant_reward
        duplicate_reward
        format_only
        gate_never_passes
        idle_reward
        idle_shape
        integer_division
        inverted_reward
        known_hack_paid
        missing_else
        other_settings
        paid_fault
        python_signature
        right_earns_nothing
        unknown_name
        unread_message
        verifier_fails
        when_never_holds
}

/// Every code with its page: what the lint looks at, and what to do.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let own = OWN.iter().map(|lint| (lint.code, lint.page()));
    let mut all: Vec<_> =
        own.chain(texts::pages().map(|(code, page)| (code, page.to_owned()))).collect();
    all.sort();
    all
}

/// All pages: `docs/lints.md`.
pub(crate) fn all_pages() -> String {
    let head = "# Lints\n\nWhat `assay validate` finds in a configuration and its rows, by code. `[lint] allow = [\"CODE\"]` or `--allow CODE`\n\
                leaves one out, `assay show lint:CODE` prints its page. `assay score` notes those that look at rows alone.\n";
    let page = |(code, page): (&'static str, String)| format!("\n## {code}\n\n{}\n", page.trim());
    std::iter::once(head.to_owned()).chain(pages().into_iter().map(page)).collect()
}

/// The codes that are not wanted: of the configuration, and of flags.
///
/// # Errors
/// A code that no lint has.
pub(crate) fn allowed(
    document: &Document,
    codes: &[String],
    flags: &[String],
) -> Result<Vec<String>, ConfigError> {
    let known: Vec<&str> = pages().into_iter().map(|(code, _)| code).collect();
    let own = codes.iter().enumerate().map(|(at, code)| (format!("lint.allow[{at}]"), code));
    for (key, code) in own.chain(flags.iter().map(|code| ("--allow".to_owned(), code))) {
        if !known.contains(&code.as_str()) {
            let error = document.error(&key, format!("no lint is called {code:?}"));
            return Err(error.code(Code::UnknownWord).known(code, known));
        }
    }
    Ok(codes.iter().chain(flags).cloned().collect())
}

/// A finding with its sentence, and with what to type, under its code.
fn told(
    code: &'static str,
    found: Finding,
    fix: impl FnOnce() -> String,
) -> (&'static str, Finding) {
    let [message, help] = sentences::of(code, found.says, &found.fields);
    let help = [&found.help, &help].into_iter().find(|own| !own.is_empty()).cloned();
    let help = help.unwrap_or_else(fix);
    (found.code.unwrap_or(code), Finding { message, help, ..found })
}

/// What is found in rows; `tested` where they were tried.
fn found(
    look: Look<'_>,
    tested: Option<Tested<'_>>,
    allow: &[String],
) -> Vec<(&'static str, Finding)> {
    let own = OWN.iter().flat_map(|lint| {
        let found = match (&lint.find, tested) {
            (Find::Rows(find), _) => find(look),
            (Find::Trial(find), Some(tested)) => find(tested),
            (Find::Trial(_), None) => Vec::new(),
        };
        found.into_iter().map(|finding| told(lint.code, finding, || lint.fix()))
    });
    let texts = texts::find(look, tested).into_iter();
    let mut all: Vec<_> = texts.map(|(code, own)| told(code, own, String::new)).collect();
    all.extend(own);
    // A name that is not there is why the script fails, abstains or is the same on all rows.
    let is_named_wrong =
        |own: &Finding| own.is_error && own.fields.iter().any(|(name, _)| *name == "name");
    let script = |own: &Finding| match &own.place {
        look::Place::Script(at, _) => Some(*at),
        _ => None,
    };
    let wrong = all.iter().filter(|(_, own)| is_named_wrong(own));
    let wrong: Vec<usize> = wrong.filter_map(|(_, own)| script(own)).collect();
    // What is lost in all rows is why other settings find answers in what is left.
    let is_lost = all.iter().any(|(code, _)| *code == "lost_backslash");
    all.retain(|(code, own)| {
        let is_told = script(own).is_some_and(|at| wrong.contains(&at)) && !is_named_wrong(own);
        let is_hidden = is_lost && *code == "other_settings";
        !is_told && !is_hidden && !allow.iter().any(|own| own == code)
    });
    all
}

/// What lints find in rows alone, a line each.
pub(crate) fn notes(look: Look<'_>, allow: &[String]) -> Vec<String> {
    let found = found(look, None, allow).into_iter();
    found.map(|(code, own)| format!("note: {}; {} [{code}]", own.message, own.help)).collect()
}

/// The errors and the warnings of a configuration that was tried.
pub(crate) fn problems(
    tested: Tested<'_>,
    document: &Document,
    allow: &[String],
) -> (Vec<Problem>, Vec<Problem>) {
    let found = found(tested.look, Some(tested), allow);
    let (errors, warnings): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, own)| own.is_error);
    let placed = |found: Vec<(&'static str, Finding)>| -> Vec<Problem> {
        found.into_iter().map(|(code, own)| placed(code, own, tested, document)).collect()
    };
    (placed(errors), placed(warnings))
}

#[expect(clippy::indexing_slicing, reason = "a finding is of a reward or a script of the plan")]
fn placed(code: &'static str, found: Finding, tested: Tested<'_>, document: &Document) -> Problem {
    let (key, error) = match found.place {
        look::Place::Key(key) => {
            let error = document.error(&key, found.message);
            (key, error)
        }
        look::Place::Reward(at, key) => {
            let name = &tested.plan().names[at];
            let of = if key.is_empty() { "verifier" } else { &key };
            let error = document.error(&format!("reward[{at}].{of}"), found.message);
            (format!("reward.{name}.{key}").trim_end_matches('.').to_owned(), error)
        }
        look::Place::Script(at, part) => {
            let script = &tested.scripts[at];
            (script.key.clone(), script.error(document, part, found.message))
        }
    };
    let help = Some(found.help).filter(|help| !help.is_empty());
    Problem::new(code, &key, found.fields, error.help(help))
}

/// A column that the configuration names and no row has.
pub(crate) fn absent_column(document: &Document, error: &DataError) -> Option<Problem> {
    let DataError::NoColumn { key, .. } = error else { return None };
    let told = error.to_string();
    let (message, help) = told.split_once('\n').unwrap_or((&told, ""));
    let help = Some(help.trim().to_owned()).filter(|help| !help.is_empty());
    Some(Problem::new("no_column", key, Vec::new(), document.error(key, message).help(help)))
}
