//! Tables of segments: what leaves, what stays, and the reason given for each.

use super::*;
use crate::retention::{DeleteHours, Pressure, Quantifier, Thresholds, Usage};

const HOUR_MS: i64 = 3_600_000;
const NOW_MS: i64 = 1_700_000_000_000;
const LEN: u64 = 100;

/// Segments of these ages in hours, the last of them the log's last, all in directory 0.
fn aged(hours: &[i64]) -> Vec<SegmentFacts> {
    let count = hours.len();
    let segment = |(i, hours): (usize, &i64)| SegmentFacts {
        base: Position::new(i as u64 * LEN),
        len: LEN,
        directory: 0,
        last_store_ms: Some(NOW_MS - hours * HOUR_MS),
        held: false,
        is_last: i + 1 == count,
    };
    hours.iter().enumerate().map(segment).collect()
}

/// One disk of 100,000 bytes, so many percent in use.
fn disk(device: u64, percent: u64) -> Directory {
    Directory {
        path: format!("/d{device}"),
        role: Role::ReadWrite,
        online: true,
        device,
        usage: Usage::new(percent * 1000, 100_000 - percent * 1000),
        thresholds: Thresholds::default(),
        pressure: Pressure::None,
        is_root: false,
    }
}

/// Five in the morning: no hour of deletion.
fn at_five() -> Moment {
    Moment { now_ms: NOW_MS, local_hour: 5, manual: false }
}

/// Somebody asked for it.
fn asked() -> Moment {
    Moment { manual: true, ..at_five() }
}

/// The plan under the default policy.
fn plan(segments: &[SegmentFacts], directories: &[Directory], moment: Moment) -> CleanPlan {
    checked(segments, directories, &Policy::default(), moment)
}

/// The plan, after checking what holds for every plan.
fn checked(
    segments: &[SegmentFacts],
    directories: &[Directory],
    policy: &Policy,
    moment: Moment,
) -> CleanPlan {
    let plan = decide(segments, directories, &[], policy, moment);
    assert_eq!(plan.fates.len(), segments.len());
    assert!(plan.drop < segments.len().max(1), "the last segment never goes");
    for (i, fate) in plan.fates.iter().enumerate() {
        assert_eq!(fate.reason.drops(), i < plan.drop, "what leaves is a prefix: {plan:?}");
        assert_eq!(fate.segment, segments[i]);
    }
    assert_eq!(plan.dropped().len(), plan.drop);
    plan
}

/// The reasons' names.
fn names(plan: &CleanPlan) -> Vec<&'static str> {
    plan.fates.iter().map(|fate| fate.reason.name()).collect()
}

#[test]
fn an_empty_log_has_an_empty_plan() {
    let plan = plan(&[], &[disk(0, 99)], asked());
    assert_eq!(plan, CleanPlan::default());
    assert_eq!(plan.start(), None);
}

#[test]
fn expired_segments_leave_in_the_hour_under_pressure_or_on_request() {
    let segments = aged(&[100, 80, 10, 1]);
    let four = Moment { local_hour: 4, ..at_five() };
    let rows = [
        (10, at_five(), 0),
        (10, four, 2),
        (10, asked(), 2),
        (75, at_five(), 0),
        (76, at_five(), 2),
    ];
    for (percent, moment, drop) in rows {
        let plan = plan(&segments, &[disk(0, percent)], moment);
        assert_eq!(plan.drop, drop, "{percent}% {moment:?}");
        assert_eq!(plan.start(), (drop > 0).then_some(Position::new(drop as u64 * LEN)));
    }
}

