//! A verifier: the share of the wanted words that a completion holds.

use serde_json::{Value, json};

wit_bindgen::generate!({ path: "../../sandbox/wit/plugin.wit", world: "plugin" });

use exports::assay::plugin::verifier::{Guest, Sample, Score, Verdict};

struct Polite;

impl Guest for Polite {
    fn verify(sample: Sample) -> Result<Verdict, String> {
        let settings: Value =
            serde_json::from_str(&sample.settings).map_err(|error| error.to_string())?;
        let listed = settings["words"].as_array().into_iter().flatten();
        let wanted: Vec<String> = listed.filter_map(Value::as_str).map(str::to_lowercase).collect();
        if wanted.is_empty() {
            return Err("the settings name no words".to_owned());
        }
        if sample.completion.trim().is_empty() {
            return Ok(Verdict::Abstained("the completion is empty".to_owned()));
        }
        let text = sample.completion.to_lowercase();
        let have: Vec<&str> = text.split(|char: char| !is_word(char)).collect();
        let is_missing = |wanted: &&String| !wanted.split(' ').all(|word| have.contains(&word));
        let missing: Vec<&String> = wanted.iter().filter(is_missing).collect();
        let reward = 1.0 - missing.len() as f64 / wanted.len() as f64;
        let evidence = json!({ "missing": missing }).to_string();
        Ok(Verdict::Scored(Score { reward, evidence }))
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '\''
}

export!(Polite);
