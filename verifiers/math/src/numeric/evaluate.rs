//! The value of a canonical form as a ball, at points of its variables.
//!
//! Values are real unless the imaginary unit occurs. With variables, a form without a real value at
//! a point is undefined there: this is the domain rule of sampling.

use dashu_base::Sign;
use dashu_ratio::RBig;

use super::ball::{Arith, Ball};
use super::complex;
use super::complex::Complex;
use super::functions;
use crate::algebra::{Atom, Canon, Context, Exp, Kind, Mono, Poly};
use crate::meter::Meter;
use crate::number;
use crate::stop::{Stop, unless_fault};

/// What one elementary function costs for every 64 bits.
const FUNCTION_COST: u64 = 2_500;
/// Larger powers are not evaluated: the bits of the base times the exponent.
const POWER_BITS_MAX: u64 = 1 << 40;
/// Longer or deeper nested sums are not evaluated.
const SERIES_MAX: i64 = 40;
const SERIES_DEPTH_MAX: u8 = 2;

/// The memo of an atom.
#[derive(Clone, Debug)]
enum Known {
    Open,
    Found(Option<Complex>),
}

/// Evaluates forms over one list of atoms at one point.
struct Evaluator<'c> {
    atoms: &'c [Kind],
    meter: &'c mut Meter<'static>,
    arith: Arith,
    bits: usize,
    at: &'c [(Atom, RBig)],
    known: Vec<Known>,
    /// The highest bit of any term of a sum, against which cancellation is measured.
    largest: isize,
    /// The number of enclosing sums.
    depth: u8,
}

/// `None` where there is no value, `Err` where the fuel is gone.
type Found = Result<Option<Complex>, Stop>;

/// Leaves the function with no value where an operation has none.
macro_rules! some {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return Ok(None),
        }
    };
}

/// What a ball proves about zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Near {
    /// Certainly not zero.
    Apart,
    /// Zero to almost all bits of the precision.
    Zero,
    /// Undecided: the ball contains zero and is wide.
    Open,
}

/// Compares `value` with zero at a point, with `bits` bits of precision; `None` where it is
/// undefined.
pub(crate) fn near(
    cx: &mut Context,
    value: &Canon,
    at: &[(Atom, RBig)],
    bits: usize,
) -> Result<Option<Near>, Stop> {
    let mut evaluator = Evaluator::new(&cx.atoms, &mut cx.meter, bits, at);
    // A quotient is zero where its numerator is, and the denominator has a value.
    let below = some!(evaluator.poly(&value.den)?);
    evaluator.largest = isize::MIN;
    let top = some!(evaluator.poly(&value.num)?);
    let largest = evaluator.largest;
    let parts = [Some(&top.re), top.im.as_ref()];
    let mut near = Near::Zero;
    for part in parts.into_iter().flatten() {
        if !part.has_zero() {
            return Ok(Some(Near::Apart));
        }
        // All but an eighth of the bits must have cancelled.
        let slack = isize::try_from(bits - bits / 8).unwrap_or(isize::MAX);
        let small = part.magnitude().is_none_or(|top| top <= largest.saturating_sub(slack));
        if !small {
            near = Near::Open;
        }
    }
    let defined = !below.re.has_zero() || below.im.as_ref().is_some_and(|im| !im.has_zero());
    Ok(Some(if defined { near } else { Near::Open }))
}

impl<'c> Evaluator<'c> {
    fn new(
        atoms: &'c [Kind],
        meter: &'c mut Meter<'static>,
        bits: usize,
        at: &'c [(Atom, RBig)],
    ) -> Self {
        Self {
            atoms,
            meter,
            arith: Arith::new(bits),
            bits,
            at,
            known: vec![Known::Open; atoms.len()],
            largest: isize::MIN,
            depth: 0,
        }
    }

    fn spend(&mut self, cost: u64) -> Result<(), Stop> {
        let words = self.bits as u64 / 64;
        Ok(self.meter.spend(cost.saturating_mul(words))?)
    }

    fn canon(&mut self, value: &Canon) -> Found {
        let top = some!(self.poly(&value.num)?);
        if value.den.is_one() {
            return Ok(Some(top));
        }
        let below = some!(self.poly(&value.den)?);
        Ok(complex::div(&self.arith, &top, &below))
    }

