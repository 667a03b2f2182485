//! The variables of a canonical form, and free names such as the constant of integration.

use crate::algebra::prelude::*;

/// The only variable of a form, by its name and its atom.
pub(crate) fn only_variable(cx: &Context, value: &Canon) -> Option<(String, Atom)> {
    let [atom] = variables(cx, value)[..] else { return None };
    let Some(Kind::Var(name)) = cx.kind(atom) else { return None };
    Some((name.clone(), atom))
}

/// The names of the variables of a form.
pub(crate) fn names_in(cx: &Context, value: &Canon) -> Vec<String> {
    let names = variables(cx, value).into_iter().filter_map(|atom| match cx.kind(atom) {
        Some(Kind::Var(name)) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// The variables of a form, also inside functions. Each atom is visited once.
pub(crate) fn variables(cx: &Context, value: &Canon) -> Vec<Atom> {
    let mut todo = Vec::new();
    let with = |todo: &mut Vec<Atom>, form: &Canon| {
        let monomials = form.monomials().flatten();
        todo.extend(monomials.map(|(atom, _)| *atom));
    };
    with(&mut todo, value);
    let (mut found, mut seen) = (Vec::new(), vec![false; cx.atoms.len()]);
    while let Some(atom) = todo.pop() {
        match seen.get_mut(atom as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        match cx.kind(atom) {
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

/// Whether a constant of integration is added to something that varies.
pub(crate) fn has_constant(cx: &Context, value: &Canon) -> bool {
    let constant = |(mono, coef): &(Mono, RBig)| {
        coef.is_one()
            && matches!(mono.as_slice(), [(atom, Exp::ONE)]
                if matches!(cx.kind(*atom), Some(Kind::Var(name)) if name == "C"))
    };
    let terms = &value.num.0;
    value.den.is_one()
        && terms.iter().any(constant)
        && terms.iter().any(|term| !constant(term) && cx.mono_varies(&term.0))
}

/// Variables of integration.
const OF_INTEGRATION: [&str; 12] =
    ["x", "y", "z", "t", "u", "v", "w", "s", "r", "theta", "phi", "X"];

/// The name of a constant that is added to something that varies, and stands nowhere else: `C` in
/// `x^2 + C`, also as `c`, `K` and `C_1`.
pub(crate) fn added_constant(cx: &Context, value: &Canon) -> Option<String> {
    let terms = &value.num.0;
    let added = |(mono, coef): &(Mono, RBig)| match (mono.as_slice(), coef.is_one()) {
        ([(atom, Exp::ONE)], true) => Some(*atom),
        _ => None,
    };
    let atom = terms.iter().filter_map(added).find(
        |atom| matches!(cx.kind(*atom), Some(Kind::Var(name)) if is_name_of_constant(name)),
    )?;
    let rest = Poly(terms.iter().filter(|term| added(term) != Some(atom)).cloned().collect());
    let others = names_in(cx, &Canon::poly(rest));
    let varies = others.iter().any(|name| OF_INTEGRATION.contains(&name.as_str()));
    let Some(Kind::Var(name)) = cx.kind(atom) else { return None };
    // C itself stands for nothing else.
    let free = !others.contains(name) && (name == "C" || !others.iter().any(|other| other == "C"));
    (value.den.is_one() && varies && free).then(|| name.clone())
}

fn is_name_of_constant(name: &str) -> bool {
    let stem = name.split_once('_').map_or(name, |(stem, _)| stem);
    matches!(stem, "C" | "c" | "K" | "k")
}

/// The only variable of a multiple of pi, where it is a usual name for an integer.
pub(crate) fn only_parameter(cx: &Context, value: &Canon) -> Option<String> {
    let mut atoms = value.num.0.iter().flat_map(|(mono, _)| mono.iter().map(|(atom, _)| *atom));
    let pi = atoms.any(|atom| cx.kind(atom) == Some(&Kind::Pi));
    if !pi || !value.den.is_one() {
        return None;
    }
    match names_in(cx, value).as_slice() {
        [name] if matches!(name.as_str(), "k" | "m" | "n" | "l") => Some(name.clone()),
        _ => None,
    }
}
