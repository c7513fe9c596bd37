/* A process forks while its threads are at work with every kind of handle: the child inherits their
 * locks as they are, and must neither wait for them nor touch what is the parent's. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 20 };

static spanlog_store *store;
static spanlog_watch *shared_watch;
static spanlog_batch *shared_batch;
static spanlog_verification *shared_look;
static atomic_int over;

static spanlog_status append(spanlog_store *to) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    message.body = "tea";
    message.body_len = 3;
    return spanlog_store_append(to, &message, NULL, NULL);
}

/* In a call all the time: the handle's lock is never free. */
static void *wait_for_what_never_comes(void *nothing) {
    CHECK(spanlog_store_wait(store, "never", 0, 0, -1, NULL) == SPANLOG_STATUS_CLOSED);
    return nothing;
}

static void *append_and_read(void *nothing) {
    while (!over) {
        spanlog_batch *batch = NULL;
        size_t count = 0;
        CHECK(append(store) == SPANLOG_STATUS_OK);
        CHECK(spanlog_store_read(store, "orders", 0, 0, NULL, &batch, NULL) >= 0);
        CHECK(spanlog_batch_messages(shared_batch, &count) != NULL && count == 1);
        spanlog_batch_free(batch);
    }
    return nothing;
}

static void *make_and_free(void *nothing) {
    while (!over) {
        spanlog_watch *watch = NULL;
        spanlog_error *error = NULL;
        CHECK(spanlog_store_watch(store, NULL, 0, &watch, NULL) == SPANLOG_STATUS_OK);
        CHECK(spanlog_watch_clear(shared_watch, NULL) == SPANLOG_STATUS_OK);
        spanlog_watch_free(watch);
        CHECK(spanlog_watch_clear(watch, &error) == SPANLOG_STATUS_CLOSED);
        CHECK(spanlog_verification_step(shared_look, NULL, NULL) >= 0);
        spanlog_error_free(error);
    }
    return nothing;
}

static int is_closed(spanlog_status status) { return status == SPANLOG_STATUS_CLOSED; }

/* Gives up what is the parent's, and works with a store of its own. */
static int child(const char *root) {
    int as_told = is_closed(spanlog_store_flush(store, NULL)) &&
                  is_closed(spanlog_watch_clear(shared_watch, NULL)) &&
                  is_closed(spanlog_verification_step(shared_look, NULL, NULL)) &&
                  spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK &&
                  is_closed(spanlog_store_close(store, NULL));
    spanlog_watch_free(shared_watch);
    spanlog_verification_free(shared_look);
    spanlog_batch_free(shared_batch);
    if (!as_told) return 3;
    spanlog_store *own = NULL;
    spanlog_batch *batch = NULL;
    if (spanlog_store_open(root, NULL, &own, NULL) < 0) return 4;
    if (append(own) < 0 || spanlog_store_catch_up(own, NULL) < 0) return 5;
    if (spanlog_store_read(own, "orders", 0, 0, NULL, &batch, NULL) != SPANLOG_STATUS_OK) return 6;
    spanlog_batch_free(batch);
    return spanlog_store_close(own, NULL) == SPANLOG_STATUS_OK ? 0 : 7;
}

static void fork_once(const char *root) {
    pid_t forked = fork();
    CHECK(forked >= 0);
    if (forked == 0) {
        alarm(120); /* A child that hangs dies of it. */
        int wrong = child(root);
        /* What it inherited is given up, not freed: no checker of leaks shall look at it. */
        if (wrong == 0) execl("/bin/true", "true", (char *)NULL);
        _exit(wrong == 0 ? 2 : wrong);
    }
    int how = -1;
    CHECK(waitpid(forked, &how, 0) == forked);
    if (how != 0) FAIL("the child ended with %x", how);
}

int main(int argc, char **argv) {
    void *(*const works[])(void *) = {wait_for_what_never_comes, append_and_read, append_and_read,
                                      make_and_free, make_and_free};
    enum { WORKERS = sizeof(works) / sizeof(*works) };
    pthread_t workers[WORKERS];
    char root[4200];
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    snprintf(root, sizeof(root), "%s/parent", argv[1]);
    CHECK(spanlog_store_open(root, NULL, &store, NULL) == SPANLOG_STATUS_OK);
    CHECK(append(store) == SPANLOG_STATUS_OK && spanlog_store_catch_up(store, NULL) == 0);
    CHECK(spanlog_store_read(store, "orders", 0, 0, NULL, &shared_batch, NULL) == 0);
    CHECK(spanlog_store_watch(store, NULL, 0, &shared_watch, NULL) == SPANLOG_STATUS_OK);
    CHECK(spanlog_store_verify(store, &shared_look, NULL) == SPANLOG_STATUS_OK);
    for (int at = 0; at < WORKERS; at++) {
        CHECK(pthread_create(&workers[at], NULL, works[at], NULL) == 0);
    }
    snprintf(root, sizeof(root), "%s/child", argv[1]);
    for (int round = 0; round < FORKS; round++) fork_once(root);
    over = 1;
    for (int at = 1; at < WORKERS; at++) CHECK(pthread_join(workers[at], NULL) == 0);
    spanlog_batch_free(shared_batch);
    spanlog_watch_free(shared_watch);
    spanlog_verification_free(shared_look);
    CHECK(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
    CHECK(pthread_join(workers[0], NULL) == 0);
    return done();
}
