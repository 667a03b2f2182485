//! The scope of extraction: without thinking, code, and quotations of the question.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;

use super::boxes::{self, Boxed};
use super::candidate::{Candidate, Provenance};
use super::code::Code;
use super::emphasis;
use super::hidden;
use super::places::Places;
use super::thinking::{self, Thinking};
use crate::language::remarks;
use crate::language::standing::{self, Against};

/// Quotations of the question are looked up in it at most this often.
const QUOTED_MAX: usize = 16;

/// The visible text of a completion: without thinking, and with blanks in place of hidden text.
pub struct Spoken<'a> {
    text: Cow<'a, str>,
    /// Where it lies in the completion.
    places: Places,
    /// The text with the signs of emphasis, where they are gone.
    emphasised: Option<Cow<'a, str>>,
}

impl<'a> Spoken<'a> {
    /// The text behind the thinking; none where the thinking never ends. The time is linear in the
    /// completion; the caller pays for it.
    pub fn of(completion: &'a str, how: Thinking) -> Self {
        let part = thinking::answer(completion, how).unwrap_or(completion.len()..completion.len());
        let said = &completion[part.clone()];
        let mut places = Places::new(part.start);
        let text = places.with_plain_digits(hidden::blanked(said));
        Self { text: places.without_dots(text), places, emphasised: None }
    }

    /// The same without the emphasis of Markdown around values, in which `**` would be a power.
    #[must_use]
    pub(crate) fn without_emphasis(self) -> Self {
        let emphasised = self.text.clone();
        let plain = self.blanked_by(emphasis::blanked);
        let is_same = matches!(plain.text, Cow::Borrowed(_));
        Self { emphasised: (!is_same).then_some(emphasised), ..plain }
    }

    /// The same without the tags of HTML around values with digits.
    #[must_use]
    pub(crate) fn without_tags(self) -> Self {
        self.blanked_by(emphasis::untagged)
    }

    fn blanked_by(self, blanked: fn(&str) -> Cow<'_, str>) -> Self {
        let text = match self.text {
            Cow::Borrowed(text) => blanked(text),
            Cow::Owned(text) => Cow::Owned(blanked(&text).into_owned()),
        };
        Self { text, ..self }
    }

    /// All of a completion, even what is hidden.
    pub fn all(completion: &'a str) -> Self {
        Self { text: Cow::Borrowed(completion), places: Places::default(), emphasised: None }
    }

    /// The text, of which [`Spoken::place`] leads back to the completion.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the completion at a byte of the text.
    pub fn place(&self, at: usize) -> usize {
        self.places.outside(at)
    }
}

/// A sentence that states an answer.
pub(crate) struct Statement {
    pub(crate) sentence: Range<usize>,
    /// The only value in bold in it.
    pub(crate) bold: Option<(usize, usize)>,
}

/// The part of a completion in which answers are looked for.
pub struct Scope<'a> {
    pub(super) text: &'a str,
    /// Where `text` lies in the completion.
    places: Places,
    pub(super) code: Code,
    /// The question, where its quotations do not count.
    prompt: &'a str,
    /// Whether there is a question at all.
    pub(crate) asked: bool,
    pub(super) boxes: Vec<Boxed>,
    /// The text with the signs of emphasis.
    emphasised: &'a str,
    /// Kept once it was looked for.
    statement: OnceCell<Option<Statement>>,
}

impl<'a> Scope<'a> {
    /// All of a text.
    pub(super) fn all(text: &'a str) -> Self {
        let code = Code::default();
        let boxes = boxes::of(text);
        Self {
            text,
            places: Places::default(),
            code,
            prompt: "",
            asked: false,
            boxes,
            emphasised: text,
            statement: OnceCell::new(),
        }
    }

    /// The visible text without code and quotations of the prompt.
    pub(super) fn visible(spoken: &'a Spoken<'a>, prompt: &'a str) -> Self {
        let text = spoken.text();
        Self {
            text,
            places: spoken.places.clone(),
            code: Code::of(text),
            prompt,
            asked: !prompt.is_empty(),
            boxes: boxes::of(text),
            emphasised: spoken.emphasised.as_deref().unwrap_or(text),
            statement: OnceCell::new(),
        }
    }

