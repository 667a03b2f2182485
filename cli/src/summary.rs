//! What a run came to, as people read it.

use assay::engine::{Agreement, NamedTally, RowReason, Summary, Tally, UnreadLabels};
use assay::verifiers::Verdict;

use super::output::{self, count, percent};
use super::text::inline;

/// Disagreements that are shown; the summary lists them all.
const SHOWN_MAX: usize = 20;

/// From so many rows on a single group is told: it is rather a slip than one prompt's samples.
const ONE_GROUP_ROWS: u64 = 64;

/// How to see why.
const LOOK: &str = "`assay explain RUN --lowest 3` shows what was found";

/// Prints a summary: the rewards, of which `verifiers` are the ids where they are known, the labels and
/// the judges.
pub(super) fn show(summary: &Summary, verifiers: &[&str]) {
    output::line(&table(summary, verifiers));
    for line in groups_table(summary).into_iter().chain(silent(summary)) {
        output::line(&line);
    }
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
        text.push_str(&summary.total.first_faults.get(fault).map_or_else(String::new, first));
    }
    for NamedTally { name, tally } in &summary.rewards {
        // Where a floor is paid, or the weight is 0, no row of the total fails.
        let unseen =
            tally.faults.iter().filter(|(fault, _)| !summary.total.faults.contains_key(fault));
        for (fault, amount) in unseen {
            let (name, amount) = (assay::data::escape(name), count(*amount));
            text.push_str(&format!("\n  {name}: {fault}: {amount}"));
            text.push_str(&tally.first_faults.get(fault).map_or_else(String::new, first));
        }
    }
    if let Some(reason) = &summary.total.first_abstained {
        text.push_str(&format!(
            "\n  abstained: {}{}",
            count(summary.total.abstained),
            first(reason)
        ));
    }
    if summary.skipped > 0 {
        text.push_str(&format!("\n  skipped rows: {}", count(summary.skipped)));
    }
    text
}

/// The first row of a kind.
fn first(row: &RowReason) -> String {
    format!("; the first is {}: {}", assay::data::escape(&row.id), inline(&row.reason))
}

/// What would otherwise go unseen: rewards without a say, and rows that earn without a reference.
fn silent(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for NamedTally { name, tally } in &summary.rewards {
        if let Some(why) = abstained(tally) {
            let help = if why == Verdict::NO_REFERENCE {
                "; [data] reference = \"COLUMN\" says where it is"
            } else {
                ""
            };
            let (name, why) = (assay::data::escape(name), inline(why));
            lines.push(format!("note: {name} abstained on every row: {why}{help}"));
        } else if tally.constant() == Some(0.0) && summary.total.constant().is_none() {
            let (name, rows) = (assay::data::escape(name), count(tally.scored));
            lines.push(format!("note: {name} gives 0 on each of {rows} rows; {LOOK}"));
        }
    }
    if let Some(why) = abstained(&summary.total) {
        lines.push(format!("note: no row has a reward: {}", inline(why)));
    }
    lines.extend(constant(summary));
    if summary.unreferenced > 0 {
        lines.push(format!(
            "note: {} rows earn although a reward abstained because they have no reference; \
             `required = true` on that reward leaves them without one",
            count(summary.unreferenced)
        ));
    }
    if let Some(groups) = &summary.groups
        && groups.groups == 1
        && groups.rows == summary.rows
        && groups.rows > ONE_GROUP_ROWS
    {
        let rows = count(groups.rows);
        lines.push(format!("note: all {rows} rows are one group: see `group` in [data]"));
    }
    lines
}

/// Why a reward abstained, where it did on every row.
fn abstained(tally: &Tally) -> Option<&str> {
    let all = tally.scored == 0 && tally.failed == 0 && tally.abstained > 0;
    all.then(|| tally.first_abstained.as_ref().map_or("", |row| row.reason.as_str()))
}

/// That every row earns the same, and nothing is learnt from it.
fn constant(summary: &Summary) -> Option<String> {
    let reward = summary.total.constant()?;
    let rows = count(summary.total.scored);
    Some(format!("note: all {rows} rows earn {reward}, and nothing tells them apart; {LOOK}"))
}

/// The rewards within groups; `None` where there are no groups.
fn groups_table(summary: &Summary) -> Option<String> {
    let groups = summary.groups.as_ref()?;
    let rewards = summary.rewards.iter().map(|reward| (reward.name.as_str(), &reward.tally));
    let all = rewards.chain(std::iter::once(("total", &summary.total)));
    let rows: Vec<[String; 5]> = all
        .filter_map(|(name, tally)| Some((name, tally.within_groups.as_ref()?)))
        .map(|(name, own)| {
            let mut passes: Vec<(u64, f64)> =
                own.pass_at_k.iter().filter_map(|(k, p)| Some((k.parse().ok()?, *p))).collect();
            passes.sort_by_key(|(k, _)| *k);
            let passes: Vec<String> =
                passes.iter().map(|(k, pass)| format!("{k}: {pass:.3}")).collect();
            let passes = if passes.is_empty() { "-".to_owned() } else { passes.join("  ") };
            let name = assay::data::escape(name);
            let [mean, std] = [own.mean, own.std].map(|figure| format!("{figure:.4}"));
            [name, mean, std, percent(own.no_variance), passes]
        })
        .collect();
    let sizes = match (groups.smallest, groups.largest) {
        (one, other) if one == other => format!("of {}", count(one)),
        (least, most) => format!("of {} to {}", count(least), count(most)),
    };
    let header = ["in groups", "mean", "std", "no variance", "pass@k"];
    let table = output::table(header, &rows);
    Some(format!("\n{} groups {sizes}\n{table}", count(groups.groups)))
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

/// That labels are neither right nor wrong, with the first of them; `from` is the number of the first row.
pub(super) fn unread_text(labels: &UnreadLabels, from: u64) -> Option<String> {
    let first = labels.first_unread.as_ref()?;
    let (id, label) = (assay::data::escape(&first.id), assay::data::escape(&first.label));
    Some(format!(
        "{} labels are neither right nor wrong and count as none, the first that of row {} ({id}): \
         {label}; expected true or false, a number, or a word such as \"yes\" and \"no\"",
        count(labels.unread),
        first.row + 1 - from,
    ))
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
    if let Some(unread) = unread_text(&labels.unread, 0) {
        text.push_str(&format!("\n  {unread}"));
    }
    let right = labels.true_accepts + labels.false_rejects;
    if labels.compared() > 1 && (right == 0 || right == labels.compared()) {
        let word = if right == 0 { "wrong" } else { "right" };
        text.push_str(&format!(
            "\n  note: every label says {word}: true, \"yes\" and numbers from 0.5 on say right"
        ));
    }
    if labels.agreed() == 0 && labels.false_accepts > 0 && labels.false_rejects > 0 {
        text.push_str(
            "\n  note: each label says the opposite of its reward: the column may be true where an answer is \
             wrong",
        );
    }
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
