//! Recipes: rewards of the literature as data, one TOML file each in `recipes/`.
//!
//! A recipe says where a formula comes from, what it needs, its settings with the constants of the paper,
//! and cases worked out by hand. A configuration names one by `recipe = "ID"` (or by its number) where a
//! kind is due, and overrides its settings. A recipe of a whole configuration holds that configuration.

pub mod case;
pub mod settings;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use schemars::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use settings::{RefusedSettings, SettingSpec};

/// Where a recipe is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipePlace {
    /// As `verifier = "formula"`: a reward of columns and of other rewards.
    Reward,
    /// In `[[reward.shape]]`: the reward of a sample, and those of its steps.
    Shape,
    /// In `[combine]`: the rewards of a sample become one.
    Combine,
    /// In `[advantage]`.
    Advantage,
    /// In `[select]`.
    Select,
    /// In `[loss]`.
    Loss,
    /// In `[train]`.
    Train,
    /// A figure of a run, for `assay diagnose`.
    Diagnose,
    /// A whole configuration.
    Config,
}

crate::words! {
    RecipePlace, word:
    Reward "reward", Shape "shape", Combine "combine", Advantage "advantage", Select "select",
    Loss "loss", Train "train", Diagnose "diagnose", Config "config",
}

/// How well the formula is known to be the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// It was read in the paper or in its code.
    Read,
    /// It is known from the published paper or standard literature.
    Known,
    /// It is the simplest one that fits what is published; constants are ours.
    Reconstructed,
}

crate::words! {
    Basis, word:
    Read "read", Known "known", Reconstructed "reconstructed",
}

/// A recipe.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The word by which a configuration names it: the name of its file.
    pub id: String,
    /// Its numbers in the list of recipes, such as `6.15`.
    #[serde(default)]
    pub numbers: Vec<String>,
    /// A few words.
    pub title: String,
    /// The titles of the papers.
    pub papers: Vec<String>,
    /// Where in the paper, or in which code.
    pub section: Option<String>,
    /// How well the formula is known to be the paper's.
    pub basis: Basis,
    /// Where it is used.
    pub place: RecipePlace,
    /// The manual page: what it does, the formula in plain text, its range.
    pub about: String,
    /// What it needs of rows, models or the training, a line each.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What stays outside of assay: a column or a service brings it.
    #[serde(default)]
    pub external: Vec<String>,
    /// A defect of the formula as published, and what to use in its place.
    pub warns: Option<String>,
    /// The formula, where it is one; see [`crate::formula`].
    pub formula: Option<String>,
    /// The kind that computes it, and its settings: one in Rust, or the formula itself where its cases
    /// are whole rows and requests.
    pub kind: Option<Map<String, Value>>,
    /// The configuration, for [`RecipePlace::Config`].
    pub config: Option<Map<String, Value>>,
    /// Settings of the formula, with the constants of the paper.
    #[serde(default)]
    pub settings: BTreeMap<String, SettingSpec>,
    /// Settings that contradict each other.
    #[serde(default)]
    pub refuse: Vec<RefusedSettings>,
    /// Values worked out by hand.
    #[serde(default, rename = "case")]
    pub cases: Vec<RecipeCase>,
}

/// Inputs of a recipe, and what it gives.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeCase {
    /// A few words.
    pub name: String,
    /// Settings that differ from the defaults.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Names of the formula and their values: a number, a list over rows, a list of lists over steps.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    /// For several groups: how many rows each has.
    #[serde(default)]
    pub groups: Vec<usize>,
    /// What the formula gives: a number, a list over rows, a list of lists over steps; a table where it has
    /// several outputs. For a configuration the reward of each row.
    #[serde(default)]
    pub expect: Value,
    /// For a configuration: its rows.
    #[serde(default)]
    pub rows: Vec<Map<String, Value>>,
    /// The code or words of the error that is expected instead.
    pub refused: Option<String>,
}

/// A file of a recipe that comes with assay.
struct Entry {
    id: &'static str,
    text: &'static str,
    parsed: OnceLock<Result<Recipe, String>>,
}

include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

impl Recipe {
    /// Reads a file of a recipe.
    ///
    /// # Errors
    /// What is wrong with it, with its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The JSON Schema of its settings; the `description` is its manual page.
    pub fn schema(&self) -> Schema {
        let settings = self.settings.iter().map(|(name, spec)| (name.clone(), spec.schema()));
        let required =
            self.settings.iter().filter(|(_, spec)| spec.default.is_none() && !spec.optional);
        let schema = json!({
            "type": "object",
            "description": self.page(),
            "properties": settings.collect::<Map<_, _>>(),
            "additionalProperties": false,
            "required": required.map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        });
        Schema::try_from(schema).unwrap_or_default()
    }

    /// Its manual page.
    pub fn page(&self) -> String {
        let mut parts = vec![self.about.trim().to_owned()];
        parts.extend(self.warns.as_ref().map(|warns| warns.trim().to_owned()));
        if !self.papers.is_empty() {
            let papers: Vec<String> = self.papers.iter().map(|own| format!("\"{own}\"")).collect();
            let section = self.section.as_ref().map(|own| format!(", {own}")).unwrap_or_default();
            parts.push(format!("Source: {}{section}.", papers.join("; ")));
        }
        parts.join("\n\n")
    }
}

