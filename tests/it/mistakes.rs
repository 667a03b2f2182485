//! Configurations and datasets as newcomers have them: each is refused with the place and with what to
//! type.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::place::{Place, Ran};

const CONFIGS: &str = include_str!("../../fixtures/mistakes/configs.toml");
const DATASETS: &str = include_str!("../../fixtures/mistakes/datasets.toml");
const ROW: &str = r#"{"prompt": "2+1?", "completion": "3", "reference": "3"}"#;

#[derive(Deserialize)]
struct Mistakes {
    case: Vec<Mistake>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    name: String,
    file: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    absent: bool,
    /// It is no mistake.
    #[serde(default)]
    accepted: bool,
    text: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The code of the error, and the key at fault.
    #[serde(default)]
    code: String,
    key: Option<String>,
    /// What the help must name, where the words are the point.
    #[serde(default)]
    says: Vec<String>,
}

impl Mistake {
    fn bytes(&self) -> Vec<u8> {
        match self.encoding.as_deref() {
            Some("utf-16") => {
                let units = std::iter::once(0xfeff).chain(self.text.encode_utf16());
                units.flat_map(u16::to_le_bytes).collect()
            }
            Some("latin-1") => {
                self.text.chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect()
            }
            Some("parquet") => b"PAR1\x15\x04\xff\xfe\x00".to_vec(),
            _ => self.text.clone().into_bytes(),
        }
    }

    fn run(&self) -> Ran {
        let place = Place::with(&[("d.jsonl", ROW)]);
        let file = self.file.as_deref().unwrap_or("assay.toml");
        if !self.absent && file != "." {
            assay::engine::runs::write_atomic(&place.path(file), &self.bytes()).unwrap();
        }
        let mut command = place.command("validate");
        command.arg(file).arg("d.jsonl").arg("--json").args(&self.args).envs(&self.env);
        Ran::of(command.output().unwrap())
    }
}

/// The code and the key of the error that a command ended with.
pub(crate) fn error_of(ran: &Ran) -> (String, Option<String>) {
    let last = ran.err.lines().last().unwrap_or_default();
    let told: Value = serde_json::from_str(last).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let at = |path: &str| told.pointer(path).and_then(text);
    (at("/error/code").unwrap_or_default(), at("/error/fields/key"))
}

/// What was told, without the drawing around it and the line breaks in it.
fn plain(text: &str) -> String {
    text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_wrong_configuration_is_refused_with_the_place_and_what_to_type() {
    let mistakes: Mistakes = toml::from_str(CONFIGS).unwrap();
    assert!(mistakes.case.len() >= 40);
    let mut wrong = Vec::new();
    for mistake in &mistakes.case {
        let ran = mistake.run();
        let told = plain(&ran.err);
        let missing: Vec<&String> =
            mistake.says.iter().filter(|words| !told.contains(&plain(words))).collect();
        let (code, key) = error_of(&ran);
        if mistake.accepted {
            // The assets of the sandbox may not be there: what counts is that it is no mistake.
            if code == "unknown_key" {
                wrong.push(format!("{}: {}", mistake.name, ran.err));
            }
        } else if (ran.code, &code, &key) != (2, &mistake.code, &mistake.key) || !missing.is_empty()
        {
            wrong.push(format!(
                "{}: exit {}, {code} at {key:?}, {missing:?} is not in\n{}",
                mistake.name, ran.code, ran.err
            ));
        }
        for rust in [
            "i64",
            "u32",
            "u64",
            "f64",
            "struct ",
            "sequence",
            "expected a map",
            "unit value",
            "variant",
        ] {
            if told.contains(rust) {
                wrong.push(format!("{}: says {rust}\n{}", mistake.name, ran.err));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[derive(Deserialize)]
struct Datasets {
    case: Vec<Dataset>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dataset {
    name: String,
    file: Option<String>,
    #[serde(default)]
    text: String,
    hex: Option<String>,
    #[serde(default)]
    absent: bool,
    /// How many rows are scored, where it is no mistake.
    rows: Option<usize>,
    /// The code of what is wrong, and the row and the field that have it.
    #[serde(default)]
    code: String,
    row: Option<u64>,
    field: Option<String>,
    /// What to type, where the words are the point.
    #[serde(default)]
    says: Vec<String>,
}

/// The code, the row and the field of the error that a command ended with, else of the first row that it reports.
fn data_error(ran: &Ran) -> (String, Option<u64>, Option<String>) {
    let error = serde_json::from_str(ran.err.lines().last().unwrap_or_default());
    let error: Value = error.map(|told: Value| told["error"].clone()).unwrap_or_default();
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let defect = &report["data"]["defects"][0];
    let (code, at) = if error.is_null() {
        (&defect["code"], defect)
    } else {
        (&error["code"], &error["fields"])
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(code).unwrap_or_default(), at["row"].as_u64(), text(&at["field"]))
}

impl Dataset {
    fn bytes(&self) -> Vec<u8> {
        let Some(hex) = &self.hex else { return self.text.clone().into_bytes() };
        let digit = |char: u8| char::from(char).to_digit(16).unwrap();
        let byte = |two: &[u8]| two.iter().fold(0, |value, char| value * 16 + digit(*char));
        hex.as_bytes().chunks(2).map(|two| u8::try_from(byte(two)).unwrap()).collect()
    }

    /// Scores or validates it.
    fn run(&self, place: &Place, words: &str) -> Ran {
        let mut command = place.command(words);
        let file = self.file.as_deref().unwrap_or("d.jsonl");
        let written = words.starts_with("score").then_some(["-o", "run"]);
        command.arg("assay.toml").arg(file).arg("--json").args(written.into_iter().flatten());
        Ran::of(command.output().unwrap())
    }
}

#[test]
fn wrong_data_are_refused_with_the_place_and_what_to_type() {
    const CONFIG: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
    let datasets: Datasets = toml::from_str(DATASETS).unwrap();
    assert!(datasets.case.len() >= 40);
    let mut wrong = Vec::new();
    for data in &datasets.case {
        let place = Place::with(&[("assay.toml", CONFIG)]);
        if !data.absent {
            let file = data.file.as_deref().unwrap_or("d.jsonl");
            assay::engine::runs::write_atomic(&place.path(file), &data.bytes()).unwrap();
        }
        for words in ["validate", "score"] {
            let ran = data.run(&place, words);
            let told = format!("{} {}", ran.err, ran.out).replace("\\\"", "\"").replace("\\n", " ");
            let told = plain(&told.replace("\\\\", "\\"));
            let missing: Vec<&String> =
                data.says.iter().filter(|words| !told.contains(&plain(words))).collect();
            let found = data_error(&ran);
            let expected = (data.code.clone(), data.row, data.field.clone());
            let is_right = (ran.code == 0) == data.rows.is_some() && found == expected;
            if !is_right || !missing.is_empty() {
                let (name, code) = (&data.name, ran.code);
                wrong.push(format!("{name}, {words}: {code}, {found:?}, {missing:?} in {told}"));
            }
        }
        if let Some(rows) = data.rows {
            let lines = std::fs::read_to_string(place.path("run/verdicts.jsonl")).unwrap();
            assert_eq!(lines.lines().count(), rows, "{}", data.name);
        } else {
            assert!(!data.code.is_empty(), "{}: which code?", data.name);
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}
