//! Sums and products over whole numbers.

use super::Stop;
use super::number::{self, Exp, small};
use super::poly::{Atom, Canon, Ctx, Kind, Mono, Poly};

/// A sum or product of more terms than this is not written out.
const TERMS_MAX: i64 = 2_000;
/// Powers beyond this are not summed in closed form.
const DEGREE_MAX: i64 = 12;

impl Ctx<'_, '_> {
    /// The sum (or the product) of a form over whole numbers from `from` to `to`; `None` for `to`
    /// is infinity.
    pub(super) fn series(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: Option<&Canon>,
        product: bool,
    ) -> Result<Canon, Stop> {
        let whole = |value: &Canon| value.as_rational().and_then(|value| number::whole(&value));
        if let (Some(first), Some(last)) = (whole(from), to.and_then(whole)) {
            return self.written_out(form, variable, (first, last), product);
        }
        if product {
            return Err(Stop::Cap);
        }
        if let Some(sum) = self.geometric(form, variable, from, to)? {
            return Ok(sum);
        }
        match to {
            Some(to) => self.power_sums(form, variable, from, to),
            None => self.zeta(form, variable, from),
        }
    }

    fn written_out(
        &mut self,
        form: &Canon,
        variable: Atom,
        (first, last): (i64, i64),
        product: bool,
    ) -> Result<Canon, Stop> {
        if last.checked_sub(first).is_none_or(|terms| terms >= TERMS_MAX) {
            return Err(Stop::Cap);
        }
        let mut whole = Canon::int(i64::from(product));
        for at in first..=last {
            let term = self.replaced(form, variable, &Canon::int(at))?;
            whole = if product { self.mul(&whole, &term)? } else { self.add(&whole, &term)? };
        }
        Ok(whole)
    }

    /// A sum whose terms have a fixed ratio.
    fn geometric(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: Option<&Canon>,
    ) -> Result<Option<Canon>, Stop> {
        let next = self.add(&Canon::atom(variable, Exp::ONE), &Canon::int(1))?;
        let next = self.replaced(form, variable, &next)?;
        let ratio = self.div(&next, form)?;
        let slope = self.derivative(&ratio, variable)?;
        if !slope.is_zero() || self.equal(&ratio, &Canon::int(1))? {
            return Ok(None);
        }
        let first = self.replaced(form, variable, from)?;
        let rest = self.sub(&Canon::int(1), &ratio)?;
        let Some(to) = to else {
            let size = self.abs(&ratio)?;
            let shrinks = self.order(&size, &Canon::int(1))? == Some(std::cmp::Ordering::Less);
            return if shrinks { self.div(&first, &rest).map(Some) } else { Err(Stop::Undefined) };
        };
        let count = self.sub(to, from)?;
        let count = self.add(&count, &Canon::int(1))?;
        let last = self.pow(&ratio, &count)?;
        let part = self.sub(&Canon::int(1), &last)?;
        let part = self.mul(&first, &part)?;
        self.div(&part, &rest).map(Some)
    }

    /// The sum of a polynomial, by the sums of powers.
    fn power_sums(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: &Canon,
    ) -> Result<Canon, Stop> {
        let before = self.sub(from, &Canon::int(1))?;
        let mut sum = Canon::int(0);
        for (mono, coef) in &form.num.0.clone() {
            let degree = mono
                .iter()
                .find(|(atom, _)| *atom == variable)
                .map_or(Exp::int(0), |(_, exp)| *exp);
            if !degree.is_int() || !(0..=DEGREE_MAX).contains(&degree.num) {
                return Err(Stop::Cap);
            }
            let rest: Mono = mono.iter().filter(|(atom, _)| *atom != variable).copied().collect();
            let rest = Canon::poly(Poly(vec![(rest, coef.clone())]));
            let (upper, lower) =
                (self.power_sum(degree.num, to)?, self.power_sum(degree.num, &before)?);
            let part = self.sub(&upper, &lower)?;
            let part = self.mul(&part, &rest)?;
            sum = self.add(&sum, &part)?;
        }
        let den = Canon::poly(form.den.clone());
        let fixed = self.derivative(&den, variable)?.is_zero();
        if fixed { self.div(&sum, &den) } else { Err(Stop::Cap) }
    }

    /// `1^m + 2^m + ... + n^m` as a polynomial in `n`.
    fn power_sum(&mut self, m: i64, n: &Canon) -> Result<Canon, Stop> {
        let up = self.add(n, &Canon::int(1))?;
        let mut sums: Vec<Canon> = Vec::new();
        for power in 0..=m {
            let mut rest = self.pow_int(&up, power + 1)?;
            rest = self.sub(&rest, &Canon::int(1))?;
            for (j, sum) in (0i64..).zip(sums.clone()) {
                let choose = self.binomial(&Canon::int(power + 1), &Canon::int(j))?;
                let part = self.mul(&choose, &sum)?;
                rest = self.sub(&rest, &part)?;
            }
            sums.push(self.mul(&rest, &Canon::rational(small(1, power + 1)))?);
        }
        sums.pop().ok_or(Stop::Cap)
    }

    /// `1 + 1/2^m + 1/3^m + ...` for even `m`.
    fn zeta(&mut self, form: &Canon, variable: Atom, from: &Canon) -> Result<Canon, Stop> {
        const VALUES: [(i64, i64); 4] = [(2, 6), (4, 90), (6, 945), (8, 9450)];
        let first = from.as_rational().and_then(|value| number::whole(&value));
        let ([(mono, coef)], true, Some(1)) = (form.num.0.as_slice(), form.den.is_one(), first)
        else {
            return Err(Stop::Cap);
        };
        let [(atom, exp)] = mono.as_slice() else { return Err(Stop::Cap) };
        let value = VALUES.iter().find(|(m, _)| *exp == Exp::int(-m) && *atom == variable);
        let (m, below) = value.copied().ok_or(Stop::Cap)?;
        let pi = self.of(Kind::Pi)?;
        let power = self.pow_int(&pi, m)?;
        self.mul(&power, &Canon::rational(coef * small(1, below)))
    }
}
