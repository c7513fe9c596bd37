/* Calls every function of spanlog.h with nothing, with freed handles, with handles of another
 * kind, and with good handles and nothing else. Made by ffi/tests/header.rs; do not edit it. */
#include "check.h"

enum { ANY_ERROR = 1000, ANYTHING = 1001 };

static spanlog_error *error;
static char buffer[64];
static int32_t int32_t_1;
static int64_t int64_t_1;
static size_t size_t_1;
static spanlog_batch *spanlog_batch_2;
static spanlog_batch_info spanlog_batch_info_1 = SPANLOG_BATCH_INFO_INIT;
static spanlog_bounds spanlog_bounds_1;
static spanlog_directory_options spanlog_directory_options_1 = SPANLOG_DIRECTORY_OPTIONS_INIT;
static spanlog_disk spanlog_disk_1 = SPANLOG_DISK_INIT;
static spanlog_dropped spanlog_dropped_1 = SPANLOG_DROPPED_INIT;
static spanlog_fate spanlog_fate_1 = SPANLOG_FATE_INIT;
static spanlog_finding spanlog_finding_1 = SPANLOG_FINDING_INIT;
static spanlog_list *spanlog_list_2;
static spanlog_message spanlog_message_1 = SPANLOG_MESSAGE_INIT;
static spanlog_message_view spanlog_message_view_1;
static spanlog_progress spanlog_progress_1;
static spanlog_query_options spanlog_query_options_1 = SPANLOG_QUERY_OPTIONS_INIT;
static spanlog_queue_info spanlog_queue_info_1 = SPANLOG_QUEUE_INFO_INIT;
static spanlog_range spanlog_range_1 = SPANLOG_RANGE_INIT;
static spanlog_read_options spanlog_read_options_1 = SPANLOG_READ_OPTIONS_INIT;
static spanlog_receipt spanlog_receipt_1;
static spanlog_recovery spanlog_recovery_1 = SPANLOG_RECOVERY_INIT;
static spanlog_segment spanlog_segment_1 = SPANLOG_SEGMENT_INIT;
static spanlog_stats spanlog_stats_1 = SPANLOG_STATS_INIT;
static spanlog_verdict spanlog_verdict_1 = SPANLOG_VERDICT_INIT;
static spanlog_verification *spanlog_verification_2;
static spanlog_watch *spanlog_watch_2;
static spanlog_watermarks spanlog_watermarks_1;
static uint64_t uint64_t_1;

/* A call is answered with the status, and with an error object if and only if it failed. */
static void answered(const char *name, spanlog_status status, int expected) {
    if ((expected == ANY_ERROR && status >= 0) ||
        (expected != ANY_ERROR && expected != ANYTHING && status != expected)) {
        FAIL("%s answered %s", name, spanlog_status_name(status));
    }
    CHECK((status < 0) == (error != NULL));
    CHECK(spanlog_error_code(error) == (status < 0 ? status : SPANLOG_STATUS_OK));
    spanlog_error_free(error);
    error = NULL;
}

