/* What scenarios do with cursors and with queue mode, in C. */
#include "scenarios.h"

enum { MOST = 16 };

struct named {
    char name[64];
    void *handle;
};

static struct named cursors[MOST], queues[MOST];

/* The place of a handle; `make` for one that is bound anew. */
static void **bound(struct named *rows, const cJSON *step, const char *key, int make) {
    const char *name = text(step, key);
    if (name == NULL) name = "main";
    for (int at = 0; at < MOST; at++) {
        if (strcmp(rows[at].name, name) == 0) return &rows[at].handle;
        if (rows[at].name[0] == '\0' && make) {
            snprintf(rows[at].name, sizeof(rows[at].name), "%s", name);
            return &rows[at].handle;
        }
    }
    FAIL("nothing named %s is open", name);
}

void close_consumers(void) {
    for (int at = 0; at < MOST; at++) {
        (void)spanlog_cursor_close(cursors[at].handle, NULL);
        (void)spanlog_queue_close(queues[at].handle, NULL);
    }
    memset(cursors, 0, sizeof(cursors));
    memset(queues, 0, sizeof(queues));
}

#define IS(name) (strcmp(op, name) == 0)

static spanlog_seek seek_of(const cJSON *step) {
    static const char *const places[] = {"start", "end", NULL};
    spanlog_seek seek = SPANLOG_SEEK_INIT;
    seek.queue = (uint32_t)number(step, "queue", 0);
    seek.offset = number(step, "offset", 0);
    seek.time_ms = (int64_t)number(step, "time_ms", 0);
    seek.kind = field(step, "time_ms") ? SPANLOG_SEEK_KIND_TIME : SPANLOG_SEEK_KIND_OFFSET;
    if (text(step, "to") != NULL) seek.kind = word(text(step, "to"), places);
    return seek;
}

static spanlog_status open_cursor(spanlog_store *store, const cJSON *step, spanlog_error **error) {
    spanlog_cursor_options options = SPANLOG_CURSOR_OPTIONS_INIT;
    const cJSON *value, *row;
    uint32_t numbers[8];
    cJSON_ArrayForEach(value, field(step, "options")) {
        const char *op = value->string;
        if (IS("queues")) {
            cJSON_ArrayForEach(row, value) numbers[options.queue_count++] = (uint32_t)row->valueint;
            options.queues = numbers;
        } else if (IS("from_end")) {
            options.from_end = cJSON_IsTrue(value) ? SPANLOG_SWITCH_ON : SPANLOG_SWITCH_OFF;
        } else if (IS("visibility_ms")) {
            options.visibility_ms = count(value);
        } else if (IS("max_pending")) {
            options.max_pending = count(value);
        } else if (IS("hold_bytes")) {
            options.hold_bytes = count(value);
        } else {
            FAIL("there is no option %s", op);
        }
    }
    spanlog_cursor *cursor = NULL;
    spanlog_status status = spanlog_store_cursor(store, text(step, "name"), text(step, "topic"),
                                                 &options, &cursor, error);
    if (status >= 0) *bound(cursors, step, "cursor", 1) = cursor;
    return status;
}

static spanlog_status poll_cursor(spanlog_cursor *cursor, const cJSON *step, cJSON *result,
                                  spanlog_error **error) {
    spanlog_read_options options = read_options(step);
    spanlog_delivery *delivery = NULL;
    spanlog_status status = spanlog_cursor_poll(
        cursor, &options, (int64_t)number(step, "timeout_ms", 0), &delivery, error);
    size_t count = 0;
    cJSON *list = cJSON_AddArrayToObject(result, "messages");
    const spanlog_delivered *messages = spanlog_delivery_messages(delivery, &count);
    for (size_t at = 0; at < count; at++) {
        cJSON *row = cJSON_CreateObject();
        put_message(row, &messages[at].message);
        put_number(row, "attempt", messages[at].attempt);
        cJSON_AddItemToArray(list, row);
    }
    list = cJSON_AddArrayToObject(result, "overtaken");
    const spanlog_overtaken *gone = spanlog_delivery_overtaken(delivery, &count);
    for (size_t at = 0; at < count; at++) {
        cJSON *row = cJSON_CreateObject();
        put_number(row, "queue", gone[at].queue);
        put_number(row, "from", gone[at].from);
        put_number(row, "to", gone[at].to);
        cJSON_AddItemToArray(list, row);
    }
    (void)spanlog_delivery_failures(delivery, &count);
    CHECK(count == 0);
    spanlog_delivery_free(delivery);
    return status;
}

