//! The project's own source as something to judge: files, functions, paths, and text with
//! comments or strings blanked out.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The folders that hold the workspace's Rust source.
pub const FOLDERS: [&str; 10] = [
    "core/src",
    "cli/src",
    "ffi/src",
    "ffi/tests",
    "tests/src",
    "tests/tests",
    "examples",
    "core/benches",
    "bindings-node/src",
    "bindings-python/src",
];

/// The folder of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the tests lie inside the workspace").to_owned()
}

/// Every Rust file of the workspace, in the order of their paths.
///
/// # Panics
/// If a file cannot be read or is not Rust.
#[must_use]
pub fn all() -> Vec<Source> {
    let root = workspace();
    let mut paths = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut paths);
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("source is UTF-8");
        let name = path.strip_prefix(&root).expect("it was found below the root");
        Source::new(&name.to_string_lossy(), &text)
    };
    paths.iter().map(read).collect()
}

/// Adds the Rust files below `folder`, which need not exist.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// One file, parsed.
pub struct Source {
    /// Where it lies, from the root of the workspace, with slashes.
    pub path: String,
    /// All of it.
    pub text: String,
    /// Its syntax tree.
    pub file: syn::File,
    tokens: TokenStream,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name alone.
    pub name: String,
    /// Where `fn` stands, counted from 1.
    pub line: usize,
    /// Lines from the signature to the closing brace; documentation and attributes not counted.
    pub lines: usize,
    /// Whether it is built for tests alone.
    pub is_test: bool,
    /// How many assertions stand in it that are on in every build.
    pub assertions: usize,
}

impl Source {
    /// Parses `text`, to be known as `path`.
    ///
    /// # Panics
    /// If it is not Rust.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        let parse = |error: &dyn std::fmt::Display| -> ! { panic!("{path}: {error}") };
        let file = syn::parse_file(text).unwrap_or_else(|error| parse(&error));
        let tokens = text.parse().unwrap_or_else(|error: proc_macro2::LexError| parse(&error));
        Self { path: path.to_owned(), text: text.to_owned(), file, tokens }
    }

    /// Whether the whole file is built for tests alone.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let stem = self.stem();
        self.path.starts_with("tests/tests/")
            || self.path.contains("/tests/")
            || stem == "tests"
            || stem.ends_with("_tests")
    }

    /// The file's name without its extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.trim_end_matches(".rs")
    }

    /// The module that the file is within its crate: `segment::chain`, empty for the root.
    #[must_use]
    pub fn module(&self) -> String {
        let inside = self.path.split_once("src/").map_or(&*self.path, |(_, inside)| inside);
        let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        if matches!(inside, "lib" | "main") { String::new() } else { inside.replace('/', "::") }
    }

    /// Every function with a body, nested ones too.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        let mut reader = Reader { test_depth: usize::from(self.is_test()), ..Reader::default() };
        reader.visit_file(&self.file);
        reader.functions
    }

    /// The lines (from 1) of items that are built for tests alone.
    #[must_use]
    pub fn test_lines(&self) -> Vec<Range<usize>> {
        let mut reader = Reader::default();
        reader.visit_file(&self.file);
        reader.test_lines
    }

    /// Whether a line, counted from 1, belongs to test code.
    #[must_use]
    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test() || self.test_lines().iter().any(|lines| lines.contains(&line))
    }

    /// The text with string and character literals blanked out, comments kept.
    #[must_use]
    pub fn without_strings(&self) -> String {
        let mut bytes = self.text.clone().into_bytes();
        for range in
            flatten(&self.tokens, &self.text).into_iter().filter(|range| self.is_quoted(range))
        {
            blank(&mut bytes, range);
        }
        String::from_utf8(bytes).expect("whole literals were blanked")
    }

    /// The text with literals and every comment blanked out.
    #[must_use]
    pub fn code(&self) -> String {
        let mut kept = vec![b' '; self.text.len()];
        for (at, _) in self.text.match_indices('\n') {
            kept[at] = b'\n';
        }
        for range in flatten(&self.tokens, &self.text) {
            if !self.is_quoted(&range) && !self.is_doc(&range) {
                kept[range.clone()].copy_from_slice(&self.text.as_bytes()[range]);
            }
        }
        String::from_utf8(kept).expect("whole tokens were kept")
    }

    /// Every path in the code, trees of `use` spelled out, with its line: `crate::disk::Map`.
    #[must_use]
    pub fn paths(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        self.read_paths(self.tokens.clone(), &mut found);
        found
    }

    fn read_paths(&self, tokens: TokenStream, found: &mut Vec<(usize, String)>) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            let line = trees[at].span().start().line;
            match &trees[at] {
                TokenTree::Group(group) if !self.is_doc(&group.span().byte_range()) => {
                    self.read_paths(group.stream(), found);
                    at += 1;
                }
                TokenTree::Ident(_) => {
                    let mut paths = Vec::new();
                    at = read_path(&trees, at, "", &mut paths);
                    found.extend(paths.into_iter().map(|path| (line, path)));
                }
                _ => at += 1,
            }
        }
    }

    fn is_doc(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].starts_with("//") || self.text[range.clone()].starts_with("/*")
    }

    /// Whether a token is a string, byte string or character.
    fn is_quoted(&self, range: &Range<usize>) -> bool {
        let text = &self.text[range.clone()];
        let is_label = text.starts_with('\'') && !text.ends_with('\'') || text == "'";
        !is_label && text.trim_start_matches(['b', 'r', 'c', '#']).starts_with(['"', '\''])
    }
}

