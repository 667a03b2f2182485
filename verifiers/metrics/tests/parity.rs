//! Values of public scorers, and what any text must give.

#![expect(
    clippy::indexing_slicing,
    clippy::many_single_char_names,
    clippy::unwrap_used,
    reason = "a test stops at what it does not expect"
)]

use assay_metrics::bleu::{BleuReferences, BleuRules, Smoothing};
use assay_metrics::boxes::{Rectangle, masks};
use assay_metrics::chrf::{ChrfReferences, ChrfRules};
use assay_metrics::edit::{EditUnit, characters, errors};
use assay_metrics::meteor::{MeteorWeights, meteor};
use assay_metrics::porter::stem;
use assay_metrics::ranking::{Gain, Ranked, kendall};
use assay_metrics::repetition::{GramCounts, GramUnit};
use assay_metrics::rouge::{RougeKind, RougeReference};
use assay_metrics::score::Overlap;
use assay_metrics::sets::SetCounts;
use assay_metrics::squad;
use assay_metrics::table_tree::TableReader;
use assay_metrics::teds::teds;
use assay_metrics::ter::{TerRules, ter};
use assay_metrics::tokens::WordSplit;
use proptest::prelude::*;
use serde_json::Value;

#[expect(clippy::unnecessary_wraps, reason = "the functions take one that may fail")]
fn free(_: u64) -> Result<(), ()> {
    Ok(())
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn assert_near(got: &[f64], due: &Value, what: &str) {
    let due = numbers(due);
    let near = got.len() == due.len() && got.iter().zip(&due).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near, "{what}: {got:?}, expected {due:?}");
}

/// The configurations of BLEU by the names of the data.
fn bleu_rules(name: &str) -> BleuRules {
    let tokens = match name {
        "bleu_intl" => WordSplit::International,
        "bleu_zh" => WordSplit::Chinese,
        "bleu_char" => WordSplit::Characters,
        "bleu_none" => WordSplit::Space,
        _ => WordSplit::Mteval13a,
    };
    let smoothing = match name {
        "bleu_nosmooth" => Smoothing::None,
        "bleu_floor" => Smoothing::Floor(0.1),
        "bleu_addk" => Smoothing::Add(1.0),
        _ => Smoothing::Exponential,
    };
    let effective_order = !matches!(name, "bleu_noeff" | "bleu_addk");
    BleuRules { tokens, smoothing, ignore_case: name == "bleu_lc", effective_order }
}

fn rouge_of(name: &str, text: &str, references: &[&str]) -> Vec<f64> {
    let kind = match name.trim_end_matches("_stem") {
        "rouge1" => RougeKind::Grams(1),
        "rouge2" => RougeKind::Grams(2),
        "rougeL" => RougeKind::Longest,
        _ => RougeKind::Lines,
    };
    let one = |reference: &&str| RougeReference::new(reference, kind, name.ends_with("_stem"));
    let best = references.iter().map(|reference| one(reference).score(text, &mut free).unwrap());
    let best = best.reduce(|a, b| if b.f1() > a.f1() { b } else { a }).unwrap();
    vec![best.precision, best.recall, best.f1()]
}

fn measured(name: &str, text: &str, references: &[&str]) -> Vec<f64> {
    let chrf = |words, beta, ignore_case| {
        let rules = ChrfRules { words, beta, ignore_case };
        vec![ChrfReferences::new(references, &rules).score(text)]
    };
    let ter = |rules| vec![ter(text, references, rules, &mut free).unwrap()];
    let first = references[0];
    match name {
        "chrf" => chrf(0, 2.0, false),
        "chrfpp" => chrf(2, 2.0, false),
        "chrf_lc" => chrf(0, 1.0, true),
        "ter" => ter(TerRules::default()),
        "ter_norm" => ter(TerRules { case_counts: true, normalised: true, without_marks: false }),
        "ter_nopunct" => {
            ter(TerRules { case_counts: true, normalised: false, without_marks: true })
        }
        "wer" => vec![errors(text, first, EditUnit::Words, &mut free).unwrap().rate()],
        "cer" => vec![errors(text, first, EditUnit::Characters, &mut free).unwrap().rate()],
        "lev" => vec![characters(text, first, &mut free).unwrap().similarity()],
        "squad" => {
            let (same, f1) = squad::compare(&squad::normalised(text), &squad::normalised(first));
            vec![f64::from(u8::from(same)), f1]
        }
        name if name.starts_with("rouge") => rouge_of(name, text, references),
        name => vec![BleuReferences::new(references, &bleu_rules(name)).score(text).score],
    }
}