static spanlog_status report_cursor(spanlog_cursor *cursor, cJSON *result, spanlog_error **error) {
    spanlog_list *rows = NULL;
    spanlog_cursor_queue queue = SPANLOG_CURSOR_QUEUE_INIT;
    spanlog_status status = spanlog_cursor_queues(cursor, &rows, error);
    cJSON *list = cJSON_AddArrayToObject(result, "queues");
    for (size_t at = 0; at < spanlog_list_count(rows); at++) {
        cJSON *row = cJSON_CreateObject();
        WELL(spanlog_list_cursor_queue(rows, at, &queue, NULL), NULL);
        put_number(row, "queue", queue.queue);
        put_number(row, "acknowledged", queue.acknowledged);
        put_number(row, "committed", queue.committed);
        put_number(row, "next", queue.next);
        put_number(row, "min", queue.min);
        put_number(row, "max", queue.max);
        put_number(row, "lag", queue.lag_messages);
        cJSON_AddItemToArray(list, row);
    }
    spanlog_list_free(rows);
    return status;
}

static spanlog_status all_cursors(spanlog_store *store, cJSON *result, spanlog_error **error) {
    spanlog_list *rows = NULL;
    spanlog_cursor_info info = SPANLOG_CURSOR_INFO_INIT;
    spanlog_status status = spanlog_store_cursors(store, &rows, error);
    cJSON *list = cJSON_AddArrayToObject(result, "cursors");
    for (size_t at = 0; at < spanlog_list_count(rows); at++) {
        cJSON *row = cJSON_CreateObject();
        WELL(spanlog_list_cursor(rows, at, &info, NULL), NULL);
        cJSON_AddStringToObject(row, "topic", info.topic);
        cJSON_AddStringToObject(row, "name", info.name);
        cJSON_AddBoolToObject(row, "is_open", info.is_open);
        put_number(row, "lag", info.lag_messages);
        cJSON_AddItemToArray(list, row);
    }
    spanlog_list_free(rows);
    return status;
}

static spanlog_status lag_of(spanlog_cursor *cursor, cJSON *result, spanlog_error **error) {
    spanlog_lag lag = SPANLOG_LAG_INIT;
    spanlog_status status = spanlog_cursor_lag(cursor, &lag, error);
    put_number(result, "messages", lag.messages);
    return status;
}

int on_cursor(const char *op, const cJSON *step, cJSON *result, spanlog_error **error,
              spanlog_status *status) {
    static const char *const known[] = {"poll",   "ack", "ack_up_to", "commit",      "seek",
                                        "lag",    "report", "close_cursor", NULL};
    if (word(op, known) > 8) return 0;
    spanlog_cursor *cursor = *bound(cursors, step, "cursor", 0);
    uint32_t queue = (uint32_t)number(step, "queue", 0);
    spanlog_seek seek = seek_of(step);
    if (IS("poll")) *status = poll_cursor(cursor, step, result, error);
    if (IS("ack")) *status = spanlog_cursor_ack(cursor, queue, number(step, "offset", 0), error);
    if (IS("ack_up_to")) {
        *status = spanlog_cursor_ack_up_to(cursor, queue, number(step, "end", 0), error);
    }
    if (IS("commit")) *status = spanlog_cursor_commit(cursor, error);
    if (IS("seek")) *status = spanlog_cursor_seek(cursor, &seek, error);
    if (IS("lag")) *status = lag_of(cursor, result, error);
    if (IS("report")) *status = report_cursor(cursor, result, error);
    if (IS("close_cursor")) *status = spanlog_cursor_close(cursor, error);
    return 1;
}

