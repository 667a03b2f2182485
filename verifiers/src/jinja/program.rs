//! A template, compiled: every expression that makes a value is rewritten so that it pays for it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use minijinja::machinery::make_string_output;
use minijinja::machinery::{CodeGenerator, Instructions, Span, Token, ast, eval, parse, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State};

use ast::{BinOpKind, CallArg, Expr, Spanned, Stmt};

use super::account::{self, Weight};

/// The longest template, in bytes.
const SOURCE_BYTES_MAX: usize = 256 << 10;
/// The most signs and words of one expression: it is compiled by recursion.
const TOKENS_MAX: usize = 4_096;
/// The most branches of a template.
const BRANCHES_MAX: usize = 2_048;
/// The stack on which templates are compiled.
pub const STACK_BYTES: usize = 96 << 20;
/// Raw text that is so short is paid for by the instruction that writes it.
const RAW_FREE: usize = 16;

/// Names of filters that no template can write.
const FITS: &str = "~fits";
const NESTED: &str = "~nested";
const HELD: &str = "~held";
const READ: &str = "~read";
const SHOWN: &str = "~shown";
const INDEXED: &str = "~indexed";
const TIMES: &str = "~times";

/// A template that is ready to run.
pub struct BoundedTemplate {
    instructions: Instructions<'static>,
    blocks: BTreeMap<&'static str, Instructions<'static>>,
    reads: BTreeSet<&'static str>,
}

impl BoundedTemplate {
    /// Compiles a template, on a stack of [`STACK_BYTES`]: what nests deep is parsed, compiled and dropped by
    /// recursion. `name` is what messages call it.
    ///
    /// # Errors
    /// A template that does not parse, that names another one, or that is too large.
    pub fn new(name: &'static str, source: &str, syntax: &SyntaxConfig) -> Result<Self, Error> {
        if source.len() > SOURCE_BYTES_MAX {
            let found = source.len();
            let why = format!("it has {found} bytes; at most {SOURCE_BYTES_MAX} are allowed");
            return Err(account::refuse(why));
        }
        compile(name, kept(source), syntax)
    }

    /// Whether it reads a variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.reads.contains(variable)
    }

    /// The text, and the instructions that it took.
    ///
    /// # Errors
    /// A template that fails, or that asks for more than it may.
    pub fn render(
        &self,
        environment: &Environment<'_>,
        scope: Value,
    ) -> Result<(String, u64), Error> {
        let mut text = String::new();
        let mut output = make_string_output(&mut text);
        let done = eval(
            environment,
            &self.instructions,
            scope,
            &self.blocks,
            &mut output,
            AutoEscape::None,
        );
        let spent = done.map(|(_, state)| state.fuel_levels().map_or(0, |(spent, _)| spent));
        drop(output);
        Ok((text, spent?))
    }
}

/// The text of a template, for as long as the process lives: equal ones are kept once.
fn kept(source: &str) -> &'static str {
    static KEPT: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let mut kept = KEPT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(source) {
        return known;
    }
    let own: &'static str = Box::leak(source.into());
    kept.insert(own);
    own
}

fn compile(
    name: &'static str,
    source: &'static str,
    syntax: &SyntaxConfig,
) -> Result<BoundedTemplate, Error> {
    bounded(source, syntax)?;
    let tree = parse(source, name, syntax.clone())?;
    let mut writer = Writer::default();
    let tree = writer.statement(&tree);
    if let Some(what) = writer.refused {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("`{what}`: a template has no blocks and calls no other templates"),
        ));
    }
    let mut code = CodeGenerator::new(name, source);
    code.compile_stmt(&tree);
    let (instructions, blocks) = code.finish();
    Ok(BoundedTemplate { instructions, blocks, reads: writer.reads })
}

/// Refuses what would nest too deep.
fn bounded(source: &str, syntax: &SyntaxConfig) -> Result<(), Error> {
    let (mut tokens, mut branches) = (0, 0);
    for token in tokenize(source, false, syntax.clone()) {
        let (token, span) = token?;
        tokens += 1;
        match token {
            Token::VariableStart | Token::BlockStart => tokens = 0,
            Token::Ident("elif") => branches += 1,
            _ => {}
        }
        let line = span.start_line;
        if tokens > TOKENS_MAX {
            let why = format!("line {line}: an expression of more than {TOKENS_MAX} tokens");
            return Err(account::refuse(why));
        }
        if branches > BRANCHES_MAX {
            let why = format!("line {line}: more than {BRANCHES_MAX} branches");
            return Err(account::refuse(why));
        }
    }
    Ok(())
}

