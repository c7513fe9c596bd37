//! Arithmetic of usage, limits of the marks, and what happens at and around them.

use super::*;

/// A disk of 10,000 bytes with so many in use.
fn used(bytes: u64) -> Option<Usage> {
    Usage::new(bytes, 10_000 - bytes)
}

/// File systems that report nonsense.
#[test]
fn usage_arithmetic_edge_rows() {
    let tib = 1 << 40;
    let rows = [
        (0, 0, None),
        (0, 1, Some(0.0)),
        (1, 0, Some(1.0)),
        (90, 10, Some(0.9)),
        (9001, 999, Some(0.9001)),
        (7680 * tib, 2560 * tib, Some(0.75)),
        (u64::MAX, u64::MAX, Some(0.5)),
        (u64::MAX, 0, Some(1.0)),
        (0, u64::MAX, Some(0.0)),
    ];
    for (used, available, expected) in rows {
        let ratio = Usage::new(used, available).map(Usage::used_ratio);
        assert_eq!(ratio, expected, "{used} used, {available} available");
        assert!(ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
    }
}

#[test]
fn freed_bytes_move_from_used_to_available() {
    let usage = Usage::new(900, 100).unwrap();
    let rows = [(0, 900, 100), (300, 600, 400), (900, 0, 1000), (5000, 0, 1000)];
    for (bytes, used, available) in rows {
        let freed = usage.freed(bytes);
        assert_eq!((freed.used_bytes(), freed.available_bytes()), (used, available));
    }
    assert_eq!(Usage::new(5, u64::MAX).unwrap().freed(5).available_bytes(), u64::MAX);
}

/// What is out of range or order is refused, not clamped.
#[test]
fn threshold_validation_table() {
    let rows = [
        (0.75, 0.85, 0.90, None),
        (0.85, 0.85, 0.85, None),
        (0.10, 0.30, 0.35, None),
        (0.10, 0.35, 0.35, None),
        (0.90, 0.85, 0.75, Some("option clean is 0.9: it must be at most force, which is 0.85")),
        (0.80, 0.70, 0.90, Some("option clean is 0.8: it must be at most force, which is 0.7")),
        (0.50, 0.80, 0.70, Some("option force is 0.8: it must be at most refuse, which is 0.7")),
        (0.0, 0.85, 0.90, Some("option clean is 0: it must be from 0.1 to 0.95")),
        (0.96, 0.85, 0.90, Some("option clean is 0.96: it must be from 0.1 to 0.95")),
        (0.75, 0.86, 0.90, Some("option force is 0.86: it must be from 0.3 to 0.85")),
        (0.10, 0.29, 0.90, Some("option force is 0.29: it must be from 0.3 to 0.85")),
        (0.75, 0.85, 1.01, Some("option refuse is 1.01: it must be from 0.35 to 0.9")),
        (0.75, 0.85, 90.0, Some("option refuse is 90: it must be from 0.35 to 0.9")),
        (-0.75, 0.85, 0.90, Some("option clean is -0.75: it must be from 0.1 to 0.95")),
        (f64::NAN, 0.85, 0.90, Some("option clean is NaN: it must be from 0.1 to 0.95")),
        (0.75, f64::NAN, 0.90, Some("option force is NaN: it must be from 0.3 to 0.85")),
        (0.75, 0.85, f64::INFINITY, Some("option refuse is inf: it must be from 0.35 to 0.9")),
    ];
    for (clean, force, refuse, expected) in rows {
        let outcome = Thresholds { clean, force, refuse, ..Thresholds::default() }.validate();
        let message = outcome.as_ref().err().map(Error::message);
        assert_eq!(message, expected, "{clean} {force} {refuse}");
        assert!(outcome.is_ok() || outcome.unwrap_err().kind() == ErrorKind::Invalid);
    }
    for hysteresis in [-0.01, 0.051, f64::NAN] {
        let error = Thresholds { hysteresis, ..Thresholds::default() }.validate().unwrap_err();
        assert!(error.message().contains("hysteresis"), "{error}");
    }
}

/// One mark moved past its default neighbour is an error as well.
#[test]
fn one_mark_alone_must_fit_the_others() {
    assert!(Thresholds { clean: 0.86, ..Thresholds::default() }.validate().is_err());
    assert!(Thresholds { clean: 0.85, ..Thresholds::default() }.validate().is_ok());
    assert!(Thresholds { refuse: 0.84, ..Thresholds::default() }.validate().is_err());
}

#[test]
fn at_a_mark_is_not_above_it() {
    use Pressure::{Clean, Force, None, Refuse};
    let marks = Thresholds::default();
    let rows = [
        (None, 7500, None),
        (None, 7501, Clean),
        (None, 8500, Clean),
        (None, 8501, Force),
        (None, 9000, Force),
        (None, 9001, Refuse),
        (None, 10_000, Refuse),
        // Down again: a mark ends at or below itself less one point.
        (Refuse, 9000, Refuse),
        (Refuse, 8901, Refuse),
        (Refuse, 8900, Force),
        (Refuse, 8401, Force),
        (Refuse, 8400, Clean),
        (Force, 8400, Clean),
        (Force, 8901, Force),
        (Clean, 7401, Clean),
        (Clean, 7400, None),
        (Refuse, 0, None),
        // Up again from a lower state.
        (Clean, 8450, Clean),
        (Force, 9001, Refuse),
    ];
    for (previous, bytes, expected) in rows {
        let found = pressure(previous, used(bytes), &marks);
        assert_eq!(found, expected, "{previous} then {bytes} of 10000");
        let again = pressure(found, used(bytes), &marks);
        assert_eq!(again, found, "the same probe twice changes nothing");
    }
}

/// Whatever the decimal fractions, a mark ends exactly one point below itself.
#[test]
fn rounding_moves_no_mark() {
    for percent in 35..=90 {
        let ratio = percent as f64 / 100.0;
        let marks = Thresholds { clean: 0.10, force: 0.30, refuse: ratio, ..Thresholds::default() };
        let found = |bytes| pressure(Pressure::Refuse, used(bytes), &marks);
        assert_eq!(found(percent * 100 - 100), Pressure::Force, "{percent}");
        assert_eq!(found(percent * 100 - 99), Pressure::Refuse, "{percent}");
    }
}

/// A usage that is not known is no number that could pass a mark.
#[test]
fn unknown_usage_triggers_nothing() {
    let marks = Thresholds { floor_bytes: u64::MAX, ..Thresholds::default() };
    for previous in [Pressure::None, Pressure::Clean, Pressure::Force, Pressure::Refuse] {
        assert_eq!(pressure(previous, None, &marks), Pressure::None);
    }
}

/// A usage that hovers around a mark does not switch it with every probe.
#[test]
fn no_flapping() {
    let marks = Thresholds::default();
    let without = Thresholds { hysteresis: 0.0, ..marks };
    let count = |marks: &Thresholds| {
        let mut state = Pressure::Force;
        let mut changes = 0;
        for probe in 0..100 {
            let next = pressure(state, used(if probe % 2 == 0 { 9010 } else { 8990 }), marks);
            changes += u32::from(next != state);
            state = next;
        }
        changes
    };
    assert_eq!(count(&marks), 1);
    assert_eq!(count(&without), 100);
}

/// Every pair of states and usages: the state follows from the level, none of them is a trap.
#[test]
fn no_state_latches() {
    let marks = Thresholds { floor_bytes: 300, ..Thresholds::default() };
    for previous in [Pressure::None, Pressure::Clean, Pressure::Force, Pressure::Refuse] {
        for bytes in (0..=10_000).step_by(50) {
            let found = pressure(previous, used(bytes), &marks);
            assert!(found >= pressure(Pressure::None, used(bytes), &marks));
            assert_eq!(pressure(found, used(0), &marks), Pressure::None);
            assert!(bytes > 7400 || found == Pressure::None, "{previous} then {bytes}");
        }
    }
}

/// On a big disk free bytes say more than a ratio.
#[test]
fn free_bytes_below_the_floor_count_as_above_force() {
    let marks = Thresholds { floor_bytes: 3000, ..Thresholds::default() };
    let rows = [
        (Pressure::None, 7000, Pressure::None),
        (Pressure::None, 7001, Pressure::Force),
        (Pressure::None, 9000, Pressure::Force),
        (Pressure::None, 9001, Pressure::Refuse),
        (Pressure::Force, 7000, Pressure::Force),
        (Pressure::Force, 6901, Pressure::Force),
        (Pressure::Force, 6900, Pressure::None),
    ];
    for (previous, bytes, expected) in rows {
        assert_eq!(pressure(previous, used(bytes), &marks), expected, "{previous} then {bytes}");
    }
    let whole = Thresholds { floor_bytes: u64::MAX, ..Thresholds::default() };
    assert_eq!(pressure(Pressure::None, used(0), &whole), Pressure::Force);
}

#[test]
fn the_strictest_of_two_stay_in_order() {
    let early = Thresholds { clean: 0.20, floor_bytes: 7, ..Thresholds::default() };
    let low = Thresholds { clean: 0.50, force: 0.60, refuse: 0.70, ..Thresholds::default() };
    let both = early.strictest(low);
    assert_eq!((both.clean, both.force, both.refuse, both.floor_bytes), (0.20, 0.60, 0.70, 7));
    assert_eq!(both, low.strictest(early));
    both.validate().unwrap();
}