    /// The part of it before a place.
    pub(super) fn up_to(self, end: usize) -> Self {
        let text = &self.text[..end];
        let statement = OnceCell::new();
        Self { text, code: Code::of(text), boxes: boxes::of(text), statement, ..self }
    }

    /// All of the visible text, even code and quotations.
    pub fn everything(spoken: &'a Spoken<'a>, prompt: &str) -> Self {
        Self {
            places: spoken.places.clone(),
            asked: !prompt.is_empty(),
            ..Self::all(spoken.text())
        }
    }

    /// The text in which answers are looked for. The spans of candidates are bytes of it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The byte of the completion at a byte of the text.
    pub fn place(&self, at: usize) -> usize {
        self.places.outside(at)
    }

    /// The text of a candidate, its span in the completion, and its provenance.
    pub(crate) fn taken(&self, found: Candidate<'_>) -> (String, (usize, usize), Provenance) {
        let Candidate { text, span: (from, to), provenance } = found;
        (text.into_owned(), (self.place(from), self.place(to)), provenance)
    }

    /// The sentence that states an answer which nothing announces, and the value in bold in it. Remarks
    /// stand behind it.
    pub(crate) fn statement(&self) -> Option<&Statement> {
        self.statement.get_or_init(|| self.find_statement()).as_ref()
    }

    fn find_statement(&self) -> Option<Statement> {
        let bold = emphasis::bold(&self.emphasised[..self.text.len()]);
        let sentence = remarks::statement(self.text, &bold)?;
        let mut own =
            bold.iter().filter(|(from, to)| sentence.start <= *from && *to <= sentence.end);
        let bold = own.next().filter(|_| own.next().is_none()).copied();
        Some(Statement { sentence, bold })
    }

    /// Whether the sentence that states the answer has it in bold.
    pub(super) fn has_bold(&self) -> bool {
        self.statement().is_some_and(|statement| statement.bold.is_some())
    }

    /// What the text says against the answer at these bytes of the completion.
    /// `also` is another form of it.
    pub(crate) fn against(&self, (from, to): (usize, usize), also: &str) -> Option<Against> {
        // An answer without its invisible characters is shorter than its place in the text.
        let text = self.text;
        let span = text.floor_char_boundary(self.places.inside(from))
            ..text.ceil_char_boundary(self.places.inside(to));
        let standing = standing::of(self.text, span, also);
        let Against { reason, span: (from, to) } = standing.against()?;
        Some(Against { reason, span: (self.place(from), self.place(to)) })
    }

    /// Whether code stands at this place.
    pub fn in_code(&self, at: usize) -> bool {
        self.code.holds(at)
    }

    /// Whether a part of the text is quoted from the question: in a line that starts with `>`, or
    /// between quotation marks.
    pub(super) fn quoted(&self, (from, to): (usize, usize), looked: &mut usize) -> bool {
        if self.prompt.is_empty() || *looked >= QUOTED_MAX {
            return false;
        }
        let start = self.text.get(..from).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let (Some(before), Some(inner), Some(after)) =
            (self.text.get(start..from), self.text.get(from..to), self.text.get(to..))
        else {
            return false;
        };
        let marks = ['"', '“', '”'];
        let is_marked = memchr::memchr(b'"', before.as_bytes()).is_some()
            || !before.is_ascii() && before.contains(['“', '”']);
        if !is_marked && !before.trim_start().starts_with('>') {
            return false;
        }
        let quote = before.trim_start().starts_with('>').then_some(inner).or_else(|| {
            let open = before.rfind(marks).filter(|at| {
                before.get(..*at).is_some_and(|head| head.matches(marks).count() % 2 == 0)
            })?;
            let line = after.split('\n').next()?;
            let close = line.find(marks)?;
            self.text.get(start + open..to + close).map(|quote| quote.trim_start_matches(marks))
        });
        *looked += usize::from(quote.is_some());
        quote.is_some_and(|quote| memmem::find(self.prompt.as_bytes(), quote.as_bytes()).is_some())
    }
}
