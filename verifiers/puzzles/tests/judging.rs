//! Arithmetic, grids, crosswords, graphs and constraints.

use std::collections::BTreeMap;

use assay_puzzles::chess::{self, Position};
use assay_puzzles::constraints::{Halt, Problem};
use assay_puzzles::countdown::{Attempt, UseRules, judge, last_expression, tree_of_thought};
use assay_puzzles::expression::{ExactArithmetic, ExpressionStyle, Operator, compute};
use assay_puzzles::graph::NamedGraph;
use assay_puzzles::number::{DecimalNumber, Ratio, integer};
use assay_puzzles::{crossword, grid, polynomial};
use proptest::prelude::*;
use serde_json::{Value, json};

#[expect(clippy::unnecessary_wraps, reason = "the functions take one that may fail")]
fn free(_: u64) -> Result<(), ()> {
    Ok(())
}

fn value(text: &str, style: ExpressionStyle) -> Option<Ratio> {
    compute(text, style, &mut ExactArithmetic::default())
}

#[test]
fn expressions_have_the_value_of_python() {
    for (text, due) in [
        ("2 + 3 * 4", Some(14)),
        ("-2 ** 2", Some(-4)),
        ("2 ** -1 * 4", Some(2)),
        ("2 ** 3 ** 2", Some(512)),
        ("7 // 2 - 7 % 4", Some(0)),
        ("-7 // 2", Some(-4)),
        ("8 / (3 - 8 / 3)", Some(24)),
        ("4! / 1", Some(24)),
        ("1.5 * 2", Some(3)),
        ("- - + 3", Some(3)),
        ("1 / 0", None),
        ("2 3", None),
        ("2(3)", None),
        ("(2", None),
        ("2 ^ 3", None),
        ("9 ** 9 ** 9", None),
        ("x + 1", None),
        ("", None),
    ] {
        assert_eq!(value(text, ExpressionStyle::Python), due.map(Ratio::whole), "{text}");
    }
    for (text, due) in
        [("2 ^ 3", 8), (r"\frac{6}{2} \times 4", 12), (r"\left(1 − 3\right) · 2", -4)]
    {
        assert_eq!(value(text, ExpressionStyle::Written), Some(Ratio::whole(due)), "{text}");
    }
    let deep = "(".repeat(100_000) + "1";
    assert_eq!(value(&deep, ExpressionStyle::Python), None);
}

#[test]
fn numbers_are_used_as_they_are_given() {
    let numbers: Vec<Ratio> = [3, 5, 8].map(Ratio::whole).to_vec();
    let operators = &[Operator::Add, Operator::Multiply];
    let tried = |text, all| judge(text, &numbers, Ratio::whole(64), UseRules { operators, all });
    assert_eq!(tried("(3 + 5) * 8", true), Attempt::Reached);
    assert_eq!(tried("$(3 + 5) * 8 = 64$", true), Attempt::Reached);
    assert_eq!(tried("(3 + 5) * 8 = 63", true), Attempt::Missed);
    assert_eq!(tried("8 * 8", false), Attempt::OtherNumbers);
    assert_eq!(tried("8 * 5", true), Attempt::OtherNumbers);
    assert_eq!(tried("8 * 5", false), Attempt::Missed);
    assert_eq!(tried("8 - 5", false), Attempt::Unreadable);
    for text in ["so\nAnswer: **3 + 5**\n", r"It is $\boxed{3 + 5}$.", "3 + 5", "`3 + 5`"] {
        assert_eq!(last_expression(text).map(|span| &text[span]), Some("3 + 5"), "{text}");
    }
    assert_eq!(["", "\n**\n"].map(last_expression), [None, None]);
    let official = |text| tree_of_thought(text, &numbers, Ratio::whole(64));
    assert!(official("work\nAnswer: (3 + 5) * 8 = 63"));
    assert!(!official("(3 + 5) * 8\nI am done."));
}

#[test]
fn decimals_are_read_as_python_reads_them() {
    for (text, same) in [("1_000.50", "1000.5"), ("-0", "0"), (" 1e3 ", "1000"), (".5", "0.50")] {
        assert_eq!(DecimalNumber::parse(text), DecimalNumber::parse(same), "{text}");
    }
    for (text, digits, due) in [("2.345", 3, "2.34"), ("2.355", 3, "2.36"), ("9.996", 3, "10")] {
        let rounded = DecimalNumber::parse(text).map(|own| own.rounded(digits));
        assert_eq!(rounded, DecimalNumber::parse(due), "{text}");
    }
    assert_eq!(DecimalNumber::parse("1,000"), None);
    assert_eq!(integer(" +1_0 "), Some(10));
    assert_eq!(integer("1__0"), None);
}

