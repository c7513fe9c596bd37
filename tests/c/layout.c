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

SIZE(spanlog_options, 216);
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
AT(spanlog_options, key_index, 204);
AT(spanlog_options, index_slots, 208);
AT(spanlog_options, index_entries, 212);

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

SIZE(spanlog_cursor_options, 64);
AT(spanlog_cursor_options, struct_size, 0);
AT(spanlog_cursor_options, queues, 8);
AT(spanlog_cursor_options, queue_count, 16);
AT(spanlog_cursor_options, visibility_ms, 24);
AT(spanlog_cursor_options, max_pending, 32);
AT(spanlog_cursor_options, hold_age_ms, 40);
AT(spanlog_cursor_options, hold_bytes, 48);
AT(spanlog_cursor_options, from_end, 56);
AT(spanlog_cursor_options, reserved, 60);

SIZE(spanlog_seek, 32);
AT(spanlog_seek, struct_size, 0);
AT(spanlog_seek, offset, 8);
AT(spanlog_seek, time_ms, 16);
AT(spanlog_seek, queue, 24);
AT(spanlog_seek, kind, 28);

SIZE(spanlog_lag, 40);
AT(spanlog_lag, struct_size, 0);
AT(spanlog_lag, messages, 8);
AT(spanlog_lag, bytes, 16);
AT(spanlog_lag, age_ms, 24);
AT(spanlog_lag, has_age, 32);
AT(spanlog_lag, reserved, 36);

SIZE(spanlog_cursor_info, 88);
AT(spanlog_cursor_info, struct_size, 0);
AT(spanlog_cursor_info, topic, 8);
AT(spanlog_cursor_info, name, 16);
AT(spanlog_cursor_info, damage, 24);
AT(spanlog_cursor_info, hold_age_ms, 32);
AT(spanlog_cursor_info, hold_bytes, 40);
AT(spanlog_cursor_info, queues, 48);
AT(spanlog_cursor_info, lag_messages, 56);
AT(spanlog_cursor_info, lag_bytes, 64);
AT(spanlog_cursor_info, lag_age_ms, 72);
AT(spanlog_cursor_info, is_open, 80);
AT(spanlog_cursor_info, reserved, 84);

SIZE(spanlog_cursor_queue, 80);
AT(spanlog_cursor_queue, struct_size, 0);
AT(spanlog_cursor_queue, acknowledged, 8);
AT(spanlog_cursor_queue, committed, 16);
AT(spanlog_cursor_queue, next, 24);
AT(spanlog_cursor_queue, min, 32);
AT(spanlog_cursor_queue, max, 40);
AT(spanlog_cursor_queue, lag_messages, 48);
AT(spanlog_cursor_queue, lag_bytes, 56);
AT(spanlog_cursor_queue, lag_age_ms, 64);
AT(spanlog_cursor_queue, queue, 72);
AT(spanlog_cursor_queue, reserved, 76);

SIZE(spanlog_delivered, 160);
AT(spanlog_delivered, message, 0);
AT(spanlog_delivered, attempt, 152);
AT(spanlog_delivered, reserved, 156);

SIZE(spanlog_overtaken, 24);
AT(spanlog_overtaken, from, 0);
AT(spanlog_overtaken, to, 8);
AT(spanlog_overtaken, queue, 16);
AT(spanlog_overtaken, reserved, 20);

SIZE(spanlog_failure, 32);
AT(spanlog_failure, text, 0);
AT(spanlog_failure, path, 8);
AT(spanlog_failure, offset, 16);
AT(spanlog_failure, queue, 24);
AT(spanlog_failure, status, 28);

SIZE(spanlog_queue_options, 128);
AT(spanlog_queue_options, struct_size, 0);
AT(spanlog_queue_options, directories, 8);
AT(spanlog_queue_options, directory_count, 16);
AT(spanlog_queue_options, thresholds, 24);
AT(spanlog_queue_options, segment_len_bytes, 32);
AT(spanlog_queue_options, capacity_segments, 40);
AT(spanlog_queue_options, capacity_bytes, 48);
AT(spanlog_queue_options, max_record_bytes, 56);
AT(spanlog_queue_options, max_in_memory_segments, 64);
AT(spanlog_queue_options, block_ms, 72);
AT(spanlog_queue_options, flush_interval_ms, 80);
AT(spanlog_queue_options, flush_records, 88);
AT(spanlog_queue_options, probe_interval_ms, 96);
AT(spanlog_queue_options, placement, 104);
AT(spanlog_queue_options, on_full, 108);
AT(spanlog_queue_options, durability, 112);
AT(spanlog_queue_options, create, 116);
AT(spanlog_queue_options, background, 120);
AT(spanlog_queue_options, reserved, 124);

SIZE(spanlog_queue_figures, 112);
AT(spanlog_queue_figures, struct_size, 0);
AT(spanlog_queue_figures, start, 8);
AT(spanlog_queue_figures, end, 16);
AT(spanlog_queue_figures, flushed, 24);
AT(spanlog_queue_figures, pushed, 32);
AT(spanlog_queue_figures, records, 40);
AT(spanlog_queue_figures, bytes, 48);
AT(spanlog_queue_figures, dropped, 56);
AT(spanlog_queue_figures, segment_len_bytes, 64);
AT(spanlog_queue_figures, capacity_segments, 72);
AT(spanlog_queue_figures, segments, 80);
AT(spanlog_queue_figures, mapped_segments, 88);
AT(spanlog_queue_figures, found_records, 96);
AT(spanlog_queue_figures, was_clean, 104);
AT(spanlog_queue_figures, was_meta_lost, 108);

SIZE(spanlog_reader_info, 48);
AT(spanlog_reader_info, struct_size, 0);
AT(spanlog_reader_info, name, 8);
AT(spanlog_reader_info, committed, 16);
AT(spanlog_reader_info, reading, 24);
AT(spanlog_reader_info, records, 32);
AT(spanlog_reader_info, unread_bytes, 40);

SIZE(spanlog_queue_verdict, 32);
AT(spanlog_queue_verdict, struct_size, 0);
AT(spanlog_queue_verdict, records, 8);
AT(spanlog_queue_verdict, payload_bytes, 16);
AT(spanlog_queue_verdict, damaged, 24);

SIZE(spanlog_record, 40);
AT(spanlog_record, payload, 0);
AT(spanlog_record, position, 16);
AT(spanlog_record, end, 24);
AT(spanlog_record, number, 32);

SIZE(spanlog_action, 48);
AT(spanlog_action, struct_size, 0);
AT(spanlog_action, text, 8);
AT(spanlog_action, path, 16);
AT(spanlog_action, from, 24);
AT(spanlog_action, to, 32);
AT(spanlog_action, kind, 40);
AT(spanlog_action, reserved, 44);

SIZE(spanlog_saved, 16);
AT(spanlog_saved, struct_size, 0);
AT(spanlog_saved, path, 8);

int main(void) { return 0; }
