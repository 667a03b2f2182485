//! Figures against those by hand.

use super::*;

#[test]
fn figures_equal_those_by_hand() {
    let found = figures(&[0.0, 1.0, f64::NAN, 1.0, 1.0, 0.0, 0.0], &[0, 0, 2, 3, 3, 5, 5]);
    // Means of groups 0.5, 1, 0 around 0.5: the error is sqrt(0.5 / 2 / 3).
    let near = |name: &str, wanted: f64| (found[name].as_f64().unwrap() - wanted).abs() < 1e-12;
    assert!(near("mean", 0.5) && near("std", 0.3_f64.sqrt()), "{found}");
    assert!(near("high", 0.5 + 1.96 * (0.25_f64 / 3.0).sqrt()), "{found}");
    assert_eq!(
        (&found["count"], &found["min"], &found["max"]),
        (&json!(6), &json!(0.0), &json!(1.0))
    );
    assert_eq!(figures(&[], &[])["mean"], Value::Null);
}

#[test]
fn a_histogram_counts_values_and_then_bins() {
    let few = histogram(&[0.0, 1.0, f64::NAN, -0.0, 0.5]);
    assert_eq!(few, json!({ "values": [[0.0, 2], [0.5, 1], [1.0, 1]] }));
    let mut many: Vec<f64> = (0..100_u32).map(|at| f64::from(at) / 100.0).collect();
    let bins = histogram(&many);
    assert_eq!(
        (&bins["width"], bins["counts"].as_array().unwrap().len()),
        (&json!(1.0 / 32.0), 32)
    );
    let all: u64 = bins["counts"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(all, 100);
    many.extend([f64::MAX, f64::MIN, 1e-300]);
    assert!(histogram(&many)["counts"].as_array().unwrap().len() <= 40);
}

#[test]
fn the_largest_come_first_and_of_equal_ones_the_first() {
    assert_eq!(top([1.0, 3.0, f64::NAN, 3.0, 3.0].into_iter(), 2), [(1, 3.0), (3, 3.0)]);
}