#[test]
fn texts_score_as_by_the_public_scorers() {
    for row in rows(include_str!("data/texts.jsonl")) {
        let (text, references) = (row["text"].as_str().unwrap(), strings(&row["references"]));
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        for (name, due) in row["label"].as_object().unwrap() {
            let what = format!("{name} of {text:?} and {references:?}");
            assert_near(&measured(name, text, &references), due, &what);
        }
    }
}

fn table_score(given: &str, wanted: &str, ignored: &[String], structure_only: bool) -> Option<f64> {
    let mut reader = TableReader::new(ignored, structure_only);
    let (given, wanted) = (reader.read(given)?, reader.read(wanted)?);
    teds(&given, &wanted, &reader, &mut free).ok()
}

#[test]
fn tables_score_as_by_pubtabnet() {
    for row in rows(include_str!("data/tables.jsonl")) {
        let (given, wanted) = (row["text"].as_str().unwrap(), row["reference"].as_str().unwrap());
        let score = |ignored: &[String], bare| table_score(given, wanted, ignored, bare).unwrap();
        let got = [score(&[], false), score(&[], true), score(&["b".to_owned()], false)];
        assert_near(&got, &row["label"], given);
    }
}

#[test]
fn lists_score_as_by_the_public_scorers() {
    for row in rows(include_str!("data/lists.jsonl")) {
        let ranked = Ranked { given: numbers(&row["given"]), wanted: numbers(&row["wanted"]) };
        let k = usize::try_from(row["k"].as_u64().unwrap()).unwrap();
        let items = |side: &str| numbers(&row[side]).iter().map(f64::to_string).collect::<Vec<_>>();
        let (a, b) = (items("a"), items("b"));
        let counts = SetCounts::of(a.iter().map(String::as_str), b.iter().map(String::as_str));
        let Overlap { precision, recall } = counts.overlap();
        let f_beta = counts.overlap().f_beta(row["beta"].as_f64().unwrap());
        let (h, q) = (row["h"].as_str().unwrap(), row["q"].as_str().unwrap());
        let tau = kendall(&numbers(&row["x"]), &numbers(&row["y"]), &mut free).unwrap();
        for (name, got) in [
            ("ndcg", vec![ranked.ndcg(k, Gain::Linear)]),
            ("ndcg_exp", vec![ranked.ndcg(k, Gain::Exponential)]),
            ("ap", vec![ranked.average_precision(usize::MAX)]),
            ("tau", tau.into_iter().collect()),
            ("set", vec![precision, recall, f_beta, counts.jaccard()]),
            ("meteor", vec![meteor(h, &[q], MeteorWeights::default())]),
        ] {
            assert_near(&got, &row["label"][name], &format!("{name} of {row}"));
        }
    }
}

#[test]
fn words_lose_their_endings() {
    for (word, due) in [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),
        ("agreed", "agre"),
        ("died", "die"),
        ("spied", "spi"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("hopefully", "hope"),
        ("geologies", "geolog"),
        ("adjustment", "adjust"),
        ("controlling", "control"),
        ("sky", "sky"),
        ("syzygy", "syzygi"),
    ] {
        assert_eq!(stem(word.as_bytes()), due.as_bytes(), "{word}");
    }
}

