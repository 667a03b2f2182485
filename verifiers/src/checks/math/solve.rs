//! Equations and inequalities in one variable, solved to unions of intervals.
//!
//! A quotient of polynomials changes its sign at the roots of numerator and denominator only, so
//! one place between each two of them decides. Absolute values are split into their two cases.

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::number::small;
use super::poly::{Atom, Canon, Ctx, Kind, Poly};
use super::roots::Exact;
use super::univariate::{Uni, middle};
use super::value::{Interval, Region, Relation, Sign};

/// The most absolute values of one relation.
const ABSOLUTES_MAX: u32 = 4;
/// The largest polynomial that is solved, as its degree times the bits of a coefficient.
const SIZE_MAX: usize = 2000;

impl Ctx<'_, '_> {
    /// The real numbers for which a relation holds, where it is one in a single variable that can
    /// be solved.
    pub(super) fn solution(&mut self, relation: &Relation) -> Result<Option<Region>, Stop> {
        let Some((name, x)) = self.only_variable(&relation.left) else { return Ok(None) };
        let region = self.solution_in(x, &relation.left, relation.sign, ABSOLUTES_MAX)?;
        Ok(region.map(|region| Region { var: Some(name), ..region }))
    }

    fn solution_in(
        &mut self,
        x: Atom,
        left: &Canon,
        sign: Sign,
        absolutes: u32,
    ) -> Result<Option<Region>, Stop> {
        self.meter.spend(100)?;
        let Some((atom, inner)) = self.absolute_in(left) else {
            return self.chart(x, left, sign);
        };
        if absolutes == 0 {
            return Err(Stop::Cap);
        }
        let opposite = negated(&inner);
        let mut whole = Region::empty();
        for (value, condition, holds) in
            [(&inner, &opposite, Sign::NotPositive), (&opposite, &inner, Sign::Negative)]
        {
            let left = match self.replaced(left, atom, value) {
                Ok(left) => left,
                // A denominator that is zero throughout: nothing here.
                Err(Stop::Undefined) => continue,
                Err(stop) => return Err(stop),
            };
            let solved = self.solution_in(x, &left, sign, absolutes - 1)?;
            let within = self.solution_in(x, condition, holds, absolutes - 1)?;
            let (Some(solved), Some(within)) = (solved, within) else { return Ok(None) };
            let part = self.intersection(&solved, &within)?;
            whole = self.union(whole, part)?;
        }
        Ok(Some(whole))
    }

    /// An absolute value that varies, and what it is of.
    fn absolute_in(&self, value: &Canon) -> Option<(Atom, Canon)> {
        let mut atoms = value
            .num
            .0
            .iter()
            .chain(&value.den.0)
            .flat_map(|(mono, _)| mono.iter().map(|(atom, _)| *atom));
        atoms.find_map(|atom| match self.kind(atom) {
            Some(Kind::Fun("abs", args)) if self.varies(atom) => {
                Some((atom, args.first()?.clone()))
            }
            _ => None,
        })
    }

    /// The only variable of a form, by its name and its atom.
    pub(super) fn only_variable(&self, value: &Canon) -> Option<(String, Atom)> {
        let [atom] = self.variables(value)[..] else { return None };
        let Some(Kind::Var(name)) = self.kind(atom) else { return None };
        Some((name.clone(), atom))
    }

    /// The names of the variables of a form.
    pub(super) fn names_in(&self, value: &Canon) -> Vec<String> {
        let names = self.variables(value).into_iter().filter_map(|atom| match self.kind(atom) {
            Some(Kind::Var(name)) => Some(name.clone()),
            _ => None,
        });
        names.collect()
    }