/// Overwrites all but line ends with spaces.
fn blank(bytes: &mut [u8], range: Range<usize>) {
    bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Where every token stands in order, delimiters too. Documentation is one token: the parser
/// makes an attribute of it, all of whose parts stand where the comment does.
fn flatten(tokens: &TokenStream, text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    for tree in tokens.clone() {
        let range = tree.span().byte_range();
        match &tree {
            TokenTree::Group(group) if !text[range.clone()].starts_with('/') => {
                all.push(group.span_open().byte_range());
                all.extend(flatten(&group.stream(), text));
                all.push(group.span_close().byte_range());
            }
            _ => all.push(range),
        }
    }
    all
}

/// Reads the path that begins with the word at `at`, appended to `before`; returns what follows.
fn read_path(trees: &[TokenTree], at: usize, before: &str, paths: &mut Vec<String>) -> usize {
    let TokenTree::Ident(word) = &trees[at] else { return at + 1 };
    let path = if before.is_empty() { word.to_string() } else { format!("{before}::{word}") };
    let is_colon =
        |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    if !(is_colon(at + 1) && is_colon(at + 2)) {
        paths.push(path);
        return at + 1;
    }
    match trees.get(at + 3) {
        Some(TokenTree::Ident(_)) => read_path(trees, at + 3, &path, paths),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            read_tree(group.stream(), &path, paths);
            at + 4
        }
        _ => {
            paths.push(path);
            at + 3
        }
    }
}

/// Reads the inside of `before::{...}`.
fn read_tree(tokens: TokenStream, before: &str, paths: &mut Vec<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        let is_renaming = matches!(&trees[at], TokenTree::Ident(word) if word == "as");
        at = if is_renaming { at + 2 } else { read_path(&trees, at, before, paths) };
    }
}

/// Walks the syntax and notes functions and what is test code.
#[derive(Default)]
struct Reader {
    test_depth: usize,
    functions: Vec<Function>,
    test_lines: Vec<Range<usize>>,
}

