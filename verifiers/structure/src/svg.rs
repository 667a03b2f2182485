//! SVG: an XML document of known elements that draws something and refers to nothing outside itself.

use std::collections::BTreeSet;

use crate::fold::is_blank;
use crate::markup::{Piece, Tag, tags};
use crate::{Break, has_word};

/// The namespace of SVG.
const NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// Elements that draw.
const SHAPES: &str = " circle ellipse image line path polygon polyline rect text use ";

/// All other elements of SVG 1.1 and 2, without scripts and foreign content.
const OTHERS: &str = " a animate animateMotion animateTransform clipPath defs desc feBlend \
     feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting \
     feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR \
     feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight \
     feSpecularLighting feSpotLight feTile feTurbulence filter g linearGradient marker mask metadata \
     mpath pattern radialGradient set stop style svg switch symbol textPath title tspan view ";

/// Elements whose content is not drawn where it stands. That of a `symbol` is drawn where it is used.
const UNDRAWN: &str = "clipPath defs desc filter linearGradient marker mask metadata pattern radialGradient style \
                       symbol title";

/// Attributes that a shape needs to be seen, none of them empty or zero. A `rect` may be sized by percentages.
const NEEDS: [(&str, &[&str]); 5] = [
    ("circle", &["r"]),
    ("ellipse", &["rx", "ry"]),
    ("image", &["href"]),
    ("rect", &["width", "height"]),
    ("use", &["href"]),
];

/// The prefix of the elements of an image: that of its root, with its colon.
pub fn prefix<'p>(pieces: &'p [Piece<'_>]) -> &'p str {
    tags(pieces).next().and_then(|root| root.name.strip_suffix("svg")).unwrap_or("")
}

/// The first thing that is wrong with an SVG image that is well-formed XML: another root or
/// namespace, an unknown element, an event handler, an external reference, a reference to no `id`, a
/// double `id`, a `viewBox`, path or list of points that does not parse, or nothing that is drawn.
/// Linear in the document.
pub fn check(pieces: &[Piece<'_>]) -> Result<(), Break> {
    let Some(root) = tags(pieces).next() else { return Err(Break::new("no-element", "", 0..0)) };
    let prefix = prefix(pieces);
    let space = prefix.strip_suffix(':').map_or("xmlns".to_owned(), |own| format!("xmlns:{own}"));
    let is_bare = prefix.is_empty() || prefix.ends_with(':');
    if !root.name.ends_with("svg") || !is_bare || root.attribute(&space) != Some(NAMESPACE) {
        return Err(at(root, "root", &root.name));
    }
    let mut ids = BTreeSet::new();
    for tag in tags(pieces) {
        let name = tag.name.strip_prefix(prefix).unwrap_or_default();
        if !has_word(SHAPES, name) && !has_word(OTHERS, name) {
            return Err(at(tag, "unknown-element", &tag.name));
        }
        if let Some(id) = tag.attribute("id").filter(|id| !ids.insert(id.to_owned())) {
            return Err(at(tag, "duplicate-id", id));
        }
        attributes(tag, name)?;
    }
    let mut texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        _ => None,
    });
    if texts.any(|text| leads_out(text)) {
        return Err(at(root, "outside-reference", ""));
    }
    let dangling = |tag: &&Tag<'_>| {
        let targets = tag.attributes.iter().filter_map(|(name, value)| target(name, value));
        targets.into_iter().any(|id| !ids.contains(id))
    };
    match tags(pieces).find(dangling) {
        Some(tag) => Err(at(tag, "dangling-reference", &tag.name)),
        None if draws(pieces, prefix) => Ok(()),
        None => Err(at(root, "draws-nothing", "")),
    }
}

/// An element that is open, and how its content is drawn.
#[derive(Clone, Copy)]
struct Frame<'p> {
    name: &'p str,
    id: Option<&'p str>,
    /// Whether nothing in it is drawn.
    hides: bool,
    is_visible: bool,
    /// Whether there is paint for areas, and for lines.
    paints: [bool; 2],
}

/// How often an element may be used by one that is used itself.
const USES_MAX: usize = 8;

