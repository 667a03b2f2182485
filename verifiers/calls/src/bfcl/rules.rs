//! One call against one answer.

use serde_json::{Map, Value as Json, json};

use super::category::{Language, UNJUDGEABLE, Version, Wrong};
use super::convert;
use crate::call::Call;
use crate::equal::typed;
use crate::schema::Tool;
use crate::value::{Equality, Object, Value};

/// The type of a value in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Bool,
    Int,
    Float,
    Str,
    List,
    Tuple,
    Dict,
}

impl Kind {
    /// The type that a word of a schema means. `None` where the official checker knows it not.
    fn named(word: &str, language: Language) -> Option<Self> {
        use Language::{Java, JavaScript, Python};
        Some(match (language, word) {
            (Python, "string") | (Java | JavaScript, "String") | (Java, "char") | (_, "any") => {
                Self::Str
            }
            (_, "integer") | (Java, "byte" | "short" | "long") | (JavaScript, "Bigint") => {
                Self::Int
            }
            (_, "float") | (Java, "double") => Self::Float,
            (Python | Java, "boolean") | (JavaScript, "Boolean") => Self::Bool,
            (Python, "array" | "tuple") | (Java, "Array" | "ArrayList") | (JavaScript, "array") => {
                Self::List
            }
            (Python | JavaScript, "dict") | (Java, "HashMap") => Self::Dict,
            _ => return None,
        })
    }
}

/// A call of the answer.
#[derive(Debug)]
pub(super) struct Answer<'r> {
    pub(super) name: String,
    params: Vec<Param<'r>>,
    /// How many arguments must be there by the schema.
    required: usize,
    /// How many must be there by the answer.
    mandatory: usize,
    /// How much a comparison costs for each byte of a call.
    pub(super) weight: u64,
    language: Language,
}

#[derive(Debug)]
struct Param<'r> {
    name: &'r str,
    /// The allowed values; `None` where the answer has not the argument.
    allowed: Option<&'r [Json]>,
    is_described: bool,
    is_required: bool,
    is_mandatory: bool,
    /// The word of the schema, and the one of its elements.
    word: &'r str,
    inner: Option<&'r str>,
    /// The type, and that of elements. `None` where there is none: then no value can be judged.
    kind: Option<Kind>,
    inner_kind: Option<Kind>,
    /// The type of the first allowed value.
    first: Option<Kind>,
}

