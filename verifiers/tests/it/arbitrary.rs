//! Arbitrary texts as completion and as reference, through every check of single samples as its
//! fixtures set it: no panic, no internal fault, the same verdict twice, a reward within the range
//! that the check states.

use std::collections::BTreeMap;

use assay_verifiers::cases::{self, Case};
use assay_verifiers::{
    Earlier, FaultKind, Lane, Meter, Outcome, Reward, Sample, Verdict, Verifier, registry,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// Signs at which texts are cut or whose lower case has another length, and marks of answers.
#[rustfmt::skip]
const PIECES: [&str; 44] = [
    "İ", "ẞ", "ﬁ", "ǰ", "K", "\u{301}", "\u{200b}", "\u{feff}", "\u{a0}", "\u{2028}", "\r\n",
    "\n\n", " ", "−", "٣", "½", "五", "。", "，", "“", "”", "’", "…", "**", "$", "$$", "\\(",
    "\\boxed{", "}", "{", "(", ")", "[", "]", "\"", "'", "`", "```\n", "<answer>", "</answer>",
    "answer is ", "not ", "1,5", "😀",
];

/// One setting of a check, with its case.
struct Setting {
    verifier: Box<dyn Verifier>,
    case: Case,
}

/// The settings of a check of single samples: one of its cases each.
fn settings(entry: &assay_verifiers::checks::Entry) -> Vec<Setting> {
    let file = cases::parse(entry.about.fixtures).unwrap();
    let mut known = BTreeMap::new();
    for case in file.cases {
        known.entry(serde_json::to_string(&case.config).unwrap()).or_insert(case);
    }
    let built = known.into_values().filter_map(|case| {
        let built = (entry.build)(Value::Object(case.config.clone()), &case).ok()?;
        let Lane::Compute(verifier) = built.lane else { return None };
        Some(Setting { verifier, case })
    });
    built.collect()
}

/// What the fixtures of a check say, cut and joined with other texts.
fn texts(corpus: Vec<String>) -> impl Strategy<Value = String> {
    let cut = |(text, one, two): (String, Index, Index)| {
        let chars: Vec<char> = text.chars().collect();
        let (one, two) = (one.index(chars.len() + 1), two.index(chars.len() + 1));
        chars[one.min(two)..one.max(two)].iter().collect::<String>()
    };
    let corpus = prop::sample::select(corpus);
    let piece = prop_oneof![
        4 => (corpus, any::<Index>(), any::<Index>()).prop_map(cut),
        3 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => "(?s).{0,6}",
    ];
    prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

/// The reference of a case with `text` in place of its texts, or the text alone.
fn reference(of_case: Option<&Value>, text: &str, keeps_shape: bool) -> Value {
    match of_case {
        Some(Value::Array(values)) if keeps_shape => {
            values.iter().map(|value| reference(Some(value), text, true)).collect()
        }
        Some(Value::Object(members)) if keeps_shape => {
            let member =
                |(key, value): (&String, &Value)| (key.clone(), reference(Some(value), text, true));
            members.iter().map(member).collect()
        }
        Some(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) if keeps_shape => {
            value.clone()
        }
        _ => text.into(),
    }
}

fn verdict(setting: &Setting, sample: &Sample) -> Verdict {
    let names: Vec<String> = setting.case.earlier.keys().cloned().collect();
    let known = vec![Some(Verdict::scored(Reward::ONE)); names.len()];
    setting.verifier.verify(sample, Earlier::new(&names, &known), &mut Meter::default())
}

fn corpus(settings: &[Setting]) -> Vec<String> {
    let said = |setting: &Setting| {
        let sample = setting.case.sample();
        let reference = sample.reference().map(Value::to_string);
        std::iter::once(sample.completion().to_owned()).chain(reference)
    };
    settings.iter().flat_map(said).collect()
}

#[test]
fn arbitrary_texts_are_judged_alike_twice_and_within_the_range() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
    for entry in registry::ALL {
        let settings = settings(entry);
        if settings.is_empty() {
            continue;
        }
        let text = || texts(corpus(&settings));
        let given = (text(), text(), any::<Index>(), any::<bool>());
        proptest!(config.clone(), |((completion, wanted, at, keeps_shape) in given)| {
            let setting = &settings[at.index(settings.len())];
            let sample = Sample::builder(completion.as_str())
                .prompt(wanted.as_str())
                .reference(reference(setting.case.reference.as_ref(), &wanted, keeps_shape))
                .meta(setting.case.meta.clone())
                .build();
            let found = verdict(setting, &sample);
            prop_assert_eq!(&found, &verdict(setting, &sample), "{}", entry.about.id);
            match &found.outcome {
                Outcome::Scored(reward) => {
                    let [least, most] = setting.verifier.range();
                    let is_within = (least..=most).contains(&reward.get());
                    prop_assert!(is_within, "{}: {reward:?} of {least}..={most}", entry.about.id);
                }
                Outcome::Failed(fault) => {
                    prop_assert_ne!(fault.kind, FaultKind::Internal, "{}: {}", entry.about.id, fault);
                }
                Outcome::Abstained(_) => {}
            }
        });
    }
}
