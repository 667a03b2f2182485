//! The reader of both dialects.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::{memchr, memmem};

use super::dialect;
use super::piece::{ATTRIBUTES_MAX, Piece, Tag};
use crate::{Break, DEPTH_MAX};

/// The namespaces of the prefixes `xml` and `xmlns`, which nothing else may be bound to.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// The longest reference, in bytes.
const REFERENCE_BYTES_MAX: usize = 40;

/// Names and values, in order.
type Attributes<'t> = Vec<(Cow<'t, str>, Cow<'t, str>)>;

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
    html: bool,
    /// The names of the open elements and where their tags begin.
    open: Vec<(Cow<'t, str>, usize)>,
    pieces: Vec<Piece<'t>>,
    /// Prefixes in scope, with their namespaces and the depth of the element that binds them.
    bound: Vec<(&'t str, Cow<'t, str>, usize)>,
    has_root: bool,
    has_doctype: bool,
}

pub(super) fn read(text: &str, html: bool) -> Result<Vec<Piece<'_>>, Break> {
    let at = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut reader = Reader { text, at, html, ..Reader::default() };
    if !html && reader.rest().starts_with("<?xml") {
        reader.declaration()?;
    }
    while reader.at < text.len() {
        if reader.rest().starts_with('<') { reader.markup()? } else { reader.characters()? }
    }
    reader.finish()
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn stop<T>(&self, rule: &'static str, what: &str, from: usize) -> Result<T, Break> {
        let shown = &what[..what.floor_char_boundary(60)];
        let end = self.text.ceil_char_boundary((self.at + 1).min(self.text.len())).max(from);
        Err(Break::new(rule, shown, from..end))
    }

    fn finish(mut self) -> Result<Vec<Piece<'t>>, Break> {
        while let Some((name, start)) = self.open.pop() {
            if !(self.html && dialect::may_end(&name)) {
                return self.stop("unclosed", &name, start);
            }
            self.pieces.push(Piece::Close);
        }
        if self.has_root { Ok(self.pieces) } else { self.stop("no-element", "", 0) }
    }

    /// Behind `close`, or the end of the text where it lacks.
    fn skip_to(&mut self, close: &str, rule: &'static str) -> Result<&'t str, Break> {
        let (start, rest) = (self.at, self.rest());
        let Some(length) = memmem::find(rest.as_bytes(), close.as_bytes()) else {
            return self.stop(rule, "no end", start);
        };
        self.at += length + close.len();
        Ok(&rest[..length])
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.at += length;
        length > 0
    }

    fn markup(&mut self) -> Result<(), Break> {
        let (start, rest) = (self.at, self.rest());
        if rest.starts_with("<!--") {
            self.at += 4;
            let inner = self.skip_to("-->", "comment")?;
            let is_bad = if self.html {
                inner.starts_with('>')
            } else {
                inner.contains("--") || inner.ends_with('-')
            };
            return if is_bad {
                self.stop("comment", "--", start)
            } else {
                self.legal(inner, start)
            };
        }
        if rest.starts_with("<![CDATA[") && !self.html && !self.open.is_empty() {
            self.at += 9;
            let inner = self.skip_to("]]>", "cdata")?;
            self.legal(inner, start)?;
            self.pieces.push(Piece::Text(inner.into()));
            return Ok(());
        }
        if rest.starts_with("<!") {
            return self.doctype();
        }
        if rest.starts_with("<?") && !self.html {
            self.at += 2;
            let name = self.name()?;
            let inner = self.skip_to("?>", "instruction")?;
            let is_apart = inner.is_empty() || inner.starts_with([' ', '\t', '\r', '\n']);
            let is_bad = name.eq_ignore_ascii_case("xml") || name.contains(':') || !is_apart;
            return if is_bad {
                self.stop("instruction", name, start)
            } else {
                self.legal(inner, start)
            };
        }
        if rest.starts_with("</") { self.end_tag() } else { self.start_tag() }
    }

    /// `<?xml version="1.0" encoding="..." standalone="..."?>`
    fn declaration(&mut self) -> Result<(), Break> {
        let start = self.at;
        self.at += 5;
        let inner = self.skip_to("?>", "declaration")?;
        let (begin, end) = (start + 5, self.at);
        let part = Reader { text: inner, ..Reader::default() };
        let given = part.pairs().map_err(|broken| broken.shifted(begin))?;
        let names = ["version", "encoding", "standalone"];
        let order = given.iter().map(|(name, _)| names.iter().position(|one| one == name));
        let is_good = order.is_sorted_by(|one, two| one.is_some() && one < two)
            && given
                .first()
                .is_some_and(|(name, value)| name == "version" && value.starts_with("1."))
            && given.iter().all(|(name, value)| match name.as_ref() {
                "standalone" => ["yes", "no"].contains(&value.as_ref()),
                "encoding" => value.starts_with(|c: char| c.is_ascii_alphabetic()),
                _ => names.contains(&name.as_ref()),
            });
        self.at = end;
        if is_good { Ok(()) } else { self.stop("declaration", inner, start) }
    }

    /// All of the text as attributes.
    fn pairs(mut self) -> Result<Attributes<'t>, Break> {
        let mut pairs = Vec::new();
        while self.skip_space() && self.at < self.text.len() {
            pairs.push(self.attribute()?);
        }
        if self.at < self.text.len() { self.stop("declaration", self.rest(), 0) } else { Ok(pairs) }
    }

    fn doctype(&mut self) -> Result<(), Break> {
        let (start, rest) = (self.at, self.rest());
        let keyword = rest.get(2..9);
        let is_html = self.html;
        let is_one = keyword.is_some_and(|own| {
            if is_html { own.eq_ignore_ascii_case("doctype") } else { own == "DOCTYPE" }
        });
        if !is_one || self.has_root || self.has_doctype {
            return self.stop("declaration", keyword.unwrap_or("!"), start);
        }
        self.has_doctype = true;
        self.at += 9;
        if !self.skip_space() {
            return self.stop("doctype", "", start);
        }
        self.name()?;
        self.skip_space();
        let keyword = self.rest().get(..6).map(str::to_ascii_uppercase);
        let literals = usize::from(keyword.as_deref() == Some("SYSTEM"))
            + 2 * usize::from(keyword.as_deref() == Some("PUBLIC"));
        self.at += if literals > 0 { 6 } else { 0 };
        for _ in 0..literals {
            let is_apart = self.skip_space();
            let Some(mark) =
                self.rest().chars().next().filter(|mark| is_apart && "\"'".contains(*mark))
            else {
                if self.html && self.rest().starts_with('>') {
                    break;
                }
                return self.stop("doctype", "", start);
            };
            self.at += 1;
            self.skip_to(mark.encode_utf8(&mut [0; 4]), "doctype")?;
        }
        self.skip_space();
        if self.rest().starts_with('[') {
            return self.stop("internal-subset", "entities and declarations are refused", start);
        }
        if !self.rest().starts_with('>') {
            return self.stop("doctype", "", start);
        }
        self.at += 1;
        Ok(())
    }

    fn name(&mut self) -> Result<&'t str, Break> {
        let (start, rest) = (self.at, self.rest());
        let goes_on = |c: char| if self.html { is_html_name(c) } else { is_name(c) };
        let length = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
        let name = &rest[..length];
        let begins = |c: char| c.is_alphabetic() || !self.html && is_name_start(c);
        if !name.starts_with(begins) {
            return self.stop("name", name, start);
        }
        self.at += length;
        Ok(name)
    }

    fn start_tag(&mut self) -> Result<(), Break> {
        let start = self.at;
        self.at += 1;
        let name = self.name()?;
        let name: Cow<'t, str> = if self.html { lower(name) } else { name.into() };
        let is_root = self.open.is_empty();
        if is_root && self.has_root && !self.html {
            return self.stop("second-root", &name, start);
        }
        let (attributes, is_empty) = self.attributes(start)?;
        let ends = if self.html { self.html_element(&name, is_empty, start)? } else { is_empty };
        if self.open.len() >= DEPTH_MAX {
            return self.stop("too-deep", &name, start);
        }
        let raw = if self.html && !ends { dialect::raw_text(&name) } else { None };
        if !self.html {
            self.namespaces(&name, &attributes, start)?;
        }
        self.has_root = true;
        self.open.push((name.clone(), start));
        self.pieces.push(Piece::Open(Tag { name: name.clone(), attributes, span: start..self.at }));
        if let Some(has_references) = raw {
            self.raw_text(&name, has_references)?;
        }
        if ends {
            self.close();
        }
        Ok(())
    }

    /// Ends what ends before an element of HTML. Whether the element itself ends with its tag.
    fn html_element(&mut self, name: &str, is_empty: bool, start: usize) -> Result<bool, Break> {
        let (is_known, is_void) = (dialect::is_known(name), dialect::is_void(name));
        if !is_known || is_empty && !is_void {
            let foreign = ["svg", "math"];
            let mut around = self.open.iter().map(|(open, _)| open.as_ref()).chain([name]);
            return if around.any(|one| foreign.contains(&one)) {
                Ok(is_empty)
            } else {
                self.stop(if is_known { "self-closing" } else { "unknown-element" }, name, start)
            };
        }
        while self.open.last().is_some_and(|(open, _)| dialect::ends_before(open, name)) {
            self.close();
        }
        Ok(is_void)
    }

    fn close(&mut self) {
        self.open.pop();
        let depth = self.open.len();
        self.bound.truncate(self.bound.partition_point(|(.., at)| *at < depth));
        self.pieces.push(Piece::Close);
    }

    fn end_tag(&mut self) -> Result<(), Break> {
        let start = self.at;
        self.at += 2;
        let name = self.name()?;
        let name = if self.html { lower(name) } else { name.into() };
        self.skip_space();
        if !self.rest().starts_with('>') {
            return self.stop("tag", &name, start);
        }
        while self.html
            && self.open.last().is_some_and(|(open, _)| *open != name && dialect::may_end(open))
        {
            self.close();
        }
        if self.open.last().is_none_or(|(open, _)| *open != name) {
            return self.stop("mismatch", &name, start);
        }
        self.at += 1;
        self.close();
        Ok(())
    }

    /// The attributes and the end of a tag; whether it is `/>`.
    fn attributes(&mut self, start: usize) -> Result<(Attributes<'t>, bool), Break> {
        let mut found: Attributes<'t> = Vec::new();
        loop {
            let is_apart = self.skip_space();
            if self.rest().starts_with('>') {
                self.at += 1;
                return Ok((found, false));
            }
            if self.rest().starts_with("/>") {
                self.at += 2;
                return Ok((found, true));
            }
            if !is_apart || self.at >= self.text.len() || found.len() >= ATTRIBUTES_MAX {
                return self.stop("tag", "", start);
            }
            let begin = self.at;
            let pair = self.attribute()?;
            if found.iter().any(|(name, _)| *name == pair.0) {
                return self.stop("duplicate-attribute", &pair.0, begin);
            }
            found.push(pair);
        }
    }

    fn attribute(&mut self) -> Result<(Cow<'t, str>, Cow<'t, str>), Break> {
        let start = self.at;
        let name = if self.html { self.html_attribute_name()? } else { self.name()?.into() };
        let behind = self.at;
        self.skip_space();
        if !self.rest().starts_with('=') {
            self.at = behind;
            return if self.html {
                Ok((name, "".into()))
            } else {
                self.stop("attribute", &name, start)
            };
        }
        self.at += 1;
        self.skip_space();
        let begin = self.at + 1;
        let value = match self.rest().chars().next() {
            Some(mark @ ('"' | '\'')) => {
                self.at += 1;
                self.skip_to(mark.encode_utf8(&mut [0; 4]), "attribute")?
            }
            Some(c) if self.html && !"<>=`".contains(c) => {
                let rest = self.rest();
                let end = |c: char| c.is_ascii_whitespace() || "\"'<>=`".contains(c);
                let length = rest.find(end).unwrap_or(rest.len());
                self.at += length;
                &rest[..length]
            }
            _ => return self.stop("attribute", &name, start),
        };
        if value.contains('<') && !self.html {
            return self.stop("attribute", &name, start);
        }
        Ok((name, self.decoded(value, begin)?))
    }

    fn html_attribute_name(&mut self) -> Result<Cow<'t, str>, Break> {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>/=".contains(c);
        let length = rest.find(ends).unwrap_or(rest.len());
        if length == 0 {
            return self.stop("attribute", rest, self.at);
        }
        self.at += length;
        Ok(lower(&rest[..length]))
    }

    /// Binds the prefixes of a tag, and refuses those that are not bound, reserved ones, and attributes of one
    /// namespace and name.
    fn namespaces(
        &mut self,
        name: &str,
        attributes: &Attributes<'t>,
        start: usize,
    ) -> Result<(), Break> {
        let depth = self.open.len();
        for (have, value) in attributes {
            let Some(prefix) = have.strip_prefix("xmlns").filter(|rest| is_prefix(rest)) else {
                continue;
            };
            let prefix = prefix.trim_start_matches(':');
            let is_reserved = value == XMLNS || (value == XML) != (prefix == "xml");
            let is_named = !prefix.is_empty() && (value.is_empty() || prefix == "xmlns");
            if is_reserved || is_named || self.bound.len() >= ATTRIBUTES_MAX {
                return self.stop("namespace", have, start);
            }
            if let Cow::Borrowed(whole) = have {
                let bare = whole["xmlns".len()..].trim_start_matches(':');
                self.bound.push((bare, value.clone(), depth));
            }
        }
        let mut expanded = BTreeSet::new();
        let names = attributes.iter().map(|(have, _)| have.as_ref());
        for (at, have) in names.chain([name]).enumerate() {
            let Some((prefix, local)) = have.split_once(':') else { continue };
            let is_element = at == attributes.len();
            let binds = prefix == "xmlns" && !is_element;
            let mut bound = self.bound.iter().rev();
            let space = match bound.find(|(one, ..)| *one == prefix) {
                _ if prefix == "xml" || binds => Some(prefix),
                found => found.map(|(_, space, _)| space.as_ref()),
            };
            if space.is_none() || local.contains(':') || !local.starts_with(is_name_start) {
                return self.stop("namespace", have, start);
            }
            if !is_element && !expanded.insert((space, local)) {
                return self.stop("duplicate-attribute", have, start);
            }
        }
        Ok(())
    }

    /// What stands within an element of raw text. Its end tag follows.
    fn raw_text(&mut self, name: &str, has_references: bool) -> Result<(), Break> {
        let (start, rest) = (self.at, self.rest());
        let mut from = 0;
        while let Some(at) = rest.get(from..).and_then(|part| memmem::find(part.as_bytes(), b"</"))
        {
            let end = from + at;
            let is_end = rest
                .get(end + 2..end + 2 + name.len())
                .is_some_and(|have| have.eq_ignore_ascii_case(name));
            if is_end {
                let inner = &rest[..end];
                let text = if has_references { self.decoded(inner, start)? } else { inner.into() };
                self.pieces.push(Piece::Text(text));
                self.at += end;
                return Ok(());
            }
            from = end + 2;
        }
        self.at = self.text.len();
        self.stop("unclosed", name, start)
    }

    fn characters(&mut self) -> Result<(), Break> {
        let (start, rest) = (self.at, self.rest());
        let length = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
        let text = &rest[..length];
        self.at += length;
        if self.open.is_empty() && !self.html {
            let is_blank = text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
            return if is_blank { Ok(()) } else { self.stop("text-outside", text.trim(), start) };
        }
        if let Some(at) = memmem::find(text.as_bytes(), b"]]>").filter(|_| !self.html) {
            return self.stop("cdata", "]]>", start + at);
        }
        let text = self.decoded(text, start)?;
        self.pieces.push(Piece::Text(text));
        Ok(())
    }

    fn legal(&self, text: &str, start: usize) -> Result<(), Break> {
        match text.find(|c: char| !is_character(c)) {
            Some(at) => self.stop("character", "a control character", start + at),
            None => Ok(()),
        }
    }

    /// A text with its references decoded.
    fn decoded(&self, raw: &'t str, start: usize) -> Result<Cow<'t, str>, Break> {
        self.legal(raw, start)?;
        let Some(first) = memchr(b'&', raw.as_bytes()) else { return Ok(raw.into()) };
        let mut out = raw[..first].to_owned();
        let mut rest = &raw[first..];
        while let Some(behind) = rest.strip_prefix('&') {
            let near = &behind[..behind.floor_char_boundary(REFERENCE_BYTES_MAX)];
            let name = near.split_once(';').map(|(name, _)| name);
            match name.and_then(|name| self.reference(name)) {
                Some(text) => {
                    out.push_str(&text);
                    rest = &behind[name.map_or(0, |name| name.len() + 1)..];
                }
                None if self.html && !is_ambiguous(near) => {
                    out.push('&');
                    rest = behind;
                }
                None => {
                    let at = start + raw.len() - rest.len();
                    return self.stop("reference", name.unwrap_or("&"), at);
                }
            }
            let next = memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
            out.push_str(&rest[..next]);
            rest = &rest[next..];
        }
        Ok(out.into())
    }

    /// The text of the reference `&name;`.
    fn reference(&self, name: &str) -> Option<Cow<'static, str>> {
        if let Some(code) = name.strip_prefix('#') {
            let hex = code.strip_prefix('x');
            let hex = hex.or_else(|| code.strip_prefix('X').filter(|_| self.html));
            let (digits, radix) = match hex {
                Some(hex) => (hex, 16),
                None => (code, 10),
            };
            let is_number = digits.starts_with(|c: char| c.is_digit(radix));
            let code = u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
            return char::from_u32(code).filter(|c| is_character(*c)).map(|c| c.to_string().into());
        }
        let predefined = match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            name => return if self.html { dialect::entity(name).map(Cow::Owned) } else { None },
        };
        Some(predefined.into())
    }
}

/// Whether what follows an ampersand of HTML makes it ambiguous: a name and `;`, or the sign of a number.
fn is_ambiguous(behind: &str) -> bool {
    let rest = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    behind.starts_with('#') || rest.len() < behind.len() && rest.starts_with(';')
}

/// Whether a text behind `xmlns` is empty or a prefix.
fn is_prefix(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(':')
}

/// The same in lower case, as names of HTML are compared.
fn lower(name: &str) -> Cow<'_, str> {
    let is_lower = !name.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_lower { name.into() } else { name.to_ascii_lowercase().into() }
}

/// Whether a document may hold the character ("Char" of XML 1.0).
fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// "`NameStartChar`" of XML 1.0, fifth edition.
fn is_name_start(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// "`NameChar`" of XML 1.0, fifth edition.
fn is_name(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Whether a name of an element of HTML goes on.
fn is_html_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:".contains(c)
}