impl<'r> Answer<'r> {
    /// `None` where the allowed values are no lists, or the schema has no properties.
    pub(super) fn new(
        tool: &Tool<'r>,
        allowed: &'r Json,
        language: Language,
        is_dotless: bool,
    ) -> Option<Self> {
        let allowed = allowed.as_object()?;
        let empty: &'static [Json] = &[];
        let required = match tool.schema.get("required") {
            Some(required) => required.as_array()?.as_slice(),
            None => empty,
        };
        let properties = tool.schema.get("properties")?.as_object()?;
        let is_required = |name: &str| required.iter().any(|other| other == name);
        let mut params = Vec::with_capacity(allowed.len().max(properties.len()));
        for (name, property) in properties {
            let list = allowed.get(name).map(|list| list.as_array().map(Vec::as_slice));
            let list = if let Some(list) = list { Some(list?) } else { None };
            params.push(Param::new(name, Some(property), list, is_required(name), language)?);
        }
        for (name, list) in allowed.iter().filter(|(name, _)| !properties.contains_key(*name)) {
            params.push(Param::new(
                name,
                None,
                Some(list.as_array()?),
                is_required(name),
                language,
            )?);
        }
        for name in required.iter().filter_map(Json::as_str) {
            if !params.iter().any(|param| param.name == name) {
                params.push(Param::new(name, None, None, true, language)?);
            }
        }
        let name = if is_dotless { tool.name.replace('.', "_") } else { tool.name.to_owned() };
        let count = |is: fn(&Param<'_>) -> bool| params.iter().filter(|param| is(param)).count();
        Some(Self {
            name,
            required: count(|param| param.is_required),
            mandatory: count(|param| param.is_mandatory),
            weight: params
                .iter()
                .filter_map(|param| param.allowed)
                .map(<[Json]>::len)
                .max()
                .unwrap_or(1) as u64,
            params,
            language,
        })
    }

    /// What is wrong with a call.
    pub(super) fn judge(&self, call: &Call, version: Version) -> Option<Wrong> {
        if !is_equal(&call.name, &self.name) {
            return Some("simple_function_checker:wrong_func_name");
        }
        let count = call.arguments.len();
        let mut few = [0_usize; 16];
        let mut many = Vec::new();
        let places = if let Some(places) = few.get_mut(..count) {
            places
        } else {
            many.resize(count, 0);
            &mut many[..]
        };
        let (mut next, mut required, mut mandatory) = (0, 0, 0);
        for ((name, _), place) in call.arguments.iter().zip(places.iter_mut()) {
            // Arguments mostly stand in the order of the schema.
            let is_own = |param: &Param<'_>| is_equal(param.name, name);
            let found = self.params.get(next..).and_then(|rest| rest.iter().position(is_own));
            let found = found.map(|at| at + next).or_else(|| self.params.iter().position(is_own));
            *place = found.unwrap_or(usize::MAX);
            if let Some(param) = self.params.get(*place) {
                next = *place + 1;
                required += usize::from(param.is_required);
                mandatory += usize::from(param.is_mandatory);
            }
        }
        if required < self.required {
            return Some("simple_function_checker:missing_required");
        }
        for ((_, value), place) in call.arguments.iter().zip(places.iter()) {
            let param = self.params.get(*place).filter(|param| param.is_described);
            let Some((param, allowed)) = param.and_then(|param| Some((param, param.allowed?)))
            else {
                return Some("simple_function_checker:unexpected_param");
            };
            if let Some(wrong) = param.judge(value, allowed, self.language, version) {
                return Some(wrong);
            }
        }
        (mandatory < self.mandatory).then_some("simple_function_checker:missing_optional")
    }

    pub(super) fn gold(&self) -> Json {
        let arguments: Map<String, Json> = self
            .params
            .iter()
            .filter(|param| param.is_mandatory || param.is_required)
            .filter_map(|param| {
                let allowed = param.allowed?;
                let value = allowed.iter().find(|value| **value != "").or(allowed.first())?;
                let value = match param.kind? {
                    Kind::Dict => members(value),
                    Kind::List if param.inner_kind == Some(Kind::Dict) => {
                        Json::Array(value.as_array()?.iter().map(members).collect())
                    }
                    _ => value.clone(),
                };
                Some((param.name.to_owned(), value))
            })
            .collect();
        json!({"name": self.name, "arguments": arguments})
    }
}

/// An object with the first allowed value of each member that may not be left out.
fn members(allowed: &Json) -> Json {
    let Some(allowed) = allowed.as_object() else { return allowed.clone() };
    let own = allowed.iter().filter_map(|(name, values)| match values {
        Json::Array(values) => {
            Some((name.clone(), values.iter().find(|value| **value != "")?.clone()))
        }
        other => Some((name.clone(), members(other))),
    });
    Json::Object(own.collect())
}

impl<'r> Param<'r> {
    fn new(
        name: &'r str,
        property: Option<&'r Json>,
        allowed: Option<&'r [Json]>,
        is_required: bool,
        language: Language,
    ) -> Option<Self> {
        let word_of = |schema: &'r Json| schema.get("type").and_then(Json::as_str);
        let word = property.and_then(word_of).unwrap_or("");
        let is_nested = match language {
            Language::Python => matches!(word, "array" | "tuple"),
            _ => matches!(word, "Array" | "ArrayList" | "array"),
        };
        let inner = if is_nested { property?.get("items").and_then(word_of) } else { None };
        let inner_kind = inner.and_then(|word| Kind::named(word, language));
        let is_broken = is_nested && inner_kind.is_none();
        let kind = Kind::named(word, language).filter(|_| !is_broken);
        let is_blank = |value: &Json| value == "";
        let first = allowed
            .and_then(|values| values.iter().find(|value| !is_blank(value)).map(Kind::of_json));
        let is_mandatory = allowed.is_some_and(|values| !values.iter().any(is_blank));
        let is_described = property.is_some();
        let own = Self {
            name,
            allowed,
            is_described,
            is_required,
            is_mandatory,
            word,
            inner,
            kind,
            inner_kind,
            first,
        };
        Some(own)
    }

    fn judge(
        &self,
        value: &Value,
        allowed: &[Json],
        language: Language,
        version: Version,
    ) -> Option<Wrong> {
        let Some(kind) = self.kind else { return Some(UNJUDGEABLE) };
        let convert = match language {
            Language::Python => {
                return match value {
                    // Text of a tag has the type of its parameter.
                    Value::Raw(raw) if kind != Kind::Str => {
                        let own = typed(raw).unwrap_or_else(|| Value::Text(raw.clone()));
                        self.compare(&own, kind, allowed, language, version)
                    }
                    value => self.compare(value, kind, allowed, language, version),
                };
            }
            Language::Java => convert::java,
            Language::JavaScript => convert::javascript,
        };
        let is_java = language == Language::Java;
        let Some(text) = value.as_text() else {
            return Some(if is_java { "type_error:java" } else { "type_error:js" });
        };
        match convert(text, self.word, self.inner) {
            Some(value) => self.compare(&value, kind, allowed, language, version),
            None => Some(UNJUDGEABLE),
        }
    }

