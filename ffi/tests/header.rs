//! What is made from the crate and committed is what the crate says: the header, the list of
//! symbols, and the C program that calls every function in every wrong way. `BLESS=1` writes
//! them anew.
#![allow(missing_docs, clippy::disallowed_methods, reason = "a test reads and writes files")]

mod calls;

use std::path::{Path, PathBuf};

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The structures that say their size, as the crate declares them.
fn sized(header: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in header.split("typedef struct ").skip(1) {
        let Some((name, rest)) = part.split_once([' ', ';']) else { continue };
        let body = rest.strip_prefix('{').and_then(|body| body.split('}').next());
        if body.is_some_and(|body| body.contains(" struct_size;")) {
            names.push(name.to_owned());
        }
    }
    assert!(names.len() > 5, "{names:?}");
    names
}

/// The macro that makes a structure of zeros that knows its size.
fn init(name: &str) -> String {
    format!("#define {}_INIT SPANLOG_SIZED({name})\n", name.to_uppercase())
}

fn prelude() -> String {
    let part = |text: &str| text.parse::<u32>().expect("a number");
    let number = part(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
        + part(env!("CARGO_PKG_VERSION_MINOR")) * 1000
        + part(env!("CARGO_PKG_VERSION_PATCH"));
    let text = include_str!("../prelude.h").replace("@version@", env!("CARGO_PKG_VERSION"));
    text.replace("@number@", &number.to_string())
}

/// A comment of one line takes one line, and Rust's section on safety is a precondition.
fn tidied(header: &str) -> String {
    let lines: Vec<&str> = header.lines().collect();
    let mut text = String::new();
    let mut at = 0;
    while at < lines.len() {
        let short = lines.get(at..at + 3).filter(|three| {
            three[0].trim() == "/**" && three[2].trim() == "*/" && three[1].len() < 95
        });
        if let Some(three) = short {
            let indent = &three[0][..three[0].len() - 3];
            let words = three[1].trim().trim_start_matches("* ");
            text += &format!("{indent}/** {words} */\n");
            at += 3;
        } else {
            text += lines[at];
            text.push('\n');
            at += 1;
        }
    }
    text.replace(" * # Safety\n * ", " * @pre ")
}

fn header() -> String {
    let folder = crate_folder();
    let config =
        cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new()
        .with_crate(folder)
        .with_config(config)
        .with_after_include(prelude())
        .generate()
        .expect("the crate has a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).expect("a header is text");
    let macros: String = sized(&text).iter().map(|name| init(name)).collect();
    let marker = "#ifdef __cplusplus\nextern \"C\" {";
    let (head, body) = text.split_once(marker).expect("the beginning of the C part");
    tidied(&format!("{head}{macros}\n{marker}{body}"))
}

/// Compares what was made with what is committed.
fn is_committed(name: &str, made: &str) {
    let path: PathBuf = crate_folder().join("..").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, made).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == committed, "{name} is not what the crate says: BLESS=1 writes it anew");
}

#[test]
fn the_header_is_what_the_crate_says() {
    is_committed("include/spanlog.h", &header());
}

#[test]
fn the_list_of_symbols_is_that_of_the_header() {
    let mut names: Vec<_> =
        calls::functions(&header()).into_iter().map(|function| function.name + "\n").collect();
    names.sort();
    is_committed("packaging/exported-symbols.txt", &names.concat());
}

#[test]
fn every_function_is_called_in_every_wrong_way() {
    let header = header();
    is_committed("tests/c/every_call.c", &calls::program(&header, &sized(&header)));
}
