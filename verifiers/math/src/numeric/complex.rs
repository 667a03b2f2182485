//! Complex numbers whose parts are balls.

use dashu_base::Sign;

use super::ball::{Arith, Ball};

/// A number with its imaginary part, where it has one.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    pub(crate) re: Ball,
    pub(crate) im: Option<Ball>,
}

impl Complex {
    pub(crate) fn real(re: Ball) -> Self {
        Self { re, im: None }
    }

    /// A function of a real number; complex arguments have no value here.
    pub(crate) fn map_real(&self, function: impl FnOnce(&Ball) -> Option<Ball>) -> Option<Self> {
        match &self.im {
            None => function(&self.re).map(Self::real),
            Some(_) => None,
        }
    }
}

pub(crate) fn power(arith: &Arith, base: &Complex, exponent: i64) -> Option<Complex> {
    if exponent < 0 {
        let positive = power(arith, base, exponent.checked_neg()?)?;
        return div(arith, &Complex::real(Ball::int(1)), &positive);
    }
    let (mut result, mut square) = (Complex::real(Ball::int(1)), base.clone());
    let mut left = exponent;
    while left > 0 {
        if left % 2 == 1 {
            result = mul(arith, &result, &square)?;
        }
        left /= 2;
        if left > 0 {
            square = mul(arith, &square, &square.clone())?;
        }
    }
    Some(result)
}

pub(crate) fn add(arith: &Arith, a: &Complex, b: &Complex) -> Option<Complex> {
    let im = match (&a.im, &b.im) {
        (Some(one), Some(two)) => Some(arith.add(one, two)?),
        (one, two) => one.clone().or_else(|| two.clone()),
    };
    Some(Complex { re: arith.add(&a.re, &b.re)?, im })
}

pub(crate) fn mul(arith: &Arith, a: &Complex, b: &Complex) -> Option<Complex> {
    let product = |one: &Ball, two: &Ball| arith.mul(one, two);
    let re = product(&a.re, &b.re)?;
    Some(match (&a.im, &b.im) {
        (None, None) => Complex::real(re),
        (Some(one), Some(two)) => Complex {
            re: arith.sub(&re, &product(one, two)?)?,
            im: Some(arith.add(&product(&a.re, two)?, &product(one, &b.re)?)?),
        },
        (Some(one), None) => Complex { re, im: Some(product(one, &b.re)?) },
        (None, Some(two)) => Complex { re, im: Some(product(&a.re, two)?) },
    })
}

pub(crate) fn div(arith: &Arith, a: &Complex, b: &Complex) -> Option<Complex> {
    let Some(im) = &b.im else {
        let re = arith.div(&a.re, &b.re)?;
        let im = a.im.as_ref().map(|im| arith.div(im, &b.re));
        return Some(Complex { re, im: im.map_or(Some(None), |im| im.map(Some))? });
    };
    let size = Complex::real(squared_size(arith, &b.re, im)?);
    let mirrored = Complex { re: b.re.clone(), im: Some(im.clone().negated()) };
    div(arith, &mul(arith, a, &mirrored)?, &size)
}

fn squared_size(arith: &Arith, re: &Ball, im: &Ball) -> Option<Ball> {
    let (one, two) = (arith.power(re, 2)?, arith.power(im, 2)?);
    arith.add(&one, &two)
}

/// The absolute value; `None` where the sign of a real number is open.
pub(crate) fn absolute(arith: &mut Arith, value: &Complex) -> Option<Complex> {
    let Some(im) = &value.im else {
        return Some(match value.re.sign()? {
            Sign::Negative => Complex::real(value.re.clone().negated()),
            Sign::Positive => value.clone(),
        });
    };
    let square = squared_size(arith, &value.re, im)?;
    arith.root(&square, 2).map(Complex::real)
}
