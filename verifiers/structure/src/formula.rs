//! LaTeX formulas compared by their structure: the tree of tokens, whatever their spacing, braces and
//! style.

use crate::latex::{Token, Tokens, tokens};
use crate::{Break, DEPTH_MAX, has_word};

/// Commands that change nothing of what is said: space, size, style, marks of equations.
const SILENT: &str = " , ; : ! > space quad qquad thinspace thickspace enspace hfill displaystyle \
     textstyle scriptstyle limits nolimits left right middle big Big bigg Bigg bigl bigr Bigl Bigr \
     biggl biggr Biggl Biggr nonumber notag mathstrut strut rm it cal mathord mathop mathrel mathbin \
     relax ensuremath ";

/// Commands whose argument alone is said, where style does not count.
const STYLES: &str = " mathrm text textrm textit textnormal mathit mathnormal mbox operatorname \
     hbox mathsf textsf ";

/// Commands whose argument is no part of the formula.
const NOTES: &str = " label tag hspace vspace phantom hphantom vphantom color ";

/// Commands with one argument and with two.
const ARGUMENTS: [(usize, &str); 2] = [
    (
        1,
        " sqrt overline underline hat widehat tilde widetilde bar vec dot ddot mathbb mathcal mathbf \
         mathfrak mathscr boldsymbol bm textbf overrightarrow overbrace underbrace not pmod boxed ",
    ),
    (2, " frac binom overset underset stackrel xrightarrow "),
];

/// Functions that have a command.
const FUNCTIONS: &str = " sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp \
     min max sup inf lim det dim ker gcd deg arg Pr hom ";

/// Names for the same sign. A command stands with its backslash.
const SAME: &str = r" \dfrac \frac \tfrac \frac \cfrac \frac \dbinom \binom \tbinom \binom \le \leq \ge \geq
     \ne \neq \leqslant \leq \geqslant \geq \to \rightarrow \gets \leftarrow \land \wedge \lor \vee
     \lnot \neg \lbrace \{ \rbrace \} \lbrack [ \rbrack ] \vert | \lvert | \rvert | \mid | \Vert \|
     \lVert \| \rVert \| \dots \ldots \dotsc \ldots \dotsb \ldots \cdots \ldots \dotso \ldots
     \varnothing \emptyset \bm \mathbf \boldsymbol \mathbf \textbf \mathbf \ast * \star * \cdotp \cdot
     \iff \Leftrightarrow \implies \Rightarrow \Longrightarrow \Rightarrow \longrightarrow \rightarrow
     \owns \ni \colon : \lt < \gt > \prime ' \intop \int \widehat \hat \widetilde \tilde
     − - · \cdot × \times ≤ \leq ≥ \geq ≠ \neq → \rightarrow ∞ \infty π \pi … \ldots ∈ \in ∪ \cup ∩ \cap
     α \alpha β \beta γ \gamma δ \delta ε \epsilon θ \theta λ \lambda μ \mu σ \sigma φ \phi ω \omega
     \varepsilon \epsilon \varphi \phi ∑ \sum ∫ \int √ \sqrt ± \pm ∂ \partial ∇ \nabla ⇒ \Rightarrow ";

/// The tokens of a formula in canonical form: arguments in braces, each script a group, the lower one
/// first, one name for each sign. Equal lists are equal formulas. `style` says whether upright type and
/// the like count. Linear in the text.
///
/// # Errors
/// Braces that do not pair up, a command without its argument, a script of nothing or a second one.
pub fn canonical(text: &str, style: bool) -> Result<Vec<String>, Break> {
    let text = without_marks(text);
    let mut reader = Reader { tokens: tokens(text), held: None, style, depth: 0 };
    let mut out = Vec::new();
    reader.sequence(&mut out, None)?;
    while out.last().is_some_and(|last| [".", ",", ";"].contains(&last.as_str())) {
        out.pop();
    }
    Ok(out)
}

/// A formula without the marks around it and its full stop.
fn without_marks(text: &str) -> &str {
    const MARKS: [(&str, &str); 5] = [
        ("$$", "$$"),
        ("$", "$"),
        ("\\(", "\\)"),
        ("\\[", "\\]"),
        ("\\begin{equation*}", "\\end{equation*}"),
    ];
    let bare = text.trim().trim_end_matches(['.', ',']).trim_end();
    let inner = MARKS.iter().find_map(|(open, close)| bare.strip_prefix(open)?.strip_suffix(close));
    let equation = || bare.strip_prefix("\\begin{equation}")?.strip_suffix("\\end{equation}");
    inner.or_else(equation).unwrap_or(bare).trim()
}

