//! Shapes from outside: one after another, and the list in the docs.

use assay_verifiers::shaping;
use assay_verifiers::{
    BuiltShape, Earlier, Meter, NoFiles, Reward, Sample, ShapeMember, Step, TrainingState, Verdict,
};
use serde_json::{Value, json};

const DOCS: &str = include_str!("../../../docs/shaping.md");

fn built(entry: Value) -> BuiltShape {
    shaping::build(entry, &NoFiles, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Shapes a verdict by each entry in turn.
fn shaped(mut verdict: Verdict, entries: &[Value]) -> Verdict {
    let (sample, state) = (Sample::builder("").build(), TrainingState::default());
    for entry in entries {
        let member =
            ShapeMember { sample: &sample, verdict: &verdict, earlier: Earlier::default() };
        let found = built(entry.clone()).shape(&[member], &state, &mut Meter::default());
        let found = found[0].as_ref().unwrap();
        let rewards = found.steps.clone().unwrap_or_else(|| member.steps());
        let steps = rewards.iter().map(|reward| Step::new((0, 0), Reward::new(*reward).unwrap()));
        let steps = steps.collect();
        verdict = Verdict { steps, ..Verdict::scored(Reward::new(found.reward).unwrap()) };
    }
    verdict
}

#[test]
fn the_docs_have_a_row_for_every_kind() {
    let table = DOCS.split("## Kinds").nth(1).unwrap();
    let table = table.split("## What is not a shape").next().unwrap();
    let rows: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row.split('`').next().unwrap()).collect();
    assert!(kinds.is_sorted());
    let all = shaping::all();
    for entry in &all {
        // A recipe has its page in `docs/recipes.md`.
        assert!(entry.is_recipe() || kinds.contains(&entry.kind), "no row for {}", entry.kind);
    }
    for (row, kind) in rows.iter().zip(kinds) {
        assert!(all.iter().any(|entry| entry.kind == kind), "{row}");
        let is_group = row.starts_with(&format!("{kind}`, group"));
        assert!(row.split(" | ").count() == 4, "{row}");
        assert_eq!(is_group, GROUPS.contains(&kind), "{row}");
    }
}

/// The kinds that compare the samples of a prompt.
const GROUPS: [&str; 8] = [
    "conditional_length",
    "contrast_stretch",
    "fallback",
    "group_rank",
    "group_zscore",
    "search_bonus",
    "stcr",
    "trust",
];

/// "On Designing Effective RL Reward at Training Time for LLM Reasoning": clip first, then delta; the
/// return from a step on is its clipped reward, and the outcome.
#[test]
fn clip_and_delta_are_two_shapes() {
    let steps = [0.95, 0.4, 0.7, 0.9].map(|reward| Step::new((0, 0), Reward::new(reward).unwrap()));
    let verdict = Verdict { steps: steps.to_vec(), ..Verdict::graded(true) };
    let entries = [json!({"kind": "step_clip", "eta": 0.8}), json!({"kind": "step_delta"})];
    let found = shaped(verdict, &entries);
    // Clipped: 0, -0.4, -0.1, 0.
    let wanted = [0.4, -0.3, -0.1, 0.0];
    for (step, wanted) in found.steps.iter().zip(wanted) {
        assert!((step.reward.get() - wanted).abs() < 1e-12, "{:?}", found.steps);
    }
    assert!(found.outcome.reward().unwrap().get().abs() < 1e-12);
}

#[test]
fn the_order_of_shapes_counts() {
    let affine = json!({"kind": "affine", "scale": 3.0});
    let clip = json!({"kind": "clip", "max": 2.0});
    let reward = |entries: &[Value]| {
        shaped(Verdict::graded(true), entries).outcome.reward().map(Reward::get)
    };
    assert_eq!(reward(&[affine.clone(), clip.clone()]), Some(2.0));
    assert_eq!(reward(&[clip, affine]), Some(3.0));
}

/// What is asked of other rewards is known before anything is shaped.
#[test]
fn a_built_shape_says_what_it_reads() {
    let trust = built(json!({"kind": "trust", "thinking": "think", "decay_steps": 10}));
    assert!(trust.is_group && trust.moments.is_empty());
    assert_eq!(trust.reads, ["think"]);
    let running = built(json!({"kind": "normalise_running", "name": "helpful"}));
    assert!(!running.is_group && running.reads.is_empty());
    assert_eq!(running.moments, ["helpful"]);
}

/// Running normalisation is a function: the state goes in, and the next state comes out.
#[test]
fn running_normalisation_follows_the_state() {
    let shape = built(json!({"kind": "normalise_running", "name": "r"}));
    let sample = Sample::builder("").build();
    let shaped = |reward: f64, state: &TrainingState| {
        let verdict = Verdict::scored(Reward::new(reward).unwrap());
        let member =
            ShapeMember { sample: &sample, verdict: &verdict, earlier: Earlier::default() };
        shape.shape(&[member], state, &mut Meter::default())[0].as_ref().unwrap().reward
    };
    let first = TrainingState::default();
    assert!((shaped(4.0, &first) - 4.0).abs() < 1e-12);
    let second = first.observed([("r", 1.0), ("r", 3.0)]);
    // Of 1 and 3, the mean is 2 and the deviation the root of 2.
    let root = 2.0_f64.sqrt();
    assert!((shaped(4.0, &second) - root).abs() < 1e-12);
    assert!((shaped(4.0, &second) - root).abs() < 1e-12, "a call leaves the state as it is");
    let third = second.observed([("r", 8.0)]);
    assert!(shaped(4.0, &third).abs() < 1e-12);
}
