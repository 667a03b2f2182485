//! The language of formulas: what each function gives, what is refused and where, what is missing.

use assay_verifiers::code::Code;
use assay_verifiers::formula::{
    Axis, Formula, FormulaError, FormulaScope, Frame, MISSING, Setting, functions, is_missing,
};

fn scope() -> FormulaScope {
    let names = [("r", Axis::Row), ("length", Axis::Row), ("q", Axis::Row)];
    FormulaScope::new(names, [("reward", Axis::Row), ("steps", Axis::Step)])
        .open("meta", Axis::Row)
        .open("steps", Axis::Step)
        .open("state", Axis::Number)
}

fn refused(source: &str) -> FormulaError {
    Formula::compile(source, &scope()).err().unwrap_or_else(|| panic!("{source} is no formula"))
}

/// What a formula of `r` gives over the rows of one group.
fn over(source: &str, rows: &[f64]) -> Vec<f64> {
    let formula = Formula::compile(source, &scope()).unwrap();
    let inputs = formula.inputs().iter().map(|_| rows.into()).collect();
    let frame = Frame::new(inputs, vec![rows.len()], vec![]);
    formula.run(&frame).unwrap().output("reward").unwrap().to_vec()
}

#[track_caller]
fn gives(source: &str, rows: &[f64], wanted: &[f64]) {
    let found = over(source, rows);
    let near = |one: &f64, other: &f64| {
        is_missing(*one) && is_missing(*other) || (one - other).abs() <= 1e-12
    };
    let same = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(one, other)| near(one, other));
    assert!(same, "{source} of {rows:?}: expected {wanted:?}, got {found:?}");
}

#[test]
fn columns_have_the_values_worked_out_by_hand() {
    let rows = [3.0, 1.0, 2.0, 2.0];
    gives("r - mean(r)", &rows, &[1.0, -1.0, 0.0, 0.0]);
    gives("sum(r) + 0 * r", &rows, &[8.0; 4]);
    gives("count(r) * prod(r) + 0 * r", &rows, &[48.0; 4]);
    gives("median(r) + 0 * r", &rows, &[2.0; 4]);
    gives("quantile(r, 0.25) + 0 * r", &rows, &[1.75; 4]);
    gives("max(r) - min(r) + 0 * r", &rows, &[2.0; 4]);
    gives("max(r, 2) - min(r, 2)", &rows, &[1.0, 1.0, 0.0, 0.0]);
    // Squares 1, 1, 0, 0 about the mean 2.
    gives("variance(r, \"population\") + 0 * r", &rows, &[0.5; 4]);
    gives("std(r, \"sample\") ** 2 + 0 * r", &rows, &[2.0 / 3.0; 4]);
    gives("zscore(r, \"population\")", &[1.0, 3.0], &[-1.0, 1.0]);
    gives("zscore(r, \"population\", 1)", &[1.0, 3.0], &[-0.5, 0.5]);
    gives("zscore(r, \"sample\")", &[0.1, 0.1, 0.1], &[0.0; 3]);
    gives("rank(r)", &rows, &[4.0, 1.0, 2.5, 2.5]);
    gives("sort(r)", &rows, &[1.0, 2.0, 2.0, 3.0]);
    gives("index(r)", &rows, &[0.0, 1.0, 2.0, 3.0]);
    gives("cumsum(r)", &rows, &[3.0, 4.0, 6.0, 8.0]);
    gives("cumprod(r)", &rows, &[3.0, 3.0, 6.0, 12.0]);
    gives("cummin(r)", &rows, &[3.0, 1.0, 1.0, 1.0]);
    gives("diff(r)", &rows, &[3.0, -2.0, 1.0, 0.0]);
    gives("shift(r, 1)", &rows, &[MISSING, 3.0, 1.0, 2.0]);
    gives("shift(r, -1)", &rows, &[1.0, 2.0, 2.0, MISSING]);
    gives("ema(r, 0.5)", &rows, &[3.0, 2.0, 2.0, 2.0]);
    gives("discounted(r, 0.5)", &[1.0, 1.0, 1.0], &[1.75, 1.5, 1.0]);
    gives("mean_by(r, r > 1.5)", &rows, &[7.0 / 3.0, 1.0, 7.0 / 3.0, 7.0 / 3.0]);
    gives("count_by(r, r)", &rows, &[1.0, 1.0, 2.0, 2.0]);
    gives("choose(r + 2, 2)", &rows, &[10.0, 3.0, 6.0, 6.0]);
    gives("if r > 1.5 && !(r == 2) { 1 / 2 } else { -r }", &rows, &[0.5, -1.0, -2.0, -2.0]);
    gives("any(r == 3) + all(r > 0) + 0 * r", &rows, &[2.0; 4]);
    gives("first(r) - last(r) + 0 * r", &rows, &[1.0; 4]);
    gives("clip(r, 1.5, 2.5)", &rows, &[2.5, 1.5, 2.0, 2.0]);
    gives("sigmoid(0 * r) + tanh(0) + exp(0) + log(1) + log2(4) + sqrt(4)", &[1.0], &[5.5 + 0.0]);
    gives(
        "round(2.5) + floor(1.9) + ceil(1.1) + sign(-3) + abs(-2) + cos(0) + 0 * r",
        &[1.0],
        &[7.0],
    );
}