/// The one formula in a sentence: between `$`, `$$`, `\(` or `\[`, or in `\boxed{}`. The text itself where there
/// is none, where there are several, and where the words around it have signs of formulas. Linear in the
/// text.
pub fn in_words(text: &str) -> &str {
    const MARKS: [(&str, &str); 4] = [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")];
    let is_plain =
        |text: &str| !text.contains(|c: char| c.is_ascii_digit() || "\\$^_=<>+{}".contains(c));
    let Some(start) = text.find(['$', '\\']) else { return text };
    let (lead, rest) = text.split_at(start);
    let inner =
        match MARKS.iter().find_map(|(open, close)| Some((rest.strip_prefix(open)?, *close))) {
            Some((inner, close)) => inner.split_once(close),
            None => rest.strip_prefix("\\boxed{").and_then(in_braces),
        };
    match inner {
        Some((inner, behind)) if is_plain(lead) && is_plain(behind) && !inner.trim().is_empty() => {
            let boxed = inner.trim().strip_prefix("\\boxed{").and_then(in_braces);
            boxed.filter(|(_, rest)| rest.trim().is_empty()).map_or(inner, |(inner, _)| inner)
        }
        _ => text,
    }
}

/// The content of the group in which a text begins, and what is behind it.
fn in_braces(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut escaped) = (0_usize, false);
    let close = text.bytes().position(|byte| {
        let closes = byte == b'}' && !escaped && depth == 0;
        match byte {
            b'{' if !escaped => depth += 1,
            b'}' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        closes
    })?;
    Some((&text[..close], &text[close + 1..]))
}

/// How alike two canonical forms are: 1 less the edit distance over the length of the longer one.
/// Quadratic: pays a unit for each pair of tokens.
///
/// # Errors
/// What `pay` refuses.
pub fn similarity<E>(
    one: &[String],
    two: &[String],
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let longest = one.len().max(two.len());
    if longest == 0 {
        return Ok(0.0);
    }
    let mut row: Vec<u32> = (0..=u32::try_from(two.len()).unwrap_or(u32::MAX)).collect();
    for left in one {
        pay(8 * two.len() as u64)?;
        let mut diagonal = row.first().copied().unwrap_or(0);
        let mut before = diagonal + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (right, cell) in two.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + u32::from(left != right);
            diagonal = *cell;
            before = replaced.min(*cell + 1).min(before + 1);
            *cell = before;
        }
    }
    let distance = row.last().copied().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "tokens are counted far below 2^53")]
    Ok(1.0 - f64::from(distance) / longest as f64)
}

