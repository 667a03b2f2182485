//! The verdict of a judge on one criterion.

use assay_rubrics::judge::JudgeReply;
use assay_rubrics::reply::{AskedCriteria, read};
use assay_rubrics::rubric::{AnswerChoice, AnswerKind, Criterion, Scale};
use serde::Deserialize;

use crate::fixtures;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "as")]
    scale: String,
    text: String,
    want: String,
    #[serde(default = "letter")]
    material: String,
}

fn letter() -> String {
    "Dear Sir, thank you.".into()
}

const SCALES: [&str; 7] = ["yes_no", "1-5", "0-10", "grades", "tone", "letters", "classes"];

/// The answers of a scale, in the words of a judge.
fn answers(scale: &str) -> Vec<String> {
    let words: Vec<&str> = match scale {
        "yes_no" => vec!["no", "yes"],
        "grades" => vec!["I", "P", "C"],
        "tone" => vec!["poor", "fair", "good"],
        "letters" => vec!["D", "C", "B", "A"],
        "classes" => vec!["incorrect", "partially correct", "correct"],
        range => {
            let (min, max) = range.split_once('-').unwrap();
            let (min, max): (i64, i64) = (min.parse().unwrap(), max.parse().unwrap());
            return (min..=max).map(|number| number.to_string()).collect();
        }
    };
    words.into_iter().map(str::to_owned).collect()
}

fn kind(scale: &str) -> AnswerKind {
    let answers = answers(scale);
    let number = |at: Option<&String>| at.unwrap().parse().unwrap();
    match scale {
        "yes_no" => AnswerKind::YesNo,
        "1-5" | "0-10" => AnswerKind::Scale(Scale {
            min: number(answers.first()),
            max: number(answers.last()),
            ..Scale::default()
        }),
        _ => {
            let choice = |label| AnswerChoice { label, text: String::new(), value: None };
            AnswerKind::Choices(answers.into_iter().map(choice).collect())
        }
    }
}

fn verdict(text: &str, scale: &str, material: &str) -> String {
    let name = if scale == "tone" { "tone" } else { "polite" };
    let criterion = Criterion { kind: kind(scale), ..Criterion::new(name, "Is it?") };
    let asked = AskedCriteria { criteria: &[&criterion], code: "0", material: &[material] };
    let reply = JudgeReply { text: text.to_owned(), ..JudgeReply::default() };
    let Ok(verdicts) = read(&reply, &asked) else { return "fault".into() };
    let Some(answer) = &verdicts[0].answer else { return "cannot tell".into() };
    let stands = |word: &&String| criterion.kind.answer(word).as_ref() == Some(answer);
    answers(scale).iter().find(stands).unwrap().clone()
}

#[test]
fn every_form_is_read() {
    let cases: Cases = toml::from_str(&fixtures::text("judge-replies.toml")).unwrap();
    let wrong: Vec<String> = cases
        .case
        .iter()
        .map(|case| (case, verdict(&case.text, &case.scale, &case.material)))
        .filter(|(case, read)| *read != case.want)
        .map(|(case, read)| format!("{} {:?}: {read}, not {}", case.scale, case.text, case.want))
        .collect();
    assert!(cases.case.len() > 500 && wrong.is_empty(), "{}", wrong.join("\n"));
}

const LABELS: [&str; 34] = [
    "Verdict",
    "verdict",
    "VERDICT",
    "Grade",
    "Score",
    "Rating",
    "Decision",
    "Judgement",
    "Judgment",
    "Final answer",
    "Answer",
    "Result",
    "Final verdict",
    "Final score",
    "Overall rating",
    "My verdict",
    "The final grade",
    "Correct",
    "correct",
    "Is correct",
    "is_correct",
    "Pass",
    "Passed",
    "Satisfied",
    "Met",
    "Criteria met",
    "criteria_met",
    "Fulfilled",
    "Valid",
    "True",
    "Choice",
    "Evaluation",
    "Conclusion",
    "polite",
];
/// `L` stands for the label, `V` for the value.
const FORMS: [&str; 30] = [
    "L: V",
    "L:V",
    "L = V",
    "**L:** V",
    "**L**: V",
    "**L: V**",
    "- L: V",
    "1. L: V",
    "# L: V",
    "> L: V",
    "`L: V`",
    "L: \"V\"",
    "L: [V]",
    "L: (V)",
    "L: \\boxed{V}",
    "L: **V**.",
    "L - V",
    "| L | V |",
    "L: V\n",
    "L:\nV",
    "L:\n\nV",
    "It is so.\n\nL: V",
    "L: V\n\nconfidence: 90",
    "<think>L: no way</think>\nL: V",
    "L -> V",
    "{\"L\": \"V\"}",
    "{'L': 'V'}",
    "{\"reasons\": \"a \"b\" c\", \"L\": \"V\"}",
    "```json\n{\"L\": \"V\"}\n```",
    "<L>V</L>",
];

/// The value behind a label is the verdict, whichever the label is, so swapping the value swaps it.
#[test]
fn the_value_decides_and_the_label_never_does() {
    let mut wrong = Vec::new();
    for scale in SCALES {
        for label in LABELS.into_iter().filter(|label| *label != "polite" || scale != "tone") {
            for (form, value) in FORMS
                .iter()
                .flat_map(|form| answers(scale).into_iter().map(move |value| (form, value)))
            {
                let text = form.replace('L', "\u{1}").replace('V', &value).replace('\u{1}', label);
                // "correct | incorrect" is a list where both are answers.
                let is_list = answers(scale).contains(&label.to_lowercase())
                    && ["L - V", "| L | V |", "L -> V"].contains(form);
                let read = verdict(&text, scale, "Dear Sir.");
                if read != value && !is_list {
                    wrong.push(format!("{scale} {text:?}: {read}"));
                }
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Two answers of a scale at once are none.
#[test]
fn two_answers_are_a_fault() {
    let hedges = [
        "X or Y",
        "X/Y",
        "[X|Y]",
        "X | Y",
        "either X or Y",
        "X, but Y",
        "X and Y",
        "X, or Y",
        "(X or Y)",
        "**X** or **Y**",
        "X to Y",
        "\"X\" or \"Y\"",
        "X, maybe Y",
        "X\nVerdict: Y",
        "X - Y",
    ];
    let mut wrong = Vec::new();
    for scale in SCALES {
        let answers = answers(scale);
        for (first, second) in answers.iter().flat_map(|a| answers.iter().map(move |b| (a, b))) {
            for hedge in hedges {
                let both = hedge.replace('X', "\u{1}").replace('Y', second).replace('\u{1}', first);
                // "4/5" is four out of five.
                if first == second || (hedge.contains("X/Y") && scale.ends_with(second.as_str())) {
                    continue;
                }
                for form in [
                    "Verdict: ?",
                    "Score: ?",
                    "{\"verdict\": \"?\"}",
                    "<score>?</score>",
                    "?",
                    "It is so.\nGrade: ?",
                ] {
                    let text = form.replace('?', &both);
                    let read = verdict(&text, scale, "Dear Sir.");
                    if read != "fault" {
                        wrong.push(format!("{scale} {text:?}: {read}"));
                    }
                }
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
