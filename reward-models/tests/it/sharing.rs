//! A score does not depend on what else is in the batch: alone, in any batch, in any order, behind a prompt that
//! was computed once or not, the same bits. Equal texts are computed once, whoever asks.

use std::path::Path;
use std::sync::Arc;

use assay_reward_models::backend::BackendChoice;
use assay_reward_models::models::RunSettings;
use assay_reward_models::template::View;
use assay_reward_models::verifiers;
use assay_verifiers::{Built, Earlier, Lane, Message, Meter, Sample, Verdict};
use pollster::block_on;
use serde_json::{Value, json};

use crate::support;

/// Ranges of integers that are found at run time depend on the batch, and say so.
const DYNAMIC: &str = "qwen-prm-int8";

/// Prompts of several lengths, each with completions of several lengths.
fn views() -> Vec<View> {
    views_of_round(0)
}

/// The same, with other texts in each round.
fn views_of_round(round: usize) -> Vec<View> {
    let mut views = Vec::new();
    for prompt in 0..2_usize {
        let asked = format!(
            "Question {round}.{prompt}: {}",
            "what is 2 + 3 and 4? ".repeat(1 + 4 * prompt)
        );
        for completion in 0..4_usize {
            let said = "It is 5, then 9. ".repeat(1 + (completion * 7 + 2 * prompt) % 6);
            let completion = format!("{completion} {said}");
            let steps = said.split(". ").map(str::to_owned);
            views.push(View {
                messages: vec![Message::new("user", asked.as_str())],
                steps: steps.filter(|step| !step.is_empty()).collect(),
                pair: Some((completion.clone(), "It is 6.".into())),
                completion,
                reference: "5".into(),
                question: "Does it name a sum?".into(),
            });
        }
    }
    views
}

/// The bits of every score; texts that are too long for the model have none.
fn bits(folder: &Path, run: &RunSettings, views: &[View]) -> Vec<Vec<u64>> {
    let model = support::models().load(folder, run).unwrap();
    let of = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect();
    let judged = model.judge(views).into_iter();
    judged.map(|one| one.map_or_else(|_| Vec::new(), |one| of(&one.scores))).collect()
}

fn no_score_depends_on_company(backend: BackendChoice) {
    let views = views();
    for folder in support::folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let is_run = backend != BackendChoice::Rten || support::is_run_by_rten(&folder);
        if name == DYNAMIC || !is_run {
            continue;
        }
        let bits = |batch_tokens, prefix_mb, workers, views: &[View]| {
            let run = RunSettings {
                backend,
                batch_tokens: Some(batch_tokens),
                prefix_mb: Some(prefix_mb),
                workers,
                ..RunSettings::default()
            };
            bits(&folder, &run, views)
        };
        let alone = bits(1, 0, 1, &views);
        assert_eq!(alone, bits(512, 0, 2, &views), "{name} on {backend:?}: in batches");
        let turned: Vec<View> = views.iter().rev().cloned().collect();
        let mut back = bits(1 << 20, 0, 1, &turned);
        back.reverse();
        assert_eq!(alone, back, "{name} on {backend:?}: in one batch, turned round");
        let shared = bits(512, 64, 2, &views);
        assert_eq!(alone, shared, "{name} on {backend:?}: behind prompts computed once");
    }
}

#[test]
fn no_score_depends_on_company_on_onnxruntime() {
    no_score_depends_on_company(BackendChoice::Ort);
}

#[test]
fn no_score_depends_on_company_on_rten() {
    no_score_depends_on_company(BackendChoice::Rten);
}

/// Requests that are cancelled at any moment change no other result, and the workers live on.
fn a_cancelled_request_affects_no_other(backend: BackendChoice) {
    const ROUNDS: usize = 2;
    let rounds: Vec<Vec<View>> = (0..ROUNDS).map(views_of_round).collect();
    for name in ["qwen-prm", "skywork-reward-kv", "critique-judge"] {
        let folder = support::root().join("fixtures/models").join(name);
        let load = || {
            let run = RunSettings { backend, ..RunSettings::default() };
            support::models().load(&folder, &run).unwrap()
        };
        let (model, undisturbed) = (load(), load());
        let stays: Vec<_> = rounds.iter().map(|views| undisturbed.judge(views)).collect();
        std::thread::scope(|scope| {
            for waits in [0, 2, 6] {
                let (model, rounds, stays) = (&model, &rounds, &stays);
                scope.spawn(move || {
                    for (views, stays) in rounds.iter().zip(stays) {
                        let started: Vec<_> = views.iter().map(|view| model.start(view)).collect();
                        // The rest is cancelled.
                        for (one, stays) in started.into_iter().zip(stays).take(waits) {
                            assert_eq!(block_on(one), *stays, "{name} on {backend:?}");
                        }
                    }
                });
            }
            for (views, stays) in rounds.iter().zip(&stays) {
                assert_eq!(model.judge(views), *stays, "{name} on {backend:?}");
            }
        });
        // How much of this is computed depends on the moment; the tests of `schedule.rs` hold a
        // session at a gate and count.
        drop(views_of_round(ROUNDS).iter().map(|view| model.start(view)).collect::<Vec<_>>());
        assert_eq!(model.judge(&rounds[0]), stays[0], "{name} on {backend:?}");
    }
}

#[test]
fn a_cancelled_request_affects_no_other_on_onnxruntime() {
    a_cancelled_request_affects_no_other(BackendChoice::Ort);
}

#[test]
fn a_cancelled_request_affects_no_other_on_rten() {
    a_cancelled_request_affects_no_other(BackendChoice::Rten);
}

fn built(models: &Arc<assay_reward_models::Models>, id: &str, settings: Value) -> Built {
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == id).unwrap();
    (entry.build)(models, settings, &support::Fixtures).unwrap()
}

fn judged(built: &Built, sample: &Sample) -> Verdict {
    let Lane::Awaited(verifier) = &built.lane else { panic!("it is awaited") };
    let verifier = Arc::clone(verifier);
    block_on(verifier.verify(sample, Earlier::default(), &mut Meter::default()))
}

#[test]
fn two_verifiers_on_one_model_compute_each_text_once() {
    const SAMPLES: u64 = 24;
    for name in ["arch-qwen2", "skywork-reward-kv"] {
        let models = Arc::new(support::models());
        let run = RunSettings { backend: BackendChoice::Rten, ..RunSettings::default() };
        let settings =
            |threshold: Option<f64>| json!({"model": name, "threshold": threshold, "run": run});
        let verifiers = [None, Some(0.0)].map(settings);
        let verifiers = verifiers.map(|settings| built(&models, "outcome_model", settings));
        let folder = support::root().join("fixtures/models").join(name);
        let model = models.load(&folder, &run).unwrap();
        let before = model.computed();
        // Half of the completions come twice.
        let sample = |at: u64| {
            let said = format!("It is {}.", at % (SAMPLES / 2));
            Sample::builder(said).prompt("What is 2 + 3? ".repeat(12)).id(at.to_string()).build()
        };
        let samples: Vec<Sample> = (0..SAMPLES).map(sample).collect();
        let all: Vec<Vec<Verdict>> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..8)
                .map(|caller| {
                    let (verifier, samples) = (&verifiers[caller % 2], &samples);
                    scope.spawn(move || samples.iter().map(|one| judged(verifier, one)).collect())
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        for (caller, verdicts) in all.iter().enumerate() {
            assert_eq!(*verdicts, all[caller % 2], "{name}");
        }
        assert_eq!(model.computed() - before, SAMPLES / 2, "{name}");
    }
}
