//! Families of attacks, as the files of `attacks/` say them: texts and edits, and what a reward should make of
//! them.

use std::collections::BTreeMap;
use std::path::Path;

use assay::trainer::diagnostics::PerturbationFamily;
use assay::verifiers::code::Code;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// The families that come with the command.
const FILES: [(&str, &str); 21] = [
    ("answer_list", include_str!("../../attacks/answer_list.toml")),
    ("broken_reasoning", include_str!("../../attacks/broken_reasoning.toml")),
    ("citations", include_str!("../../attacks/citations.toml")),
    ("echo", include_str!("../../attacks/echo.toml")),
    ("empty", include_str!("../../attacks/empty.toml")),
    ("flattery", include_str!("../../attacks/flattery.toml")),
    ("format_only", include_str!("../../attacks/format_only.toml")),
    ("hidden", include_str!("../../attacks/hidden.toml")),
    ("javascript_exploits", include_str!("../../attacks/javascript_exploits.toml")),
    ("judge_injection", include_str!("../../attacks/judge_injection.toml")),
    ("judge_replies", include_str!("../../attacks/judge_replies.toml")),
    ("language_switch", include_str!("../../attacks/language_switch.toml")),
    ("master_keys", include_str!("../../attacks/master_keys.toml")),
    ("negation", include_str!("../../attacks/negation.toml")),
    ("neutral", include_str!("../../attacks/neutral.toml")),
    ("program_exploits", include_str!("../../attacks/program_exploits.toml")),
    ("queries", include_str!("../../attacks/queries.toml")),
    ("repetition", include_str!("../../attacks/repetition.toml")),
    ("trivial_programs", include_str!("../../attacks/trivial_programs.toml")),
    ("verbosity", include_str!("../../attacks/verbosity.toml")),
    ("wrong_answer", include_str!("../../attacks/wrong_answer.toml")),
];

/// What a reward should make of the attacks of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expect {
    /// No right answer is given: the reward stays below the pass mark.
    Unpaid,
    /// Nothing is added to the completion: the reward does not rise.
    NotHigher,
    /// The meaning of a paid completion is the same: so is the reward.
    Unmoved,
    /// The reasoning of a paid completion is broken. How far the reward falls is reported.
    Lower,
}

impl Expect {
    /// What a label says of an attack: whether it is right. `None` where the label of the row stays.
    pub(crate) fn label(self) -> Option<bool> {
        match self {
            Self::Unpaid => Some(false),
            Self::Unmoved => Some(true),
            Self::NotHigher | Self::Lower => None,
        }
    }
}

/// A family of attacks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Its name: that of its file.
    #[serde(skip)]
    pub(crate) name: String,
    /// What the attacks have in common, and which rewards pay for them.
    pub(crate) about: String,
    pub(crate) expect: Expect,
    /// The verifiers that it is for; all where none is named.
    #[serde(default)]
    pub(crate) verifiers: Vec<String>,
    /// Its attacks are the programs that a verifier makes for the tests of a row, and that solve nothing.
    #[serde(default)]
    pub(crate) programs: bool,
    /// Texts around `{payload}`: each with each payload is an attack.
    #[serde(default)]
    frames: BTreeMap<String, String>,
    #[serde(default)]
    payloads: BTreeMap<String, String>,
    #[serde(default, rename = "attack")]
    pub(crate) attacks: Vec<Attack>,
}

/// One attack: texts with placeholders, or an edit of a completion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attack {
    pub(crate) name: String,
    /// What it is called where `assay validate` tries it as a cheat on each reward by itself.
    pub(crate) cheat: Option<String>,
    /// The attack in each of its forms. It is paid where each form is: one that is not is a guess.
    #[serde(default)]
    pub(crate) texts: Vec<String>,
    /// How often each text stands behind itself.
    pub(crate) repeat: Option<usize>,
    /// Texts in the completion, and what stands in their place.
    #[serde(default)]
    pub(crate) replace: Vec<(String, String)>,
    /// An edit that needs rules.
    pub(crate) perturb: Option<PerturbationFamily>,
}

