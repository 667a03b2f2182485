//! Presets of `[data]`: how public data sets are judged, with their columns as published.
//!
//! `presets/NAME.toml` holds the configuration of one, and rows as published with what they earn.

use serde::Deserialize;

use crate::built_in;

/// Declares the presets: the name of each is that of its file.
macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// The names and the texts of the presets.
        const ALL: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("presets/", $name, ".toml")))),*];
    };
}

presets![
    "acecode",
    "aime",
    "apps",
    "aqua-rat",
    "arc",
    "arc-agi",
    "bbh",
    "bfcl",
    "big-math",
    "bigcodebench",
    "bird",
    "boolq",
    "chartqa",
    "citations",
    "code-contests",
    "codeforces",
    "countdown",
    "cruxeval",
    "dapo-math-17k",
    "deepcoder",
    "deepmath",
    "deepscaler",
    "drop",
    "eurus-2-rl",
    "evalplus",
    "flashrag",
    "gaia",
    "game24",
    "geometry3k",
    "gpqa",
    "gsm8k",
    "guru",
    "healthbench",
    "hendrycks-math",
    "hle",
    "hotpotqa",
    "humaneval",
    "if-rlvr",
    "ifbench",
    "ifeval",
    "intellect-2",
    "knights-and-knaves",
    "kodcode",
    "leetcode",
    "livecodebench",
    "math",
    "mbpp",
    "medmcqa",
    "medqa",
    "mgsm",
    "minerva-math",
    "mmlu",
    "mmlu-pro",
    "nq-open",
    "numina-math",
    "numina-math-cot",
    "ocr",
    "olympiadbench",
    "open-math-reasoning",
    "open-r1-code",
    "openr1-math",
    "orz",
    "pubmedqa",
    "reasoning-gym",
    "scibench",
    "search-r1",
    "simpleqa",
    "skywork-or1",
    "spider",
    "squad",
    "structured",
    "sudoku-extreme",
    "supergpqa",
    "synthetic-1",
    "synthetic-text-to-sql",
    "toolace",
    "triviaqa",
    "tulu-3-rlvr",
    "tulu-3-rlvr-if",
    "verl",
    "webinstruct-verified",
    "xlam",
];

/// A public data set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What it is, and its name on the hub.
    pub about: String,
    /// The configuration, in TOML.
    pub config: String,
    /// Small files in the place of those that come with the data set, beside the configuration.
    #[serde(default, rename = "file")]
    pub files: Vec<PresetFile>,
    /// Rows as the data set has them, with completions.
    #[serde(rename = "row")]
    pub rows: Vec<PresetRow>,
}

/// A file that a configuration reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetFile {
    /// Its path.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// A row of a data set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetRow {
    /// The row, in JSON.
    pub json: String,
    /// What its completion earns; `None` where no check can judge it.
    pub reward: Option<f64>,
}

impl Preset {
    /// The preset of this name.
    pub fn find(name: &str) -> Option<Self> {
        let (_, text) = ALL.iter().find(|(own, _)| *own == name)?;
        Some(built_in::table(text))
    }

    /// The names of the presets, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }
}
