//! What holds of every check of groups: the order of the members decides nothing, rewards stay
//! within the range that the manual gives, and settings that mean nothing are refused.

use assay_verifiers::{
    Built, Earlier, Fault, FaultKind, Group, Lane, Member, Meter, NoFiles, Outcome, Reward, Sample,
    Verdict, registry,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A check, its settings, and the range of its rewards where `correct` is from 0 to 1.
type Kind = (&'static str, Value, (f64, f64));

fn kinds() -> Vec<Kind> {
    let unit = (0.0, 1.0);
    let pass = |form: &str| json!({"k": 3, "form": form});
    vec![
        ("majority_vote", json!({}), unit),
        ("majority_vote", json!({"on_tie": "abstain", "votes_min": 1}), unit),
        ("majority_vote", json!({"answers": "text", "share_min": 0.4}), unit),
        ("majority_vote", json!({"answers": "choice"}), unit),
        ("self_consistency", json!({}), unit),
        ("self_consistency", json!({"share_of": "all", "answers": "text"}), unit),
        ("diversity", json!({}), unit),
        ("diversity", json!({"measure": "self_bleu", "n": 4}), unit),
        ("diversity", json!({"measure": "unique", "n": 1}), unit),
        ("diversity", json!({"measure": "distinct", "n": 1}), unit),
        ("duplicates", json!({"credit": "share"}), unit),
        ("duplicates", json!({"credit": "share", "by": "ngrams", "n": 1, "threshold": 0.4}), unit),
        ("relative_length", json!({}), (-0.5, 0.5)),
        ("relative_length", json!({"form": "efficient", "alpha": 0.6}), unit),
        ("relative_length", json!({"form": "shortest", "unit": "words"}), unit),
        ("relative_length", json!({"form": "conditional", "unit": "bytes"}), unit),
        ("rank", json!({"of": "correct"}), unit),
        ("rank", json!({"of": "correct", "best": "lowest", "scale": "centered"}), (-0.5, 0.5)),
        ("contrast", json!({"of": "correct"}), (-1.0, 1.0)),
        ("contrast", json!({"of": "correct", "form": "margin", "right": "correct"}), (-1.0, 1.0)),
        ("contrast", json!({"of": "correct", "form": "stretch", "range": 0.6}), unit),
        ("pass_at_k", pass("group"), unit),
        ("pass_at_k", pass("credit"), unit),
        ("pass_at_k", pass("credit_loo"), (-1.5, 1.0)),
        ("pass_at_k", pass("credit_loo_minus_one"), unit),
        ("pass_at_k", pass("marginal"), (-1.0, 1.0)),
        ("pass_at_k", pass("advantage"), (-100.0, 100.0)),
    ]
}

fn build(id: &str, settings: &Value) -> Built {
    (registry::find(id).unwrap().build)(settings.clone(), &NoFiles).unwrap()
}

/// A completion, and what the reward `correct` said of it.
type Row = (String, Option<f64>);

fn judge(built: &Built, rows: &[Row]) -> Vec<Verdict> {
    let Lane::Group(verifier) = &built.lane else { return Vec::new() };
    let samples: Vec<Sample> =
        rows.iter().map(|(text, _)| Sample::builder(&**text).build()).collect();
    let names = ["correct".to_owned()];
    let known: Vec<Vec<Option<Verdict>>> = rows
        .iter()
        .map(|(_, reward)| {
            let abstained = || Verdict::abstained("-");
            vec![Some(reward.and_then(Reward::new).map_or_else(abstained, Verdict::scored))]
        })
        .collect();
    let member = |(sample, known)| Member { sample, earlier: Earlier::new(&names, known) };
    let pairs = samples.iter().zip(known.iter().map(Vec::as_slice));
    let group = Group { members: pairs.map(member).collect() };
    let fuel = Meter::DEFAULT_FUEL * rows.len() as u64;
    verifier.verify_group(&group, &mut Meter::new(fuel))
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let texts = [
        "",
        "4",
        "\\boxed{4}",
        "The answer is 4.",
        "\\boxed{\\frac{8}{2}}",
        "\\boxed{5}",
        "The answer is 5.0",
        "\\boxed{x+1}",
        "\\boxed{1+x}",
        "the cat sat on the mat",
        "The answer is (B).",
        "B",
        "a cat sat",
        "1,234",
        "\\boxed{1234}",
        "no",
        "\u{200b}",
        "so so so",
    ];
    let text = prop_oneof![
        8 => proptest::sample::select(texts.to_vec()).prop_map(str::to_owned),
        1 => "(?s).{0,20}",
    ];
    let reward = proptest::sample::select(vec![
        None,
        Some(0.0),
        Some(0.0),
        Some(1.0),
        Some(1.0),
        Some(0.3),
        Some(0.1),
        Some(0.7),
    ]);
    proptest::collection::vec((text, reward), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_order_of_the_members_decides_nothing(rows in rows(), seed in any::<u64>()) {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| (*at as u64 + 1).wrapping_mul(seed | 1));
        let other: Vec<Row> = order.iter().map(|at| rows[*at].clone()).collect();
        for (id, settings, _) in kinds() {
            let built = build(id, &settings);
            let (verdicts, others) = (judge(&built, &rows), judge(&built, &other));
            prop_assert_eq!(verdicts.len(), rows.len());
            for (place, at) in order.iter().enumerate() {
                let (here, there) = (&verdicts[*at].outcome, &others[place].outcome);
                prop_assert_eq!(here, there, "{} {}: {:?} {:?}", id, settings, rows[*at], rows);
            }
        }
    }

    #[test]
    fn rewards_stay_within_their_range(rows in rows()) {
        for (id, settings, (low, high)) in kinds() {
            for verdict in judge(&build(id, &settings), &rows) {
                match verdict.outcome {
                    Outcome::Scored(reward) => prop_assert!(
                        (low..=high).contains(&reward.get()),
                        "{} {}: {} of {:?}", id, settings, reward.get(), rows
                    ),
                    Outcome::Abstained(_) => {}
                    Outcome::Failed(fault) => prop_assert!(false, "{} {}: {}", id, settings, fault),
                }
            }
        }
    }

    #[test]
    fn a_group_of_equal_members_earns_equal_rewards(row in rows(), count in 1..6_usize) {
        let Some(one) = row.first() else { return Ok(()) };
        let rows = vec![one.clone(); count];
        for (id, settings, _) in kinds() {
            let verdicts = judge(&build(id, &settings), &rows);
            let first = verdicts.first().map(|verdict| verdict.outcome.clone());
            let equal = verdicts.iter().all(|verdict| Some(&verdict.outcome) == first.as_ref());
            prop_assert!(equal, "{} {}: {:?}", id, settings, verdicts);
        }
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (id, settings, at) in [
        ("majority_vote", json!({"votes_min": 0}), "votes_min"),
        ("majority_vote", json!({"share_min": 1.5}), "share_min"),
        ("majority_vote", json!({"answers": "choice", "extract": "boxed"}), "extract"),
        ("self_consistency", json!({"share_of": "most"}), "share_of"),
        ("diversity", json!({"n": 0}), "n"),
        ("duplicates", json!({"n": 11}), "n"),
        ("duplicates", json!({"threshold": 0.0}), "threshold"),
        ("relative_length", json!({"alpha": 1.0}), "alpha"),
        ("relative_length", json!({"quantile": -0.1}), "quantile"),
        ("relative_length", json!({"temperature": 0.0}), "temperature"),
        ("relative_length", json!({"unit": "tokens"}), "tokenizer"),
        ("rank", json!({}), "of"),
        ("contrast", json!({"of": "a", "form": "margin"}), "right"),
        ("contrast", json!({"of": "a", "right": "b"}), "right"),
        ("contrast", json!({"of": "a", "range": -1.0}), "range"),
        ("pass_at_k", json!({"k": 0}), "k"),
        ("pass_at_k", json!({"k": 1, "form": "credit_loo_minus_one"}), "k"),
    ] {
        let refused = (registry::find(id).unwrap().build)(settings.clone(), &NoFiles).err();
        assert_eq!(refused.unwrap().setting, at, "{id} {settings}");
    }
}

#[test]
fn a_check_of_other_rewards_says_that_it_reads_them() {
    let reads = |id: &str, settings: Value| build(id, &settings).spec.reads_verdicts;
    assert!(reads("rank", json!({"of": "a"})) && reads("contrast", json!({"of": "a"})));
    assert!(reads("pass_at_k", json!({"k": 2})) && reads("relative_length", json!({})));
    assert!(!reads("majority_vote", json!({})) && !reads("duplicates", json!({})));
}

#[test]
fn one_member_that_is_too_long_fails_alone() {
    let long = "word ".repeat(1 << 20);
    let rows: Vec<Row> =
        [&*long, "\\boxed{4}", "\\boxed{4}"].map(|text| (text.to_owned(), Some(1.0))).to_vec();
    let verdicts = judge(&build("diversity", &json!({})), &rows);
    let fuel = |fault: &Fault| fault.kind == FaultKind::OutOfFuel;
    assert!(matches!(&verdicts[0].outcome, Outcome::Failed(fault) if fuel(fault)), "{verdicts:?}");
    assert_eq!(verdicts[1].outcome.reward().map(Reward::get), Some(0.0));
}

#[test]
fn the_vote_of_ttrl_takes_the_first_of_tied_answers() {
    let rows = ["\\boxed{1}", "\\boxed{2}", "\\boxed{2}", "\\boxed{1}"];
    let rows = rows.map(|text| (text.to_owned(), None));
    let verdicts = judge(&build("majority_vote", &json!({"on_tie": "first"})), &rows);
    let rewards: Vec<f64> =
        verdicts.iter().filter_map(|one| Some(one.outcome.reward()?.get())).collect();
    assert_eq!(rewards, [1.0, 0.0, 0.0, 1.0]);
}