/// Each round of the hour drops what is expired by then, and no more.
#[test]
fn rounds_within_the_hour_are_idempotent() {
    let segments = aged(&[100, 80, 10, 1]);
    let four = Moment { local_hour: 4, ..at_five() };
    let first = plan(&segments, &[disk(0, 10)], four);
    let second = plan(&segments[first.drop..], &[disk(0, 10)], four);
    assert_eq!((first.drop, second.drop), (2, 0));
    let never = Policy { delete_hours: DeleteHours::NEVER, ..Policy::default() };
    for local_hour in 0..24 {
        let moment = Moment { local_hour, ..at_five() };
        assert_eq!(checked(&segments, &[disk(0, 10)], &never, moment).drop, 0);
    }
}

#[test]
fn age_is_reached_at_equality() {
    let rows = [(0, true), (1, false), (-1, true)];
    for (younger_ms, expired) in rows {
        let mut segments = aged(&[72, 0]);
        segments[0].last_store_ms = segments[0].last_store_ms.map(|ms| ms + younger_ms);
        assert_eq!(plan(&segments, &[disk(0, 10)], asked()).drop == 1, expired, "{younger_ms}");
    }
}

/// Zero means as soon as a segment is not the last any more.
#[test]
fn no_retention_keeps_the_last_alone() {
    let policy = Policy { retention_ms: 0, ..Policy::default() };
    let plan = checked(&aged(&[0, 0, 0]), &[disk(0, 10)], &policy, asked());
    assert_eq!(names(&plan), ["expired", "expired", "kept_last"]);
    let forever = Policy { retention_ms: u64::MAX, ..Policy::default() };
    assert_eq!(checked(&aged(&[1 << 20, 0]), &[disk(0, 10)], &forever, asked()).drop, 0);
}

/// That nothing can leave is told from everything else, and every reason is given.
#[test]
fn clean_result_is_typed() {
    let young = plan(&aged(&[60, 3, 1]), &[disk(0, 82)], at_five());
    assert_eq!(names(&young), ["kept_young", "kept_behind", "kept_last"]);
    let until_ms = NOW_MS + 12 * HOUR_MS;
    let (age_ms, left_ms) = (60 * 3_600_000, 12 * 3_600_000);
    assert_eq!(young.fates[0].reason, Reason::KeptYoung { age_ms, left_ms, until_ms });
    assert_eq!(young.fates[0].to_string(), "0: kept: 2.5 days old, expires in 12.0 h");
    assert_eq!(young.fates[1].to_string(), "100: kept: an earlier segment stays");
    assert_eq!(young.fates[2].to_string(), "200: kept: the last segment never goes");
    let idle = plan(&aged(&[96, 1]), &[disk(0, 10)], at_five());
    assert_eq!(names(&idle), ["kept_no_pressure", "kept_last"]);
    assert!(idle.fates[0].to_string().contains("not the hour of deletion"));
    let expired = plan(&aged(&[96, 1]), &[disk(0, 10)], asked());
    assert_eq!(expired.fates[0].to_string(), "0: dropped: expired, 4.0 days old");
}

/// Fresh segments go only if the option says so, oldest first, and the last stays.
#[test]
fn forced_clean_removes_only_oldest_full_segments() {
    let segments = aged(&[2, 1, 0]);
    let full = [disk(0, 86)];
    let forced = plan(&segments, &full, at_five());
    assert_eq!(names(&forced), ["forced", "forced", "kept_last"]);
    let text = forced.fates[0].to_string();
    assert_eq!(text, "0: dropped before its age: disks are full, 2.0 h old");
    let off = Policy { forced_clean: false, ..Policy::default() };
    for percent in [86, 91, 100] {
        let plan = checked(&segments, &[disk(0, percent)], &off, asked());
        assert_eq!(names(&plan), ["kept_young", "kept_behind", "kept_last"], "{percent}");
        let old = checked(&aged(&[80, 1, 0]), &[disk(0, percent)], &off, at_five());
        assert_eq!(names(&old), ["expired", "kept_young", "kept_last"], "{percent}");
    }
}

/// Not even of a full disk.
#[test]
fn single_segment_is_never_removed() {
    for percent in [10, 86, 100] {
        let plan = plan(&aged(&[1000]), &[disk(0, percent)], asked());
        assert_eq!(names(&plan), ["kept_last"], "{percent}");
    }
}

