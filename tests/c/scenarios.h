/* The values of scenarios: reading JSON into what the C interface takes, and back. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "check.h"

#include <cjson/cJSON.h>

#undef FAIL
/* A failure names the step. */
#define FAIL(...)                                               \
    do {                                                        \
        fprintf(stderr, "%s\n%s:%d: ", where, __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__);                           \
        fprintf(stderr, "\n");                                  \
        exit(1);                                                \
    } while (0)

/* The step that runs. */
extern char where[512];
/* The folder in which all paths of a scenario begin. */
extern char world[4096];

extern const char *const ROLES[];

/* What a message, a directory or options point to. */
struct draft {
    char *body;
    const char *keys[8];
    spanlog_property properties[8];
};
struct directory_draft {
    char path[8192];
    spanlog_thresholds thresholds;
};
struct options_draft {
    struct directory_draft directory[4];
    spanlog_directory_options directories[4];
    spanlog_thresholds thresholds;
};

cJSON *parse_file(const char *path);
const cJSON *field(const cJSON *object, const char *name);
const char *text(const cJSON *object, const char *name);
uint64_t number(const cJSON *object, const char *name, uint64_t otherwise);
/* The number of a word in a list, from 1; one that no list has for another word. */
int32_t word(const char *given, const char *const *words);
/* A number of an option: 0 stands for a default there, so it has another name. */
uint64_t count(const cJSON *value);
/* The bytes of a body, to be freed. */
char *bytes_of_body(const cJSON *value, size_t *len);
size_t bytes_of_hex(const char *digits, char *bytes, size_t room);
const char *in_world(const cJSON *step, const char *name, char path[8192]);

spanlog_message draft_message(const cJSON *given, struct draft *draft);
spanlog_directory_options draft_directory(const cJSON *given, struct directory_draft *draft);
spanlog_options draft_options(const cJSON *given, struct options_draft *draft);
spanlog_read_options read_options(const cJSON *step);

void put_number(cJSON *object, const char *name, uint64_t number);
void put_signed(cJSON *object, const char *name, int64_t number);
cJSON *hex_of(spanlog_bytes bytes);
void put_message(cJSON *object, const spanlog_message_view *message);
void put_batch(cJSON *object, const spanlog_batch *batch, const spanlog_batch_info *info);
void put_error(cJSON *object, const spanlog_error *error);

/* The operations that only look. */
spanlog_status report(spanlog_store *store, const char *op, const cJSON *step, cJSON *result,
                      spanlog_error **error);

/* What is done with an open cursor; 0 for another operation. */
int on_cursor(const char *op, const cJSON *step, cJSON *result, spanlog_error **error,
              spanlog_status *status);
/* What a store does with its cursors; 0 for another operation. */
int on_cursors(spanlog_store *store, const char *op, const cJSON *step, cJSON *result,
               spanlog_error **error, spanlog_status *status);
/* What is done with a store that nobody has open: whether the operation is one of those. */
int on_closed(const char *op, const cJSON *step, cJSON *result, spanlog_error **error,
              spanlog_status *status);
/* What is done with queue mode: all operations whose names begin with "queue_". */
spanlog_status on_queue(const char *op, const cJSON *step, cJSON *result, spanlog_error **error);
void close_consumers(void);

/* Fails where `found` is not what `expected` says. */
void compare(const cJSON *expected, const cJSON *found, const char *at);

#endif
