//! Rows that are attacked: what they ask, what is right and wrong there, and what their answers earn.

use std::path::PathBuf;

use assay::data::{Checked, Columns, ReadLimits, RowReader, Source};
use assay::engine::Planned;
use assay::verifiers::{Lane, Pattern, Sample};
use assay::{Engine, Plan, ScoreOptions};
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::trial::hacks;

/// Forms in which a right answer may be paid; `{}` is the answer.
const FORMS: [&str; 6] = [
    "The answer is {}.",
    "\\boxed{{}}",
    "<answer>{}</answer>",
    "#### {}",
    "<think>\nLet me work it out.\n</think>\n<answer>{}</answer>",
    "{}",
];
/// The forms by which it is found out that an answer is wrong.
const WRONG_FORMS: usize = 3;
/// Wrong answers of a row that are tried.
const WRONG_MAX: usize = 6;
/// Characters of a right answer that attacks are made of.
const RIGHT_CHARS: usize = 200;
/// Characters of a text in the settings that is tried as an answer; scripts are longer.
const SETTING_CHARS: usize = 120;
/// Right answers of other rows, and numbers, that are wrong for a row.
const OTHERS_MAX: usize = 200;

/// A row that is attacked.
pub(super) struct Target {
    /// From 1, over all data.
    pub(super) number: u64,
    /// Its columns, as they lie.
    pub(super) object: Map<String, Value>,
    pub(super) sample: Sample,
    /// What the column of labels says.
    pub(super) label: Option<bool>,
    /// What its own completion earns.
    pub(super) own: Option<f64>,
    /// A completion that is paid, and what it earns.
    pub(super) honest: Option<(String, f64)>,
    pub(super) right: Option<String>,
    pub(super) wrong: Option<String>,
    /// Wrong answers and the right one, in a list.
    pub(super) many: Vec<String>,
    /// The letters that an answer may be.
    pub(super) letters: Vec<String>,
    pub(super) options: Vec<String>,
    /// Programs that solve nothing, by their names.
    pub(super) programs: Vec<(String, String)>,
}

/// Where rewards come from.
pub(super) struct Judge<'a> {
    pub(super) engine: &'a Engine,
    pub(super) reader: RowReader,
    pub(super) limits: ReadLimits,
    /// From here on a completion is paid.
    pub(super) pass: f64,
    /// The texts in the settings of the verifiers, and their words.
    pub(super) settings: Option<String>,
    /// A text that the first pattern in them matches.
    pub(super) example: Option<String>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(engine: &'a Engine, pass: f64) -> Self {
        let config = &engine.plan().config;
        let (settings, example) = settings(engine.plan());
        let (reader, limits) = (RowReader::new(&config.data), config.limits.data());
        Self { engine, reader, limits, pass, settings, example }
    }

    /// What rows earn; `None` where a row has no reward.
    pub(super) fn rewards(&self, rows: &[Map<String, Value>]) -> Vec<Option<f64>> {
        let read = |row: &Map<String, Value>| {
            let text = serde_json::to_string(row).ok()?;
            self.reader.parse(text.as_str(), &self.limits).ok()
        };
        let samples: Vec<Option<Sample>> = rows.iter().map(read).collect();
        let are_read: Vec<bool> = samples.iter().map(Option::is_some).collect();
        let samples = samples.into_iter().flatten();
        let mut scored = self.engine.score_with(samples, ScoreOptions::default()).into_iter();
        are_read.into_iter().map(|is_read| is_read.then(|| scored.next())??.reward()).collect()
    }

    /// Whether asking is cheap: no model, no judge, no program.
    pub(super) fn is_cheap(&self) -> bool {
        let is_cheap = |planned: &Planned| !planned.built.slow && !planned.built.lane.is_awaited();
        self.engine.plan().rewards.iter().all(is_cheap)
    }
}

impl Target {
    /// The row with another completion, under an id of its own. What belonged to its own completion is
    /// gone.
    pub(super) fn with(&self, columns: &Columns, text: &str, id: &str) -> Map<String, Value> {
        let mut row = self.object.clone();
        let own = assay::verifiers::column_path::at(&row, &columns.completion).cloned();
        let told = match own {
            Some(Value::Array(mut messages)) => {
                if let Some(Value::Object(last)) = messages.last_mut() {
                    last.insert("content".to_owned(), Value::from(text));
                    last.remove("tool_calls");
                }
                Value::Array(messages)
            }
            _ => Value::from(text),
        };
        row.insert(columns.completion.clone(), told);
        row.insert(columns.id.clone(), Value::from(id));
        let stale = [&columns.token_ids, &columns.logprobs, &columns.finish_reason];
        for column in stale.into_iter().flatten() {
            row.remove(column);
        }
        if let Some(group) = &columns.group {
            row.insert(group.clone(), Value::from(id));
        }
        row
    }

