//! The commands of LaTeX that the lexer knows, as tables.

use super::ast::Rel;
use super::token::Tok;
use super::words::function;

/// The effect of a LaTeX command.
pub(crate) enum Command {
    Tok(Tok<'static>),
    /// A variable by its name.
    Letter,
    /// None: spacing and styling.
    Skip,
    /// Its argument is text.
    Prose,
    /// None, and its argument is skipped: a color, a width.
    Drop,
    Begin,
    End,
    Unknown,
}

/// Commands of fractions, whatever their size.
const FRACTIONS: [&str; 8] =
    ["frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "xfrac", "flatfrac"];
/// Accents with their normalised name.
const ACCENTS: [(&str, &str); 8] = [
    ("overline", "overline"),
    ("bar", "bar"),
    ("dot", "dot"),
    ("ddot", "ddot"),
    ("hat", "hat"),
    ("widehat", "hat"),
    ("tilde", "tilde"),
    ("widetilde", "tilde"),
];

/// The meaning of the command called `name`.
pub(crate) fn command(name: &str) -> Command {
    if let Some(tok) = function(name) {
        return Command::Tok(tok);
    }
    if name.ends_with("frac") && FRACTIONS.contains(&name) {
        return Command::Tok(Tok::Frac);
    }
    Command::Tok(match name {
        "over" => Tok::Over,
        "choose" => Tok::Choose,
        "sqrt" | "surd" => Tok::Sqrt,
        "binom" | "dbinom" | "tbinom" => Tok::Binom,
        "cdot" | "times" | "ast" | "cdotp" | "bullet" => Tok::Times,
        "div" => Tok::Slash,
        "pm" => Tok::PlusMinus,
        "mp" => Tok::MinusPlus,
        "pi" => Tok::Pi,
        "infty" => Tok::Infinity,
        "emptyset" | "varnothing" => Tok::EmptySet,
        "R" | "Reals" => Tok::Reals,
        "circ" | "degree" => Tok::Degree,
        "prime" => Tok::Prime,
        "percent" => Tok::Percent,
        "le" | "leq" | "leqslant" | "leqq" => Tok::Rel(Rel::LessEqual),
        "ge" | "geq" | "geqslant" | "geqq" => Tok::Rel(Rel::MoreEqual),
        "lt" => Tok::Rel(Rel::Less),
        "gt" => Tok::Rel(Rel::More),
        "ne" | "neq" => Tok::Rel(Rel::Unequal),
        "not" => Tok::Not,
        "approx" | "simeq" | "approxeq" => Tok::Rel(Rel::Approx),
        "sim" => Tok::Similar,
        "equiv" => Tok::Rel(Rel::Equal),
        "in" => Tok::Rel(Rel::In),
        "bmod" | "mod" => Tok::Mod,
        "to" | "rightarrow" | "longrightarrow" => Tok::Rel(Rel::To),
        "cup" | "bigcup" => Tok::Cup,
        "cap" | "bigcap" => Tok::Cap,
        "setminus" | "backslash" | "smallsetminus" => Tok::Setminus,
        "mid" | "vert" | "lvert" | "rvert" | "Vert" => Tok::Bar,
        "pounds" => Tok::Currency("gbp"),
        "colon" => Tok::Colon,
        "lfloor" => Tok::LFloor,
        "rfloor" => Tok::RFloor,
        "lceil" => Tok::LCeil,
        "rceil" => Tok::RCeil,
        "lbrace" => Tok::LSet,
        "rbrace" => Tok::RSet,
        "measuredangle" | "sphericalangle" => Tok::Letter("angle"),
        "imath" => Tok::Letter("i"),
        "jmath" => Tok::Letter("j"),
        "langle" => Tok::LParen,
        "rangle" => Tok::RParen,
        "lbrack" => Tok::LBracket,
        "rbrack" => Tok::RBracket,
        "lor" | "vee" => Tok::Or,
        "land" | "wedge" => Tok::And,
        "sum" | "prod" | "int" | "iint" | "oint" | "lim" => return big(name),
        "begin" => return Command::Begin,
        "end" => return Command::End,
        "text" | "textbf" | "textit" | "textrm" | "textsf" | "mathrm" | "mbox" | "operatorname"
        | "textnormal" | "textup" | "hbox" | "emph" | "texttt" | "mathsf" | "mathtt" | "textsc" => {
            return Command::Prose;
        }
        "color" | "textcolor" | "colorbox" | "hspace" | "vspace" | "mspace" | "label" | "tag"
        | "phantom" | "hphantom" | "vphantom" => return Command::Drop,
        _ => return styled(name),
    })
}

fn big(name: &str) -> Command {
    let name = ["sum", "prod", "int", "iint", "oint", "lim"].into_iter().find(|have| *have == name);
    name.map_or(Command::Unknown, |name| Command::Tok(Tok::Big(name)))
}

/// Commands without mathematical meaning.
#[rustfmt::skip]
const SKIPPED: &[&str] = &[
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr",
    "middle", "quad", "qquad", "displaystyle", "textstyle", "limits", "nolimits", "mathbf",
    "boldsymbol", "bf", "rm", "it", "mathbb", "mathcal", "mathit", "mathfrak", "vec",
    "overrightarrow", "underline", "boxed", "fbox", "framebox", "thinspace", "enspace", "space",
    "hfill", "hline", "notag", "nonumber", "dollar", "unit", "si", "SI", "qty", "num", "pu", "ensuremath", "scriptstyle", "large",
    "Large", "LARGE", "huge", "Huge", "small", "footnotesize", "tiny", "normalsize", "bold", "bm",
    "mathop", "mathord", "mathstrut", "mathnormal", "tt", "underbrace", "overbrace", "Bbb", "newline", "cr", "checkmark", "blacksquare",
];
/// Commands that are names.
#[rustfmt::skip]
pub(crate) const NAMES: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta",
    "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi",
    "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon",
    "Phi", "Psi", "Omega", "ell", "hbar", "angle", "triangle", "square", "star", "aleph", "partial",
];
/// Commands that are not read and are not names either: dots, arrows, quantifiers.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "ldots", "cdots", "dots", "dotsc", "dotsb", "vdots", "ddots", "implies", "iff", "Rightarrow",
    "Leftarrow", "Leftrightarrow", "Longrightarrow", "Longleftrightarrow", "longmapsto", "mapsto",
    "leftarrow", "leftrightarrow", "uparrow", "downarrow", "therefore", "because", "forall",
    "exists", "nexists", "neg", "lnot", "par", "ref", "cancel", "overset", "underset", "stackrel",
];

/// Whether an unknown command is a sign rather than a name.
pub(crate) fn is_sign(name: &str) -> bool {
    SIGNS.contains(&name)
}

fn styled(name: &str) -> Command {
    if SKIPPED.contains(&name) {
        Command::Skip
    } else if NAMES.contains(&name) {
        Command::Letter
    } else if let Some((_, mark)) = ACCENTS.iter().find(|(have, _)| *have == name) {
        Command::Tok(Tok::Accent(mark))
    } else {
        Command::Unknown
    }
}
