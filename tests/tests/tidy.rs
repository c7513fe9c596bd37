//! The bar on the source as checks a machine can run (ARCHITECTURE.md names the limits). Every
//! check is a function from sources to faults, and has a test that it finds a planted one.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use spanlog_tests::source::{self, Function, Source};

const LONGEST_FUNCTION_LINES: usize = 70;
const LONG_FUNCTION_LINES: usize = 30;
const MEDIAN_FUNCTION_LINES: usize = 8;
const FILE_LINES: usize = 500;
/// Lines with code on them; documentation is not counted, since a folder's `mod.rs` is where its
/// contract is told.
const MOD_FILE_CODE_LINES: usize = 60;
/// The one `mod.rs` that is more than a list: the seam, with its two traits and what they speak of.
const LONGER_MOD_FILES: [(&str, usize); 1] = [("core/src/disk/mod.rs", 120)];
const LINE_COLUMNS: usize = 100;

/// Always-on assertions per function, by module: raise a floor when the report shows more.
const ASSERTION_FLOORS: [(&str, f64); 3] = [("segment", 0.05), ("log", 0.2), ("derived", 0.02)];

const FORBIDDEN_NAMES: [&str; 10] = [
    "util", "utils", "manager", "managers", "helper", "helpers", "impl", "impls", "misc", "common",
];

/// What a committed file must not name, written so that this file does not name it.
const FORBIDDEN_PLACES: [&str; 12] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("index.cra", "tes.io"),
    concat!("static.cra", "tes.io"),
    concat!("//cra", "tes.io"),
    concat!("repo1.mav", "en.org"),
    concat!("repo.mav", "en.apache.org"),
    concat!("registry.npm", "js.org"),
    concat!("pythonhos", "ted.org"),
    concat!("py", "pi.org"),
    concat!("proxy.gol", "ang.org"),
    concat!("deb.deb", "ian.org"),
];