    /// The variables of a form, those inside functions included. Each atom is looked at once.
    pub(super) fn variables(&self, value: &Canon) -> Vec<Atom> {
        let mut todo = Vec::new();
        let with = |todo: &mut Vec<Atom>, form: &Canon| {
            let monomials = form.num.0.iter().chain(&form.den.0).flat_map(|(mono, _)| mono);
            todo.extend(monomials.map(|(atom, _)| *atom));
        };
        with(&mut todo, value);
        let (mut found, mut seen) = (Vec::new(), vec![false; self.atoms.len()]);
        while let Some(atom) = todo.pop() {
            match seen.get_mut(atom as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match self.kind(atom) {
                Some(Kind::Var(_)) => found.push(atom),
                Some(Kind::Sin(arg) | Kind::Cos(arg)) => with(&mut todo, arg),
                Some(Kind::Fun(_, args)) => args.iter().for_each(|arg| with(&mut todo, arg)),
                Some(Kind::Base(base)) => {
                    todo.extend(base.0.iter().flat_map(|(mono, _)| mono).map(|(atom, _)| *atom));
                }
                Some(Kind::Power(base, mono)) => {
                    todo.push(*base);
                    todo.extend(mono.iter().map(|(atom, _)| *atom));
                }
                _ => {}
            }
        }
        found
    }

    /// The chart of signs of a quotient of polynomials with rational coefficients.
    fn chart(&mut self, x: Atom, left: &Canon, wanted: Sign) -> Result<Option<Region>, Stop> {
        let Some((top, below)) = self.quotient_in(x, left)? else { return Ok(None) };
        let product = top.times(&below, self.meter)?;
        if product.size() > SIZE_MAX {
            return Err(Stop::Cap);
        }
        let poles = below.squarefree(self.meter)?;
        let zero = product.is_zero();
        let turns = if zero { poles.clone() } else { product.squarefree(self.meter)? };
        let ends = self.exact_roots(&turns)?;
        let mut chart = Chart::default();
        let mut before: Option<&Exact> = None;
        for end in &ends {
            let sample = match before {
                Some(before) => middle(&before.place.high, &end.place.low),
                None => &end.place.low - RBig::ONE,
            };
            chart.stretch(holds(wanted, product.sign_at(&sample, self.meter)?, zero), before);
            let pole = poles.has(&end.place, self.meter)?;
            chart.point(!pole && matches!(wanted, Sign::Zero | Sign::NotPositive), end);
            before = Some(end);
        }
        let sample = before.map_or(RBig::ZERO, |last| &last.place.high + RBig::ONE);
        chart.stretch(holds(wanted, product.sign_at(&sample, self.meter)?, zero), before);
        Ok(Some(chart.region()))
    }

    /// Numerator and denominator as polynomials in `x`.
    fn quotient_in(&mut self, x: Atom, value: &Canon) -> Result<Option<(Uni, Uni)>, Stop> {
        let lowest = |poly: &Poly| {
            poly.0
                .iter()
                .flat_map(|(mono, _)| mono)
                .map(|(_, exp)| exp.num)
                .min()
                .unwrap_or(0)
                .min(0)
        };
        let shift = lowest(&value.num).min(lowest(&value.den));
        let top = self.univariate(x, &value.num, shift)?;
        let below = self.univariate(x, &value.den, shift)?;
        Ok(top.zip(below))
    }

    /// A polynomial in `x` alone, after multiplying by a power of it.
    fn univariate(&mut self, x: Atom, poly: &Poly, shift: i64) -> Result<Option<Uni>, Stop> {
        let mut coefs = Vec::new();
        for (mono, coef) in &poly.0 {
            let power = match mono.as_slice() {
                [] => 0,
                [(atom, exp)] if *atom == x && exp.is_int() => exp.num,
                _ => return Ok(None),
            };
            let at = power
                .checked_sub(shift)
                .and_then(|at| usize::try_from(at).ok())
                .filter(|at| *at < 100);
            let at = at.ok_or(Stop::Cap)?;
            if coefs.len() <= at {
                coefs.resize(at + 1, small(0, 1));
            }
            if let Some(slot) = coefs.get_mut(at) {
                slot.clone_from(coef);
            }
        }
        Uni::new(coefs, self.meter).map(Some)
    }
}

/// Whether a relation holds on a stretch where the sign does not change.
fn holds(wanted: Sign, sign: i8, zero: bool) -> bool {
    match wanted {
        Sign::Zero => zero,
        Sign::NotZero => !zero,
        Sign::Negative => !zero && sign < 0,
        Sign::NotPositive => zero || sign < 0,
    }
}

/// Intervals that grow from left to right.
#[derive(Default)]
struct Chart {
    parts: Vec<Interval>,
    /// Where the interval began that is not closed yet, and whether it holds there.
    start: Option<(Option<Canon>, bool)>,
}

impl Chart {
    /// The stretch to the right of `from`.
    fn stretch(&mut self, inside: bool, from: Option<&Exact>) {
        let end = from.map(|end| end.form.clone());
        if inside {
            self.start.get_or_insert((end, false));
        } else {
            self.close(end, true);
        }
    }

    fn point(&mut self, inside: bool, at: &Exact) {
        if inside {
            self.start.get_or_insert((Some(at.form.clone()), true));
        } else {
            self.close(Some(at.form.clone()), false);
        }
    }

    fn close(&mut self, high: Option<Canon>, high_closed: bool) {
        if let Some((low, low_closed)) = self.start.take() {
            self.parts.push(Interval { low, high, low_closed, high_closed });
        }
    }

    fn region(mut self) -> Region {
        self.close(None, false);
        Region { var: None, parts: self.parts }
    }
}
