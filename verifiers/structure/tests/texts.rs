//! LaTeX, Markdown, tables, queries, calculations, citations, actions, personal data.

mod rows;

use assay_structure::boolean::{Document, equivalent, parse};
use assay_structure::calculator::{self, Outcome, evaluate};
use assay_structure::citation::{Form, Source, report};
use assay_structure::confidence::{Rule, probability};
use assay_structure::markdown::{Kind, outline};
use assay_structure::number::Tolerance;
use assay_structure::phrase::{self, Phrases};
use assay_structure::table::{self, Notation};
use assay_structure::{formula, gui, latex, pii, timeline};

use rows::rows;

#[expect(clippy::unnecessary_wraps, reason = "the functions take one that may fail")]
fn free(_: u64) -> Result<(), ()> {
    Ok(())
}

fn action_of(text: &str) -> Result<gui::Action, &'static str> {
    gui::read(text, &|_| true)
}

#[test]
fn the_one_formula_of_a_sentence_is_found() {
    for [text, inner] in rows("the_one_formula_of_a_sentence_is_found") {
        assert_eq!(formula::in_words(text), inner);
    }
}

#[test]
fn money_is_told_from_formulas() {
    for [text, escaped] in rows("money_is_told_from_formulas") {
        assert_eq!(latex::with_money(text), escaped);
    }
}

#[test]
fn latex_balances_or_says_why() {
    for [text, expected] in rows("latex_balances_or_says_why") {
        let read = latex::balance(text, false);
        assert_eq!(read.map_or_else(|broken| broken.rule, |_| ""), expected, "{text}");
    }
    assert!(latex::balance("x_1", true).is_ok());
    assert!(latex::balance(&"{".repeat(1_000_000), false).is_err());
}

#[test]
fn formulas_are_compared_by_structure() {
    let form = |text: &str| formula::canonical(text, false).unwrap();
    for [one, two] in rows("formulas_are_compared_by_structure") {
        assert_eq!(form(one), form(two), "{one} {two}");
    }
    for [one, two] in rows("formulas_are_compared_by_structure_2") {
        assert_ne!(form(one), form(two), "{one} {two}");
    }
    for text in [
        "{",
        "}",
        "x^",
        "x^a^b",
        r"\frac{1}",
        &"{".repeat(100_000),
        &"^".repeat(100_000),
        &r"\sqrt".repeat(100_000),
    ] {
        assert!(formula::canonical(text, false).is_err(), "{}", &text[..text.len().min(20)]);
    }
    let close = formula::similarity(&form("a+b+c"), &form("a+b+d"), &mut free).unwrap();
    assert!((close - 0.8).abs() < 1e-9);
}

#[test]
fn an_outline_has_the_parts_in_order() {
    let text = "# One\n\n## Two\ntext [l](http://u)\n\n1. a\n2. b\n   - c\n\n| x | *y* |\n|---|---|\n| 1 | 2 |\n\n```Rust,ignore\nfn\n```\n# Three\n";
    let kinds: Vec<Kind> = outline(text).into_iter().map(|part| part.kind).collect();
    assert_eq!(
        kinds,
        [
            Kind::Heading { level: 1, has_content: true },
            Kind::Heading { level: 2, has_content: true },
            Kind::Link("http://u".to_owned()),
            Kind::List { ordered: true, items: 2 },
            Kind::List { ordered: false, items: 1 },
            Kind::Table { columns: vec!["x".to_owned(), "y".to_owned()], rows: 1 },
            Kind::Code("rust".to_owned()),
            Kind::Heading { level: 1, has_content: false },
        ]
    );
    assert!(outline(&"- ".repeat(100_000)).len() <= 200);
    assert!(outline(&"> [a](".repeat(50_000)).is_empty());
}

