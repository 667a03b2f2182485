//! Filters, tests and methods of templates, each held to the size of what it reads and makes.

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, tests};
use minijinja_contrib::pycompat;

use super::account::{self, ELEMENT_BYTES, Weight};

/// The widest column that a format may ask for.
const WIDTH_MAX: usize = 10_000;

/// Replaces what an environment has by what pays.
pub(super) fn register(environment: &mut Environment<'static>) {
    environment.remove_global("debug");
    for (name, filter) in all_filters() {
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = args.into_values();
                before(name, &args)?;
                let made = filter.call(state, &args)?;
                account::fits(&made)?;
                if NESTING.contains(&name) {
                    Weight::of(&made)?;
                }
                Ok::<_, Error>(made)
            },
        );
    }
    for (name, test) in all_tests() {
        environment.add_test(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            for value in &args {
                account::read(value)?;
            }
            test.call(state, &args).map(|found| found.is_true())
        });
    }
    let dict = Value::from_function(minijinja::functions::dict);
    let namespace = Value::from_function(minijinja::functions::namespace);
    for (name, function) in [("dict", dict), ("namespace", namespace)] {
        environment.add_function(
            name,
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = args.into_values();
                for value in &args {
                    let weight = Weight::of(value)?;
                    account::keep(weight.nodes.saturating_mul(ELEMENT_BYTES))?;
                    if weight.namespaces {
                        return Err(account::refuse("a namespace within another one"));
                    }
                }
                function.call(state, &args)
            },
        );
    }
    environment.set_unknown_method_callback(|state, value, method, args| {
        let mut all = vec![value.clone()];
        all.extend(args.iter().cloned());
        let name = match method {
            "strip" | "lstrip" | "rstrip" => "trim",
            "splitlines" => "lines",
            "join" => {
                all.reverse();
                "join"
            }
            "keys" | "values" | "items" => "items",
            "get" => "attr",
            name => name,
        };
        before(name, &all)?;
        let made = pycompat::unknown_method_callback(state, value, method, args)?;
        if method != "get" {
            account::fits(&made)?;
        }
        Ok(made)
    });
}

/// Filters that look at no more than one element of a list.
const CHEAP: [&str; 14] = [
    "abs", "attr", "bool", "count", "d", "default", "first", "float", "int", "last", "length",
    "round", "safe", "items",
];
/// Filters that walk through a list, and not into what it holds.
const SHALLOW: [&str; 11] = assay_math::words::list(
    "batch chain list map reject rejectattr reverse select selectattr slice zip",
);
/// Filters that take a text for the list of its characters, and those of them that keep that list.
const WALKING: [&str; 3] = ["join", "max", "min"];
const COLLECTING: [&str; 14] = assay_math::words::list(
    "batch chain dictsort groupby map reject rejectattr select selectattr slice sort sum unique zip",
);
/// Filters whose value nests deeper than what they were given.
const NESTING: [&str; 7] = ["batch", "slice", "groupby", "zip", "dictsort", "chain", "list"];

fn all_filters() -> Vec<(&'static str, Value)> {
    macro_rules! table {
        ($($name:ident),*) => {
            vec![$((stringify!($name), Value::from_function(filters::$name))),*]
        };
    }
    let mut table = table![
        abs, attr, batch, bool, capitalize, chain, default, dictsort, escape, first, float, format,
        groupby, indent, int, items, join, last, length, lines, list, lower, map, max, min, pprint,
        reject, rejectattr, replace, reverse, round, safe, select, selectattr, slice, sort, split,
        string, sum, title, tojson, trim, unique, upper, zip
    ];
    table.extend([
        ("count", Value::from_function(filters::length)),
        ("d", Value::from_function(filters::default)),
        ("e", Value::from_function(filters::escape)),
    ]);
    table
}

/// Those tests that look into their values.
fn all_tests() -> Vec<(&'static str, Value)> {
    macro_rules! table {
        ($($function:ident: $($name:literal),*;)*) => {
            vec![$($(($name, Value::from_function(tests::$function))),*),*]
        };
    }
    table![
        is_eq: "eq", "equalto", "==";
        is_ne: "ne", "!=";
        is_lt: "lt", "lessthan", "<";
        is_le: "le", "<=";
        is_gt: "gt", "greaterthan", ">";
        is_ge: "ge", ">=";
        is_in: "in";
        is_lower: "lower";
        is_upper: "upper";
        is_startingwith: "startingwith";
        is_endingwith: "endingwith";
    ]
}