#[test]
fn what_is_missing_stays_missing_and_is_in_no_statistic() {
    let rows = [1.0, MISSING, 3.0];
    gives("r + 1", &rows, &[2.0, MISSING, 4.0]);
    gives("mean(r) + 0 * index(r)", &rows, &[2.0; 3]);
    gives("count(r) + 0 * index(r)", &rows, &[2.0; 3]);
    gives("r ?? 7", &rows, &[1.0, 7.0, 3.0]);
    gives("is_missing(r)", &rows, &[0.0, 1.0, 0.0]);
    gives("r > 2", &rows, &[0.0, MISSING, 1.0]);
    gives("r > 2 && false", &rows, &[0.0; 3]);
    gives("if is_missing(r) { 0 } else { r }", &rows, &[1.0, 0.0, 3.0]);
    gives("rank(r)", &rows, &[1.0, MISSING, 2.0]);
    gives("zscore(r, \"population\")", &rows, &[-1.0, MISSING, 1.0]);
    gives("cumsum(r)", &rows, &[1.0, 1.0, 4.0]);
    gives("ema(r, 0.5)", &rows, &[1.0, MISSING, 2.0]);
    gives("sum(r) + 0 * index(r)", &[MISSING, MISSING], &[0.0, 0.0]);
    gives("mean(r) + 0 * index(r)", &[MISSING, MISSING], &[MISSING, MISSING]);
}

#[test]
fn steps_reduce_to_rows_and_rows_to_groups() {
    let formula = Formula::compile(
        "let own = mean(steps.reward); let all = mean(group(steps.reward)); #{ reward: own - all, steps: steps.reward - own }",
        &scope(),
    )
    .unwrap();
    let steps = [1.0, 0.0, 1.0, 1.0, 5.0];
    let frame = Frame::new(vec![steps.as_slice().into()], vec![2, 3], vec![2, 4, 5]);
    let values = formula.run(&frame).unwrap();
    // Means 0.5, 1 and 5; of the first group 3 / 4, of the second 5.
    assert_eq!(values.output("reward").unwrap(), [-0.25, 0.25, 0.0]);
    assert_eq!(values.output("steps").unwrap(), [0.5, -0.5, 0.0, 0.0, 0.0]);
    assert!(formula.compares_rows());
}

#[test]
fn a_batch_is_widened_only_where_there_is_one() {
    assert_eq!(refused("mean(batch(r))").code, Code::BadExpression);
    let names = [("r", Axis::Row)];
    let scope = FormulaScope::new(names, [("advantage", Axis::Row)]).batches();
    let formula = Formula::compile("r - mean(batch(r))", &scope).unwrap();
    let frame = Frame::new(vec![[1.0, 2.0, 6.0].as_slice().into()], vec![1, 3], vec![]);
    assert_eq!(formula.run(&frame).unwrap().output("advantage").unwrap(), [-2.0, -1.0, 3.0]);
}

