//! The words that the parity records describe a function of a library with, and our settings for it.
//! What the preset of the library has by default is left to the preset.

use serde_json::{Map, Value, json};

/// How a record describes what it holds.
pub(crate) struct Words<'a> {
    pub(crate) library: &'a str,
    pub(crate) name: &'a str,
    pub(crate) ours: &'a Map<String, Value>,
}

/// Words that have another name in our settings.
const RENAMED: [(&str, &str); 11] = [
    ("clip_low", "eps_low"),
    ("clip_high", "eps_high"),
    ("tau_positive", "tau_pos"),
    ("tau_negative", "tau_neg"),
    ("k_positive", "k_pos"),
    ("k_negative", "k_neg"),
    ("lambda_positive", "lambda_pos"),
    ("lambda_negative", "lambda_neg"),
    ("threshold_low", "delta_low"),
    ("threshold_high", "delta_high"),
    ("loss_scale_factor", "length"),
];

/// Words that are settings of ours.
const SAME: [&str; 6] = ["dual_clip", "ratio_max", "share", "coefficient", "beta", "tau"];

impl Words<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.ours.get(key)?.as_str()
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.ours.get(key)?.as_f64()
    }

    fn preset(&self) -> &'static str {
        match self.library {
            "verl" => "verl-0.9",
            "trl" => "trl-1.16",
            _ => "openrlhf-0.11",
        }
    }

    /// Our kind: TRL's losses are known by their names there, which records begin with.
    fn kind(&self) -> String {
        let second = self.name.split(' ').nth(1).unwrap_or_default();
        let kind = match (self.library, self.text("kind")) {
            ("trl", _) if second == "async" => "dapo",
            ("trl", Some("clip")) => second,
            ("trl", Some("gspo")) if second != "gspo" => second,
            (_, Some("clip")) => "ppo",
            (_, Some("reinforce")) => "gpg",
            (_, kind) => kind.unwrap_or("reinforce"),
        };
        kind.to_owned()
    }
}

/// The table `[loss]` of a record.
pub(crate) fn settings(words: &Words<'_>) -> Value {
    let mut table = Map::new();
    let kind = words.kind();
    let has_preset = !matches!(kind.as_str(), "reinforce") && words.text("estimator").is_none();
    if has_preset {
        table.insert("preset".to_owned(), words.preset().into());
    }
    for (word, name) in RENAMED {
        if let Some(value) = words.ours.get(word).filter(|_| name != "length") {
            table.insert(name.to_owned(), value.clone());
        }
    }
    for name in SAME {
        if let Some(value) = words.ours.get(name) {
            table.insert(name.to_owned(), value.clone());
        }
    }
    if kind == "cispo" && words.library == "trl" {
        let bound = table.remove("ratio_max").unwrap_or_default();
        table.insert("eps_high".to_owned(), bound);
    }
    if let Some([low, high]) = words.ours.get("bounds").and_then(Value::as_array).map(Vec::as_slice)
    {
        table.insert("cov_low".to_owned(), low.clone());
        table.insert("cov_high".to_owned(), high.clone());
    }
    match words.text("divergence") {
        Some("total_variation") => _ = table.insert("divergence".to_owned(), "tv".into()),
        Some(_) => _ = table.insert("divergence".to_owned(), "kl".into()),
        None => {}
    }
    if let Some(ratio) = ratio(words, &kind) {
        table.insert("ratio".to_owned(), ratio);
    }
    table.insert("kind".to_owned(), kind.into());
    table.insert("correction".to_owned(), correction(words));
    table.insert("entropy".to_owned(), entropy(words));
    if let Some(kl) = divergence(words) {
        table.insert("kl".to_owned(), kl);
    }
    if let Some(aggregation) = aggregation(words) {
        table.insert("aggregation".to_owned(), aggregation);
    }
    Value::Object(table)
}

/// The corrections of a record.
pub(crate) fn correction(words: &Words<'_>) -> Value {
    let mut table = Map::new();
    let given = words.ours.get("correction").and_then(Value::as_object);
    let is_correction =
        given.is_none() && words.text("ratio").is_some() && words.text("level").is_some();
    if let Some(correction) = given.or(is_correction.then_some(words.ours)) {
        let of_correction = Words { ours: correction, ..*words };
        let gated = matches!(of_correction.text("statistic"), Some("binary_kl" | "tv"));
        if gated || of_correction.text("level") == Some("sequence_mean") {
            table.insert("reject".to_owned(), json!([gate(&of_correction)]));
            table.insert("importance".to_owned(), json!({}));
        } else {
            table.insert("importance".to_owned(), importance(&of_correction));
        }
    }
    match words.ours.get("reject") {
        Some(Value::String(names)) => {
            let threshold =
                words.ours.get("threshold").map(ToString::to_string).unwrap_or_default();
            let thresholds = threshold.trim_matches('"').split(',');
            let all: Vec<Value> =
                names.split(',').zip(thresholds).map(|(name, bound)| named(name, bound)).collect();
            table.insert("reject".to_owned(), all.into());
        }
        Some(Value::Object(reject)) => {
            let words = Words { ours: reject, ..*words };
            let level = words.text("level").unwrap_or_default().replace("sequence", "seq");
            let kind = words.text("kind").unwrap_or_default();
            let bound = match words.number("low") {
                Some(low) => format!("{low}_{}", words.number("high").unwrap()),
                None => words.number("high").unwrap().to_string(),
            };
            let mut reject = named(&format!("{level}_{kind}"), &bound);
            reject["denominator"] = "current".into();
            table.insert("reject".to_owned(), json!([reject]));
        }
        _ => {}
    }
    if let Some(mask) = words.ours.get("off_policy_mask") {
        table.insert("opsm".to_owned(), json!({"threshold": mask["threshold"]}));
    }
    Value::Object(table)
}

