//! Tables for every strategy, RocketMQ's own rows among them.

use super::*;

/// Candidates of one size, identified by their place in the list.
fn equal<'a>(paths: &[&'a str]) -> Vec<Candidate<'a>> {
    sized(&paths.iter().map(|&path| (path, 1 << 40)).collect::<Vec<_>>())
}

/// Candidates of given sizes, identified by their place in the list.
fn sized<'a>(rows: &[(&'a str, u64)]) -> Vec<Candidate<'a>> {
    let candidate = |(id, &(path, usable_bytes))| Candidate { path, id: id as u64, usable_bytes };
    rows.iter().enumerate().map(candidate).collect()
}

/// The paths in order of preference.
fn paths<'a>(placement: Placement, number: u64, candidates: &[Candidate<'a>]) -> Vec<&'a str> {
    order(placement, number, candidates).into_iter().map(|i| candidates[i].path).collect()
}

/// How many of the first `count` segments each candidate gets while its size stays the same.
fn shares(placement: Placement, count: u64, candidates: &[Candidate<'_>]) -> Vec<u64> {
    let mut shares = vec![0; candidates.len()];
    (0..count).for_each(|number| shares[order(placement, number, candidates)[0]] += 1);
    shares
}

#[test]
fn names_go_there_and_back() {
    for placement in Placement::ALL {
        assert_eq!(placement.to_string().parse::<Placement>().unwrap(), placement);
    }
    for text in ["", "Rocketmq", "free_space", "hash "] {
        let error = text.parse::<Placement>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("rocketmq, free-space or hash"), "{error}");
    }
}

#[test]
fn no_candidate_no_order() {
    for placement in Placement::ALL {
        assert_eq!(order(placement, 7, &[]), Vec::<usize>::new());
        assert_eq!(order(placement, 7, &equal(&["/only"])), [0]);
    }
}