/// Whether an image draws something. Styles that are not at their elements are not read; where there are
/// some, a shape may have its paint from them.
fn draws(pieces: &[Piece<'_>], prefix: &str) -> bool {
    let styled = tags(pieces).any(|tag| tag.name.strip_prefix(prefix) == Some("style"));
    let mut open: Vec<Frame<'_>> = Vec::new();
    // What is drawn where each of the elements is, and what is where an element with an id is used.
    let (mut drawn, mut uses) = (BTreeSet::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Open(tag) => {
                let frame =
                    frame(tag, tag.name.strip_prefix(prefix).unwrap_or_default(), open.last());
                open.push(frame);
                let name = frame.name;
                let [fills, strokes] = frame.paints;
                let paints = styled || fills && name != "line" || strokes;
                let is_seen = paints || ["image", "use"].contains(&name);
                let is_shape = has_word(SHAPES, name) && name != "text";
                if is_shape && frame.is_visible && is_seen && is_complete(tag, name) {
                    let places = places(&open);
                    let mut links =
                        tag.attributes.iter().filter(|(name, _)| name.ends_with("href"));
                    match links.find_map(|(name, value)| target(name, value)) {
                        Some(id) if name == "use" => uses.push((id, places)),
                        _ => drawn.extend(places),
                    }
                }
            }
            Piece::Text(text) => {
                let is_text = open.iter().any(|frame| frame.name == "text");
                let paints = |frame: &Frame<'_>| {
                    frame.is_visible && (styled || frame.paints.contains(&true))
                };
                if is_text && open.last().is_some_and(paints) && !is_blank(text) {
                    drawn.extend(places(&open));
                }
            }
            Piece::Close => {
                open.pop();
            }
        }
    }
    for _ in 0..USES_MAX {
        let more = uses.iter().filter(|(id, _)| drawn.contains(*id)).flat_map(|(_, places)| places);
        let more: Vec<&str> = more.copied().filter(|id| !drawn.contains(id)).collect();
        if more.is_empty() {
            break;
        }
        drawn.extend(more);
    }
    drawn.contains("")
}

/// The ids of the elements with which the innermost one is drawn where they are used, and "" where it is
/// drawn in its own place.
fn places<'p>(open: &[Frame<'p>]) -> Vec<&'p str> {
    let mut places = Vec::new();
    for frame in open.iter().rev() {
        if !frame.hides || frame.name == "symbol" {
            places.extend(frame.id.filter(|id| !id.is_empty()));
        }
        if frame.hides {
            return places;
        }
    }
    places.push("");
    places
}

fn frame<'p>(tag: &'p Tag<'_>, name: &'p str, around: Option<&Frame<'p>>) -> Frame<'p> {
    let is_zero = |name: &str| property(tag, name).is_some_and(zero);
    let paint = |name: &str, inherited: bool| match property(tag, name) {
        None | Some("inherit") => inherited,
        Some(value) => !["none", "transparent"].contains(&value),
    };
    let [fills, strokes] = around.map_or([true, false], |around| around.paints);
    Frame {
        name,
        id: tag.attribute("id"),
        hides: has_word(UNDRAWN, name)
            || property(tag, "display") == Some("none")
            || is_zero("opacity")
            || ["svg", "image", "use"].contains(&name) && (is_zero("width") || is_zero("height")),
        is_visible: match property(tag, "visibility") {
            Some("hidden" | "collapse") => false,
            Some("visible") => true,
            _ => around.is_none_or(|around| around.is_visible),
        },
        paints: [
            paint("fill", fills) && !is_zero("fill-opacity"),
            paint("stroke", strokes) && !is_zero("stroke-opacity") && !is_zero("stroke-width"),
        ],
    }
}

/// The value of a property of an element, in its style or else as an attribute.
fn property<'p>(tag: &'p Tag<'_>, name: &str) -> Option<&'p str> {
    let mut styles = tag.attribute("style").unwrap_or("").split(';').rev();
    let own = styles.find_map(|one| {
        let (key, value) = one.split_once(':')?;
        (key.trim() == name).then(|| value.trim().trim_end_matches("!important").trim())
    });
    own.or_else(|| tag.attribute(name).map(str::trim))
}

/// Whether a value is zero, in any unit.
fn zero(value: &str) -> bool {
    number(value).is_some_and(|(number, _)| number == 0.0)
}

fn at(tag: &Tag<'_>, rule: &'static str, what: &str) -> Break {
    Break::new(rule, what.chars().take(60).collect::<String>(), tag.span.clone())
}

