//! Actions on a graphical interface, as JSON or as a function call, compared with the wanted one.

use serde_json::{Deserializer, Map, Value};

use crate::answer::{self, Rules, normalised};
use crate::{has_word, number};

/// A point, in the units in which it is written.
pub type Point = (f64, f64);

/// An action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// Its kind, by the first name in [`KINDS`].
    pub kind: &'static str,
    /// Where it acts; the centre where a box is given.
    pub point: Option<Point>,
    /// Where it ends, of a drag.
    pub to: Option<Point>,
    /// The box that it must hit: left, top, right, bottom.
    pub target: Option<[f64; 4]>,
    /// What is typed, opened or answered.
    pub text: Option<String>,
    /// `up`, `down`, `left` or `right`.
    pub direction: Option<String>,
    /// Keys in lower case, sorted.
    pub keys: Vec<String>,
    /// What else says where or how, by the first name in `NAMED`, in lower case.
    pub named: Vec<(&'static str, String)>,
    /// The first argument that is not understood.
    pub odd: Option<String>,
}

/// Kinds of actions with their names, as agents write them; blanks, hyphens and case do not count.
pub const KINDS: [&str; 18] = [
    "click leftclick tap singleclick lclick",
    "doubleclick leftdouble doubletap",
    "tripleclick",
    "rightclick rightsingle",
    "middleclick",
    "move mousemove moveto hover",
    "longpress pressandhold longclick",
    "type input write inputtext typetext typewrite fill entertext settext",
    "scroll scrollscreen",
    "swipe flick",
    "drag dragto leftclickdrag draganddrop",
    "key press hotkey keypress presskey keycombination keyboard",
    "systembutton",
    "open openapp launch launchapp",
    "wait sleep",
    "back pressback navigateback goback",
    "home presshome navigatehome",
    "finish finished done complete terminate answer stop",
];

/// Members of JSON and names of arguments that say the kind.
const KIND_KEYS: [&str; 5] = ["action", "action_type", "type", "name", "function"];
/// Those that hold the arguments.
const HOLDERS: [&str; 6] = ["arguments", "args", "parameters", "action_input", "params", "input"];
/// What the other members of a call say of themselves.
const CALLS: &str = "function tool_use tool_call action computer computer_use mobile_use";
/// Names of what does not say where or how: why, when, and how long.
const NOTES: &str = "thought thoughts thinking reasoning reason rationale explanation comment step time duration seconds \
                     interval delay wait_ms";
/// Arguments that are compared as they are written, by all their names.
const NAMED: [&str; 4] =
    ["bid element element_id node_id id ref index mark", "status goal_status", "url", "modifiers"];
const TEXT_KEYS: &str = "text content value input_text string app app_name message answer";
const KEY_KEYS: &str = "key keys hotkey button";
/// Marks around a point.
const POINT_MARKS: [(&str, &str); 2] = [("<point>", "</point>"), ("<|box_start|>", "<|box_end|>")];
const POINT_KEYS: &str = "start_coordinate point coordinate coordinates position start_box start \
     start_point startcoordinate";
const END_KEYS: &str = "end_box end end_point to end_coordinate target_point coordinate2 \
     coordinate";
/// How far to scroll; above zero is upwards.
const SCROLL_KEYS: &str = "pixels clicks amount scroll_amount distance";
const BOX_KEYS: &str = "box bbox bounding_box target_box";

/// The most places at which an action is tried.
const TRIES_MAX: usize = 32;
/// The longest name of an action.
const NAME_BYTES_MAX: usize = 40;

