//! From the syntax tree of rhai to checked nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rhai::{Expr, FnCallExpr, Position, Stmt};

use super::elementwise;
use super::functions::{self, Class, Divisor, Entry, Function};
use super::tree::{
    Axis, Formula, FormulaError, FormulaInput, FormulaScope, Guard, Node, Op, Setting, is_missing,
};
use crate::code::Code;
use crate::script;

type Compiled<T> = Result<T, FormulaError>;

/// What an expression is.
#[derive(Clone)]
enum Value {
    Node(usize),
    Word(String),
}

struct Compiler<'a> {
    source: &'a str,
    scope: &'a FormulaScope,
    lets: BTreeMap<String, Value>,
    used: BTreeSet<String>,
    inputs: Vec<FormulaInput>,
    nodes: Vec<Node>,
    named: Vec<(String, usize)>,
    guards: Vec<Guard>,
    outputs: Vec<(String, usize, Axis)>,
    compares_rows: bool,
}

impl Formula {
    /// Checks a formula.
    ///
    /// # Errors
    /// The place of what does not parse, an unknown name, a wrong shape, a setting that nothing reads.
    pub fn compile(source: &str, scope: &FormulaScope) -> Result<Self, FormulaError> {
        formula(source, scope)
    }
}

fn formula(source: &str, scope: &FormulaScope) -> Compiled<Formula> {
    let ast = script::parsed(source)?;
    let mut compiler = Compiler {
        source,
        scope,
        lets: BTreeMap::new(),
        used: BTreeSet::new(),
        inputs: Vec::new(),
        nodes: Vec::new(),
        named: Vec::new(),
        guards: Vec::new(),
        outputs: Vec::new(),
        compares_rows: false,
    };
    if ast.has_functions() {
        let place = source.find("fn ").map(|at| at..at + 2);
        let refused = compiler.refuse(Position::NONE, "a formula defines no functions");
        return Err(FormulaError { place, ..refused });
    }
    let Some((last, before)) = ast.statements().split_last() else {
        return Err(compiler.refuse(Position::NONE, "the formula is empty"));
    };
    for statement in before {
        compiler.statement(statement)?;
    }
    compiler.result(last)?;
    compiler.check_settings()?;
    let formula = Formula {
        source: source.to_owned(),
        inputs: compiler.inputs,
        nodes: compiler.nodes,
        named: compiler.named,
        guards: compiler.guards,
        outputs: compiler.outputs,
        compares_rows: compiler.compares_rows,
    };
    formula.pruned().defined(!scope.settings.is_empty())
}