    fn poly(&mut self, poly: &Poly) -> Found {
        let mut sum = Complex::real(Ball::int(0));
        for (mono, coef) in &poly.0 {
            let factor = some!(self.monomial(mono)?);
            let coef = Complex::real(some!(self.arith.rational(coef)));
            let term = some!(complex::mul(&self.arith, &factor, &coef));
            let size = [Some(&term.re), term.im.as_ref()]
                .into_iter()
                .flatten()
                .filter_map(Ball::magnitude)
                .max();
            self.largest = self.largest.max(size.unwrap_or(isize::MIN));
            sum = some!(complex::add(&self.arith, &sum, &term));
        }
        Ok(Some(sum))
    }

    fn monomial(&mut self, mono: &Mono) -> Found {
        let mut product = Complex::real(Ball::int(1));
        for &(atom, exp) in mono {
            let base = some!(self.atom(atom)?);
            let factor = some!(self.raised(&base, exp)?);
            product = some!(complex::mul(&self.arith, &product, &factor));
        }
        Ok(Some(product))
    }

    fn raised(&mut self, base: &Complex, exp: Exp) -> Found {
        self.spend(200)?;
        let index = some!(usize::try_from(exp.den).ok());
        if base.im.is_some() {
            return Ok(if index == 1 { complex::power(&self.arith, base, exp.num) } else { None });
        }
        if index == 1 {
            return Ok(self.arith.power(&base.re, exp.num).map(Complex::real));
        }
        self.spend(1_000)?;
        let negative = base.re.sign() == Some(Sign::Negative);
        if negative && index == 2 && self.at.is_empty() {
            let size = base.re.clone().negated();
            let root = some!(self.arith.root(&size, 2));
            let unit = Complex { re: Ball::int(0), im: Some(root) };
            return Ok(complex::power(&self.arith, &unit, exp.num));
        }
        if negative && index.is_multiple_of(2) {
            return Ok(None);
        }
        let root = some!(self.arith.root(&base.re, index));
        Ok(self.arith.power(&root, exp.num).map(Complex::real))
    }

    fn atom(&mut self, atom: Atom) -> Found {
        if let Some(Known::Found(known)) = self.known.get(atom as usize) {
            return Ok(known.clone());
        }
        let found = self.kind(atom)?;
        if let Some(slot) = self.known.get_mut(atom as usize) {
            *slot = Known::Found(found.clone());
        }
        Ok(found)
    }

    fn kind(&mut self, atom: Atom) -> Found {
        let atoms = self.atoms;
        let real = |ball: Option<Ball>| ball.map(Complex::real);
        Ok(match some!(atoms.get(atom as usize)) {
            Kind::Prime(prime) => real(self.arith.rational(&RBig::from(prime.clone()))),
            Kind::Minus => Some(Complex::real(Ball::int(-1))),
            Kind::Var(_) => {
                let value = self.at.iter().find(|(have, _)| *have == atom);
                value.and_then(|(_, value)| self.arith.rational(value)).map(Complex::real)
            }
            Kind::Pi => {
                self.spend(FUNCTION_COST)?;
                Some(Complex::real(self.arith.pi()))
            }
            Kind::Euler => {
                self.spend(FUNCTION_COST)?;
                let one = Ball::int(1);
                real(self.arith.exp(&one))
            }
            Kind::Imaginary => Some(Complex { re: Ball::int(0), im: Some(Ball::int(1)) }),
            Kind::Ln(prime) => {
                self.spend(FUNCTION_COST)?;
                let prime = some!(self.arith.rational(&RBig::from(prime.clone())));
                real(self.arith.ln(&prime))
            }
            Kind::Sin(angle) => some!(self.unary(angle)?).map_real(|ball| self.arith.sin(ball)),
            Kind::Cos(angle) => some!(self.unary(angle)?).map_real(|ball| self.arith.cos(ball)),
            Kind::Base(base) => self.poly(base)?,
            Kind::Power(base, mono) => {
                let (base, exponent) = (some!(self.atom(*base)?), some!(self.monomial(mono)?));
                self.general_power(&base, &exponent)?
            }
            Kind::Fun(name, args) => self.function(name, args)?,
        })
    }

    /// The argument of a function, which is paid for.
    fn unary(&mut self, value: &Canon) -> Found {
        self.spend(FUNCTION_COST)?;
        // What cancels in a sum outside of a function does not depend on the size of its argument.
        let largest = self.largest;
        let found = self.canon(value);
        self.largest = largest;
        found
    }

