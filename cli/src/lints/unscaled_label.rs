//! Labels are on a scale of their own, of which 1 and more counts as right.
//!
//! Looks at the column that [data] label names. Fix: write true and false, by the value from which on an answer is
//! right.
//!
//! ```toml
//! [[case]]
//! name = "labels from 1 to 5"
//! config = '''
//! version = 1
//! [data]
//! label = "stars"
//! [[reward]]
//! name = "correct"
//! verifier = "number"
//! '''
//! text = '''
//! {"prompt": "1+1?", "completion": "2", "reference": "2", "stars": 4}
//! {"prompt": "1+2?", "completion": "4", "reference": "3", "stars": 2}
//! '''
//! exits = [0, 0]
//! codes = ["unscaled_label"]
//!
//! [[case]]
//! name = "labels that are 0 and 1"
//! config = '''
//! version = 1
//! [data]
//! label = "right"
//! [[reward]]
//! name = "correct"
//! verifier = "number"
//! '''
//! text = '''
//! {"prompt": "1+1?", "completion": "2", "reference": "2", "right": 1}
//! {"prompt": "1+2?", "completion": "4", "reference": "3", "right": 0}
//! '''
//! exits = [0, 0]
//! codes = []
//! ```

use assay::engine::RIGHT_FROM;
use serde_json::Value;

use super::look::{Finding, Look, listed};

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let number = |label: &Value| match label {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let labels = look.rows.iter().filter_map(|row| number(row.label.as_ref()?));
    let mut values: Vec<f64> = labels.filter(|own| own.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.iter().all(|label| [0.0, 1.0, -1.0].contains(label)) {
        return Vec::new();
    }
    let shown: Vec<String> = values.iter().map(f64::to_string).collect();
    let shown = listed(shown.iter().map(String::as_str));
    let message = format!("labels are {shown}, and {RIGHT_FROM} and more counts as right");
    let help = "write true and false, by the value from which on an answer is right";
    vec![Finding::at("data.label", message, help).with("values", values)]
}