#[test]
fn tables_of_four_notations_agree() {
    let wanted = [["Name", "N"], ["a", "1,000"], ["b", "2.5 %"]];
    let wanted: table::Grid =
        wanted.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
    let exact = table::Rules { ignore_case: true, ..table::Rules::default() };
    let compare =
        |given: &table::Grid, rules| table::compare(given, &wanted, rules, &mut free).unwrap();
    for (notation, text) in [
        (
            Notation::Markdown,
            "Table:\n\n| **Name** | `n` |\n|---|--:|\n| a | 1000 |\n| b | 2.5% |\n",
        ),
        (
            Notation::Latex,
            "\\begin{tabular}{l|r}\\toprule\\textbf{Name} & N \\\\ \\midrule a & $1{,}000$ \\\\[2pt] b & 2.5\\,\\% \\\\ \\bottomrule\\end{tabular}",
        ),
        (
            Notation::Html,
            "<table><thead><tr><th>Name<th>N<tbody><tr><td><b>a</b><td>1000<tr><td>b<td>2.5&nbsp;%</table>",
        ),
        (Notation::Csv, "Name,N\na,\"1,000\"\nb,2.5%\n"),
    ] {
        let grid = table::read(text, notation).unwrap_or_else(|| panic!("{text}"));
        assert!(compare(&grid, exact).is_whole(), "{grid:?}");
    }
    let swapped = table::read("N,Name\n2.5%,b\n1001,a\n", Notation::Csv).unwrap();
    let tolerance = Tolerance { relative: 0.01, ..Tolerance::default() };
    assert_eq!(compare(&swapped, exact).right, 0);
    assert!(
        compare(&swapped, table::Rules { free_rows: true, free_columns: true, tolerance, ..exact })
            .is_whole()
    );
    let spans = table::read(
        "<table><tr><th rowspan=2>a<th colspan=2>b<tr><td>1<td>2</table>",
        Notation::Html,
    )
    .unwrap();
    assert_eq!(spans, [["a", "b", "b"], ["a", "1", "2"]]);
    let latex = "\\begin{tabular}{ccc}\\multirow{2}{*}{a} & \\multicolumn{2}{c}{b} \\\\ & 1 & 2\\end{tabular}";
    assert_eq!(table::read(latex, Notation::Latex).unwrap().len(), 2);
    assert!(
        table::read("<table><tr><td colspan=999999999>x</table>", Notation::Html).unwrap()[0].len()
            <= 1000
    );
    let copied: table::Grid = wanted.iter().chain(&wanted).cloned().collect();
    assert!(compare(&copied, exact).f1() < 0.7);
}

#[test]
fn queries_are_equal_by_truth_table() {
    let query = |text| parse(text, true).unwrap();
    for [one, two] in rows("queries_are_equal_by_truth_table") {
        assert_eq!(equivalent(&query(one), &query(two), &mut free), Ok(Some(true)), "{one}");
    }
    assert_eq!(equivalent(&query("a OR b"), &query("a AND b"), &mut free), Ok(Some(false)));
    let many = (0..17).map(|at| format!("t{at}")).collect::<Vec<_>>().join(" ");
    assert_eq!(equivalent(&query(&many), &query("a"), &mut free), Ok(None));
    let sixteen = (0..16).map(|at| format!("t{at}")).collect::<Vec<_>>().join(" ");
    assert_eq!(equivalent(&query(&sixteen), &query("t1"), &mut free), Ok(Some(false)));
    for text in [
        "",
        "()",
        "a AND",
        "AND a",
        "a OR OR b",
        "(a",
        "a)",
        "\"a",
        "NOT",
        "a[ti",
        "title:",
        &"(".repeat(100_000),
        &"NOT ".repeat(100_000),
    ] {
        assert!(parse(text, true).is_err(), "{}", &text[..text.len().min(20)]);
    }
    assert!(parse("a b", false).is_err() && parse("a -b", false).is_ok());
    let document = Document::new([("title", "Tumour growth in mice"), ("abstract", "A study.")]);
    let hits = |text| query(text).is_true(|term| document.has(term));
    assert!(
        hits("tumo*[ti] AND mice")
            && hits("\"growth in mice\"")
            && !hits("study[ti]")
            && !hits("growth AND NOT study")
    );
}

#[test]
fn calculations_are_exact() {
    let value = |text| evaluate(text).map(|fraction| format!("{fraction:?}"));
    for [one, two] in rows("calculations_are_exact") {
        assert_eq!(value(one), value(two), "{one}");
        assert!(value(one).is_some());
    }
    for text in
        ["", "1/0", "1+", "(1", "1)", "a", "9^999", "1,00", &"(".repeat(100_000), &"9".repeat(100)]
    {
        assert_eq!(value(text), None, "{}", &text[..text.len().min(20)]);
    }
    let marked = |text| {
        calculator::marked(text, "<<", ">>").into_iter().map(|one| one.outcome).collect::<Vec<_>>()
    };
    assert_eq!(
        marked("<<48/2=24>>24 <<10/3=3.33>> <<1+1=3>> <<5=5>> <<x*2=4>> <<7/2=3>>"),
        [Outcome::Exact, Outcome::Rounded, Outcome::Wrong, Outcome::Unreadable, Outcome::Wrong]
    );
    let plain =
        |text| calculator::plain(text).into_iter().map(|one| one.outcome).collect::<Vec<_>>();
    assert_eq!(
        plain(
            "She has 3 x 4 = 12 eggs, then 12 - 5 = 8. So x = 3 and 3*4 = 12 + 5 = 17. 8/2 = 2 + 2"
        ),
        [Outcome::Exact, Outcome::Wrong, Outcome::Exact, Outcome::Exact, Outcome::Exact]
    );
}