int on_cursors(spanlog_store *store, const char *op, const cJSON *step, cJSON *result,
               spanlog_error **error, spanlog_status *status) {
    const char *topic = text(step, "topic"), *name = text(step, "name");
    if (IS("open_cursor")) {
        *status = open_cursor(store, step, error);
    } else if (IS("cursors")) {
        *status = all_cursors(store, result, error);
    } else if (IS("copy_cursor")) {
        *status = spanlog_store_copy_cursor(store, topic, name, text(step, "copy"), error);
    } else if (IS("reset_cursor")) {
        spanlog_seek seek = seek_of(step);
        *status = spanlog_store_reset_cursor(store, topic, name, &seek, error);
    } else if (IS("delete_cursor")) {
        *status = spanlog_store_delete_cursor(store, topic, name, error);
    } else if (IS("import_offsets")) {
        uint64_t count = 0;
        const char *given = text(step, "text");
        *status = spanlog_store_import_consumer_offsets(store, given, strlen(given), &count, error);
        put_number(result, "count", count);
    } else if (IS("export_offsets")) {
        char told[4096] = "";
        size_t needed = 0;
        *status = spanlog_store_export_consumer_offsets(store, told, sizeof(told), &needed, error);
        cJSON_AddStringToObject(result, "text", told);
    } else {
        return 0;
    }
    return 1;
}

static spanlog_status open_queue(const cJSON *step, spanlog_error **error) {
    static const char *const on_full[] = {"refuse", "block", "drop-oldest", NULL};
    spanlog_queue_options options = SPANLOG_QUEUE_OPTIONS_INIT;
    spanlog_queue *queue = NULL;
    const cJSON *value;
    char root[8192];
    options.background = SPANLOG_SWITCH_OFF;
    cJSON_ArrayForEach(value, field(step, "options")) {
        const char *op = value->string;
        if (IS("segment_len_bytes")) {
            options.segment_len_bytes = count(value);
        } else if (IS("capacity_segments")) {
            options.capacity_segments = count(value);
        } else if (IS("max_record_bytes")) {
            options.max_record_bytes = count(value);
        } else if (IS("on_full") && cJSON_IsObject(value)) {
            options.on_full = SPANLOG_ON_FULL_BLOCK;
            options.block_ms = count(field(value, "block_ms"));
        } else if (IS("on_full")) {
            options.on_full = word(value->valuestring, on_full);
        } else {
            FAIL("there is no option %s", op);
        }
    }
    spanlog_status status =
        spanlog_queue_open(in_world(step, "root", root), &options, &queue, error);
    if (status >= 0) *bound(queues, step, "handle", 1) = queue;
    return status;
}

static spanlog_status push(spanlog_queue *queue, const cJSON *step, cJSON *result,
                           spanlog_error **error) {
    const cJSON *many = field(step, "bodies");
    size_t count = many == NULL ? 1 : (size_t)cJSON_GetArraySize(many);
    spanlog_bytes bodies[8];
    CHECK(count <= 8);
    for (size_t at = 0; at < count; at++) {
        const cJSON *body = many ? cJSON_GetArrayItem(many, (int)at) : field(step, "body");
        bodies[at].data = bytes_of_body(body, &bodies[at].len);
    }
    uint64_t end = 0;
    spanlog_status status =
        many ? spanlog_queue_push_many(queue, bodies, count, &end, error)
             : spanlog_queue_push(queue, bodies[0].data, bodies[0].len, &end, error);
    put_number(result, "end", end);
    for (size_t at = 0; at < count; at++) free((char *)bodies[at].data);
    return status;
}

