//! The identifiers of messages whose producer gave none.
//!
//! The form is RocketMQ's `UNIQ_KEY` (its `MessageClientIDSetter`): 16 bytes as 32 upper-case
//! hexadecimal digits, namely the host's address (4), the low half of the process number (2), a
//! number that tells processes apart (4), the ms since the month began (4) and a counter (2).

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identifier of one message: 32 upper-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueId(pub(super) [u8; 32]);

impl UniqueId {
    /// The digits.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digits as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }
}

impl fmt::Display for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Makes identifiers, never the same twice. Any number of threads may share one.
#[derive(Debug)]
pub struct UniqueIds {
    /// Address and process number, as digits.
    process: [u8; 12],
    seed: u32,
    /// The next identifier's time in ms, times 2^16, plus its counter. It only grows: when a ms
    /// runs out of counters, or the clock stands still or steps back, it runs ahead of the clock.
    next: AtomicU64,
    /// The month of the latest identifier that fell into another one: the day it began, since
    /// 1970, and in the lower half its number.
    month: AtomicU64,
}

const COUNTER_BITS: u32 = 16;
/// Some 4,400 years; later times count as this one.
const MAX_MS: i64 = 1 << 47;
const DAY_MS: u64 = 86_400_000;
const SHORTEST_MONTH_MS: u64 = 28 * DAY_MS;

impl UniqueIds {
    /// A source of identifiers. `seed` tells apart processes that share an address and a process
    /// number, so it should be random; `now_ms` is the time in ms since 1970.
    #[must_use]
    pub fn new(host: IpAddr, pid: u32, seed: u32, now_ms: i64) -> Self {
        let address = match host {
            IpAddr::V4(v4) => v4.to_bits(),
            // The 32 digits have no room for 16 bytes; the seed tells hosts apart as well.
            IpAddr::V6(v6) => {
                (0..4).fold(0, |sum, word| sum ^ (v6.to_bits() >> (32 * word)) as u32)
            }
        };
        let mut process = [0; 12];
        put_hex(&mut process, 0, &address.to_be_bytes());
        put_hex(&mut process, 8, &(pid as u16).to_be_bytes());
        Self { process, seed, next: AtomicU64::new(floor(now_ms)), month: AtomicU64::new(0) }
    }

    /// The next identifier, at `now_ms` since 1970.
    #[must_use]
    pub fn next(&self, now_ms: i64) -> UniqueId {
        let floor = floor(now_ms);
        if self.next.load(Ordering::Relaxed) < floor {
            self.next.fetch_max(floor, Ordering::Relaxed);
        }
        let serial = self.next.fetch_add(1, Ordering::Relaxed);
        let (month, month_ms) = self.month_of(serial >> COUNTER_BITS);
        let mut digits = [0; 32];
        digits[..12].copy_from_slice(&self.process);
        // The time begins anew with every month: adding the month keeps a long run unique.
        put_hex(&mut digits, 12, &self.seed.wrapping_add(month).to_be_bytes());
        put_hex(&mut digits, 20, &month_ms.to_be_bytes());
        put_hex(&mut digits, 28, &(serial as u16).to_be_bytes());
        UniqueId(digits)
    }

    /// As [`month_of`], which is asked only when a month begins, and in its last days.
    fn month_of(&self, ms: u64) -> (u32, u32) {
        let known = self.month.load(Ordering::Relaxed);
        let since = ms.wrapping_sub((known >> 32) * DAY_MS);
        if known > 0 && since < SHORTEST_MONTH_MS {
            return (known as u32, since as u32);
        }
        let (month, month_ms) = month_of(ms);
        let began = ms.saturating_sub(u64::from(month_ms)) / DAY_MS;
        self.month.store(began << 32 | u64::from(month), Ordering::Relaxed);
        (month, month_ms)
    }
}

/// The lowest serial number of a ms.
fn floor(now_ms: i64) -> u64 {
    (now_ms.clamp(0, MAX_MS) as u64) << COUNTER_BITS
}

/// The number of the month (in UTC, since March of year 0) and the ms since it began. Years are
/// counted from March, so that the leap day comes last (Hinnant's `civil_from_days`).
fn month_of(ms: u64) -> (u32, u32) {
    let days = ms / DAY_MS + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5;
    let number = (era * 400 + year) * 12 + month;
    (number as u32, (day_of_month * DAY_MS + ms % DAY_MS) as u32)
}

