//! What holds for every kind of shaping, tried with the settings of its cases: finite rewards stay
//! finite, a member is shaped whatever comes before it, and the order of a group is the order of what
//! comes out.

use assay_verifiers::{BuiltShape, Content};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};

use super::{CaseMember, Held, ShapeCase, ShapeEntry, built, shaped};

/// Groups of random members, by the settings of every case that has some.
pub(super) fn hold(entry: &ShapeEntry, cases: &[ShapeCase]) -> Result<(), String> {
    for case in cases.iter().filter(|case| case.refused.is_none()) {
        let built = built(entry, case)?;
        let groups = prop::collection::vec(member(built.reads.clone()), 1..7);
        let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new(config);
        let tried = runner.run(&groups, |group| tried(&built, group, case));
        tried.map_err(|why| format!("{}: {why}", case.name))?;
    }
    Ok(())
}

fn tried(
    built: &BuiltShape,
    mut group: Vec<CaseMember>,
    case: &ShapeCase,
) -> Result<(), TestCaseError> {
    let found = rewards(built, &group, case)?;
    for (member, found) in group.iter().zip(&found) {
        let is_shaped = member.reward.is_none() || found.as_ref().is_none_or(|it| it.is_finite());
        prop_assert!(is_shaped, "{found:?}");
    }
    prop_assert_eq!(&rewards(built, &group, case)?, &found, "the same again");
    group.reverse();
    let back = rewards(built, &group, case)?;
    for (one, other) in found.iter().zip(back.iter().rev()) {
        let same = match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(1.0),
            (one, other) => one == other,
        };
        prop_assert!(same, "in order {found:?}, in reverse {back:?}");
    }
    Ok(())
}

/// The shaped rewards; `None` of a member that fails.
fn rewards(
    built: &BuiltShape,
    group: &[CaseMember],
    case: &ShapeCase,
) -> Result<Vec<Option<f64>>, TestCaseError> {
    let held: Result<Vec<Held>, String> = group.iter().map(Held::new).collect();
    let held = held.map_err(TestCaseError::fail)?;
    let results = shaped(built, &held, case);
    prop_assert_eq!(results.len(), group.len());
    let read = |(result, member): (_, &CaseMember)| match result {
        _ if member.reward.is_none() => Ok(None),
        Err(_) => Ok(None),
        Ok(assay_verifiers::Shaped { reward, notes, steps }) => {
            let failed = notes.iter().any(|(key, _)| *key == "failed");
            let steps = steps.unwrap_or_default();
            prop_assert!(steps.iter().all(|step| step.is_finite()), "{steps:?}");
            prop_assert!(steps.is_empty() || steps.len() == member.steps.len());
            Ok((!failed).then_some(reward))
        }
    };
    results.into_iter().zip(group).map(read).collect()
}

prop_compose! {
    fn member(others: Vec<String>)(
        text in "[ab _<>/é\n]{0,60}",
        tokens in prop::option::weighted(0.9, 0..4000_usize),
        reward in prop::option::weighted(0.9, reward()),
        steps in prop::collection::vec(reward(), 0..5),
        judged in prop::collection::vec(other(), others.len()),
        meta in meta(),
    ) -> CaseMember {
        CaseMember {
            completion: Some(Content::from(text.as_str())),
            tokens,
            finish_reason: tokens.filter(|tokens| tokens % 3 == 0).map(|_| "length".to_owned()),
            reference: Some(Value::from(text)),
            meta,
            reward,
            outcome: reward.is_none().then(|| "failed".to_owned()),
            steps,
            others: others.clone().into_iter().zip(judged).collect(),
            shaped: None,
            shaped_steps: None,
            notes: Map::new(),
            fault: None,
        }
    }
}

fn reward() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64, -10.0..10.0_f64]
}

fn other() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => reward().prop_map(Value::from),
        1 => Just(json!("abstained")),
        1 => Just(json!("failed")),
        2 => prop::collection::vec(reward(), 0..5).prop_map(Value::from),
    ]
}

fn meta() -> impl Strategy<Value = Map<String, Value>> {
    (0..5000_u32, any::<bool>()).prop_map(|(number, flag)| {
        let columns = json!({
            "n": number, "n_gold": number, "turn": 1 + number % 9,
            "search_required": flag, "cut": flag,
        });
        columns.as_object().cloned().unwrap_or_default()
    })
}
