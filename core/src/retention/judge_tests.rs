//! Tables of disks: who takes segments, what cleaning is called for, who is refused and how.

use super::*;
use crate::error::ErrorKind;
use crate::retention::Quantifier;

/// A writable directory on a disk of its own of 10,000 bytes, so many percent of it in use.
fn disk(name: &str, percent: u64) -> Directory {
    Directory {
        path: format!("/{name}"),
        role: Role::ReadWrite,
        online: true,
        device: name.bytes().fold(0, |device, byte| device * 256 + u64::from(byte)),
        usage: Usage::new(percent * 100, 10_000 - percent * 100),
        thresholds: Thresholds::default(),
        pressure: Pressure::None,
        is_root: false,
    }
}

/// One that is not there.
fn missing(name: &str) -> Directory {
    Directory { online: false, device: 0, usage: None, ..disk(name, 0) }
}

/// One whose file system cannot be read.
fn unreadable(name: &str) -> Directory {
    Directory { usage: None, ..disk(name, 0) }
}

/// One that takes no new segments.
fn with_role(role: Role, name: &str, percent: u64) -> Directory {
    Directory { role, ..disk(name, percent) }
}

/// The root's row.
fn root(percent: u64) -> Directory {
    Directory { is_root: true, ..disk("root", percent) }
}

/// The verdict under the default policy.
fn verdict(directories: &[Directory]) -> Verdict {
    judge(directories, &Policy::default())
}

/// Which cause refuses, if any.
fn cause_of(directories: &[Directory]) -> Option<Cause> {
    verdict(directories).refused.map(|refusal| refusal.cause)
}

/// Neither the fullest nor a disk that reports nothing decides for the others.
#[test]
fn refuse_decision_table() {
    use Cause::{DisksFull, NoWritableDirectory};
    let draining = |percent| with_role(Role::Draining, "old", percent);
    let read_only = |percent| with_role(Role::ReadOnly, "cd", percent);
    let rows = [
        (vec![disk("a", 95), disk("b", 20)], None, vec![1]),
        (vec![disk("a", 91), disk("b", 95)], Some(DisksFull), vec![]),
        (vec![missing("a"), disk("b", 95)], Some(DisksFull), vec![]),
        (vec![missing("a"), disk("b", 20)], None, vec![1]),
        (vec![unreadable("a"), disk("b", 20)], None, vec![1]),
        (vec![unreadable("a"), disk("b", 95)], Some(DisksFull), vec![]),
        (vec![disk("a", 91)], Some(DisksFull), vec![]),
        (vec![disk("a", 90)], None, vec![0]),
        // A roomy directory that takes no segments does not save the others.
        (vec![disk("a", 91), draining(5)], Some(DisksFull), vec![]),
        (vec![disk("a", 91), read_only(5)], Some(DisksFull), vec![]),
        // A full one that takes none does not matter.
        (vec![disk("a", 20), draining(99), read_only(99)], None, vec![0]),
        // Nothing is known of any: nothing is refused.
        (vec![unreadable("a"), unreadable("b")], None, vec![0, 1]),
        (vec![draining(5), read_only(5)], Some(NoWritableDirectory), vec![]),
        (vec![missing("a")], Some(NoWritableDirectory), vec![]),
        (vec![root(5)], Some(NoWritableDirectory), vec![]),
        (vec![], Some(NoWritableDirectory), vec![]),
    ];
    for (directories, cause, writable) in rows {
        let verdict = verdict(&directories);
        assert_eq!(verdict.refused.map(|refusal| refusal.cause), cause, "{directories:?}");
        assert_eq!(verdict.writable, writable, "{directories:?}");
        assert_eq!(verdict.pressures.len(), directories.len());
    }
}

/// RocketMQ's own choice of candidates: full ones drop out, and come back when all are full.
#[test]
fn above_force_is_skipped_until_all_are() {
    let rows = [
        ([20, 20, 20], vec![0, 1, 2]),
        ([86, 20, 20], vec![1, 2]),
        ([85, 86, 20], vec![0, 2]),
        ([86, 86, 86], vec![0, 1, 2]),
        ([86, 91, 86], vec![0, 2]),
        ([91, 91, 86], vec![2]),
        ([91, 91, 91], vec![]),
    ];
    for (percents, writable) in rows {
        let disks = ["a", "b", "c"].into_iter().zip(percents).map(|(name, p)| disk(name, p));
        assert_eq!(verdict(&disks.collect::<Vec<_>>()).writable, writable, "{percents:?}");
    }
}