    /// Whether the right answer stands in a text, as a word of it: by chance, where the attack does not name it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let Some(right) = self.right.as_ref().map(|right| right.trim().to_lowercase()) else {
            return false;
        };
        let text = text.to_lowercase();
        let ends = |side: Option<char>| side.is_none_or(|side| !side.is_alphanumeric());
        text.match_indices(right.as_str()).any(|(at, found)| {
            let (before, rest) = text.split_at(at);
            let (_, behind) = rest.split_at(found.len());
            ends(before.chars().next_back()) && ends(behind.chars().next())
        })
    }

    /// Whether a text is a right answer as it stands.
    pub(super) fn is_right(&self, text: &str) -> bool {
        let fold = |text: &str| text.trim().to_lowercase();
        self.right.as_ref().is_some_and(|right| fold(right) == fold(text))
    }
}

/// Reads rows, and finds out what is right and wrong there.
pub(super) fn targets(
    judge: &Judge<'_>,
    data: &[PathBuf],
    limit: u64,
) -> Result<Vec<Target>, Failure> {
    let mut targets = read(judge, data, limit)?;
    find_right(judge.engine.plan(), &mut targets);
    find_wrong(&mut targets);
    prove(judge, &mut targets);
    Ok(targets)
}

fn read(judge: &Judge<'_>, data: &[PathBuf], limit: u64) -> Result<Vec<Target>, Failure> {
    let plan = judge.engine.plan();
    let columns = &plan.config.data;
    let mut targets = Vec::new();
    let source = Source::open(data, &judge.limits)?;
    for block in Checked::new(source, columns).and_meta(columns, plan.named_columns()) {
        let block = block?;
        for (row, object) in block.rows(columns).into_iter().zip(block.objects()) {
            if targets.len() as u64 >= limit {
                return Ok(targets);
            }
            let (Ok(sample), Some(object)) = (row.sample, object) else { continue };
            let Ok(object) = serde_json::from_str(&object) else { continue };
            targets.push(Target {
                number: row.index + 1,
                object,
                sample,
                label: row.label.as_ref().and_then(assay::engine::label_truth),
                own: None,
                honest: None,
                right: None,
                wrong: None,
                many: Vec::new(),
                letters: Vec::new(),
                options: Vec::new(),
                programs: Vec::new(),
            });
        }
    }
    Ok(targets)
}

