//! `docs/languages.md` names every operation and error in four languages: each name is one of the
//! code, and nothing of the C interface is missing there.

use std::collections::BTreeSet;
use std::fs;

use spanlog::ErrorKind;
use spanlog_tests::source;

fn read(name: &str) -> String {
    fs::read_to_string(source::workspace().join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names in backquotes of a cell.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The rows of the table under a heading, as cells.
fn rows<'a>(document: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, part) = document.split_once(heading).expect("the heading");
    let lines = part.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let table = lines.take_while(|line| line.starts_with('|'));
    table.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Where the names of each column must be found: source, and what stands around a name there.
struct Languages {
    rust: String,
    header: String,
    python: String,
    node: String,
}

impl Languages {
    fn of_this_project() -> Self {
        let core = source::all().into_iter().filter(|source| source.path.starts_with("core/src"));
        Self {
            rust: core.map(|source| source.text).collect(),
            header: read("include/spanlog.h"),
            python: read("bindings-python/python/spanlog/_spanlog.pyi")
                + &read("bindings-python/python/spanlog/errors.py"),
            node: read("bindings-node/index.d.ts"),
        }
    }

    fn has(&self, column: usize, name: &str) -> bool {
        let own = name.rsplit("::").next().unwrap_or(name);
        match column {
            1 => ['(', '<'].iter().any(|end| self.rust.contains(&format!("pub fn {own}{end}"))),
            2 => [' ', '*'].iter().any(|sign| self.header.contains(&format!("{sign}{name}("))),
            3 => ["def {}(", "class {}:"]
                .iter()
                .any(|form| self.python.contains(&form.replace("{}", name))),
            _ => ['(', ':'].iter().any(|end| self.node.contains(&format!(" {name}{end}"))),
        }
    }
}

fn wrong_operations(document: &str, languages: &Languages) -> Vec<String> {
    let mut faults = Vec::new();
    for row in rows(document, "## Operations") {
        for (column, cell) in row.iter().enumerate().skip(1) {
            let missing = names(cell).into_iter().filter(|name| !languages.has(column, name));
            faults.extend(missing.map(|name| format!("{}: {name} is not there", row[0])));
        }
    }
    faults
}

/// Functions of the header that the document does not name.
fn untold(document: &str, header: &str) -> Vec<String> {
    let told: BTreeSet<&str> = names(document).into_iter().collect();
    let code = header.split_once("extern \"C\" {").expect("the C part").1;
    let words = code.split(|other: char| !other.is_ascii_alphanumeric() && other != '_');
    let calls = words.filter(|word| word.starts_with("spanlog_"));
    let functions: BTreeSet<_> = calls.filter(|name| code.contains(&format!("{name}("))).collect();
    functions.into_iter().filter(|name| !told.contains(name)).map(str::to_owned).collect()
}

const KINDS: [ErrorKind; 12] = [
    ErrorKind::Invalid,
    ErrorKind::TooLarge,
    ErrorKind::Full,
    ErrorKind::Gone,
    ErrorKind::Offline,
    ErrorKind::Foreign,
    ErrorKind::Locked,
    ErrorKind::Version,
    ErrorKind::Corrupt,
    ErrorKind::Io,
    ErrorKind::Poisoned,
    ErrorKind::Closed,
];

fn wrong_errors(document: &str, languages: &Languages) -> Vec<String> {
    let mut faults = Vec::new();
    let rows = rows(document, "## Errors");
    assert_eq!(rows.len(), KINDS.len(), "a row for each kind");
    for (row, kind) in rows.iter().zip(KINDS) {
        let upper = kind.name().to_uppercase();
        let number = row[1].rsplit(' ').next().unwrap_or_default();
        let [c, node] = [format!("SPANLOG_STATUS_{upper}"), format!("SPANLOG_{upper}")];
        let checks = [
            (names(row[0])[0] == format!("{kind:?}"), format!("{kind:?}")),
            (languages.header.contains(&format!("{c} = {number},")), format!("{c} {number}")),
            (names(row[1])[0] == c, c),
            (languages.python.contains(&format!("class {}(", names(row[2])[0])), row[2].into()),
            (languages.node.contains(&format!("'{node}'")) && names(row[3])[0] == node, node),
        ];
        faults.extend(checks.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what));
    }
    faults
}

#[test]
fn every_name_in_the_table_is_one_of_the_code() {
    let (document, languages) = (read("docs/languages.md"), Languages::of_this_project());
    assert_eq!(wrong_operations(&document, &languages), [""; 0]);
    assert_eq!(wrong_errors(&document, &languages), [""; 0]);
    assert!(rows(&document, "## Operations").len() > 30);
}

#[test]
fn every_function_of_the_header_is_in_the_document() {
    assert_eq!(untold(&read("docs/languages.md"), &read("include/spanlog.h")), [""; 0]);
}

#[test]
fn a_wrong_name_is_found() {
    let (document, languages) = (read("docs/languages.md"), Languages::of_this_project());
    for (right, wrong) in [
        ("`Store::append`", "`Store::append_it`"),
        ("`spanlog_store_read`", "`spanlog_store_reads`"),
        ("`append_many`", "`append_most`"),
        ("`appendMany`", "`appendMost`"),
    ] {
        let faults = wrong_operations(&document.replacen(right, wrong, 1), &languages);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }
    let faults = wrong_errors(&document.replace("_FULL` -3", "_FULL` -4"), &languages);
    assert_eq!(faults, ["SPANLOG_STATUS_FULL -4"]);
    let missing = document.replace("`spanlog_version`", "the version");
    assert_eq!(untold(&missing, &languages.header), ["spanlog_version"]);
}

/// Fields that Node's native half writes as digits, and that its JavaScript reads as text.
fn read_as_text(native: &str, script: &str) -> BTreeSet<String> {
    let written = native.split("\": digits(").filter_map(|before| before.rsplit('"').next());
    // The last piece stands behind the last field.
    let count = native.matches("\": digits(").count();
    written
        .take(count)
        .filter(|name| !script.contains(&format!("'{name}'")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_position_is_a_bigint_in_node() {
    let native = read("bindings-node/src/answers.rs");
    assert!(native.contains("\"reading\": digits("));
    assert_eq!(read_as_text(&native, &read("bindings-node/lib/numbers.js")), BTreeSet::new());
    let strange = native + "json!({\"strange\": digits(1)})";
    let found = read_as_text(&strange, &read("bindings-node/lib/numbers.js"));
    assert_eq!(found, BTreeSet::from(["strange".to_owned()]));
}

/// The public fields of a structure of the engine.
fn fields(source: &str, name: &str) -> Vec<String> {
    let (_, body) = source.split_once(&format!("pub struct {name} {{")).expect("the structure");
    let (body, _) = body.split_once("\n}").expect("its end");
    let names = body.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':'));
    names.map(|(name, _)| name.to_owned()).collect()
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
}

/// Options of the engine that a language does not have. Directories are `paths` where languages
/// have keywords.
fn options_left_out(options: &[String], languages: &Languages) -> Vec<String> {
    let mut faults = Vec::new();
    for name in options {
        let keyword = if name == "directories" { "paths" } else { name };
        let ends = [' ', '*'].map(|sign| languages.header.contains(&format!("{sign}{name};")));
        if !ends.contains(&true) {
            faults.push(format!("C has no option {name}"));
        }
        if !languages.python.contains(&format!("    {keyword}: ")) {
            faults.push(format!("Python has no option {keyword}"));
        }
        if !languages.node.contains(&format!("  {}?: ", camel(keyword))) {
            faults.push(format!("Node has no option {}", camel(keyword)));
        }
    }
    faults
}

#[test]
fn every_option_is_one_in_every_language() {
    let languages = Languages::of_this_project();
    let mut options = fields(&read("core/src/options.rs"), "Options");
    options.extend(fields(&read("core/src/queue/options.rs"), "QueueOptions"));
    assert!(options.len() > 40, "{options:?}");
    assert_eq!(options_left_out(&options, &languages), [""; 0]);
    let strange = ["strange_option".to_owned()];
    let expected = [
        "C has no option strange_option",
        "Python has no option strange_option",
        "Node has no option strangeOption",
    ];
    assert_eq!(options_left_out(&strange, &languages), expected);
}
