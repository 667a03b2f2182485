//! Metrics of verified rollouts, by the names that `NeMo`-Gym gives them.

use std::collections::{BTreeMap, BTreeSet};

use assay_verifiers::stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The number of a task among the tasks.
const TASK: &str = "_ng_task_index";
/// The number of a rollout among those of its task.
const ROLLOUT: &str = "_ng_rollout_index";

/// Rollouts that were verified.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AggregateRequest {
    /// What `/verify` answered for each; long members may be missing.
    verify_responses: Vec<Map<String, Value>>,
}

/// What they come to.
#[derive(Serialize, JsonSchema)]
pub(super) struct AggregateReply {
    /// The metrics of each task: `mean/NAME`, `max/NAME`, `min/NAME`, `median/NAME` and `std/NAME` of
    /// every member that is a number, with `_ng_task_index` and `num_rollouts`.
    group_level_metrics: Vec<Map<String, Value>>,
    /// The same of all rollouts.
    agent_metrics: Map<String, Value>,
    /// The means.
    key_metrics: Map<String, Value>,
    /// Not measured here.
    perf_summary: Option<Value>,
    /// Not measured here.
    repeat_level_metrics: Vec<Value>,
}

/// The metrics of rollouts. Masked ones are counted as `coverage/...` and are in no mean.
pub(super) fn aggregate(request: &AggregateRequest) -> AggregateReply {
    let all = &request.verify_responses;
    let is_masked = |one: &&Map<String, Value>| one.get("mask_sample") == Some(&Value::Bool(true));
    let (masked, measured): (Vec<_>, Vec<_>) = all.iter().partition(is_masked);
    let coverage = coverage(all, &masked, &measured);
    let mut tasks: BTreeMap<i64, Vec<&Map<String, Value>>> = BTreeMap::new();
    for one in &measured {
        tasks.entry(number(one, TASK)).or_default().push(one);
    }
    let of_task = |(task, rollouts): (i64, Vec<&Map<String, Value>>)| {
        let mut metrics = statistics(&rollouts);
        metrics.insert(TASK.to_owned(), Value::from(task));
        metrics.insert("num_rollouts".to_owned(), Value::from(rollouts.len()));
        metrics
    };
    let group_level_metrics = tasks.into_iter().map(of_task).collect();
    let mut agent_metrics = statistics(&measured);
    let is_mean = |(name, _): &(&String, &Value)| name.starts_with("mean/");
    let own = |(name, value): (&String, &Value)| (name.clone(), value.clone());
    let mut key_metrics: Map<String, Value> =
        agent_metrics.iter().filter(is_mean).map(own).collect();
    if !measured.is_empty() {
        let repeats: BTreeSet<i64> = all.iter().map(|one| number(one, ROLLOUT)).collect();
        agent_metrics.insert("num_repeats".to_owned(), Value::from(repeats.len()));
    }
    agent_metrics.extend(coverage.clone());
    key_metrics.extend(coverage);
    AggregateReply {
        group_level_metrics,
        agent_metrics,
        key_metrics,
        perf_summary: None,
        repeat_level_metrics: Vec::new(),
    }
}

/// How much the metrics were computed from. Nothing is said where nothing was masked.
fn coverage(
    all: &[Map<String, Value>],
    masked: &[&Map<String, Value>],
    measured: &[&Map<String, Value>],
) -> Map<String, Value> {
    if masked.is_empty() {
        return Map::new();
    }
    let tasks: BTreeSet<i64> = all.iter().map(|one| number(one, TASK)).collect();
    let of_measured: BTreeSet<i64> = measured.iter().map(|one| number(one, TASK)).collect();
    [
        ("measured_rollouts", measured.len()),
        ("masked_rollouts", masked.len()),
        ("measured_tasks", of_measured.len()),
        ("fully_masked_tasks", tasks.len() - of_measured.len()),
    ]
    .into_iter()
    .map(|(name, count)| (format!("coverage/{name}"), Value::from(count)))
    .collect()
}

