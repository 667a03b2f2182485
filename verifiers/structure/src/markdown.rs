//! The outline of a Markdown text (`CommonMark` with tables): headings, lists, tables, links, code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::DEPTH_MAX;
use crate::fold::is_blank;

/// The most parts of an outline.
pub const PARTS_MAX: usize = 20_000;

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A heading.
    Heading {
        /// From 1 to 6.
        level: u8,
        /// Whether text other than headings stands between it and the next one that is no deeper.
        has_content: bool,
    },
    /// A list.
    List {
        /// Whether its items are numbered.
        ordered: bool,
        /// How many of its items hold text.
        items: usize,
    },
    /// A table.
    Table {
        /// The texts of its header.
        columns: Vec<String>,
        /// How many rows are below it.
        rows: usize,
    },
    /// A link, with its target. An image is one too.
    Link(String),
    /// A block of code with its language; one that is indented has none.
    Code(String),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Its text: of a heading, a link or a block of code.
    pub text: String,
    /// Its bytes in the source.
    pub span: Range<usize>,
}

/// A table: its cells as text, the header first.
pub type Rows = Vec<Vec<String>>;

/// The parts of a text, in the order in which they begin; at most [`PARTS_MAX`], and up to the first one
/// that is nested deeper than [`DEPTH_MAX`]. Linear in the text.
pub fn outline(text: &str) -> Vec<Part> {
    let mut reader = Reader::default();
    for (event, span) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if reader.parts.len() >= PARTS_MAX || reader.open.len() > DEPTH_MAX {
            break;
        }
        reader.event(event, span);
    }
    reader.parts
}

/// The tables of a text. Linear in the text.
pub fn tables(text: &str) -> Vec<Rows> {
    let (mut tables, mut cell): (Vec<Rows>, Option<String>) = (Vec::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                if let Some(table) = tables.last_mut() {
                    table.push(Vec::new());
                }
            }
            Event::Start(Tag::TableCell) => cell = Some(String::new()),
            Event::End(TagEnd::TableCell) => {
                let row = tables.last_mut().and_then(|table| table.last_mut());
                if let (Some(row), Some(text)) = (row, cell.take()) {
                    row.push(text);
                }
            }
            Event::Text(text) | Event::Code(text) => push(cell.as_mut(), &text),
            // `<br>` within a cell is a blank.
            Event::InlineHtml(_) | Event::SoftBreak | Event::HardBreak => push(cell.as_mut(), " "),
            _ => {}
        }
    }
    tables
}

/// What a text shows, without its marks; the ends of blocks are line ends. Linear in the text.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for event in Parser::new(text) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::Rule => out.push(' '),
            Event::Start(Tag::Paragraph | Tag::Item | Tag::Heading { .. })
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_)) => out.push('\n'),
            _ => {}
        }
    }
    out
}

fn push(out: Option<&mut String>, text: &str) {
    if let Some(out) = out {
        out.push_str(text);
    }
}

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    /// The parts that are open, innermost last.
    open: Vec<usize>,
    /// Headings under which no text stands yet: their places among the parts.
    bare: Vec<usize>,
    /// Whether an item was entered whose text was not seen yet.
    item_is_new: bool,
    cell: Option<String>,
    in_header: bool,
}

impl Reader {
    fn event(&mut self, event: Event<'_>, span: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(end) => self.end(end),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, span: Range<usize>) {
        let kind = match tag {
            Tag::Heading { level, .. } => {
                let level = level as u8;
                self.bare.retain(|at| match self.parts.get(*at).map(|part| &part.kind) {
                    Some(Kind::Heading { level: above, .. }) => *above < level,
                    _ => false,
                });
                self.bare.push(self.parts.len());
                Kind::Heading { level, has_content: false }
            }
            Tag::List(first) => Kind::List { ordered: first.is_some(), items: 0 },
            Tag::Table(_) => Kind::Table { columns: Vec::new(), rows: 0 },
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                Kind::Link(dest_url.to_string())
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let language = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
                Kind::Code(language.to_lowercase())
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => Kind::Code(String::new()),
            Tag::Item => {
                self.item_is_new = true;
                return;
            }
            Tag::TableHead => {
                self.in_header = true;
                return;
            }
            Tag::TableRow => {
                if let Some(Kind::Table { rows, .. }) = self.innermost() {
                    *rows += 1;
                }
                return;
            }
            Tag::TableCell => {
                self.cell = Some(String::new());
                return;
            }
            _ => return,
        };
        self.open.push(self.parts.len());
        self.parts.push(Part { kind, text: String::new(), span });
    }

    fn innermost(&mut self) -> Option<&mut Kind> {
        let at = *self.open.last()?;
        self.parts.get_mut(at).map(|part| &mut part.kind)
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::TableHead => self.in_header = false,
            TagEnd::TableCell => {
                let (cell, in_header) = (self.cell.take(), self.in_header);
                if let (Some(Kind::Table { columns, .. }), Some(cell), true) =
                    (self.innermost(), cell, in_header)
                {
                    columns.push(cell.trim().to_owned());
                }
            }
            TagEnd::Heading(_)
            | TagEnd::List(_)
            | TagEnd::Table
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::CodeBlock => {
                self.open.pop();
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        push(self.cell.as_mut(), text);
        let is_blank = is_blank(text);
        let mut in_heading = false;
        let mut counts = self.item_is_new && !is_blank;
        for at in self.open.iter().rev() {
            let Some(part) = self.parts.get_mut(*at) else { continue };
            match &mut part.kind {
                // The innermost list has the item.
                Kind::List { items, .. } => *items += usize::from(std::mem::take(&mut counts)),
                Kind::Table { .. } => {}
                kind => {
                    in_heading |= matches!(kind, Kind::Heading { .. });
                    part.text.push_str(text);
                }
            }
        }
        self.item_is_new &= is_blank;
        if !is_blank && !in_heading {
            for at in std::mem::take(&mut self.bare) {
                if let Some(Kind::Heading { has_content, .. }) =
                    self.parts.get_mut(at).map(|part| &mut part.kind)
                {
                    *has_content = true;
                }
            }
        }
    }
}
