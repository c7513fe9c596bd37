//! RocketMQ's documented examples, its own tests' cases, and what is no condition.

use super::*;

/// A condition, properties as `name=value` words, and whether they are wanted.
type Row = (&'static str, &'static str, bool);

fn wants(condition: &str, properties: &str) -> bool {
    let filter = PropertyFilter::parse(condition);
    let filter = filter.unwrap_or_else(|error| panic!("{condition}: {error}"));
    let rows: Vec<_> = properties.split(' ').filter_map(|word| word.split_once('=')).collect();
    filter.matches_with(|name| rows.iter().find(|row| row.0 == name).map(|row| row.1))
}

fn check(rows: &[Row]) {
    for (condition, properties, expected) in rows {
        assert_eq!(wants(condition, properties), *expected, "{condition} of {properties}");
    }
}

#[test]
fn the_documented_examples() {
    check(&[
        ("a > 5 AND b = 'abc'", "a=10 b=abc c=true", true),
        ("a > 5 AND b = 'abc'", "a=1 b=abc c=true", false),
        ("a between 0 and 3", "a=3", true),
        ("a between 0 and 3", "a=4", false),
        (
            "(TAGS is not null and TAGS in ('TagA', 'TagB')) and \
             (a is not null and a between 0 and 3)",
            "TAGS=TagA a=0",
            true,
        ),
        (
            "(TAGS is not null and TAGS in ('TagA', 'TagB')) and \
             (a is not null and a between 0 and 3)",
            "TAGS=TagC a=0",
            false,
        ),
        ("TAGS is not null and TAGS='''''tag'''''", "TAGS=''tag''", true),
        ("a=TRUE OR b=FALSE", "a=true b=false", true),
        ("a=TRUE OR b=FALSE", "a=false b=true", false),
        ("a is null OR a='hello'", "", true),
        ("a is null OR a='hello'", "a=abc", false),
    ]);
}

#[test]
fn numbers_are_read_from_text() {
    check(&[
        ("a > 3.14", "a=3.1415", true),
        ("a > 3.1E10", "a=3.1415E10", true),
        ("a=3 and b<>4 And c>5 AND d<=4", "a=3 b=5 c=6 d=1", true),
        ("a=3 and b<>4 And c>5 AND d<=4", "a=4 b=5 c=6 d=1", false),
        ("a=3 or b<>4 Or c>5 OR d<=4", "a=4 b=4 c=3 d=2", true),
        ("a=3 or b<>4 Or c>5 OR d<=4", "a=4 b=4 c=3 d=10", false),
        ("a > b", "a=20 b=10", true),
        ("a > b", "a=10 b=20", false),
        ("a >= -2", "a=-1", true),
        ("a < +2", "a=1", true),
        ("5 < a", "a=6", true),
        ("a = 9223372036854775807", "a=9223372036854775807", true),
        ("a = 9223372036854775806", "a=9223372036854775807", false),
        ("a not between 2 and 10", "a=1", true),
        ("a not between 2 and 10", "a=10", false),
        ("a = b", "a=3.14 b=3.14", true),
        ("a <> b", "a=3.14 b=3.141", true),
    ]);
}

/// Neither a comparison with what is missing nor its opposite is true.
#[test]
fn what_is_missing_is_neither_true_nor_false() {
    check(&[
        ("a > 1", "", false),
        ("NOT a > 1", "", false),
        ("a <> 'x'", "", false),
        ("a = 'x' OR b = 'y'", "b=y", true),
        ("NOT (a = 'x' AND b = 'y')", "b=z", true),
        ("NOT (a = 'x' OR b = 'y')", "b=z", false),
        ("a in ('3', '4')", "a=3", true),
        ("a not in ('3', '4')", "a=8", true),
        ("a not in ('3', '4')", "", false),
        ("NOT a in ('3')", "", false),
        ("a is not null", "a=", true),
        // As RocketMQ has it.
        ("a <> b", "a=1", true),
        ("a <> b", "b=1", false),
    ]);
}

/// Text that is no number is neither larger nor smaller, and the message is not wanted.
#[test]
fn what_cannot_be_compared_is_not_wanted() {
    check(&[
        ("a between 0 and 100", "a=abc", false),
        ("NOT a between 0 and 100", "a=abc", false),
        ("a > b", "a=up b=low", false),
        ("a = 3", "a=3.0", false),
        ("a > 3", "a=3.5", false),
        ("a > 3.0", "a=3.5", true),
        ("b = 'x' OR a > 3", "a=abc b=x", true),
        ("a > 3 OR b = 'x'", "a=abc b=x", false),
        ("TRUE", "", true),
        ("NOT FALSE", "", true),
    ]);
}

#[test]
fn names_may_be_what_sql_reserves() {
    check(&[
        ("\"order\" = 'x'", "order=x", true),
        ("date > 3 AND type = 't'", "date=4 type=t", true),
        ("_a$1 = 'x'", "_a$1=x", true),
    ]);
}

#[test]
fn what_is_no_condition_is_refused_with_its_place() {
    let rows = [
        ("", 0),
        ("a >", 3),
        ("a = 1 b", 6),
        ("a", 0),
        ("a = ", 4),
        ("a + 1 > 2", 0),
        ("a > 'x'", 4),
        ("a > TRUE", 4),
        ("a = NULL", 4),
        ("a between 10 and 2", 0),
        ("a in (1, 2)", 6),
        ("'a' in ('a')", 0),
        ("a like 'x%'", 0),
        ("a = 'x", 4),
        ("\n  a = f(1)", 7),
        ("\u{e9} = 1 AND b in (3)", 17),
        ("a = 99999999999999999999", 4),
        ("a IN (SELECT 1)", 0),
        ("EXISTS (SELECT 1)", 8),
        ("a = 1; b", 5),
    ];
    for (text, at) in rows {
        let error = PropertyFilter::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
        assert_eq!(error.offset(), Some(at), "{text}: {error}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let long = format!("a = '{}'", "x".repeat(5000));
    assert_eq!(PropertyFilter::parse(&long).unwrap_err().kind(), ErrorKind::TooLarge);
    for open in ["(", "NOT ", "- "] {
        let deep = format!("{}a = 1", open.repeat(1000));
        let error = PropertyFilter::parse(&deep).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    let many = vec!["a=1"; 500].join(" OR ");
    assert!(PropertyFilter::parse(&many).is_ok());
}
