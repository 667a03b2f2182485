//! Where answers stand: `fixtures/extract`, for all checks alike.

use assay_verifiers::Meter;
use assay_verifiers::extract::{Policy, Scope, Spoken, Thinking, announced, thinking, unannounced};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    case: Vec<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    name: String,
    #[serde(default)]
    thinking: Thinking,
    text: String,
    answer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadCase {
    name: String,
    /// How the case tries to be paid.
    #[serde(rename = "hack")]
    _hack: Option<String>,
    #[serde(default)]
    prompt: String,
    completion: String,
    extracted: Option<String>,
}

#[test]
fn answers_begin_behind_the_thinking() {
    let text = include_str!("../../../fixtures/extract/thinking.toml");
    let file: File<Answered> = toml::from_str(text).unwrap();
    let wrong: Vec<String> = file
        .case
        .iter()
        .filter_map(|case| {
            let part = thinking::answer(&case.text, case.thinking);
            let got = part.map(|part| case.text.get(part).unwrap());
            (got != case.answer.as_deref()).then(|| format!("{}: {got:?}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_stand_where_they_are_announced() {
    let text = include_str!("../../../fixtures/extract/answers.toml");
    let file: File<ReadCase> = toml::from_str(text).unwrap();
    let wrong: Vec<String> = file
        .case
        .iter()
        .filter_map(|case| {
            let got = extracted(&case.completion, &case.prompt);
            (got != case.extracted)
                .then(|| format!("{}: {got:?}, not {:?}", case.name, case.extracted))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn extracted(completion: &str, prompt: &str) -> Option<String> {
    let spoken = Spoken::of(completion, Thinking::Skip);
    let scope = Scope::of(&spoken, prompt);
    let mut found = announced(&scope, Policy::Auto, &mut Meter::default()).unwrap();
    if found.is_empty() {
        found = unannounced(&scope, Policy::Auto);
        // The whole text is the answer where it is nothing but a value; the check decides that.
        found.retain(|candidate| candidate.text != spoken.text().trim());
    }
    let text = found.first()?.text.trim_end_matches(['.', '。', ' ', '*']);
    Some(text.trim_matches('$').to_owned())
}
