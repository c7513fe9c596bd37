//! `include/spanlog.h` is what the crate says. `BLESS=1` writes it anew.
#![allow(missing_docs, clippy::disallowed_methods, reason = "a test reads and writes files")]

use std::path::Path;

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

fn made(folder: &Path) -> String {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
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
    format!("{head}{macros}\n{marker}{body}")
}

#[test]
fn the_header_is_what_the_crate_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("../include/spanlog.h");
    let made = made(folder);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the header is there");
    assert!(made == committed, "include/spanlog.h is not what the crate says: BLESS=1 writes it");
}
