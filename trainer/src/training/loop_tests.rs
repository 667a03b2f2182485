//! The loop learns, whatever the advantage, the loss and the selection.

use proptest::prelude::*;

use super::grpo::{GrpoTrainer, TrainingSetup};
use super::supervised::{Demonstration, Warmup, WarmupReport};
use super::testing::{Bigrams, Digits, NextDigit, setup, setup_of};
use crate::policy::PolicyModel as _;
use crate::reports::StepReport;
use crate::selection;

const QUICK: &str = "generation = { max_new_tokens = 3 }\n\
    optimizer = { learning_rate = 0.2, lr_scheduler_type = 'constant' }\n";

fn trained(setup: TrainingSetup, steps: usize) -> (GrpoTrainer<Bigrams>, Vec<StepReport>) {
    let mut trainer = GrpoTrainer::new(Bigrams::new(), setup).unwrap();
    let reports = (0..steps).map(|_| trainer.step().unwrap()).collect();
    (trainer, reports)
}

fn accuracy(trainer: &mut GrpoTrainer<Bigrams>) -> f64 {
    trainer.evaluate(0).unwrap().accuracy
}

#[test]
fn a_policy_learns_from_rewards() {
    let (mut trainer, reports) = trained(setup(QUICK), 60);
    assert!(accuracy(&mut trainer) > 0.99);
    let first = &reports[0].metrics;
    for name in [
        "reward",
        "reward_std",
        "loss",
        "grad_norm",
        "entropy",
        "clip_ratio/region_mean",
        "num_tokens",
    ] {
        assert!(first.contains_key(name), "{name} is not among {:?}", first.keys());
    }
    assert_eq!(reports[0].rollouts.len(), 72);
    assert!((first["entropy"] - 10_f64.ln()).abs() < 1e-9);
    assert!(reports[59].metrics["reward"] > 0.9);
    assert_eq!(trainer.state().step, 60);
    assert_eq!(trainer.state().training.moments["next"].count, 60 * 3);
}

#[test]
fn every_kind_of_loss_and_of_advantage_learns() {
    let config = || {
        toml::from_str(&format!("model = {{}}\ntasks = []\nsteps = 90\ngroups = 9\n{QUICK}"))
            .unwrap()
    };
    for advantage in ["grpo", "dr_grpo", "rloo", "reinforce_plus_plus_baseline", "process", "opo"] {
        for loss in
            ["kind = 'grpo'", "kind = 'cispo'", "kind = 'grpo'\nkl = { coefficient = 0.001 }"]
        {
            let setup = setup_of(config(), &format!("kind = '{advantage}'\n"), loss);
            let (mut trainer, _) = trained(setup, 90);
            assert!(accuracy(&mut trainer) > 0.8, "{advantage}, {loss}");
        }
    }
}

#[test]
fn selections_of_prompts_and_of_tries_have_what_they_read() {
    for (table, keeps_visits) in [
        ("kind = 'stale'\nage_max = 1\n", false),
        ("kind = 'limr'\n", true),
        ("kind = 'r3l'\n", false),
    ] {
        let mut given = setup(QUICK);
        given.selector = Some(selection::build(toml::from_str(table).unwrap()).unwrap());
        let tasks = given.tasks.len();
        let (trainer, _) = trained(given, 3);
        let state = trainer.state();
        let visits = state.visits.values().map(Vec::len).sum::<usize>();
        // Nine groups of a step, each of a task.
        assert_eq!(visits, if keeps_visits { 27 } else { 0 }, "{table}");
        assert!(
            state.visits.len() <= tasks && state.visits.values().flatten().all(|rate| *rate <= 1.0)
        );
        let read = serde_json::to_string(state).unwrap();
        assert_eq!(&serde_json::from_str::<super::state::TrainerState>(&read).unwrap(), state);
    }
}

#[test]
fn groups_that_teach_nothing_are_sampled_anew() {
    let mut given = setup(QUICK);
    let table = "kind = 'dynamic'\nbatch_groups = 9\nrefill = 'missing'\n";
    given.selector = Some(selection::build(toml::from_str(table).unwrap()).unwrap());
    let (mut trainer, reports) = trained(given, 30);
    assert!(reports.iter().any(|report| report.rollouts.len() > 72), "more were sampled");
    assert!(accuracy(&mut trainer) > 0.8);
}

#[test]
fn a_fault_is_no_reward_and_teaches_nothing() {
    let mut given = setup(QUICK);
    let prompts = given.tasks.iter().map(|task| task.prompt.clone()).collect();
    given.rewards = Box::new(NextDigit { prompts, faulty: Some("5".to_owned()) });
    let (_, reports) = trained(given, 40);
    assert!(reports.iter().any(|report| report.metrics["reward_faults"] > 0.0));
    let faulty =
        reports.iter().flat_map(|report| &report.rollouts).filter(|one| one.fault.is_some());
    assert!(faulty.clone().count() > 0);
    assert!(faulty.clone().all(|one| one.advantage == 0.0 && one.reward.is_none()));
}

#[test]
fn demonstrations_are_learned() {
    let config = toml::from_str(
        "data = []\nsteps = 60\nbatch_size = 9\noptimizer = { learning_rate = 0.2 }",
    )
    .unwrap();
    let demonstration = |digit: u32| Demonstration {
        prompt: digit.to_string(),
        completion: ((digit + 1) % 9).to_string(),
    };
    let all: Vec<Demonstration> = (0..9).map(demonstration).collect();
    let warmup =
        Warmup { config: &config, tokens_per_pass: 7, seed: 1, tokenizer: &Digits, tool: None };
    let mut policy = Bigrams::new();
    let mut losses = Vec::new();
    let watched = |report: WarmupReport| {
        losses.push(report.loss);
        true
    };
    warmup.run(&mut policy, &all, watched).unwrap();
    assert!((losses[0] - 10_f64.ln()).abs() < 1e-6);
    assert!(losses[59] < 1.5, "half of the tokens follow two others each: {}", losses[59]);
    let none = warmup.run(&mut policy, &[], |_| true);
    assert!(none.unwrap_err().to_string().contains("demonstrations"));
}

#[test]
fn settings_out_of_range_are_named() {
    for (settings, why) in [
        ("group_size = 0\n", "`group_size` is 0"),
        ("generation = { temperature = 0.0 }\n", "`generation.temperature` is 0"),
        ("epochs = 0\n", "`epochs` is 0"),
    ] {
        let error = GrpoTrainer::new(Bigrams::new(), setup(settings)).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    let mut none = setup("");
    none.tasks.clear();
    assert!(GrpoTrainer::new(Bigrams::new(), none).is_err());
    let mut empty = setup("");
    empty.tasks[0].prompt.clear();
    let error = GrpoTrainer::new(Bigrams::new(), empty).err().unwrap().to_string();
    assert!(error.contains("prompt of task \"digit-0\""), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn parts_and_passes_change_nothing(parts in 1..12_usize, tokens in 1..200_usize) {
        let weights = |settings: &str| {
            let (trainer, _) = trained(setup(&format!("{QUICK}{settings}")), 3);
            trainer.policy().parameters().values().to_vec()
        };
        let whole = weights("");
        let same = weights(&format!("sampling_parts = {parts}\n"));
        prop_assert!(whole.iter().zip(&same).all(|(one, other)| (one - other).abs() < 1e-6));
        let passes = weights(&format!("tokens_per_pass = {tokens}\n"));
        for (one, other) in whole.iter().zip(&passes) {
            prop_assert!((one - other).abs() < 1e-3, "{one} {other}");
        }
    }
}
