//! Markup and data formats: what is accepted, and where what is refused breaks.

mod rows;

use assay_structure::format::{Format, typed};
use assay_structure::{Break, DEPTH_MAX, csv, markup, schema_paths, svg};
use serde_json::json;

use rows::rows;

fn rule<T: std::fmt::Debug>(read: Result<T, Break>) -> &'static str {
    read.map_or_else(|broken| broken.rule, |_| "")
}

#[test]
fn xml_is_well_formed_or_says_why() {
    for [text, expected] in rows("xml_is_well_formed_or_says_why") {
        assert_eq!(rule(markup::xml(text)), expected, "{text}");
    }
    let broken = markup::xml("<a>\n  <é></b>\n</a>").unwrap_err();
    assert_eq!((broken.place("<a>\n  <é></b>\n</a>"), broken.span), ((2, 6), 10..14));
}

#[test]
fn html_ends_what_may_be_left_out() {
    for [text, expected] in rows("html_ends_what_may_be_left_out") {
        assert_eq!(rule(markup::html(text)), expected, "{text}");
    }
}

#[test]
fn an_svg_image_draws_something_and_leads_nowhere() {
    let image = |inner: &str| {
        format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>{inner}</svg>")
    };
    for [inner, expected] in rows("an_svg_image_draws_something_and_leads_nowhere") {
        let text = image(inner);
        assert_eq!(rule(svg::check(&markup::xml(&text).unwrap())), expected, "{inner}");
    }
    assert_eq!(rule(svg::check(&markup::xml("<svg/>").unwrap())), "root");
}

#[test]
fn csv_is_strict() {
    assert_eq!(
        csv::read("a,b\r\n\"1,\"\"x\"\"\n\",\n", ',').unwrap(),
        [["a", "b"], ["1,\"x\"\n", ""]]
    );
    assert_eq!(csv::read("a\tb\n1\t", '\t').unwrap(), [["a", "b"], ["1", ""]]);
    for [text, expected] in rows("csv_is_strict") {
        assert_eq!(rule(csv::read(text, ',')), expected, "{text}");
    }
}

#[test]
fn formats_give_one_value() {
    let wanted = json!({"name": "Ada", "tags": ["x", "y"], "age": 36, "ok": true});
    for (format, text) in [
        (Format::Json, r#"{"name": "Ada", "tags": ["x", "y"], "age": 36, "ok": true}"#),
        (Format::Yaml, "name: Ada\ntags: &t\n- x\n- 'y'\nage: 36\nok: true\n"),
        (Format::Toml, "name = 'Ada'\ntags = ['x', 'y']\nage = 36\nok = true\n"),
    ] {
        assert_eq!(format.read(text).unwrap(), wanted, "{format:?}");
    }
    let schema = json!({"properties": {"tags": {"type": "array"}, "age": {"type": "integer"}, "ok": {"type": "boolean"}}});
    let xml = "<p><name>Ada</name><tags>x</tags><tags>y</tags><age>36</age><ok>true</ok></p>";
    assert_eq!(typed(Format::Xml.read(xml).unwrap(), &schema, &schema), wanted);
    let rows = json!({"items": {"properties": {"n": {"type": "number"}}}});
    let csv = Format::Csv.read("k,n\na,1.5\n").unwrap();
    assert_eq!(typed(csv, &rows, &rows), json!([{"k": "a", "n": 1.5}]));
    assert_eq!(
        Format::Xml.read("<a b='1'>t<c/></a>").unwrap(),
        json!({"@b": "1", "#text": "t", "c": ""})
    );
    for (format, text) in [
        (Format::Yaml, "a: 1\na: 2"),
        (Format::Yaml, "a: [1"),
        (Format::Yaml, "--- a\n--- b\n"),
        (Format::Yaml, "a: !custom b"),
        (Format::Toml, "a = 1\na = 2"),
        (Format::Json, "{'a': 1}"),
        (Format::Csv, "a,a\n1,2"),
    ] {
        assert!(format.read(text).is_err(), "{text}");
    }
    let broken = Format::Json.read("{\n \"a\": }").unwrap_err();
    assert_eq!(broken.place("{\n \"a\": }"), (2, 7));
}

#[test]
fn hostile_texts_are_refused_soon() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for (format, text) in [
        (Format::Json, deep("[", "]")),
        (Format::Yaml, deep("[", "]")),
        (Format::Yaml, deep("- ", "")),
        (Format::Toml, format!("a = {}", deep("[", "]"))),
        (Format::Xml, deep("<a>", "</a>")),
        (Format::Xml, "<".repeat(1_000_000)),
        (
            Format::Xml,
            format!(
                "<a {}/>",
                (0..5000).map(|at| format!("b{at}='' ")).collect::<Vec<_>>().concat()
            ),
        ),
        (Format::Yaml, bomb()),
        (Format::Yaml, format!("a: &a {}\nb: [{}]", "x".repeat(300_000), "*a, ".repeat(10_000))),
        (Format::Csv, format!("a,b\n{}", "\"".repeat(1_000_001))),
    ] {
        assert!(format.read(&text).is_err(), "{format:?} {}", &text[..40]);
    }
    let chain =
        (1..200).map(|at| format!("a{at}: &a{at} [*a{}]\n", at - 1)).collect::<Vec<_>>().concat();
    assert!(Format::Yaml.read(&format!("a0: &a0 []\n{chain}")).is_err(), "deeper than {DEPTH_MAX}");
    assert!(markup::html(&deep("<div>", "</div>")).is_err());
    assert!(markup::html(&"<p>".repeat(100_000)).is_ok());
}