/// The ids of all recipes, sorted.
pub fn ids() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|entry| entry.id)
}

/// Every recipe, in the order of ids.
pub fn all() -> impl Iterator<Item = &'static Recipe> {
    ALL.iter().filter_map(|entry| entry.recipe().as_ref().ok())
}

/// The recipe of this id or number.
pub fn find(name: &str) -> Option<&'static Recipe> {
    find_by(name, |_| true)
}

/// The recipe of this id or number that is used in one place.
pub fn find_in(place: RecipePlace, name: &str) -> Option<&'static Recipe> {
    find_by(name, |recipe| recipe.place == place)
}

fn find_by(name: &str, fits: impl Fn(&Recipe) -> bool) -> Option<&'static Recipe> {
    let by_id = ALL.iter().find(|entry| entry.id == name);
    let by_id = by_id.and_then(|entry| entry.recipe().as_ref().ok()).filter(|own| fits(own));
    let is_first = |own: &&Recipe| fits(own) && own.numbers.first().is_some_and(|own| own == name);
    let has_number = |own: &&Recipe| fits(own) && own.numbers.iter().any(|number| number == name);
    by_id.or_else(|| all().find(is_first)).or_else(|| all().find(has_number))
}

/// `docs/recipes.md`: every recipe with its papers, its place, its basis and what is external.
pub fn table() -> String {
    let mut table = TABLE.to_owned();
    let mut recipes: Vec<&Recipe> = all().collect();
    let key = |recipe: &&Recipe| {
        let number = recipe.numbers.first().map_or("99", String::as_str);
        let (group, rest) = number.split_once('.').unwrap_or((number, "0"));
        let digits = rest.trim_end_matches(char::is_alphabetic);
        (
            group.parse().unwrap_or(99_u32),
            digits.parse().unwrap_or(0_u32),
            rest.to_owned(),
            recipe.id.clone(),
        )
    };
    recipes.sort_by_key(key);
    for recipe in recipes {
        let (place, basis) = (recipe.place.word(), recipe.basis.word());
        let numbers = recipe.numbers.join(", ");
        let external = recipe.external.join("; ");
        let papers = recipe.papers.join("; ");
        let row = format!(
            "| {numbers} | `{}` | {} | {papers} | {place} | {basis} | {external} |\n",
            recipe.id, recipe.title
        );
        table.push_str(&row);
    }
    table
}

const TABLE: &str = "\
# Recipes

Rewards, advantages, selections and figures of the literature as data: a file each in `recipes/`, compiled in. A
configuration names one by `recipe = \"ID\"` where a kind is due, with settings overridden; `kind = \"ID\"` is the same.
[formulas.md](formulas.md) has the language.

```toml
[[reward.shape]]
recipe = \"aalc\"
target = 0.7
```

`assay show recipe ID` prints the page of one, `assay list recipes --paper TEXT` finds them, `assay init --recipe ID DIR`
writes a configuration with some rows, `assay recipe test [FILE]` computes their cases, `assay recipe run ID ROWS` any
recipe from rows of your own, such as a loss or a figure. In Python
`assay.recipe(\"opo\")(r=[1.0, 0.0], length=[3, 1])` gives what the formula gives.

*basis*: `read` in the paper or its code; `known` from the published paper or standard literature; `reconstructed`: the
simplest formula that fits what is published, with constants of ours. *external*: what a column or a service brings.

This table is written by `assay show recipe`.

| number | recipe | title | papers | place | basis | external |
|---|---|---|---|---|---|---|
";

/// The recipes that are used in one place.
pub fn of(place: RecipePlace) -> impl Iterator<Item = &'static Recipe> {
    all().filter(move |recipe| recipe.place == place)
}

impl Entry {
    const fn new(id: &'static str, text: &'static str) -> Self {
        Self { id, text, parsed: OnceLock::new() }
    }

    fn recipe(&self) -> &Result<Recipe, String> {
        self.parsed.get_or_init(|| Recipe::parse(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_recipe_of_its_name() {
        for entry in &ALL {
            let recipe = entry.recipe().as_ref().map_err(|why| format!("{}: {why}", entry.id));
            assert_eq!(recipe.map(|recipe| recipe.id.as_str()), Ok(entry.id));
        }
        assert!(ALL.is_sorted_by(|one, next| one.id < next.id));
    }

    #[test]
    fn cases_of_formulas_give_what_they_expect() {
        let mut wrong = Vec::new();
        for recipe in all().filter(|recipe| recipe.formula.is_some() && recipe.kind.is_none()) {
            assert!(!recipe.cases.is_empty(), "{} has no case", recipe.id);
            for case in &recipe.cases {
                if let Err(why) = case::check(recipe, case) {
                    wrong.push(format!("{}: {}: {why}", recipe.id, case.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
