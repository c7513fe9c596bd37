
/** The release that is compiled against; spanlog_version() tells the one that runs. */
#define SPANLOG_VERSION "@version@"
/** As above, as spanlog_version_number() tells it. */
#define SPANLOG_VERSION_NUMBER @number@

/** The number 0 in a field where 0 stands for a default that is something else. */
#define SPANLOG_ZERO UINT64_MAX

#if defined(_WIN32)
#define SPANLOG_API __declspec(dllimport)
#elif defined(__GNUC__)
#define SPANLOG_API __attribute__((visibility("default")))
#else
#define SPANLOG_API
#endif

/* Where ignoring the outcome is a defect of the caller's. */
#if defined(__GNUC__)
#define SPANLOG_MUST_USE __attribute__((warn_unused_result))
#else
#define SPANLOG_MUST_USE
#endif

/* A structure of zeros that knows its size. */
#ifdef __cplusplus
extern "C++" {
template <typename Structure>
constexpr Structure spanlog_sized() {
    Structure structure = {};
    structure.struct_size = sizeof(Structure);
    return structure;
}
}
#define SPANLOG_SIZED(structure) (spanlog_sized<structure>())
#else
#define SPANLOG_SIZED(structure) { .struct_size = sizeof(structure) }
#endif
