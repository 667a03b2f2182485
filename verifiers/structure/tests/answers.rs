//! Short answers, numbers, dates, quantities, lists.

mod rows;

use assay_structure::answer::{
    Guards, How, Rules, is_unanswerable, items, matches, normalised, polarity,
};
use assay_structure::date::{self, Date, Reading};
use assay_structure::{assignment, fold, number, quantity};

use rows::rows;

const RULES: Rules = Rules { accents: true, articles: false };
const GUARDS: Guards = Guards { extra_words: 5, least_share: 0.5 };

#[expect(clippy::unnecessary_wraps, reason = "the functions take one that may fail")]
fn free(_: u64) -> Result<(), ()> {
    Ok(())
}

#[test]
fn texts_are_folded() {
    assert_eq!(
        fold::fold("ＡＢＣ ﬁ Ⅳ “x” – \u{200b}é", true),
        fold::fold("abc fi iv \"x\" - e\u{301}", true)
    );
    assert_eq!(fold::fold("Beyoncé Straße Łódź Ønsker", false), "beyonce strasse lodz onsker");
    assert_eq!(
        normalised("The U.S.-based  Company's A_b", RULES),
        ["us", "based", "companys", "b"]
    );
    assert_eq!(normalised("The The", RULES), ["the", "the"]);
    assert_eq!(
        fold::words("3.5 don't 東京タワー").map(|(_, word)| word).collect::<Vec<_>>().len(),
        7
    );
}

#[test]
fn inclusion_is_guarded() {
    let is =
        |answer, reference, how| matches(answer, reference, how, RULES, GUARDS, &mut free).unwrap();
    for (answer, reference) in [
        ("the Eiffel tower", "Eiffel Tower"),
        ("São Paulo", "Sa\u{303}o Paulo"),
        ("1,000", "1000"),
        ("New-York", "newyork"),
    ] {
        assert!(is(answer, reference, How::Equal), "{answer}");
    }
    assert!(!is("", "", How::TwoWay) && !is("the", "The Hague", How::TwoWay));
    for (answer, is_covered) in [
        ("It is Paris.", true),
        ("the city of Paris", true),
        ("Paris, Rome, Berlin", false),
        ("Paris or Rome", false),
        ("Paris/Rome", false),
        ("Paris\nRome", false),
        ("not Paris", false),
        ("Paris (or Rome)", false),
        ("I think that it may well be the city of Paris", false),
        ("Parisian", false),
    ] {
        assert_eq!(is(answer, "Paris", How::Cover), is_covered, "{answer}");
    }
    assert!(is("Paris, Texas", "Paris, Texas", How::Cover));
    assert!(is("Washington Carver", "George Washington Carver", How::TwoWay));
    assert!(!is("George", "George Washington Carver", How::TwoWay));
    assert!(is("答えは東京", "東京", How::Cover));
}

/// Texts that are not the same answer.
#[rustfmt::skip]
const OTHERS: [(&str, &str); 40] = [
    ("C", "C++"), ("C", "C#"), ("C#", "C++"), ("B-", "B"), ("A+", "A"), ("AB−", "AB+"), ("-5", "5"),
    ("−5", "5"), (">5", "5"), ("> 5", "< 5"), (">= 5", "> 5"), ("A > B", "A < B"), ("±5", "5"), ("√2", "2"),
    ("5^2", "52"), ("5²", "52"), ("2^x", "2x"), ("10^-3", "10^3"), ("1/2", "12"), ("½", "12"), ("1½", "11/2"),
    ("10:30", "1030"), ("3-5", "35"), ("3–5", "-5"), ("5%", "5"), ("5 %", "5"), ("$5", "5"), ("$5", "€5"),
    ("5 $", "5"), (".5", "5"), ("-.5", ".5"), ("18+", "18"), ("3*5", "35"), ("3×5", "35"), ("5+3", "53"),
    ("1,5", "15"), ("12 34", "1234"), ("∞", "-∞"), ("x+∞", "x"), ("v1.2", "v12"),
];

