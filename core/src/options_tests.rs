//! Every limit from both sides.

use super::*;

/// The message with which `options` are refused.
fn refused(options: &Options) -> String {
    let error = options.validate().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    error.to_string()
}

/// A default with one thing changed.
fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[test]
fn defaults_are_valid_and_as_documented() {
    let options = Options::new();
    options.validate().unwrap();
    assert_eq!(options.segment_len_bytes, 1_073_741_824);
    assert_eq!(options.queue_file_len_bytes, 6_000_000);
    assert_eq!(options.retention_ms, 259_200_000);
    assert_eq!(options.delete_hours.to_string(), "04");
    assert_eq!(options.store_host.to_string(), "127.0.0.1:10911");
    assert_eq!(options.policy(), Policy::default());
    let marks = (options.thresholds.clean, options.thresholds.force, options.thresholds.refuse);
    assert_eq!(marks, (0.75, 0.85, 0.90));
}

#[test]
fn limits_are_refused_not_clamped() {
    type Change = fn(&mut Options, u64);
    let rows: [(&str, u64, u64, Change); 10] = [
        ("segment_len_bytes", 4096, (1 << 31) - 1, |o, v| o.segment_len_bytes = v),
        ("queue_file_len_bytes", 20, 2_147_483_640, |o, v| o.queue_file_len_bytes = v),
        ("max_body_bytes", 1, (1 << 31) - 1, |o, v| o.max_body_bytes = v),
        ("max_maps", 4, 60_000, |o, v| o.max_maps = v as usize),
        ("probe_interval_ms", 10, 86_400_000, |o, v| o.probe_interval_ms = v),
        ("clean_interval_ms", 10, 86_400_000, |o, v| o.clean_interval_ms = v),
        ("checkpoint_interval_ms", 10, 86_400_000, |o, v| o.checkpoint_interval_ms = v),
        ("durability.interval_ms", 1, 86_400_000, |o, v| {
            o.durability = Durability::Async { interval_ms: v, bytes: 1 };
        }),
        ("durability.bytes", 1, (1 << 63) - 1, |o, v| {
            o.durability = Durability::Async { interval_ms: 1, bytes: v };
        }),
        ("max_forced_per_round", 1, u32::MAX.into(), |o, v| {
            o.max_forced_per_round = u32::try_from(v).unwrap_or(0);
        }),
    ];
    for (name, low, high, change) in rows {
        for value in [low, high] {
            let outcome = with(|options| change(options, value)).validate();
            outcome.unwrap_or_else(|error| panic!("{name} {value}: {error}"));
        }
        for value in [low - 1, high + 1] {
            let message = refused(&with(|options| change(options, value)));
            assert!(message.contains(name), "{name} {value}: {message}");
        }
    }
}

#[test]
fn limits_with_one_side() {
    type Change = fn(&mut Options);
    let rows: [(&str, Change); 4] = [
        ("clean_pause_ms", |o| o.clean_pause_ms = 60_001),
        ("prepare_bytes", |o| o.prepare_bytes = 1 << 31),
        ("retention_ms", |o| o.retention_ms = 1 << 63),
        ("multiple of 20", |o| o.queue_file_len_bytes = 6_000_001),
    ];
    for (text, change) in rows {
        let message = refused(&with(change));
        assert!(message.contains(text), "{message}");
    }
    let zeros = with(|o| (o.clean_pause_ms, o.prepare_bytes, o.retention_ms) = (0, 0, 0));
    zeros.validate().unwrap();
}

#[test]
fn an_error_names_option_value_and_range() {
    let message = refused(&Options::new().segment_len_bytes(100));
    let expected = "invalid: option segment_len_bytes is 100: it must be from 4096 to 2147483647";
    assert_eq!(message, expected);
}

#[test]
fn marks_of_a_directory_are_checked_under_its_name() {
    let strict = Thresholds { clean: 0.10, force: 0.30, refuse: 0.35, ..Thresholds::default() };
    let wrong = Thresholds { force: 0.86, ..strict };
    let options = Options::new()
        .directory("/a")
        .directory(DirectoryOptions::new("/b").thresholds(strict).role(Role::Draining));
    options.validate().unwrap();
    assert_eq!(options.thresholds_of(&options.directories[0]), Thresholds::default());
    assert_eq!(options.thresholds_of(&options.directories[1]), strict);
    let message = refused(&options.directory(DirectoryOptions::new("/c").thresholds(wrong)));
    assert!(message.contains("force is 0.86") && message.contains("/c"), "{message}");
    let message = refused(&Options::new().thresholds(wrong));
    assert!(message.contains("from 0.3 to 0.85"), "{message}");
    assert!(refused(&Options::new().directory("")).contains("empty"));
}

#[test]
fn policy_follows_the_options() {
    let options = Options::new()
        .clean_on(Quantifier::All)
        .force_on(Quantifier::Any)
        .refuse_on(Quantifier::Any)
        .retention_ms(5)
        .delete_hours(DeleteHours::NEVER)
        .forced_clean(false)
        .max_forced_per_round(3);
    let expected = Policy {
        clean_on: Quantifier::All,
        force_on: Quantifier::Any,
        refuse_on: Quantifier::Any,
        retention_ms: 5,
        delete_hours: DeleteHours::NEVER,
        forced_clean: false,
        max_forced_per_round: 3,
    };
    assert_eq!(options.policy(), expected);
}

#[test]
fn damage_choices_go_there_and_back() {
    for choice in OnDamage::ALL {
        assert_eq!(choice.to_string().parse::<OnDamage>().unwrap(), choice);
    }
    assert_eq!("Cut".parse::<OnDamage>().unwrap_err().kind(), ErrorKind::Invalid);
}