#[test]
fn polynomials_are_compared_by_their_values() {
    let integral = |answer, integrand| polynomial::is_antiderivative(answer, integrand, "x");
    assert_eq!(integral("x**3/3 - 1/x + C", "x**2 + x**(-2)"), Some(true));
    assert_eq!(integral("x*(x + 1)**2", "(x + 1)**2 + 2*x*(x + 1)"), Some(true));
    assert_eq!(integral("x**3", "3*x"), Some(false));
    assert_eq!(integral("sin(x)", "1"), Some(false));
    assert_eq!(integral("x", "cos(x)"), None);
    assert_eq!(polynomial::is_equal("0.5*(a + b)", "a/2 + b/2"), Some(true));
}

#[test]
fn grids_are_read_from_lists_and_lines() {
    let wanted = grid::of_value(&json!([[1, 2], [3, 4]])).unwrap();
    for text in
        ["[[1, 2], [3, 4]]", "(1, 2), (3, 4)", "1 2\n3 4", "12\n34", "|1|2|\n|-+-|\n|3|4|\n"]
    {
        let text = if text.starts_with('(') { format!("[{text}]") } else { text.to_owned() };
        assert_eq!(grid::read(&text, &wanted).as_ref(), Some(&wanted), "{text}");
    }
    let read = |text| grid::read(text, &wanted);
    assert_eq!(read("Here is\n1 2\n3 4\nthat is all of it"), Some(wanted.clone()));
    assert_eq!(read("1 2\n3 4\n1 2"), None);
    assert_eq!([0, 6, 9, 7].map(grid::boxes), [None, Some((2, 3)), Some((3, 3)), Some((1, 7))]);
}

#[test]
fn crosswords_count_letters_once_and_words_both_ways() {
    let wanted = crossword::solution(["CAT", "O.O", "DOG"].into_iter()).unwrap();
    let shares = crossword::compare(&crossword::read("cat\no#o\ndox", 3, 3), &wanted);
    assert!((shares.letters - 7.0 / 8.0).abs() < 1e-12 && (shares.words - 0.5).abs() < 1e-12);
    assert!(crossword::solution(["CAT", "DO"].into_iter()).is_none());
}

#[test]
fn graphs_know_their_edges_and_shortest_paths() {
    let edges = json!({"edges": [["a", "b", 4], ["a", "c", 1], ["c", "b", 2]], "nodes": ["d"]});
    let graph = NamedGraph::of(&edges).unwrap();
    let ends = |text| graph.listed(text).unwrap();
    let [from, to, alone] = ["a", "b", "d"].map(|name| graph.find(name).unwrap());
    assert_eq!(graph.shortest(from, to, &mut free), Ok(Some(3.0)));
    assert_eq!(graph.shortest(from, alone, &mut free), Ok(None));
    assert_eq!(graph.weight(&ends("b → c → a")), Some(3.0));
    assert_eq!(graph.weight(&ends("a d")), None);
    assert_eq!(graph.listed("a, z").unwrap_err(), "z");
    assert!(!graph.is_topological(&ends("a b c d")));
    let mut colors: BTreeMap<usize, String> = BTreeMap::new();
    for (at, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        colors.insert(graph.find(name).unwrap(), at.to_string());
    }
    assert!(graph.is_coloring(&colors));
    assert!(graph.shortest(from, to, &mut |_| Err(())).is_err());
}

#[test]
fn constraints_hold_or_say_which_does_not() {
    let held = |problem: &Value, answer: &str| -> Result<bool, String> {
        let problem = Problem::of(problem)?;
        let mut values = problem.read(answer);
        let unassigned = problem.unassigned(&mut values).is_some();
        match problem.hold(&values, &mut free) {
            Ok((_, broken)) => Ok(!unassigned && broken.is_none()),
            Err(Halt::Bad(why)) => Err(why),
            Err(Halt::Pay(())) => Ok(false),
        }
    };
    let rule = |rule: Value| json!({"variables": ["x", "y"], "constraints": [rule]});
    for (constraint, due) in [
        (json!(["=", ["abs", ["-", "x", "y"]], 2]), true),
        (json!(["exactly", 1, ["=", "x", 3], ["=", "y", 3]]), true),
        (json!(["at_most", 0, ["=", "x", 3]]), false),
        (json!(["<=>", [">", "x", 2], ["<", "y", 2]]), true),
        (json!(["=", ["mod", ["*", "x", "y"], 2], 1]), true),
        (json!(["+", "x", "y"]), false),
        (json!(["not", ["+", "x", "tea"]]), false),
        (json!(["*", 9_223_372_036_854_775_807_i64, "x"]), false),
    ] {
        assert_eq!(held(&rule(constraint.clone()), "x = 3\ny = 1"), Ok(due), "{constraint}");
    }
    for bad in
        [json!(["like", "x"]), json!(["=", "x"]), json!([]), json!([3, "x"]), json!({"x": 1})]
    {
        assert!(held(&rule(bad.clone()), "x = 3\ny = 1").is_err(), "{bad}");
    }
    let mut deep = json!(["=", "x", 3]);
    for _ in 0..100 {
        deep = json!(["not", deep]);
    }
    assert!(held(&rule(deep), "x = 3\ny = 1").is_err());
}

