//! Hostile answers end within the default fuel, on a small stack, and are never paid.

use assay_verifiers::{
    Earlier, FaultKind, Lane, Meter, NoFiles, Outcome, Reward, Sample, Verdict, Verifier, registry,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn math() -> Box<dyn Verifier> {
    let entry = registry::find("math").unwrap();
    let Lane::Compute(check) = (entry.build)(json!({}), &NoFiles).unwrap().lane else { panic!() };
    check
}

fn judge(completion: &str, reference: &str) -> Verdict {
    let sample = Sample::builder(completion).reference(reference).build();
    math().verify(&sample, Earlier::default(), &mut Meter::default())
}

fn reward(verdict: &Verdict) -> Option<f64> {
    verdict.outcome.reward().map(Reward::get)
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}

const DEEP: usize = 100_000;

/// What should never be computed.
fn large() -> Vec<String> {
    vec![
        "9^{9^{9^9}}".into(),
        "9^{9^{9^{9^{9^{9}}}}}".into(),
        "10^{100000}!".into(),
        "((10!)!)!".into(),
        "2^{2^{2^{2^{2^{2}}}}} + 1".into(),
        "9".repeat(DEEP),
        format!("0.{}", "1".repeat(DEEP)),
        format!("1.{}e99999999", "5".repeat(3_000)),
        "1e-99999999".into(),
        "\\binom{100000}{50000}".into(),
        "(x+y+z+1)^{9999}(x+y+z+2)^{9999}".into(),
        "(1+\\sqrt{2}+\\sqrt{3}+\\sqrt{5}+\\sqrt{7}+\\sqrt{11})^{24}".into(),
        "\\sin(4096x + 7y + 7z + 7w)".into(),
        format!("\\sqrt{{{}}}", "7".repeat(3_900)),
        format!("x{}", "*(x+1)".repeat(2_000)),
        "(a+b+c+d+e+f+g+h)".repeat(30),
        "5000!".into(),
        "4000! + 3999!".into(),
        "3^{40000}".into(),
        "\\sin(30x)\\cos(30x)\\sin(29x)".into(),
        sum((2..1500).map(|n| format!("\\sqrt{{{n}}}"))),
        sum((0..990).map(|n| format!("x_{{{n}}}"))),
        sum((1..60).map(|n| format!("\\frac{{1}}{{x+{n}}}"))),
        sum((1..900).map(|n| format!("\\arctan({n})"))),
        format!("({}x+1)^{{24}}", "9".repeat(3_000)),
        format!("{}/{}", "9".repeat(4_000), "7".repeat(4_000)),
        "x^{24} - 99999999999999999999x^{23} + 7x^5 - 3 > 0".into(),
        "\\frac{(x^{12}-7x+3)(x^{12}+5x^5-9)}{x^{24}-2} > \\frac{1}{x^{13}+x+1}".into(),
        "|x-1|+|x-2|+|x-3|+|x-4|+|x-5|+|x-6| > \\frac{1}{x^9-7x+3}".into(),
        format!("x^2 > {}", "7".repeat(3_000)),
        "x = k\\pi \\text{ or } x = 99999989k\\pi, k \\in \\mathbb{Z}".into(),
        "\\{x \\in \\mathbb{Z} \\mid 0 < x < 10^{300}\\}".into(),
    ]
}

fn sum(terms: impl Iterator<Item = String>) -> String {
    terms.collect::<Vec<_>>().join("+")
}

/// What nests or repeats.
fn long() -> Vec<String> {
    vec![
        format!("{}1{}", "{".repeat(DEEP), "}".repeat(DEEP)),
        format!("{}1{}", "(".repeat(DEEP), ")".repeat(DEEP)),
        format!("{}1{}", "\\sqrt{".repeat(DEEP), "}".repeat(DEEP)),
        format!("{}1", "-".repeat(DEEP)),
        format!("x{}", "'".repeat(DEEP)),
        format!("5{}", "!".repeat(DEEP)),
        format!("x{}", "^x".repeat(DEEP)),
        format!("1{}", "+1".repeat(DEEP)),
        format!("\\begin{{matrix}}{}\\end{{matrix}}", "1&".repeat(20_000)),
        format!("\\{{{}\\}}", "1,".repeat(20_000)),
        "\\frac".repeat(10_000),
        "\\frac{1}{".repeat(10_000),
        "1,".repeat(DEEP),
        "x<".repeat(10_000),
        "\\boxed{".repeat(DEEP),
        "\\boxed{1}".repeat(DEEP),
        "\\text{".repeat(DEEP),
        "answer is ".repeat(20_000),
        "$".repeat(DEEP),
        "```".repeat(DEEP),
        "\\".repeat(DEEP),
        "\\log".repeat(5_000),
        "|".repeat(10_000),
        "(-\\infty,1)\\cup".repeat(5_000),
        "\\pm1".repeat(500),
        "answer ".repeat(DEEP),
        "**answer**".repeat(DEEP),
        "{\"answer\": \"".repeat(DEEP),
        "#### 1\n".repeat(DEEP),
        "> \"\\boxed{1}\"\n".repeat(DEEP),
        "\\boxed 1 ".repeat(DEEP),
        "\\\\boxed{".repeat(DEEP),
        "` ".repeat(DEEP),
        "<think>".repeat(DEEP),
        "</answer>".repeat(DEEP),
        "答案是".repeat(DEEP),
        "twenty ".repeat(DEEP),
        "½".repeat(DEEP),
        "k\\in\\mathbb{Z},".repeat(5_000),
        format!("\\begin{{cases}}{}\\end{{cases}}", "x & x>0 \\\\".repeat(5_000)),
        "x \\neq 1, ".repeat(3_000),
        "\0\0\u{202e}5\u{202c}\u{feff}".into(),
    ]
}

/// What the scan of a text may cost, in fuel a byte, and one comparison beside it.
const SCAN_MAX: u64 = 4;
const COMPARISON_MAX: u64 = 550_000;

#[test]
fn a_bomb_costs_no_more_than_its_length_and_one_comparison() {
    for bomb in large().into_iter().chain(long()) {
        let sample = Sample::builder(format!("\\boxed{{{bomb}}}")).reference("12345").build();
        let mut meter = Meter::default();
        math().verify(&sample, Earlier::default(), &mut meter);
        let most = SCAN_MAX * sample.completion().len() as u64 + COMPARISON_MAX;
        assert!(meter.spent() <= most, "{} of {most}: {}", meter.spent(), head(&bomb));
    }
}

#[test]
fn bombs_are_decided_or_run_out_of_fuel_and_are_never_paid() {
    let run = || {
        for bomb in large().into_iter().chain(long()) {
            let boxed = format!("\\boxed{{{bomb}}}");
            let announced = format!("The answer is {bomb}");
            for completion in [bomb, boxed, announced] {
                match judge(&completion, "12345").outcome {
                    Outcome::Scored(reward) => {
                        assert_eq!(reward, Reward::ZERO, "{}", head(&completion));
                    }
                    Outcome::Failed(fault) => {
                        assert_eq!(fault.kind, FaultKind::OutOfFuel, "{}", head(&completion));
                    }
                    Outcome::Abstained(_) => panic!("{}", head(&completion)),
                }
            }
        }
    };
    // The stack of a worker thread; the frames of a debug build are larger than those of a release.
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_bomb_as_the_reference_pays_nothing() {
    for bomb in large().into_iter().chain(long()) {
        assert_ne!(reward(&judge("\\boxed{12345}", &bomb)), Some(1.0), "{}", head(&bomb));
    }
}

/// Pieces of answers, valid and not, between spaces.
const PIECES: &str = r"\frac { } ( ) [ ] \{ \} \sqrt ^ _ ! % ^\circ + - \pm * / \cdot = < \le \neq \in \cup \setminus
    , ; : | x y e i \pi \infty 1 2 10 0 3.5 1,234 \sin \ln \log \binom \text{and} \text{cm} \boxed{ $ & \\
    \begin{pmatrix} \end{pmatrix} \lfloor \rfloor f(x) \sum ² π √ \emptyset \mathbb{R} ~ or no";

fn piece() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.split_whitespace().collect();
    prop::sample::select(pieces).prop_map(|piece| piece.replace('~', " "))
}

/// Well-formed expressions.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(vec!["1", "2", "3", "12", "x", "y", "\\pi", "\\sqrt{2}", "\\sqrt{3}"]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("({a}+{b})")),
            pair.clone().prop_map(|(a, b)| format!("({a}-{b})")),
            pair.clone().prop_map(|(a, b)| format!("{a}\\cdot {b}")),
            pair.prop_map(|(a, b)| format!("\\frac{{{a}}}{{{b}}}")),
            inner.clone().prop_map(|a| format!("\\left({a}\\right)^2")),
            inner.prop_map(|a| format!("\\sqrt{{{a}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn no_pieces_panic(
        pieces in prop::collection::vec(piece(), 0..24),
        reference in prop::collection::vec(piece(), 1..8),
    ) {
        let verdict = judge(&pieces.concat(), &reference.concat());
        prop_assert!(!matches!(verdict.outcome, Outcome::Abstained(_)));
    }

    #[test]
    fn no_text_panics(text in ".{0,80}", reference in ".{1,40}") {
        let verdict = judge(&text, &reference);
        prop_assert!(!matches!(verdict.outcome, Outcome::Abstained(_)));
    }

    #[test]
    fn a_value_equals_itself(text in expression()) {
        prop_assert_eq!(reward(&judge(&format!("\\boxed{{{text}}}"), &text)), Some(1.0));
    }

    #[test]
    fn a_rewritten_value_is_equal(a in expression(), b in expression()) {
        // Written otherwise, so that equal bytes cannot decide it. A quotient by zero, or a form
        // past the limits, stays open.
        let verdict = judge(&format!("\\boxed{{{b}+{a}}}"), &format!("{a}+{b}"));
        let reason = verdict.evidence.get("reason").and_then(Value::as_str);
        let open = matches!(verdict.outcome, Outcome::Failed(_)) || reason != Some("proved-unequal");
        prop_assert!(reward(&verdict) == Some(1.0) || open, "{:?}", verdict);
    }

    #[test]
    fn the_order_of_the_sides_does_not_matter(a in expression(), b in expression()) {
        let one = judge(&format!("\\boxed{{{a}}}"), &b);
        let two = judge(&format!("\\boxed{{{b}}}"), &a);
        prop_assert_eq!(reward(&one), reward(&two));
    }

    #[test]
    fn one_more_is_not_equal(a in expression()) {
        let verdict = judge(&format!("\\boxed{{{a}+1}}"), &a);
        prop_assert_ne!(reward(&verdict), Some(1.0));
    }
}
