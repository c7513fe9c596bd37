/* Results of the C interface, as scenarios name them. Numbers are strings here: a double does not
 * hold them all. */
#include "scenarios.h"

#include <inttypes.h>

void put_number(cJSON *object, const char *name, uint64_t value) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    cJSON_AddStringToObject(object, name, digits);
}

void put_signed(cJSON *object, const char *name, int64_t value) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRId64, value);
    cJSON_AddStringToObject(object, name, digits);
}

static cJSON *json_of(spanlog_bytes bytes) {
    if (bytes.data == NULL) return cJSON_CreateNull();
    char *copy = calloc(bytes.len + 1, 1);
    memcpy(copy, bytes.data, bytes.len);
    cJSON *json = cJSON_CreateString(copy);
    free(copy);
    return json;
}

cJSON *hex_of(spanlog_bytes bytes) {
    static const char digits[] = "0123456789abcdef";
    char *hex = calloc(2 * bytes.len + 1, 1);
    for (size_t at = 0; at < bytes.len; at++) {
        hex[2 * at] = digits[(unsigned char)bytes.data[at] >> 4];
        hex[2 * at + 1] = digits[(unsigned char)bytes.data[at] & 15];
    }
    cJSON *body = cJSON_CreateObject();
    cJSON_AddStringToObject(body, "hex", hex);
    free(hex);
    return body;
}

static cJSON *keys_of(spanlog_bytes keys) {
    cJSON *list = cJSON_CreateArray();
    size_t from = 0;
    for (size_t at = 0; at <= keys.len; at++) {
        if (at < keys.len && keys.data[at] != ' ') continue;
        spanlog_bytes key = {keys.data + from, at - from};
        if (key.len > 0) cJSON_AddItemToArray(list, json_of(key));
        from = at + 1;
    }
    return list;
}

void put_message(cJSON *object, const spanlog_message_view *message) {
    cJSON *properties = cJSON_AddObjectToObject(object, "properties");
    spanlog_bytes name, value;
    for (size_t at = 0; spanlog_message_property_at(message, at, &name, &value, NULL) == 0; at++) {
        cJSON *key = json_of(name);
        cJSON_AddItemToObject(properties, key->valuestring, json_of(value));
        cJSON_Delete(key);
    }
    cJSON_AddItemToObject(object, "topic", json_of(message->topic));
    cJSON_AddItemToObject(object, "body", hex_of(message->body));
    cJSON_AddItemToObject(object, "tags", json_of(message->tags));
    cJSON_AddItemToObject(object, "keys", keys_of(message->keys));
    cJSON_AddItemToObject(object, "unique_id", json_of(message->unique_id));
    put_number(object, "queue", message->queue);
    put_number(object, "queue_offset", message->queue_offset);
    put_number(object, "position", message->position);
    put_signed(object, "flag", message->flag);
    put_signed(object, "sys_flag", message->sys_flag);
    put_signed(object, "born_ms", message->born_ms);
    put_signed(object, "store_ms", message->store_ms);
    put_signed(object, "reconsume_times", message->reconsume_times);
}

void put_batch(cJSON *object, const spanlog_batch *batch, const spanlog_batch_info *info) {
    static const char *const statuses[] = {"",          "found",  "no_queue",  "empty",
                                           "too_small", "at_end", "too_large", "removed",
                                           "no_match"};
    size_t count = 0;
    const spanlog_message_view *messages = spanlog_batch_messages(batch, &count);
    CHECK(count == info->count);
    cJSON_AddStringToObject(object, "status", statuses[info->status]);
    put_number(object, "next", info->next);
    put_number(object, "min", info->min);
    put_number(object, "max", info->max);
    cJSON *list = cJSON_AddArrayToObject(object, "messages");
    for (size_t at = 0; at < count; at++) {
        cJSON *message = cJSON_CreateObject();
        put_message(message, &messages[at]);
        cJSON_AddItemToArray(list, message);
    }
}

static void put_path(cJSON *object, const char *path) {
    size_t len = strlen(world);
    int is_inside = path != NULL && strncmp(path, world, len) == 0 && path[len] == '/';
    if (path == NULL) cJSON_AddNullToObject(object, "path");
    if (path != NULL) cJSON_AddStringToObject(object, "path", is_inside ? path + len + 1 : path);
}

void put_error(cJSON *object, const spanlog_error *error) {
    uint64_t value = 0;
    cJSON_AddStringToObject(object, "code", spanlog_status_name(spanlog_error_code(error)));
    if (spanlog_error_offset(error, &value)) put_number(object, "offset", value);
    if (spanlog_error_limit(error, &value)) put_number(object, "limit", value);
    put_path(object, spanlog_error_path(error));
}

static void put_flag(cJSON *object, const char *name, int32_t flag) {
    cJSON_AddBoolToObject(object, name, flag);
}

static void put_disk(cJSON *object, const spanlog_disk *disk) {
    static const char *const pressures[] = {"none", "clean", "force", "refuse"};
    put_path(object, disk->path);
    cJSON_AddStringToObject(object, "role", ROLES[disk->role - 1]);
    cJSON_AddStringToObject(object, "pressure", pressures[disk->pressure]);
    put_flag(object, "offline", disk->offline != NULL);
    put_flag(object, "takes_segments", disk->takes_segments);
    put_number(object, "segments", disk->segments);
    put_number(object, "segment_bytes", disk->segment_bytes);
}