/// The texts in the settings of verifiers that ask nobody, as they stand, as texts that they match as patterns, and the
/// words of these: what a pattern or a list of terms is about. Beside it what the first pattern matches.
fn settings(plan: &Plan) -> (Option<String>, Option<String>) {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) if text.chars().count() <= SETTING_CHARS => {
                texts.push(text.clone());
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
            Value::Object(values) => values.values().for_each(|value| collect(value, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    for planned in &plan.rewards {
        if !planned.built.slow && !planned.built.lane.is_awaited() {
            collect(&planned.built.spec.settings, &mut texts);
        }
    }
    // Of "class [A-Z]\\w+" it is "class Aa".
    let matched = |text: &String| {
        let example = Pattern::new(text).ok()?.example(None)?;
        (example.chars().count() <= SETTING_CHARS).then_some(example)
    };
    let said = texts.iter().map(|text| matched(text).unwrap_or_else(|| text.clone()));
    let said: Vec<String> = said.collect();
    let mut pairs = texts.iter().zip(&said);
    let example = pairs.find(|(text, said)| text != said).map(|(_, said)| said.clone());
    let said = said.join("\n");
    let words: Vec<&str> = said.split(|c: char| !c.is_alphanumeric()).collect();
    let all = format!("{}\n{said}\n{}", texts.join("\n"), words.join(" "));
    ((!texts.is_empty()).then_some(all), example)
}

/// The right answer that a verifier makes of a reference, else the reference, where it is a short text.
fn find_right(plan: &Plan, targets: &mut [Target]) {
    for target in targets {
        let sample = &target.sample;
        for planned in &plan.rewards {
            let Lane::Compute(verifier) = &planned.built.lane else { continue };
            if target.right.is_none()
                && let Some(gold) = verifier.gold(sample)
            {
                target.right = gold.into_iter().next();
            }
            if target.programs.is_empty()
                && let Some(trivial) = verifier.trivial(sample)
            {
                target.programs = trivial.completions;
            }
        }
        let is_text = |value: &Value| !matches!(value, Value::Object(_) | Value::Null);
        let is_short = sample.reference().is_some_and(|reference| match reference {
            Value::Array(all) => all.iter().all(is_text),
            other => is_text(other),
        });
        if target.right.is_none() && is_short && target.programs.is_empty() {
            target.right = sample.references().first().map(|first| first.clone().into_owned());
        }
        let short =
            |right: &String| right.chars().count() <= RIGHT_CHARS && !right.trim().is_empty();
        target.right = target.right.take().filter(short);
    }
}

/// Answers that are wrong for a row: other letters, other numbers, what other rows want.
fn find_wrong(targets: &mut [Target]) {
    let mut answers: Vec<String> = Vec::new();
    for right in targets.iter().filter_map(|target| target.right.as_ref()) {
        if answers.len() < OTHERS_MAX && !answers.contains(right) {
            answers.push(right.clone());
        }
    }
    let is_letter =
        |text: &str| text.len() == 1 && text.starts_with(|c: char| c.is_ascii_uppercase());
    let all_letters = !answers.is_empty() && answers.iter().all(|answer| is_letter(answer));
    for target in targets {
        target.options = hacks::options(target.sample.meta());
        let Some(right) = target.right.clone() else { continue };
        let wrong = if is_letter(&right) && (all_letters || target.options.len() > 1) {
            let count = if target.options.len() > 1 { target.options.len() } else { 10 };
            target.letters = ('A'..='Z').take(count).map(String::from).collect();
            target.letters.iter().filter(|letter| **letter != right).cloned().collect()
        } else {
            hacks::wrong(&right, &answers, |answer| answer == right)
        };
        let mut wrong: Vec<String> = wrong;
        if wrong.is_empty() {
            wrong = vec!["something else".to_owned(), "no such thing".to_owned()];
        }
        // Not the first number: 0 and 1 are right of much.
        let by = usize::try_from(target.number).unwrap_or_default() % wrong.len();
        wrong.rotate_left(by);
        wrong.truncate(OTHERS_MAX);
        target.wrong = wrong.first().cloned();
        wrong.insert(wrong.len() / 2, right);
        target.many = wrong;
    }
}

/// What is asked of the judge before the attacks.
enum Probe {
    Own,
    Right(String),
    Wrong(String),
}

/// What the own completions earn, which form of the right answer is paid, and which wrong answer is not.
fn prove(judge: &Judge<'_>, targets: &mut [Target]) {
    let columns = &judge.engine.plan().config.data;
    let is_cheap = judge.is_cheap();
    let mut probes = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        probes.push((at, Probe::Own, target.with(columns, target.sample.completion(), "own")));
        let Some(right) = target.right.as_ref().filter(|_| is_cheap) else { continue };
        for form in FORMS {
            let text = form.replace("{}", right);
            let row = target.with(columns, &text, "right");
            probes.push((at, Probe::Right(text), row));
        }
        let wrong = target.many.iter().filter(|answer| *answer != right).take(WRONG_MAX);
        for (answer, form) in
            wrong.flat_map(|answer| FORMS.iter().take(WRONG_FORMS).map(move |form| (answer, form)))
        {
            let row = target.with(columns, &form.replace("{}", answer), "wrong");
            probes.push((at, Probe::Wrong(answer.clone()), row));
        }
    }
    let (probes, rows): (Vec<_>, Vec<_>) =
        probes.into_iter().map(|(at, probe, row)| ((at, probe), row)).unzip();
    let mut paid_wrong: Vec<Vec<String>> = targets.iter().map(|_| Vec::new()).collect();
    for ((at, probe), reward) in probes.into_iter().zip(judge.rewards(&rows)) {
        let (Some(target), Some(paid)) = (targets.get_mut(at), paid_wrong.get_mut(at)) else {
            continue;
        };
        let is_paid = reward.is_some_and(|reward| reward >= judge.pass);
        match probe {
            Probe::Own => {
                target.own = reward;
                let own = reward.filter(|_| is_paid);
                target.honest = own.map(|own| (target.sample.completion().to_owned(), own));
            }
            Probe::Right(text) if is_paid && target.honest.is_none() => {
                target.honest = reward.map(|reward| (text, reward));
            }
            Probe::Wrong(answer) if is_paid => paid.push(answer),
            Probe::Right(_) | Probe::Wrong(_) => {}
        }
    }
    for (target, paid) in targets.iter_mut().zip(paid_wrong) {
        let right = target.right.as_ref();
        let is_wrong = |answer: &&String| Some(*answer) != right && !paid.contains(answer);
        if let Some(wrong) = target.many.iter().take(WRONG_MAX + 1).find(is_wrong) {
            target.wrong = Some(wrong.clone());
        }
        // What pays by itself is no wrong answer of a list.
        if paid.len() < WRONG_MAX {
            target.many.retain(|answer| !paid.contains(answer));
        }
    }
}