#[test]
fn every_candidate_appears_once_whatever_the_order_they_come_in() {
    let forward = sized(&[("/a", 5), ("/b", 0), ("/c", 900), ("/d", 77)]);
    let mut backward = forward.clone();
    backward.reverse();
    for placement in Placement::ALL {
        for number in (0..200).chain([u64::MAX - 1, u64::MAX]) {
            let mut sorted = order(placement, number, &forward);
            assert_eq!(
                paths(placement, number, &forward),
                paths(placement, number, &backward),
                "{placement} {number}"
            );
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
    }
}

#[test]
fn rocketmq_sorts_as_java_and_goes_round() {
    let candidates = equal(&["/d1", "/d2", "/d10"]);
    let rows = [
        (0, ["/d1", "/d10", "/d2"]),
        (1, ["/d10", "/d2", "/d1"]),
        (2, ["/d2", "/d1", "/d10"]),
        (3, ["/d1", "/d10", "/d2"]),
        (u64::MAX, ["/d1", "/d10", "/d2"]),
    ];
    for (number, expected) in rows {
        assert_eq!(paths(Placement::Rocketmq, number, &candidates), expected, "{number}");
    }
}

#[test]
fn rocketmq_compares_utf16_units_not_characters() {
    // U+1F600 is a surrogate pair (D83D DE00), which sorts before U+FF5E although it is larger.
    let candidates = equal(&["/\u{FF5E}", "/\u{1F600}"]);
    assert_eq!(paths(Placement::Rocketmq, 0, &candidates), ["/\u{1F600}", "/\u{FF5E}"]);
}

/// RocketMQ's MultiPathMappedFileQueueTest: 1,024 files over three paths; a list that shrinks to
/// two after file 500; path b full after files 0, 1, 2.
#[test]
fn rocketmq_rows_of_its_own_test() {
    let abc = ["a/", "b/", "c/"];
    let all = equal(&abc);
    let two = equal(&abc[..2]);
    let without_b = equal(&["a/", "c/"]);
    for number in 0..1024 {
        assert_eq!(paths(Placement::Rocketmq, number, &all)[0], abc[number as usize % 3]);
    }
    for number in 501..1024 {
        assert_eq!(paths(Placement::Rocketmq, number, &two)[0], abc[number as usize % 2]);
    }
    assert_eq!(paths(Placement::Rocketmq, 3, &without_b)[0], "c/");
    assert_eq!(paths(Placement::Rocketmq, 4, &without_b)[0], "a/");
}

#[test]
fn free_space_shares_are_proportional() {
    let candidates = sized(&[("/small", 100), ("/big", 1000)]);
    for count in [11, 110, 1100, 11_000] {
        let shares = shares(Placement::FreeSpace, count, &candidates);
        let expected = count / 11;
        assert!(shares[0].abs_diff(expected) <= 2, "{count}: {shares:?}");
    }
    let equal_shares = shares(Placement::FreeSpace, 300, &equal(&["/a", "/b", "/c"]));
    assert!(equal_shares.iter().all(|share| share.abs_diff(100) <= 2), "{equal_shares:?}");
}

/// The small disk fills no sooner than the big one.
#[test]
fn unequal_disks_fill_to_the_end() {
    let full = [100_u64, 1000, 350];
    let mut left = full;
    for number in 0..1400 {
        let candidates = sized(&[("/a", left[0]), ("/b", left[1]), ("/c", left[2])]);
        let chosen = order(Placement::FreeSpace, number, &candidates)[0];
        assert!(left[chosen] > 0, "segment {number} goes where there is room: {left:?}");
        left[chosen] -= 1;
        if number % 100 == 99 {
            let ratios: Vec<f64> =
                left.iter().zip(full).map(|(&now, all)| now as f64 / all as f64).collect();
            let spread = ratios.iter().fold(0.0_f64, |widest, a| {
                ratios.iter().fold(widest, |widest, b| widest.max((a - b).abs()))
            });
            assert!(spread <= 0.05, "after {number} segments: {ratios:?}");
        }
    }
    assert_eq!(left.iter().sum::<u64>(), 50);
}

#[test]
fn free_space_falls_back_to_the_roomiest() {
    let candidates = sized(&[("/a", 10), ("/b", 500), ("/c", 90), ("/d", 0)]);
    for number in 0..50 {
        let order = paths(Placement::FreeSpace, number, &candidates);
        let rest: Vec<_> =
            ["/b", "/c", "/a", "/d"].into_iter().filter(|&path| path != order[0]).collect();
        assert_ne!(order[0], "/d", "a full disk is never the choice");
        assert_eq!(order[1..], rest);
    }
}

#[test]
fn free_space_survives_any_sizes() {
    let rows: [&[u64]; 4] = [&[0, 0, 0], &[u64::MAX; 3], &[u64::MAX, 0, 1], &[1, 0, 0]];
    for sizes in rows {
        let names = ["/a", "/b", "/c"];
        let candidates = sized(&names.into_iter().zip(sizes.iter().copied()).collect::<Vec<_>>());
        let shares = shares(Placement::FreeSpace, 300, &candidates);
        assert_eq!(shares.iter().sum::<u64>(), 300);
        let even = sizes.iter().all(|&size| size == sizes[0]);
        assert!(!even || shares.iter().all(|share| share.abs_diff(100) <= 2), "{shares:?}");
    }
}

#[test]
fn hash_is_even_and_ignores_sizes_and_paths() {
    let candidates = sized(&[("/a", 1), ("/b", 1 << 50), ("/c", 0), ("/d", 7)]);
    let shares = shares(Placement::Hash, 4000, &candidates);
    assert!(shares.iter().all(|share| share.abs_diff(1000) <= 120), "{shares:?}");
    let mut moved = candidates.clone();
    moved.iter_mut().for_each(|candidate| candidate.path = "/elsewhere");
    for number in 0..100 {
        assert_eq!(
            order(Placement::Hash, number, &candidates),
            order(Placement::Hash, number, &moved)
        );
    }
}

#[test]
fn hash_moves_only_what_goes_to_a_new_directory() {
    let before = equal(&["/a", "/b", "/c", "/d"]);
    let after = equal(&["/a", "/b", "/c", "/d", "/e"]);
    let mut moved = 0_u64;
    for number in 0..5000 {
        let (old, new) =
            (order(Placement::Hash, number, &before)[0], order(Placement::Hash, number, &after)[0]);
        assert!(old == new || new == 4, "segment {number} moved between old directories");
        moved += u64::from(old != new);
    }
    assert!(moved.abs_diff(1000) <= 120, "{moved} of 5000 moved to the fifth directory");
}
