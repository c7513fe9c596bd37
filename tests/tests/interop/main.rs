//! spanlog and RocketMQ's own store on the same directories: each reads what the other wrote,
//! closed in order or not, and they write in turns. RocketMQ runs as a child process
//! ([`spanlog_tests::oracle`]); where it is not built the tests are skipped.

mod answers;
mod lookups;
mod mended;
mod ours;
mod theirs;
mod turns;
mod world;
