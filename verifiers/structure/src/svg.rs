//! SVG: an XML document of known elements that draws something and refers to nothing outside itself.

use std::collections::BTreeSet;

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

/// Attributes that a shape needs to be seen. A `rect` may be sized by percentages.
const NEEDS: [(&str, &[&str]); 9] = [
    ("circle", &["r"]),
    ("ellipse", &["rx", "ry"]),
    ("image", &["href"]),
    ("line", &[]),
    ("path", &["d"]),
    ("polygon", &["points"]),
    ("polyline", &["points"]),
    ("rect", &["width", "height"]),
    ("use", &["href"]),
];

/// The first thing that is wrong with an SVG image that is well-formed XML: another root or
/// namespace, an unknown element, an event handler, an external reference, a reference to no `id`, a
/// double `id`, a `viewBox`, path or list of points that does not parse, or nothing that is drawn.
/// Linear in the document.
pub fn check(pieces: &[Piece<'_>]) -> Result<(), Break> {
    let Some(root) = tags(pieces).next() else { return Err(Break::new("no-element", "", 0..0)) };
    if root.name != "svg" || root.attribute("xmlns") != Some(NAMESPACE) {
        return Err(at(root, "root", &root.name));
    }
    let mut ids = BTreeSet::new();
    let mut draws = false;
    for tag in tags(pieces) {
        let is_shape = has_word(SHAPES, &tag.name);
        if !is_shape && !has_word(OTHERS, &tag.name) {
            return Err(at(tag, "unknown-element", &tag.name));
        }
        if let Some(id) = tag.attribute("id").filter(|id| !ids.insert(id.to_owned())) {
            return Err(at(tag, "duplicate-id", id));
        }
        attributes(tag)?;
        draws |= is_shape && is_complete(tag);
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
        None if draws => Ok(()),
        None => Err(at(root, "draws-nothing", "")),
    }
}

fn at(tag: &Tag<'_>, rule: &'static str, what: &str) -> Break {
    Break::new(rule, what.chars().take(60).collect::<String>(), tag.span.clone())
}

fn attributes(tag: &Tag<'_>) -> Result<(), Break> {
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
                value.starts_with('#') || tag.name == "image" && value.starts_with("data:image/")
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
    let inside = |part: &str| part.trim_start_matches(['"', '\'', ' ']).starts_with('#');
    value.contains("@import") || !value.split("url(").skip(1).all(inside)
}

/// Whether a shape has what it needs, none of it empty or zero.
fn is_complete(tag: &Tag<'_>) -> bool {
    let needs =
        NEEDS.iter().find(|(name, _)| *name == tag.name).map_or(&[][..], |(_, needs)| needs);
    needs.iter().all(|name| {
        let linked = if *name == "href" { tag.attribute("xlink:href") } else { None };
        tag.attribute(name)
            .or(linked)
            .is_some_and(|value| !["", "0", "none"].contains(&value.trim()))
    })
}

/// The `id` that an attribute refers to.
fn target<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    if ["href", "xlink:href"].contains(&name) {
        return value.trim().strip_prefix('#');
    }
    let inner = value.trim().strip_prefix("url(")?.split(')').next()?;
    inner.trim_matches(['"', '\'', ' ']).strip_prefix('#')
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