/// Billion laughs.
fn bomb() -> String {
    let level = |at: u8| {
        let name = char::from(b'a' + at);
        let before = char::from(b'a' + at - 1);
        format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(", "))
    };
    format!("a: &a [x, x, x, x, x, x, x, x, x]\n{}", (1..12).map(level).collect::<String>())
}

#[test]
fn schema_paths_cannot_be_diluted() {
    let schema = json!({
        "required": ["a", "b"],
        "properties": {"a": {"type": "string"}, "b": {"items": {"required": ["c"], "properties": {"c": {}}}}},
    });
    let share = |value, errors: &[&str]| {
        let errors: Vec<String> = errors.iter().map(|at| (*at).to_owned()).collect();
        let share =
            schema_paths::share(&schema, &value, &errors, &mut |_| Ok::<(), ()>(())).unwrap();
        (share.met, share.all)
    };
    assert_eq!(share(json!({"a": "x", "b": [{"c": 1}]}), &[]), (5, 5));
    assert_eq!(share(json!({}), &[""]), (0, 3));
    assert_eq!(share(json!({"a": 1, "b": []}), &["/a"]), (2, 3));
    let padded: Vec<_> = std::iter::repeat_n(json!({"c": 1}), 100).chain([json!({})]).collect();
    assert_eq!(share(json!({"a": "x", "b": padded}), &["/b/100"]), (3, 5));
}

#[test]
fn yaml_says_where_it_breaks() {
    for (text, place) in [
        ("a: 1\nb: [1, 2\n", (2, 4)),
        ("a: 1\n b: 2\n", (2, 3)),
        ("é: 1\na: 1\né: 2\n", (3, 1)),
        ("a: é\nb: \"x\nc: 1", (2, 4)),
        ("é: [1,\r\n é: }", (1, 4)),
        ("a: *x\n", (1, 4)),
        ("a: é: c\n", (1, 5)),
        ("a: yes\nc: ]\n", (2, 4)),
        ("a: !!foo é\n", (1, 10)),
    ] {
        let broken = Format::Yaml.read(text).unwrap_err();
        assert_eq!(broken.place(text), place, "{text}: {broken}");
        assert!(!broken.what.contains(" line "), "{}", broken.what);
    }
    let broken = Format::Json.read("\u{feff}{\"é\": x}").unwrap_err();
    assert_eq!(broken.span, 10..11);
}