/// Texts that are.
#[rustfmt::skip]
const SAME: [(&str, &str); 44] = [
    ("Obama.", "obama"), ("\"Paris\"", "Paris"), ("rock-n-roll", "rock n roll"), ("U.S.A.", "USA"),
    ("1,000", "1000"), ("1,234,567.5", "1234567.5"), ("12,34,567", "1234567"), ("1,000km", "1000 km"),
    ("10 000", "10000"), ("5 %", "5%"), ("5 $", "$5"), ("(-5)", "-5"), ("= -5", "−5"), ("x = -5", "x: -5"),
    ("-$5", "$-5"), ("≥5", ">= 5"), ("+5", "5"), ("#1", "1"), ("x²", "x^2"), ("H₂O", "H2O"), ("5²", "5^2"),
    ("2^{10}", "2^10"), ("1 / 2", "1/2"), ("½", "1/2"), ("1½", "1 1/2"), ("0.5", ".5"), ("3–5", "3 - 5"),
    ("10:30pm", "10:30 pm"), ("1, 2, 3", "1,2,3"), ("1; 2", "1, 2"), ("978-3-16-148410-0", "9783161484100"),
    ("555-123-4567", "5551234567"), ("and/or", "and or"), ("AT&T", "AT & T"), ("COVID-19", "covid 19"),
    ("B-52", "B52"), ("C++.", "c++"), ("5!", "5"), ("-> Paris", "Paris"), ("> Paris", "Paris"),
    ("pre- and postwar", "pre and postwar"), ("5.", "5"), ("-∞", "−infinity"), ("５％", "5%"),
];

#[test]
fn marks_that_carry_meaning_count() {
    let is = |answer, reference| {
        matches(answer, reference, How::Equal, RULES, GUARDS, &mut free).unwrap()
    };
    for (one, two) in OTHERS {
        assert!(!is(one, two) && !is(two, one), "{one} is no {two}");
    }
    for (one, two) in SAME {
        assert!(is(one, two) && is(two, one), "{one} is {two}");
    }
    for [text] in rows("marks_that_carry_meaning_count") {
        let long = text.repeat(50_000);
        assert_eq!(matches(&long, "1", How::Equal, RULES, GUARDS, &mut free), Ok(false));
    }
    for [answer, reference] in rows("marks_that_carry_meaning_count_2") {
        let covers = matches(answer, reference, How::Cover, RULES, GUARDS, &mut free).unwrap();
        assert!(!covers, "{answer} does not cover {reference}");
    }
}

#[test]
fn yes_and_no_are_told_apart() {
    for (text, expected) in [
        ("Yes.", Some(true)),
        ("yes, it is not hard", Some(true)),
        ("No, never", Some(false)),
        ("none", None),
        ("Yes and no", None),
        ("不是", Some(false)),
        ("はい、そうです", Some(true)),
        ("Да", Some(true)),
        ("maybe yes", None),
        ("not true", None),
    ] {
        assert_eq!(polarity(text), expected, "{text}");
    }
    assert!(is_unanswerable("The question is unanswerable."));
    assert!(!is_unanswerable("It is answerable."));
}

#[test]
fn dates_have_one_meaning_or_several() {
    let day = |year, month, day| Reading::One(Date::new(year, Some(month), Some(day)).unwrap());
    for [text] in rows("dates_have_one_meaning_or_several") {
        assert_eq!(date::read(text, None), day(2021, 3, 5), "{text}");
    }
    assert_eq!(date::read("3/5/2021", Some(false)), day(2021, 3, 5));
    assert_eq!(date::read("5/3/2021", Some(true)), day(2021, 3, 5));
    assert_eq!(date::read("25/3/2021", None), day(2021, 3, 25));
    assert!(matches!(date::read("3/5/2021", None), Reading::Several(dates) if dates.len() == 2));
    assert!(matches!(date::read("5 March 21", None), Reading::Several(dates) if dates.len() == 2));
    for [text] in rows("dates_have_one_meaning_or_several_2") {
        assert_eq!(date::read(text, None), Reading::None, "{text}");
    }
    let days = |year, month, day| Date::new(year, Some(month), Some(day)).unwrap().days();
    assert_eq!(days(2000, 3, 1) - days(2000, 2, 1), 29);
    assert_eq!(days(2001, 1, 1) - days(2000, 1, 1), 366);
}

#[test]
fn quantities_come_to_base_units() {
    for [one, two] in rows("quantities_come_to_base_units") {
        let (Some(one_read), Some(two_read)) = (quantity::read(one), quantity::read(two)) else {
            panic!("{one} {two}")
        };
        let off = (one_read.value - two_read.value).abs() / two_read.value.abs();
        assert!(
            off < 1e-9 && one_read.dimension == two_read.dimension,
            "{one} {two}: {one_read:?} {two_read:?}"
        );
    }
    assert_ne!(quantity::read("5 m").unwrap().dimension, quantity::read("5 s").unwrap().dimension);
    assert_ne!(quantity::read("$5").unwrap().dimension, quantity::read("€5").unwrap().dimension);
    for [text] in rows("quantities_come_to_base_units_2") {
        assert_eq!(quantity::read(text), None, "{text}");
    }
}