fn number(rollout: &Map<String, Value>, name: &str) -> i64 {
    rollout.get(name).and_then(Value::as_i64).unwrap_or_default()
}

/// The statistics of every member that is a number: also of the usage of the model, and of the single
/// rewards.
fn statistics(rollouts: &[&Map<String, Value>]) -> Map<String, Value> {
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for rollout in rollouts {
        let usage = rollout.get("response").and_then(|response| response.get("usage"));
        let usage = usage.and_then(Value::as_object);
        let is_told =
            |(name, _): &(&String, &Value)| !name.starts_with('_') && *name != "mask_sample";
        let own = rollout.iter().filter(is_told).chain(usage.into_iter().flatten());
        let own = own.map(|(name, value)| (name.clone(), value));
        let parts = rollout.get("reward_components").and_then(Value::as_object);
        let parts = parts.into_iter().flatten();
        let parts = parts.map(|(name, value)| (format!("reward_components/{name}"), value));
        for (name, value) in own.chain(parts) {
            let value = match value {
                Value::Bool(bit) => Some(f64::from(u8::from(*bit))),
                value => value.as_f64(),
            };
            columns.entry(name).or_default().extend(value);
        }
    }
    let of_column = |(name, values): (String, Vec<f64>)| {
        let told = summary(&values).into_iter().flatten();
        told.map(move |(what, value)| (format!("{what}/{name}"), Value::from(value)))
    };
    columns.into_iter().flat_map(of_column).collect()
}

/// Mean, largest, smallest, median and standard deviation of a sample, which is 0 for one value.
fn summary(values: &[f64]) -> Option<[(&'static str, f64); 5]> {
    let ((min, max), median) = (stats::bounds(values)?, stats::median(values)?);
    let deviation = stats::sample_variance(values).unwrap_or(0.0).sqrt();
    let mean = stats::mean_sorted(values);
    Some([("mean", mean), ("max", max), ("min", min), ("median", median), ("std", deviation)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(rollouts: &Value) -> Value {
        let request = serde_json::from_value(json!({ "verify_responses": rollouts })).unwrap();
        serde_json::to_value(aggregate(&request)).unwrap()
    }

    #[test]
    fn masked_rollouts_are_in_no_mean() {
        let told = of(&json!([
            { "_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "mask_sample": false },
            { "_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0,
              "reward_components": { "a": 0.5, "b": null }, "response": { "usage": { "total_tokens": 7 } } },
            { "_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 0.0, "mask_sample": true },
        ]));
        let agent = &told["agent_metrics"];
        assert_eq!((&agent["mean/reward"], &agent["max/reward"]), (&json!(0.5), &json!(1.0)));
        assert_eq!((&agent["median/reward"], &agent["num_repeats"]), (&json!(0.5), &json!(2)));
        assert_eq!(agent["std/reward"], json!(0.5_f64.sqrt()));
        assert_eq!(agent["mean/total_tokens"], 7.0);
        let means = json!({
            "mean/reward": 0.5, "mean/total_tokens": 7.0, "mean/reward_components/a": 0.5,
            "coverage/measured_rollouts": 2, "coverage/masked_rollouts": 1,
            "coverage/measured_tasks": 1, "coverage/fully_masked_tasks": 1,
        });
        assert_eq!(told["key_metrics"], means);
        let groups = told["group_level_metrics"].as_array().unwrap();
        assert_eq!((groups.len(), &groups[0]["num_rollouts"]), (1, &json!(2)));
    }

    #[test]
    fn nothing_has_no_mean() {
        let none = of(&json!([]));
        assert_eq!((&none["agent_metrics"], &none["key_metrics"]), (&json!({}), &json!({})));
        let masked = of(&json!([{ "reward": 0.0, "mask_sample": true }]));
        assert_eq!(masked["key_metrics"]["coverage/masked_rollouts"], 1);
        assert!(masked["agent_metrics"].get("mean/reward").is_none());
    }
}
