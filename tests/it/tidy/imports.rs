//! Which file of a crate imports which: names are followed through `use` and re-exports to the file
//! that defines them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree, Visibility};

/// A module: a file, or a block inside one.
struct Module {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names that `use` brings in, and the paths that they stand for.
    aliases: BTreeMap<String, Vec<String>>,
    /// Paths of which everything is brought in.
    globs: Vec<Vec<String>>,
    /// Names that are defined here.
    defined: BTreeSet<String>,
}

/// The modules of one crate, and which file names what of which other file.
pub(super) struct Imports {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
    edges: BTreeMap<(usize, usize), BTreeSet<String>>,
}

impl Imports {
    /// Reads a crate from its root file.
    pub(super) fn read(root: &Path) -> Self {
        let mut imports = Self { files: Vec::new(), modules: Vec::new(), edges: BTreeMap::new() };
        let mut items = Vec::new();
        imports.file(root, &root.parent().unwrap().to_path_buf(), None, &mut items);
        for (module, item) in &items {
            imports.item(*module, item);
        }
        imports
    }

    fn file(
        &mut self,
        path: &Path,
        folder: &PathBuf,
        parent: Option<usize>,
        items: &mut Vec<(usize, Item)>,
    ) -> usize {
        let file = self.files.len();
        self.files.push(path.to_owned());
        let module = self.module(file, parent);
        let parsed = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        let tests: BTreeSet<PathBuf> = test_modules(&parsed.items)
            .map(|name| folder.join(name).with_extension("rs"))
            .collect();
        let mut nested: Vec<PathBuf> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|found| found.extension().is_some_and(|extension| extension == "rs"))
            .filter(|found| {
                let name = found.file_name().unwrap().to_str().unwrap();
                let is_root = ["main.rs", "lib.rs"].contains(&name);
                found != path && !is_root && !tests.contains(found)
            })
            .collect();
        nested.sort();
        for found in nested {
            let name = found.file_stem().unwrap().to_str().unwrap().to_owned();
            let child = self.file(&found, &found.with_extension(""), Some(module), items);
            self.modules[module].children.insert(name, child);
        }
        self.collect(module, parsed.items, items);
        module
    }

    fn module(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            aliases: BTreeMap::new(),
            globs: Vec::new(),
            defined: BTreeSet::new(),
        });
        self.modules.len() - 1
    }

    /// Notes what a module defines and brings in; its items are looked at once all is known.
    fn collect(&mut self, module: usize, found: Vec<Item>, items: &mut Vec<(usize, Item)>) {
        for item in found {
            if is_test(&item) {
                continue;
            }
            if let Some(name) = defined(&item) {
                self.modules[module].defined.insert(name);
            }
            match item {
                Item::Mod(inner) if inner.content.is_some() => {
                    let child = self.module(self.modules[module].file, Some(module));
                    self.modules[module].children.insert(inner.ident.to_string(), child);
                    self.collect(child, inner.content.unwrap().1, items);
                }
                Item::Use(import) => {
                    let mut paths = Vec::new();
                    flatten(&import.tree, &mut Vec::new(), &mut paths);
                    for (path, alias) in paths {
                        match alias {
                            Some(alias) => {
                                self.modules[module].aliases.insert(alias, path);
                            }
                            None => self.modules[module].globs.push(path),
                        }
                    }
                    items.push((module, Item::Use(import)));
                }
                item => items.push((module, item)),
            }
        }
    }

    fn item(&mut self, module: usize, item: &Item) {
        match item {
            // Handing a name on is no use of it.
            Item::Use(import) if !matches!(import.vis, Visibility::Inherited) => {}
            Item::Use(import) => {
                let mut paths = Vec::new();
                flatten(&import.tree, &mut Vec::new(), &mut paths);
                for (path, _) in paths {
                    self.edge(module, &path);
                }
            }
            Item::Mod(_) => {}
            item => self.tokens(module, item.to_token_stream()),
        }
    }

    /// Every path in the code of an item.
    fn tokens(&mut self, module: usize, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.code_path(module, &path);
                        path.clear();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    let is_visibility = path.last().is_some_and(|last| last == "pub");
                    self.code_path(module, &path);
                    path.clear();
                    colons = 0;
                    if let TokenTree::Group(group) = other
                        && !is_visibility
                    {
                        self.tokens(module, group.stream());
                    }
                }
            }
        }
        self.code_path(module, &path);
    }

    /// A path in code counts where it starts at a module, or at a name that is handed on from here.
    fn code_path(&mut self, module: usize, path: &[String]) {
        let Some(first) = path.first() else { return };
        let here = &self.modules[module];
        let is_keyword = |name: &String| ["crate", "self", "super"].contains(&name.as_str());
        let child = path.len() > 1 && here.children.contains_key(first);
        if is_keyword(first) || child || here.aliases.contains_key(first) {
            self.edge(module, path);
        }
    }

    fn edge(&mut self, module: usize, path: &[String]) {
        let Some(target) = self.resolve(module, path, 0) else { return };
        let from = self.modules[module].file;
        if from != target {
            let name = path.last().unwrap().clone();
            self.edges.entry((from, target)).or_default().insert(name);
        }
    }

    /// The file that defines what `path` names, seen from `module`. `None` outside the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        if depth > 32 {
            return None;
        }
        match first.as_str() {
            "crate" => self.inside(0, rest, depth),
            "self" => self.inside(module, rest, depth),
            "super" => {
                let parent = self.modules[module].parent?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.resolve(parent, rest, depth),
                    _ => self.inside(parent, rest, depth),
                }
            }
            name => {
                let here = &self.modules[module];
                if let Some(child) = here.children.get(name) {
                    return self.inside(*child, rest, depth);
                }
                let alias = here.aliases.get(name)?;
                // `use std::fs;` names itself.
                (alias.first() != Some(first)).then(|| {
                    let whole: Vec<String> = alias.iter().chain(rest).cloned().collect();
                    self.resolve(module, &whole, depth + 1)
                })?
            }
        }
    }

    fn inside(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        let here = &self.modules[module];
        let Some((first, rest)) = path.split_first() else { return Some(here.file) };
        // A function and a module may share a name; a path that goes on is of the module.
        let child = here.children.get(first).filter(|_| !rest.is_empty());
        if child.is_none() && here.defined.contains(first) {
            return Some(here.file);
        }
        if let Some(child) = here.children.get(first) {
            return self.inside(*child, rest, depth);
        }
        if depth > 32 {
            return None;
        }
        if let Some(alias) = here.aliases.get(first) {
            let whole: Vec<String> = alias.iter().chain(rest).cloned().collect();
            return self.resolve(module, &whole, depth + 1).or(Some(here.file));
        }
        let globbed = here.globs.iter().find_map(|glob| {
            let whole: Vec<String> = glob.iter().chain(path).cloned().collect();
            self.resolve(module, &whole, depth + 1).filter(|file| *file != here.file)
        });
        globbed.or(Some(here.file))
    }

    /// Files that import each other, each circle with the names that tie it.
    pub(super) fn circles(&self) -> Vec<String> {
        self.circles_of(|file| file)
    }

    /// Rooms (the modules of the crate root, each with all below it) that import each other, each
    /// circle with the names that tie it.
    pub(super) fn room_circles(&self) -> Vec<String> {
        let mut rooms: Vec<usize> = (0..self.files.len()).collect();
        for module in &self.modules {
            let mut room = module;
            while let Some(parent) = room.parent.filter(|parent| *parent != 0) {
                room = &self.modules[parent];
            }
            rooms[module.file] = room.file;
        }
        self.circles_of(|file| rooms[file])
    }

    /// Circles of what files are parts of.
    fn circles_of(&self, part: impl Fn(usize) -> usize) -> Vec<String> {
        let parts = self.edges.iter().map(|((from, to), _)| (part(*from), part(*to)));
        let edges: BTreeSet<(usize, usize)> = parts.filter(|(from, to)| from != to).collect();
        let reach: Vec<BTreeSet<usize>> =
            (0..self.files.len()).map(|start| reach(&edges, start)).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for start in 0..self.files.len() {
            let in_circle = |other: &usize| reach[*other].contains(&start);
            let circle: BTreeSet<usize> = reach[start].iter().copied().filter(in_circle).collect();
            if circle.is_empty() || !seen.insert(circle.clone()) {
                continue;
            }
            let ties = self.edges.iter().filter(|((from, to), _)| {
                let (from, to) = (part(*from), part(*to));
                from != to && circle.contains(&from) && circle.contains(&to)
            });
            let show = |file: usize| self.files[file].display().to_string();
            let ties: Vec<String> = ties
                .map(|((from, to), names)| format!("  {} -> {}: {names:?}", show(*from), show(*to)))
                .collect();
            circles.push(ties.join("\n"));
        }
        circles
    }
}

/// What is reached from a part along its imports.
fn reach(edges: &BTreeSet<(usize, usize)>, start: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(from) = open.pop() {
        for (_, to) in edges.range((from, 0)..=(from, usize::MAX)) {
            if found.insert(*to) {
                open.push(*to);
            }
        }
    }
    found
}

/// The names of the modules that tests alone are compiled with.
fn test_modules(items: &[Item]) -> impl Iterator<Item = String> {
    items.iter().filter(|item| is_test(item)).filter_map(|item| match item {
        Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    })
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
    })
}

fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// The paths of a `use`, each with the name that it brings in; `None` for all names.
fn flatten(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, Option<String>)>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            flatten(&part.tree, path, found);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, found)),
        UseTree::Glob(_) => found.push((path.clone(), None)),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((path.clone(), path.last().cloned()));
        }
        UseTree::Name(name) => {
            let whole = path.iter().cloned().chain([name.ident.to_string()]).collect();
            found.push((whole, Some(name.ident.to_string())));
        }
        UseTree::Rename(name) => {
            let whole = path.iter().cloned().chain([name.ident.to_string()]).collect();
            found.push((whole, Some(name.rename.to_string())));
        }
    }
}
