/* Where every field lies, as the library sees it. Made by ffi/src/layout_tests.rs; do not edit it. */
#include <spanlog.h>

#define AT(structure, field, offset) \
    _Static_assert(offsetof(structure, field) == (offset), #structure "." #field)
#define SIZE(structure, size) _Static_assert(sizeof(structure) == (size), #structure)

SIZE(spanlog_bytes, 16);
AT(spanlog_bytes, data, 0);
AT(spanlog_bytes, len, 8);

SIZE(spanlog_property, 16);
AT(spanlog_property, name, 0);
AT(spanlog_property, value, 8);

SIZE(spanlog_message, 120);
AT(spanlog_message, struct_size, 0);
AT(spanlog_message, topic, 8);
AT(spanlog_message, body, 16);
AT(spanlog_message, body_len, 24);
AT(spanlog_message, tags, 32);
AT(spanlog_message, keys, 40);
AT(spanlog_message, key_count, 48);
AT(spanlog_message, properties, 56);
AT(spanlog_message, property_count, 64);
AT(spanlog_message, born_host, 72);
AT(spanlog_message, born_ms, 80);
AT(spanlog_message, prepared_position, 88);
AT(spanlog_message, queue, 96);
AT(spanlog_message, flag, 100);
AT(spanlog_message, sys_flag, 104);
AT(spanlog_message, reconsume_times, 108);
AT(spanlog_message, reserved, 112);
AT(spanlog_message, reserved2, 116);

SIZE(spanlog_message_view, 152);
AT(spanlog_message_view, topic, 0);
AT(spanlog_message_view, body, 16);
AT(spanlog_message_view, tags, 32);
AT(spanlog_message_view, keys, 48);
AT(spanlog_message_view, unique_id, 64);
AT(spanlog_message_view, record, 80);
AT(spanlog_message_view, queue_offset, 96);
AT(spanlog_message_view, position, 104);
AT(spanlog_message_view, prepared_position, 112);
AT(spanlog_message_view, born_ms, 120);
AT(spanlog_message_view, store_ms, 128);
AT(spanlog_message_view, queue, 136);
AT(spanlog_message_view, flag, 140);
AT(spanlog_message_view, sys_flag, 144);
AT(spanlog_message_view, reconsume_times, 148);

SIZE(spanlog_receipt, 32);
AT(spanlog_receipt, position, 0);
AT(spanlog_receipt, queue_offset, 8);
AT(spanlog_receipt, end, 16);
AT(spanlog_receipt, store_ms, 24);

SIZE(spanlog_thresholds, 48);
AT(spanlog_thresholds, struct_size, 0);
AT(spanlog_thresholds, clean, 8);
AT(spanlog_thresholds, force, 16);
AT(spanlog_thresholds, refuse, 24);
AT(spanlog_thresholds, hysteresis, 32);
AT(spanlog_thresholds, floor_bytes, 40);

SIZE(spanlog_directory_options, 32);
AT(spanlog_directory_options, struct_size, 0);
AT(spanlog_directory_options, path, 8);
AT(spanlog_directory_options, thresholds, 16);
AT(spanlog_directory_options, role, 24);
AT(spanlog_directory_options, reserved, 28);

SIZE(spanlog_options, 208);
AT(spanlog_options, struct_size, 0);
AT(spanlog_options, directories, 8);
AT(spanlog_options, directory_count, 16);
AT(spanlog_options, thresholds, 24);
AT(spanlog_options, delete_hours, 32);
AT(spanlog_options, store_host, 40);
AT(spanlog_options, segment_len_bytes, 48);
AT(spanlog_options, queue_file_len_bytes, 56);
AT(spanlog_options, flush_interval_ms, 64);
AT(spanlog_options, flush_bytes, 72);
AT(spanlog_options, retention_ms, 80);
AT(spanlog_options, clean_pause_ms, 88);
AT(spanlog_options, probe_interval_ms, 96);
AT(spanlog_options, clean_interval_ms, 104);
AT(spanlog_options, checkpoint_interval_ms, 112);
AT(spanlog_options, max_body_bytes, 120);
AT(spanlog_options, prepare_bytes, 128);
AT(spanlog_options, max_maps, 136);
AT(spanlog_options, max_forced_per_round, 144);
AT(spanlog_options, placement, 148);
AT(spanlog_options, durability, 152);
AT(spanlog_options, clean_on, 156);
AT(spanlog_options, force_on, 160);
AT(spanlog_options, refuse_on, 164);
AT(spanlog_options, on_damage, 168);
AT(spanlog_options, forced_clean, 172);
AT(spanlog_options, refuse_reads_when_full, 176);
AT(spanlog_options, record_checksum, 180);
AT(spanlog_options, allow_offline, 184);
AT(spanlog_options, adopt, 188);
AT(spanlog_options, read_only, 192);
AT(spanlog_options, create, 196);
AT(spanlog_options, background, 200);
AT(spanlog_options, reserved, 204);

SIZE(spanlog_read_options, 32);
AT(spanlog_read_options, struct_size, 0);
AT(spanlog_read_options, max_messages, 8);
AT(spanlog_read_options, max_bytes, 16);
AT(spanlog_read_options, verify, 24);
AT(spanlog_read_options, reserved, 28);

SIZE(spanlog_batch_info, 56);
AT(spanlog_batch_info, struct_size, 0);
AT(spanlog_batch_info, count, 8);
AT(spanlog_batch_info, next, 16);
AT(spanlog_batch_info, min, 24);
AT(spanlog_batch_info, max, 32);
AT(spanlog_batch_info, needed_bytes, 40);
AT(spanlog_batch_info, status, 48);
AT(spanlog_batch_info, reserved, 52);

SIZE(spanlog_query_options, 40);
AT(spanlog_query_options, struct_size, 0);
AT(spanlog_query_options, from_ms, 8);
AT(spanlog_query_options, to_ms, 16);
AT(spanlog_query_options, max_messages, 24);
AT(spanlog_query_options, kind, 32);
AT(spanlog_query_options, reserved, 36);

SIZE(spanlog_bounds, 16);
AT(spanlog_bounds, min, 0);
AT(spanlog_bounds, max, 8);

SIZE(spanlog_watermarks, 32);
AT(spanlog_watermarks, start, 0);
AT(spanlog_watermarks, flushed, 8);
AT(spanlog_watermarks, indexed, 16);
AT(spanlog_watermarks, appended, 24);

SIZE(spanlog_stats, 88);
AT(spanlog_stats, struct_size, 0);
AT(spanlog_stats, watermarks, 8);
AT(spanlog_stats, segment_len_bytes, 40);
AT(spanlog_stats, directories, 48);
AT(spanlog_stats, segments, 56);
AT(spanlog_stats, queues, 64);
AT(spanlog_stats, maps, 72);
AT(spanlog_stats, refused, 80);
AT(spanlog_stats, poisoned, 84);

SIZE(spanlog_recovery, 56);
AT(spanlog_recovery, struct_size, 0);
AT(spanlog_recovery, scanned_from, 8);
AT(spanlog_recovery, end, 16);
AT(spanlog_recovery, records, 24);
AT(spanlog_recovery, salvaged_records, 32);
AT(spanlog_recovery, ignored_files, 40);
AT(spanlog_recovery, was_clean, 48);
AT(spanlog_recovery, rebuilt_queues, 52);

SIZE(spanlog_disk, 128);
AT(spanlog_disk, struct_size, 0);
AT(spanlog_disk, path, 8);
AT(spanlog_disk, offline, 16);
AT(spanlog_disk, device, 24);
AT(spanlog_disk, used_bytes, 32);
AT(spanlog_disk, available_bytes, 40);
AT(spanlog_disk, segments, 48);
AT(spanlog_disk, segment_bytes, 56);
AT(spanlog_disk, used_ratio, 64);
AT(spanlog_disk, clean, 72);
AT(spanlog_disk, force, 80);
AT(spanlog_disk, refuse, 88);
AT(spanlog_disk, hysteresis, 96);
AT(spanlog_disk, floor_bytes, 104);
AT(spanlog_disk, role, 112);
AT(spanlog_disk, pressure, 116);
AT(spanlog_disk, takes_segments, 120);
AT(spanlog_disk, has_usage, 124);

SIZE(spanlog_segment, 48);
AT(spanlog_segment, struct_size, 0);
AT(spanlog_segment, path, 8);
AT(spanlog_segment, base, 16);
AT(spanlog_segment, len_bytes, 24);
AT(spanlog_segment, last_store_ms, 32);
AT(spanlog_segment, held, 40);
AT(spanlog_segment, dropped, 44);

SIZE(spanlog_queue_info, 40);
AT(spanlog_queue_info, struct_size, 0);
AT(spanlog_queue_info, topic, 8);
AT(spanlog_queue_info, min, 16);
AT(spanlog_queue_info, max, 24);
AT(spanlog_queue_info, queue, 32);
AT(spanlog_queue_info, reserved, 36);

SIZE(spanlog_fate, 40);
AT(spanlog_fate, struct_size, 0);
AT(spanlog_fate, text, 8);
AT(spanlog_fate, base, 16);
AT(spanlog_fate, len_bytes, 24);
AT(spanlog_fate, reason, 32);
AT(spanlog_fate, drops, 36);

SIZE(spanlog_dropped, 40);
AT(spanlog_dropped, struct_size, 0);
AT(spanlog_dropped, path, 8);
AT(spanlog_dropped, reason, 16);
AT(spanlog_dropped, base, 24);
AT(spanlog_dropped, at_ms, 32);

SIZE(spanlog_finding, 64);
AT(spanlog_finding, struct_size, 0);
AT(spanlog_finding, path, 8);
AT(spanlog_finding, text, 16);
AT(spanlog_finding, offset, 24);
AT(spanlog_finding, len_bytes, 32);
AT(spanlog_finding, from, 40);
AT(spanlog_finding, to, 48);
AT(spanlog_finding, kind, 56);
AT(spanlog_finding, is_damage, 60);

SIZE(spanlog_progress, 24);
AT(spanlog_progress, done, 0);
AT(spanlog_progress, total, 8);
AT(spanlog_progress, part, 16);
AT(spanlog_progress, reserved, 20);

SIZE(spanlog_verdict, 56);
AT(spanlog_verdict, struct_size, 0);
AT(spanlog_verdict, records, 8);
AT(spanlog_verdict, from, 16);
AT(spanlog_verdict, to, 24);
AT(spanlog_verdict, findings, 32);
AT(spanlog_verdict, more_findings, 40);
AT(spanlog_verdict, is_sound, 48);
AT(spanlog_verdict, was_closed, 52);

SIZE(spanlog_range, 48);
AT(spanlog_range, struct_size, 0);
AT(spanlog_range, path, 8);
AT(spanlog_range, reason, 16);
AT(spanlog_range, from, 24);
AT(spanlog_range, to, 32);
AT(spanlog_range, kind, 40);
AT(spanlog_range, reserved, 44);

int main(void) { return 0; }
