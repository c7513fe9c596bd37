/* Reading scenarios: values, messages, options; and comparing what was found. */
#include "scenarios.h"

#include <inttypes.h>
#include <stdarg.h>

char where[512];

const char *const ROLES[] = {"read-write", "draining", "read-only", NULL};
static const char *const PLACEMENTS[] = {"rocketmq", "free-space", "hash", NULL};
static const char *const QUANTIFIERS[] = {"any", "all", NULL};
static const char *const ON_DAMAGE[] = {"refuse", "skip", "cut", NULL};

cJSON *parse_file(const char *path) {
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t len = fread(bytes, 1, sizeof(bytes) - 1, file);
    CHECK(len < sizeof(bytes) - 1 && fclose(file) == 0);
    bytes[len] = '\0';
    cJSON *json = cJSON_Parse(bytes);
    if (json == NULL) FAIL("%s is not JSON", path);
    return json;
}

const cJSON *field(const cJSON *object, const char *name) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return value == NULL || cJSON_IsNull(value) ? NULL : value;
}

const char *text(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(field(object, name));
}

/* An integer as decimal digits: from a number or a string. */
static const char *digits(const cJSON *value, char buffer[32]) {
    if (cJSON_IsString(value)) return value->valuestring;
    snprintf(buffer, 32, "%.0f", value->valuedouble);
    return buffer;
}

uint64_t number(const cJSON *object, const char *name, uint64_t otherwise) {
    const cJSON *value = field(object, name);
    char buffer[32];
    return value == NULL ? otherwise : strtoull(digits(value, buffer), NULL, 10);
}

int32_t word(const char *given, const char *const *words) {
    for (int32_t at = 0; given != NULL && words[at] != NULL; at++) {
        if (strcmp(words[at], given) == 0) return at + 1;
    }
    return given == NULL ? 0 : INT32_MAX;
}

static unsigned nibble(char digit) {
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

size_t bytes_of_hex(const char *digits_, char *bytes, size_t room) {
    size_t len = strlen(digits_) / 2;
    CHECK(len <= room);
    for (size_t at = 0; at < len; at++) {
        bytes[at] = (char)(nibble(digits_[2 * at]) << 4 | nibble(digits_[2 * at + 1]));
    }
    return len;
}

const char *in_world(const cJSON *step, const char *name, char path[8192]) {
    snprintf(path, 8192, "%s/%s", world, text(step, name));
    return path;
}

char *bytes_of_body(const cJSON *value, size_t *len) {
    const char *plain = cJSON_GetStringValue(value), *hex = text(value, "hex");
    char *bytes;
    if (plain != NULL) {
        *len = strlen(plain);
        bytes = malloc(*len + 1);
        memcpy(bytes, plain, *len);
    } else if (hex != NULL) {
        *len = strlen(hex) / 2;
        bytes = malloc(*len + 1);
        bytes_of_hex(hex, bytes, *len);
    } else {
        *len = number(value, "bytes", 0);
        bytes = malloc(*len + 1);
        memset(bytes, text(value, "fill")[0], *len);
    }
    return bytes;
}

spanlog_message draft_message(const cJSON *given, struct draft *draft) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    const cJSON *value;
    message.topic = text(given, "topic");
    message.queue = (uint32_t)number(given, "queue", 0);
    message.body = draft->body = bytes_of_body(field(given, "body"), &message.body_len);
    message.tags = text(given, "tags");
    message.keys = draft->keys;
    cJSON_ArrayForEach(value, field(given, "keys")) {
        CHECK(message.key_count < 8);
        draft->keys[message.key_count++] = value->valuestring;
    }
    message.properties = draft->properties;
    cJSON_ArrayForEach(value, field(given, "properties")) {
        CHECK(message.property_count < 8);
        spanlog_property property = {value->string, value->valuestring};
        draft->properties[message.property_count++] = property;
    }
    message.flag = (int32_t)(int64_t)number(given, "flag", 0);
    message.sys_flag = (int32_t)number(given, "sys_flag", 0);
    message.born_ms = (int64_t)number(given, "born_ms", 0);
    return message;
}

uint64_t count(const cJSON *value) {
    char buffer[32];
    uint64_t found = strtoull(digits(value, buffer), NULL, 10);
    return found == 0 ? SPANLOG_ZERO : found;
}

static spanlog_thresholds thresholds(const cJSON *given) {
    spanlog_thresholds marks = SPANLOG_THRESHOLDS_INIT;
    const struct {
        const char *name;
        double *place;
    } ratios[] = {{"clean", &marks.clean},
                  {"force", &marks.force},
                  {"refuse", &marks.refuse},
                  {"hysteresis", &marks.hysteresis}};
    for (size_t at = 0; at < 4; at++) {
        const cJSON *value = field(given, ratios[at].name);
        if (value != NULL) *ratios[at].place = value->valuedouble;
    }
    if (field(given, "hysteresis") != NULL && marks.hysteresis == 0) marks.hysteresis = -1;
    marks.floor_bytes = number(given, "floor_bytes", 0);
    return marks;
}