impl Compiler<'_> {
    fn refuse(&self, at: Position, message: impl Into<String>) -> FormulaError {
        let place = script::place(self.source, at);
        let (code, message) = (Code::BadExpression, message.into());
        FormulaError { code, message, place, expected: Vec::new() }
    }

    fn statement(&mut self, statement: &Stmt) -> Compiled<()> {
        match statement {
            Stmt::Noop(_) => Ok(()),
            Stmt::Var(own, ..) => {
                let (name, value) = (own.0.name.to_string(), self.value(&own.1)?);
                if let Value::Node(node) = value
                    && !name.starts_with('_')
                {
                    self.named.retain(|(own, _)| *own != name);
                    self.named.push((name.clone(), node));
                }
                self.lets.insert(name, value);
                Ok(())
            }
            Stmt::FnCall(call, at) => self.guard(call, *at),
            Stmt::Expr(expr) => match &**expr {
                Expr::FnCall(call, at) => self.guard(call, *at),
                other => Err(self.refuse(other.start_position(), UNUSED)),
            },
            other => Err(self.refuse(other.position(), NO_STATEMENT)),
        }
    }

    /// `skip(when, "why")` and `fail(when, "why")`.
    fn guard(&mut self, call: &FnCallExpr, at: Position) -> Compiled<()> {
        let fails = match call.name.as_str() {
            "skip" => false,
            "fail" => true,
            _ => return Err(self.refuse(at, UNUSED)),
        };
        let [when, why] = call.args.as_slice() else {
            let why = format!("expected {}(condition, \"why\")", call.name);
            return Err(self.refuse(at, why));
        };
        let when_node = self.node(when)?;
        let when = self.spread(when_node, Axis::Row, when.start_position())?;
        match self.value(why)? {
            Value::Word(text) => {
                let why = self.filled(&text);
                self.guards.push(Guard { when, fails, why });
                Ok(())
            }
            Value::Node(_) => Err(self.refuse(why.start_position(), "expected a text")),
        }
    }

    /// A text with the settings that it names in braces.
    fn filled(&mut self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, setting) in &self.scope.settings {
            let place = format!("{{{name}}}");
            if filled.contains(&place) {
                self.used.insert(name.clone());
                let shown = match setting {
                    Setting::Number(number) => number.to_string(),
                    Setting::Word(word) => word.clone(),
                    Setting::Name(path) => {
                        path.split_once('.').map_or(path.as_str(), |(_, own)| own).to_owned()
                    }
                };
                filled = filled.replace(&place, &shown);
            }
        }
        filled
    }

    /// The last expression: a value, or a map of outputs.
    fn result(&mut self, statement: &Stmt) -> Compiled<()> {
        if let Stmt::Expr(expr) = statement
            && let Expr::Map(own, _) = &**expr
        {
            if own.0.is_empty() {
                return Err(self.refuse(expr.start_position(), "the map has no output"));
            }
            for (name, value) in &own.0 {
                let node = self.node(value)?;
                self.output(name.name.as_str(), node, name.pos)?;
            }
            return Ok(());
        }
        let (node, at) = match statement {
            Stmt::Expr(expr) => (self.node(expr)?, expr.start_position()),
            Stmt::FnCall(call, at) => (self.call(call, *at)?, *at),
            Stmt::If(..) => (self.choice(statement)?, statement.position()),
            Stmt::Var(_, _, at) => {
                return Err(self.refuse(*at, "an expression is due here: what the formula gives"));
            }
            other => return Err(self.refuse(other.position(), NO_STATEMENT)),
        };
        let first = self.scope.outputs.first().map(|(name, _)| name.clone()).unwrap_or_default();
        self.output(&first, node, at)
    }

    fn output(&mut self, name: &str, node: usize, at: Position) -> Compiled<()> {
        let Some((_, axis)) = self.scope.outputs.iter().find(|(own, _)| own == name) else {
            let names = self.scope.outputs.iter().map(|(own, _)| own.clone());
            return Err(FormulaError {
                code: Code::UnknownKey,
                expected: names.collect(),
                ..self.refuse(at, format!("a formula here gives no \"{name}\""))
            });
        };
        let node = self.spread(node, *axis, at)?;
        self.outputs.push((name.to_owned(), node, *axis));
        Ok(())
    }

    /// The value along `axis`: repeated, where it varies over less.
    fn spread(&mut self, node: usize, axis: Axis, at: Position) -> Compiled<usize> {
        let own = self.axis(node);
        if own > axis {
            let (own, due) = (own.words(), axis.words());
            let why = format!("{own}, where {due} is due: reduce it, for example by mean()");
            return Err(self.refuse(at, why));
        }
        if own == axis {
            return Ok(node);
        }
        let op =
            Op::Call { function: Function::Spread, class: Class::Elementwise, args: vec![node] };
        Ok(self.push(op, axis, axis.reduced(), at))
    }

    /// Refuses a setting that nothing reads.
    fn check_settings(&self) -> Compiled<()> {
        let unused = self.scope.settings.keys().find(|name| !self.used.contains(*name));
        match unused {
            None => Ok(()),
            Some(name) => {
                let why = format!("the formula does not read the setting \"{name}\"");
                Err(FormulaError { code: Code::NoEffect, ..self.refuse(Position::NONE, why) })
            }
        }
    }

    fn value(&mut self, expr: &Expr) -> Compiled<Value> {
        let at = expr.start_position();
        Ok(match expr {
            Expr::StringConstant(text, _) => Value::Word(text.to_string()),
            Expr::IntegerConstant(number, _) => {
                #[expect(clippy::cast_precision_loss, reason = "numbers of formulas are f64")]
                let number = *number as f64;
                self.constant(number, at)
            }
            Expr::FloatConstant(number, _) => self.constant(**number, at),
            Expr::BoolConstant(truth, _) => Value::Node(self.truth(*truth, at)),
            Expr::Variable(own, ..) => return self.named(own.1.as_str(), at),
            Expr::Dot(..) | Expr::Index(..) => match path(expr) {
                Some(path) => return self.named(&path, at),
                None => return Err(self.refuse(at, "expected a name, such as meta.level")),
            },
            Expr::FnCall(call, at) => Value::Node(self.call(call, *at)?),
            Expr::And(operands, at) => self.folded(Function::And, operands, *at)?,
            Expr::Or(operands, at) => self.folded(Function::Or, operands, *at)?,
            Expr::Coalesce(operands, at) => self.folded(Function::Default, operands, *at)?,
            Expr::Stmt(block) => match block.statements() {
                [Stmt::Expr(expr)] => return self.value(expr),
                [Stmt::FnCall(call, at)] => Value::Node(self.call(call, *at)?),
                [choice @ Stmt::If(..)] => Value::Node(self.choice(choice)?),
                _ => return Err(self.refuse(at, "a block holds one expression here")),
            },
            Expr::Map(_, at) => {
                return Err(self.refuse(*at, "a map of outputs comes last in a formula"));
            }
            _ => {
                return Err(
                    self.refuse(at, "formulas have numbers, names, operators and functions")
                );
            }
        })
    }

    fn node(&mut self, expr: &Expr) -> Compiled<usize> {
        match self.value(expr)? {
            Value::Node(node) => Ok(node),
            Value::Word(word) => {
                let why = format!("expected a number, found the text \"{word}\"");
                Err(self.refuse(expr.start_position(), why))
            }
        }
    }

    fn folded(&mut self, function: Function, operands: &[Expr], at: Position) -> Compiled<Value> {
        let mut nodes = operands.iter().map(|own| self.node(own)).collect::<Compiled<Vec<_>>>()?;
        // `a ?? b ?? c` takes the first that is there, as `a && b && c` has no order.
        let mut folded = nodes.pop().unwrap_or_default();
        for node in nodes.into_iter().rev() {
            folded = self.elementwise(function, vec![node, folded], at);
        }
        Ok(Value::Node(folded))
    }

    /// `if c { a } else { b }` is `where(c, a, b)`.
    fn choice(&mut self, statement: &Stmt) -> Compiled<usize> {
        let Stmt::If(flow, at) = statement else {
            return Err(self.refuse(statement.position(), NO_STATEMENT));
        };
        let when = self.node(&flow.expr)?;
        let mut branch = |statements: &[Stmt]| match statements {
            [Stmt::Expr(expr)] => self.node(expr),
            [Stmt::FnCall(call, at)] => self.call(call, *at),
            [choice @ Stmt::If(..)] => self.choice(choice),
            _ => Err(self.refuse(*at, "each branch of an if holds one expression; else is due")),
        };
        let (yes, no) = (branch(flow.body.statements())?, branch(flow.branch.statements())?);
        Ok(self.elementwise(Function::Where, vec![when, yes, no], *at))
    }

    /// What a name stands for.
    fn named(&mut self, name: &str, at: Position) -> Compiled<Value> {
        if let Some(value) = self.lets.get(name) {
            return Ok(value.clone());
        }
        // A setting whose name rhai reserves is written `setting["with"]`.
        let own = name.strip_prefix("setting.").unwrap_or(name);
        if let Some(setting) = self.scope.settings.get(own) {
            self.used.insert(own.to_owned());
            return match setting {
                Setting::Number(number) => Ok(self.constant(*number, at)),
                Setting::Word(word) => Ok(Value::Word(word.clone())),
                Setting::Name(path) => self.input(path, None, at).map(Value::Node),
            };
        }
        self.input(name, None, at).map(Value::Node)
    }

    /// An input of the scope. `is` is what a text is compared with.
    fn input(&mut self, name: &str, is: Option<&str>, at: Position) -> Compiled<usize> {
        let open = || self.scope.open.get(name.split_once('.')?.0);
        let Some(axis) = self.scope.names.get(name).or_else(open).copied() else {
            let names = self.scope.names.keys().chain(self.scope.settings.keys());
            let names = names.chain(self.lets.keys()).cloned();
            return Err(FormulaError {
                code: Code::UnknownName,
                expected: names.collect(),
                ..self.refuse(at, format!("no `{name}` is known here"))
            });
        };
        let input = FormulaInput { name: name.to_owned(), is: is.map(str::to_owned), axis };
        let index = self.inputs.iter().position(|own| *own == input).unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        });
        Ok(self.push(Op::Input(index), axis, axis.reduced(), at))
    }

    fn call(&mut self, call: &FnCallExpr, at: Position) -> Compiled<usize> {
        let name = call.name.as_str();
        if call.op_token.is_some()
            && let Some(function) = functions::operator(name, call.args.len())
        {
            return self.operation(function, &call.args, at);
        }
        if name == "given" {
            return self.given(&call.args, at);
        }
        let Some(entry) = functions::find(name) else {
            if matches!(name, "skip" | "fail") {
                let why = format!("{name}() is a statement: an expression comes after it");
                return Err(self.refuse(at, why));
            }
            let names = functions::ALL.iter().map(|entry| entry.name.to_owned());
            return Err(FormulaError {
                code: Code::UnknownName,
                expected: names.collect(),
                ..self.refuse(at, format!("formulas have no function `{name}`"))
            });
        };
        let (least, most) = entry.arity();
        if !(least..=most).contains(&call.args.len()) {
            let why = format!("expected {name}({})", entry.args);
            return Err(self.refuse(at, why));
        }
        self.function(entry, &call.args, at)
    }

    /// `given(setting)`: whether an optional setting was given, which is known now.
    fn given(&mut self, args: &[Expr], at: Position) -> Compiled<usize> {
        let name = match args {
            [name] => path(name),
            _ => None,
        };
        let name = name.unwrap_or_default();
        let name = name.strip_prefix("setting.").unwrap_or(&name);
        let Some(setting) = self.scope.settings.get(name) else {
            return Err(self.refuse(at, "expected given(NAME), of a setting"));
        };
        self.used.insert(name.to_owned());
        let is_given = !matches!(setting, Setting::Number(number) if is_missing(*number));
        Ok(self.truth(is_given, at))
    }

    /// An operator; a text is compared here.
    fn operation(&mut self, function: Function, args: &[Expr], at: Position) -> Compiled<usize> {
        let is_comparison = matches!(function, Function::Equal | Function::NotEqual);
        if is_comparison && let [one, other] = args {
            let words = (self.word(one)?, self.word(other)?);
            let equal = match words {
                (Some(one), Some(other)) => Some(self.truth(one == other, at)),
                (Some(word), None) => Some(self.text_input(other, &word)?),
                (None, Some(word)) => Some(self.text_input(one, &word)?),
                (None, None) => None,
            };
            if let Some(equal) = equal {
                let is_negated = function == Function::NotEqual;
                let negated = |own: &mut Self| own.elementwise(Function::Not, vec![equal], at);
                return Ok(if is_negated { negated(self) } else { equal });
            }
        }
        let args = args.iter().map(|own| self.node(own)).collect::<Compiled<Vec<_>>>()?;
        Ok(self.elementwise(function, args, at))
    }

    /// The word that an expression is, where it is one.
    fn word(&mut self, expr: &Expr) -> Compiled<Option<String>> {
        if !matches!(expr, Expr::StringConstant(..) | Expr::Variable(..)) {
            return Ok(None);
        }
        Ok(match self.value(expr)? {
            Value::Word(word) => Some(word),
            Value::Node(_) => None,
        })
    }

    /// Whether the text under a name is `word`.
    fn text_input(&mut self, expr: &Expr, word: &str) -> Compiled<usize> {
        let at = expr.start_position();
        match path(expr).filter(|path| path.contains('.')) {
            Some(path) => self.input(&path, Some(word), at),
            None => Err(self.refuse(at, "a text is compared with a column, such as meta.level")),
        }
    }

    fn function(&mut self, entry: &Entry, args: &[Expr], at: Position) -> Compiled<usize> {
        let (function, mut nodes) = self.arguments(entry, args)?;
        let two = match function {
            Function::Least => Some(Function::Smaller),
            Function::Greatest => Some(Function::Larger),
            _ => None,
        };
        if let Some(two) = two.filter(|_| nodes.len() == 2) {
            return Ok(self.elementwise(two, nodes, at));
        }
        if entry.class == Class::Elementwise {
            return Ok(self.elementwise(function, nodes, at));
        }
        let column = nodes.first().and_then(|column| self.nodes.get(*column));
        let (axis, over) = column.map_or((Axis::Number, Axis::Number), |own| (own.axis, own.over));
        let least = if self.scope.has_batch { Axis::Group } else { Axis::Row };
        if axis < least {
            let why = format!("{}() is of a column, found {}", entry.name, axis.words());
            return Err(self.refuse(at, why));
        }
        if entry.class == Class::Widening {
            let over = self.widened(function, axis, at)?;
            let op = Op::Call { function, class: entry.class, args: nodes };
            return Ok(self.push(op, axis, over, at));
        }
        let due = if entry.class == Class::Keyed { axis } else { Axis::Number };
        for (place, node) in nodes.iter().enumerate().skip(1) {
            if self.axis(*node) > due {
                let at = args.get(place).map_or(at, Expr::start_position);
                let why = format!("{}, where {} is due", self.axis(*node).words(), due.words());
                return Err(self.refuse(at, why));
            }
        }
        if let (Class::Keyed, Some(key)) = (entry.class, nodes.get(1).copied()) {
            nodes.truncate(1);
            nodes.push(self.spread(key, axis, at)?);
        }
        self.compares_rows |= axis == Axis::Row || over < Axis::Row;
        let op = Op::Call { function, class: entry.class, args: nodes };
        Ok(match entry.class {
            Class::Reduction => self.push(op, over, over.reduced(), at),
            // What is reduced of it later goes over its own segments again.
            _ => self.push(op, axis, axis.reduced(), at),
        })
    }

    /// The arguments of a function, and the function with the deviation that they name.
    fn arguments(&mut self, entry: &Entry, args: &[Expr]) -> Compiled<(Function, Vec<usize>)> {
        let (mut function, mut nodes) = (entry.function, Vec::with_capacity(args.len()));
        for (name, arg) in entry.args.split(", ").zip(args) {
            if name != "deviation" {
                nodes.push(self.node(arg)?);
                continue;
            }
            let given = match self.value(arg)? {
                Value::Word(word) => Divisor::of(&word),
                Value::Node(_) => None,
            };
            let Some(deviation) = given else {
                let why = "expected \"population\" or \"sample\"";
                return Err(self.refuse(arg.start_position(), why));
            };
            function = entry.with(deviation);
        }
        Ok((function, nodes))
    }

    /// What a widened column is reduced to.
    fn widened(&self, function: Function, axis: Axis, at: Position) -> Compiled<Axis> {
        match function {
            Function::Batch if self.scope.has_batch => Ok(Axis::Number),
            Function::Batch => {
                let why = "one group is shown here: batch() is of advantages and selections";
                Err(self.refuse(at, why))
            }
            _ if axis == Axis::Step => Ok(Axis::Group),
            _ => Err(self.refuse(at, "group() is of a column over steps")),
        }
    }

    fn elementwise(&mut self, function: Function, args: Vec<usize>, at: Position) -> usize {
        let constants: Option<Vec<f64>> = args.iter().map(|arg| self.known(*arg)).collect();
        if let Some(constants) = constants {
            return self.push(
                Op::Constant(elementwise::scalar(function, &constants)),
                Axis::Number,
                Axis::Number,
                at,
            );
        }
        let own = || args.iter().filter_map(|arg| self.nodes.get(*arg));
        let axis = own().map(|node| node.axis).max().unwrap_or(Axis::Number);
        let over = own().filter(|node| node.axis == axis).map(|node| node.over).min();
        let op = Op::Call { function, class: Class::Elementwise, args };
        self.push(op, axis, over.unwrap_or(Axis::Number), at)
    }

    fn is_truth(&self, function: Function, args: &[usize]) -> bool {
        let is = |arg: &usize| self.nodes.get(*arg).is_some_and(|node| node.is_truth);
        match function {
            Function::Where => args.iter().skip(1).all(is),
            Function::Spread | Function::Default => args.iter().all(is),
            Function::Only => args.first().is_some_and(is),
            Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
            | Function::Equal
            | Function::NotEqual
            | Function::And
            | Function::Or
            | Function::Not
            | Function::Any
            | Function::All
            | Function::IsMissing => true,
            _ => false,
        }
    }

    fn known(&self, node: usize) -> Option<f64> {
        match self.nodes.get(node)?.op {
            Op::Constant(number) => Some(number),
            _ => None,
        }
    }

    fn constant(&mut self, number: f64, at: Position) -> Value {
        Value::Node(self.push(Op::Constant(number), Axis::Number, Axis::Number, at))
    }

    fn truth(&mut self, truth: bool, at: Position) -> usize {
        let node =
            self.push(Op::Constant(f64::from(u8::from(truth))), Axis::Number, Axis::Number, at);
        if let Some(own) = self.nodes.last_mut() {
            own.is_truth = true;
        }
        node
    }

    #[expect(clippy::indexing_slicing, reason = "the numbers of nodes are those that `push` gave")]
    fn axis(&self, node: usize) -> Axis {
        self.nodes[node].axis
    }

    fn push(&mut self, op: Op, axis: Axis, over: Axis, at: Position) -> usize {
        let place: Range<usize> = script::place(self.source, at).unwrap_or_default();
        let is_truth = match &op {
            Op::Call { function, args, .. } => self.is_truth(*function, args),
            _ => false,
        };
        self.nodes.push(Node { op, axis, over, is_truth, place });
        self.nodes.len() - 1
    }
}

const NO_STATEMENT: &str = "a formula has `let` statements, skip() and fail(), and an expression: no loops, no assignments";
const UNUSED: &str =
    "nothing reads this value: give it a name by `let`, or make it the last expression";

/// The dotted name that an expression is.
fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Variable(own, ..) => Some(own.1.to_string()),
        Expr::Property(own, _) => Some(own.2.to_string()),
        Expr::StringConstant(own, _) => Some(own.to_string()),
        Expr::Dot(both, ..) | Expr::Index(both, ..) => {
            Some(format!("{}.{}", path(&both.lhs)?, path(&both.rhs)?))
        }
        _ => None,
    }
}