    fn compare(
        &self,
        value: &Value,
        kind: Kind,
        allowed: &[Json],
        language: Language,
        version: Version,
    ) -> Option<Wrong> {
        let own = match Kind::of(value) {
            Kind::Tuple if self.word == "tuple" => Kind::List,
            Kind::Int if language == Language::Python && kind == Kind::Float => Kind::Float,
            own => own,
        };
        let elements = if own == Kind::List { value.as_list() } else { None };
        let mut is_variable = self.first.is_some_and(|first| first != kind);
        if own == kind {
            let is_nested = |inner| allowed.iter().any(|item| is_of(elements, inner, item));
            if self.inner_kind.is_some_and(|inner| !is_nested(inner)) {
                return Some(if self.first == Some(Kind::List) {
                    "type_error:nested"
                } else {
                    "type_error:simple"
                });
            }
        } else if self.first == Some(own) {
            is_variable = true;
        } else {
            return Some("type_error:simple");
        }
        if !is_variable {
            match (kind, value, elements) {
                (Kind::Dict, Value::Object(members), _) => return dict(members, allowed, version),
                (Kind::List, _, Some(elements)) if self.inner_kind == Some(Kind::Dict) => {
                    return list_of_dicts(elements, allowed, version);
                }
                (Kind::Str, Value::Text(text) | Value::Raw(text), _) => {
                    let is_same = |other: &Json| {
                        other.as_str().is_some_and(|other| is_same_text(text, other))
                    };
                    return (!allowed.iter().any(is_same)).then_some("value_error:string");
                }
                (Kind::List, _, Some(elements)) => {
                    let is_same = |other: &Json| is_same_list(elements, other);
                    return (!allowed.iter().any(is_same)).then_some("value_error:list/tuple");
                }
                _ => {}
            }
        }
        let is_one = |other: &Json| match (elements, other) {
            (Some(own), Json::Array(other)) => {
                own.len() == other.len()
                    && own.iter().zip(other).all(|(own, other)| own.is(other, Equality::Python))
            }
            _ => value.is(other, Equality::Python),
        };
        (!allowed.iter().any(is_one)).then_some("value_error:others")
    }
}

/// Whether each element has the type, or that of the first element of an answer. An answer that is
/// no list accepts all.
fn is_of(elements: Option<&[Value]>, inner: Kind, item: &Json) -> bool {
    let Json::Array(item) = item else { return true };
    let first = item.iter().find(|value| **value != "").map(Kind::of_json);
    elements.is_some_and(|elements| {
        elements.iter().map(Kind::of).all(|own| own == inner || Some(own) == first)
    })
}

/// Whether texts are equal. Names and values are mostly short: two words of a register hold them.
#[inline]
pub(super) fn is_equal(one: &str, two: &str) -> bool {
    let (one, two) = (one.as_bytes(), two.as_bytes());
    if one.len() != two.len() {
        return false;
    }
    match one.len() {
        0 => true,
        1..=3 => one.iter().eq(two),
        4..=7 => {
            one.first_chunk::<4>() == two.first_chunk::<4>()
                && one.last_chunk::<4>() == two.last_chunk::<4>()
        }
        8..=16 => {
            one.first_chunk::<8>() == two.first_chunk::<8>()
                && one.last_chunk::<8>() == two.last_chunk::<8>()
        }
        _ => one == two,
    }
}

/// Texts without ` ,./-_*^`, in lower case, with one kind of quotes.
fn is_same_text(one: &str, two: &str) -> bool {
    is_equal(one, two)
        || is_same_folded(one.as_bytes(), two.as_bytes())
            .unwrap_or_else(|| folded(one) == folded(two))
}

/// What becomes of each byte: 0 where it is deleted.
const FOLDED: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 128")]
        #[expect(clippy::indexing_slicing, reason = "it is below 128")]
        {
            table[byte] = match byte as u8 {
                b' ' | b',' | b'.' | b'/' | b'-' | b'_' | b'*' | b'^' => 0,
                b'\'' => b'"',
                other => other.to_ascii_lowercase(),
            };
        }
        byte += 1;
    }
    table
};

/// `None` where a byte is not ASCII. A NUL is kept as it is, since no other byte stands for it.
fn is_same_folded(one: &[u8], two: &[u8]) -> Option<bool> {
    let (mut one, mut two) = (one.iter(), two.iter());
    let next = |bytes: &mut std::slice::Iter<'_, u8>| -> Option<Option<u8>> {
        for byte in bytes.by_ref() {
            match FOLDED.get(usize::from(*byte)) {
                Some(0) if *byte == 0 => return Some(Some(0)),
                Some(0) => {}
                Some(folded) => return Some(Some(*folded)),
                None => return None,
            }
        }
        Some(None)
    };
    loop {
        match (next(&mut one)?, next(&mut two)?) {
            (None, None) => return Some(true),
            (own, other) if own != other => {
                // A difference further on is one, unless folding of the whole text decides.
                let is_ascii = |bytes: &std::slice::Iter<'_, u8>| bytes.as_slice().is_ascii();
                return (is_ascii(&one) && is_ascii(&two)).then_some(false);
            }
            _ => {}
        }
    }
}

