//! There are no import cycles: not in the library, nor in the crates beside it, the programs and the lab.
//!
//! An import is a `use` or a path in code that leads to an item of another file. A name that a file only passes on counts as an
//! import from the file that defines it. Tests within files, the arguments of macros, and methods are not looked at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::{fs, mem};

use syn::visit::{self, Visit};

/// A module by its names below the crate.
type ModulePath = Vec<String>;

/// The modules of a crate. Modules within a file belong to it.
#[derive(Default)]
struct Crate {
    /// The file of each module.
    files: BTreeMap<ModulePath, String>,
    /// The paths behind the names that a module has from elsewhere.
    names: BTreeMap<(ModulePath, String), Vec<String>>,
    /// The paths in each module that may lead to another file.
    paths: BTreeSet<(ModulePath, Vec<String>)>,
    /// Modules for tests alone.
    tests: BTreeSet<ModulePath>,
    /// The module that is being read.
    current: ModulePath,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |list: &syn::MetaList| list.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"));
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && matches!(&attribute.meta, syn::Meta::List(list) if is_test(list))
    })
}

impl Crate {
    /// Reads files by their path below `src/`.
    fn new(sources: impl IntoIterator<Item = (String, String)>) -> Crate {
        let mut this = Crate::default();
        for (file, text) in sources {
            let stem = file.strip_suffix(".rs").expect("the file is Rust");
            let module =
                stem.split('/').filter(|name| !["lib", "main", "mod"].contains(name)).map(String::from).collect();
            this.files.insert(Clone::clone(&module), file.clone());
            this.current = module;
            this.visit_file(&syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")));
        }
        this
    }

    fn import(&mut self, tree: &syn::UseTree, mut path: Vec<String>) {
        let (name, last) = match tree {
            syn::UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.import(&tree.tree, path);
            }
            syn::UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, path.clone())),
            syn::UseTree::Glob(_) => ("*".to_string(), None),
            syn::UseTree::Name(tree) => (tree.ident.to_string(), Some(tree.ident.to_string())),
            syn::UseTree::Rename(tree) => (tree.rename.to_string(), Some(tree.ident.to_string())),
        };
        // `self` at the end of a path is the module before it.
        let (name, last) = match (path.last(), last.as_deref()) {
            (Some(module), Some("self")) => (if name == "self" { module.clone() } else { name }, None),
            _ => (name, last),
        };
        path.extend(last);
        self.paths.insert((self.current.clone(), path.clone()));
        // A crate under its own name leads nowhere else.
        if path != [name.clone()] {
            self.names.insert((self.current.clone(), name), path);
        }
    }

    /// The module that a path in `module` leads to, or that defines the item at its end; nothing for other crates.
    fn resolve(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            _ => {
                rest = path;
                module.to_vec()
            }
        };
        let is_relative = rest.len() == path.len();
        for (index, name) in rest.iter().enumerate() {
            let below = [&at[..], std::slice::from_ref(name)].concat();
            if name == "super" {
                at.pop();
            } else if self.files.contains_key(&below) {
                at = below;
            } else if let Some(passed_on) = self.names.get(&(at.clone(), name.clone())) {
                // An item that has the name of its crate leads to that crate.
                let is_foreign =
                    passed_on[0] == *name && !self.files.contains_key(&[&at[..], &passed_on[..1]].concat());
                return if is_foreign { None } else { self.resolve(&at, &[passed_on, &rest[index + 1..]].concat()) };
            } else if is_relative && index == 0 {
                return None;
            } else {
                break;
            }
        }
        Some(at)
    }

    /// The files that each file imports from.
    fn imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, path) in &self.paths {
            let is_tested = self.tests.iter().any(|test| module.starts_with(test));
            if let Some(found) = self.resolve(module, path).filter(|_| !is_tested) {
                let (from, to) = (&self.files[module], &self.files[&found]);
                if from != to {
                    imports.entry(from).or_default().insert(to);
                }
            }
        }
        imports
    }

    /// For each file in a cycle, the shortest one through it, from its first file in the alphabet.
    fn cycles(&self) -> BTreeSet<String> {
        let imports = self.imports();
        let shortest = |start: &str| {
            let mut queue = VecDeque::from([vec![start.to_string()]]);
            let mut seen = BTreeSet::new();
            while let Some(chain) = queue.pop_front() {
                for next in imports.get(chain[chain.len() - 1].as_str()).into_iter().flatten() {
                    if *next == start {
                        return Some(chain);
                    }
                    if seen.insert(*next) {
                        queue.push_back([&chain[..], &[next.to_string()]].concat());
                    }
                }
            }
            None
        };
        let cycle = |mut files: Vec<String>| {
            let first = (0..files.len()).min_by_key(|index| &files[*index]).expect("a cycle has files");
            files.rotate_left(first);
            files.push(files[0].clone());
            files.join(" -> ")
        };
        imports.keys().filter_map(|file| shortest(file)).map(cycle).collect()
    }
}

