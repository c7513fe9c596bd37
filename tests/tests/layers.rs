//! The direction of imports inside the engine, and the one home of everything dangerous
//! (ARCHITECTURE.md, the never list). Test code may import what it likes.

use spanlog_tests::source::{self, Source};

/// Which modules a module may name; `*` stands for all. The longest row that fits counts, and a
/// module may always name itself.
const ALLOWED: [(&str, &[&str]); 22] = [
    ("", &["*"]),
    ("base", &[]),
    ("base::watermark", &["base", "error"]),
    ("error", &["base"]),
    ("disk", &["base", "error"]),
    ("record", &["base", "error"]),
    ("retention", &["base", "error"]),
    ("quantity", &["base", "error"]),
    ("directory", &["base", "error", "disk", "record", "retention", "segment"]),
    ("options", &["base", "error", "retention", "segment::placement"]),
    ("segment", &["base", "error", "disk"]),
    ("segment::placement", &["base", "error"]),
    ("segment::name", &["base", "error"]),
    ("log", &["base", "error", "disk", "segment", "record"]),
    ("derived", &["base", "error", "disk", "segment", "record", "log"]),
    ("checkpoint", &["base", "error", "disk"]),
    // It keeps across a restart what the derived structures hand out, and they never ask for it.
    ("checkpoint::ledger", &["base", "error", "disk", "derived"]),
    ("checkpoint::catalogue", &["base", "error", "disk", "derived"]),
    ("cursor", &["base", "error", "disk"]),
    ("queue", &["*"]),
    ("store", &["*"]),
    ("verify", &["*"]),
];

/// Tasks may name everything below them, which is all but the store.
const BELOW_TASKS: [&str; 13] = [
    "quantity",
    "directory",
    "base",
    "error",
    "disk",
    "record",
    "retention",
    "options",
    "segment",
    "log",
    "derived",
    "checkpoint",
    "cursor",
];

/// Whether `path` is `module` or lies inside it.
fn is_inside(path: &str, module: &str) -> bool {
    path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}

/// What a module may name, or nothing for a module without a row.
fn allowed(module: &str) -> Option<&'static [&'static str]> {
    if is_inside(module, "tasks") {
        return Some(&BELOW_TASKS);
    }
    let fits =
        |row: &&(&str, &[&str])| module == row.0 || (!row.0.is_empty() && is_inside(module, row.0));
    ALLOWED.iter().filter(fits).max_by_key(|row| row.0.len()).map(|row| row.1)
}

/// The row's own module: what a file belongs to, and may always name.
fn home(module: &str) -> &str {
    match module {
        "segment::placement" | "segment::name" => module,
        _ => module.split("::").next().unwrap_or(module),
    }
}

fn core_code(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.path.starts_with("core/src/") && !source.is_test())
}

/// A source's paths outside test code, with their lines.
fn live_paths(source: &Source) -> Vec<(usize, String)> {
    let tests = source.test_lines();
    let is_live = |line: &usize| !tests.iter().any(|lines| lines.contains(line));
    source.paths().into_iter().filter(|(line, _)| is_live(line)).collect()
}

/// Names that the root re-exports, with the path they stand for.
fn exports(sources: &[Source]) -> Vec<(String, String)> {
    let root = sources.iter().find(|source| source.path == "core/src/lib.rs");
    let uses = root.iter().flat_map(|source| &source.file.items).filter_map(|item| match item {
        syn::Item::Use(item) if matches!(item.vis, syn::Visibility::Public(_)) => Some(&item.tree),
        _ => None,
    });
    let mut names = Vec::new();
    for tree in uses {
        spell_out(tree, "", &mut names);
    }
    names
}

fn spell_out(tree: &syn::UseTree, before: &str, names: &mut Vec<(String, String)>) {
    let joined = |name: &syn::Ident| {
        if before.is_empty() { name.to_string() } else { format!("{before}::{name}") }
    };
    match tree {
        syn::UseTree::Path(path) => spell_out(&path.tree, &joined(&path.ident), names),
        syn::UseTree::Name(name) => names.push((name.ident.to_string(), joined(&name.ident))),
        syn::UseTree::Rename(name) => names.push((name.rename.to_string(), joined(&name.ident))),
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| spell_out(tree, before, names));
        }
        syn::UseTree::Glob(_) => {}
    }
}

/// Imports against the direction of the layers.
fn upward_imports(sources: &[Source]) -> Vec<String> {
    let exports = exports(sources);
    let mut faults = Vec::new();
    for source in core_code(sources) {
        let module = source.module();
        let Some(allowed) = allowed(&module) else {
            faults.push(format!("{}: give the module a row in layers.rs", source.path));
            continue;
        };
        for (line, path) in live_paths(source) {
            let Some(target) = target(&module, &path, &exports) else { continue };
            let may = |name: &str| name == "*" || is_inside(&target, name);
            if !may(home(&module)) && !allowed.iter().any(|name| may(name)) {
                faults.push(format!("{}:{line}: {module} must not name {target}", source.path));
            }
        }
    }
    faults
}