const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789ABCDEF";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

fn put_hex<const N: usize>(digits: &mut [u8], at: usize, bytes: &[u8; N]) {
    for (i, byte) in bytes.iter().enumerate() {
        digits[at + 2 * i..at + 2 * i + 2].copy_from_slice(&HEX[usize::from(*byte)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const NOVEMBER_15_2023: i64 = 1_700_000_000_000;

    fn ids(seed: u32, now_ms: i64) -> UniqueIds {
        UniqueIds::new(IpAddr::from([192, 168, 1, 10]), 0x1_1F9C, seed, now_ms)
    }

    #[test]
    fn form_is_rocketmqs() {
        let ids = ids(0, NOVEMBER_15_2023);
        let id = ids.next(NOVEMBER_15_2023);
        assert_eq!(&id.as_str()[..12], "C0A8010A1F9C");
        let month_ms = u32::from_str_radix(&id.as_str()[20..28], 16).unwrap();
        assert_eq!(month_ms, 13 * 86_400_000 + (22 * 3600 + 13 * 60 + 20) * 1000);
        assert_eq!(&id.as_str()[28..], "0000");
        assert_eq!(&ids.next(NOVEMBER_15_2023).as_str()[28..], "0001");
    }

    #[test]
    fn months_begin_where_the_calendar_says() {
        let rows = [
            (0, 0),
            (30 * DAY_MS, 30 * DAY_MS),
            (31 * DAY_MS, 0),
            (951_782_400_000, 28 * DAY_MS),
            (951_868_800_000, 0),
            (4_107_542_400_000, 0),
            (1_709_251_199_999, 29 * DAY_MS - 1),
        ];
        for (ms, month_ms) in rows {
            assert_eq!(u64::from(month_of(ms).1), month_ms, "{ms}");
        }
        let months = |ms| month_of(ms).0;
        assert_eq!(months(31 * DAY_MS), months(0) + 1);
        assert_eq!(months(365 * DAY_MS), months(0) + 12);
    }

    #[test]
    fn a_month_that_is_known_is_the_month_that_is_computed() {
        let ids = ids(7, 0);
        for ms in (0..400).flat_map(|day| [0, 1, DAY_MS - 1].map(|ms| day * DAY_MS + ms)) {
            let ms = [ms, MAX_MS as u64 - ms, 31 * DAY_MS + ms];
            assert_eq!(ms.map(|ms| ids.month_of(ms)), ms.map(month_of), "{ms:?}");
        }
    }

    #[test]
    fn unique_whatever_the_clock_does() {
        let ids = ids(7, 0);
        let clock = |i: i64| match i % 4 {
            0 => 5,
            1 => -3,
            2 => NOVEMBER_15_2023 + i / 1000,
            _ => 0,
        };
        let seen: HashSet<_> = (0..200_000).map(|i| ids.next(clock(i))).collect();
        assert_eq!(seen.len(), 200_000);
        assert_ne!(ids.next(i64::MAX), ids.next(i64::MAX));
    }

    #[test]
    fn same_time_of_another_month_and_another_seed_differ() {
        let one = ids(7, NOVEMBER_15_2023);
        let now = one.next(NOVEMBER_15_2023);
        let later = one.next(NOVEMBER_15_2023 + 30 * DAY_MS as i64);
        assert_eq!(now.as_str()[20..], later.as_str()[20..]);
        assert_ne!(now, later);
        assert_ne!(now, ids(8, NOVEMBER_15_2023).next(NOVEMBER_15_2023));
    }

    #[test]
    fn threads_share_one_source() {
        let ids = ids(1, 0);
        let batch = || (0..5_000).map(|_| ids.next(1)).collect::<Vec<_>>();
        let seen: HashSet<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(batch)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(seen.len(), 20_000);
    }

    #[test]
    fn six_is_folded_into_four() {
        let ids = UniqueIds::new("2001:db8::1".parse().unwrap(), 1, 0, 0);
        assert_eq!(&ids.next(0).as_str()[..12], "20010DB90001");
    }
}
