//! Tables of what people write, and what becomes of it.

use proptest::prelude::*;

use super::*;

/// Units are part of a retention.
#[test]
fn retention_parsing() {
    let rows = [
        ("72h", 259_200_000),
        ("3d", 259_200_000),
        ("0.1h", 360_000),
        ("6m", 360_000),
        ("1.5 s", 1500),
        (" 500ms ", 500),
        ("0h", 0),
        ("0ms", 0),
        ("0.5d", 43_200_000),
    ];
    for (text, expected) in rows {
        assert_eq!(parse_duration_ms(text).unwrap(), expected, "{text}");
    }
    let unitless = ["", "720", "0", "h", "1H", "1 hour", "1h30m", "NaNh", "1\u{0661}h"];
    let unlike_numbers = ["-1h", "+1h", ".5h", "1.h", "1..5h", "1e3s"];
    let unlike_ms = ["0.5ms", "0.0001s", "106751991168d", "99999999999999999999999d"];
    let bad = unitless.into_iter().chain(unlike_numbers).chain(unlike_ms);
    for text in bad {
        let error = parse_duration_ms(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
        assert!(error.message().contains(&format!("{text:?}")), "{error}");
    }
}

/// 50MB is not 48MB.
#[test]
fn size_and_ratio_parsing_roundtrip() {
    let sizes = [
        ("50MB", 50_000_000, "50MB"),
        ("50MiB", 52_428_800, "50MiB"),
        ("1.5GiB", 1_610_612_736, "1536MiB"),
        ("0", 0, "0B"),
        ("0MiB", 0, "0B"),
        ("4096", 4096, "4KiB"),
        ("1kB", 1000, "1kB"),
        ("1 KB", 1000, "1kB"),
        ("1TiB", 1 << 40, "1TiB"),
        ("999B", 999, "999B"),
        ("9223372036854775807", i64::MAX.unsigned_abs(), "9223372036854775807B"),
    ];
    for (text, expected, shown) in sizes {
        let bytes = parse_size_bytes(text).unwrap();
        assert_eq!((bytes, size_text(bytes).as_str()), (expected, shown), "{text}");
        assert_eq!(parse_size_bytes(shown).unwrap(), bytes);
    }
    let bad = ["", "50M", "1g", "50mb", "50Mb", "1.5", "0.3B", "-1", "9223372036854775808", "8EiB"];
    for text in bad {
        assert_eq!(parse_size_bytes(text).unwrap_err().kind(), ErrorKind::Invalid, "{text:?}");
    }
    let ratios = [("0.75", 0.75), ("75%", 0.75), ("75 %", 0.75), ("1", 1.0), ("0", 0.0)];
    let more = [("100%", 1.0), ("7%", 0.07), ("33.3%", 0.333), ("85.5%", 0.855), ("0.1%", 0.001)];
    for (text, expected) in ratios.into_iter().chain(more) {
        let ratio = parse_ratio(text).unwrap();
        assert!(ratio == expected, "{text}: {ratio}");
        assert!(parse_ratio(&ratio.to_string()).unwrap() == ratio);
    }
    for text in ["", "75", "1.01", "101%", "-0.1", "NaN", "inf", "7e-1", "%", "0,75", "75%%"] {
        assert_eq!(parse_ratio(text).unwrap_err().kind(), ErrorKind::Invalid, "{text:?}");
    }
}

/// A list becomes paths once, and none of them is empty.
#[test]
fn path_list_parsing() {
    let rows: [(&str, &[&str]); 5] = [
        ("a,b,c", &["a", "b", "c"]),
        (" a , b ", &["a", "b"]),
        ("/one", &["/one"]),
        ("/with blank/x, /y", &["/with blank/x", "/y"]),
        ("a,a", &["a", "a"]),
    ];
    for (text, expected) in rows {
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(parse_paths(text).unwrap(), expected, "{text}");
    }
    for text in ["", " ", "a,,b", "a,", ",a", "a, ,b"] {
        assert_eq!(parse_paths(text).unwrap_err().kind(), ErrorKind::Invalid, "{text:?}");
    }
}

#[test]
fn durations_are_written_in_the_shortest_exact_unit() {
    let rows =
        [(0, "0ms"), (259_200_000, "3d"), (360_000, "6m"), (1500, "1500ms"), (60_001, "60001ms")];
    for (duration_ms, text) in rows {
        assert_eq!(duration_text(duration_ms), text);
    }
}

proptest! {
    #[test]
    fn every_value_reads_back(value in 0..=i64::MAX.unsigned_abs(), shift in 0_u32..63) {
        let value = value >> shift;
        prop_assert_eq!(parse_size_bytes(&size_text(value)).unwrap(), value);
        prop_assert_eq!(parse_duration_ms(&duration_text(value)).unwrap(), value);
    }

    #[test]
    fn every_ratio_reads_back(ratio in 0.0001_f64..=1.0) {
        let ratio = (ratio * 1e6).round() / 1e6;
        prop_assert_eq!(parse_ratio(&ratio.to_string()).unwrap(), ratio);
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = (parse_size_bytes(&text), parse_duration_ms(&text), parse_ratio(&text));
        let _ = parse_paths(&text);
    }
}