fn attributes(tag: &Tag<'_>, element: &str) -> Result<(), Break> {
    for (name, value) in &tag.attributes {
        let value = value.trim();
        let is_good = match name.as_ref() {
            "viewBox" => numbers(value)
                .is_some_and(|all| matches!(all.as_slice(), [_, _, w, h] if *w > 0.0 && *h > 0.0)),
            "points" => numbers(value).is_some_and(|all| all.len() % 2 == 0),
            "d" => path(value),
            "r" | "rx" | "ry" | "width" | "height" => !value.starts_with('-'),
            "href" | "xlink:href" => {
                // An image may carry its bytes; nothing else may lead out of the document.
                value.starts_with('#') || element == "image" && value.starts_with("data:image/")
            }
            name => !name.starts_with("on"),
        };
        if !is_good || leads_out(value) {
            return Err(at(tag, "attribute", name));
        }
    }
    Ok(())
}

/// Whether a style or an attribute refers to another document.
fn leads_out(value: &str) -> bool {
    let inside = |part: &str| part.trim_start_matches(is_quoting).starts_with('#');
    value.contains("@import") || !value.split("url(").skip(1).all(inside)
}

/// Whether a shape has what it needs to have an extent.
fn is_complete(tag: &Tag<'_>, element: &str) -> bool {
    let of = |name: &str| property(tag, name).unwrap_or("");
    let count = |text: &str| numbers(text.trim()).map_or(0, |all| all.len());
    match element {
        "path" => {
            // A move alone draws nothing; further points of a move are lines.
            let has_line = of("d").contains(|c| "LHVCSQTA".contains(char::to_ascii_uppercase(&c)));
            has_line || of("d").split(['M', 'm', 'Z', 'z']).any(|part| count(part) > 2)
        }
        "polygon" | "polyline" => count(of("points")) > 2,
        "line" => ["x", "y"].iter().any(|axis| {
            let end = |side: &str| number(of(&format!("{axis}{side}"))).map_or(0.0, |(at, _)| at);
            end("1").to_bits() != end("2").to_bits()
        }),
        element => {
            let needs =
                NEEDS.iter().find(|(name, _)| *name == element).map_or(&[][..], |(_, needs)| needs);
            needs.iter().all(|name| {
                let linked = if *name == "href" { tag.attribute("xlink:href") } else { None };
                let value = property(tag, name).or(linked).unwrap_or("");
                !["", "none"].contains(&value.trim()) && !zero(value)
            })
        }
    }
}

/// The `id` that an attribute refers to.
fn target<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    if ["href", "xlink:href"].contains(&name) {
        return value.trim().strip_prefix('#');
    }
    let inner = value.trim().strip_prefix("url(")?.split(')').next()?;
    inner.trim_matches(is_quoting).strip_prefix('#')
}

/// Whether a character may stand around the target of a reference.
fn is_quoting(c: char) -> bool {
    c.is_whitespace() || "\"'".contains(c)
}

/// Numbers between blanks and commas. `None` where anything else is there.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (value, behind) = number(rest)?;
        found.push(value);
        rest = separator(behind);
    }
    Some(found)
}

/// The text behind blanks and at most one comma.
fn separator(text: &str) -> &str {
    let rest = text.trim_start();
    rest.strip_prefix(',').map_or(rest, str::trim_start)
}

/// A number at the start, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = usize::from(text.starts_with(['+', '-']));
    end += digits(&text[end..]);
    if text[end..].starts_with('.') {
        end += 1 + digits(&text[end + 1..]);
    }
    if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(power.starts_with(['+', '-']));
        let length = digits(&power[sign..]);
        end += if length > 0 { 1 + sign + length } else { 0 };
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Whether path data follows its grammar: commands, the first of them a move, each with all of its
/// numbers.
fn path(text: &str) -> bool {
    let mut rest = text;
    let mut is_first = true;
    while let Some(command) = rest.chars().next() {
        let count = match command.to_ascii_uppercase() {
            'Z' => 0,
            'H' | 'V' => 1,
            'M' | 'L' | 'T' => 2,
            'S' | 'Q' => 4,
            'C' => 6,
            'A' => 7,
            _ => return false,
        };
        if is_first && !command.eq_ignore_ascii_case(&'M') {
            return false;
        }
        is_first = false;
        rest = rest[1..].trim_start();
        let mut taken = 0;
        while !rest.is_empty() && !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            // The flags of an arc are one digit, and may stand side by side.
            let is_flag = count == 7 && matches!(taken % 7, 3 | 4);
            let flag = || rest.strip_prefix(['0', '1']);
            let Some(behind) =
                (if is_flag { flag() } else { number(rest).map(|(_, behind)| behind) })
            else {
                return false;
            };
            rest = separator(behind);
            taken += 1;
        }
        let is_whole = if count == 0 { taken == 0 } else { taken > 0 && taken % count == 0 };
        if !is_whole {
            return false;
        }
    }
    true
}