impl<'ast> Visit<'ast> for Crate {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let mut module = self.current.clone();
        module.push(item.ident.to_string());
        if is_test(&item.attrs) {
            self.tests.insert(module);
        } else if item.content.is_some() {
            let outer = mem::replace(&mut self.current, module);
            self.files.insert(self.current.clone(), self.files[&outer].clone());
            visit::visit_item_mod(self, item);
            self.current = outer;
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.import(&item.tree, Vec::new());
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A single name is of this file, or was imported.
        if path.segments.len() > 1 {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.paths.insert((self.current.clone(), names));
        }
        visit::visit_path(self, path);
    }
}

/// All files below a folder, by their path in it.
fn sources(folder: &Path, within: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder.join(within)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{within}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            sources(folder, &format!("{name}/"), found);
        } else if name.ends_with(".rs") {
            found.push((name, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    Crate::new(files.iter().map(|(file, text)| (file.to_string(), text.to_string()))).cycles().into_iter().collect()
}

/// The crates of the repository, each as its folder and its files. In `programs` and `lab` a folder with a `main.rs` and no `mod.rs` is
/// a program, and what is left is the library that they share.
fn crates() -> Vec<(String, Vec<(String, String)>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = |folder: &str| {
        let mut found = Vec::new();
        sources(&root.join(folder), "", &mut found);
        found
    };
    let libraries = ["src", "crates/capi/src", "crates/profiles/src", "crates/testing/src", "crates/wgpu/src"];
    let mut crates: Vec<_> = libraries.map(|folder| (folder.to_string(), files(folder))).into();
    for folder in ["programs", "lab"] {
        let mut shared = files(folder);
        shared.retain(|(file, _)| !file.starts_with("tests/"));
        let mains = shared.iter().filter_map(|(file, _)| file.strip_suffix("/main.rs")).map(String::from);
        for main in mains.collect::<Vec<_>>() {
            let within = |file: &str| file.starts_with(&format!("{main}/"));
            if root.join(folder).join(&main).join("mod.rs").exists() {
                shared.retain(|(file, _)| *file != format!("{main}/main.rs"));
            } else {
                crates.push((format!("{folder}/{main}"), files(&format!("{folder}/{main}"))));
                shared.retain(|(file, _)| !within(file));
            }
        }
        crates.push((folder.to_string(), shared));
    }
    crates
}

#[test]
fn imports_make_no_cycles() {
    let (mut files, mut names) = (0, Vec::new());
    for (folder, sources) in crates() {
        files += sources.len();
        let cycles = Crate::new(sources).cycles();
        assert!(cycles.is_empty(), "files of {folder} import each other:\n{}", Vec::from_iter(cycles).join("\n"));
        names.push(folder);
    }
    for expected in ["src", "crates/capi/src", "programs", "programs/devices", "lab", "lab/pipelines"] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not among {names:?}");
    }
    assert!(files > 150, "{files} files");
}

#[test]
fn cycles_are_found_through_all_kinds_of_imports() {
    let pair = "a.rs -> b.rs -> a.rs";
    let lib = ("lib.rs", "mod a; mod b; pub use a::A;");
    for (a, b) in [
        ("use crate::b::B; pub struct A;", "use super::a::A; pub struct B;"),
        ("use crate::b::B as Other; pub struct A;", "use crate::A; pub struct B;"),
        ("pub struct A; fn f() { crate::b::g(); }", "use crate::{a::{self}}; fn g() -> a::A { a::A }"),
        ("use crate::b::*; pub struct A;", "pub mod inner { use super::super::a::A; }"),
    ] {
        assert_eq!(cycles_of(&[lib, ("a.rs", a), ("b.rs", b)]), [pair], "{a} {b}");
    }
    let (root, child) = ("mod b; pub use b::B; pub struct A;", "use super::A; pub struct B;");
    assert_eq!(cycles_of(&[("lib.rs", "mod a;"), ("a.rs", root), ("a/b.rs", child)]), ["a.rs -> a/b.rs -> a.rs"]);
}

#[test]
fn what_is_no_cycle_is_not_reported() {
    let root = "mod b; mod c; use b::B; pub use c::C; #[cfg(test)] mod tests { use super::*; }";
    for child in [
        "use super::C; pub struct B;",
        "use ash::vk; pub struct B;",
        "pub struct B; #[cfg(test)] mod tests { use crate::a; }",
    ] {
        let files = [("lib.rs", "mod a; pub use ash;"), ("a.rs", root), ("a/b.rs", child), ("a/c.rs", "pub struct C;")];
        assert_eq!(cycles_of(&files), [""; 0], "{child}");
    }
}