/// The action that a text gives. `Err` says why there is none: `nothing-found`, `several-actions`,
/// `duplicate-key` where a key is written twice in its JSON, as `is_unique` says: readers disagree on which of two values
/// counts.
/// Linear in the text times `TRIES_MAX`.
pub fn read(text: &str, is_unique: &dyn Fn(&str) -> bool) -> Result<Action, &'static str> {
    let mut found = Vec::new();
    let (mut at, mut tries) = (0, 0);
    while let Some(start) =
        text.get(at..).and_then(|rest| rest.find('{')).filter(|_| tries < TRIES_MAX)
    {
        let start = at + start;
        tries += 1;
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        at = start + if value.is_some() { values.byte_offset() } else { 1 };
        let action = value.as_ref().and_then(|value| of_value(value, is_unique));
        if action.is_some() && !is_unique(&text[start..at]) {
            return Err("duplicate-key");
        }
        found.extend(action);
    }
    if found.is_empty() {
        found.extend(calls(text));
    }
    if found.is_empty() {
        found.extend(marked(text));
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(action), None) => Ok(action),
        (None, _) => Err("nothing-found"),
        _ => Err("several-actions"),
    }
}

/// The action that an object describes: with its arguments beside its name, or in a call of a tool such as
/// `computer_use` whose arguments name it. `None` where it names no known kind.
pub fn of_value(value: &Value, is_unique: &dyn Fn(&str) -> bool) -> Option<Action> {
    of_members(value.as_object()?, is_unique)
}

fn of_members(members: &Map<String, Value>, is_unique: &dyn Fn(&str) -> bool) -> Option<Action> {
    let mut kind = None;
    for key in KIND_KEYS {
        match members.get(key) {
            None => continue,
            // {"action": {"type": "click", ...}}
            Some(Value::Object(inner)) => {
                return of_members(&beside(inner.clone(), members, true), is_unique);
            }
            Some(name) => kind = name.as_str().and_then(self::kind),
        }
        // What calls itself an action is one; {"type": "function", "name": "click"} may be called so.
        if kind.is_some() || key.starts_with("action") {
            break;
        }
    }
    let held = HOLDERS.iter().find_map(|key| members.get(*key));
    let inner = match held {
        Some(Value::Object(held)) => held.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok().filter(|_| is_unique(text))?,
        Some(other) => Map::from_iter([("point".to_owned(), other.clone())]),
        None => Map::new(),
    };
    match kind {
        Some(kind) => Some(of_arguments(kind, beside(inner, members, held.is_some()))),
        // {"name": "computer_use", "arguments": {"action": "left_click", ...}}
        None if held.is_some() && !members.contains_key("action") => {
            inner.get("action")?.as_str()?;
            let tool = members.iter().filter(|(name, _)| *name != "name");
            let outer = tool.map(|(name, value)| (name.clone(), value.clone())).collect();
            of_members(&beside(inner, &outer, true), is_unique)
        }
        None => None,
    }
}