    /// `base` to any power: by the logarithm of a positive base, or in polar form of a negative
    /// one.
    fn general_power(&mut self, base: &Complex, exponent: &Complex) -> Found {
        self.spend(2 * FUNCTION_COST)?;
        if base.im.is_some() {
            return Ok(None);
        }
        if let (None, Some(whole)) = (&exponent.im, exponent.re.whole()) {
            let bits = base.re.magnitude().map_or(0, isize::unsigned_abs) as u64;
            if bits.saturating_mul(whole.unsigned_abs()) > POWER_BITS_MAX {
                return Ok(None);
            }
            return Ok(self.arith.power(&base.re, whole).map(Complex::real));
        }
        if base.re.sign() == Some(Sign::Negative) {
            let size = base.re.clone().negated();
            let log = Complex { re: some!(self.arith.ln(&size)), im: Some(self.arith.pi()) };
            if !self.at.is_empty() {
                return Ok(None);
            }
            let power = some!(complex::mul(&self.arith, &log, exponent));
            return self.exp(&power);
        }
        let log = Complex::real(some!(self.arith.ln(&base.re)));
        let power = some!(complex::mul(&self.arith, &log, exponent));
        self.exp(&power)
    }

    fn exp(&mut self, value: &Complex) -> Found {
        self.spend(FUNCTION_COST)?;
        let size = Complex::real(some!(self.arith.exp(&value.re)));
        let Some(turn) = &value.im else { return Ok(Some(size)) };
        self.spend(2 * FUNCTION_COST)?;
        let direction =
            Complex { re: some!(self.arith.cos(turn)), im: Some(some!(self.arith.sin(turn))) };
        Ok(complex::mul(&self.arith, &size, &direction))
    }

    fn function(&mut self, name: &str, args: &[Canon]) -> Found {
        if let ("sum" | "prod", [variable, from, to, body]) = (name, args) {
            return self.series(name == "prod", variable, (from, to), body);
        }
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(some!(self.unary(arg)?));
        }
        if let ("pow", [base, exponent]) = (name, values.as_slice()) {
            return self.general_power(&base.clone(), &exponent.clone());
        }
        if let "factorial" | "binom" | "mod" | "gcd" | "lcm" = name {
            return self.counted(name, &values);
        }
        if let ("min" | "max", [first, rest @ ..]) = (name, values.as_slice()) {
            return Ok(functions::extreme(&self.arith, name, first, rest));
        }
        let [value] = values.as_slice() else { return Ok(None) };
        Ok(match name {
            "abs" => complex::absolute(&mut self.arith, value),
            _ => value.map_real(|ball| functions::real(&mut self.arith, name, ball)),
        })
    }

    /// A sum or product between whole bounds, term by term.
    fn series(
        &mut self,
        product: bool,
        variable: &Canon,
        bounds: (&Canon, &Canon),
        body: &Canon,
    ) -> Found {
        let [(mono, _)] = variable.num.0.as_slice() else { return Ok(None) };
        let [(variable, _)] = mono.as_slice() else { return Ok(None) };
        let (from, to) = (some!(self.canon(bounds.0)?), some!(self.canon(bounds.1)?));
        let (from, to) = (some!(from.re.whole()), some!(to.re.whole()));
        let long = to.checked_sub(from).is_none_or(|terms| terms > SERIES_MAX);
        if long || self.depth == SERIES_DEPTH_MAX {
            return Ok(None);
        }
        let mut whole = Complex::real(Ball::int(i64::from(product)));
        for at in from..=to {
            self.spend(FUNCTION_COST)?;
            let mut inside = self.at.to_vec();
            inside.retain(|(atom, _)| atom != variable);
            inside.push((*variable, number::small(at, 1)));
            let mut inner = Evaluator::new(self.atoms, self.meter, self.bits, &inside);
            inner.depth = self.depth + 1;
            let term = some!(inner.canon(body)?);
            whole = some!(if product {
                complex::mul(&self.arith, &whole, &term)
            } else {
                complex::add(&self.arith, &whole, &term)
            });
        }
        Ok(Some(whole))
    }

    /// Functions of integers.
    fn counted(&mut self, name: &str, values: &[Complex]) -> Found {
        let mut whole = Vec::with_capacity(values.len());
        for value in values {
            whole.push(number::small(some!(value.re.whole().filter(|_| value.im.is_none())), 1));
        }
        let found = match (name, whole.as_slice()) {
            ("factorial", [n]) => number::factorial(n, self.meter),
            ("binom", [n, k]) => number::binomial(n, k, self.meter),
            (_, [a, b]) => number::divided(name, a, b).ok_or(Stop::Cap),
            _ => return Ok(None),
        };
        let value = some!(unless_fault(found)?);
        Ok(self.arith.rational(&value).map(Complex::real))
    }
}