/// RocketMQ's rows: a at 96 %; a 96, b and c 80; all over 85; all over 90.
#[test]
fn forced_needs_all_disks_or_any_by_the_option() {
    let segments = aged(&[80, 1, 0]);
    let all = Policy::default();
    let any = Policy { force_on: Quantifier::Any, ..Policy::default() };
    let rows = [
        (&all, [96, 3, 3], ["expired", "kept_young", "kept_last"]),
        (&all, [96, 80, 80], ["expired", "kept_young", "kept_last"]),
        (&all, [86, 86, 86], ["expired", "forced", "kept_last"]),
        (&all, [91, 91, 91], ["expired", "forced", "kept_last"]),
        (&any, [96, 3, 3], ["expired", "forced", "kept_last"]),
        (&any, [85, 3, 3], ["expired", "kept_young", "kept_last"]),
    ];
    for (policy, percents, expected) in rows {
        let disks: Vec<_> = (0..3).map(|i| disk(i, percents[i as usize])).collect();
        assert_eq!(names(&checked(&segments, &disks, policy, at_five())), expected, "{percents:?}");
    }
}

/// DefaultMessageStoreCleanFilesTest: nothing aged, every round drops ten, the rest wait.
#[test]
fn at_most_so_many_forced_drops_in_a_round() {
    let fresh = aged(&[1; 55]);
    let first = plan(&fresh, &[disk(0, 99)], at_five());
    assert_eq!(
        (first.drop, names(&first)[10], names(&first)[11]),
        (10, "kept_round_limit", "kept_behind")
    );
    // Age has no such limit, and what leaves by age does not count.
    let mut mixed = aged(&[100; 20]);
    mixed.extend(
        aged(&[1; 30])
            .into_iter()
            .map(|segment| SegmentFacts { base: segment.base + 20 * LEN, ..segment }),
    );
    mixed[19].is_last = false;
    let plan = plan(&mixed, &[disk(0, 99)], at_five());
    assert_eq!(plan.drop, 30);
    assert_eq!((names(&plan)[19], names(&plan)[20]), ("expired", "forced"));
}

/// What is dropped before its age is no more than it takes to get below the mark.
#[test]
fn forced_drops_end_when_enough_space_will_return() {
    let mut segments = aged(&[5; 12]);
    segments.iter_mut().for_each(|segment| segment.len = 1000);
    let rows = [
        // 86.0 % to 84.0 %: two of 1 %.
        (86, 0, 2),
        // One that is held returns nothing yet.
        (86, 1, 3),
        // 92 %: eight of them.
        (92, 0, 8),
        (99, 0, 10),
    ];
    for (percent, held, drop) in rows {
        segments.iter_mut().enumerate().for_each(|(i, segment)| segment.held = i < held);
        let plan = plan(&segments, &[disk(0, percent)], at_five());
        assert_eq!(plan.drop, drop, "{percent}% {held} held");
    }
    // Expired ones that leave anyway can be enough.
    let mut older = aged(&[80, 80, 5, 1]);
    older.iter_mut().for_each(|segment| segment.len = 1000);
    assert_eq!(names(&plan(&older, &[disk(0, 86)], at_five()))[2], "kept_young");
}

/// What is past its age leaves for its age, also where only the force mark calls for it: it does
/// not use up the round.
#[test]
fn force_without_clean_expires_too() {
    let policy = Policy {
        clean_on: Quantifier::All,
        force_on: Quantifier::Any,
        max_forced_per_round: 1,
        ..Policy::default()
    };
    let plan = checked(&aged(&[90, 80, 2, 1, 0]), &[disk(0, 90), disk(1, 5)], &policy, at_five());
    let expected = ["expired", "expired", "forced", "kept_round_limit", "kept_last"];
    assert_eq!(names(&plan), expected);
}

