//! The functions of formulas: one table, from which documentation and checks are made.

/// A function or operator; [`ALL`] says what each does.
#[expect(missing_docs, reason = "the table of functions has the docs")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Negate,
    Not,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Abs,
    Sqrt,
    Exp,
    Log,
    Log2,
    Sigmoid,
    Tanh,
    Cos,
    Floor,
    Ceiling,
    Round,
    Sign,
    IsMissing,
    Default,
    Only,
    Smaller,
    Larger,
    Choose,
    Clip,
    Where,
    Sum,
    Product,
    Mean,
    Median,
    Least,
    Greatest,
    Count,
    Any,
    All,
    First,
    Last,
    Std(Divisor),
    Var(Divisor),
    Quantile,
    Zscore(Divisor),
    Rank,
    Sort,
    Index,
    CumulativeSum,
    CumulativeProduct,
    CumulativeMin,
    Difference,
    Shift,
    Ema,
    Discounted,
    SumBy,
    MeanBy,
    CountBy,
    MinBy,
    MaxBy,
    StdBy(Divisor),
    Group,
    Batch,
    /// The same value along a longer axis.
    Spread,
}

/// By what squared deviations are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisor {
    /// Their count.
    Population,
    /// One less than their count.
    Sample,
}

impl Divisor {
    /// The words by which a formula says it; those of settings of assay's kinds too.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "population" | "biased" => Some(Self::Population),
            "sample" | "unbiased" => Some(Self::Sample),
            _ => None,
        }
    }
}

/// How a function treats the axes of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Element by element.
    Elementwise,
    /// A column to a number for each of its segments. Further arguments are numbers.
    Reduction,
    /// A column to a column of the same axis. Further arguments are numbers.
    Scan,
    /// Two columns of one axis to a column of it.
    Keyed,
    /// The same column, whose reductions go further.
    Widening,
}

/// A function as its page shows it.
pub struct Entry {
    /// The name by which a formula calls it.
    pub name: &'static str,
    /// Which it is.
    pub function: Function,
    /// The names of its arguments. One that ends in `?` may be left out.
    pub args: &'static str,
    /// How it treats axes.
    pub class: Class,
    /// What it gives.
    pub about: &'static str,
}

const fn entry(
    name: &'static str,
    args: &'static str,
    class: Class,
    function: Function,
    about: &'static str,
) -> Entry {
    Entry { name, function, args, class, about }
}

use Class::{Elementwise, Keyed, Reduction, Scan, Widening};
use Divisor::Population;