static void put_segment(cJSON *object, const spanlog_segment *segment) {
    put_path(object, segment->path);
    put_number(object, "base", segment->base);
    put_number(object, "len_bytes", segment->len_bytes);
    put_flag(object, "dropped", segment->dropped);
}

static void put_queue(cJSON *object, const spanlog_queue_info *queue) {
    cJSON_AddStringToObject(object, "topic", queue->topic);
    put_number(object, "queue", queue->queue);
    put_number(object, "min", queue->min);
    put_number(object, "max", queue->max);
}

static void put_fate(cJSON *object, const spanlog_fate *fate) {
    static const char *const reasons[] = {
        "",          "expired",      "forced",           "kept_last",       "kept_behind", "kept_read_only",
        "kept_young", "kept_undated", "kept_no_pressure", "kept_round_limit",
        "kept_for_cursor"};
    put_number(object, "base", fate->base);
    cJSON_AddStringToObject(object, "reason", reasons[fate->reason]);
    put_flag(object, "drops", fate->drops);
}

/* Puts every element of a list into the result. */
#define PUT_ALL(list, name, type, init, get, put)                            \
    do {                                                                     \
        cJSON *rows_ = cJSON_AddArrayToObject(result, name);                 \
        type row_ = init;                                                    \
        for (size_t at_ = 0; get(list, at_, &row_, NULL) == 0; at_++) {      \
            cJSON *object_ = cJSON_CreateObject();                           \
            put(object_, &row_);                                             \
            cJSON_AddItemToArray(rows_, object_);                            \
        }                                                                    \
        CHECK((size_t)cJSON_GetArraySize(rows_) == spanlog_list_count(list)); \
        spanlog_list_free(list);                                             \
    } while (0)

static spanlog_status watermarks(spanlog_store *store, cJSON *result, spanlog_error **error) {
    spanlog_watermarks marks;
    spanlog_status status = spanlog_store_watermarks(store, &marks, error);
    if (status < 0) return status;
    put_number(result, "start", marks.start);
    put_number(result, "flushed", marks.flushed);
    put_number(result, "indexed", marks.indexed);
    put_number(result, "appended", marks.appended);
    return status;
}

static spanlog_status recovery(spanlog_store *store, cJSON *result, spanlog_error **error) {
    spanlog_recovery found = SPANLOG_RECOVERY_INIT;
    spanlog_status status = spanlog_store_recovery(store, &found, error);
    if (status < 0) return status;
    put_flag(result, "was_clean", found.was_clean);
    put_number(result, "end", found.end);
    put_number(result, "records", found.records);
    put_flag(result, "rebuilt_queues", found.rebuilt_queues);
    uint64_t counts[4] = {0, 0, 0, 0};
    spanlog_list *list = NULL;
    status = spanlog_store_ranges(store, &list, error);
    if (status < 0) return status;
    spanlog_range range = SPANLOG_RANGE_INIT;
    for (size_t at = 0; spanlog_list_range(list, at, &range, NULL) == 0; at++) {
        counts[range.kind]++;
    }
    spanlog_list_free(list);
    put_flag(result, "torn", counts[SPANLOG_RANGE_KIND_TORN] > 0);
    put_number(result, "skipped", counts[SPANLOG_RANGE_KIND_SKIPPED]);
    put_number(result, "offline", counts[SPANLOG_RANGE_KIND_OFFLINE]);
    return status;
}

spanlog_status report(spanlog_store *store, const char *op, const cJSON *step, cJSON *result,
                      spanlog_error **error) {
    spanlog_list *list = NULL;
    spanlog_status status;
    if (strcmp(op, "watermarks") == 0) return watermarks(store, result, error);
    if (strcmp(op, "recovery") == 0) return recovery(store, result, error);
    if (strcmp(op, "queues") == 0) {
        status = spanlog_store_queues(store, &list, error);
        if (status < 0) return status;
        PUT_ALL(list, "queues", spanlog_queue_info, SPANLOG_QUEUE_INFO_INIT, spanlog_list_queue,
                put_queue);
    } else if (strcmp(op, "segments") == 0) {
        status = spanlog_store_segments(store, &list, error);
        if (status < 0) return status;
        PUT_ALL(list, "segments", spanlog_segment, SPANLOG_SEGMENT_INIT, spanlog_list_segment,
                put_segment);
    } else if (strcmp(op, "disks") == 0) {
        status = spanlog_store_disks(store, &list, error);
        if (status < 0) return status;
        PUT_ALL(list, "directories", spanlog_disk, SPANLOG_DISK_INIT, spanlog_list_disk, put_disk);
    } else if (strcmp(op, "plan_clean") == 0) {
        status = spanlog_store_plan_clean(store, cJSON_IsTrue(field(step, "manual")), &list, error);
        if (status < 0) return status;
        PUT_ALL(list, "fates", spanlog_fate, SPANLOG_FATE_INIT, spanlog_list_fate, put_fate);
    } else {
        FAIL("there is no operation %s", op);
    }
    return status;
}