/// A full root is no reason to drop what is not expired: its disk holds queues, not segments.
#[test]
fn a_full_root_expires_but_does_not_force() {
    let root = Directory { is_root: true, ..disk(9, 95) };
    let plan = plan(&aged(&[80, 1, 0]), &[disk(0, 10), root], at_five());
    assert_eq!(names(&plan), ["expired", "kept_young", "kept_last"]);
}

/// A younger first segment keeps the older ones behind it.
#[test]
fn retention_removes_prefix_only() {
    let plan = plan(&aged(&[1, 100, 100, 0]), &[disk(0, 80)], asked());
    assert_eq!(names(&plan), ["kept_young", "kept_behind", "kept_behind", "kept_last"]);
}

/// The facts hold a store time and none of the file; this is all that counts.
#[test]
fn retention_ignores_mtime() {
    let mut segments = aged(&[100, 0]);
    segments[0].held = true;
    let plan = plan(&segments, &[disk(0, 10)], asked());
    assert_eq!(plan.fates[0].reason, Reason::Expired { age_ms: 100 * 3_600_000 });
}

/// A reader does not keep a segment in the log, nor those behind it.
#[test]
fn held_segment_does_not_block_cleaning() {
    let mut segments = aged(&[100, 90, 0]);
    segments[0].held = true;
    segments[2].held = true;
    let plan = plan(&segments, &[disk(0, 10)], asked());
    assert_eq!(names(&plan), ["expired", "expired", "kept_last"]);
    let text = plan.fates[0].to_string();
    assert!(text.ends_with("held by a reader, its file goes when released"), "{text}");
    assert!(!plan.fates[2].to_string().contains("held"));
}

/// A clock that was years ahead once does not stop retention for years.
#[test]
fn a_clock_that_was_ahead_does_not_block() {
    let years = 24 * 365 * 30;
    let rows = [
        (vec![-years, 100, 90, 1], vec!["expired", "expired", "expired", "kept_last"]),
        (vec![100, -years, -years, 90, 1], vec!["expired"; 4]),
        (vec![-years, 10, 1], vec!["kept_young", "kept_behind", "kept_last"]),
        // Nothing tells the true time: nothing goes.
        (vec![-years, -years], vec!["kept_young", "kept_last"]),
    ];
    for (hours, expected) in rows {
        let found = plan(&aged(&hours), &[disk(0, 10)], asked());
        assert_eq!(names(&found)[..expected.len()], expected, "{hours:?}");
    }
}

/// A clock that was behind once, be it by decades, costs none of the segments before it; nor does
/// one that is behind now.
#[test]
fn a_clock_that_was_behind_expires_nothing_young() {
    let decades = NOW_MS / HOUR_MS;
    let found = plan(&aged(&[5, 4, decades, 1]), &[disk(0, 80)], asked());
    assert_eq!(names(&found), ["kept_young", "kept_behind", "kept_behind", "kept_last"]);
    let behind = Moment { now_ms: NOW_MS - 1000 * HOUR_MS, ..asked() };
    assert_eq!(plan(&aged(&[100, 90, 0]), &[disk(0, 10)], behind).drop, 0);
    for now_ms in [i64::MIN, 0, i64::MAX] {
        for stored_ms in [i64::MIN, -1, 0, i64::MAX] {
            let mut segments = aged(&[0, 0]);
            segments[0].last_store_ms = Some(stored_ms);
            let _ = plan(&segments, &[disk(0, 10)], Moment { now_ms, ..asked() });
        }
    }
}

#[test]
fn an_unknown_time_is_that_of_the_next_segment() {
    let mut segments = aged(&[0, 100, 0, 0]);
    segments[0].last_store_ms = None;
    assert_eq!(plan(&segments, &[disk(0, 10)], asked()).drop, 2);
    for segment in &mut segments {
        segment.last_store_ms = None;
    }
    let undated = plan(&segments, &[disk(0, 10)], asked());
    assert_eq!(names(&undated)[0], "kept_undated");
    let forced = plan(&segments, &[disk(0, 86)], asked());
    assert_eq!(forced.fates[0].reason, Reason::Forced { age_ms: None });
}