proptest! {
    #[test]
    fn no_text_panics(text in r"(?s)[ -~\n→×]{0,80}", other in "(?s).{0,40}") {
        for text in [&text, &other] {
            value(text, ExpressionStyle::Python);
            value(text, ExpressionStyle::Written);
            let numbers = [Ratio::whole(2)];
            assert!(last_expression(text).is_none_or(|span| text.get(span).is_some()));
            tree_of_thought(text, &numbers, Ratio::whole(24));
            grid::read(text, &vec![vec![text.clone(); 3]; 3]);
            grid::of_value(&json!(text));
            polynomial::is_antiderivative(text, "x", "x");
            let rows = crossword::solution(text.lines());
            let own = crossword::read_official(text, 3, 3);
            crossword::compare(&own, &rows.unwrap_or_else(|| crossword::read(text, 3, 3)));
            let graph = NamedGraph::of(&json!({"edges": [["a", "b"]]})).unwrap();
            let _ = (graph.colors(text), graph.pairs(text));
            let _ = graph.listed(text).map(|nodes| graph.weight(&nodes));
            let problem = json!({"variables": {"x": {"range": [1, 3]}}, "clauses": [[1, -2]]});
            let problem = Problem::of(&problem).unwrap();
            let mut values = problem.read(text);
            problem.unassigned(&mut values);
            let _ = problem.hold(&values, &mut free);
        }
    }

    #[test]
    fn fractions_obey_their_laws(a in -999_i128..999, b in 1_i128..99, c in -999_i128..999, d in 1_i128..99) {
        let (one, two) = (Ratio::new(a, b).unwrap(), Ratio::new(c, d).unwrap());
        prop_assert_eq!(one.plus(two), two.plus(one));
        prop_assert_eq!(one.plus(two).and_then(|sum| sum.minus(two)), Some(one));
        prop_assert_eq!(one.over(two).and_then(|part| part.times(two)), (c != 0).then_some(one));
        prop_assert!(one.is_near(one, 1_000_000));
    }
}

#[test]
fn hostile_chess_ends() {
    let start = Position::read("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").unwrap();
    let shuffle = chess::offered(&"Nf3 Nf6 Ng1 Ng8 ".repeat(100_000));
    assert_eq!(shuffle.moves.len(), chess::PLIES_MAX + 1);
    assert_eq!(start.play(&shuffle.moves).map(|steps| steps.len()), Ok(chess::PLIES_MAX + 1));
    for text in ["7/", "8/8/8/8/8/8/8/8 w - - 0 1 ", "e.p.", "O-O-O", "Qa1xb2=Q+!?", "é…", "1. "]
    {
        let text = text.repeat(1 << 14);
        chess::offered(&text);
        assert!(chess::positions(&text).is_empty());
        assert!(Position::read(&text).is_none());
    }
    for fen in ["", "8/8/8/8/8/8/8/8", "9k/8/8/8/8/8/8/K7 w - -", "k7/8/8/8/8/8/8/K6 w - - 0 1"] {
        assert!(Position::read(fen).is_none(), "{fen}");
    }
}

proptest! {
    #[test]
    fn a_text_never_panics_on_a_chessboard(text in "[KQRBNOa-h1-8x=+#0 .-]{0,40}", fen in "[kqrbnpKQRBNP1-8/ w-]{0,80}") {
        let start = Position::read("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1").unwrap();
        if let Ok(steps) = start.play(&chess::offered(&text).moves) {
            prop_assert!(steps.iter().all(|step| Position::read(&step.after.fen()).is_some()));
        }
        Position::read(&fen);
    }
}
