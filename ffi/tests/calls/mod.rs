//! Every function of the header, and a C program that calls each of them wrongly.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A function of the header.
pub struct Function {
    pub name: String,
    pub returns: String,
    pub parameters: Vec<Parameter>,
}

pub struct Parameter {
    pub kind: String,
    pub name: String,
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn parameter(text: &str) -> Option<Parameter> {
    let text = words(text);
    let at = text.rfind([' ', '*'])? + 1;
    let (kind, name) = text.split_at(at);
    let kind = kind.trim().replace("struct ", "");
    Some(Parameter { kind, name: name.to_owned() })
}

/// The functions of a header, in its order.
pub fn functions(header: &str) -> Vec<Function> {
    let (_, code) = header.split_once("extern \"C\" {").expect("the C part");
    let code = without_comments(code);
    let mut found = Vec::new();
    for declaration in code.split("SPANLOG_API").skip(1) {
        let declaration = declaration.split(';').next().expect("a declaration");
        let (head, tail) = declaration.split_once('(').expect("parameters");
        let head = words(&head.replace("SPANLOG_MUST_USE", ""));
        let head = parameter(&head).expect("a name");
        let tail = tail.trim_end().trim_end_matches(')');
        let parameters = tail.split(',').filter_map(parameter).collect();
        found.push(Function { name: head.name, returns: head.kind, parameters });
    }
    assert!(found.len() > 30, "the header has functions");
    found
}

/// The kinds of handles: those types whose pointers end in a call that frees them.
const HANDLES: [&str; 12] = [
    "store",
    "batch",
    "list",
    "error",
    "watch",
    "verification",
    "cursor",
    "delivery",
    "queue",
    "reader",
    "records",
    "repair",
];

/// The kind of handle that a function is about.
fn receiver(function: &Function) -> Option<&'static str> {
    let kind = function.parameters.first()?.kind.replace("const ", "");
    HANDLES.into_iter().find(|handle| kind == format!("spanlog_{handle} *"))
}

/// What a function that ends a handle says to NULL: nothing.
fn ends_handle(function: &Function) -> bool {
    function.name.ends_with("_free") || function.name.ends_with("_close")
}

/// An argument that is fine, as far as one can tell by its type.
fn fine(parameter: &Parameter, places: &mut BTreeSet<String>) -> String {
    let kind = parameter.kind.replace("const ", "").replace(" const", "");
    match kind.trim_end_matches([' ', '*']) {
        "spanlog_error" => "&error".into(),
        "char" => "\"t\"".into(),
        "void" => "buffer".into(),
        base if kind.ends_with('*') => {
            let place = format!("{}_{}", base, kind.matches('*').count());
            places.insert(place.clone());
            format!("&{place}")
        }
        _ => "1".into(),
    }
}

fn wrong(parameter: &Parameter) -> &'static str {
    match (parameter.kind.as_str(), parameter.kind.ends_with('*')) {
        ("spanlog_error **", _) => "&error",
        (_, true) => "NULL",
        _ => "0",
    }
}

/// Calls a function and checks what it answers.
fn call(function: &Function, arguments: &[String], answer: &str) -> String {
    let call = format!("{}({})", function.name, arguments.join(", "));
    match function.returns.as_str() {
        "void" => format!("    {call};\n"),
        "spanlog_status" if function.parameters.iter().any(|p| p.kind == "spanlog_error **") => {
            format!("    answered(\"{}\", {call}, {answer});\n", function.name)
        }
        _ => format!("    (void){call};\n"),
    }
}

/// Calls with `first` for the handle and either nothing or something fine for everything else.
fn calls(
    function: &Function,
    first: Option<&str>,
    is_fine: bool,
    answer: &str,
    places: &mut BTreeSet<String>,
) -> String {
    let rest = function.parameters.iter().skip(usize::from(first.is_some()));
    let arguments = rest.map(|parameter| match is_fine {
        true => fine(parameter, places),
        false => wrong(parameter).to_owned(),
    });
    let first = first.map(str::to_owned);
    call(function, &first.into_iter().chain(arguments).collect::<Vec<_>>(), answer)
}

/// The program.
pub fn program(header: &str, sized: &[String]) -> String {
    let mut places = BTreeSet::new();
    let mut bodies = [String::new(), String::new(), String::new(), String::new()];
    for function in functions(header) {
        let null = if ends_handle(&function) { "SPANLOG_STATUS_OK" } else { "ANY_ERROR" };
        bodies[0] += &calls(&function, None, false, null, &mut places);
        let Some(handle) = receiver(&function) else { continue };
        let frees = ends_handle(&function);
        let dead = format!("dead.{handle}");
        let other = if handle == "store" { "live.batch" } else { "live.store" };
        let other = format!("(void *){other}");
        bodies[1] += &calls(&function, Some(&dead), true, "SPANLOG_STATUS_CLOSED", &mut places);
        bodies[2] += &calls(&function, Some(&other), true, "SPANLOG_STATUS_INVALID", &mut places);
        if !frees {
            let live = format!("live.{handle}");
            bodies[3] += &calls(&function, Some(&live), false, "ANYTHING", &mut places);
        }
    }
    let mut declared = String::new();
    for place in &places {
        let (base, stars) = place.rsplit_once('_').expect("a type and its stars");
        match (stars, sized.iter().any(|name| name == base)) {
            ("1", true) => {
                writeln!(declared, "static {base} {place} = {}_INIT;", base.to_uppercase())
            }
            ("1", false) => writeln!(declared, "static {base} {place};"),
            (_, _) => writeln!(declared, "static {base} *{place};"),
        }
        .expect("a string");
    }
    let [nothing, dead, other, live] = bodies;
    include_str!("every_call.c.in")
        .replace("@places@", &declared)
        .replace("@nothing@", &nothing)
        .replace("@dead@", &dead)
        .replace("@other@", &other)
        .replace("@live@", &live)
}