/// The path from the root that a path in `module` leads to, if it leaves the module.
fn target(module: &str, path: &str, exports: &[(String, String)]) -> Option<String> {
    if let Some(inner) = path.strip_prefix("crate::") {
        let first = inner.split("::").next()?;
        let export = exports.iter().find(|(name, _)| name == first);
        return Some(export.map_or(inner, |(_, path)| path).to_owned());
    }
    let mut parents: Vec<&str> = module.split("::").collect();
    let mut rest = path;
    let mut is_relative = false;
    while let Some(inner) = rest.strip_prefix("super::") {
        parents.pop();
        rest = inner;
        is_relative = true;
    }
    parents.push(rest);
    is_relative.then(|| parents.join("::"))
}

#[test]
fn imports_go_downwards() {
    let faults = upward_imports(&source::all());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn upward_imports_are_found() {
    let rows = [
        ("core/src/disk/mem.rs", "use crate::record::Message;", 1),
        ("core/src/record/scan.rs", "use crate::{base::crc, disk::Map};", 1),
        ("core/src/record/scan.rs", "fn f() { crate::disk::open() }", 1),
        ("core/src/record/scan.rs", "fn f() { super::super::disk::open() }", 1),
        ("core/src/log/append.rs", "use crate::derived::Set;\nuse crate::segment::Chain;", 1),
        ("core/src/base/units.rs", "use crate::error::Result;", 1),
        ("core/src/base/watermark.rs", "use crate::error::Result;", 0),
        ("core/src/segment/placement.rs", "use super::chain::Chain;", 1),
        ("core/src/segment/name.rs", "use crate::disk::Disk;", 1),
        ("core/src/segment/chain.rs", "use super::name;\nuse crate::disk::Disk;", 0),
        ("core/src/options.rs", "use crate::segment::placement::Rule;", 0),
        ("core/src/options.rs", "use crate::segment::chain::Chain;", 1),
        ("core/src/tasks/clean.rs", "use crate::store::Store;\nuse crate::log::Log;", 1),
        ("core/src/retention.rs", "use super::disk::Space;", 1),
        ("core/src/store/open.rs", "use crate::tasks::Step;", 0),
        ("core/src/disk/mem.rs", "// use crate::record::Message;", 0),
        ("core/src/disk/mem.rs", "#[cfg(test)]\nmod tests { use crate::record::Message; }", 0),
        ("core/src/checkpoint/ledger.rs", "use crate::derived::Resume;", 0),
        ("core/src/checkpoint/marks.rs", "use crate::derived::Resume;", 1),
        ("core/src/novel.rs", "", 1),
    ];
    for (path, text, count) in rows {
        let faults = upward_imports(&[Source::new(path, text)]);
        assert_eq!(faults.len(), count, "{path}: {text}: {faults:?}");
    }
}

#[test]
fn an_export_of_the_root_stands_for_its_module() {
    let root = "pub mod record;\npub use record::Message;\npub use error::{Error, Result as R};";
    let found = |text| {
        let sources = ["core/src/lib.rs", "core/src/disk/mem.rs"].into_iter().zip([root, text]);
        upward_imports(&sources.map(|(path, text)| Source::new(path, text)).collect::<Vec<_>>())
    };
    assert_eq!(found("use crate::Error;"), [""; 0]);
    assert_eq!(found("use crate::R;"), [""; 0]);
    assert_eq!(found("use crate::Message;").len(), 1);
}

/// Where something dangerous may stand: a name for it, whether a path is it, and whether a file
/// is its home.
struct Home {
    name: &'static str,
    is_it: fn(&str) -> bool,
    may: fn(&str) -> bool,
}

/// Whether one of `words` follows `before` in a path.
fn follows(path: &str, before: &str, words: &[&str]) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    parts.windows(2).any(|pair| pair[0] == before && words.contains(&pair[1]))
}

fn is_system(path: &str) -> bool {
    path.starts_with("core/src/disk/os") || path == "core/src/disk/map.rs"
}

/// `record` and the policies: values in, values out.
fn is_pure(path: &str) -> bool {
    path.starts_with("core/src/record/")
        || path.starts_with("core/src/retention/")
        || ["placement", "name", "eviction"]
            .iter()
            .any(|name| path == format!("core/src/segment/{name}.rs"))
}

const HOMES: [Home; 6] = [
    Home { name: "unsafe code", is_it: |path| path == "unsafe", may: is_system },
    Home {
        name: "threads and sleeping",
        is_it: |path| {
            let words = ["spawn", "sleep", "park", "park_timeout", "scope", "Builder", "yield_now"];
            follows(path, "thread", &words)
        },
        may: |path| path == "core/src/tasks/threads.rs",
    },
    Home {
        name: "the file system and the system",
        is_it: |path| {
            // Names of files as bytes are no access to them.
            let is_bytes = follows(path, "unix", &["ffi"]);
            follows(path, "std", &["fs", "os"]) && !is_bytes
                || ["libc", "memmap2"].contains(&path.split("::").next().unwrap_or(path))
        },
        may: is_system,
    },
    Home {
        name: "locks",
        is_it: |path| {
            path.split("::")
                .any(|word| ["Mutex", "RwLock", "Condvar", "parking_lot"].contains(&word))
        },
        may: |path| !is_pure(path),
    },
    Home {
        name: "the environment and other programs",
        is_it: |path| {
            follows(path, "std", &["env"])
                || follows(path, "env", &["var", "vars", "args"])
                || follows(path, "process", &["Command", "exit", "abort"])
        },
        may: |_| false,
    },
    Home {
        name: "an async runtime",
        is_it: |path| path == "async" || path == "await",
        may: |_| false,
    },
];