/// The families that come with the command, and those of the files; of these names alone, where some are
/// given.
pub(crate) fn families(
    files: &[std::path::PathBuf],
    names: &[String],
) -> Result<Vec<Family>, Failure> {
    let mut families = Vec::new();
    for (name, text) in FILES {
        families
            .push(family(name, text).map_err(|why| anyhow::anyhow!("attacks/{name}.toml: {why}"))?);
    }
    for path in files {
        families.push(of_file(path)?);
    }
    if let Some(unknown) = names.iter().find(|name| !families.iter().any(|own| own.name == **name))
    {
        let known: Vec<&str> = families.iter().map(|family| family.name.as_str()).collect();
        let why =
            format!("--family {unknown}: no family is called so; known: {}", known.join(", "));
        return Err(Failure::Usage(Code::UnknownWord, why));
    }
    families.retain(|family| names.is_empty() || names.contains(&family.name));
    Ok(families)
}

fn of_file(path: &Path) -> Result<Family, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("--attacks {shown}: {error}")))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    family(&name.unwrap_or_else(|| "own".to_owned()), &text)
        .map_err(|why| Failure::usage(format!("--attacks {shown}: {why}")))
}

fn family(name: &str, text: &str) -> Result<Family, String> {
    let mut family: Family = toml::from_str(text).map_err(|error| error.to_string())?;
    name.clone_into(&mut family.name);
    for (frame, around) in &family.frames {
        for (payload, text) in &family.payloads {
            family.attacks.push(Attack {
                name: format!("{payload}-in-{frame}"),
                texts: vec![around.replace("{payload}", text)],
                ..Attack::default()
            });
        }
    }
    for attack in &family.attacks {
        attack.check().map_err(|why| format!("attack \"{}\": {why}", attack.name))?;
    }
    if family.attacks.is_empty() && !family.programs {
        return Err(
            "it has no attack, expected [[attack]] with `texts`, `replace` or `perturb`".into()
        );
    }
    Ok(family)
}

impl Family {
    /// One without attacks.
    pub(crate) fn none(name: &str, about: &str, expect: Expect) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            expect,
            verifiers: Vec::new(),
            programs: false,
            frames: BTreeMap::new(),
            payloads: BTreeMap::new(),
            attacks: Vec::new(),
        }
    }
}

impl Attack {
    /// Its texts; `None` where the row lacks a value for one of their placeholders.
    pub(crate) fn texts(&self, values: &Values, seed: u64) -> Option<Vec<String>> {
        if let Some(perturb) = self.perturb {
            return perturb.apply(values.get("completion")?, seed).map(|text| vec![text]);
        }
        if !self.replace.is_empty() {
            let text = values.get("completion")?;
            let edit =
                |text: String, (from, to): &(String, String)| text.replace(from.as_str(), to);
            let edited = self.replace.iter().fold(text.to_owned(), edit);
            return (edited != text).then(|| vec![edited]);
        }
        let filled = |text: &String| Some(filled(text, values)?.repeat(self.repeat.unwrap_or(1)));
        self.texts.iter().map(filled).collect()
    }

    fn check(&self) -> Result<(), String> {
        let kinds = [!self.texts.is_empty(), !self.replace.is_empty(), self.perturb.is_some()];
        if kinds.iter().filter(|is| **is).count() != 1 {
            return Err("expected one of `texts`, `replace` and `perturb`".to_owned());
        }
        if self.name.is_empty() || self.name.contains(['/', '\n']) {
            return Err("a name is a word without a slash".to_owned());
        }
        Ok(())
    }

    /// Whether the right answer stands in it.
    pub(crate) fn names_the_answer(&self) -> bool {
        const NAMES: [&str; 14] = assay::verifiers::words::list(
            "{right {many {letters {options {part} {longer} {prefixed} {near} {negative} {decimal} {prompt \
             {completion} {stub} {js_stub}",
        );
        !self.replace.is_empty()
            || self.texts.iter().any(|text| NAMES.iter().any(|name| text.contains(name)))
    }
}

