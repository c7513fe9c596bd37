/* Runs the shared scenarios of tests/scenarios (the format is in the README there) in C:
 *   scenarios FOLDER SCENARIO.json...
 * FOLDER is for what they make. */
#include "scenarios.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

struct handle {
    char name[64];
    spanlog_store *store;
};

static struct handle handles[16];
char world[4096];

static spanlog_store **handle(const cJSON *step, int make) {
    const char *name = text(step, "store");
    if (name == NULL) name = "main";
    for (size_t at = 0; at < sizeof(handles) / sizeof(*handles); at++) {
        struct handle *row = &handles[at];
        if (strcmp(row->name, name) == 0) return &row->store;
        if (row->name[0] == '\0' && make) {
            snprintf(row->name, sizeof(row->name), "%s", name);
            return &row->store;
        }
    }
    FAIL("no store %s is open", name);
}

/* The file operations that a runner does itself; 0 for another one. */
static int on_files(const char *op, const cJSON *step) {
    char path[8192];
    if (strcmp(op, "remove_file") == 0) {
        CHECK(unlink(in_world(step, "path", path)) == 0);
    } else if (strcmp(op, "patch_file") == 0) {
        char bytes[4096];
        FILE *file = fopen(in_world(step, "path", path), "r+b");
        size_t len = bytes_of_hex(text(step, "hex"), bytes, sizeof(bytes));
        CHECK(file != NULL && fseek(file, (long)number(step, "at", 0), SEEK_SET) == 0);
        CHECK(fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
    } else if (strcmp(op, "write_file") == 0) {
        in_world(step, "path", path);
        for (char *slash = path + strlen(world) + 1; (slash = strchr(slash, '/')); slash++) {
            *slash = '\0';
            (void)mkdir(path, 0777);
            *slash = '/';
        }
        size_t len = number(step, "bytes", 0);
        char *bytes = calloc(len, 1);
        const cJSON *part;
        cJSON_ArrayForEach(part, field(step, "parts")) {
            size_t at = number(part, "at", 0);
            bytes_of_hex(text(part, "hex"), bytes + at, len - at);
        }
        FILE *file = fopen(path, "wb");
        CHECK(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
        free(bytes);
    } else {
        return 0;
    }
    return 1;
}

static spanlog_status append(spanlog_store *store, const char *op, const cJSON *step, cJSON *result,
                             spanlog_error **error) {
    static struct draft drafts[16];
    static spanlog_message messages[16];
    const cJSON *many = field(step, "messages");
    size_t count = many == NULL ? 1 : (size_t)cJSON_GetArraySize(many);
    CHECK(count <= sizeof(drafts) / sizeof(*drafts));
    for (size_t at = 0; at < count; at++) {
        const cJSON *given = many ? cJSON_GetArrayItem(many, (int)at) : field(step, "message");
        messages[at] = draft_message(given, &drafts[at]);
    }
    spanlog_receipt receipt;
    spanlog_status status;
    if (strcmp(op, "append") == 0) {
        status = spanlog_store_append(store, messages, &receipt, error);
    } else if (strcmp(op, "append_durable") == 0) {
        status = spanlog_store_append_durable(store, messages, &receipt, error);
    } else if (strcmp(op, "append_batch") == 0) {
        status = spanlog_store_append_batch(store, messages, count, &receipt, error);
    } else {
        status = spanlog_store_append_batch_durable(store, messages, count, &receipt, error);
    }
    for (size_t at = 0; at < count; at++) free(drafts[at].body);
    if (status < 0) return status;
    put_number(result, "queue_offset", receipt.queue_offset);
    put_number(result, "position", receipt.position);
    put_number(result, "end", receipt.end);
    put_signed(result, "store_ms", receipt.store_ms);
    return status;
}

static spanlog_status answer_batch(spanlog_status status, spanlog_batch *batch, cJSON *result) {
    if (status < 0) return status;
    spanlog_batch_info info = SPANLOG_BATCH_INFO_INIT;
    WELL(spanlog_batch_get_info(batch, &info, NULL), NULL);
    put_batch(result, batch, &info);
    spanlog_batch_free(batch);
    return status;
}

static spanlog_status read_queue(spanlog_store *store, const cJSON *step, cJSON *result,
                                 spanlog_error **error) {
    spanlog_read_options options = read_options(step);
    spanlog_batch *batch = NULL;
    spanlog_status status =
        spanlog_store_read(store, text(step, "topic"), (uint32_t)number(step, "queue", 0),
                           number(step, "from", 0), &options, &batch, error);
    return answer_batch(status, batch, result);
}

static spanlog_status read_filtered(spanlog_store *store, const cJSON *step, cJSON *result,
                                    spanlog_error **error) {
    spanlog_read_options options = read_options(step);
    spanlog_batch *batch = NULL;
    spanlog_status status = spanlog_store_read_filtered(
        store, text(step, "topic"), (uint32_t)number(step, "queue", 0), number(step, "from", 0),
        text(step, "tags"), &options, &batch, error);
    return answer_batch(status, batch, result);
}

static spanlog_status query(spanlog_store *store, const cJSON *step, cJSON *result,
                            spanlog_error **error) {
    spanlog_query_options options = SPANLOG_QUERY_OPTIONS_INIT;
    spanlog_batch *batch = NULL;
    options.max_messages = read_options(step).max_messages;
    spanlog_status status = spanlog_store_query(store, text(step, "topic"), text(step, "key"),
                                                &options, &batch, error);
    return answer_batch(status, batch, result);
}

static spanlog_status find_by_id(spanlog_store *store, const cJSON *step, cJSON *result,
                                 spanlog_error **error) {
    spanlog_batch *batch = NULL;
    spanlog_status status =
        spanlog_store_find_by_id(store, text(step, "topic"), text(step, "id"), &batch, error);
    return answer_batch(status, batch, result);
}

static spanlog_status offset_at(spanlog_store *store, const cJSON *step, cJSON *result,
                                spanlog_error **error) {
    static const char *const boundaries[] = {"lower", "upper", NULL};
    uint64_t offset = 0;
    spanlog_status status = spanlog_store_offset_at(
        store, text(step, "topic"), (uint32_t)number(step, "queue", 0),
        (int64_t)number(step, "time_ms", 0), word(text(step, "boundary"), boundaries), &offset,
        error);
    put_number(result, "offset", offset);
    return status;
}

static spanlog_status wait_for(spanlog_store *store, const cJSON *step, cJSON *result,
                               spanlog_error **error) {
    spanlog_status status = spanlog_store_wait(
        store, text(step, "topic"), (uint32_t)number(step, "queue", 0), number(step, "from", 0),
        (int64_t)number(step, "timeout_ms", 0), error);
    cJSON_AddBoolToObject(result, "told", status == SPANLOG_STATUS_OK);
    return status;
}

static spanlog_status get(spanlog_store *store, const cJSON *step, cJSON *result,
                          spanlog_error **error) {
    spanlog_batch *batch = NULL;
    spanlog_status status = spanlog_store_get(store, number(step, "position", 0), &batch, error);
    if (status < 0) return status;
    put_message(result, spanlog_batch_messages(batch, NULL));
    spanlog_batch_free(batch);
    return status;
}

static spanlog_status run(spanlog_store *store, const cJSON *step, spanlog_error **error) {
    static const char *const tasks[] = {"flush", "index", "checkpoint", "probe", "clean",
                                        "prepare", NULL};
    int32_t task = word(text(step, "task"), tasks);
    spanlog_status status = SPANLOG_STATUS_OK;
    for (uint64_t times = number(step, "times", 1); times > 0 && status >= 0; times--) {
        status = spanlog_store_run(store, task, NULL, error);
    }
    return status;
}

static spanlog_status bounds(spanlog_store *store, const cJSON *step, cJSON *result,
                             spanlog_error **error) {
    spanlog_bounds found;
    spanlog_status status = spanlog_store_bounds(store, text(step, "topic"),
                                                 (uint32_t)number(step, "queue", 0), &found, error);
    if (status == SPANLOG_STATUS_END) cJSON_AddTrueToObject(result, "none");
    if (status != SPANLOG_STATUS_OK) return status;
    put_number(result, "min", found.min);
    put_number(result, "max", found.max);
    return status;
}

static spanlog_status set_role(spanlog_store *store, const cJSON *step, spanlog_error **error) {
    char path[8192];
    return spanlog_store_set_role(store, in_world(step, "path", path),
                                  word(text(step, "role"), ROLES), error);
}

static spanlog_status add_directory(spanlog_store *store, const cJSON *step,
                                    spanlog_error **error) {
    struct directory_draft draft;
    spanlog_directory_options options = draft_directory(field(step, "directory"), &draft);
    return spanlog_store_add_directory(store, &options, error);
}

static spanlog_status on_store(const char *op, const cJSON *step, cJSON *result,
                               spanlog_error **error) {
    spanlog_store *store = *handle(step, 0);
    char path[8192];
    spanlog_status status = SPANLOG_STATUS_OK;
    if (on_cursors(store, op, step, result, error, &status)) return status;
#define IS(name) (strcmp(op, name) == 0)
    if (IS("close")) return spanlog_store_close(store, error);
    if (IS("flush")) return spanlog_store_flush(store, error);
    if (IS("catch_up")) return spanlog_store_catch_up(store, error);
    if (IS("clean_now")) return spanlog_store_clean_now(store, error);
    if (IS("refresh")) {
        status = spanlog_store_refresh(store, error);
        cJSON_AddBoolToObject(result, "news", status == SPANLOG_STATUS_OK);
        return status;
    }
    if (strncmp(op, "append", 6) == 0) return append(store, op, step, result, error);
    if (IS("read")) return read_queue(store, step, result, error);
    if (IS("get")) return get(store, step, result, error);
    if (IS("read_filtered")) return read_filtered(store, step, result, error);
    if (IS("query")) return query(store, step, result, error);
    if (IS("find_by_id")) return find_by_id(store, step, result, error);
    if (IS("offset_at")) return offset_at(store, step, result, error);
    if (IS("wait")) return wait_for(store, step, result, error);
    if (IS("run")) return run(store, step, error);
    if (IS("bounds")) return bounds(store, step, result, error);
    if (IS("set_role")) return set_role(store, step, error);
    if (IS("add_directory")) return add_directory(store, step, error);
    if (IS("remove_directory")) {
        return spanlog_store_remove_directory(store, in_world(step, "path", path), error);
    }
    if (IS("set_usage")) {
        return spanlog_store_set_usage(store, in_world(step, "path", path),
                                       number(step, "used_bytes", 0),
                                       number(step, "available_bytes", 0), error);
    }
    return report(store, op, step, result, error);
}

static spanlog_status outcome(const char *op, const cJSON *step, cJSON *result,
                              spanlog_error **error) {
    char root[8192];
    spanlog_status answered = SPANLOG_STATUS_OK;
    if (on_files(op, step) || on_cursor(op, step, result, error, &answered)) return answered;
    if (on_closed(op, step, result, error, &answered)) return answered;
    if (strncmp(op, "queue_", 6) == 0) return on_queue(op, step, result, error);
    if (strcmp(op, "open") != 0 && strcmp(op, "destroy") != 0) {
        return on_store(op, step, result, error);
    }
    struct options_draft draft;
    spanlog_options options = draft_options(field(step, "options"), &draft);
    in_world(step, "root", root);
    if (strcmp(op, "destroy") == 0) return spanlog_store_destroy(root, &options, error);
    spanlog_store *store = NULL;
    spanlog_status status = spanlog_store_open(root, &options, &store, error);
    if (status >= 0) *handle(step, 1) = store;
    return status;
}

static void run_step(const cJSON *step) {
    cJSON *result = cJSON_CreateObject();
    spanlog_error *error = NULL;
    const char *op = text(step, "op");
    spanlog_status status = outcome(op, step, result, &error);
    const cJSON *expected = field(step, "error");
    if (expected == NULL && status < 0) FAIL("%s", spanlog_error_message(error));
    if (expected != NULL && status >= 0) FAIL("it should have failed");
    if (expected == NULL) {
        expected = field(step, "expect");
    } else {
        put_error(result, error);
    }
    if (expected != NULL) compare(expected, result, "result");
    spanlog_error_free(error);
    cJSON_Delete(result);
}

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *walk) {
    (void)stat, (void)kind, (void)walk;
    return remove(path);
}

static void run_scenario(const char *path) {
    cJSON *scenario = parse_file(path);
    const cJSON *step;
    memset(handles, 0, sizeof(handles));
    CHECK(mkdir(world, 0777) == 0);
    int at = 0;
    cJSON_ArrayForEach(step, field(scenario, "steps")) {
        char *shown = cJSON_PrintUnformatted(step);
        snprintf(where, sizeof(where), "%s: step %d: %.300s", path, at++, shown);
        free(shown);
        run_step(step);
    }
    close_consumers();
    for (size_t row = 0; row < sizeof(handles) / sizeof(*handles); row++) {
        (void)spanlog_store_close(handles[row].store, NULL);
    }
    cJSON_Delete(scenario);
    CHECK(nftw(world, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

int main(int argc, char **argv) {
    if (argc < 3) FAIL("usage: %s FOLDER SCENARIO.json...", argv[0]);
    CHECK(realpath(argv[1], world) != NULL);
    snprintf(world + strlen(world), 16, "/world");
    for (int at = 2; at < argc; at++) {
        run_scenario(argv[at]);
        printf("ok %s\n", argv[at]);
    }
    return done();
}
