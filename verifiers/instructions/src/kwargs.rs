//! The arguments of an instruction: every one that it needs, and no other.

use serde_json::{Map, Value};

/// Arguments that are read by name. A null is as good as nothing.
pub(crate) struct Kwargs<'j> {
    given: Option<&'j Map<String, Value>>,
    read: Vec<&'static str>,
    repeats: u64,
}

impl<'j> Kwargs<'j> {
    pub(crate) fn new(given: Option<&'j Map<String, Value>>) -> Kwargs<'j> {
        Kwargs { given, read: Vec::new(), repeats: 0 }
    }

    fn get(&mut self, name: &'static str) -> Result<&'j Value, String> {
        self.read.push(name);
        let value = self.given.and_then(|given| given.get(name)).filter(|value| !value.is_null());
        value.ok_or_else(|| format!("the argument \"{name}\" is missing"))
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<&'j str, String> {
        let text = self.get(name)?.as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| format!("the argument \"{name}\" is no text, or an empty one"))
    }

    /// Texts, one at least.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<&'j str>, String> {
        let list = self.get(name)?.as_array().filter(|list| !list.is_empty());
        let texts = list.and_then(|list| list.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| format!("the argument \"{name}\" is no list of texts, or an empty one"))
    }

    /// A whole number, zero or more.
    pub(crate) fn count(&mut self, name: &'static str) -> Result<usize, String> {
        let value = self.get(name)?;
        let whole = value.as_u64().or_else(|| {
            let real = value.as_f64().filter(|real| real.fract() == 0.0 && *real >= 0.0)?;
            format!("{real:.0}").parse().ok()
        });
        let count = whole.and_then(|whole| usize::try_from(whole).ok());
        count.ok_or_else(|| format!("the argument \"{name}\" is no whole number, zero or more"))
    }

    /// A number of one or more: official code replaces a zero by a number drawn at random.
    pub(crate) fn positive(&mut self, name: &'static str) -> Result<usize, String> {
        match self.count(name)? {
            0 => Err(format!("the argument \"{name}\" is zero")),
            count => Ok(count),
        }
    }

    /// Takes an argument as read.
    pub(crate) fn skip(&mut self, name: &'static str) {
        self.read.push(name);
    }

    /// Says that a judgement reads the text so many times.
    pub(crate) fn repeat(&mut self, times: usize) {
        self.repeats = times as u64;
    }

    /// How many times a judgement reads the text, at most, beyond once.
    pub(crate) fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Refuses arguments that nothing read.
    pub(crate) fn finish(self) -> Result<(), String> {
        for (name, value) in self.given.into_iter().flatten() {
            if !value.is_null() && !self.read.contains(&name.as_str()) {
                return Err(format!("the argument \"{name}\" is unknown"));
            }
        }
        Ok(())
    }
}

/// A number that is held against a bound.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    bound: usize,
    less: bool,
}

impl Limit {
    /// `less than` or `at least` a number.
    pub(crate) fn read(
        kwargs: &mut Kwargs<'_>,
        bound: &'static str,
        relation: &'static str,
    ) -> Result<Limit, String> {
        let bound = kwargs.positive(bound)?;
        match kwargs.text(relation)? {
            "less than" => Ok(Limit { bound, less: true }),
            "at least" => Ok(Limit { bound, less: false }),
            other => {
                Err(format!("the relation {other:?} is neither \"less than\" nor \"at least\""))
            }
        }
    }

    pub(crate) fn holds(self, count: usize) -> bool {
        (count < self.bound) == self.less
    }

    /// How far to count: more changes nothing.
    pub(crate) fn bound(self) -> usize {
        self.bound
    }
}