static void with_nothing(void) {
    answered("spanlog_store_append", spanlog_store_append(NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_append_durable", spanlog_store_append_durable(NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_append_batch", spanlog_store_append_batch(NULL, NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_append_batch_durable", spanlog_store_append_batch_durable(NULL, NULL, 0, NULL, &error), ANY_ERROR);
    (void)spanlog_batch_messages(NULL, NULL);
    answered("spanlog_batch_get_info", spanlog_batch_get_info(NULL, NULL, &error), ANY_ERROR);
    spanlog_batch_free(NULL);
    answered("spanlog_message_property", spanlog_message_property(NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_message_property_at", spanlog_message_property_at(NULL, 0, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_add_directory", spanlog_store_add_directory(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_set_role", spanlog_store_set_role(NULL, NULL, 0, &error), ANY_ERROR);
    answered("spanlog_store_remove_directory", spanlog_store_remove_directory(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_set_usage", spanlog_store_set_usage(NULL, NULL, 0, 0, &error), ANY_ERROR);
    (void)spanlog_error_code(NULL);
    (void)spanlog_error_message(NULL);
    (void)spanlog_error_path(NULL);
    (void)spanlog_error_errno(NULL);
    (void)spanlog_error_offset(NULL, NULL);
    (void)spanlog_error_limit(NULL, NULL);
    (void)spanlog_error_range(NULL, NULL, NULL);
    (void)spanlog_error_is_retriable(NULL);
    (void)spanlog_error_is_fatal(NULL);
    spanlog_error_free(NULL);
    (void)spanlog_list_count(NULL);
    spanlog_list_free(NULL);
    answered("spanlog_list_disk", spanlog_list_disk(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_segment", spanlog_list_segment(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_queue", spanlog_list_queue(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_fate", spanlog_list_fate(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_dropped", spanlog_list_dropped(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_range", spanlog_list_range(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_list_finding", spanlog_list_finding(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_read_filtered", spanlog_store_read_filtered(NULL, NULL, 0, 0, NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_query", spanlog_store_query(NULL, NULL, NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_find_by_id", spanlog_store_find_by_id(NULL, NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_offset_at", spanlog_store_offset_at(NULL, NULL, 0, 0, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_read", spanlog_store_read(NULL, NULL, 0, 0, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_read_into", spanlog_store_read_into(NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_get", spanlog_store_get(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_bounds", spanlog_store_bounds(NULL, NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_watermarks", spanlog_store_watermarks(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_stats", spanlog_store_stats(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_recovery", spanlog_store_recovery(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_disks", spanlog_store_disks(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_segments", spanlog_store_segments(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_queues", spanlog_store_queues(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_plan_clean", spanlog_store_plan_clean(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_store_dropped", spanlog_store_dropped(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_ranges", spanlog_store_ranges(NULL, NULL, &error), ANY_ERROR);
    (void)spanlog_status_name(0);
    answered("spanlog_store_open", spanlog_store_open(NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_close", spanlog_store_close(NULL, &error), SPANLOG_STATUS_OK);
    answered("spanlog_store_destroy", spanlog_store_destroy(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_flush", spanlog_store_flush(NULL, &error), ANY_ERROR);
    answered("spanlog_store_catch_up", spanlog_store_catch_up(NULL, &error), ANY_ERROR);
    answered("spanlog_store_clean_now", spanlog_store_clean_now(NULL, &error), ANY_ERROR);
    answered("spanlog_store_run", spanlog_store_run(NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_verification_open", spanlog_verification_open(NULL, NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_store_verify", spanlog_store_verify(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_verification_step", spanlog_verification_step(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_verification_verdict", spanlog_verification_verdict(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_verification_findings", spanlog_verification_findings(NULL, NULL, &error), ANY_ERROR);
    spanlog_verification_free(NULL);
    (void)spanlog_version();
    (void)spanlog_version_number();
    answered("spanlog_store_wait", spanlog_store_wait(NULL, NULL, 0, 0, 0, &error), ANY_ERROR);
    answered("spanlog_store_wait_appended", spanlog_store_wait_appended(NULL, 0, 0, &error), ANY_ERROR);
    answered("spanlog_store_watch", spanlog_store_watch(NULL, NULL, 0, NULL, &error), ANY_ERROR);
    answered("spanlog_watch_wait", spanlog_watch_wait(NULL, 0, &error), ANY_ERROR);
    answered("spanlog_watch_event_fd", spanlog_watch_event_fd(NULL, NULL, &error), ANY_ERROR);
    answered("spanlog_watch_clear", spanlog_watch_clear(NULL, &error), ANY_ERROR);
    spanlog_watch_free(NULL);
}

static void with_what_was_freed(spanlog_store *dead_store, spanlog_batch *dead_batch,
                                spanlog_list *dead_list, spanlog_error *dead_error,
                                spanlog_watch *dead_watch,
                                spanlog_verification *dead_verification) {
    answered("spanlog_store_append", spanlog_store_append(dead_store, &spanlog_message_1, &spanlog_receipt_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_append_durable", spanlog_store_append_durable(dead_store, &spanlog_message_1, &spanlog_receipt_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_append_batch", spanlog_store_append_batch(dead_store, &spanlog_message_1, 1, &spanlog_receipt_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_append_batch_durable", spanlog_store_append_batch_durable(dead_store, &spanlog_message_1, 1, &spanlog_receipt_1, &error), SPANLOG_STATUS_CLOSED);
    (void)spanlog_batch_messages(dead_batch, &size_t_1);
    answered("spanlog_batch_get_info", spanlog_batch_get_info(dead_batch, &spanlog_batch_info_1, &error), SPANLOG_STATUS_CLOSED);
    spanlog_batch_free(dead_batch);
    answered("spanlog_store_add_directory", spanlog_store_add_directory(dead_store, &spanlog_directory_options_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_set_role", spanlog_store_set_role(dead_store, "t", 1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_remove_directory", spanlog_store_remove_directory(dead_store, "t", &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_set_usage", spanlog_store_set_usage(dead_store, "t", 1, 1, &error), SPANLOG_STATUS_CLOSED);
    (void)spanlog_error_code(dead_error);
    (void)spanlog_error_message(dead_error);
    (void)spanlog_error_path(dead_error);
    (void)spanlog_error_errno(dead_error);
    (void)spanlog_error_offset(dead_error, &uint64_t_1);
    (void)spanlog_error_limit(dead_error, &uint64_t_1);
    (void)spanlog_error_range(dead_error, &uint64_t_1, &uint64_t_1);
    (void)spanlog_error_is_retriable(dead_error);
    (void)spanlog_error_is_fatal(dead_error);
    spanlog_error_free(dead_error);
    (void)spanlog_list_count(dead_list);
    spanlog_list_free(dead_list);
    answered("spanlog_list_disk", spanlog_list_disk(dead_list, 1, &spanlog_disk_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_segment", spanlog_list_segment(dead_list, 1, &spanlog_segment_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_queue", spanlog_list_queue(dead_list, 1, &spanlog_queue_info_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_fate", spanlog_list_fate(dead_list, 1, &spanlog_fate_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_dropped", spanlog_list_dropped(dead_list, 1, &spanlog_dropped_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_range", spanlog_list_range(dead_list, 1, &spanlog_range_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_list_finding", spanlog_list_finding(dead_list, 1, &spanlog_finding_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_read_filtered", spanlog_store_read_filtered(dead_store, "t", 1, 1, "t", &spanlog_read_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_query", spanlog_store_query(dead_store, "t", "t", &spanlog_query_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_find_by_id", spanlog_store_find_by_id(dead_store, "t", "t", &spanlog_batch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_offset_at", spanlog_store_offset_at(dead_store, "t", 1, 1, 1, &uint64_t_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_read", spanlog_store_read(dead_store, "t", 1, 1, &spanlog_read_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_read_into", spanlog_store_read_into(dead_store, "t", 1, 1, &spanlog_read_options_1, buffer, 1, &spanlog_message_view_1, 1, &spanlog_batch_info_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_get", spanlog_store_get(dead_store, 1, &spanlog_batch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_bounds", spanlog_store_bounds(dead_store, "t", 1, &spanlog_bounds_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_watermarks", spanlog_store_watermarks(dead_store, &spanlog_watermarks_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_stats", spanlog_store_stats(dead_store, &spanlog_stats_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_recovery", spanlog_store_recovery(dead_store, &spanlog_recovery_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_disks", spanlog_store_disks(dead_store, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_segments", spanlog_store_segments(dead_store, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_queues", spanlog_store_queues(dead_store, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_plan_clean", spanlog_store_plan_clean(dead_store, 1, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_dropped", spanlog_store_dropped(dead_store, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_ranges", spanlog_store_ranges(dead_store, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_close", spanlog_store_close(dead_store, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_flush", spanlog_store_flush(dead_store, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_catch_up", spanlog_store_catch_up(dead_store, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_clean_now", spanlog_store_clean_now(dead_store, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_run", spanlog_store_run(dead_store, 1, &int64_t_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_verify", spanlog_store_verify(dead_store, &spanlog_verification_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_verification_step", spanlog_verification_step(dead_verification, &spanlog_progress_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_verification_verdict", spanlog_verification_verdict(dead_verification, &spanlog_verdict_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_verification_findings", spanlog_verification_findings(dead_verification, &spanlog_list_2, &error), SPANLOG_STATUS_CLOSED);
    spanlog_verification_free(dead_verification);
    answered("spanlog_store_wait", spanlog_store_wait(dead_store, "t", 1, 1, 1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_wait_appended", spanlog_store_wait_appended(dead_store, 1, 1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_store_watch", spanlog_store_watch(dead_store, "t", 1, &spanlog_watch_2, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_watch_wait", spanlog_watch_wait(dead_watch, 1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_watch_event_fd", spanlog_watch_event_fd(dead_watch, &int32_t_1, &error), SPANLOG_STATUS_CLOSED);
    answered("spanlog_watch_clear", spanlog_watch_clear(dead_watch, &error), SPANLOG_STATUS_CLOSED);
    spanlog_watch_free(dead_watch);
}

static void with_what_it_is_not(spanlog_store *other_than_error, spanlog_store *other_than_batch,
                                spanlog_store *other_than_list, spanlog_store *other_than_watch,
                                spanlog_store *other_than_verification,
                                spanlog_batch *other_than_store) {
    answered("spanlog_store_append", spanlog_store_append((void *)other_than_store, &spanlog_message_1, &spanlog_receipt_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_append_durable", spanlog_store_append_durable((void *)other_than_store, &spanlog_message_1, &spanlog_receipt_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_append_batch", spanlog_store_append_batch((void *)other_than_store, &spanlog_message_1, 1, &spanlog_receipt_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_append_batch_durable", spanlog_store_append_batch_durable((void *)other_than_store, &spanlog_message_1, 1, &spanlog_receipt_1, &error), SPANLOG_STATUS_INVALID);
    (void)spanlog_batch_messages((void *)other_than_batch, &size_t_1);
    answered("spanlog_batch_get_info", spanlog_batch_get_info((void *)other_than_batch, &spanlog_batch_info_1, &error), SPANLOG_STATUS_INVALID);
    spanlog_batch_free((void *)other_than_batch);
    answered("spanlog_store_add_directory", spanlog_store_add_directory((void *)other_than_store, &spanlog_directory_options_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_set_role", spanlog_store_set_role((void *)other_than_store, "t", 1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_remove_directory", spanlog_store_remove_directory((void *)other_than_store, "t", &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_set_usage", spanlog_store_set_usage((void *)other_than_store, "t", 1, 1, &error), SPANLOG_STATUS_INVALID);
    (void)spanlog_error_code((void *)other_than_error);
    (void)spanlog_error_message((void *)other_than_error);
    (void)spanlog_error_path((void *)other_than_error);
    (void)spanlog_error_errno((void *)other_than_error);
    (void)spanlog_error_offset((void *)other_than_error, &uint64_t_1);
    (void)spanlog_error_limit((void *)other_than_error, &uint64_t_1);
    (void)spanlog_error_range((void *)other_than_error, &uint64_t_1, &uint64_t_1);
    (void)spanlog_error_is_retriable((void *)other_than_error);
    (void)spanlog_error_is_fatal((void *)other_than_error);
    spanlog_error_free((void *)other_than_error);
    (void)spanlog_list_count((void *)other_than_list);
    spanlog_list_free((void *)other_than_list);
    answered("spanlog_list_disk", spanlog_list_disk((void *)other_than_list, 1, &spanlog_disk_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_segment", spanlog_list_segment((void *)other_than_list, 1, &spanlog_segment_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_queue", spanlog_list_queue((void *)other_than_list, 1, &spanlog_queue_info_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_fate", spanlog_list_fate((void *)other_than_list, 1, &spanlog_fate_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_dropped", spanlog_list_dropped((void *)other_than_list, 1, &spanlog_dropped_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_range", spanlog_list_range((void *)other_than_list, 1, &spanlog_range_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_list_finding", spanlog_list_finding((void *)other_than_list, 1, &spanlog_finding_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_read_filtered", spanlog_store_read_filtered((void *)other_than_store, "t", 1, 1, "t", &spanlog_read_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_query", spanlog_store_query((void *)other_than_store, "t", "t", &spanlog_query_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_find_by_id", spanlog_store_find_by_id((void *)other_than_store, "t", "t", &spanlog_batch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_offset_at", spanlog_store_offset_at((void *)other_than_store, "t", 1, 1, 1, &uint64_t_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_read", spanlog_store_read((void *)other_than_store, "t", 1, 1, &spanlog_read_options_1, &spanlog_batch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_read_into", spanlog_store_read_into((void *)other_than_store, "t", 1, 1, &spanlog_read_options_1, buffer, 1, &spanlog_message_view_1, 1, &spanlog_batch_info_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_get", spanlog_store_get((void *)other_than_store, 1, &spanlog_batch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_bounds", spanlog_store_bounds((void *)other_than_store, "t", 1, &spanlog_bounds_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_watermarks", spanlog_store_watermarks((void *)other_than_store, &spanlog_watermarks_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_stats", spanlog_store_stats((void *)other_than_store, &spanlog_stats_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_recovery", spanlog_store_recovery((void *)other_than_store, &spanlog_recovery_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_disks", spanlog_store_disks((void *)other_than_store, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_segments", spanlog_store_segments((void *)other_than_store, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_queues", spanlog_store_queues((void *)other_than_store, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_plan_clean", spanlog_store_plan_clean((void *)other_than_store, 1, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_dropped", spanlog_store_dropped((void *)other_than_store, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_ranges", spanlog_store_ranges((void *)other_than_store, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_close", spanlog_store_close((void *)other_than_store, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_flush", spanlog_store_flush((void *)other_than_store, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_catch_up", spanlog_store_catch_up((void *)other_than_store, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_clean_now", spanlog_store_clean_now((void *)other_than_store, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_run", spanlog_store_run((void *)other_than_store, 1, &int64_t_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_verify", spanlog_store_verify((void *)other_than_store, &spanlog_verification_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_verification_step", spanlog_verification_step((void *)other_than_verification, &spanlog_progress_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_verification_verdict", spanlog_verification_verdict((void *)other_than_verification, &spanlog_verdict_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_verification_findings", spanlog_verification_findings((void *)other_than_verification, &spanlog_list_2, &error), SPANLOG_STATUS_INVALID);
    spanlog_verification_free((void *)other_than_verification);
    answered("spanlog_store_wait", spanlog_store_wait((void *)other_than_store, "t", 1, 1, 1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_wait_appended", spanlog_store_wait_appended((void *)other_than_store, 1, 1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_store_watch", spanlog_store_watch((void *)other_than_store, "t", 1, &spanlog_watch_2, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_watch_wait", spanlog_watch_wait((void *)other_than_watch, 1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_watch_event_fd", spanlog_watch_event_fd((void *)other_than_watch, &int32_t_1, &error), SPANLOG_STATUS_INVALID);
    answered("spanlog_watch_clear", spanlog_watch_clear((void *)other_than_watch, &error), SPANLOG_STATUS_INVALID);
    spanlog_watch_free((void *)other_than_watch);
}

static void with_a_handle_and_nothing(spanlog_store *live_store, spanlog_batch *live_batch,
                                      spanlog_list *live_list, spanlog_error *live_error,
                                      spanlog_watch *live_watch,
                                      spanlog_verification *live_verification) {
    answered("spanlog_store_append", spanlog_store_append(live_store, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_append_durable", spanlog_store_append_durable(live_store, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_append_batch", spanlog_store_append_batch(live_store, NULL, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_append_batch_durable", spanlog_store_append_batch_durable(live_store, NULL, 0, NULL, &error), ANYTHING);
    (void)spanlog_batch_messages(live_batch, NULL);
    answered("spanlog_batch_get_info", spanlog_batch_get_info(live_batch, NULL, &error), ANYTHING);
    answered("spanlog_store_add_directory", spanlog_store_add_directory(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_set_role", spanlog_store_set_role(live_store, NULL, 0, &error), ANYTHING);
    answered("spanlog_store_remove_directory", spanlog_store_remove_directory(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_set_usage", spanlog_store_set_usage(live_store, NULL, 0, 0, &error), ANYTHING);
    (void)spanlog_error_code(live_error);
    (void)spanlog_error_message(live_error);
    (void)spanlog_error_path(live_error);
    (void)spanlog_error_errno(live_error);
    (void)spanlog_error_offset(live_error, NULL);
    (void)spanlog_error_limit(live_error, NULL);
    (void)spanlog_error_range(live_error, NULL, NULL);
    (void)spanlog_error_is_retriable(live_error);
    (void)spanlog_error_is_fatal(live_error);
    (void)spanlog_list_count(live_list);
    answered("spanlog_list_disk", spanlog_list_disk(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_segment", spanlog_list_segment(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_queue", spanlog_list_queue(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_fate", spanlog_list_fate(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_dropped", spanlog_list_dropped(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_range", spanlog_list_range(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_list_finding", spanlog_list_finding(live_list, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_read_filtered", spanlog_store_read_filtered(live_store, NULL, 0, 0, NULL, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_query", spanlog_store_query(live_store, NULL, NULL, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_find_by_id", spanlog_store_find_by_id(live_store, NULL, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_offset_at", spanlog_store_offset_at(live_store, NULL, 0, 0, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_read", spanlog_store_read(live_store, NULL, 0, 0, NULL, NULL, &error), ANYTHING);
    answered("spanlog_store_read_into", spanlog_store_read_into(live_store, NULL, 0, 0, NULL, NULL, 0, NULL, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_get", spanlog_store_get(live_store, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_bounds", spanlog_store_bounds(live_store, NULL, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_watermarks", spanlog_store_watermarks(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_stats", spanlog_store_stats(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_recovery", spanlog_store_recovery(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_disks", spanlog_store_disks(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_segments", spanlog_store_segments(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_queues", spanlog_store_queues(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_plan_clean", spanlog_store_plan_clean(live_store, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_dropped", spanlog_store_dropped(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_ranges", spanlog_store_ranges(live_store, NULL, &error), ANYTHING);
    answered("spanlog_store_flush", spanlog_store_flush(live_store, &error), ANYTHING);
    answered("spanlog_store_catch_up", spanlog_store_catch_up(live_store, &error), ANYTHING);
    answered("spanlog_store_clean_now", spanlog_store_clean_now(live_store, &error), ANYTHING);
    answered("spanlog_store_run", spanlog_store_run(live_store, 0, NULL, &error), ANYTHING);
    answered("spanlog_store_verify", spanlog_store_verify(live_store, NULL, &error), ANYTHING);
    answered("spanlog_verification_step", spanlog_verification_step(live_verification, NULL, &error), ANYTHING);
    answered("spanlog_verification_verdict", spanlog_verification_verdict(live_verification, NULL, &error), ANYTHING);
    answered("spanlog_verification_findings", spanlog_verification_findings(live_verification, NULL, &error), ANYTHING);
    answered("spanlog_store_wait", spanlog_store_wait(live_store, NULL, 0, 0, 0, &error), ANYTHING);
    answered("spanlog_store_wait_appended", spanlog_store_wait_appended(live_store, 0, 0, &error), ANYTHING);
    answered("spanlog_store_watch", spanlog_store_watch(live_store, NULL, 0, NULL, &error), ANYTHING);
    answered("spanlog_watch_wait", spanlog_watch_wait(live_watch, 0, &error), ANYTHING);
    answered("spanlog_watch_event_fd", spanlog_watch_event_fd(live_watch, NULL, &error), ANYTHING);
    answered("spanlog_watch_clear", spanlog_watch_clear(live_watch, &error), ANYTHING);
}

int main(int argc, char **argv) {
    spanlog_store *store = open_fresh(argc, argv);
    spanlog_batch *batch = NULL;
    spanlog_list *list = NULL;
    spanlog_watch *watch = NULL;
    spanlog_verification *look = NULL;
    spanlog_error *refused = NULL;
    CHECK(spanlog_store_read(store, "t", 0, 0, NULL, &batch, NULL) == SPANLOG_STATUS_END);
    CHECK(spanlog_store_queues(store, &list, NULL) == SPANLOG_STATUS_OK);
    CHECK(spanlog_store_get(store, 7, &batch, &refused) == SPANLOG_STATUS_INVALID);
    CHECK(spanlog_store_watch(store, NULL, 0, &watch, NULL) == SPANLOG_STATUS_OK);
    CHECK(spanlog_store_verify(store, &look, NULL) == SPANLOG_STATUS_OK);
    with_nothing();
    with_a_handle_and_nothing(store, batch, list, refused, watch, look);
    with_what_it_is_not(store, store, store, store, store, batch);
    spanlog_batch_free(batch);
    spanlog_list_free(list);
    spanlog_error_free(refused);
    spanlog_watch_free(watch);
    spanlog_verification_free(look);
    CHECK(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
    with_what_was_freed(store, batch, list, refused, watch, look);
    return done();
}