/// Pays for what a filter reads, and holds it to what it is about to make.
fn before(name: &str, args: &[Value]) -> Result<(), Error> {
    let mut weight = Weight::default();
    for (at, value) in args.iter().enumerate() {
        match value.as_str() {
            Some(text) => {
                account::read_text(text)?;
                weight.text = weight.text.saturating_add(text.len());
                let collects = COLLECTING.contains(&name);
                let takes_many = ["chain", "zip"].contains(&name);
                if (collects || WALKING.contains(&name)) && (at == 0 || takes_many) {
                    let count = text.chars().count();
                    account::work(count)?;
                    weight.nodes = weight.nodes.saturating_add(count);
                    if collects {
                        account::room(count.saturating_mul(ELEMENT_BYTES))?;
                    }
                }
            }
            None if CHEAP.contains(&name) => {}
            None if SHALLOW.contains(&name) => {
                let count = if value.as_object().is_some() { account::elements(value)? } else { 0 };
                account::work(count)?;
                account::room(count.saturating_mul(ELEMENT_BYTES))?;
            }
            None => {
                let own = account::read(value)?;
                weight.text = weight.text.saturating_add(own.text);
                weight.nodes = weight.nodes.saturating_add(own.nodes);
                weight.depth = weight.depth.max(own.depth);
            }
        }
        if at == 0 && name == "first" {
            return Ok(());
        }
    }
    let text = |at: usize| args.get(at).and_then(Value::as_str).unwrap_or_default();
    let subject = text(0);
    match name {
        "batch" | "slice" => account::room(number(args).saturating_mul(ELEMENT_BYTES)),
        "indent" => account::room(
            number(args).saturating_mul(1 + subject.matches('\n').count()) + subject.len(),
        ),
        "replace" => account::room(replaced(subject, text(1), text(2))),
        "split" | "lines" | "list" => {
            account::room(pieces(name, args).saturating_mul(ELEMENT_BYTES))
        }
        "join" => {
            let joiners = weight.nodes.saturating_mul(joiner(args));
            account::room(weight.printed(0).saturating_add(joiners))
        }
        "trim" => account::work(subject.len().saturating_mul(text(1).chars().count()) / 16),
        "pprint" => account::room(weight.printed(8)),
        "tojson" => {
            let escapes = weight.text.saturating_mul(4);
            account::room(weight.printed(number(args)).saturating_add(escapes))
        }
        "string" => account::room(weight.printed(0)),
        "groupby" | "unique" | "sort" | "dictsort" | "sum" => {
            account::work(weight.nodes.saturating_mul(8).saturating_add(weight.text / 2))?;
            account::room(weight.nodes.saturating_mul(2 * ELEMENT_BYTES))
        }
        "format" => formatted(subject, args, weight),
        "upper" | "lower" | "title" | "capitalize" | "escape" | "e" | "reverse" => {
            account::room(weight.printed(0).saturating_mul(3))
        }
        _ => Ok(()),
    }
}

/// The largest number among the arguments, the named ones included.
fn number(args: &[Value]) -> usize {
    let named = args.last().and_then(|value| Kwargs::try_from(value.clone()).ok());
    let named = named.iter().flat_map(|named| {
        named.args().filter_map(|name| named.peek::<Value>(name).ok()).collect::<Vec<_>>()
    });
    let all = args.iter().skip(1).cloned().chain(named);
    let sizes = all.filter_map(|value| i128::try_from(value).ok());
    sizes.map(|size| usize::try_from(size).unwrap_or(0)).max().unwrap_or(0)
}

/// Bytes of the longest text after the first argument.
fn joiner(args: &[Value]) -> usize {
    let named = args.iter().skip(1).filter_map(|value| Weight::of(value).ok());
    named.map(|weight| weight.text).max().unwrap_or(0)
}

/// Bytes of a text with one part replaced by another.
fn replaced(subject: &str, from: &str, to: &str) -> usize {
    let count = if from.is_empty() { subject.len() + 1 } else { subject.matches(from).count() };
    subject.len().saturating_add(count.saturating_mul(to.len()))
}

/// Into how many pieces a text is taken.
fn pieces(name: &str, args: &[Value]) -> usize {
    let Some(subject) = args.first().and_then(Value::as_str) else { return 0 };
    match (name, args.get(1).and_then(Value::as_str)) {
        ("lines", _) => 1 + subject.matches('\n').count(),
        ("list", _) => subject.len(),
        (_, Some("")) => 2 + subject.len(),
        (_, Some(by)) => 1 + subject.matches(by).count(),
        (_, None) => subject.split_whitespace().count(),
    }
}

/// Holds a format to its widths, and to what each place may be filled with.
fn formatted(format: &str, args: &[Value], weight: Weight) -> Result<(), Error> {
    let places = format.matches(['%', '{']).count();
    if places == 0 {
        return Ok(());
    }
    let runs = format.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let written = runs.map(|run| run.parse::<usize>().unwrap_or(usize::MAX)).max().unwrap_or(0);
    // A width may be the value of another argument.
    let given =
        if format.contains('*') || format.matches('{').count() > 1 { number(args) } else { 0 };
    let width = if given > WIDTH_MAX && format.contains(['*', ':']) { given } else { written };
    if width > WIDTH_MAX {
        return Err(account::refuse(format!(
            "a format asks for a width of {width}; at most {WIDTH_MAX} are allowed"
        )));
    }
    let each = weight.printed(0).max(width).max(512);
    account::room(places.saturating_mul(each).saturating_add(format.len()))
}