/// The filters by which expressions pay.
pub(super) fn register(environment: &mut Environment<'static>) {
    environment.add_filter(FITS, |value: Value| account::fits(&value).map(|()| value));
    environment.add_filter(READ, |value: Value| account::read(&value).map(|_| value));
    environment.add_filter(NESTED, |value: Value| {
        let weight = Weight::of(&value)?;
        account::fits(&value)?;
        account::room(weight.nodes).map(|()| value)
    });
    environment.add_filter(HELD, |value: Value| match Weight::of(&value)? {
        weight if weight.namespaces => Err(account::refuse("a namespace within a namespace")),
        _ => Ok(value),
    });
    environment.add_filter(SHOWN, |value: Value| {
        if value.as_object().is_some() {
            account::room(account::read(&value)?.printed(0))?;
        }
        Ok::<_, Error>(value)
    });
    environment.add_filter(INDEXED, |value: Value| {
        value.as_str().map_or(Ok(()), account::read_text).map(|()| value)
    });
    environment.add_filter(TIMES, |state: &mut State<'_, '_>, one: Value, other: Value| {
        times(state, one, other)
    });
    environment.set_formatter(|out, state, value| {
        match value.as_str() {
            Some(text) => account::keep(text.len())?,
            None if value.as_object().is_some() => account::keep(account::read(value)?.printed(0))?,
            None => {}
        }
        minijinja::escape_formatter(out, state, value)
    });
}

/// `one * other`: a text or a list that is repeated is held to its size first.
fn times(state: &State<'_, '_>, one: Value, other: Value) -> Result<Value, Error> {
    let size = |value: &Value| match value.as_str() {
        Some(text) => Ok(Some(text.len())),
        None if value.as_object().is_some() => {
            account::elements(value).map(|count| Some(count.saturating_mul(account::ELEMENT_BYTES)))
        }
        None => Ok(None),
    };
    let count = |value: &Value| i128::try_from(value.clone()).ok();
    for (repeated, by) in [(&one, &other), (&other, &one)] {
        if let (Some(size), Some(by)) = (size(repeated)?, count(by)) {
            account::room(size.saturating_mul(usize::try_from(by).unwrap_or(0)))?;
        }
    }
    let product = state.env().compile_expression("one * other")?;
    let product = product.eval(minijinja::context! { one, other })?;
    account::fits(&product)?;
    Ok(product)
}

/// Writes a tree anew.
#[derive(Default)]
struct Writer {
    /// Variables that are read.
    reads: BTreeSet<&'static str>,
    /// A statement that names another template.
    refused: Option<&'static str>,
}

type Tree = Expr<'static>;

fn paying(filter: &'static str, expr: Tree, args: Vec<CallArg<'static>>, span: Span) -> Tree {
    Expr::Filter(Spanned::new(ast::Filter { name: filter, expr: Some(expr), args }, span))
}