/// Arguments, with those beside the object that holds them. What says that there is a call, and which, is
/// none.
fn beside(
    mut all: Map<String, Value>,
    outer: &Map<String, Value>,
    is_held: bool,
) -> Map<String, Value> {
    for (name, value) in outer {
        let says_kind = |value: &str| kind(value).is_some() || has_word(CALLS, value);
        let is_label = KIND_KEYS.contains(&name.as_str()) && value.as_str().is_none_or(says_kind);
        let is_call = HOLDERS.contains(&name.as_str())
            || is_held && ["id", "call_id"].contains(&name.as_str());
        if !(is_label || is_call) {
            all.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    all
}

fn kind(name: &str) -> Option<&'static str> {
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let of = |names: &&'static str| names.split(' ').any(|one| one == plain);
    KINDS.iter().find(|names| of(names)).and_then(|names| names.split(' ').next())
}

/// Arguments that are left to read, and the first that cannot be.
struct Arguments {
    left: Map<String, Value>,
    odd: Option<String>,
}

impl Arguments {
    /// The first argument of these names, as `read` reads it.
    fn take<T>(&mut self, keys: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let named = |key: &str| self.left.keys().find(|name| name.eq_ignore_ascii_case(key));
        let name = keys.split(' ').find_map(named)?.clone();
        let found = read(&self.left.remove(&name)?);
        if found.is_none() {
            self.odd.get_or_insert(name);
        }
        found
    }

    /// The point of two arguments.
    fn pair(&mut self, x: &str, y: &str) -> Option<Point> {
        match (self.take(x, number), self.take(y, number)) {
            (Some(x), Some(y)) => Some((x, y)),
            (None, None) => None,
            _ => {
                self.odd.get_or_insert_with(|| x.replace(' ', ""));
                None
            }
        }
    }

    /// The kind as its button, its clicks and its keys have it, and the keys, sorted.
    fn kind(&mut self, kind: &'static str) -> (&'static str, Vec<String>) {
        let takes_keys = ["key", "systembutton"].contains(&kind);
        let keys = if takes_keys { self.take(KEY_KEYS, keys_of) } else { None };
        let mut keys = keys.unwrap_or_default();
        let (button, clicks) = if takes_keys || kind == "scroll" {
            (None, None)
        } else {
            let buttons = ["left", "right", "middle"];
            let button = |value: &Value| buttons.into_iter().find(|one| *one == lower(value));
            (self.take("button", button), self.take("clicks num_clicks", number))
        };
        let kind = match (kind, button, clicks, keys.first().map(String::as_str)) {
            ("click", Some("right"), ..) => "rightclick",
            ("click", Some("middle"), ..) => "middleclick",
            ("click", _, Some(2.0), _) => "doubleclick",
            ("click", _, Some(3.0), _) => "tripleclick",
            ("systembutton", _, _, Some("back")) => "back",
            ("systembutton", _, _, Some("home")) => "home",
            ("systembutton", ..) => "key",
            (kind, ..) => kind,
        };
        if kind != "key" {
            keys.clear();
        }
        keys.sort();
        (kind, keys)
    }
}

fn of_arguments(kind: &'static str, members: Map<String, Value>) -> Action {
    let mut all = Arguments { left: members, odd: None };
    all.left.retain(|name, value| !(value.is_null() || has_word(NOTES, &name.to_lowercase())));
    let (kind, keys) = all.kind(kind);
    let target = all.take(BOX_KEYS, |value| <[f64; 4]>::try_from(numbers(value)?).ok());
    let target = target.filter(|[left, top, right, bottom]| {
        let is_box = left <= right && top <= bottom;
        if !is_box {
            all.odd.get_or_insert_with(|| "box".to_owned());
        }
        is_box
    });
    let ends = !kind.ends_with("click") && kind != "longpress";
    let spread =
        all.take(POINT_KEYS, |value| numbers(value).filter(|found| centre(found).is_some()));
    let to = if ends {
        let end = all.take(END_KEYS, |value| centre(&numbers(value)?));
        end.or_else(|| all.pair("x2", "y2"))
    } else {
        None
    };
    // drag(1, 2, 3, 4)
    let (point, to) = match (spread.as_deref(), to) {
        (Some(&[x, y, x2, y2]), None) if ["drag", "swipe"].contains(&kind) => {
            (Some((x, y)), Some((x2, y2)))
        }
        (Some(found), to) => (centre(found), to),
        (None, to) => (all.pair("x x1", "y y1").or_else(|| target.map(middle)), to),
    };
    let far = |value: &Value| number(value).filter(|far| *far != 0.0);
    let far = if kind == "scroll" { all.take(SCROLL_KEYS, far) } else { None };
    let named = |names: &'static str| {
        Some((names.split(' ').next()?, all.take(names, |value| Some(lower(value)))?))
    };
    Action {
        kind,
        point,
        to,
        target,
        keys,
        named: NAMED.into_iter().filter_map(named).collect(),
        text: all.take(TEXT_KEYS, plain),
        direction: all
            .take("direction scroll_direction", |value| value.as_str().map(|_| lower(value)))
            .or_else(|| far.map(|far| if far > 0.0 { "up" } else { "down" }.to_owned())),
        odd: all.odd.or_else(|| all.left.keys().next().cloned()),
    }
}

/// A text, or a number as one.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value as it is compared.
fn lower(value: &Value) -> String {
    plain(value).unwrap_or_else(|| value.to_string()).trim().to_lowercase()
}

