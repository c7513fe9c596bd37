/* What the C tests share: checks that are counted, and a store in a fresh folder. */
#ifndef CHECK_H
#define CHECK_H

#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...)                                      \
    do {                                               \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__);                  \
        fprintf(stderr, "\n");                         \
        exit(1);                                       \
    } while (0)

#define CHECK(condition)                            \
    do {                                            \
        if (!(condition)) FAIL("not so: %s", #condition); \
    } while (0)

/* The call succeeded; if not, says why. `error` is the place that was given to it. */
#define WELL(call, error)                                        \
    do {                                                         \
        spanlog_status well_ = (call);                           \
        if (well_ < 0) FAIL("%s", spanlog_error_message(error)); \
    } while (0)

/* Opens a store in the folder that is the program's only argument. */
static inline spanlog_store *open_fresh(int argc, char **argv) {
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = 1 << 20;
    options.background = SPANLOG_SWITCH_OFF;
    spanlog_store *store = NULL;
    spanlog_error *error = NULL;
    WELL(spanlog_store_open(argv[1], &options, &store, &error), error);
    return store;
}

static inline int done(void) {
    printf("ok\n");
    return 0;
}

#endif