impl Writer {
    fn statements(&mut self, all: &[Stmt<'static>]) -> Vec<Stmt<'static>> {
        all.iter().map(|one| self.statement(one)).collect()
    }

    fn statement(&mut self, statement: &Stmt<'static>) -> Stmt<'static> {
        match statement {
            Stmt::Template(node) => {
                let children = self.statements(&node.children);
                Stmt::Template(Spanned::new(ast::Template { children }, node.span()))
            }
            Stmt::EmitExpr(node) => {
                let expr = self.expr(&node.expr);
                Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, node.span()))
            }
            Stmt::EmitRaw(node) => raw(node),
            Stmt::ForLoop(node) => {
                let own = ast::ForLoop {
                    target: self.target(&node.target),
                    iter: self.expr(&node.iter),
                    filter_expr: self.optional(node.filter_expr.as_ref()),
                    recursive: node.recursive,
                    body: self.statements(&node.body),
                    else_body: self.statements(&node.else_body),
                };
                Stmt::ForLoop(Spanned::new(own, node.span()))
            }
            Stmt::IfCond(node) => {
                let own = ast::IfCond {
                    expr: self.expr(&node.expr),
                    true_body: self.statements(&node.true_body),
                    false_body: self.statements(&node.false_body),
                };
                Stmt::IfCond(Spanned::new(own, node.span()))
            }
            Stmt::WithBlock(node) => {
                let given = node.assignments.iter();
                let assignments =
                    given.map(|(name, value)| (self.target(name), self.expr(value))).collect();
                let body = self.statements(&node.body);
                Stmt::WithBlock(Spanned::new(ast::WithBlock { assignments, body }, node.span()))
            }
            Stmt::Set(node) => {
                let (target, expr) = (self.target(&node.target), self.expr(&node.expr));
                let expr = held(&node.target, expr, node.span());
                Stmt::Set(Spanned::new(ast::Set { target, expr }, node.span()))
            }
            Stmt::Import(_) => self.refuse("import"),
            Stmt::FromImport(_) => self.refuse("from"),
            Stmt::Extends(_) => self.refuse("extends"),
            Stmt::Include(_) => self.refuse("include"),
            other => self.rarer_statement(other),
        }
    }

    /// Statements that chat templates seldom have.
    fn rarer_statement(&mut self, statement: &Stmt<'static>) -> Stmt<'static> {
        match statement {
            Stmt::SetBlock(node) => {
                let own = ast::SetBlock {
                    target: self.target(&node.target),
                    filter: self.optional(node.filter.as_ref()),
                    body: self.statements(&node.body),
                };
                Stmt::SetBlock(Spanned::new(own, node.span()))
            }
            Stmt::AutoEscape(node) => {
                let (enabled, body) = (self.expr(&node.enabled), self.statements(&node.body));
                Stmt::AutoEscape(Spanned::new(ast::AutoEscape { enabled, body }, node.span()))
            }
            Stmt::FilterBlock(node) => {
                let (filter, body) = (self.expr(&node.filter), self.statements(&node.body));
                Stmt::FilterBlock(Spanned::new(ast::FilterBlock { filter, body }, node.span()))
            }
            Stmt::Block(node) => {
                let body = self.statements(&node.body);
                let own = ast::Block { name: node.name, required: node.required, body };
                Stmt::Block(Spanned::new(own, node.span()))
            }
            Stmt::Macro(node) => Stmt::Macro(self.declaration(node)),
            Stmt::CallBlock(node) => {
                let (call, macro_decl) =
                    (self.call(&node.call), self.declaration(&node.macro_decl));
                Stmt::CallBlock(Spanned::new(ast::CallBlock { call, macro_decl }, node.span()))
            }
            Stmt::Do(node) => {
                let call = self.call(&node.call);
                Stmt::Do(Spanned::new(ast::Do { call }, node.span()))
            }
            Stmt::Continue(node) => Stmt::Continue(Spanned::new(ast::Continue, node.span())),
            Stmt::Break(node) => Stmt::Break(Spanned::new(ast::Break, node.span())),
            // Every other statement has its place above.
            other => self.statement(other),
        }
    }

    fn refuse(&mut self, what: &'static str) -> Stmt<'static> {
        self.refused = Some(what);
        Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw: "" }, Span::default()))
    }