fn homeless(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in core_code(sources) {
        for (line, path) in live_paths(source) {
            for home in HOMES.iter().filter(|home| (home.is_it)(&path) && !(home.may)(&source.path))
            {
                faults.push(format!("{}:{line}: {} ({path})", source.path, home.name));
            }
        }
    }
    faults
}

#[test]
fn everything_dangerous_is_at_home() {
    let faults = homeless(&source::all());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_not_at_home_is_found() {
    let rows = [
        ("core/src/log/read.rs", "fn f() { unsafe { g() } }", 1),
        ("core/src/disk/map.rs", "fn f() { unsafe { libc::munmap() } }", 0),
        ("core/src/disk/os_linux.rs", "use std::{fs::File, io};", 0),
        ("core/src/disk/mem.rs", "use std::{fs::File, io};", 1),
        ("core/src/log/read.rs", "use memmap2::MmapRaw;", 1),
        ("core/src/log/read.rs", "fn f() { std::thread::sleep(d); }", 1),
        ("core/src/tasks/flush.rs", "use std::thread::{self, Builder};", 1),
        ("core/src/tasks/threads.rs", "fn f() { std::thread::spawn(g); }", 0),
        ("core/src/record/scan.rs", "use crate::base::sync::Mutex;", 1),
        ("core/src/log/append.rs", "use crate::base::sync::Mutex;", 0),
        ("core/src/store/open.rs", "fn f() { std::env::var(\"A\"); }", 1),
        ("core/src/store/open.rs", "fn f() { std::process::exit(std::process::id()) }", 1),
        ("core/src/store/open.rs", "use std::os::unix::{ffi::OsStrExt, fs::FileExt};", 1),
        ("core/src/retention/judge.rs", "use std::sync::Mutex;", 1),
        ("core/src/store/open.rs", "async fn f() {}", 1),
        ("core/src/store/open.rs", "// unsafe\nconst A: &str = \"unsafe std::fs::read\";", 0),
        ("core/src/store/open.rs", "#[cfg(test)]\nmod tests { use std::fs; }", 0),
    ];
    for (path, text, count) in rows {
        let faults = homeless(&[Source::new(path, text)]);
        assert_eq!(faults.len(), count, "{path}: {text}: {faults:?}");
    }
}

/// Names of the engine that the command or an example uses without their being public.
fn private_names(sources: &[Source]) -> Vec<String> {
    let root = sources.iter().find(|source| source.path == "core/src/lib.rs");
    let modules = root.iter().flat_map(|source| &source.file.items).filter_map(|item| match item {
        syn::Item::Mod(item) if is_public(item) => Some(item.ident.to_string()),
        _ => None,
    });
    let public: Vec<String> =
        exports(sources).into_iter().map(|export| export.0).chain(modules).collect();
    let users = ["cli/", "examples/"];
    let mut faults = Vec::new();
    for source in sources.iter().filter(|s| users.iter().any(|user| s.path.starts_with(user))) {
        for (line, path) in source.paths() {
            let name = path.strip_prefix("spanlog::").and_then(|inner| inner.split("::").next());
            if name.is_some_and(|name| !public.iter().any(|public| public == name)) {
                faults.push(format!("{}:{line}: {path} is not public", source.path));
            }
        }
    }
    faults
}

/// Whether a module of the root is for users: public, and shown in the documentation.
fn is_public(item: &syn::ItemMod) -> bool {
    let is_hidden = |attribute: &syn::Attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    };
    matches!(item.vis, syn::Visibility::Public(_)) && !item.attrs.iter().any(is_hidden)
}

#[test]
fn the_command_and_the_examples_use_the_public_surface() {
    let faults = private_names(&source::all());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn private_names_are_found() {
    let root = "pub use store::{Store, Message};\npub mod record;\n#[doc(hidden)]\npub mod log;";
    let found = |path, text| {
        let sources = [Source::new("core/src/lib.rs", root), Source::new(path, text)];
        private_names(&sources).len()
    };
    assert_eq!(found("cli/src/main.rs", "use spanlog::{Store, record::scan, log::Log};"), 1);
    assert_eq!(found("examples/rust/tail.rs", "fn f() { spanlog::store::open::open() }"), 1);
    assert_eq!(found("cli/src/main.rs", "use spanlog::Store;\nuse spanlog::record::scan;"), 0);
}
