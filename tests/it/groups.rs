//! What becomes of rewards before they are one: shapes, scheduled weights, normalisation over groups.

#![allow(clippy::float_cmp, reason = "a test stops at what it does not expect")]

use std::fs;
use std::path::Path;

use assay::engine::runs::write_atomic;
use assay::engine::{CancellationToken, FileRun, FileRunSpec};
use assay::verifiers::{Outcome, Sample, Scored};
use assay::{Config, Engine, ScoreOptions, TrainingState};
use serde_json::{Value, json};

const RIGHT: &str = "[[reward]]\nname = 'right'\nverifier = 'exact'\n";

fn config(text: &str) -> Config {
    Config::parse("test.toml", &format!("version = 1\n{text}")).unwrap()
}

fn engine(text: &str) -> Engine {
    Engine::builder().config(config(text)).jobs(2).build().unwrap()
}

/// Why a configuration is refused.
fn refused(text: &str) -> String {
    match Engine::builder().config(config(text)).build() {
        Ok(_) => panic!("{text} was taken"),
        Err(error) => error.to_string(),
    }
}

/// Samples of one prompt: the completion of each, all with the reference `yes`.
fn group(prompt: &str, completions: &[&str]) -> Vec<Sample> {
    let sample = |text: &&str| Sample::builder(*text).prompt(prompt).reference("yes").build();
    completions.iter().map(sample).collect()
}

fn rewards(scored: &[Scored]) -> Vec<Option<f64>> {
    scored.iter().map(Scored::reward).collect()
}

fn close(found: &[Option<f64>], wanted: &[f64]) {
    let near = |(found, wanted): (&Option<f64>, &f64)| (found.unwrap() - wanted).abs() < 1e-12;
    assert_eq!(found.len(), wanted.len());
    assert!(found.iter().zip(wanted).all(near), "{found:?}, not {wanted:?}");
}

fn at(step: u64) -> ScoreOptions {
    ScoreOptions { step, ..ScoreOptions::default() }
}

#[test]
fn a_reward_is_shaped_before_it_is_weighted_and_the_evidence_says_how() {
    let shaped = format!(
        "{RIGHT}weight = 2.0\nshape = [\n  {{ kind = 'overlong', max = 5, cache = 4, unit = 'characters' }},\n  \
         {{ kind = 'overlong', max = 5, cache = 4, unit = 'characters', factor = 0.5 }},\n]\n\
         [[reward]]\nname = 'half'\nverifier = 'exact'\nweight = 0.5\nwhen = 'rewards.right == 1.0'\n"
    );
    // "yes" has three characters: half of the way from 1 to 5. `when` sees the reward as it was.
    let scored = engine(&shaped).score(group("q", &["yes", "no"]));
    close(&rewards(&scored), &[2.0 * (1.0 - 0.5 - 0.25) + 0.5, 2.0 * (-0.25 - 0.125)]);
    let evidence = &scored[0].verdict("right").unwrap().evidence;
    assert_eq!(
        evidence.get("shaping"),
        Some(&json!([
            { "kind": "overlong", "before": 1.0, "after": 0.5, "length": 3.0 },
            { "kind": "overlong", "before": 0.5, "after": 0.25, "length": 3.0 },
        ]))
    );
    assert!(scored[0].verdict("half").unwrap().evidence.get("shaping").is_none());
}

#[test]
fn what_has_no_reward_is_not_shaped() {
    let shaped = "[[reward]]\nname = 'a'\nverifier = 'exact'\nshape = [{ kind = 'overlong' }]\n";
    let scored = engine(shaped).score(vec![Sample::builder("yes").build()]);
    let verdict = scored[0].verdict("a").unwrap();
    assert!(matches!(verdict.outcome, Outcome::Abstained(_)));
    assert!(verdict.evidence.get("shaping").is_none());
}

#[test]
fn a_shape_that_cannot_be_built_is_named_with_its_place() {
    for (shape, why) in [
        ("{ kind = 'overlog' }", "no shape is called \"overlog\""),
        ("{ kind = 'overlong', cachee = 3 }", "unknown key `cachee`"),
        ("{ kind = 'overlong', max = 3, cache = 4 }", "cache is 4, expected 1 to max, 3"),
        ("{ max = 3 }", "missing key `kind`"),
    ] {
        let error = refused(&format!("{RIGHT}shape = [{shape}]\n"));
        assert!(error.contains("reward \"right\"") && error.contains(why), "{error}");
    }
    let gate = format!("{RIGHT}shape = [{{ kind = 'overlong' }}]\n[combine]\nhow = 'gate'\n");
    assert!(refused(&gate).contains("the gate \"right\" is not shaped"));
}