/// The gate and the allocator cannot disagree: one is refused exactly when the other
/// has nothing to choose from.
#[test]
fn refuse_gate_uses_allocator_paths() {
    let percents = [10, 80, 86, 90, 91, 99];
    for a in percents {
        for b in percents {
            let verdict = verdict(&[disk("a", a), disk("b", b), with_role(Role::Draining, "c", 1)]);
            assert_eq!(verdict.refused.is_some(), verdict.writable.is_empty(), "{a} {b}");
        }
    }
}

#[test]
fn any_and_all_per_mark() {
    use Quantifier::{All, Any};
    let rows = [
        // percents, quantifier of all three, clean, force, refused
        ([76, 10], Any, true, false, false),
        ([76, 10], All, false, false, false),
        ([76, 76], All, true, false, false),
        ([86, 10], Any, true, true, false),
        ([86, 10], All, false, false, false),
        ([86, 86], All, true, true, false),
        ([91, 10], Any, true, true, true),
        ([91, 10], All, false, false, false),
        ([91, 86], All, true, true, false),
        ([91, 91], All, true, true, true),
    ];
    for (percents, on, clean, force, refused) in rows {
        let policy = Policy { clean_on: on, force_on: on, refuse_on: on, ..Policy::default() };
        let found = judge(&[disk("a", percents[0]), disk("b", percents[1])], &policy);
        let found = (found.clean, found.force, found.refused.is_some());
        assert_eq!(found, (clean, force, refused), "{percents:?} {on}");
    }
    let policy = Policy { refuse_on: Any, ..Policy::default() };
    let found = judge(&[disk("a", 91), disk("b", 10)], &policy);
    assert!(found.force && found.refused.is_some(), "a refusal calls for space");
    assert_eq!(found.writable, [1]);
}

#[test]
fn clean_looks_at_draining_but_not_at_read_only_directories() {
    let rows = [
        (with_role(Role::Draining, "x", 80), true),
        (with_role(Role::ReadOnly, "x", 80), false),
        (missing("x"), false),
        (unreadable("x"), false),
    ];
    for (other, clean) in rows {
        assert_eq!(verdict(&[disk("a", 10), other.clone()]).clean, clean, "{other:?}");
    }
}

/// Two directories on one file system are one disk, under the stricter marks of the two.
#[test]
fn equal_devices_are_one_disk() {
    let strict = Thresholds { clean: 0.20, force: 0.30, refuse: 0.35, ..Thresholds::default() };
    let a = disk("a", 33);
    let b = Directory { device: a.device, thresholds: strict, ..disk("b", 33) };
    let found = verdict(&[a.clone(), b.clone()]);
    assert_eq!(found.pressures, [Pressure::Force, Pressure::Force]);
    assert_eq!(found.writable, [0, 1]);
    // One reading is enough for both, and the fuller of two counts.
    let unread = Directory { usage: None, ..a.clone() };
    assert_eq!(verdict(&[unread, b.clone()]).pressures, [Pressure::Force; 2]);
    let later = Directory { usage: Usage::new(36, 64), ..a.clone() };
    assert_eq!(verdict(&[later, b.clone()]).pressures, [Pressure::Refuse; 2]);
    // So does the past: a directory that joins a disk under pressure is under it as well.
    let under = Directory { usage: Usage::new(29, 71), pressure: Pressure::Force, ..b.clone() };
    let joined = Directory { usage: Usage::new(295, 705), ..a.clone() };
    assert_eq!(verdict(&[joined, under]).pressures, [Pressure::Force; 2]);
    // What is not there shares nothing.
    let gone = Directory { online: false, ..b };
    assert_eq!(verdict(&[a, gone]).pressures, [Pressure::None; 2]);
}

/// The disk of the queues counts for itself.
#[test]
fn root_path_over_refuse_blocks_append_with_reason() {
    let rows =
        [(75, false, None), (80, true, None), (90, true, None), (91, true, Some(Cause::RootFull))];
    for (percent, clean, cause) in rows {
        let found = verdict(&[disk("a", 20), disk("b", 20), root(percent)]);
        assert_eq!((found.clean, found.force), (clean, false), "{percent}");
        assert_eq!(found.refused.as_ref().map(|refusal| refusal.cause), cause, "{percent}");
        assert_eq!(found.writable, [0, 1]);
        if let Some(refusal) = found.refused {
            let error = refusal.to_error();
            assert_eq!(error.path().unwrap().to_str(), Some("/root"));
            assert!(error.to_string().contains("root /root: 91.00% used"), "{error}");
        }
    }
    let unread = Directory { usage: None, ..root(0) };
    assert_eq!(cause_of(&[disk("a", 20), unread]), None);
}