#[test]
fn boxes_overlap() {
    let one = Rectangle::new([0.0, 0.0, 10.0, 10.0]).unwrap();
    let half = Rectangle::new([5.0, 0.0, 15.0, 10.0]).unwrap();
    let far = Rectangle::new([20.0, 0.0, 30.0, 10.0]).unwrap();
    assert!((one.iou(&half) - 1.0 / 3.0).abs() < 1e-12);
    assert!((one.dice(&half) - 0.5).abs() < 1e-12);
    assert!((one.giou(&far) + 1.0 / 3.0).abs() < 1e-12);
    assert!(one.has([10.0, 0.0]) && !one.has([10.1, 0.0]));
    for bad in [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [f64::NAN, 0.0, 1.0, 1.0]] {
        assert!(Rectangle::new(bad).is_none(), "{bad:?}");
    }
    let counts = masks(&[0, 4, 2, 3], &[2, 5]);
    assert_eq!((counts.given, counts.wanted, counts.common), (7, 5, 3));
    assert_eq!(masks(&[u64::MAX, u64::MAX, 1], &[]).common, 0);
}

#[test]
fn repeated_grams_are_counted() {
    for (text, unit, length, due) in [
        ("a b a b", GramUnit::Words, 2, (3, 2)),
        ("A a", GramUnit::Words, 1, (2, 1)),
        ("a b", GramUnit::Words, 3, (0, 0)),
        ("aaaa", GramUnit::Characters, 3, (2, 1)),
    ] {
        let counts = GramCounts::of(text, unit, length);
        assert_eq!((counts.all, counts.distinct), due, "{text}");
    }
}

/// The distance by its definition.
fn distance(one: &[char], two: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (place, other) in two.iter().enumerate() {
            let change = corner + usize::from(letter != other);
            corner = row[place + 1];
            row[place + 1] = change.min(corner + 1).min(row[place] + 1);
        }
    }
    row[two.len()]
}

/// Rows of cells; a row in a body is one of `true`.
type Rows = Vec<(bool, Vec<String>)>;

fn table() -> impl Strategy<Value = Rows> {
    proptest::collection::vec((any::<bool>(), proptest::collection::vec("[ab]{0,2}", 0..3)), 0..4)
}

fn written(rows: &Rows) -> String {
    let cells = |cells: &[String]| match cells {
        [] => String::new(),
        cells => format!("<td>{}</td>", cells.join("</td><td>")),
    };
    let row = |(body, row): &(bool, Vec<String>)| match body {
        true => format!("<tbody><tr>{}</tr></tbody>", cells(row)),
        false => format!("<thead>{}</thead>", cells(row)),
    };
    format!("<table>{}</table>", rows.iter().map(row).collect::<String>())
}

fn size(rows: &Rows) -> u32 {
    rows.iter()
        .map(|(body, cells)| 1 + u32::from(*body) + u32::try_from(cells.len()).unwrap())
        .sum()
}