impl Reader {
    /// Goes on inside an item, which may be for tests alone.
    fn inside(&mut self, attributes: &[syn::Attribute], span: Span, walk: impl FnOnce(&mut Self)) {
        let is_test = attributes.iter().any(is_for_tests);
        if is_test && self.test_depth == 0 {
            self.test_lines.push(span.start().line..span.end().line + 1);
        }
        self.test_depth += usize::from(is_test);
        walk(self);
        self.test_depth -= usize::from(is_test);
    }

    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.span().start().line;
        let mut count = Assertions::default();
        count.visit_block(body);
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line: first,
            lines: body.span().end().line + 1 - first,
            is_test: self.test_depth > 0,
            assertions: count.0,
        });
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.inside(&item.attrs, item.span(), |reader| visit::visit_item_mod(reader, item));
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        self.inside(&item.attrs, item.span(), |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.inside(&item.attrs, item.span(), |_| {});
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.inside(&item.attrs, item.span(), |_| {});
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.inside(&item.attrs, item.span(), |reader| {
            reader.function(&item.sig, &item.block);
            visit::visit_item_fn(reader, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.inside(&item.attrs, item.span(), |reader| {
            reader.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(reader, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Whether an attribute keeps its item for tests: `test`, `cfg(test)` or `cfg(loom)`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else { return false };
    attribute.path().is_ident("cfg") && names_tests(list.tokens.clone())
}

/// Whether a condition names `test` or `loom` outside a `not`.
fn names_tests(tokens: TokenStream) -> bool {
    let mut is_negated = false;
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) if word == "test" || word == "loom" => return true,
            TokenTree::Ident(word) => is_negated = word == "not",
            TokenTree::Group(group) if !is_negated && names_tests(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

/// Counts assertions that are on in every build.
#[derive(Default)]
struct Assertions(usize);

impl<'a> Visit<'a> for Assertions {
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string());
        let is_assertion = name.as_deref().is_some_and(|name| {
            matches!(name, "assert" | "assert_eq" | "assert_ne" | "unreachable")
        });
        self.0 += usize::from(is_assertion);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        self.0 += usize::from(call.method == "expect");
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"
//! todo in a doc comment
use crate::{base::{units::Position, crc}, error::Result as R};
/// Docs with crate::nothing.
fn first(a: u32) -> Result<u32> { // comment
    assert!(a > 1, "text with // crate::quoted");
    crate::disk::open(r#"raw "quoted""#).expect("why")
}
#[cfg(not(loom))]
fn second() {}
#[cfg(all(test, loom))]
mod checks {
    fn third() {
        let c = 'x';
    }
}
"##;

    #[test]
    fn functions_have_lines_assertions_and_a_purpose() {
        let functions = Source::new("core/src/a.rs", TEXT).functions();
        let seen: Vec<_> = functions
            .iter()
            .map(|f| (f.name.as_str(), f.line, f.lines, f.is_test, f.assertions))
            .collect();
        let third = ("third", 13, 3, true, 0);
        assert_eq!(seen, [("first", 5, 4, false, 2), ("second", 10, 1, false, 0), third]);
    }

    #[test]
    fn comments_and_strings_are_told_from_code() {
        let source = Source::new("core/src/a.rs", TEXT);
        let code = source.code();
        assert_eq!(code.lines().count(), TEXT.lines().count());
        for word in ["todo", "quoted", "comment", "Docs", "why"] {
            assert!(!code.contains(word), "{word} in {code}");
        }
        assert!(code.contains("crate::disk::open("));
        let text = source.without_strings();
        assert!(text.contains("todo") && text.contains("comment") && !text.contains("quoted"));
    }

    #[test]
    fn paths_are_spelled_out() {
        let source = Source::new("core/src/a.rs", TEXT);
        let ours: Vec<_> =
            source.paths().into_iter().filter(|(_, path)| path.starts_with("crate")).collect();
        let expected = [
            (3, "crate::base::units::Position"),
            (3, "crate::base::crc"),
            (3, "crate::error::Result"),
            (7, "crate::disk::open"),
        ];
        assert_eq!(ours, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn test_code_is_known_by_its_attribute_and_by_its_file() {
        let source = Source::new("core/src/a.rs", TEXT);
        assert_eq!(source.test_lines(), vec![11..17]);
        assert!(source.is_test_line(14) && !source.is_test_line(10));
        assert!(Source::new("core/src/log/tests.rs", "").is_test());
        assert!(Source::new("core/src/log/append_tests.rs", "").is_test());
        assert!(!Source::new("tests/src/oracle.rs", "").is_test());
    }
}