#[test]
fn what_is_no_formula_is_refused_at_its_place() {
    let mut wrong = Vec::new();
    for (source, code, part) in [
        ("r - maen(r)", Code::UnknownName, "maen"),
        ("r - lenght", Code::UnknownName, "lenght"),
        ("steps.reward", Code::BadExpression, "steps"),
        ("r + quantile(r, r)", Code::BadExpression, "r"),
        ("mean(1)", Code::BadExpression, "mean"),
        ("std(r)", Code::BadExpression, "std"),
        ("std(r, \"both\")", Code::BadExpression, "\""),
        ("loop { }", Code::BadExpression, "loop"),
        ("while true { }; r", Code::BadExpression, "while"),
        ("for x in 0..9 { } r", Code::BadExpression, "for"),
        ("let x = 1; x = 2; r", Code::BadExpression, "="),
        ("r; r", Code::BadExpression, "r"),
        ("let x = r;", Code::BadExpression, "let"),
        ("#{ rewards: r }", Code::UnknownKey, "rewards"),
        ("if r > 1 { 2 }", Code::BadExpression, "if"),
        ("r + \"text\"", Code::BadExpression, "\""),
        ("[r]", Code::BadExpression, "["),
        ("r.abs()", Code::BadExpression, "r"),
        ("-r ** 2", Code::BadExpression, "-"),
        ("1 - -2 ** 2", Code::BadExpression, "-"),
        ("max(-r ** 2, (r - 3) ** 2)", Code::BadExpression, "-"),
        ("(-r) ** 2 + (1 + -(r - 3) ** 2)", Code::BadExpression, "-"),
    ] {
        let error = refused(source);
        let place = error.place.clone().and_then(|place| source.get(place));
        if (error.code, place) != (code, Some(part)) {
            wrong.push(format!("{source}: {} at {place:?}: {error}", error.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for source in
        ["", "fn f(x) { x } f(r)", "r +", &"(".repeat(200), &format!("r{}", " + r".repeat(40_000))]
    {
        refused(source);
    }
}

#[test]
fn a_power_takes_a_sign_in_brackets() {
    for (source, value) in [
        ("(-r) ** 2", 4.0),
        ("( ( -r ) ) ** 2", 4.0),
        ("-(r ** 2)", -4.0),
        ("r - r ** 2", -2.0),
        ("2 ** -r", 0.25),
        ("-r * r", -4.0),
        ("(-2) ** 2", 4.0),
        ("abs(-r) ** 2", 4.0),
    ] {
        assert_eq!(over(source, &[2.0]), [value], "{source}");
    }
}

#[test]
fn a_setting_that_nothing_reads_is_refused() {
    let settings = [("target".to_owned(), Setting::Number(1.0))];
    let error = Formula::compile("r", &scope().settings(settings)).unwrap_err();
    assert_eq!(error.code, Code::NoEffect);
}

#[test]
fn a_number_that_is_none_is_traced_to_its_place() {
    let blame = |source: &str, row: f64| {
        let formula = Formula::compile(source, &scope()).unwrap();
        let inputs = formula.inputs().iter().map(|_| vec![row].into()).collect();
        let frame = Frame::new(inputs, vec![1], vec![]);
        formula.run(&frame).unwrap().blame(0)
    };
    assert_eq!(
        blame("let a = r * 2;\nlog(a) + 1", -1.0),
        "formula: `log` (line 2, column 1) of -2 is NaN"
    );
    assert_eq!(blame("1 / r", 0.0), "formula: `/` (line 1, column 3) of 1 and 0 is inf");
    assert_eq!(blame("r + q", MISSING), "formula: the row has no r, q");
}

#[test]
fn large_and_odd_numbers_end_in_time() {
    gives("shift(r, 1e9)", &[1.0], &[MISSING]);
    assert!(over("choose(r, 1e299)", &[1e300])[0].is_nan());
    assert!(over("r ** 1e300", &[10.0])[0].is_infinite());
    let rows = vec![1.0; 100_000];
    let formula =
        Formula::compile("rank(r) + zscore(r, \"sample\") + mean_by(r, r)", &scope()).unwrap();
    let frame = Frame::new(vec![rows.as_slice().into()], vec![rows.len()], vec![]);
    assert!(formula.fuel(&frame) >= 300_000);
    assert!(formula.run(&frame).is_ok());
}

#[test]
fn every_function_has_a_row_in_the_docs() {
    let docs = include_str!("../../../docs/formulas.md");
    for entry in functions::ALL {
        let row = format!("| `{}({})` | {} |", entry.name, entry.args, entry.about);
        assert!(docs.contains(&row), "docs/formulas.md lacks: {row}");
    }
}
