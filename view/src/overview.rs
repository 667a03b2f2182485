//! What is said of a run as a whole, from its columns.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use assay_verifiers::stats::{CorrelationSums, complete, mean, present, sample_variance};
use serde_json::{Value, json};

use crate::error::ViewError;
use crate::figures::{figures, histogram, top};
use crate::index::{NAMED_MAX, PartColumn, RunIndex};
use crate::lines::LinesFile;
use crate::text::cut_text;

/// Parts that are correlated with each other.
const CORRELATED_MAX: usize = 12;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 60;

/// Everything but the lengths of completions, which are null until the data are read, with the weights of the
/// parts as `config` has them.
pub(crate) fn overview(
    index: &RunIndex,
    file: &LinesFile,
    config: &Value,
) -> Result<Value, ViewError> {
    let weights = config.get("reward").and_then(Value::as_array);
    let weight = |name: &str| {
        let own = |reward: &&Value| reward.get("name").and_then(Value::as_str) == Some(name);
        weights?.iter().find(own)?.get("weight").cloned()
    };
    let parts = index.parts.iter().map(|part| {
        let name = cut_text(&part.name, NAME_BYTES_MAX);
        json!({ "name": name, "weight": weight(&part.name), "reward": reward(part, index) })
    });
    let mut faults: Vec<_> = index.faults.iter().collect();
    faults.sort_by_key(|kind| (&kind.part, &kind.fault));
    let faults = faults.into_iter().map(|kind| {
        let [part, fault] = [&kind.part, &kind.fault].map(|name| cut_text(name, NAME_BYTES_MAX));
        json!({ "part": part, "fault": fault, "rows": kind.rows, "first": kind.first })
    });
    let correlated = index.parts.iter().take(CORRELATED_MAX).enumerate();
    let pairs = correlated.flat_map(|(at, second)| {
        let first = index.parts.iter().take(at);
        // Of the rows in which both are known; `None` where one side is constant.
        first.map(|first| {
            let (x, y) = complete(&first.rewards, &second.rewards);
            CorrelationSums::of(&x, &y).pearson()
        })
    });
    Ok(json!({
        "rows": index.len(), "total": reward(&index.total, index), "parts": parts.collect::<Vec<_>>(),
        "left_out": index.left_out, "faults": faults.collect::<Vec<_>>(),
        "correlations": pairs.collect::<Vec<_>>(),
        "groups": groups(index, file)?, "lengths": null,
        "slowest": named(index, file, &index.us)?, "tokens": named(index, file, &index.tokens)?,
        "fuel": named(index, file, &index.fuel)?,
    }))
}

fn reward(part: &PartColumn, index: &RunIndex) -> Value {
    let [scored, abstained, failed] = part.outcomes;
    let mut reasons: Vec<(&String, &u64)> = part.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| Reverse(**count));
    json!({
        "scored": scored, "abstained": abstained, "failed": failed,
        "figures": figures(&part.rewards, &index.groups), "histogram": histogram(&part.rewards),
        "reasons": reasons, "other_reasons": part.other_reasons,
    })
}

/// Lengths of completions against the reward, by powers of two; `null` where no length is known.
pub(crate) fn lengths(chars: &[f64], rewards: &[f64]) -> Value {
    let rows = present(chars).len();
    if rows == 0 {
        return Value::Null;
    }
    let mut bins: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let (lengths, rewards) = complete(chars, rewards);
    for (length, reward) in lengths.iter().zip(&rewards) {
        // The bits of floats that are not negative are in their order.
        let low = length.log2().floor().exp2();
        bins.entry(low.to_bits()).or_default().push(*reward);
    }
    let bins = bins.iter().map(|(low, all)| json!([f64::from_bits(*low), all.len(), mean(all)]));
    let correlation = CorrelationSums::of(&lengths, &rewards).pearson();
    json!({ "rows": rows, "correlation": correlation, "bins": bins.collect::<Vec<_>>() })
}

/// The rows with the largest numbers, by their names.
fn named(index: &RunIndex, file: &LinesFile, column: &[f64]) -> Result<Vec<Value>, ViewError> {
    let largest = top(column.iter().copied(), NAMED_MAX).into_iter();
    let name = |(at, value)| {
        let id = text(file, at, "id", NAME_BYTES_MAX)?;
        Ok(json!({ "at": at, "number": index.numbers.get(at), "id": id, "value": value }))
    };
    largest.filter(|(_, value)| *value > 0.0).map(name).collect()
}

/// The beginning of what the line of a row has under a key.
fn text(file: &LinesFile, at: usize, key: &str, bytes: usize) -> Result<Option<String>, ViewError> {
    let line = file.value(at)?;
    Ok(line.and_then(|line| Some(cut_text(line.get(key)?.as_str()?, bytes))))
}

/// The groups with two rewards or more: the place of the first row, the rows, the deviation of the rewards.
pub(crate) fn deviations(index: &RunIndex) -> Vec<(usize, usize, f64)> {
    let of_group = |group: &[u32]| {
        let (at, rows) = (*group.first()? as usize, group.len());
        let rewards = rewards(index, at, rows);
        // Of equal rewards it is 0, whatever their mean is rounded to.
        let is_flat = rewards.windows(2).all(|pair| pair.first() == pair.last());
        let deviation = sample_variance(&rewards)?.sqrt();
        Some((at, rows, if is_flat { 0.0 } else { deviation }))
    };
    let groups = index.groups.chunk_by(PartialEq::eq).filter(|_| index.grouped > 0);
    groups.filter_map(of_group).collect()
}

/// Those with the largest deviations.
pub(crate) fn widest(all: &[(usize, usize, f64)], most: usize) -> Vec<(usize, usize, f64)> {
    let largest = top(all.iter().map(|(.., deviation)| *deviation), most).into_iter();
    let uneven = largest.filter(|(_, deviation)| *deviation > 0.0);
    uneven.filter_map(|(place, _)| all.get(place).copied()).collect()
}

fn rewards(index: &RunIndex, at: usize, rows: usize) -> Vec<f64> {
    let rewards = &index.total.rewards;
    rewards.get(at..(at + rows).min(rewards.len())).map(present).unwrap_or_default()
}

/// `null` where no row has a group.
fn groups(index: &RunIndex, file: &LinesFile) -> Result<Value, ViewError> {
    if index.grouped == 0 {
        return Ok(Value::Null);
    }
    let sizes = || index.groups.chunk_by(PartialEq::eq).map(<[u32]>::len);
    // A row without a group is by itself.
    let alone = index.len() - index.grouped;
    let all = deviations(index);
    let deviations: Vec<f64> = all.iter().map(|(.., own)| *own).collect();
    let widest = widest(&all, NAMED_MAX).into_iter().map(|(at, rows, deviation)| {
        let (group, mean) =
            (text(file, at, "group", 2 * NAME_BYTES_MAX)?, mean(rewards(index, at, rows)));
        Ok(json!({ "group": group, "at": at, "rows": rows, "mean": mean, "std": deviation }))
    });
    Ok(json!({
        "groups": sizes().count() - alone, "rows": index.grouped,
        "single": sizes().filter(|rows| *rows == 1).count() - alone,
        "flat": deviations.iter().filter(|deviation| **deviation == 0.0).count(),
        "deviations": histogram(&deviations), "widest": widest.collect::<Result<Vec<_>, ViewError>>()?,
    }))
}
