//! A value of a file with the place at which it stands, so that every refusal names it.

use serde_json::Value;

use crate::rubric::RubricError;

/// A value and its path, such as `rubrics[3].points`.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    pub(crate) value: &'a Value,
    place: String,
}

impl<'a> At<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, place: String::new() }
    }

    /// The path; empty for the whole file.
    pub(crate) fn path(&self) -> &str {
        &self.place
    }

    pub(crate) fn refuse(&self, why: impl Into<String>) -> RubricError {
        let place = if self.place.is_empty() { "the rubric" } else { &self.place };
        RubricError::new(place, why)
    }

    /// Refuses what is found for another type.
    fn expected(&self, what: &str) -> RubricError {
        self.refuse(format!("expected {what}, found {}", kind_of(self.value)))
    }

    /// The member called `key`, unless it is null.
    pub(crate) fn key(&self, key: &str) -> Option<At<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        let place =
            if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) };
        Some(At { value, place })
    }

    /// The first of several members that is there.
    pub(crate) fn any(&self, keys: &[&str]) -> Option<At<'a>> {
        keys.iter().find_map(|key| self.key(key))
    }

    /// The member called `key`.
    pub(crate) fn need(&self, key: &str) -> Result<At<'a>, RubricError> {
        self.need_any(&[key])
    }

    /// The first of several members that is there, and one must be.
    pub(crate) fn need_any(&self, keys: &[&str]) -> Result<At<'a>, RubricError> {
        let Value::Object(members) = self.value else { return Err(self.expected("an object")) };
        self.any(keys).ok_or_else(|| {
            let has: Vec<&str> = members.keys().map(String::as_str).take(20).collect();
            let wanted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
            self.refuse(format!("{} is missing; has: {has}", wanted.join(" or ")))
        })
    }

    pub(crate) fn text(&self) -> Result<&'a str, RubricError> {
        self.value.as_str().ok_or_else(|| self.expected("text"))
    }

    /// A finite number.
    pub(crate) fn number(&self) -> Result<f64, RubricError> {
        self.value.as_f64().ok_or_else(|| self.expected("a number"))
    }

    /// A number that is not negative, as weights are.
    pub(crate) fn weight(&self) -> Result<f64, RubricError> {
        let weight = self.number()?;
        if weight < 0.0 {
            return Err(self.refuse(format!("expected a weight of 0 or more, found {weight}")));
        }
        Ok(weight)
    }

    pub(crate) fn flag(&self) -> Result<bool, RubricError> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(crate) fn list(&self) -> Result<Vec<At<'a>>, RubricError> {
        let values = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let place = |at: usize| format!("{}[{at}]", self.place);
        Ok(values.iter().enumerate().map(|(at, value)| At { value, place: place(at) }).collect())
    }

    /// A list that is not empty.
    pub(crate) fn filled(&self) -> Result<Vec<At<'a>>, RubricError> {
        let list = self.list()?;
        if list.is_empty() {
            return Err(self.refuse("the list is empty"));
        }
        Ok(list)
    }

    /// A text, or the texts of a list.
    pub(crate) fn texts(&self) -> Result<Vec<String>, RubricError> {
        if let Value::String(text) = self.value {
            return Ok(vec![text.clone()]);
        }
        self.list()?.iter().map(|one| Ok(one.text()?.to_owned())).collect()
    }

    /// The members of an object.
    pub(crate) fn members(&self) -> Result<Vec<(&'a str, At<'a>)>, RubricError> {
        let members = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(members.keys().filter_map(|key| Some((key.as_str(), self.key(key)?))).collect())
    }
}

/// The type of a value, in the words of JSON.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
