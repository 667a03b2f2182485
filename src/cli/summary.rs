//! What a run came to, as people read it.

use assay::engine::{Agreement, Summary, Tally};

use super::output::{self, count, percent};

/// Disagreements that are shown; the summary lists them all.
const SHOWN_MAX: usize = 20;

/// Prints a summary: the rewards, of which `verifiers` are the ids where they are known, the labels and
/// the judges.
pub(super) fn show(summary: &Summary, verifiers: &[&str]) {
    output::line(&table(summary, verifiers));
    if let Some(labels) = &summary.labels {
        output::line(&agreement_text(labels));
    }
    for line in summary.judges.iter().flat_map(judge_lines) {
        output::line(&line);
    }
}

fn table(summary: &Summary, verifiers: &[&str]) -> String {
    let row = |name: &str, verifier: &str, tally: &Tally| {
        let mean = tally.mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.4}"));
        let counts = [tally.scored, tally.abstained, tally.failed].map(count);
        let [scored, abstained, failed] = counts;
        [format!("{name}  {verifier}").trim_end().to_owned(), scored, abstained, failed, mean]
    };
    let verifiers =
        verifiers.iter().map(|id| format!("({id})")).chain(std::iter::repeat(String::new()));
    let rewards = summary.rewards.iter().zip(verifiers);
    let mut rows: Vec<[String; 5]> =
        rewards.map(|(named, verifier)| row(&named.name, &verifier, &named.tally)).collect();
    rows.push(row("total", "", &summary.total));
    let mut text = output::table(["reward", "scored", "abstained", "failed", "mean"], &rows);
    for (fault, amount) in &summary.total.faults {
        text.push_str(&format!("\n  {fault}: {}", count(*amount)));
    }
    if summary.skipped > 0 {
        text.push_str(&format!("\n  skipped rows: {}", count(summary.skipped)));
    }
    text
}

/// What each judge was asked, a line a judge.
fn judge_lines(report: &serde_json::Value) -> Vec<String> {
    let judges = report.get("judges").and_then(serde_json::Value::as_object);
    let line = |(name, counts): (&String, &serde_json::Value)| {
        let of =
            |key: &str| count(counts.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0));
        let (name, calls, tokens) = (assay::data::escape(name), of("calls"), of("tokens"));
        let (recorded, retries) = (of("recorded"), of("retries"));
        format!(
            "\njudge {name}: {calls} calls, {tokens} tokens, {retries} retries, {recorded} from the store"
        )
    };
    judges.into_iter().flatten().map(line).collect()
}

fn agreement_text(labels: &Agreement) -> String {
    let mut text = format!(
        "\nlabels in `{}`: {} of {} agree ({})\n  false accepts {}, false rejects {}, unscored {}, \
         unlabelled {}",
        labels.column,
        count(labels.agreed()),
        count(labels.compared() + labels.unscored),
        percent(labels.accuracy()),
        count(labels.false_accepts),
        count(labels.false_rejects),
        count(labels.unscored),
        count(labels.unlabelled),
    );
    for one in labels.disagreements.iter().take(SHOWN_MAX) {
        let label = if one.label { "right" } else { "wrong" };
        let reward = one.reward.map_or_else(|| "none".to_owned(), |reward| reward.to_string());
        let id = assay::data::escape(&one.id);
        text.push_str(&format!("\n  {id}: labelled {label}, reward {reward}"));
    }
    if labels.disagreements.len() > SHOWN_MAX {
        let more = labels.disagreements.len() - SHOWN_MAX;
        text.push_str(&format!("\n  and {more} more: `labels.disagreements` in summary.json"));
    }
    text
}