#[test]
fn read_only_directories_keep_their_segments_and_offline_ones_do_not() {
    let mut segments = aged(&[100, 90, 80, 0]);
    segments[1].directory = 1;
    let other = disk(1, 10);
    let rows = [
        (Directory { role: Role::Draining, ..other.clone() }, vec!["expired"; 3]),
        (Directory { online: false, usage: None, ..other.clone() }, vec!["expired"; 3]),
        (
            Directory { role: Role::ReadOnly, ..other },
            vec!["expired", "kept_read_only", "kept_behind", "kept_last"],
        ),
    ];
    for (directory, expected) in rows {
        let found = plan(&segments, &[disk(0, 10), directory.clone()], asked());
        assert_eq!(names(&found)[..expected.len()], expected, "{directory:?}");
    }
    segments[0].directory = 7;
    assert_eq!(plan(&segments, &[disk(0, 10)], asked()).drop, 3, "an unlisted one is no reason");
}

#[test]
fn spans_are_in_the_largest_unit() {
    let rows = [
        (0, "0 ms"),
        (999, "999 ms"),
        (1500, "1.5 s"),
        (90_000, "1.5 min"),
        (5_400_000, "1.5 h"),
        (259_200_000, "3.0 days"),
    ];
    for (ms, text) in rows {
        assert_eq!(Span(ms).to_string(), text);
    }
}

/// A cursor that has not acknowledged the record at `from`.
fn holder(from: u64, max_age_ms: Option<u64>, max_bytes: Option<u64>) -> Holder {
    let (topic, cursor) = ("orders".into(), "billing".into());
    Holder { topic, cursor, from: Position::new(from), max_age_ms, max_bytes }
}

/// What a cursor holds stays at any pressure, until its bound is passed.
#[test]
fn a_cursor_holds_what_it_has_not_acknowledged_within_its_bounds() {
    let segments = aged(&[100, 90, 80, 1]);
    let hours = |hours: u64| Some(hours * HOUR_MS.unsigned_abs());
    let rows = [
        (vec![], 3),
        (vec![holder(0, None, None)], 0),
        (vec![holder(99, None, None)], 0),
        (vec![holder(100, None, None)], 1),
        (vec![holder(250, None, None)], 2),
        (vec![holder(300, None, None)], 3),
        (vec![holder(0, hours(100), None)], 0),
        (vec![holder(0, hours(99), None)], 1),
        (vec![holder(0, None, Some(400))], 0),
        (vec![holder(0, None, Some(399))], 1),
        (vec![holder(0, hours(99), Some(200))], 2),
        (vec![holder(250, None, None), holder(100, None, None)], 1),
    ];
    for percent in [10, 99] {
        for (holders, drop) in &rows {
            let directories = [disk(0, percent)];
            let plan = decide(&segments, &directories, holders, &Policy::default(), asked());
            let what = format!("{percent} % {holders:?}");
            // At 99 % the young one before the last would go too, were there one.
            assert_eq!(plan.drop, *drop, "{what}");
            let first_kept = &plan.fates[*drop].reason;
            assert_eq!(first_kept.name() == "kept_for_cursor", *drop < 3, "{what}");
        }
    }
    let young = decide(&aged(&[1, 0]), &[disk(0, 10)], &rows[1].0, &Policy::default(), asked());
    assert_eq!(names(&young), ["kept_young", "kept_last"]);
    let held = decide(&segments, &[disk(0, 10)], &rows[1].0, &Policy::default(), asked());
    let text = held.fates[0].reason.to_string();
    assert_eq!(text, "kept: held by cursor billing of topic orders");
}