fn no_faults(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn planted(path: &str, text: &str) -> [Source; 1] {
    [Source::new(path, text)]
}

/// A function of `lines` lines, named by a number.
fn function_of(lines: usize, number: usize) -> String {
    format!("fn f{number}() {{\n{}}}\n", "    g();\n".repeat(lines - 2))
}

// Functions.

fn long_functions(sources: &[Source]) -> Vec<String> {
    let fault = |source: &Source, f: Function| {
        format!("{}:{}: {} has {} lines", source.path, f.line, f.name, f.lines)
    };
    let long = |f: &Function| f.lines > LONGEST_FUNCTION_LINES;
    sources
        .iter()
        .flat_map(|s| s.functions().into_iter().filter(long).map(move |f| fault(s, f)))
        .collect()
}

#[test]
fn no_function_is_over_the_longest() {
    no_faults(&long_functions(&source::all()));
}

#[test]
fn a_long_function_is_found() {
    let text = function_of(70, 0) + &function_of(71, 1);
    let faults = long_functions(&planted("cli/src/a.rs", &text));
    assert_eq!(faults, ["cli/src/a.rs:71: f1 has 71 lines"]);
}

/// Lengths of functions in ascending order: all of a crate's, or those not for tests.
fn lengths(sources: &[Source], folder: &str, with_tests: bool) -> Vec<usize> {
    let inside = sources.iter().filter(|source| source.path.starts_with(folder));
    let mut lengths: Vec<usize> = inside
        .flat_map(Source::functions)
        .filter(|function| with_tests || !function.is_test)
        .map(|function| function.lines)
        .collect();
    lengths.sort_unstable();
    lengths
}

/// Crates with more than a tenth of their functions long, and a core whose median is.
fn skewed_lengths(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for folder in ["core/", "cli/", "ffi/", "tests/", "examples/"] {
        let all = lengths(sources, folder, folder != "core/");
        let Some(longest) = all.get(all.len() * 9 / 10) else { continue };
        if *longest > LONG_FUNCTION_LINES {
            faults.push(format!("{folder}: a tenth of the functions have {longest} lines or more"));
        }
    }
    let core = lengths(sources, "core/", false);
    if core.get(core.len() / 2).is_some_and(|median| *median > MEDIAN_FUNCTION_LINES) {
        faults.push(format!("core/: the median function has {} lines", core[core.len() / 2]));
    }
    faults
}

#[test]
fn most_functions_are_short() {
    let sources = source::all();
    for folder in ["core/", "cli/", "ffi/", "tests/", "examples/"] {
        let all = lengths(&sources, folder, folder != "core/");
        let at = |share: usize| all.get(all.len() * share / 100).copied().unwrap_or(0);
        let (median, most, nearly_all) = (at(50), at(90), at(99));
        println!(
            "{folder:10} {:5} functions: {median}, {most}, {nearly_all} lines at 50, 90, 99 %",
            all.len()
        );
    }
    no_faults(&skewed_lengths(&sources));
}

#[test]
fn skewed_lengths_are_found() {
    let long: String = (0..2).map(|number| function_of(31, number)).collect();
    let short: String = (2..11).map(|number| function_of(9, number)).collect();
    let faults = skewed_lengths(&planted("core/src/a.rs", &(long + &short)));
    assert_eq!(faults.len(), 2, "{faults:?}");
    let fine: String = (0..20).map(|number| function_of(8, number)).collect();
    assert!(skewed_lengths(&planted("core/src/a.rs", &(fine + &function_of(60, 20)))).is_empty());
}

// Files.

fn code_lines(source: &Source) -> usize {
    let code = source.code();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let tests = source.test_lines();
    lines.filter(|(at, _)| !tests.iter().any(|range| range.contains(&(at + 1)))).count()
}

fn long_files(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let in_tests: usize = source.test_lines().iter().map(ExactSizeIterator::len).sum();
        let lines = source.text.lines().count() - in_tests;
        if lines > FILE_LINES {
            faults.push(format!("{}: {lines} lines that are not tests", source.path));
        }
        let longer = LONGER_MOD_FILES.iter().find(|(path, _)| *path == source.path);
        let limit = longer.map_or(MOD_FILE_CODE_LINES, |(_, limit)| *limit);
        if source.stem() == "mod" && code_lines(source) > limit {
            faults.push(format!("{}: {} lines of code", source.path, code_lines(source)));
        }
    }
    faults
}

#[test]
fn files_are_short() {
    no_faults(&long_files(&source::all()));
}

#[test]
fn a_long_file_is_found() {
    let lines = |count: usize| "const A: u32 = 1;\n".repeat(count);
    assert_eq!(long_files(&planted("core/src/a.rs", &lines(501))).len(), 1);
    let with_tests = lines(400) + "#[cfg(test)]\nmod tests {\n" + &lines(200) + "}\n";
    assert_eq!(long_files(&planted("core/src/a.rs", &with_tests)), [""; 0]);
    assert_eq!(long_files(&planted("core/src/log/mod.rs", &lines(61))).len(), 1);
    let documented = "//! Much to say.\n".repeat(200) + &lines(60);
    assert_eq!(long_files(&planted("core/src/log/mod.rs", &documented)), [""; 0]);
}

fn wide_or_foreign_lines(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for (at, line) in source.text.lines().enumerate() {
            let place = format!("{}:{}", source.path, at + 1);
            if line.chars().count() > LINE_COLUMNS {
                faults.push(format!("{place}: {} columns", line.chars().count()));
            }
            if !line.is_ascii() || line.contains(['\t', '\r']) {
                faults.push(format!("{place}: not plain ASCII"));
            }
        }
    }
    faults
}

#[test]
fn lines_are_narrow_and_ascii() {
    no_faults(&wide_or_foreign_lines(&source::all()));
}