#[test]
fn a_weight_follows_its_schedule() {
    let text = format!(
        "{RIGHT}[[reward]]\nname = 'same'\nverifier = 'exact'\n\
         weight = {{ kind = 'linear', from = 0.0, to = 1.0, start = 10, end = 20 }}\n"
    );
    let engine = engine(&text);
    let total = |step| engine.score_with(group("q", &["yes"]), at(step))[0].reward();
    assert_eq!([total(0), total(15), total(99)], [Some(1.0), Some(1.5), Some(2.0)]);
    let wrong = format!("version = 1\n{RIGHT}weight = {{ kind = 'linear', from = 0, to = 1 }}\n");
    let error = Config::parse("t.toml", &wrong).err().unwrap().to_string();
    assert!(error.contains("missing key `reward[0].weight.end`"), "{error}");
}

#[test]
fn the_sum_is_normalised_over_the_group() {
    let text = format!("{RIGHT}weight = 2.0\n[combine]\nnormalise = 'sum_then'\neps = 0.0\n");
    let mut samples = group("q", &["yes", "no", "no", "yes"]);
    samples.extend(group("other", &["yes", "yes"]));
    samples.push(Sample::builder("alone").prompt("third").reference("yes").build());
    // Rewards 2, 0, 0, 2: the mean is 1, the deviation of the sample sqrt(4 / 3).
    let unit = 1.0 / (4.0_f64 / 3.0).sqrt();
    let wanted = [unit, -unit, -unit, unit, 0.0, 0.0, 0.0];
    close(&rewards(&engine(&text).score(samples.clone())), &wanted);
    let population = format!("{text}std = 'biased'\n");
    let wanted = [1.0, -1.0, -1.0, 1.0, 0.0, 0.0, 0.0];
    close(&rewards(&engine(&population).score(samples.clone())), &wanted);
    let none = format!("{text}std = 'none'\nclamp = [0.0, 1.5]\n");
    let wanted = [0.75, -0.75, -0.75, 0.75, 0.0, 0.0, 0.0];
    close(&rewards(&engine(&none).score(samples.clone())), &wanted);
    // The order of the rows changes no reward.
    samples.reverse();
    let mut reversed = rewards(&engine(&text).score(samples));
    reversed.reverse();
    close(&reversed, &[unit, -unit, -unit, unit, 0.0, 0.0, 0.0]);
}

#[test]
fn each_reward_is_normalised_before_they_are_summed() {
    let text = "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
                [[reward]]\nname = 'short'\nverifier = 'length'\nweight = 0.5\n\
                when = 'completion != \"maybe\"'\nconfig = { max = 2 }\n\
                [combine]\nnormalise = 'then_sum'\neps = 0.0\nstd = 'biased'\n";
    // right: 1 0 0 0 (mean 1/4, std sqrt(3)/4); short: 0 1 1 - (mean 2/3, std sqrt(2)/3).
    let scored = engine(text).score(group("q", &["yes", "no", "hm", "maybe"]));
    let (right, short) = (3.0_f64.sqrt() / 4.0, 2.0_f64.sqrt() / 3.0);
    let (low, high) = (-0.25 / right, 0.75 / right);
    let wanted = [
        high + 0.5 * (-2.0 / 3.0) / short,
        low + 0.5 * (1.0 / 3.0) / short,
        low + 0.5 * (1.0 / 3.0) / short,
        low,
    ];
    close(&rewards(&scored), &wanted);
    // The verdicts keep the rewards as they were.
    assert_eq!(scored[0].verdict("right").unwrap().outcome.reward().unwrap().get(), 1.0);
}

#[test]
fn a_fault_is_in_no_mean_and_is_no_reward() {
    for how in ["sum_then", "then_sum"] {
        let text = format!(
            "{RIGHT}[[reward]]\nname = 'brief'\nverifier = 'length'\nconfig = {{ ratio = [0.0, 2.0] }}\n\
             [combine]\nnormalise = '{how}'\neps = 0.0\nstd = 'biased'\n"
        );
        // An empty reference has no length to compare with: a fault.
        let mut samples = group("q", &["yes", "no"]);
        samples.push(Sample::builder("yes").prompt("q").reference("").build());
        let scored = engine(&text).score(samples);
        assert!(matches!(scored[2].outcome, Outcome::Failed(_)), "{how}: {:?}", scored[2].outcome);
        close(&rewards(&scored[..2]), &[1.0, -1.0]);
    }
}

#[test]
fn settings_of_the_normalisation_are_refused_without_it() {
    for (rest, why) in [
        ("eps = 0.1", "`eps` needs normalise"),
        ("std = 'unbiased'", "`std` needs normalise"),
        ("normalise = 'sum_then'\neps = -1.0", "0 or more"),
    ] {
        let error = refused(&format!("{RIGHT}[combine]\n{rest}\n"));
        assert!(error.contains(why), "{error}");
    }
}

fn run(engine: &Engine, folder: &Path, training: TrainingState) -> Result<(), String> {
    let data = vec![folder.join("rows.jsonl")];
    let spec = FileRunSpec { data, output: folder.join("run"), training, ..FileRunSpec::default() };
    let mut run = FileRun::open(spec, engine, std::process::id()).map_err(|e| e.to_string())?;
    let report = run.run(&CancellationToken::new(), &mut |_| {}).map_err(|e| e.to_string())?;
    assert!(report.complete);
    Ok(())
}

