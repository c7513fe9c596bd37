//! Where every field of every plain structure lies: numbers that never change, asserted by the C
//! compiler too (`tests/c/layout.c`; `BLESS=1` writes it anew). There is no padding anywhere, so
//! no field is left out here.
#![allow(clippy::disallowed_methods, reason = "a test reads and writes files")]

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};

use crate::append::spanlog_receipt;
use crate::batch::spanlog_batch_info;
use crate::cursor::{spanlog_cursor_options, spanlog_lag, spanlog_seek};
use crate::cursors::{spanlog_cursor_info, spanlog_cursor_queue};
use crate::delivery::{spanlog_delivered, spanlog_failure, spanlog_overtaken};
use crate::list::{
    spanlog_disk, spanlog_dropped, spanlog_fate, spanlog_finding, spanlog_queue_info,
    spanlog_range, spanlog_segment,
};
use crate::lookup::spanlog_query_options;
use crate::message::{spanlog_message, spanlog_message_view, spanlog_property};
use crate::options::{spanlog_directory_options, spanlog_options, spanlog_thresholds};
use crate::output::spanlog_bytes;
use crate::queue::{spanlog_queue_figures, spanlog_queue_verdict, spanlog_reader_info};
use crate::queue_options::spanlog_queue_options;
use crate::read::{spanlog_bounds, spanlog_read_options};
use crate::reader::spanlog_record;
use crate::repair::{spanlog_action, spanlog_saved};
use crate::report::{spanlog_recovery, spanlog_stats, spanlog_watermarks};
use crate::verify::{spanlog_progress, spanlog_verdict};

/// A structure: its name, its size, and where its fields lie.
struct Layout {
    name: &'static str,
    size: usize,
    fields: Vec<(&'static str, usize, usize)>,
}

fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! layouts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        vec![$(Layout {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((
                stringify!($field),
                offset_of!($name, $field),
                size_of_field(|structure: &$name| &structure.$field),
            )),*],
        }),*]
    };
}

fn layouts() -> Vec<Layout> {
    layouts! {
        spanlog_bytes { data, len }
        spanlog_property { name, value }
        spanlog_message {
            struct_size, topic, body, body_len, tags, keys, key_count, properties, property_count,
            born_host, born_ms, prepared_position, queue, flag, sys_flag, reconsume_times,
            reserved, reserved2,
        }
        spanlog_message_view {
            topic, body, tags, keys, unique_id, record, queue_offset, position, prepared_position,
            born_ms, store_ms, queue, flag, sys_flag, reconsume_times,
        }
        spanlog_receipt { position, queue_offset, end, store_ms }
        spanlog_thresholds { struct_size, clean, force, refuse, hysteresis, floor_bytes }
        spanlog_directory_options { struct_size, path, thresholds, role, reserved }
        spanlog_options {
            struct_size, directories, directory_count, thresholds, delete_hours, store_host,
            segment_len_bytes, queue_file_len_bytes, flush_interval_ms, flush_bytes, retention_ms,
            clean_pause_ms, probe_interval_ms, clean_interval_ms, checkpoint_interval_ms,
            max_body_bytes, prepare_bytes, max_maps, max_forced_per_round, placement, durability,
            clean_on, force_on, refuse_on, on_damage, forced_clean, refuse_reads_when_full,
            record_checksum, allow_offline, adopt, read_only, create, background, key_index,
            index_slots, index_entries,
        }
        spanlog_read_options { struct_size, max_messages, max_bytes, verify, reserved }
        spanlog_batch_info {
            struct_size, count, next, min, max, needed_bytes, status, reserved,
        }
        spanlog_query_options { struct_size, from_ms, to_ms, max_messages, kind, reserved }
        spanlog_bounds { min, max }
        spanlog_watermarks { start, flushed, indexed, appended }
        spanlog_stats {
            struct_size, watermarks, segment_len_bytes, directories, segments, queues, maps,
            refused, poisoned,
        }
        spanlog_recovery {
            struct_size, scanned_from, end, records, salvaged_records, ignored_files, was_clean,
            rebuilt_queues,
        }
        spanlog_disk {
            struct_size, path, offline, device, used_bytes, available_bytes, segments,
            segment_bytes, used_ratio, clean, force, refuse, hysteresis, floor_bytes, role,
            pressure, takes_segments, has_usage,
        }
        spanlog_segment { struct_size, path, base, len_bytes, last_store_ms, held, dropped }
        spanlog_queue_info { struct_size, topic, min, max, queue, reserved }
        spanlog_fate { struct_size, text, base, len_bytes, reason, drops }
        spanlog_dropped { struct_size, path, reason, base, at_ms }
        spanlog_finding {
            struct_size, path, text, offset, len_bytes, from, to, kind, is_damage,
        }
        spanlog_progress { done, total, part, reserved }
        spanlog_verdict {
            struct_size, records, from, to, findings, more_findings, is_sound, was_closed,
        }
        spanlog_range { struct_size, path, reason, from, to, kind, reserved }
    }
}

