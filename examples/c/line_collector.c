/* A small syslog: takes lines from whoever connects to a UNIX socket and stores them, the severity
 * of "<PRI>text" as their tag: line_collector DIRECTORY SOCKET. Ends with SIGTERM. */
#include <poll.h>
#include <signal.h>
#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 64 };
static struct pollfd polled[CLIENTS + 1];
static struct { char bytes[8192]; size_t len; } pending[CLIENTS + 1];
static volatile sig_atomic_t ended;

static void end(int signal) { ended = signal; }
static void store_line(spanlog_store *store, const char *line, size_t len) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    char tag[16] = "user";
    if (len > 2 && line[0] == '<') snprintf(tag, sizeof(tag), "severity%d", atoi(line + 1) & 7);
    message.topic = "syslog", message.tags = tag, message.body = line, message.body_len = len;
    if (spanlog_store_append(store, &message, NULL, NULL) < 0) fputs("lost a line\n", stderr);
}

/* Takes what a client sent; 0 once it has gone. */
static int take(spanlog_store *store, int at) {
    char *bytes = pending[at].bytes, *end_of_line;
    size_t *len = &pending[at].len, room = sizeof(pending[at].bytes);
    ssize_t got = read(polled[at].fd, bytes + *len, room - *len);
    if (got > 0) *len += (size_t)got;
    while ((end_of_line = memchr(bytes, '\n', *len)) || *len == room || (got <= 0 && *len > 0)) {
        size_t line = end_of_line ? (size_t)(end_of_line - bytes) : *len;
        store_line(store, bytes, line);
        *len -= line + !!end_of_line;
        memmove(bytes, bytes + line + !!end_of_line, *len);
    }
    return got > 0;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    spanlog_store *store = NULL;
    if (argc != 3 || spanlog_store_open(argv[1], NULL, &store, NULL) < 0) return 1;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[2]);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
    for (int at = 1; at <= CLIENTS; at++) polled[at] = (struct pollfd){-1, POLLIN, 0};
    polled[0] = (struct pollfd){socket(AF_UNIX, SOCK_STREAM, 0), POLLIN, 0};
    if (bind(polled[0].fd, (void *)&address, sizeof(address)) || listen(polled[0].fd, 16)) return 1;
    while (!ended && poll(polled, CLIENTS + 1, -1) >= 0) {
        for (int at = 1; at <= CLIENTS; at++) {
            int *fd = &polled[at].fd;
            if (*fd >= 0 && polled[at].revents && !take(store, at)) close(*fd), *fd = -1;
            if (*fd >= 0 || !polled[0].revents) continue;
            *fd = accept(polled[0].fd, NULL, NULL), polled[0].revents = polled[at].revents = 0;
        }
    }
    return unlink(argv[2]) | (spanlog_store_close(store, NULL) < 0);
}