#[test]
fn the_step_is_a_part_of_what_a_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "{\"completion\": \"yes\", \"reference\": \"yes\"}\n";
    write_atomic(&folder.path().join("rows.jsonl"), rows.as_bytes()).unwrap();
    let engine =
        engine(&format!("{RIGHT}weight = {{ kind = 'step', from = 1.0, to = 3.0, start = 5 }}\n"));
    let manifest = || -> Value {
        serde_json::from_slice(&fs::read(folder.path().join("run/manifest.json")).unwrap()).unwrap()
    };
    run(&engine, folder.path(), TrainingState::default()).unwrap();
    assert!(manifest().get("training").is_none(), "a run that is no training looks as before");
    let other = TrainingState { step: 5, ..TrainingState::default() };
    let error = run(&engine, folder.path(), other.clone()).unwrap_err();
    assert!(error.contains("training step 0, not 5"), "{error}");
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    run(&engine, folder.path(), other).unwrap();
    let line = fs::read_to_string(folder.path().join("run/verdicts.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["reward"], 3.0);
    assert_eq!(manifest()["training"]["step"], 5);
}

#[test]
fn running_moments_are_an_input_and_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["a", "abc", "abcde", "abcdefg"];
    let row = |text: &&str| format!("{}\n", json!({ "completion": text, "reference": "x" }));
    let rows: String = texts.iter().map(row).collect();
    write_atomic(&folder.path().join("rows.jsonl"), rows.as_bytes()).unwrap();
    let engine = engine(
        "[[reward]]\nname = 'long'\nverifier = 'length'\nconfig = { min = 4 }\n\
         shape = [{ kind = 'normalise_running', name = 'long' }]\n",
    );
    let state = |training| -> TrainingState {
        fs::remove_dir_all(folder.path().join("run")).ok();
        run(&engine, folder.path(), training).unwrap();
        serde_json::from_slice(&fs::read(folder.path().join("run/state.json")).unwrap()).unwrap()
    };
    // Rewards 0, 0, 1, 1 as they were judged.
    let first = state(TrainingState::default());
    let moments = first.moments["long"];
    assert_eq!((moments.count, moments.mean, moments.m2), (4, 0.5, 1.0));
    let second = state(first.clone());
    assert_eq!((second.moments["long"].count, second.moments["long"].m2), (8, 2.0));
    // The second run was normalised by the first: (r - 0.5) / sqrt(1 / 3).
    let lines = fs::read_to_string(folder.path().join("run/verdicts.jsonl")).unwrap();
    let reward =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["reward"].as_f64().unwrap();
    let unit = 0.75_f64.sqrt();
    let found = lines.lines().map(reward).zip([-unit, -unit, unit, unit]);
    assert!(found.into_iter().all(|(found, expected)| (found - expected).abs() < 1e-12));
    // The same by the library.
    let samples = texts.map(|text| Sample::builder(text).reference("x").build());
    let scored = engine.score_with(samples, ScoreOptions::at(first.clone()));
    assert_eq!(engine.plan().next_state(&first, &scored), second);
}

#[test]
fn a_shape_reads_other_rewards_as_they_were_judged() {
    let text = "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
                shape = [{ kind = 'synergy', with = 'brief', w1 = 0.25 }]\n\
                [[reward]]\nname = 'brief'\nverifier = 'length'\nweight = 0.0\nconfig = { max = 3 }\n\
                shape = [{ kind = 'affine', scale = 100.0 }]\n";
    let error = refused(&text.replace("with = 'brief'", "with = 'breif'"));
    assert!(error.contains("no reward is called \"breif\""), "{error}");
    let found = engine(text).score(group("q", &["yes", "no", "maybe"]));
    // r + w1 F + (1 - w1) r F, with F before it was shaped itself.
    close(&rewards(&found), &[2.0, 0.25, 0.0]);
    let brief = found[0].verdict("brief").unwrap().outcome.reward().unwrap().get();
    assert_eq!(brief, 100.0);
}

#[test]
fn the_tables_of_trainers_are_checked_and_move_no_run() {
    for (table, why) in [
        ("[advantage]\nkind = 'grop'", "no advantage is called \"grop\""),
        ("[advantage]\npreset = 'trl-1.16'\nepss = 1.0", "unknown key `epss`"),
        ("[select]\nkind = 'band'\nmin = 'low'", "expected a number, found the string"),
        ("[advantage]\npreset = 'trl'", "no preset is called \"trl\""),
    ] {
        let error = refused(&format!("{RIGHT}{table}\n"));
        assert!(error.contains(why), "{error}");
    }
    let plain = engine(RIGHT).plan().config_hash();
    let tables =
        format!("{RIGHT}[advantage]\npreset = 'verl-0.9'\n[select]\npreset = 'dapo-2503'\n");
    assert_eq!(engine(&tables).plan().config_hash(), plain);
}
