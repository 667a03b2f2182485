//! Columns that stand for two things or for what the answer is not, and messages that the policy did not write.

use assay::engine::JudgedTurn;
use assay::verifiers::{Content, Turn};
use serde_json::Value;

use super::lint::Lint;
use super::problem::Problem;
use super::read::Row;
use super::slips::{self, slipped};

/// How words begin by which columns call answers that are not right.
const WRONG: [&str; 6] = ["rejected", "incorrect", "distractor", "wrong", "negative", "corrupted"];
/// Columns that hold every answer there is to choose from.
const CHOICES: [&str; 5] = ["options", "choices", "candidates", "alternatives", "answer_choices"];

/// Columns that say whether an answer is right.
const LABELS: [&str; 10] = [
    "label",
    "labels",
    "correct",
    "is_correct",
    "is_right",
    "passed",
    "pass",
    "score",
    "reward",
    "correctness",
];

impl Lint<'_> {
    /// Columns that stand for two things, or for what the answer is not.
    pub(super) fn of_columns(&self) -> impl Iterator<Item = Problem> {
        [self.wrong_references(), self.prompt_as_completion()].into_iter().flatten()
    }

    fn wrong_references(&self) -> Option<Problem> {
        let columns = &self.plan.config.data;
        let (reference, prompt) = (&columns.reference, &columns.prompt);
        let has_references = self.rows.iter().any(|row| row.sample.reference().is_some());
        let message = if reference == prompt {
            format!("\"{reference}\" is read as the prompt and as the reference")
        } else if reference.contains("rejected") || self.pays_answers() && is_wrong(reference) {
            format!("\"{reference}\" is read as the reference: an answer that equals it is right")
        } else if self.pays_answers() && self.is_choices(reference) {
            format!("\"{reference}\" is read as the reference: each of the choices is right")
        } else if LABELS.contains(&reference.as_str()) && self.rows.iter().all(is_label) {
            format!("\"{reference}\" is read as the reference, and says whether an answer is right")
        } else {
            return None;
        };
        let help = "[data] reference names the column of the right answers; `--labels COLUMN` compares rewards \
                    with labels";
        has_references.then(|| self.problem("reference", message, help.to_owned()))
    }

    /// Whether an answer that equals the reference is paid.
    fn pays_answers(&self) -> bool {
        let pays = |weight: f64| weight > 0.0;
        self.plan
            .rewards
            .iter()
            .any(|planned| slips::compares(planned) && pays(planned.weight.at(self.step)))
    }

    /// Whether the column holds lists of what there is to choose from.
    fn is_choices(&self, column: &str) -> bool {
        let last = column.rsplit('.').next().unwrap_or_default().to_lowercase();
        let is_list = |row: &Row| match row.sample.reference() {
            Some(Value::Array(values)) => values.len() > 1,
            Some(Value::Object(members)) => members.values().any(Value::is_array),
            _ => false,
        };
        CHOICES.contains(&last.as_str()) && self.rows.iter().all(is_list)
    }

    fn prompt_as_completion(&self) -> Option<Problem> {
        let columns = &self.plan.config.data;
        // A conversation has both.
        let is_text = |row: &Row| matches!(row.sample.completion_content(), Content::Text(_));
        let is_one = columns.prompt == columns.completion && !columns.prompt.is_empty();
        (is_one && self.rows.iter().any(is_text)).then(|| {
            let message =
                format!("\"{}\" is read as the prompt and as the completion", columns.prompt);
            let help = "[data] prompt names the column of the questions, and completion that of what the policy \
                        answered";
            self.problem("completion", message, help.to_owned())
        })
    }

    /// Messages that a reward judges, and that the policy did not write.
    pub(super) fn of_turns(&self) -> impl Iterator<Item = Problem> {
        self.plan.config.rewards.iter().enumerate().filter_map(|(at, reward)| {
            let turn = match reward.turn {
                JudgedTurn::Last => Turn::Last,
                JudgedTurn::At(place) => Turn::At(place),
                _ => return None,
            };
            let role = |row: &Row| {
                let content = row.sample.completion_content();
                let is_own = |role: &str| ["assistant", "model", "gpt"].contains(&role);
                let has_own = content.messages()?.iter().any(|message| is_own(&message.role));
                let role = content.message(turn)?.role.clone();
                (has_own && !is_own(&role)).then_some(role)
            };
            let (place, first) = slipped(self.rows, |row| role(row).is_some())?;
            let message = format!(
                "{place}: the message that is judged is of the role \"{}\", and not the policy's",
                assay::data::escape(&role(first)?)
            );
            let help = "write turn = \"last_assistant\", the default".to_owned();
            Some(self.setting(at, "turn", message, help))
        })
    }
}

/// Whether the name of a column says that its answers are not right.
fn is_wrong(column: &str) -> bool {
    let lower = column.to_lowercase();
    let mut words = lower.split(|char: char| !char.is_alphanumeric());
    words.any(|word| WRONG.iter().any(|start| word.starts_with(start)))
}

/// Whether the reference is what labels are: true or false, 0 or 1.
fn is_label(row: &Row) -> bool {
    match row.sample.reference() {
        Some(Value::Bool(_)) => true,
        Some(Value::Number(number)) => number.as_f64().is_some_and(|own| [0.0, 1.0].contains(&own)),
        _ => false,
    }
}
