//! Whether verdicts equal those of a file of labelled rows, and how many rows a second are judged:
//! `cargo run --release -p assay-instructions --example parity FILE`, a file of lines of JSON.

#![expect(clippy::disallowed_methods, reason = "it reads the clock")]
#![expect(clippy::print_stdout, reason = "it prints its figures")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "it stops at what it does not expect"
)]
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use assay_instructions::{Demand, Edition, Met, follow};
use serde_json::Value;

const ROUNDS: u32 = 5;

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut equal, mut unstable, mut refused, mut all) = (0, 0, 0, 0);
    for row in &rows {
        let ids = row["reference"]["instruction_id_list"].as_array().unwrap();
        for (at, id) in ids.iter().enumerate() {
            all += 1;
            let kwargs = row["reference"]["kwargs"][at].as_object();
            let demand = match Demand::read(id.as_str().unwrap(), kwargs, Edition::Official) {
                Ok(demand) => demand,
                Err(why) => {
                    refused += 1;
                    println!("{}: {why}", row["id"]);
                    continue;
                }
            };
            let met = follow(&[demand], row["response"].as_str().unwrap())[0];
            let (strict, loose) = (&row["strict"][at], &row["loose"][at]);
            if (strict, loose) == (&Value::Bool(met.strict), &Value::Bool(met.loose)) {
                equal += 1;
            } else if row["unstable"].as_array().is_some_and(|list| list.contains(&at.into())) {
                unstable += 1;
            } else {
                println!("{} {id}: {met:?}, official {strict} {loose}", row["id"]);
            }
        }
    }
    println!("{equal} of {all} equal, {unstable} of the others unstable, {refused} refused");
    let start = std::time::Instant::now();
    let mut followed = 0;
    for _ in 0..ROUNDS {
        for row in &rows {
            let ids = row["reference"]["instruction_id_list"].as_array().unwrap();
            let read = |(at, id): (usize, &Value)| {
                let kwargs = row["reference"]["kwargs"][at].as_object();
                Demand::read(id.as_str().unwrap(), kwargs, Edition::Official).ok()
            };
            let demands: Vec<Demand> = ids.iter().enumerate().filter_map(read).collect();
            let met = follow(&demands, row["response"].as_str().unwrap());
            followed += met.iter().filter(|met| met.loose).map(|_: &Met| 1).sum::<u32>();
        }
    }
    let rate = f64::from(ROUNDS) * rows.len() as f64 / start.elapsed().as_secs_f64();
    println!("{rate:.0} rows a second ({followed} followed)");
}