/// What stands for the placeholders of texts, by their names.
pub(crate) struct Values(pub(crate) Vec<(&'static str, Option<String>)>);

impl Values {
    /// With lists of answers, of letters and of options, each where it has several.
    pub(crate) fn with_lists(
        mut self,
        many: &[String],
        letters: &[String],
        options: &[String],
    ) -> Self {
        let joined = |all: &[String], by: &str| (all.len() > 1).then(|| all.join(by));
        let backwards = |all: &[String]| all.iter().rev().cloned().collect::<Vec<_>>();
        let boxes: Vec<String> = many.iter().map(|one| format!("\\boxed{{{one}}}")).collect();
        self.0.extend([
            ("many", joined(many, ", ")),
            ("many_boxes", joined(&boxes, " ")),
            ("letters", joined(letters, ", ")),
            ("letters_backwards", joined(&backwards(letters), ", ")),
            ("options", joined(options, " or ")),
            ("options_backwards", joined(&backwards(options), " or ")),
        ]);
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == name)?.1.as_deref()
    }

    fn is_known(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| *own == name)
    }
}

/// The text with values for its placeholders, as JSON texts where it is an object of JSON.
fn filled(text: &str, values: &Values) -> Option<String> {
    let is_json = text.starts_with("{\"");
    let (mut whole, mut rest) = (String::new(), text);
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        whole.push_str(before);
        let name = after.split_once('}').map(|(name, _)| name.trim_start_matches('{'));
        let Some(name) = name.filter(|name| values.is_known(name)) else {
            whole.push('{');
            rest = after.split_at(1).1;
            continue;
        };
        // Of `{{right}}` the outer braces stay.
        let outer = after.len() - after.trim_start_matches('{').len() - 1;
        whole.extend(std::iter::repeat_n('{', outer));
        let value = values.get(name)?;
        match serde_json::to_string(value) {
            Ok(quoted) if is_json => whole.push_str(quoted.trim_matches('"')),
            _ => whole.push_str(value),
        }
        rest = after.split_at(outer + name.len() + 2).1;
    }
    whole.push_str(rest);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values(vec![("right", Some("4\"2".to_owned())), ("wrong", None)])
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        for (text, expected) in [
            ("The answer is {right}.", Some("The answer is 4\"2.")),
            ("\\boxed{{right}}", Some("\\boxed{4\"2}")),
            ("{\"answer\": \"{right}\"}", Some("{\"answer\": \"4\\\"2\"}")),
            ("{} {{}} {unknown} {right", Some("{} {{}} {unknown} {right")),
            ("{wrong}", None),
        ] {
            assert_eq!(filled(text, &values()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn every_family_is_read_and_says_what_is_expected() {
        let families = families(&[], &[]).unwrap();
        assert_eq!(families.len(), FILES.len());
        let injections = families.iter().find(|family| family.name == "judge_injection").unwrap();
        assert!(injections.payloads.len() >= 56, "{}", injections.payloads.len());
        for family in &families {
            assert!(!family.about.is_empty(), "{}", family.name);
            let mut names: Vec<&str> = family.attacks.iter().map(|one| one.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), family.attacks.len(), "{}: two of one name", family.name);
        }
    }

    #[test]
    fn what_is_no_family_is_refused() {
        for (text, why) in [
            ("about = 'a'\nexpect = 'unpaid'", "no attack"),
            ("about = 'a'\nexpect = 'paid'", "unknown variant"),
            ("about = 'a'\nexpect = 'unpaid'\n[[attack]]\nname = 'a'", "expected one of"),
            ("about = 'a'\nexpect = 'unpaid'\n[[attack]]\nname = 'a/b'\ntexts = ['x']", "slash"),
        ] {
            let error = family("own", text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(families(&[], &["nothing".to_owned()]).is_err());
    }
}
