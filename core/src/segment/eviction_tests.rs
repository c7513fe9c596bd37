use std::collections::BTreeSet;

use super::*;

fn scopes(committed: u64, reading: &[u64], writing: u64, max: u64) -> Scopes {
    Scopes { committed, reading: reading.to_vec(), writing, max }
}

/// The maps of a queue by the rule alone: what is wanted is mapped, and when there are as many as
/// there may be, some go first.
struct Model {
    mapped: BTreeSet<u64>,
    peak: usize,
}

impl Model {
    fn new() -> Self {
        Self { mapped: BTreeSet::new(), peak: 0 }
    }

    /// Maps `number`; what is in `held` stays. Says whether there was room.
    fn want(&mut self, number: u64, scopes: &Scopes, held: &[u64]) -> bool {
        if !self.mapped.contains(&number) && self.mapped.len() as u64 >= scopes.max {
            self.make_room(scopes, held);
        }
        if !self.mapped.contains(&number) && self.mapped.len() as u64 >= scopes.max {
            return false;
        }
        self.mapped.insert(number);
        self.peak = self.peak.max(self.mapped.len());
        true
    }

    fn make_room(&mut self, scopes: &Scopes, held: &[u64]) {
        let mut order: Vec<u64> = self.mapped.iter().copied().collect();
        order.sort_by_key(|&number| scopes.rank(number));
        for number in order {
            let least =
                if scopes.rank(number) == Rank::Near { scopes.max - 1 } else { scopes.keep() };
            if self.mapped.len() as u64 <= least {
                break;
            }
            if !held.contains(&number) {
                self.mapped.remove(&number);
            }
        }
    }
}

/// The golden trace: segments of 4096 bytes, eight maps, twenty records of 2200 bytes, no reader.
/// The original went to 5 where 8 fit, and left segments mapped that nobody would look at again.
#[test]
fn the_golden_trace() {
    let mut model = Model::new();
    let mut trace = Vec::new();
    for record in 1..=20_u64 {
        let last = (record * 2216 - 1) / 4096;
        for number in (record - 1) * 2216 / 4096..=last {
            assert!(model.want(number, &scopes(0, &[], number, 8), &[number]));
        }
        trace.push(model.mapped.len());
    }
    assert_eq!(trace, [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8, 6, 6, 7, 7, 8, 8]);
}

/// Records of several segments, a writer far ahead: the original looped for ever, since it never
/// gave up the middle segments of a record. Here it ends, with as many maps as there may be.
#[test]
fn long_records_behind_a_far_writer_come_to_an_end() {
    for max in [4, 6, 8, 10] {
        for len in [1, 2, 3, 6, 12] {
            let mut model = Model::new();
            let (mut reading, mut writing) = (0, 0);
            let mut step = |model: &mut Model, reads: bool, writes: bool| {
                for _ in 0..if writes { len } else { 0 } {
                    let now = scopes(reading, &[reading], writing, max);
                    assert!(model.want(writing, &now, &[writing, reading]), "{max} maps, {len}");
                    writing += 1;
                }
                for _ in 0..if reads { len } else { 0 } {
                    let now = scopes(reading, &[reading], writing, max);
                    assert!(model.want(reading, &now, &[reading, writing]), "{max} maps, {len}");
                    reading += 1;
                }
            };
            (0..40).for_each(|_| step(&mut model, false, true));
            (0..10).for_each(|_| step(&mut model, true, false));
            (0..30).for_each(|_| step(&mut model, true, true));
            assert_eq!(model.peak as u64, max, "{max} maps, records of {len} segments");
        }
    }
}

/// The original gave up maps also when the wanted segment had one.
#[test]
fn a_hit_evicts_nothing() {
    let mut model = Model::new();
    let now = scopes(0, &[], 4, 4);
    (0..4).for_each(|number| assert!(model.want(number, &now, &[])));
    let before = model.mapped.clone();
    assert!(model.want(2, &now, &[]));
    assert_eq!(model.mapped, before);
}

/// The original waited for ever where every map was in use.
#[test]
fn where_everything_is_held_there_is_no_room_and_no_waiting() {
    let mut model = Model::new();
    let now = scopes(0, &[0, 1, 2], 3, 4);
    (0..4).for_each(|number| assert!(model.want(number, &now, &[])));
    assert!(!model.want(9, &now, &[0, 1, 2, 3]));
}

/// The original shut out what was read before long, and looked only behind the writer.
#[test]
fn what_was_read_goes_first_then_the_newest_written_then_the_farthest() {
    let now = scopes(20, &[20, 30], 90, 8);
    let mut all: Vec<u64> = vec![19, 12, 20, 21, 30, 31, 40, 60, 82, 89, 90, 11];
    all.sort_by_key(|&number| now.rank(number));
    assert_eq!(all[..4], [12, 19, 89, 82]);
    assert_eq!(all[4..7], [60, 40, 11]);
    assert!(all[7..].iter().all(|&number| now.rank(number) == Rank::Near), "{all:?}");
}

#[test]
fn one_pass_frees_nearly_half_and_at_least_one() {
    for (max, keep) in [(4, 3), (5, 4), (6, 4), (8, 5), (10, 6), (64, 33)] {
        assert_eq!(scopes(0, &[], 0, max).keep(), keep, "{max}");
    }
}
