//! What differs between the configurations of two runs.

use std::collections::BTreeMap;

use serde_json::Value;

/// Differences, by reward and beside them.
#[derive(Default)]
pub(super) struct Changes {
    rewards: BTreeMap<String, Vec<String>>,
    others: Vec<String>,
}

impl Changes {
    /// What differs in the configuration of one reward.
    pub(super) fn of_reward(&self, name: &str) -> Vec<String> {
        self.rewards.get(name).cloned().unwrap_or_default()
    }

    /// Everything that differs.
    pub(super) fn all(&self) -> Vec<String> {
        let named = self.rewards.iter().flat_map(|(name, changes)| {
            changes.iter().map(move |change| format!("reward {name}: {change}"))
        });
        named.chain(self.others.iter().cloned()).collect()
    }
}

/// Compares two resolved configurations.
pub(super) fn changes(a: &Value, b: &Value) -> Changes {
    let mut changes = Changes::default();
    let (left, right) = (rewards(a), rewards(b));
    for (name, a) in &left {
        let found = match right.get(name) {
            Some(b) => leaves(a, b),
            None => vec!["only in a".to_owned()],
        };
        if !found.is_empty() {
            changes.rewards.insert((*name).to_owned(), found);
        }
    }
    for name in right.keys().filter(|name| !left.contains_key(*name)) {
        changes.rewards.insert((*name).to_owned(), vec!["only in b".to_owned()]);
    }
    for section in ["data", "combine", "limits"] {
        let (a, b) = (a.get(section), b.get(section));
        let (a, b) = (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null));
        changes.others.extend(leaves(a, b).into_iter().map(|leaf| format!("{section}.{leaf}")));
    }
    changes
}

fn rewards<'a>(config: &'a Value) -> BTreeMap<&'a str, &'a Value> {
    let listed = config.get("reward").and_then(Value::as_array).map(Vec::as_slice);
    let pair = |reward: &'a Value| Some((reward.get("name")?.as_str()?, reward));
    listed.unwrap_or_default().iter().filter_map(pair).collect()
}

/// The values that differ, each with its path.
fn leaves(a: &Value, b: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", a, b, &mut found);
    found
}

fn walk(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    if a == b {
        return;
    }
    let (Value::Object(left), Value::Object(right)) = (a, b) else {
        found.push(format!("{path} {a} -> {b}"));
        return;
    };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, a) in left {
        walk(&below(key), a, right.get(key).unwrap_or(&Value::Null), found);
    }
    for (key, b) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
        walk(&below(key), &Value::Null, b, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_named_by_path() {
        let a = json!({"reward": [
            {"name": "x", "verifier_version": 1, "config": {"k": 1, "l": 2}},
            {"name": "y"},
        ], "combine": {"how": "min"}});
        let b = json!({"reward": [
            {"name": "x", "verifier_version": 2, "config": {"k": 1, "m": 3}},
            {"name": "z"},
        ], "combine": {"how": "min", "clamp": [0, 1]}});
        let changes = changes(&a, &b);
        assert_eq!(
            changes.all(),
            [
                "reward x: config.l 2 -> null",
                "reward x: config.m null -> 3",
                "reward x: verifier_version 1 -> 2",
                "reward y: only in a",
                "reward z: only in b",
                "combine.clamp null -> [0,1]",
            ]
        );
        assert_eq!(changes.of_reward("y"), ["only in a"]);
    }
}