struct Reader<'t> {
    tokens: Tokens<'t>,
    /// A token that was looked at and not taken.
    held: Option<(Token<'t>, std::ops::Range<usize>)>,
    style: bool,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<(Token<'t>, std::ops::Range<usize>)> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        self.tokens.by_ref().find(|(token, _)| !matches!(token, Token::Space | Token::Paragraph))
    }

    fn stop<T>(&self, rule: &'static str, what: &str) -> Result<T, Break> {
        let at = self.tokens.at();
        Err(Break::new(rule, what, at.saturating_sub(1)..at))
    }

    /// Reads until `close`, or the end where that is `None`.
    fn sequence(&mut self, out: &mut Vec<String>, close: Option<Token<'t>>) -> Result<(), Break> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.stop("too-deep", "");
        }
        loop {
            let Some((token, _)) = self.next() else {
                self.depth -= 1;
                return if close.is_none() { Ok(()) } else { self.stop("unclosed", "{") };
            };
            if Some(token) == close {
                self.depth -= 1;
                return Ok(());
            }
            match token {
                Token::Close => return self.stop("mismatch", "}"),
                Token::Sign('_' | '^' | '\'') => {
                    // A script of nothing is set on an empty group.
                    self.held = Some((token, 0..0));
                    self.scripts(out)?;
                }
                Token::Sign('~' | '&') | Token::Dollar(_) => {}
                token => {
                    self.atom(token, out)?;
                    self.scripts(out)?;
                }
            }
        }
    }

    /// The scripts behind an atom: the lower one first, primes as upper ones.
    fn scripts(&mut self, out: &mut Vec<String>) -> Result<(), Break> {
        let (mut lower, mut upper): (Option<Vec<String>>, Option<Vec<String>>) = (None, None);
        while let Some((token, span)) = self.next() {
            match token {
                Token::Command(name) if has_word(SILENT, name) => {}
                Token::Sign('\'') => upper.get_or_insert_default().push("'".to_owned()),
                Token::Sign(sign @ ('_' | '^')) => {
                    let script = self.argument()?;
                    let slot = if sign == '_' { &mut lower } else { &mut upper };
                    match slot {
                        Some(have) if have.iter().all(|one| one == "'") && sign == '^' => {
                            have.extend(script);
                        }
                        Some(_) => {
                            return self.stop("double-script", sign.encode_utf8(&mut [0; 4]));
                        }
                        None => *slot = Some(script),
                    }
                }
                _ => {
                    self.held = Some((token, span));
                    break;
                }
            }
        }
        for (mark, script) in [("_", lower), ("^", upper)] {
            if let Some(script) = script {
                push_group(out, mark, script);
            }
        }
        Ok(())
    }

    /// The argument of a command or a script.
    fn argument(&mut self) -> Result<Vec<String>, Break> {
        let mut out = Vec::new();
        match self.next() {
            Some((Token::Open, _)) => self.sequence(&mut out, Some(Token::Close))?,
            Some((Token::Command(_) | Token::Sign(_), _)) if self.depth >= DEPTH_MAX => {
                return self.stop("too-deep", "");
            }
            Some((token @ (Token::Command(_) | Token::Sign(_)), _)) => {
                self.depth += 1;
                self.atom(token, &mut out)?;
                self.depth -= 1;
            }
            _ => return self.stop("argument", ""),
        }
        Ok(out)
    }

    fn atom(&mut self, token: Token<'t>, out: &mut Vec<String>) -> Result<(), Break> {
        match token {
            Token::Open => {
                let mut inner = Vec::new();
                self.sequence(&mut inner, Some(Token::Close))?;
                self.group(inner, out);
                Ok(())
            }
            Token::Sign(sign) => {
                let sign = sign.to_string();
                out.push(same(&sign).map_or(sign, str::to_owned));
                Ok(())
            }
            Token::Command(name) => self.command(name, out),
            _ => self.stop("argument", ""),
        }
    }

    /// A group is its content, unless a script is set on more than one token of it.
    fn group(&mut self, inner: Vec<String>, out: &mut Vec<String>) {
        let next = self.next();
        let has_script = matches!(next, Some((Token::Sign('_' | '^' | '\''), _)));
        self.held = next;
        if has_script && inner.len() > 1 { push_group(out, "", inner) } else { out.extend(inner) }
    }

    fn command(&mut self, name: &'t str, out: &mut Vec<String>) -> Result<(), Break> {
        let written = format!("\\{name}");
        let name = same(&written).unwrap_or(&written);
        let bare = name.trim_start_matches('\\');
        if has_word(NOTES, bare) {
            self.argument()?;
        } else if has_word(STYLES, bare) && !self.style {
            let inner = self.argument()?;
            let function = inner.concat();
            if has_word(FUNCTIONS, &function) {
                out.push(format!("\\{function}"));
            } else {
                self.group(inner, out);
            }
        } else if ["begin", "end"].contains(&bare) {
            let own = self.tokens.group().map(|own| own.trim_end_matches('*').to_owned());
            let Some(own) = own else { return self.stop("environment", bare) };
            if !["aligned", "align", "gathered", "split", "equation"].contains(&own.as_str()) {
                out.push(format!("{name}{{{own}}}"));
            }
        } else if bare == "\\" || name == "\\\\" {
            out.push("\\\\".to_owned());
        } else if bare.is_empty() || name == "\\." || has_word(SILENT, bare) && !name.is_empty() {
            // `\left.` is an invisible delimiter.
            if ["left", "right"].contains(&bare) {
                let next = self.next();
                self.held = next.filter(|(token, _)| *token != Token::Sign('.'));
            }
        } else {
            out.push(name.to_owned());
            let count = ARGUMENTS
                .iter()
                .find(|(_, names)| has_word(names, bare))
                .map_or(0, |(count, _)| *count);
            if bare == "sqrt" {
                self.root(out)?;
            }
            for _ in 0..count {
                let inner = self.argument()?;
                push_group(out, "", inner);
            }
        }
        Ok(())
    }

    /// The index of a root: `\sqrt[3]{x}`.
    fn root(&mut self, out: &mut Vec<String>) -> Result<(), Break> {
        let next = self.next();
        if next.as_ref().is_some_and(|(token, _)| *token == Token::Sign('[')) {
            let mut index = Vec::new();
            self.sequence(&mut index, Some(Token::Sign(']')))?;
            push_group(out, "[", index);
        } else {
            self.held = next;
        }
        Ok(())
    }
}

fn push_group(out: &mut Vec<String>, mark: &str, inner: Vec<String>) {
    out.push(format!("{mark}{{"));
    out.extend(inner);
    out.push("}".to_owned());
}

/// The name that stands for a sign.
fn same(name: &str) -> Option<&'static str> {
    let mut words = SAME.split_ascii_whitespace();
    while let (Some(one), Some(other)) = (words.next(), words.next()) {
        if one == name {
            return Some(other);
        }
    }
    None
}