/// Every function by its name. Deviations are said by a word, `"population"` or `"sample"`.
pub static ALL: &[Entry] = &[
    entry("abs", "x", Elementwise, Function::Abs, "the magnitude"),
    entry("sqrt", "x", Elementwise, Function::Sqrt, "the square root"),
    entry("exp", "x", Elementwise, Function::Exp, "e to the power x"),
    entry("log", "x", Elementwise, Function::Log, "the natural logarithm"),
    entry("log2", "x", Elementwise, Function::Log2, "the logarithm to base 2"),
    entry("pow", "x, y", Elementwise, Function::Power, "x to the power y, as `x ** y`"),
    entry("sigmoid", "x", Elementwise, Function::Sigmoid, "1 / (1 + exp(-x))"),
    entry("tanh", "x", Elementwise, Function::Tanh, "the hyperbolic tangent"),
    entry("cos", "x", Elementwise, Function::Cos, "the cosine of radians"),
    entry("floor", "x", Elementwise, Function::Floor, "the integer below"),
    entry("ceil", "x", Elementwise, Function::Ceiling, "the integer above"),
    entry(
        "round",
        "x",
        Elementwise,
        Function::Round,
        "the nearest integer, halves to the even one",
    ),
    entry("sign", "x", Elementwise, Function::Sign, "-1, 0 or 1"),
    entry("is_missing", "x", Elementwise, Function::IsMissing, "1 where x is missing, else 0"),
    entry("fill", "x, y", Elementwise, Function::Default, "x, and y where x is missing"),
    entry("only", "x, c", Elementwise, Function::Only, "x where c is not 0, else missing"),
    entry("clip", "x, low, high", Elementwise, Function::Clip, "x within low and high"),
    entry("where", "c, a, b", Elementwise, Function::Where, "a where c is not 0, else b"),
    entry("choose", "n, k", Elementwise, Function::Choose, "the binomial coefficient; 0 for n < k"),
    entry("sum", "x", Reduction, Function::Sum, "the sum; 0 if empty"),
    entry("prod", "x", Reduction, Function::Product, "the product; 1 if empty"),
    entry("mean", "x", Reduction, Function::Mean, "the mean; missing if empty"),
    entry("median", "x", Reduction, Function::Median, "the median; missing if empty"),
    entry(
        "min",
        "x, y?",
        Reduction,
        Function::Least,
        "the least of a column; of two values, the smaller",
    ),
    entry(
        "max",
        "x, y?",
        Reduction,
        Function::Greatest,
        "the greatest of a column; of two values, the larger",
    ),
    entry("count", "x", Reduction, Function::Count, "how many are not missing"),
    entry("any", "x", Reduction, Function::Any, "1 where one is not 0, else 0"),
    entry("all", "x", Reduction, Function::All, "1 where none is 0, else 0"),
    entry("first", "x", Reduction, Function::First, "the first that is not missing"),
    entry("last", "x", Reduction, Function::Last, "the last that is not missing"),
    entry(
        "std",
        "x, deviation",
        Reduction,
        Function::Std(Population),
        "the standard deviation; 0 of fewer than two",
    ),
    entry(
        "variance",
        "x, deviation",
        Reduction,
        Function::Var(Population),
        "the variance; 0 of fewer than two",
    ),
    entry(
        "quantile",
        "x, q",
        Reduction,
        Function::Quantile,
        "the q-quantile, between neighbours by linear interpolation",
    ),
    entry(
        "zscore",
        "x, deviation, eps?",
        Scan,
        Function::Zscore(Population),
        "(x - mean(x)) / (std(x) + eps); 0 where all are equal",
    ),
    entry(
        "rank",
        "x",
        Scan,
        Function::Rank,
        "the rank: 1 for the least; equal values share the mean of theirs",
    ),
    entry("sort", "x", Scan, Function::Sort, "the values in ascending order, missing ones last"),
    entry("index", "x", Scan, Function::Index, "the place in the column, from 0"),
    entry(
        "cumsum",
        "x",
        Scan,
        Function::CumulativeSum,
        "the sum up to here; a missing value counts 0",
    ),
    entry(
        "cumprod",
        "x",
        Scan,
        Function::CumulativeProduct,
        "the product up to here; a missing value counts 1",
    ),
    entry("cummin", "x", Scan, Function::CumulativeMin, "the least up to here"),
    entry("diff", "x", Scan, Function::Difference, "x less the value before; the first stays"),
    entry(
        "shift",
        "x, n",
        Scan,
        Function::Shift,
        "the value n places before (after, for n < 0); missing where there is none",
    ),
    entry(
        "ema",
        "x, decay",
        Scan,
        Function::Ema,
        "the exponential moving average: decay times the former plus (1 - decay) x; it starts at the first value",
    ),
    entry(
        "discounted",
        "x, gamma",
        Scan,
        Function::Discounted,
        "the sum from here on, each later value times gamma once more",
    ),
    entry("sum_by", "x, key", Keyed, Function::SumBy, "the sum over the places of an equal key"),
    entry("mean_by", "x, key", Keyed, Function::MeanBy, "the mean over the places of an equal key"),
    entry("min_by", "x, key", Keyed, Function::MinBy, "the least over the places of an equal key"),
    entry(
        "max_by",
        "x, key",
        Keyed,
        Function::MaxBy,
        "the greatest over the places of an equal key",
    ),
    entry(
        "count_by",
        "x, key",
        Keyed,
        Function::CountBy,
        "how many at the places of an equal key are not missing",
    ),
    entry(
        "std_by",
        "x, key, deviation",
        Keyed,
        Function::StdBy(Population),
        "the standard deviation over the places of an equal key",
    ),
    entry(
        "group",
        "x",
        Widening,
        Function::Group,
        "x, whose reduction goes over all steps of the group",
    ),
    entry("batch", "x", Widening, Function::Batch, "x, whose reduction goes over the whole batch"),
];

/// The operators of rhai.
const OPERATORS: [(&str, Function); 13] = [
    ("+", Function::Add),
    ("-", Function::Subtract),
    ("*", Function::Multiply),
    ("/", Function::Divide),
    ("%", Function::Remainder),
    ("**", Function::Power),
    ("<", Function::Less),
    ("<=", Function::LessOrEqual),
    (">", Function::Greater),
    (">=", Function::GreaterOrEqual),
    ("==", Function::Equal),
    ("!=", Function::NotEqual),
    ("!", Function::Not),
];

/// The operator of this sign with so many operands.
pub(super) fn operator(sign: &str, operands: usize) -> Option<Function> {
    match (sign, operands) {
        ("-", 1) => Some(Function::Negate),
        ("!", 1) => Some(Function::Not),
        (_, 2) => OPERATORS.iter().find(|(own, _)| *own == sign).map(|(_, function)| *function),
        _ => None,
    }
}

/// The function of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// How many arguments it takes, at least and at most.
    pub(super) fn arity(&self) -> (usize, usize) {
        let names = || self.args.split(", ");
        (names().filter(|name| !name.ends_with('?')).count(), names().count())
    }

    /// The function with this deviation in place of its own.
    pub(super) fn with(&self, deviation: Divisor) -> Function {
        match self.function {
            Function::Std(_) => Function::Std(deviation),
            Function::Var(_) => Function::Var(deviation),
            Function::Zscore(_) => Function::Zscore(deviation),
            Function::StdBy(_) => Function::StdBy(deviation),
            other => other,
        }
    }
}