spanlog_directory_options draft_directory(const cJSON *given, struct directory_draft *draft) {
    spanlog_directory_options directory = SPANLOG_DIRECTORY_OPTIONS_INIT;
    const char *plain = cJSON_GetStringValue(given);
    snprintf(draft->path, sizeof(draft->path), "%s/%s", world, plain ? plain : text(given, "path"));
    directory.path = draft->path;
    directory.role = word(text(given, "role"), ROLES);
    if (field(given, "thresholds") != NULL) {
        draft->thresholds = thresholds(field(given, "thresholds"));
        directory.thresholds = &draft->thresholds;
    }
    return directory;
}

static void set_option(spanlog_options *options, const cJSON *value, struct options_draft *draft) {
    const char *name = value->string;
    int32_t is_on = cJSON_IsTrue(value) ? SPANLOG_SWITCH_ON : SPANLOG_SWITCH_OFF;
#define IS(field_) else if (strcmp(name, #field_) == 0)
#define NUMBER(field_) IS(field_) options->field_ = count(value)
#define SWITCH(field_) IS(field_) options->field_ = is_on
#define WORD(field_, words) IS(field_) options->field_ = word(value->valuestring, words)
    if (strcmp(name, "directories") == 0) {
        const cJSON *row;
        cJSON_ArrayForEach(row, value) {
            size_t at = options->directory_count++;
            CHECK(at < 4);
            draft->directories[at] = draft_directory(row, &draft->directory[at]);
        }
        options->directories = draft->directories;
    }
    IS(durability) {
        int is_group = cJSON_IsString(value);
        options->durability = is_group ? SPANLOG_DURABILITY_GROUP : SPANLOG_DURABILITY_ASYNC;
        options->flush_interval_ms = number(value, "interval_ms", 0);
        options->flush_bytes = number(value, "bytes", 0);
    }
    IS(thresholds) {
        draft->thresholds = thresholds(value);
        options->thresholds = &draft->thresholds;
    }
    IS(delete_hours) options->delete_hours = value->valuestring;
    IS(max_forced_per_round) options->max_forced_per_round = (uint32_t)count(value);
    NUMBER(segment_len_bytes);
    NUMBER(queue_file_len_bytes);
    NUMBER(retention_ms);
    NUMBER(max_body_bytes);
    WORD(placement, PLACEMENTS);
    WORD(on_damage, ON_DAMAGE);
    WORD(clean_on, QUANTIFIERS);
    WORD(force_on, QUANTIFIERS);
    WORD(refuse_on, QUANTIFIERS);
    SWITCH(forced_clean);
    SWITCH(refuse_reads_when_full);
    SWITCH(record_checksum);
    SWITCH(key_index);
    SWITCH(allow_offline);
    SWITCH(adopt);
    SWITCH(read_only);
    SWITCH(create);
    SWITCH(background);
    else FAIL("there is no option %s", name);
}

spanlog_options draft_options(const cJSON *given, struct options_draft *draft) {
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    const cJSON *value;
    options.background = SPANLOG_SWITCH_OFF;
    cJSON_ArrayForEach(value, given) set_option(&options, value, draft);
    return options;
}

spanlog_read_options read_options(const cJSON *step) {
    spanlog_read_options options = SPANLOG_READ_OPTIONS_INIT;
    const cJSON *messages = field(step, "max_messages"), *bytes = field(step, "max_bytes");
    if (messages != NULL) options.max_messages = count(messages);
    if (bytes != NULL) options.max_bytes = count(bytes);
    return options;
}

static int is_same_body(const cJSON *expected, const cJSON *found) {
    size_t expected_len = 0, found_len = 0;
    char *expected_bytes = bytes_of_body(expected, &expected_len);
    char *found_bytes = bytes_of_body(found, &found_len);
    int same = expected_len == found_len && memcmp(expected_bytes, found_bytes, found_len) == 0;
    free(expected_bytes);
    free(found_bytes);
    return same;
}

void compare(const cJSON *expected, const cJSON *found, const char *at) {
    char inner[256], left[32], right[32];
    const cJSON *value;
    int same;
    if (found == NULL || cJSON_IsNull(found)) {
        same = cJSON_IsNull(expected);
    } else if (expected->string != NULL && strcmp(expected->string, "body") == 0) {
        same = is_same_body(expected, found);
    } else if (cJSON_IsObject(expected)) {
        cJSON_ArrayForEach(value, expected) {
            snprintf(inner, sizeof(inner), "%.200s.%.40s", at, value->string);
            compare(value, cJSON_GetObjectItemCaseSensitive(found, value->string), inner);
        }
        return;
    } else if (cJSON_IsArray(expected)) {
        same = cJSON_GetArraySize(expected) == cJSON_GetArraySize(found);
        for (int row = 0; same && row < cJSON_GetArraySize(expected); row++) {
            snprintf(inner, sizeof(inner), "%.200s[%d]", at, row);
            compare(cJSON_GetArrayItem(expected, row), cJSON_GetArrayItem(found, row), inner);
        }
    } else if (cJSON_IsBool(expected) || cJSON_IsNull(expected)) {
        same = expected->type == found->type;
    } else {
        same = strcmp(digits(expected, left), digits(found, right)) == 0;
    }
    if (same) return;
    char *wanted = cJSON_PrintUnformatted(expected), *shown = cJSON_PrintUnformatted(found);
    FAIL("%s: expected %s, found %s", at, wanted, shown ? shown : "nothing");
}
