use assay_puzzles::entry::Puzzle;
use serde_json::Value;
#[test]
#[ignore = "local"]
fn parity() {
    let text = std::fs::read_to_string(std::env::var("PUZZLES").unwrap()).unwrap();
    let (mut all, mut equal) = (0, 0);
    let mut bad = std::collections::BTreeMap::<String, Vec<String>>::new();
    let t = std::time::Instant::now();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let task = row["task"].as_str().unwrap();
        let p = Puzzle { answer: "", reference: &row["reference"], metadata: &row["metadata"] };
        let m = assay_puzzles::reasoning::mark(task, row["extracted"].as_str(), &p);
        all += 1;
        let want = row["label"].as_f64().unwrap();
        match &m {
            Ok(m) if (m.published - want).abs() < 1e-9 => {
                equal += 1;
                if m.right != (want >= 1.0) { println!("STRICT {task} {m:?} {want} {} {:?}", row["extracted"], row["reference"].to_string().chars().take(100).collect::<String>()); }
            }
            m => bad.entry(task.to_owned()).or_default().push(format!("{m:?} want {want} {} REF {}", row["extracted"], row["reference"])),
        }
    }
    println!("{equal} of {all} {:?}", t.elapsed());
    for (t, b) in bad { println!("== {t} {}", b.len()); for x in b.iter().take(4) { println!("   {}", x.chars().take(500).collect::<String>()); } }
}
