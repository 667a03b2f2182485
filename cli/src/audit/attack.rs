//! Families of attacks, as the files of `attacks/` say them: texts and edits, and what a reward should make of
//! them.

use std::collections::BTreeMap;
use std::path::Path;

use assay::trainer::diagnostics::PerturbationFamily;
use assay::verifiers::code::Code;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// The families that come with the command.
const FILES: [(&str, &str); 19] = [
    ("answer_list", include_str!("../../../attacks/answer_list.toml")),
    ("broken_reasoning", include_str!("../../../attacks/broken_reasoning.toml")),
    ("echo", include_str!("../../../attacks/echo.toml")),
    ("empty", include_str!("../../../attacks/empty.toml")),
    ("flattery", include_str!("../../../attacks/flattery.toml")),
    ("format_only", include_str!("../../../attacks/format_only.toml")),
    ("hidden", include_str!("../../../attacks/hidden.toml")),
    ("javascript_exploits", include_str!("../../../attacks/javascript_exploits.toml")),
    ("judge_injection", include_str!("../../../attacks/judge_injection.toml")),
    ("language_switch", include_str!("../../../attacks/language_switch.toml")),
    ("master_keys", include_str!("../../../attacks/master_keys.toml")),
    ("negation", include_str!("../../../attacks/negation.toml")),
    ("neutral", include_str!("../../../attacks/neutral.toml")),
    ("program_exploits", include_str!("../../../attacks/program_exploits.toml")),
    ("queries", include_str!("../../../attacks/queries.toml")),
    ("repetition", include_str!("../../../attacks/repetition.toml")),
    ("trivial_programs", include_str!("../../../attacks/trivial_programs.toml")),
    ("verbosity", include_str!("../../../attacks/verbosity.toml")),
    ("wrong_answer", include_str!("../../../attacks/wrong_answer.toml")),
];

/// What a reward should make of the attacks of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
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
    pub(super) fn label(self) -> Option<bool> {
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
pub(super) struct Family {
    /// Its name: that of its file.
    #[serde(skip)]
    pub(super) name: String,
    /// What the attacks have in common, and which rewards pay for them.
    pub(super) about: String,
    pub(super) expect: Expect,
    /// The verifiers that it is for; all where none is named.
    #[serde(default)]
    pub(super) verifiers: Vec<String>,
    /// Its attacks are the programs that a verifier makes for the tests of a row, and that solve nothing.
    #[serde(default)]
    pub(super) programs: bool,
    /// Texts around `{payload}`: each with each payload is an attack.
    #[serde(default)]
    frames: BTreeMap<String, String>,
    #[serde(default)]
    payloads: BTreeMap<String, String>,
    #[serde(default, rename = "attack")]
    pub(super) attacks: Vec<Attack>,
}

/// One attack: texts with placeholders, or an edit of a completion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attack {
    pub(super) name: String,
    /// The attack in each of its forms. It is paid where each form is: one that is not is a guess.
    #[serde(default)]
    pub(super) texts: Vec<String>,
    /// How often each text stands behind itself.
    #[serde(default)]
    pub(super) repeat: Option<usize>,
    /// Texts in the completion, and what stands in their place.
    #[serde(default)]
    pub(super) replace: Vec<(String, String)>,
    /// An edit that needs rules.
    #[serde(default)]
    pub(super) perturb: Option<PerturbationFamily>,
}

/// The families that come with the command, and those of the files; of these names alone, where some are
/// given.
pub(super) fn families(
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
    pub(super) fn none(name: &str, about: &str, expect: Expect) -> Self {
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
    pub(super) fn names_the_answer(&self) -> bool {
        const NAMES: [&str; 13] = [
            "{right",
            "{many",
            "{letters",
            "{options",
            "{part}",
            "{longer}",
            "{prefixed}",
            "{near}",
            "{negative}",
            "{prompt",
            "{completion}",
            "{stub}",
            "{js_stub}",
        ];
        self.texts.iter().any(|text| NAMES.iter().any(|name| text.contains(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