#[test]
fn a_wide_line_and_a_foreign_character_are_found() {
    let text = format!("// {}\n// {}\n// caf\u{e9}\n", "x".repeat(97), "x".repeat(98));
    let faults = wide_or_foreign_lines(&planted("core/src/a.rs", &text));
    assert_eq!(faults, ["core/src/a.rs:2: 101 columns", "core/src/a.rs:3: not plain ASCII"]);
}

// Words.

fn leftovers(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let (code, text) = (source.code(), source.without_strings());
        let is_core = source.path.starts_with("core/src/");
        for (at, (code, text)) in code.lines().zip(text.lines()).enumerate() {
            let macros = ["todo!", "unimplemented!", "dbg!"];
            let prints = ["println!", "print!", "eprintln!", "eprint!"];
            let prints = is_core && prints.iter().any(|word| code.contains(word));
            let is_print = prints && !source.is_test_line(at + 1);
            let is_left = ["FIXME", "XXX", "TODO", "HACK"].iter().any(|word| text.contains(word));
            if is_print || is_left || macros.iter().any(|word| code.contains(word)) {
                faults.push(format!("{}:{}: {}", source.path, at + 1, text.trim()));
            }
        }
    }
    faults
}

#[test]
fn nothing_is_left_over() {
    no_faults(&leftovers(&source::all()));
}

#[test]
fn leftovers_are_found() {
    let text = "fn f() {\n    // FIXME: later\n    todo!();\n    println!(\"todo!\");\n}\n";
    assert_eq!(leftovers(&planted("core/src/a.rs", text)).len(), 3);
    assert_eq!(leftovers(&planted("cli/src/a.rs", text)).len(), 2);
    let test = "#[cfg(test)]\nmod tests {\n    fn f() { println!(); }\n}\n";
    assert_eq!(leftovers(&planted("core/src/a.rs", test)), [""; 0]);
    let quoted = "/// `todo!` in prose.\nfn f() -> &'static str {\n    \"FIXME dbg!\"\n}\n";
    assert_eq!(leftovers(&planted("core/src/a.rs", quoted)), [""; 0]);
}

fn empty_names(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let inline = source.file.items.iter().filter_map(|item| match item {
            syn::Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        });
        let parts = source.path.trim_end_matches(".rs").split('/').map(str::to_owned);
        for name in parts.chain(inline) {
            if name.split('_').any(|word| FORBIDDEN_NAMES.contains(&word)) {
                faults.push(format!("{}: the name {name} says nothing", source.path));
            }
        }
    }
    faults
}

#[test]
fn names_are_nouns_of_the_domain() {
    no_faults(&empty_names(&source::all()));
}

#[test]
fn empty_names_are_found() {
    for path in ["core/src/utils.rs", "core/src/common/crc.rs", "cli/src/log_helper.rs"] {
        assert_eq!(empty_names(&planted(path, "")).len(), 1, "{path}");
    }
    assert_eq!(empty_names(&planted("core/src/log.rs", "mod segment_manager {}")).len(), 1);
    assert_eq!(empty_names(&planted("core/src/implication.rs", "mod simple {}")), [""; 0]);
}

// Committed files of every kind.

/// The files that are committed or would be, as path and bytes; nothing outside a checkout.
fn committed() -> Option<Vec<(String, Vec<u8>)>> {
    let root = source::workspace();
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(&root).output().ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let names: Vec<&str> = names.split('\0').filter(|name| !name.is_empty()).collect();
    let read = |name: &&str| Some(((*name).to_owned(), fs::read(root.join(name)).ok()?));
    output.status.success().then(|| names.iter().filter_map(read).collect())
}

fn named_places<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, bytes) in files {
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        for (at, line) in text.lines().enumerate() {
            let place = FORBIDDEN_PLACES.iter().find(|place| line.contains(**place));
            if let Some(place) = place {
                faults.push(format!("{path}:{}: names {place}", at + 1));
            }
        }
    }
    faults
}