fn folded(text: &str) -> String {
    let kept: String = text.chars().filter(|char| !" ,./-_*^".contains(*char)).collect();
    kept.to_lowercase().replace('\'', "\"")
}

/// A list whose texts are folded; a text of the answer is the list of its characters.
fn is_same_list(elements: &[Value], other: &Json) -> bool {
    match other {
        Json::Array(other) => {
            elements.len() == other.len() && elements.iter().zip(other).all(is_same_element)
        }
        Json::String(text) => {
            let mut chars = text.chars();
            let is_char = |value: &Value| {
                let char = chars.next().map(|char| char.to_string());
                matches!((value, char), (Value::Text(own), Some(char)) if is_same_text(own, &char))
            };
            elements.iter().all(is_char) && elements.len() == text.chars().count()
        }
        _ => false,
    }
}

fn is_same_element((own, other): (&Value, &Json)) -> bool {
    match (own, other) {
        (Value::Text(own) | Value::Raw(own), Json::String(other)) => is_same_text(own, other),
        (own, other) => own.is(other, Equality::Python),
    }
}

fn dict(members: &Object, answers: &[Json], version: Version) -> Option<Wrong> {
    let mut wrong = "dict_checker:unclear";
    for answer in answers.iter().filter(|answer| **answer != "") {
        let Json::Object(answer) = answer else { return Some(UNJUDGEABLE) };
        wrong = match version {
            Version::Of2024 => dict_of_2024(members, answer)?,
            Version::Current => dict_today(members, answer)?,
        };
        if wrong == UNJUDGEABLE {
            break;
        }
    }
    Some(wrong)
}

fn dict_today(members: &Object, answer: &Map<String, Json>) -> Option<Wrong> {
    let mut wrong = None;
    for (name, value) in members.iter() {
        wrong = match answer.get(name) {
            None => Some("value_error:dict_key"),
            Some(allowed) => is_wrong_member(value, allowed),
        };
        match wrong {
            None => {}
            Some(UNJUDGEABLE) => return wrong,
            Some(_) => break,
        }
    }
    for (name, allowed) in answer {
        if members.get(name).is_none() {
            match allowed {
                Json::Array(allowed) if allowed.iter().any(|value| value == "") => {}
                Json::String(_) => {}
                Json::Array(_) | Json::Object(_) => return Some("value_error:dict_key"),
                _ => return Some(UNJUDGEABLE),
            }
        }
    }
    wrong
}

/// A member against its allowed values; those of a text are its characters.
fn is_wrong_member(value: &Value, allowed: &Json) -> Option<Wrong> {
    let is_right = match allowed {
        Json::Array(allowed) => allowed.iter().any(|other| is_same_element((value, other))),
        Json::String(text) => value.as_text().is_some_and(|own| {
            text.chars().any(|char| is_same_text(own, char.encode_utf8(&mut [0; 4])))
        }),
        _ => return Some(UNJUDGEABLE),
    };
    (!is_right).then_some("value_error:dict_value")
}

/// All members of the answer must be there; an object of the answer is compared as one.
fn dict_of_2024(members: &Object, answer: &Map<String, Json>) -> Option<Wrong> {
    if members.len() != answer.len() {
        return Some("value_error:dict_items");
    }
    members.iter().find_map(|(name, value)| match (answer.get(name), value) {
        (None, _) => Some("value_error:dict_key"),
        (Some(Json::Object(inner)), Value::Object(value)) => dict_of_2024(value, inner),
        (Some(allowed), value) => is_wrong_member(value, allowed),
    })
}

fn list_of_dicts(elements: &[Value], answers: &[Json], version: Version) -> Option<Wrong> {
    let mut wrong = "list_dict_checker:unclear";
    for answer in answers {
        let length = match answer {
            Json::Array(answer) => answer.len(),
            Json::String(text) => text.chars().count(),
            _ => return Some(UNJUDGEABLE),
        };
        if elements.len() != length {
            wrong = "value_error:list_dict_count";
            continue;
        }
        let own = elements.iter().zip(answer.as_array().into_iter().flatten());
        let first = own.map(|(element, item)| match element {
            Value::Object(members) => dict(members, std::slice::from_ref(item), version),
            _ => Some(UNJUDGEABLE),
        });
        match first.flatten().next() {
            None => return None,
            Some(found) => wrong = found,
        }
    }
    Some(wrong)
}