/// 240 GB, 20 GB of them free.
#[test]
fn refuse_error_is_self_explaining() {
    let gb = 1_000_000_000;
    let full = Directory { usage: Usage::new(220 * gb, 20 * gb), ..disk("data", 0) };
    let error = verdict(std::slice::from_ref(&full)).refused.unwrap().to_error();
    assert_eq!(error.kind(), ErrorKind::Full);
    assert_eq!(error.path().unwrap().to_str(), Some("/data"));
    assert_eq!(
        error.message(),
        "appends are refused, the limit \"refuse\" fired: /data: 91.67% used, 20000000000 bytes \
         free, refuse above 90.00% until 89.00%"
    );
    let others = [
        full,
        disk("b", 92),
        with_role(Role::Draining, "c", 3),
        with_role(Role::ReadOnly, "d", 3),
        missing("e"),
        unreadable("f"),
        root(91),
    ];
    let refusal = verdict(&others).refused.unwrap();
    assert_eq!(
        refusal.to_string(),
        "appends are refused, the limit \"refuse\" fired: \
         /data: 91.67% used, 20000000000 bytes free, refuse above 90.00% until 89.00%; \
         /b: 92.00% used, 800 bytes free, refuse above 90.00% until 89.00%; \
         /c is draining; /d is read-only; /e is offline; /f: usage not known; \
         root /root: 91.00% used, 900 bytes free, refuse above 90.00% until 89.00%"
    );
    assert_eq!(refusal.full().count(), 3);
    assert_eq!(refusal.to_error().path(), None);
}

/// Causes are told apart by a code, not by reading a sentence.
#[test]
fn each_refusal_cause_has_its_code() {
    let rows = [
        (vec![disk("a", 91), root(10)], "disks_full"),
        (vec![disk("a", 10), root(91)], "root_full"),
        (vec![disk("a", 91), root(91)], "disks_full"),
        (vec![with_role(Role::ReadOnly, "a", 10), root(10)], "no_writable_directory"),
        (vec![missing("a"), root(10)], "no_writable_directory"),
    ];
    for (directories, name) in rows {
        let refusal = verdict(&directories).refused.unwrap();
        assert_eq!(refusal.cause.name(), name);
        assert_eq!(refusal.to_error().kind(), ErrorKind::Full);
    }
    let text = verdict(&[with_role(Role::ReadOnly, "a", 99)]).refused.unwrap().to_string();
    assert_eq!(text, "appends are refused, no directory may take a new segment: /a is read-only");
}

/// Nothing has to be reopened once there is space.
#[test]
fn recovers_when_space_returns_without_reopen() {
    let mut directories = [disk("a", 50), disk("b", 50), root(50)];
    let mut refused = Vec::new();
    for percent in [80, 91, 99, 90, 89, 50, 91, 20] {
        for row in &mut directories {
            row.usage = Usage::new(percent, 100 - percent);
        }
        let verdict = verdict(&directories);
        for (row, pressure) in directories.iter_mut().zip(&verdict.pressures) {
            row.pressure = *pressure;
        }
        refused.push(verdict.refused.is_some());
    }
    assert_eq!(refused, [false, true, true, true, false, false, true, false]);
    // A reopened store knows nothing of the past: its first probe decides.
    assert_eq!(cause_of(&[disk("a", 90)]), None);
}

/// A directory that does not exist yet starts no cleaning, and switches none off.
#[test]
fn unknown_usage_is_reported_and_triggers_nothing() {
    let found = verdict(&[unreadable("a"), disk("b", 10), missing("c")]);
    assert_eq!(found.unknown, [0]);
    assert_eq!((found.clean, found.force, found.refused), (false, false, None));
    let found = verdict(&[missing("a"), unreadable("b"), disk("c", 95)]);
    assert!(found.clean && found.force && found.refused.is_some(), "the marks stay on");
}

/// What is decided here needs no cleaning to have ended.
#[test]
fn probes_come_sooner_near_a_mark() {
    let rows = [
        (10, 10_000),
        (72, 10_000),
        (74, 1000),
        (75, 1000),
        (80, 10_000),
        (84, 1000),
        (86, 1000),
        (95, 1000),
    ];
    for (percent, delay_ms) in rows {
        let disks = [disk("a", 10), disk("b", percent)];
        assert_eq!(probe_delay_ms(&disks, 10_000), delay_ms, "{percent}");
    }
    assert_eq!(probe_delay_ms(&[disk("a", 86)], 500), 100);
    assert_eq!(probe_delay_ms(&[disk("a", 86)], 50), 50);
    assert_eq!(probe_delay_ms(&[unreadable("a"), missing("b")], 10_000), 10_000);
}
