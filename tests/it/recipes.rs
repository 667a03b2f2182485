//! Recipes through the command: their cases, the table in the docs, configurations that use them.

use std::collections::BTreeSet;

use assay::verifiers::recipe;

use super::place::Place;

/// How many recipes each group of the list has; what is not there, and what has a letter.
const GROUPS: [(u32, u32); 7] = [(1, 46), (2, 11), (3, 25), (4, 25), (5, 15), (6, 33), (7, 15)];
const NOT_THERE: [&str; 4] = ["3.24", "4.11", "6.30", "6.31"];
const LETTERS: [&str; 2] = ["7.1b", "7.1c"];

#[test]
fn every_number_of_the_list_has_a_recipe() {
    let found: BTreeSet<&str> =
        recipe::all().flat_map(|recipe| recipe.numbers.iter().map(String::as_str)).collect();
    let numbers = GROUPS
        .iter()
        .flat_map(|(group, last)| (1..=*last).map(move |at| format!("{group}.{at}")))
        .chain(LETTERS.map(str::to_owned));
    let missing: Vec<String> = numbers
        .filter(|number| !found.contains(&number.as_str()) && !NOT_THERE.contains(&number.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_cases_of_every_recipe_give_what_they_expect() {
    let place = Place::with(&[]);
    let ran = place.run("recipe test");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn the_table_of_recipes_is_that_of_the_files() {
    let docs = include_str!("../../docs/recipes.md");
    let place = Place::with(&[]);
    let shown = place.run("show recipe").out;
    assert!(shown == docs, "write docs/recipes.md again: `assay show recipe` prints it");
}

/// Of so many recipes one is tried: each takes three processes.
const EVERY: usize = 3;
/// Recipes whose lines do not end well, and why.
const NOT_CLEAN: [(&str, &str); 1] =
    [("qa_contains", "it pays an answer that is anywhere, as its page warns")];

#[test]
fn what_is_printed_for_a_recipe_runs() {
    let place = Place::with(&[]);
    let mut wrong = Vec::new();
    for recipe in recipe::all().step_by(EVERY) {
        let id = &recipe.id;
        let is_served = recipe.config.as_ref().is_some_and(|config| config.contains_key("judges"));
        if is_served || NOT_CLEAN.iter().any(|(own, _)| own == id) {
            continue;
        }
        let made = place.run(&format!("init --recipe {id} {id}"));
        let lines = made.out.lines().map(|line| line.strip_prefix("assay ").unwrap());
        let ran: Vec<_> = lines.map(|line| (line, place.run(&line.replace('\'', "")))).collect();
        let failed = ran.iter().find(|(_, ran)| ran.code != 0);
        if let Some((line, ran)) = failed {
            wrong.push(format!("{line}: {}{}", ran.out, ran.err));
        } else if made.code != 0 || ran.is_empty() {
            wrong.push(format!("{id}: {}", made.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What its page warns of stands in the configuration.
    assert_eq!(place.run("init --recipe qa_contains warned").code, 0);
    let config = std::fs::read_to_string(place.path("warned/assay.toml")).unwrap();
    assert!(config.contains("# A completion that lists every candidate holds"), "{config}");
}

#[test]
fn a_formula_of_the_user_is_refused_at_its_place() {
    let config = "version = 1\n\n[[reward]]\nname = \"r\"\nverifier = \"exact\"\n\n[[reward.shape]]\n\
                  kind = \"formula\"\nformula = \"r - maen(r)\"\n";
    let place = Place::with(&[("assay.toml", config)]);
    let ran = place.run("validate assay.toml");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("error[unknown_name]") && ran.err.contains("assay.toml:9:16"),
        "{}",
        ran.err
    );
}

#[test]
fn any_recipe_is_computed_from_rows() {
    let place = Place::with(&[
        (
            "tokens.jsonl",
            "{\"rollout_log_ratio\": [0, 5], \"logp\": [-2, -1], \"advantage\": [1, 1]}\n\
             {\"rollout_log_ratio\": [5], \"logp\": [-1], \"advantage\": [-1]}\n{}\n",
        ),
        ("rows.jsonl", "{\"g\": 1, \"r\": 3}\n{\"g\": 1, \"r\": 1}\n{\"g\": 2, \"r\": 4}\n"),
    ]);
    let loss = place.run("recipe run aipo tokens.jsonl --set ratio_max=2");
    assert_eq!(loss.code, 0, "{}", loss.err);
    assert_eq!(loss.json(), serde_json::json!({ "loss": [[2.0, 2.0], [-2.0], []] }));
    let advantage = place.run("recipe run dr_grpo rows.jsonl --group g");
    assert_eq!(advantage.json(), serde_json::json!({ "advantage": [1.0, -1.0, 0.0] }));
    for (words, named) in [
        ("recipe run dr_grpo tokens.jsonl", "`r`"),
        ("recipe run aipo tokens.jsonl --set ratio_max=-1", "ratio_max"),
        ("recipe run nothing tokens.jsonl", "nothing"),
    ] {
        let refused = place.run(words);
        assert!(refused.code != 0 && refused.err.contains(named), "{words}: {}", refused.err);
    }
}

#[test]
fn a_formula_is_explained_with_its_numbers() {
    let config = "version = 1\n[[reward]]\nname = 'style'\nverifier = 'formula'\n\
        config = { formula = 'meta.stars / 5' }\n[[reward]]\nname = 'right'\nverifier = 'exact'\n\
        [[reward.shape]]\nkind = 'formula'\nformula = '''\nlet over = length - 2; // words\n\
        r - over * style\n'''\nunit = 'words'\n[[reward.shape]]\nkind = 'overlong'\nmax = 4\ncache = 2\n\
        unit = 'words'\n";
    let rows =
        "{\"id\": \"a\", \"completion\": \"a b c\", \"reference\": \"a b c\", \"stars\": 4}\n";
    let place = Place::with(&[("c.toml", config), ("d.jsonl", rows)]);
    let shown = place.run("explain c.toml d.jsonl --id a");
    assert_eq!(shown.code, 0, "{}", shown.err);
    for formula in [
        "4 / 5",
        "let over = 3.0 - 2; 1.0 - 1.0 * 0.8",
        "0.19999999999999996 - 1.0 * if \"flat\" == \"flat\"",
    ] {
        assert!(shown.out.contains(formula), "{formula}: {}", shown.out);
    }
}

#[test]
fn the_page_of_checks_is_that_of_their_fixtures() {
    let docs = include_str!("../../docs/checks.md");
    let place = Place::with(&[]);
    let shown = place.run("show check:");
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out == docs, "write docs/checks.md again: `assay show check:` prints it");
}
