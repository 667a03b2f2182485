//! A table of HTML as a tree, read as browsers and libxml2 do: nothing breaks it.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::intern::{Letters, Pairs, Vocabulary};

/// The tree of a table, its nodes in the order in which they end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableTree {
    pub(crate) nodes: Vec<Node>,
    /// Elements below the table, those within cells too.
    pub(crate) elements: usize,
}

/// An element of a table; what is in a cell is no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The number of its name and spans.
    pub(crate) label: u32,
    /// The number of its content, if it is a `td`.
    pub(crate) cell: Option<u32>,
    /// The first node below it that ends: itself, if it has none.
    pub(crate) first: usize,
    /// The number of all that it is: equal subtrees have the same.
    pub(crate) subtree: u32,
}

impl Node {
    /// Whether a change into another costs nothing, whatever their cells have.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        self.label == other.label && self.cell.is_none() && other.cell.is_none()
    }
}

/// Numbers for what the nodes of several trees have.
#[derive(Default)]
pub struct TableReader {
    /// Names that are read as if they were not there.
    ignored: Vec<String>,
    structure_only: bool,
    names: Vocabulary,
    letters: Letters,
    labels: FxHashMap<(u32, i64, i64), u32>,
    /// The contents of cells: letters, and the tags of elements among them.
    cells: FxHashMap<Vec<u32>, u32>,
    /// Nodes without what is below them, and nodes with so much of it.
    bare: Pairs,
    filled: Pairs,
}

/// The tokens of a cell, three numbers for each letter or name.
#[derive(Clone, Copy)]
enum Token {
    Letter(char),
    Open(u32),
    Close(u32),
}

/// An open element.
struct Opened {
    name: u32,
    rank: u8,
    spans: (i64, i64),
    first: usize,
}

/// Elements that lie deeper are read as their content, as libxml2 ends there.
const DEPTH_MAX: usize = 256;

/// Elements without an end tag.
const VOID: [&str; 8] = ["area", "br", "col", "hr", "img", "input", "link", "meta"];

/// Names of characters.
const ENTITIES: [(&str, char); 16] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("plusmn", '±'),
    ("times", '×'),
    ("deg", '°'),
    ("micro", 'µ'),
    ("le", '≤'),
    ("ge", '≥'),
    ("minus", '−'),
    ("hellip", '…'),
];

/// The parts of a table, outer ones last: an end tag closes what is not above its own rank, and the
/// start of one closes open ones up to its own rank.
fn rank(name: &str) -> u8 {
    match name {
        "td" | "th" => 1,
        "tr" => 2,
        "thead" | "tbody" | "tfoot" => 3,
        "table" => 4,
        _ => 0,
    }
}

impl TableTree {
    /// Whether there is a `td` in it.
    pub fn has_cells(&self) -> bool {
        self.nodes.iter().any(|node| node.cell.is_some())
    }

    /// Elements below the table, those within cells too.
    pub fn elements(&self) -> usize {
        self.elements
    }
}

impl TableReader {
    /// A reader that skips the tags, not the content, of `ignored` elements, and with `structure_only`
    /// the content of cells.
    pub fn new(ignored: &[String], structure_only: bool) -> Self {
        Self { ignored: ignored.to_vec(), structure_only, ..Self::default() }
    }

    /// The first table of a text. `None` where there is none. Linear in the text.
    pub fn read(&mut self, html: &str) -> Option<TableTree> {
        // Behind the last end of a tag all is text.
        let (html, after) = html.split_at(html.rfind('>').map_or(0, |at| at + 1));
        let mut rest = html;
        let mut build = Build::default();
        while let Some(at) = rest.find('<') {
            let (text, tag) = rest.split_at(at);
            self.text(text, &mut build);
            if let Some(comment) = tag.strip_prefix("<!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            let inner = &tag[1..];
            let is_tag =
                inner.starts_with(|next: char| next.is_ascii_alphabetic() || "/!?".contains(next));
            let end = inner.find('>').filter(|_| is_tag);
            let Some(end) = end else {
                self.text("<", &mut build);
                rest = inner;
                continue;
            };
            self.tag(&inner[..end], &mut build);
            if build.is_done {
                break;
            }
            rest = &inner[end + 1..];
        }
        if !build.is_done {
            self.text(rest, &mut build);
            self.text(after, &mut build);
        }
        while !build.open.is_empty() {
            self.close(&mut build);
        }
        (!build.tree.nodes.is_empty()).then_some(build.tree)
    }

    /// The contents of cells, by their numbers, and one above the greatest of their tokens.
    #[expect(clippy::iter_over_hash_type, reason = "each entry has a place of its own")]
    pub(crate) fn contents(&self) -> (Vec<&[u32]>, usize) {
        let mut out: Vec<&[u32]> = vec![&[]; self.cells.len()];
        for (content, id) in &self.cells {
            if let Some(slot) = out.get_mut(*id as usize) {
                *slot = content;
            }
        }
        (out, 3 * (self.names.len() + self.letters.count() as usize + 1))
    }

    fn token(&mut self, token: Token) -> u32 {
        match token {
            Token::Letter(letter) => 3 * self.letters.id(letter),
            Token::Open(name) => 3 * name + 1,
            Token::Close(name) => 3 * name + 2,
        }
    }

    fn text(&mut self, text: &str, build: &mut Build) {
        if self.structure_only || build.cell.is_none() {
            return;
        }
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let (letter, length) = match entity(rest) {
                Some(found) if letter == '&' => found,
                _ => (letter, letter.len_utf8()),
            };
            let id = self.token(Token::Letter(letter));
            if let Some(cell) = &mut build.cell {
                cell.push(id);
            }
            rest = &rest[length..];
        }
    }