/// A name with the text of a cell, and what is below it.
#[derive(Clone, PartialEq)]
struct Tree(&'static str, String, Vec<Tree>);

/// The distance by its definition: the last tree goes, or comes, or one becomes the other.
fn forests(one: &Rows, two: &Rows) -> f64 {
    fn trees(rows: &Rows) -> Vec<Tree> {
        let cell = |text: &String| Tree("td", text.clone(), Vec::new());
        let row = |(body, row): &(bool, Vec<String>)| {
            let cells: Vec<Tree> = row.iter().map(cell).collect();
            match body {
                true => Tree("tbody", String::new(), vec![Tree("tr", String::new(), cells)]),
                false => Tree("thead", String::new(), cells),
            }
        };
        rows.iter().map(row).collect()
    }
    fn count(trees: &[Tree]) -> f64 {
        trees.iter().map(|tree| 1.0 + count(&tree.2)).sum()
    }
    fn between(one: &[Tree], two: &[Tree]) -> f64 {
        let (Some((a, left)), Some((b, right))) = (one.split_last(), two.split_last()) else {
            return count(one) + count(two);
        };
        let change = if a.0 == b.0 { 1.0 - similarity(&a.1, &b.1) } else { 1.0 };
        let without = |rest: &[Tree], tree: &Tree| [rest, &tree.2].concat();
        (between(&without(left, a), two) + 1.0)
            .min(between(one, &without(right, b)) + 1.0)
            .min(between(left, right) + between(&a.2, &b.2) + change)
    }
    between(&trees(one), &trees(two))
}

fn similarity(one: &str, two: &str) -> f64 {
    characters(one, two, &mut free).unwrap().similarity()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn long_texts_have_the_distance_of_the_definition(one in "[ab ]{0,200}", two in "[abc]{0,200}") {
        let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
        prop_assert_eq!(characters(&one, &two, &mut free).unwrap().count, distance(&a, &b));
    }

    #[test]
    fn no_text_panics_and_each_equals_itself(
        text in "(?s)([a-c0-9.,' -]|\\PC|.){0,60}",
        other in "(?s)([a-c0-9.,' -]|<[/a-z !]{0,6}>?|.){0,60}",
    ) {
        let references = [other.as_str(), text.as_str()];
        for name in ["bleu_13a", "bleu_intl", "bleu_zh", "bleu_char", "bleu_none", "chrfpp"] {
            let score = measured(name, &text, &references)[0];
            prop_assert!((0.0..100.001).contains(&score), "{} {}", name, score);
        }
        for name in ["rouge2", "rougeL_stem", "rougeLsum", "wer", "cer", "lev", "squad", "ter_norm"] {
            let score = measured(name, &text, &references)[0];
            prop_assert!(score.is_finite() && score >= 0.0, "{} {}", name, score);
        }
        prop_assert_eq!(measured("ter", &text, &[&text]), [0.0]);
        prop_assert_eq!(measured("wer", &text, &[&text]), [0.0]);
        if text.chars().any(|letter| !letter.is_whitespace() && !letter.is_control()) {
            prop_assert!((measured("bleu_13a", &text, &[&text])[0] - 100.0).abs() < 1e-9);
            prop_assert_eq!(measured("chrf", &text, &[&text]), [100.0]);
        }
    }

    #[test]
    fn tokens_of_blocks_are_those_of_characters(
        text in "([a-c]{1,20}|[.,]{1,3}|[0-9]{1,2}|[-' \n$é\u{2019}]|&amp;){0,90}",
        other in "([a-c]{1,20}|[.,]{1,3}|[0-9]{1,2}|[-' \n$é\u{2019}]){0,90}",
    ) {
        // A text with white space beyond ASCII is read by characters.
        let wide = format!("\u{3000}{text}");
        for name in ["bleu_13a", "chrf"] {
            prop_assert_eq!(measured(name, &text, &[&other]), measured(name, &wide, &[&other]));
        }
    }

    #[test]
    fn tables_have_the_distance_of_the_definition(one in table(), two in table()) {
        let due = 1.0 - forests(&one, &two) / f64::from(size(&one).max(size(&two)).max(1));
        let score = table_score(&written(&one), &written(&two), &[], false).unwrap();
        prop_assert!((score - due).abs() < 1e-9, "{} {}: {} {}", written(&one), written(&two), score, due);
    }

    #[test]
    fn long_reaches_of_letters_share_what_windows_share(
        one in "[a-e\u{4e00}-\u{53ff}]{0,2500}", two in "[a-eé\u{4e00}-\u{53ff}]{0,900}",
    ) {
        // Of both sides each is the reference once: with few letters, and with more than a window holds.
        let rules = ChrfRules { words: 0, beta: 1.0, ignore_case: false };
        let score = |text: &str, reference: &str| ChrfReferences::new(&[reference], &rules).score(text);
        prop_assert!((score(&one, &two) - score(&two, &one)).abs() < 1e-9);
    }

    #[test]
    fn no_table_panics(
        one in "(<(/?(table|tr|td|th|thead|b|br|x)( colspan=[\"']?[0-9]{0,2}[\"']?)?>?)?|[a&;#<é]|<!--|-->){0,40}",
        two in "(<(/?(table|tr|td|tbody|i)>)|[a-c])((<td>)?[a-z]){0,20}",
    ) {
        let (one, two) = (format!("<table>{one}"), format!("<table>{two}"));
        let score = table_score(&one, &two, &[], false).unwrap();
        prop_assert!(score <= 1.0);
        prop_assert!((table_score(&one, &one, &[], false).unwrap() - 1.0).abs() < 1e-12);
    }
}