/// Those of cursors, queue mode and repair.
fn later_layouts() -> Vec<Layout> {
    layouts! {
        spanlog_cursor_options {
            struct_size, queues, queue_count, visibility_ms, max_pending, hold_age_ms, hold_bytes,
            from_end, reserved,
        }
        spanlog_seek { struct_size, offset, time_ms, queue, kind }
        spanlog_lag { struct_size, messages, bytes, age_ms, has_age, reserved }
        spanlog_cursor_info {
            struct_size, topic, name, damage, hold_age_ms, hold_bytes, queues, lag_messages,
            lag_bytes, lag_age_ms, is_open, reserved,
        }
        spanlog_cursor_queue {
            struct_size, acknowledged, committed, next, min, max, lag_messages, lag_bytes,
            lag_age_ms, queue, reserved,
        }
        spanlog_delivered { message, attempt, reserved }
        spanlog_overtaken { from, to, queue, reserved }
        spanlog_failure { text, path, offset, queue, status }
        spanlog_queue_options {
            struct_size, directories, directory_count, thresholds, segment_len_bytes,
            capacity_segments, capacity_bytes, max_record_bytes, max_in_memory_segments, block_ms,
            flush_interval_ms, flush_records, probe_interval_ms, placement, on_full, durability,
            create, background, reserved,
        }
        spanlog_queue_figures {
            struct_size, start, end, flushed, pushed, records, bytes, dropped, segment_len_bytes,
            capacity_segments, segments, mapped_segments, found_records, was_clean, was_meta_lost,
        }
        spanlog_reader_info { struct_size, name, committed, reading, records, unread_bytes }
        spanlog_queue_verdict { struct_size, records, payload_bytes, damaged }
        spanlog_record { payload, position, end, number }
        spanlog_action { struct_size, text, path, from, to, kind, reserved }
        spanlog_saved { struct_size, path }
    }
}

#[test]
fn no_structure_has_padding() {
    for Layout { name, size, fields } in layouts().into_iter().chain(later_layouts()) {
        let mut end = 0;
        for (field, offset, bytes) in fields {
            assert_eq!(offset, end, "{name}.{field}");
            end += bytes;
        }
        assert_eq!(size, end, "{name}: a field is missing here, or there is padding");
    }
}

#[test]
fn the_c_compiler_asserts_the_same_layout() {
    let mut made = "/* Where every field lies, as the library sees it. Made by \
                    ffi/src/layout_tests.rs; do not edit it. */\n#include <spanlog.h>\n\n\
                    #define AT(structure, field, offset) \\\n    _Static_assert(\
                    offsetof(structure, field) == (offset), #structure \".\" #field)\n\
                    #define SIZE(structure, size) \
                    _Static_assert(sizeof(structure) == (size), #structure)\n"
        .to_owned();
    for Layout { name, size, fields } in layouts().into_iter().chain(later_layouts()) {
        writeln!(made, "\nSIZE({name}, {size});").expect("a string");
        for (field, offset, _) in fields {
            writeln!(made, "AT({name}, {field}, {offset});").expect("a string");
        }
    }
    made += "\nint main(void) { return 0; }\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/c/layout.c");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &made).expect("it can be written");
    }
    assert!(std::fs::read_to_string(path).unwrap_or_default() == made, "BLESS=1 writes layout.c");
}