/// Keys of a list, or of a text such as `ctrl+c`.
fn keys_of(value: &Value) -> Option<Vec<String>> {
    let texts: Vec<&str> = match value {
        Value::Array(values) => values.iter().map(Value::as_str).collect::<Option<_>>()?,
        value => value.as_str()?.split(['+', ' ', ',']).collect(),
    };
    let same = |key: &str| match key {
        "control" => "ctrl".to_owned(),
        "return" => "enter".to_owned(),
        "escape" => "esc".to_owned(),
        "command" | "meta" | "super" => "cmd".to_owned(),
        key => key.to_owned(),
    };
    let keys = texts.into_iter().map(|key| same(key.trim().to_lowercase().as_str()));
    Some(keys.filter(|key| !key.is_empty()).collect()).filter(|keys: &Vec<_>| !keys.is_empty())
}

/// The one number of a value.
fn number(value: &Value) -> Option<f64> {
    let [number] = <[f64; 1]>::try_from(numbers(value)?).ok()?;
    Some(number)
}

/// The numbers of a value: a list, a point as an object, or a text such as `(10, 20)` or
/// `<point>10 20</point>`.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Number(number) => Some(vec![number.as_f64()?]),
        Value::String(text) => {
            let found = number::all(&text.replace([',', '_'], " "));
            Some(found.into_iter().map(|(_, number)| number).collect())
        }
        Value::Array(values) => values.iter().map(Value::as_f64).collect(),
        Value::Object(members) if members.len() == 2 => {
            ["x", "y"].iter().map(|key| members.get(*key)?.as_f64()).collect()
        }
        _ => None,
    }
}

fn centre(numbers: &[f64]) -> Option<Point> {
    match *numbers {
        [x, y] => Some((x, y)),
        [left, top, right, bottom] => Some(middle([left, top, right, bottom])),
        _ => None,
    }
}

fn middle([left, top, right, bottom]: [f64; 4]) -> Point {
    (f64::midpoint(left, right), f64::midpoint(top, bottom))
}

/// The calls of known kinds: `pyautogui.click(x=10, y=20)`.
fn calls(text: &str) -> Vec<Action> {
    let mut found = Vec::new();
    let (mut at, mut tries) = (0, 0);
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('(')).map(|open| at + open) {
        at = open + 1;
        let head = &text[..open];
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let start = head.rfind(|c| !is_name(c)).map_or(0, |end| head.ceil_char_boundary(end + 1));
        let name = head.get(start..).filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()));
        let Some(kind) = name.and_then(kind).filter(|_| tries < TRIES_MAX) else { continue };
        tries += 1;
        if let Some((arguments, end)) = arguments(&text[at..]) {
            at += end;
            found.push(of_call(kind, &arguments));
        }
    }
    found
}

/// The actions in words with a point in marks, or in capitals with an argument in brackets: `CLICK
/// <point>10 20</point>`, `DRAG <point>1 2</point><point>3 4</point>`, `TYPE [hello]`.
fn marked(text: &str) -> Vec<Action> {
    let (mut found, mut tries) = (Vec::new(), 0);
    for line in text.lines() {
        let mut rest = line;
        while let Some((at, open, close)) = first_mark(rest).filter(|_| tries < TRIES_MAX) {
            tries += 1;
            let (head, inner) = (&rest[..at], &rest[at + open.len()..]);
            let Some((inner, behind)) = inner.split_once(close) else { break };
            rest = behind;
            let name = head.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            let name = name.filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()));
            let is_named =
                open != "[" || name.is_some_and(|name| !name.contains(char::is_lowercase));
            let Some(kind) = name.filter(|_| is_named).and_then(kind) else { continue };
            let mut arguments = vec![(None, inner.to_owned())];
            let lead = behind.trim_start_matches([' ', ',', '-', '>']);
            let lead = lead.strip_prefix("to ").unwrap_or(lead).trim_start();
            let end = lead
                .strip_prefix(open)
                .filter(|_| open != "[")
                .and_then(|end| end.split_once(close));
            if let Some((end, behind)) = end {
                arguments.push((Some("end".to_owned()), end.to_owned()));
                rest = behind;
            }
            found.push(of_call(kind, &arguments));
        }
    }
    found
}

/// The first mark that opens an argument, and what closes it.
fn first_mark(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let marks = POINT_MARKS.into_iter().chain([("[", "]")]);
    marks
        .filter_map(|(open, close)| Some((text.find(open)?, open, close)))
        .min_by_key(|(at, ..)| *at)
}