#[test]
fn no_committed_file_names_a_machine_or_a_registry() {
    let Some(files) = committed() else {
        println!("skipped: not in a checkout, so there is no list of committed files");
        return;
    };
    assert!(files.iter().any(|(path, _)| path == "Cargo.toml"), "the list is not of this project");
    no_faults(&named_places(files.iter().map(|(path, bytes)| (&**path, &**bytes))));
}

#[test]
fn a_named_place_is_found() {
    for place in FORBIDDEN_PLACES {
        let line = format!("first\nsee {place}x\n");
        let faults = named_places([("README.md", line.as_bytes())]);
        assert_eq!(faults, [format!("README.md:2: names {place}")]);
    }
    let lock = b"source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert_eq!(named_places([("Cargo.lock", &lock[..])]), [""; 0]);
}

// Counted and reported.

/// Functions and always-on assertions of one folder of the core, tests left out.
fn assertions(sources: &[Source], module: &str) -> (usize, usize) {
    let folder = format!("core/src/{module}/");
    let inside = sources.iter().filter(|source| source.path.starts_with(&folder));
    let functions = inside.flat_map(Source::functions).filter(|function| !function.is_test);
    functions.fold((0, 0), |(count, sum), function| (count + 1, sum + function.assertions))
}

fn too_few_assertions(sources: &[Source], floors: &[(&str, f64)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (module, floor) in floors {
        let (functions, sum) = assertions(sources, module);
        let per_function = sum as f64 / functions.max(1) as f64;
        println!("{module:10} {functions:5} functions, {sum:5} assertions: {per_function:.2} each");
        if functions > 0 && per_function < *floor {
            faults.push(format!("{module}: {per_function:.2} assertions per function"));
        }
    }
    faults
}

#[test]
fn functions_assert() {
    no_faults(&too_few_assertions(&source::all(), &ASSERTION_FLOORS));
}

#[test]
fn functions_that_do_not_assert_are_found() {
    let text = "fn f() { assert!(true); }\nfn g() {}\n#[test]\nfn t() { assert!(true); }\n";
    let sources = planted("core/src/log/a.rs", text);
    assert_eq!(too_few_assertions(&sources, &[("log", 0.5)]), [""; 0]);
    assert_eq!(too_few_assertions(&sources, &[("log", 0.6)]).len(), 1);
}

/// Lines that hold a comment alone, and lines that are not empty, tests left out.
fn comment_lines(source: &Source) -> (usize, usize) {
    let tests = source.test_lines();
    let is_test = |at: usize| source.is_test() || tests.iter().any(|lines| lines.contains(&at));
    let lines = source.text.lines().enumerate().filter(|(at, _)| !is_test(at + 1));
    lines.filter(|(_, line)| !line.trim().is_empty()).fold((0, 0), |(comments, all), (_, line)| {
        (comments + usize::from(line.trim_start().starts_with("//")), all + 1)
    })
}

/// The share of comments by folder, in percent, to be read by people: 12 to 25 is the aim.
fn comment_report(sources: &[Source]) -> String {
    let mut report = String::new();
    for folder in ["core/", "cli/", "ffi/", "tests/src/", "examples/"] {
        let inside = sources.iter().filter(|source| source.path.starts_with(folder));
        let (comments, all) =
            inside.map(comment_lines).fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1));
        let share = comments * 100 / all.max(1);
        writeln!(report, "{folder:10} {share:3} % of {all} lines are comments").expect("a string");
    }
    report
}

#[test]
fn comments_are_counted() {
    println!("{}", comment_report(&source::all()));
    let text = "//! One.\n\nfn f() {} // not alone\n// Two.\n#[cfg(test)]\nmod tests {\n// no\n}\n";
    let report = comment_report(&planted("core/src/a.rs", text));
    assert!(report.starts_with("core/       66 % of 3 lines"), "{report}");
}
