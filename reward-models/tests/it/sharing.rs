//! A score does not depend on its company: alone, in any batch, in any order, behind a prompt that
//! was computed once or not, the same bits.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_reward_models::ModelError;
use assay_reward_models::backend::Choice;
use assay_reward_models::models::Run;
use assay_reward_models::template::View;
use assay_verifiers::{Backstop, Message};

use crate::support;

/// Ranges of integers that are found at run time depend on the batch, and say so.
const DYNAMIC: &str = "qwen-prm-int8";

/// Prompts of several lengths, each with completions of several lengths.
fn views() -> Vec<View> {
    let mut views = Vec::new();
    for prompt in 0..4_usize {
        let asked =
            format!("Question {prompt}: {}", "what is 2 + 3 and 4? ".repeat(1 + 2 * prompt));
        for completion in 0..5_usize {
            let said = "It is 5, then 9. ".repeat(1 + (completion * 7 + prompt) % 6);
            let completion = format!("{completion} {said}");
            let steps = said.split(". ").map(str::to_owned);
            views.push(View {
                messages: vec![Message { role: "user".into(), content: asked.clone() }],
                steps: steps.filter(|step| !step.is_empty()).collect(),
                pair: Some((completion.clone(), "It is 6.".into())),
                completion,
                reference: "5".into(),
            });
        }
    }
    views
}

/// The bits of every score; texts that are too long for the model have none.
fn bits(folder: &Path, run: &Run, views: &[View]) -> Vec<Vec<u64>> {
    let model = support::models().load(folder, run).unwrap();
    let of = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect();
    let judged = model.judge(views).into_iter();
    judged.map(|one| one.map_or_else(|_| Vec::new(), |one| of(&one.scores))).collect()
}

fn no_score_depends_on_company(backend: Choice) {
    let views = views();
    for folder in support::folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if name == DYNAMIC {
            continue;
        }
        let bits = |batch_tokens, prefix_mb, workers, views: &[View]| {
            let run = Run { backend, batch_tokens, prefix_mb, workers, ..Run::default() };
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
    no_score_depends_on_company(Choice::Ort);
}

#[test]
fn no_score_depends_on_company_on_rten() {
    no_score_depends_on_company(Choice::Rten);
}

/// Expires at a look.
struct After(AtomicUsize);

impl Backstop for After {
    fn expired(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_err()
    }
}

/// Callers that leave at any moment harm nobody else, and the workers live on.
fn whoever_leaves_harms_nobody(backend: Choice) {
    let views = views();
    for name in ["qwen-prm", "skywork-reward-kv", "critique-judge"] {
        let folder = support::root().join("fixtures/models").join(name);
        let run = Run { backend, ..Run::default() };
        let model = support::models().load(&folder, &run).unwrap();
        let stays = model.judge(&views);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for looks in 0..40 {
                    let found = model.judge_within(&views, &After(AtomicUsize::new(looks)));
                    assert_eq!(found.len(), views.len());
                    for (found, stays) in found.iter().zip(&stays) {
                        assert!(matches!(found, Err(ModelError::Stopped)) || found == stays);
                    }
                }
            });
            for _ in 0..3 {
                assert_eq!(model.judge(&views), stays, "{name} on {backend:?}");
            }
        });
        let left = model.judge_within(&views, &After(AtomicUsize::new(0)));
        let stopped =
            |one: &Result<_, _>| matches!(one, Err(ModelError::Stopped | ModelError::Input(_)));
        assert!(left.iter().all(stopped), "{name} on {backend:?}");
    }
}

#[test]
fn whoever_leaves_harms_nobody_on_onnxruntime() {
    whoever_leaves_harms_nobody(Choice::Ort);
}

#[test]
fn whoever_leaves_harms_nobody_on_rten() {
    whoever_leaves_harms_nobody(Choice::Rten);
}