/// A value that stands in brackets, and its name.
type Argument = (Option<String>, String);

/// The arguments up to the closing bracket, and its end.
fn arguments(text: &str) -> Option<(Vec<Argument>, usize)> {
    let (mut found, mut name, mut value) = (Vec::new(), None, String::new());
    let (mut quote, mut depth, mut escaped) = (None, 0_usize, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), c) if escaped => {
                value.push(if c == 'n' { '\n' } else { c });
                escaped = false;
            }
            (Some(_), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), c) => value.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, ')') if depth == 0 => {
                found.push((name, value));
                found.retain(|(name, value): &Argument| name.is_some() || !value.trim().is_empty());
                return Some((found, at + 1));
            }
            (None, ',') if depth == 0 => found.push((name.take(), std::mem::take(&mut value))),
            (None, '=' | ':') if depth == 0 && name.is_none() => {
                name = Some(std::mem::take(&mut value).trim().to_owned());
            }
            (None, c) => {
                depth = match c {
                    '(' | '[' => depth + 1,
                    ')' | ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                value.push(c);
            }
        }
    }
    None
}

fn of_call(kind: &'static str, arguments: &[Argument]) -> Action {
    let named = arguments
        .iter()
        .filter_map(|(name, value)| Some((name.clone()?, Value::from(value.trim()))));
    let mut members: Map<String, Value> = named.collect();
    let plain: Vec<&str> = arguments
        .iter()
        .filter(|(name, _)| name.is_none())
        .map(|(_, value)| value.trim())
        .collect();
    if !plain.is_empty() {
        let joined = plain.join(" ").replace(['[', ']'], "");
        let count = number::all(&joined.replace([',', '_'], " ")).len();
        let key = match kind {
            "type" | "open" | "finish" => "text",
            "key" | "systembutton" => "key",
            "wait" => "time",
            "scroll" if plain.len() == 1 && count == 1 => "pixels",
            "scroll" | "swipe" if plain.iter().all(|part| number::whole(part).is_none()) => {
                "direction"
            }
            _ if count < 2 => "bid",
            _ => "point",
        };
        members.entry(key).or_insert(joined.into());
    }
    of_arguments(kind, members)
}

/// How actions are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// How far a point may be from a wanted point, in the units of the points.
    pub radius: f64,
    /// The least harmonic mean of precision and recall of the words of a text; at 1 all are the same.
    pub text_share: f64,
}

/// Whether an action has the kind of the wanted one, and whether its argument fits: a point in the box,
/// or near the point; the text; the direction; the keys; what is named. An action without arguments fits by
/// its kind.
pub fn compare(given: &Action, wanted: &Action, rules: Match) -> (bool, bool) {
    let near = |one: Option<Point>, two: Option<Point>| match (one, two) {
        (_, None) => true,
        (Some(one), Some(two)) => (one.0 - two.0).hypot(one.1 - two.1) <= rules.radius,
        (None, Some(_)) => false,
    };
    let hits = |[left, top, right, bottom]: [f64; 4]| {
        given.point.is_some_and(|(x, y)| (left..=right).contains(&x) && (top..=bottom).contains(&y))
    };
    let place = wanted.target.map_or_else(|| near(given.point, wanted.point), hits);
    let text = wanted.text.as_ref().is_none_or(|text| {
        given
            .text
            .as_ref()
            .is_some_and(|own| own == text || likeness(own, text) >= rules.text_share)
    });
    let direction = wanted.direction.is_none() || given.direction == wanted.direction;
    let keys = wanted.keys.is_empty() || given.keys == wanted.keys;
    let named = wanted.named.iter().all(|one| given.named.contains(one));
    let to = near(given.to, wanted.to);
    (given.kind == wanted.kind, place && to && text && direction && keys && named)
}

fn likeness(one: &str, two: &str) -> f64 {
    let rules = Rules { accents: true, articles: true };
    answer::likeness(&normalised(one, rules), &normalised(two, rules))
}
