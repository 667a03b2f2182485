//! The prompts of a verifier: ours, or those of files that its settings name.

use std::thread;

use assay_verifiers::{BuildError, Spec, canonical, jinja};

use minijinja::Environment;

use super::scope::RubricScope;
use crate::prompt::PromptTemplate;

/// A prompt: its setting, the file that the setting names, and ours.
pub(super) type PromptSource<'a> = (&'static str, Option<&'a str>, &'static str);

/// What every template sees.
const SEEN: [&str; 8] =
    ["prompt", "reference", "completion", "first", "second", "completions", "fenced", "code"];
/// What holds a text that is judged.
const JUDGED: [&str; 5] = ["completion", "answer", "first", "second", "completions"];

/// The templates of the system message and of the message of the user, which see `more` beside [`SEEN`]. What
/// they are goes into `spec`.
pub(super) fn template(
    scope: &RubricScope<'_>,
    [system, user]: [PromptSource<'_>; 2],
    more: &[&str],
    spec: &mut Spec,
) -> Result<PromptTemplate, BuildError> {
    let mut text = |(setting, file, ours): PromptSource<'_>| {
        let text = match file {
            Some(file) => read(scope, setting, file)?,
            None => ours.to_owned(),
        };
        spec.files.push((setting.to_owned(), canonical::digest_parts(&[text.as_bytes()])));
        Ok::<_, BuildError>(text)
    };
    let settings = [(system.0, system.1.is_some()), (user.0, user.1.is_some())];
    let texts = [text(system)?, text(user)?];
    let [system, user] = &texts;
    let template =
        PromptTemplate::new(system, user).map_err(|error| BuildError::new("user_prompt", error))?;
    if !settings.iter().any(|(_, is_own)| *is_own) {
        return Ok(template);
    }
    let named = [names(system), names(user)];
    for (((setting, is_own), text), named) in settings.into_iter().zip(&texts).zip(&named) {
        if is_own && let Some(name) = unknown(text, named, more) {
            let there: Vec<&str> = SEEN.iter().chain(more).copied().collect();
            return Err(BuildError::new(
                setting,
                format!(
                    "the template names `{name}`, which is not there; there are: {}",
                    there.join(", ")
                ),
            ));
        }
    }
    if !named.iter().flatten().any(|name| JUDGED.contains(&name.as_str())) {
        let what = if more.contains(&"criteria") {
            "`completion`: write {{ fenced(\"RESPONSE\", completion) }}"
        } else {
            "what is judged: write {{ fenced(\"RESPONSE A\", first) }} and {{ fenced(\"RESPONSE B\", second) }}, \
             or show each of `completions`"
        };
        return Err(BuildError::new("user_prompt", format!("the template never shows {what}")));
    }
    Ok(template)
}

/// The variables that a template names, in the order of the alphabet. A deep one is read on a stack of its own.
fn names(text: &str) -> Vec<String> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(jinja::STACK_BYTES);
        let worker = worker.spawn_scoped(scope, || named(text)).ok();
        worker.and_then(|worker| worker.join().ok()).unwrap_or_default()
    })
}

fn named(text: &str) -> Vec<String> {
    let environment = Environment::new();
    let Ok(template) = environment.template_from_str(text) else { return Vec::new() };
    let mut names: Vec<String> = template.undeclared_variables(false).into_iter().collect();
    let globals: Vec<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    names.retain(|name| !globals.contains(name));
    names.sort();
    names
}

/// The first of the variables of a template that is not there, and that it does not ask for first.
fn unknown<'n>(text: &str, named: &'n [String], more: &[&str]) -> Option<&'n str> {
    let is_guarded = |name: &str| {
        let guards = [
            format!("{name} |"),
            format!("{name}|"),
            format!("{name} is "),
            format!("if {name}"),
            format!("if not {name}"),
            format!("and {name}"),
            format!("or {name}"),
        ];
        guards.iter().any(|guard| text.contains(guard.as_str()))
    };
    let is_there = |name: &str| SEEN.contains(&name) || more.contains(&name);
    named.iter().map(String::as_str).find(|name| !is_there(name) && !is_guarded(name))
}

/// The template of a file, or the text itself: no file has braces or lines in its name, or none at all.
fn read(scope: &RubricScope<'_>, setting: &str, file: &str) -> Result<String, BuildError> {
    if file.is_empty() || file.contains(['{', '\n']) {
        return Ok(file.to_owned());
    }
    scope.files.text(setting, file)
}
