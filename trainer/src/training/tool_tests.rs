//! Turns with a tool, and that what it says is not trained on.

use std::fs;

use super::grpo::GrpoTrainer;
use super::supervised::{Demonstration, Warmup};
use super::testing::{Bigrams, Digits, STOP, setup_of};
use super::tool::{Tool, ToolReply};
use crate::policy::PolicyModel as _;
use crate::reports::StepReport;
use crate::selection;

const TRAIN: &str = "model = {}\ntasks = []\nsteps = 6\ngroups = 9\nepochs = 2\nminibatches = 2\n\
    generation = { max_new_tokens = 14 }\noptimizer = { learning_rate = 0.1 }\n\
    tool = { call = ['6', '7'], result = ['8', '5'], max_tool_calling_iterations = 2 }\n";
const PLAIN: &str = "preset = 'trl-1.16'\n";

/// Says the same to each call; one of an 8 fails.
struct Says(&'static str);

impl Tool for Says {
    fn answer(&self, calls: &[&str]) -> Result<Vec<ToolReply>, String> {
        let reply =
            |call: &&str| ToolReply { text: self.0.to_owned(), is_error: call.contains('8') };
        Ok(calls.iter().map(reply).collect())
    }
}

fn trainer(tables: (&str, &str), says: &'static str) -> GrpoTrainer<Bigrams> {
    let config = toml::from_str(TRAIN).unwrap();
    let trainer = GrpoTrainer::new(Bigrams::new(), setup_of(config, tables.0, tables.1)).unwrap();
    trainer.with_tool(Box::new(Says(says))).unwrap()
}

/// A policy that goes from each token to the next one of these.
fn always(trainer: &mut GrpoTrainer<Bigrams>, tokens: &[u32]) {
    for pair in tokens.windows(2) {
        let at = pair[0] as usize * 10 + pair[1] as usize;
        trainer.policy.parameters_mut().values_mut()[at] = 60.0;
    }
}

fn first(mut trainer: GrpoTrainer<Bigrams>) -> (Vec<(String, String, usize)>, usize, bool) {
    let report: StepReport = trainer.step().unwrap();
    let one = report.rollouts.into_iter().find(|one| one.prompt == "0").unwrap();
    let message = |own: assay_verifiers::Message| {
        (own.role.clone(), own.text().to_owned(), own.tool_calls.len())
    };
    (one.messages.into_iter().map(message).collect(), one.tokens, one.truncated)
}

/// A table of next tokens knows of its context the last token alone, which ends each result: with other
/// results of the same length every gradient is the same, unless they had a share of their own.
#[test]
fn what_a_tool_says_moves_no_weight() {
    let place = "kind = 'ppo'\nkl = { coefficient = 0.1, place = 'reward' }\n";
    let entropy = "kind = 'gspo'\npreset = 'trl-1.16'\nentropy = { coefficient = 0.01 }\n";
    for tables in [
        (PLAIN, "preset = 'trl-1.16'\nkl = { coefficient = 0.1 }\n"),
        ("kind = 'process'\n", PLAIN),
        ("kind = 'reinforce_plus_plus'\n", place),
        (PLAIN, entropy),
        ("kind = 'dr_grpo'\n", "kind = 'cispo'\npreset = 'trl-1.16'\n"),
    ] {
        let trained = |says| {
            let mut trainer = trainer(tables, says);
            // Calls are likely.
            let rows = trainer.policy.parameters_mut().values_mut().chunks_mut(10);
            rows.for_each(|next| next[6..8].fill(1.0));
            let reports: Vec<StepReport> = (0..6).map(|_| trainer.step().unwrap()).collect();
            let metrics: Vec<_> = reports.iter().map(|report| report.metrics.clone()).collect();
            (trainer.policy.parameters().values().to_vec(), metrics, reports)
        };
        let (weights, metrics, reports) = trained("1234");
        let (others, same, _) = trained("4321");
        assert_eq!((weights, &metrics), (others, &same), "{tables:?}");
        assert!(metrics[0]["tools/call_frequency"] > 0.1, "{:?}", metrics[0]);
        assert!((0.01..0.9).contains(&metrics[0]["tools/failure_frequency"]), "{:?}", metrics[0]);
        let seen = |text: &str| text.matches("812345").count();
        for one in reports.iter().flat_map(|report| &report.rollouts) {
            let stop = usize::from(!one.truncated);
            assert_eq!(one.tokens, one.completion.len() - 6 * seen(&one.completion) + stop);
        }
    }
}

#[test]
fn generation_goes_on_after_a_result() {
    let own = |text: &str, calls| ("assistant".to_owned(), text.to_owned(), calls);
    let told = |text: &str| ("tool".to_owned(), text.to_owned(), 0);
    let mut calling = trainer((PLAIN, PLAIN), "34");
    always(&mut calling, &[0, 1, 6, 3, 7, 0]);
    always(&mut calling, &[5, 2, STOP]);
    let turns = vec![own("1", 1), told("34"), own("2", 0)];
    assert_eq!(first(calling), (turns, 6, false));
    // Characters without a token are left out.
    let mut calling = trainer((PLAIN, PLAIN), "error: 3");
    always(&mut calling, &[0, 1, 6, 3, 7, 0]);
    always(&mut calling, &[5, 2, STOP]);
    assert_eq!(first(calling).0[1], told("3"));
    // Two calls are answered, and a third ends it.
    let mut endless = trainer((PLAIN, PLAIN), "3");
    always(&mut endless, &[0, 6, 7, 0]);
    always(&mut endless, &[5, 6]);
    let turns = vec![own("", 1), told("3"), own("", 1), told("3"), own("", 1)];
    assert_eq!(first(endless), (turns, 6, true));
    // No room is left for a token after the result.
    let mut long = trainer((PLAIN, PLAIN), "1234123412");
    always(&mut long, &[0, 6, 7, 0]);
    assert_eq!(first(long), (vec![own("", 1)], 2, true));
}

#[test]
fn a_training_with_a_tool_goes_on_as_if_it_had_not_stopped() {
    let place = tempfile::tempdir().unwrap();
    let made = || {
        let mut trainer = trainer((PLAIN, PLAIN), "12");
        let table = "kind = 'dynamic'\nbatch_groups = 9\nrefill = 'missing'\n";
        trainer.setup.selector = Some(selection::build(toml::from_str(table).unwrap()).unwrap());
        trainer
    };
    let saved = |trainer: &GrpoTrainer<Bigrams>, name: &str| {
        trainer.save_checkpoint(&place.path().join(name), |_| Ok(())).unwrap()
    };
    let mut whole = made();
    (0..2).for_each(|_| drop(whole.step().unwrap()));
    let half = saved(&whole, "half");
    (0..2).for_each(|_| drop(whole.step().unwrap()));
    let mut resumed = made();
    resumed.resume_from_checkpoint(&half).unwrap();
    (0..2).for_each(|_| drop(resumed.step().unwrap()));
    let state = |folder: std::path::PathBuf| fs::read(folder.join("state.json")).unwrap();
    assert_eq!(whole.policy.parameters(), resumed.policy.parameters());
    assert!(state(saved(&whole, "whole")) == state(saved(&resumed, "resumed")));
}

#[test]
fn results_in_demonstrations_are_not_learned() {
    let config = "data = []\nsteps = 5\nbatch_size = 3\noptimizer = { learning_rate = 0.2 }";
    let config = toml::from_str(config).unwrap();
    let tool = toml::from_str("call = ['6', '7']\nresult = ['8', '5']").unwrap();
    let trained = |result: &str, tool| {
        let completion = format!("1607{result}2");
        let shown = vec![Demonstration { prompt: "0".to_owned(), completion }; 3];
        let mut policy = Bigrams::new();
        let warmup =
            Warmup { config: &config, tokens_per_pass: 16, seed: 1, tokenizer: &Digits, tool };
        warmup.run(&mut policy, &shown, |_| true).unwrap();
        policy.parameters().values().to_vec()
    };
    let table = trained("81235", Some(&tool));
    assert_eq!(table, trained("84445", Some(&tool)));
    assert_ne!(table, trained("81235", None));
    assert!(table[80..90].iter().all(|weight| *weight == 0.0), "nothing is learned after an 8");
    assert!(table[52] > 0.0, "what is after the result is learned");
}

#[test]
fn what_marks_calls_is_text_of_the_tokenizer() {
    let with = |tool: &str| {
        let config = format!("model = {{}}\ntasks = []\nsteps = 1\ntool = {{ {tool} }}\n");
        let setup = setup_of(toml::from_str(&config).unwrap(), PLAIN, PLAIN);
        GrpoTrainer::new(Bigrams::new(), setup).unwrap()
    };
    let refused = with("name = 'a'").with_tool(Box::new(Says(""))).err().unwrap().to_string();
    assert!(refused.contains("\"<tool_call>\""), "{refused}");
    let missing = with("call = ['6', '7'], result = ['8', '5']").step().unwrap_err().to_string();
    assert!(missing.contains("`tool`"), "{missing}");
}