fn importance(words: &Words<'_>) -> Value {
    let mut table = Map::new();
    for name in ["level", "min", "max", "normalize"] {
        if let Some(value) = words.ours.get(name) {
            table.insert(name.to_owned(), value.clone());
        }
    }
    table.insert("mode".to_owned(), words.ours["kind"].clone());
    if words.library == "verl" {
        table.insert("log_clamp".to_owned(), 20.0.into());
    }
    if words.text("ratio") == Some("logp/rollout") {
        table.insert("numerator".to_owned(), "current".into());
    }
    Value::Object(table)
}

/// `OpenRLHF`'s gate: what is out of bounds counts as zero, what is not keeps the ratio of its token.
fn gate(words: &Words<'_>) -> Value {
    let level = if words.text("level") == Some("token") { "token" } else { "sequence" };
    json!({
        "level": level,
        "statistic": words.ours["statistic"],
        "min": words.ours["min"],
        "max": words.ours["max"],
    })
}

/// verl's rejection by its name there: its estimators are of the divergence from the old policy to
/// that of the engine, and `k1` is bounded as a ratio.
fn named(name: &str, bound: &str) -> Value {
    let (level, statistic) = name.rsplit_once('_').unwrap();
    let mut table = json!({
        "level": if level == "token" { "token" } else { "sequence" },
        "statistic": statistic,
        "reduce": level.strip_prefix("seq_").unwrap_or("mean"),
        "numerator": "rollout",
        "denominator": "old",
        "rejected": "drop",
        "log_clamp": 20.0,
    });
    let number = |text: &str| text.parse::<f64>().unwrap();
    match bound.split_once('_') {
        _ if statistic != "k1" => table["max"] = number(bound).into(),
        Some((low, high)) => {
            table["min"] = number(low).ln().into();
            table["max"] = number(high).ln().into();
        }
        None => {
            table["min"] = (1.0 / number(bound)).ln().into();
            table["max"] = number(bound).ln().into();
        }
    }
    table
}

fn entropy(words: &Words<'_>) -> Value {
    let mut table = Map::new();
    if let Some(top) = words.ours.get("top_entropy") {
        table.insert("top".to_owned(), top.clone());
    }
    if let Some(coefficient) = words.ours.get("entropy_coefficient") {
        table.insert("coefficient".to_owned(), coefficient.clone());
    }
    Value::Object(table)
}

fn divergence(words: &Words<'_>) -> Option<Value> {
    let given = words.ours.get("kl").and_then(Value::as_object);
    let given = given.or(words.text("estimator").map(|_| words.ours))?;
    let words = Words { ours: given, ..*words };
    let coefficient = words.number("coefficient").unwrap_or(1.0);
    let mut table = json!({"coefficient": coefficient, "estimator": given["estimator"]});
    if let Some(width) = words.number("log_ratio_clamp") {
        table["input"] = json!({"min": -width, "max": width});
    }
    if let Some(width) = words.number("value_clamp") {
        table["output"] = json!({"min": -width, "max": width});
    }
    if let Some(times) = given.get("times_ratio") {
        table["ratio_correction"] = times.clone();
    }
    match (words.text("gradient"), words.number("ratio_max")) {
        (Some(_), Some(most)) => {
            table["gradient"] = "unbiased".into();
            table["weight_max"] = most.into();
        }
        (Some(_), None) => table["gradient"] = "straight_through".into(),
        (None, _) => {}
    }
    Some(table)
}

fn ratio(words: &Words<'_>, kind: &str) -> Option<Value> {
    let is_sequence =
        words.text("form") == Some("sequence") || words.text("level") == Some("sequence");
    let mut table = Map::new();
    if is_sequence && kind != "gspo" {
        table.insert("level".to_owned(), "sequence".into());
    }
    let is_bypass = words.name.starts_with("verl bypass") && words.text("kind") == Some("clip");
    if words.text("ratio") == Some("logp/rollout") || is_bypass {
        table.insert("policy".to_owned(), "rollout".into());
    }
    (!table.is_empty()).then_some(Value::Object(table))
}

/// TRL's aggregations are left to its preset.
fn aggregation(words: &Words<'_>) -> Option<Value> {
    let name = words.text("aggregation").filter(|_| words.library != "trl")?;
    let kind = name.replace("sequence_mean", "seq_mean");
    let mut table = Map::new();
    if kind != "seq_mean" {
        table.insert("kind".to_owned(), kind.into());
    }
    if let Some(length) = words.number("loss_scale_factor") {
        table.insert("length".to_owned(), length.into());
    }
    if words.text("values").is_some() {
        table.insert("eps".to_owned(), 1e-8.into());
    }
    Some(Value::Object(table))
}