    fn tag(&mut self, inner: &str, build: &mut Build) {
        let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |name| (true, name));
        let end =
            inner.find(|next: char| next.is_whitespace() || next == '/').unwrap_or(inner.len());
        let name = match &inner[..end] {
            name if name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Cow::Owned(name.to_ascii_lowercase())
            }
            name => Cow::Borrowed(name),
        };
        let is_deep = !is_end && build.open.len() >= DEPTH_MAX;
        let is_element = !is_deep && name.starts_with(|next: char| next.is_ascii_alphabetic());
        if !is_element
            || self.ignored.iter().any(|own| *own == name)
            || (build.open.is_empty() && name != "table")
        {
            return;
        }
        let (own, id) = (rank(&name), self.names.id(name.as_bytes()));
        // Parts of a table close up to the innermost table.
        let inside = build.open.iter().rposition(|open| open.rank == 4).map_or(0, |at| at + 1);
        if is_end {
            let found = build.open.iter().rposition(|open| open.name == id);
            let Some(found) = found
                .filter(|at| build.open.iter().skip(*at + 1).all(|between| between.rank <= own))
            else {
                return;
            };
            while build.open.len() > found {
                self.close(build);
            }
            build.is_done = build.open.is_empty();
            return;
        }
        if own > 0 && own < 4 {
            let closes = |open: &Opened| open.rank > 0 && open.rank <= own;
            let outermost = build.open.iter().skip(inside).position(closes).map(|at| at + inside);
            while outermost.is_some_and(|at| build.open.len() > at) {
                self.close(build);
            }
        }
        let is_root = build.open.is_empty();
        build.tree.elements += usize::from(!is_root);
        if build.cell.is_some() {
            let id = self.token(Token::Open(id));
            if let Some(cell) = build.cell.as_mut().filter(|_| !self.structure_only) {
                cell.push(id);
            }
            build.depth += 1;
        }
        let is_cell = name == "td" && build.cell.is_none();
        let spans = if is_cell { (span(inner, "colspan"), span(inner, "rowspan")) } else { (0, 0) };
        let is_void = VOID.contains(&name.as_ref());
        build.open.push(Opened { name: id, rank: own, spans, first: build.tree.nodes.len() });
        if is_cell {
            build.cell = Some(Vec::new());
        }
        if is_void {
            self.close(build);
        }
    }

    /// Closes the innermost element.
    fn close(&mut self, build: &mut Build) {
        let Some(Opened { name, spans, first, .. }) = build.open.pop() else { return };
        if build.depth > 0 {
            build.depth -= 1;
            let id = self.token(Token::Close(name));
            if let Some(cell) = build.cell.as_mut().filter(|_| !self.structure_only) {
                cell.push(id);
            }
            return;
        }
        let next = crate::intern::number(self.labels.len());
        let label = *self.labels.entry((name, spans.0, spans.1)).or_insert(next);
        let next = crate::intern::number(self.cells.len());
        let cell = build.cell.take().map(|content| *self.cells.entry(content).or_insert(next));
        // Own numbers are even, those of nodes with some of what is below them odd.
        let mut subtree = 2 * self.bare.id(label, cell.map_or(0, |cell| cell + 1));
        let mut end = build.tree.nodes.len();
        while end > first
            && let Some(child) = build.tree.nodes.get(end - 1)
        {
            subtree = 2 * self.filled.id(subtree, child.subtree) + 1;
            end = child.first;
        }
        build.tree.nodes.push(Node { label, cell, first, subtree });
    }
}

/// A tree that is being read.
#[derive(Default)]
struct Build {
    tree: TableTree,
    open: Vec<Opened>,
    /// The content of the open cell, and how many elements are open within it.
    cell: Option<Vec<u32>>,
    depth: usize,
    is_done: bool,
}

/// The character that a reference at the start of a text stands for, and the bytes of the reference.
fn entity(text: &str) -> Option<(char, usize)> {
    let name = text.get(1..)?;
    let end = name.bytes().take(12).position(|byte| byte == b';')?;
    let name = &name[..end];
    let letter = match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = match hex {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => ENTITIES.iter().find(|(own, _)| *own == name)?.1,
    };
    Some((letter, end + 2))
}

/// The number of an attribute: 1 by default, 0 where it is no number.
fn span(tag: &str, attribute: &str) -> i64 {
    let lower = tag.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find(attribute) {
        let (before, after) = (&rest[..at], rest[at + attribute.len()..].trim_start());
        if let Some(value) = after.strip_prefix('=')
            && before.ends_with(|letter: char| letter.is_whitespace() || "\"'".contains(letter))
        {
            let value = value.trim_start();
            let value = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
                _ => value.split(|next: char| next.is_whitespace() || next == '/').next(),
            };
            return value.and_then(|value| value.trim().parse().ok()).unwrap_or(0);
        }
        rest = after;
    }
    1
}