#[test]
fn citations_exist_and_quotations_stand_in_them() {
    let source = |id: &str, text: &str| Source { id: id.to_owned(), text: text.to_owned() };
    let sources = [source("1", "The cat  sat on\nthe mat, quietly."), source("2", "Dogs bark.")];
    let read = |text, form: &Form| report(text, &sources, form, 3, &mut free).unwrap();
    let one = read(
        "It says “the cat sat … quietly” [1], and more [1, 2][sic] [Doc 2] [a](b).",
        &Form::Brackets,
    );
    assert_eq!((one.cited.len(), one.mentions, one.unknown.len()), (2, 4, 0));
    assert_eq!((one.quotes.iter().filter(|(_, is)| *is).count(), one.own_words), (1, 7));
    let two = read("\"the cat sat on\" [2] [7] [1-2]", &Form::Brackets);
    assert_eq!((two.quotes[0].1, two.unknown.len(), two.own_words), (false, 1, 0));
    assert_eq!(read("Yes <cite>1; x</cite>", &Form::Tags("cite".to_owned())).unknown.len(), 1);
}

#[test]
fn actions_are_read_as_many_agents_write_them() {
    for (text, kind, point, to) in [
        (
            r#"<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [1, 2]}}</tool_call>"#,
            "click",
            Some((1.0, 2.0)),
            None,
        ),
        (
            r#"{"name": "computer_use", "arguments": "{\"action\": \"right_click\", \"coordinate\": [1, 2]}"}"#,
            "rightclick",
            Some((1.0, 2.0)),
            None,
        ),
        (
            r#"{"type": "tool_use", "name": "computer", "input": {"action": "mouse_move", "coordinate": [1, 2]}}"#,
            "move",
            Some((1.0, 2.0)),
            None,
        ),
        (
            r#"{"type": "function", "function": {"name": "click", "arguments": "{\"x\": 1, \"y\": 2}"}}"#,
            "click",
            Some((1.0, 2.0)),
            None,
        ),
        (
            r#"{"name": "mobile_use", "arguments": {"action": "swipe", "coordinate": [1, 2], "coordinate2": [3, 4]}}"#,
            "swipe",
            Some((1.0, 2.0)),
            Some((3.0, 4.0)),
        ),
        (
            r#"{"name": "mobile_use", "arguments": {"action": "system_button", "button": "Back"}}"#,
            "back",
            None,
            None,
        ),
        ("CLICK <point>1 2</point>", "click", Some((1.0, 2.0)), None),
        ("CLICK <point>[[1, 2]]</point>", "click", Some((1.0, 2.0)), None),
        ("click<|box_start|>(1,2)<|box_end|>", "click", Some((1.0, 2.0)), None),
        ("click(start_box='<|box_start|>(1,2)<|box_end|>')", "click", Some((1.0, 2.0)), None),
        ("CLICK <point>1 2 3 4</point>", "click", Some((2.0, 3.0)), None),
        (
            "DRAG <point>1 2</point> to <point>3 4</point>",
            "drag",
            Some((1.0, 2.0)),
            Some((3.0, 4.0)),
        ),
        ("pyautogui.click(1, 2, button='right')", "rightclick", None, None),
        ("pyautogui.click(x=1, y=2, clicks=2)", "doubleclick", Some((1.0, 2.0)), None),
    ] {
        let action = action_of(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(action.kind, kind, "{text}");
        if kind != "rightclick" || point.is_some() {
            assert_eq!((action.point, action.to), (point, to), "{text}");
        }
    }
}

#[test]
fn words_and_unknown_actions_are_none() {
    let text = |text| action_of(text).ok().and_then(|action| action.text);
    assert_eq!(text("TYPE [hello world]").as_deref(), Some("hello world"));
    assert_eq!(action_of("SCROLL [DOWN]").unwrap().direction.as_deref(), Some("down"));
    let scrolls = r#"{"name": "computer_use", "arguments": {"action": "scroll", "pixels": -300}}"#;
    assert_eq!(action_of(scrolls).unwrap().direction.as_deref(), Some("down"));
    for [text] in rows("words_and_unknown_actions_are_none") {
        assert_eq!(action_of(text), Err("nothing-found"), "{text}");
    }
    assert_eq!(
        action_of("CLICK <point>1 2</point>\nCLICK <point>3 4</point>"),
        Err("several-actions")
    );
    assert!(action_of(&"CLICK [".repeat(100_000)).is_err());
}

#[test]
fn actions_are_read_and_compared() {
    for [text] in rows("actions_are_read_and_compared") {
        let action = action_of(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!((action.kind, action.point), ("click", Some((10.0, 20.0))), "{text}");
    }
    let typed = action_of("type(content='it\\'s (a) test')").unwrap();
    assert_eq!(typed.text.as_deref(), Some("it's (a) test"));
    assert_eq!(action_of("hotkey(key='Ctrl+C')").unwrap().keys, ["c", "ctrl"]);
    assert_eq!(action_of("scroll('down')").unwrap().direction.as_deref(), Some("down"));
    assert_eq!(action_of("click(1, 2) click(3, 4)"), Err("several-actions"));
    assert_eq!(action_of("I click it"), Err("nothing-found"));
    assert!(action_of(&"{".repeat(1_000_000)).is_err());
    let wanted =
        gui::of_value(&serde_json::json!({"action": "click", "bbox": [0, 0, 20, 30]}), &|_| true)
            .unwrap();
    let rules = gui::Match { radius: 5.0, text_share: 0.5 };
    let fits = |text| gui::compare(&action_of(text).unwrap(), &wanted, rules);
    assert_eq!(
        (fits("click(1, 2)"), fits("click(21, 2)"), fits("wait()")),
        ((true, true), (true, false), (false, false))
    );
}

#[test]
fn timelines_have_order_and_distance() {
    let events = |text: &str| {
        text.lines().filter_map(|line| timeline::event(line, None)).collect::<Vec<_>>()
    };
    let wanted = events(
        "1914-07-28: World War I begins\n1918-11-11: Armistice signed\n1939-09-01: World War II begins",
    );
    assert_eq!(wanted.len(), 3);
    let given = events(
        "1. **28 July 1914** - World War I begins\n- November 1918: the armistice is signed\nIntro\nWorld War II begins (1 September 1939)",
    );
    let agreement = timeline::compare(&given, &wanted, 365.0, &mut free).unwrap();
    assert!(
        (agreement.events, agreement.order) == (1.0, 1.0) && agreement.distance > 0.99,
        "{agreement:?}"
    );
    let turned: Vec<_> = wanted.iter().rev().cloned().collect();
    assert!(timeline::compare(&turned, &wanted, 365.0, &mut free).unwrap().order < 0.1);
    assert!(timeline::compare(&[], &wanted, 365.0, &mut free).unwrap().events < 0.1);
}

#[test]
fn confidence_is_scored_by_proper_rules() {
    assert_eq!(probability("80%", 1.0), Some(0.8));
    assert_eq!(
        (probability("8", 10.0), probability("8/10", 10.0), probability("1.2", 1.0)),
        (Some(0.8), Some(0.8), None)
    );
    assert_eq!(probability("-0.1", 1.0), None);
    let close = |one: f64, two: f64| (one - two).abs() < 1e-12;
    assert!(
        close(Rule::Brier.score(0.8, true, 0.01), 0.96)
            && close(Rule::Rlcr.score(0.8, false, 0.01), -0.64)
    );
    assert!(
        close(Rule::Log.score(0.0, true, 0.01), 0.01_f64.ln())
            && close(Rule::Linear.score(0.75, false, 0.01), 0.25)
    );
}

#[test]
fn phrases_are_found_in_many_languages() {
    for (text, kind) in [
        ("I’m sorry, but I can’t help with that.", Phrases::Refusal),
        ("Es tut mir leid, aber ich kann das nicht.", Phrases::Refusal),
        ("对不起，我无法提供", Phrases::Refusal),
        ("Je ne sais pas", Phrases::Unknown),
        ("I don't\nknow", Phrases::Unknown),
        ("Не знаю.", Phrases::Unknown),
        ("Ich weiß es nicht", Phrases::Unknown),
        ("It cannot be determined.", Phrases::Unanswerable),
    ] {
        assert_eq!(phrase::find(text, &[kind]).map(|found| found.kind), Some(kind), "{text}");
    }
    assert_eq!(phrase::find("The answer is 4.", &[Phrases::Refusal, Phrases::Unknown]), None);
    assert_eq!(phrase::find("Lei è vegano, non sono.", &[Phrases::Unknown]), None);
}

#[test]
fn addresses_are_told_from_versions() {
    let ip = |text: &str| {
        let found = pii::find(text).into_iter().find(|(kind, _)| *kind == pii::Kind::Ip);
        found.map_or_else(String::new, |(_, span)| text[span].to_owned())
    };
    for [text, address] in rows("addresses_are_told_from_versions") {
        assert_eq!(ip(text), address, "{text}");
    }
}

#[test]
fn personal_data_is_found_by_its_form() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("data/pii.tsv").lines() {
        let (kind, text) = line.split_once('\t').unwrap();
        let found: Vec<String> = pii::find(text)
            .into_iter()
            .map(|(kind, _)| format!("{kind:?}").to_lowercase())
            .collect();
        count += 1;
        if found.join(" ") != kind {
            wrong.push(format!("{text}: {found:?}, not {kind}"));
        }
    }
    assert!(wrong.len() * 20 <= count, "{} of {count}: {wrong:#?}", wrong.len());
}