static void put_records(cJSON *result, spanlog_records *records) {
    size_t count = 0;
    cJSON *list = cJSON_AddArrayToObject(result, "records");
    const spanlog_record *rows = spanlog_records_all(records, &count);
    for (size_t at = 0; at < count; at++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToObject(row, "body", hex_of(rows[at].payload));
        put_number(row, "number", rows[at].number);
        put_number(row, "position", rows[at].position);
        put_number(row, "end", rows[at].end);
        cJSON_AddItemToArray(list, row);
    }
    spanlog_records_free(records);
}

static spanlog_status stat_queue(spanlog_queue *queue, cJSON *result, spanlog_error **error) {
    spanlog_queue_figures figures = SPANLOG_QUEUE_FIGURES_INIT;
    spanlog_reader_info info = SPANLOG_READER_INFO_INIT;
    spanlog_list *rows = NULL;
    spanlog_status status = spanlog_queue_stat(queue, &figures, error);
    if (status >= 0) status = spanlog_queue_readers(queue, &rows, error);
    put_number(result, "start", figures.start);
    put_number(result, "end", figures.end);
    put_number(result, "records", figures.records);
    put_number(result, "dropped", figures.dropped);
    cJSON *list = cJSON_AddArrayToObject(result, "readers");
    for (size_t at = 0; at < spanlog_list_count(rows); at++) {
        cJSON *row = cJSON_CreateObject();
        WELL(spanlog_list_reader(rows, at, &info, NULL), NULL);
        cJSON_AddStringToObject(row, "name", info.name);
        put_number(row, "committed", info.committed);
        put_number(row, "reading", info.reading);
        put_number(row, "records", info.records);
        cJSON_AddItemToArray(list, row);
    }
    spanlog_list_free(rows);
    return status;
}

static spanlog_status on_reader(const char *op, spanlog_queue *queue, const cJSON *step,
                                cJSON *result, spanlog_error **error) {
    spanlog_reader *reader = NULL;
    spanlog_records *records = NULL;
    int64_t timeout_ms = (int64_t)number(step, "timeout_ms", 0);
    spanlog_status status = spanlog_queue_reader(queue, text(step, "reader"), &reader, error);
    if (status < 0) return status;
    if (IS("queue_pop")) {
        status = spanlog_reader_pop(reader, number(step, "max_messages", 0),
                                    number(step, "max_bytes", 0), timeout_ms, &records, error);
        put_records(result, records);
    } else if (IS("queue_peek")) {
        status = spanlog_reader_peek(reader, &records, error);
        put_records(result, records);
    } else if (IS("queue_commit")) {
        status = spanlog_reader_commit(reader, number(step, "end", 0), error);
    } else if (IS("queue_rewind")) {
        status = spanlog_reader_rewind(reader, error);
    } else if (IS("queue_wait")) {
        status = spanlog_reader_wait(reader, timeout_ms, error);
        cJSON_AddBoolToObject(result, "told", status == SPANLOG_STATUS_OK);
    } else {
        FAIL("there is no operation %s", op);
    }
    spanlog_reader_free(reader);
    return status;
}

spanlog_status on_queue(const char *op, const cJSON *step, cJSON *result, spanlog_error **error) {
    if (IS("queue_open")) return open_queue(step, error);
    spanlog_queue *queue = *bound(queues, step, "handle", 0);
    if (IS("queue_close")) return spanlog_queue_close(queue, error);
    if (IS("queue_flush")) return spanlog_queue_flush(queue, error);
    if (IS("queue_push") || IS("queue_push_many")) return push(queue, step, result, error);
    if (IS("queue_stat")) return stat_queue(queue, result, error);
    if (IS("queue_remove_reader")) {
        return spanlog_queue_remove_reader(queue, text(step, "reader"), error);
    }
    return on_reader(op, queue, step, result, error);
}