#[test]
fn numbers_are_read_alone_and_in_lists() {
    for (text, expected) in [
        ("1,234.5", 1234.5),
        ("-3e8", -3e8),
        ("1/2", 0.5),
        ("$18", 18.0),
        ("37 %", 37.0),
        ("−2", -2.0),
        (".5", 0.5),
        ("2×10^5", 2e5),
        (r"\frac{3}{4}", 0.75),
        (r"-\dfrac34", -0.75),
        (r"\tfrac{-3}{4}", -0.75),
        (r"\frac{1,000}{8}", 125.0),
        (r"1\frac12", 1.5),
        (r"-1\frac{1}{2}", -1.5),
        (r"1 \frac{1}{2}", 1.5),
        (r"\frac{x}{2}", f64::NAN),
        (r"\frac{1}{0}", f64::NAN),
        ("½", 0.5),
        ("-1½", -1.5),
        ("2⅝", 2.625),
        (r"\sqrt{2}", f64::NAN),
        (r"3\sqrt[3]{2}", f64::NAN),
        ("3√2", f64::NAN),
        (r"10^{-3}", 1e-3),
        ("10^5", 1e5),
        ("-2^{10}", -1024.0),
        ("10⁻³", 1e-3),
        (r"3\times10^5", 3e5),
        (r"3 \times 10^{-5}", 3e-5),
        (r"3 \cdot 10^{5}", 3e5),
        ("3·10⁵", 3e5),
        ("1.5e-3", 1.5e-3),
        (r"50\%", 50.0),
        (r"\$18", 18.0),
        (r"10\,000", 1e4),
        ("10{,}000", 1e4),
        ("1 234", f64::NAN),
        ("12 apples", f64::NAN),
        ("", f64::NAN),
        ("1.2.3", f64::NAN),
    ] {
        let read = number::whole(text).unwrap_or(f64::NAN);
        assert!(
            read.to_bits() == expected.to_bits() || (read - expected).abs() < 1e-9,
            "{text}: {read}"
        );
    }
    let all = |text| number::all(text).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
    assert_eq!(all("x1 = 3, y = -4.5; then 1,000 and H2O. 5-3"), [3.0, -4.5, 1000.0, 5.0, 3.0]);
    assert_eq!(all("(1, -2, 3/4)"), [1.0, -2.0, 0.75]);
    assert_eq!(all(r"\frac{3}{4}, 1\frac12 and 5\%"), [0.75, 1.5, 5.0]);
    assert_eq!(all(r"x^2 + a_{1} = \sqrt{2} and x^{3} = 3\sqrt2, 30^\circ"), [30.0]);
    assert_eq!(all(r"\frac{x}{2}, \frac{\frac12}{3}, 4"), [4.0]);
    for [text] in rows("numbers_are_read_alone_and_in_lists") {
        assert!(number::all(&text.repeat(20_000)).len() <= 20_000);
    }
}

#[test]
fn lists_have_items() {
    for (text, expected) in [
        ("- a\n- b, c\n", vec!["a", "b, c"]),
        ("1. a\n2) b", vec!["a", "b"]),
        ("a, b and c.", vec!["a", "b", "c"]),
        ("[\"a\", \"b\"]", vec!["a", "b"]),
        ("a; b, c; d", vec!["a", "b, c", "d"]),
        ("a\nb", vec!["a", "b"]),
        ("a, b, and c", vec!["a", "b", "c"]),
        ("salt and pepper", vec!["salt", "pepper"]),
        ("", vec![]),
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
}

#[test]
fn assignments_are_best() {
    let weights = [[1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 0.0], [5.0, 0.0, 1.0]];
    let weight = |row: usize, column: usize| weights[row][column];
    let best = assignment::best(4, 3, &weight, &mut free).unwrap();
    assert_eq!(best, [None, Some(1), None, Some(0)]);
    let ordered = assignment::in_order(4, 3, &weight, &mut free).unwrap();
    let total = |pairs: &[Option<usize>]| {
        pairs
            .iter()
            .enumerate()
            .filter_map(|(row, column)| Some(weight(row, (*column)?)))
            .sum::<f64>()
    };
    assert!((total(&best) - 8.0).abs() < 1e-9 && (total(&ordered) - 5.0).abs() < 1e-9);
}