    fn declaration(&mut self, node: &Spanned<ast::Macro<'static>>) -> Spanned<ast::Macro<'static>> {
        let own = ast::Macro {
            name: node.name,
            args: node.args.iter().map(|name| self.target(name)).collect(),
            defaults: node.defaults.iter().map(|value| self.expr(value)).collect(),
            body: self.statements(&node.body),
        };
        Spanned::new(own, node.span())
    }

    fn optional(&mut self, expr: Option<&Tree>) -> Option<Tree> {
        expr.map(|expr| self.expr(expr))
    }

    /// A place that is written to.
    fn target(&mut self, target: &Tree) -> Tree {
        match target {
            Expr::Var(node) => Expr::Var(Spanned::new(ast::Var { id: node.id }, node.span())),
            Expr::List(node) => {
                let items = node.items.iter().map(|item| self.target(item)).collect();
                Expr::List(Spanned::new(ast::List { items }, node.span()))
            }
            Expr::Tuple(node) => {
                let items = node.items.iter().map(|item| self.target(item)).collect();
                Expr::Tuple(Spanned::new(ast::Tuple { items }, node.span()))
            }
            Expr::GetAttr(node) => {
                let own = ast::GetAttr { expr: self.target(&node.expr), name: node.name };
                Expr::GetAttr(Spanned::new(own, node.span()))
            }
            other => self.expr(other),
        }
    }

    fn expr(&mut self, expr: &Tree) -> Tree {
        let span = expr.span();
        match expr {
            Expr::Var(node) => {
                self.reads.insert(node.id);
                Expr::Var(Spanned::new(ast::Var { id: node.id }, span))
            }
            Expr::Const(node) => {
                Expr::Const(Spanned::new(ast::Const { value: node.value.clone() }, span))
            }
            Expr::Slice(node) => {
                let own = ast::Slice {
                    expr: self.expr(&node.expr),
                    start: self.optional(node.start.as_ref()),
                    stop: self.optional(node.stop.as_ref()),
                    step: self.optional(node.step.as_ref()),
                };
                let own = ast::Slice { expr: paying(INDEXED, own.expr, Vec::new(), span), ..own };
                paying(FITS, Expr::Slice(Spanned::new(own, span)), Vec::new(), span)
            }
            Expr::UnaryOp(node) => {
                let negates = matches!(node.op, ast::UnaryOpKind::Neg);
                let op = if negates { ast::UnaryOpKind::Neg } else { ast::UnaryOpKind::Not };
                let own = ast::UnaryOp { op, expr: self.expr(&node.expr) };
                Expr::UnaryOp(Spanned::new(own, span))
            }
            Expr::BinOp(node) => self.operation(node),
            Expr::Compare(node) => {
                let (expr, mut ops) = (self.compared(&node.expr), Vec::new());
                for op in &node.ops {
                    ops.push(ast::CompareOp { op: op.op, expr: self.compared(&op.expr) });
                }
                Expr::Compare(Spanned::new(ast::Compare { expr, ops }, span))
            }
            Expr::IfExpr(node) => {
                let own = ast::IfExpr {
                    test_expr: self.expr(&node.test_expr),
                    true_expr: self.expr(&node.true_expr),
                    false_expr: self.optional(node.false_expr.as_ref()),
                };
                Expr::IfExpr(Spanned::new(own, span))
            }
            Expr::Filter(node) => {
                let (expr, args) = (self.optional(node.expr.as_ref()), self.args(&node.args));
                Expr::Filter(Spanned::new(ast::Filter { name: node.name, expr, args }, span))
            }
            Expr::Test(node) => {
                let (expr, args) = (self.expr(&node.expr), self.args(&node.args));
                Expr::Test(Spanned::new(ast::Test { name: node.name, expr, args }, span))
            }
            Expr::GetAttr(node) => {
                let own = ast::GetAttr { expr: self.expr(&node.expr), name: node.name };
                Expr::GetAttr(Spanned::new(own, span))
            }
            Expr::GetItem(node) => self.item(node),
            Expr::Call(node) => Expr::Call(self.call(node)),
            Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => self.literal(expr),
        }
    }

    fn literal(&mut self, expr: &Tree) -> Tree {
        let span = expr.span();
        let plain = |items: &[Tree]| items.iter().all(|item| matches!(item, Expr::Const(_)));
        let (own, is_plain) = match expr {
            Expr::List(node) => {
                let items = node.items.iter().map(|item| self.expr(item)).collect();
                (Expr::List(Spanned::new(ast::List { items }, span)), plain(&node.items))
            }
            Expr::Tuple(node) => {
                let items = node.items.iter().map(|item| self.expr(item)).collect();
                (Expr::Tuple(Spanned::new(ast::Tuple { items }, span)), plain(&node.items))
            }
            Expr::Map(node) => {
                let keys = node.keys.iter().map(|key| self.expr(key)).collect();
                let values = node.values.iter().map(|value| self.expr(value)).collect();
                let is_plain = plain(&node.keys) && plain(&node.values);
                (Expr::Map(Spanned::new(ast::Map { keys, values }, span)), is_plain)
            }
            other => return self.expr(other),
        };
        if is_plain { own } else { paying(NESTED, own, Vec::new(), span) }
    }

    fn operation(&mut self, node: &Spanned<ast::BinOp<'static>>) -> Tree {
        let span = node.span();
        let (mut left, mut right) = (self.expr(&node.left), self.expr(&node.right));
        let pays = |filter, expr| match expr {
            Expr::Const(_) => expr,
            other => paying(filter, other, Vec::new(), span),
        };
        match node.op {
            BinOpKind::Mul => return paying(TIMES, left, vec![CallArg::Pos(right)], span),
            BinOpKind::Concat => (left, right) = (pays(SHOWN, left), pays(SHOWN, right)),
            BinOpKind::Eq
            | BinOpKind::Ne
            | BinOpKind::Lt
            | BinOpKind::Lte
            | BinOpKind::Gt
            | BinOpKind::Gte
            | BinOpKind::In => (left, right) = (pays(READ, left), pays(READ, right)),
            _ => {}
        }
        let own = Expr::BinOp(Spanned::new(ast::BinOp { op: node.op, left, right }, span));
        match node.op {
            BinOpKind::Add | BinOpKind::Concat => paying(FITS, own, Vec::new(), span),
            _ => own,
        }
    }

    /// A value that is compared.
    fn compared(&mut self, expr: &Tree) -> Tree {
        match self.expr(expr) {
            own @ Expr::Const(_) => own,
            own => paying(READ, own, Vec::new(), expr.span()),
        }
    }

    fn item(&mut self, node: &Spanned<ast::GetItem<'static>>) -> Tree {
        let (expr, subscript_expr) = (self.expr(&node.expr), self.expr(&node.subscript_expr));
        let named = matches!(&subscript_expr, Expr::Const(key) if key.value.as_str().is_some());
        let expr = if named { expr } else { paying(INDEXED, expr, Vec::new(), node.span()) };
        Expr::GetItem(Spanned::new(ast::GetItem { expr, subscript_expr }, node.span()))
    }

    /// A call keeps its form: what is called by name is another thing than a value.
    fn call(&mut self, node: &Spanned<ast::Call<'static>>) -> Spanned<ast::Call<'static>> {
        if let Expr::GetAttr(block) = &node.expr
            && matches!(&block.expr, Expr::Var(name) if name.id == "self")
        {
            // A block that calls itself has no end, and takes the stack with it.
            self.refused = Some("self");
        }
        let mut args = self.args(&node.args);
        if matches!(&node.expr, Expr::GetAttr(method) if method.name == "changed") {
            for arg in &mut args {
                *arg = match std::mem::replace(arg, CallArg::Pos(none(node.span()))) {
                    CallArg::Pos(expr) => CallArg::Pos(paying(READ, expr, Vec::new(), node.span())),
                    other => other,
                };
            }
        }
        Spanned::new(ast::Call { expr: self.expr(&node.expr), args }, node.span())
    }

    fn args(&mut self, args: &[CallArg<'static>]) -> Vec<CallArg<'static>> {
        let one = |arg: &CallArg<'static>| match arg {
            CallArg::Pos(expr) => CallArg::Pos(self.expr(expr)),
            CallArg::Kwarg(name, expr) => CallArg::Kwarg(name, self.expr(expr)),
            CallArg::PosSplat(expr) => CallArg::PosSplat(self.expr(expr)),
            CallArg::KwargSplat(expr) => CallArg::KwargSplat(self.expr(expr)),
        };
        args.iter().map(one).collect()
    }
}

fn none(span: Span) -> Tree {
    Expr::Const(Spanned::new(ast::Const { value: Value::from(()) }, span))
}

/// Text of the template itself.
fn raw(node: &Spanned<ast::EmitRaw<'static>>) -> Stmt<'static> {
    if node.raw.len() <= RAW_FREE {
        return Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw: node.raw }, node.span()));
    }
    let value = Value::from_safe_string(node.raw.to_owned());
    let expr = Expr::Const(Spanned::new(ast::Const { value }, node.span()));
    Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, node.span()))
}

/// A value that is stored in a namespace.
fn held(target: &Tree, expr: Tree, span: Span) -> Tree {
    let stores = |target: &Tree| matches!(target, Expr::GetAttr(_));
    let any = match target {
        Expr::List(node) => node.items.iter().any(stores),
        Expr::Tuple(node) => node.items.iter().any(stores),
        target => stores(target),
    };
    if any { paying(HELD, expr, Vec::new(), span) } else { expr }
}
