/* Lets calls on files below $SHIM_DATA fail while a trigger file is in $SHIM_TRIGGERS:
 *   full      every write says ENOSPC
 *   unindexed every write to the shared index of a write-ahead log says ENOSPC
 *   broken    every write says EIO
 *   unsynced  every sync says EIO
 *   readonly  whatever would change a file or a directory says EROFS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int triggered(const char *fault) {
    char path[PATH_MAX];
    const char *triggers = getenv("SHIM_TRIGGERS");
    if (!triggers) return 0;
    snprintf(path, sizeof path, "%s/%s", triggers, fault);
    int before = errno;
    int there = access(path, F_OK) == 0;
    errno = before;
    return there;
}

static int below_data(const char *path) {
    const char *data = getenv("SHIM_DATA");
    return data && path && strncmp(path, data, strlen(data)) == 0;
}

static int is_data(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int before = errno;
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return below_data(path);
}

static int is_index(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int before = errno;
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    return length > 4 && strncmp(path + length - 4, "-shm", 4) == 0;
}

static int write_fault(int fd) {
    if (triggered("unindexed") && is_index(fd)) return ENOSPC;
    int fault = triggered("full") ? ENOSPC : triggered("broken") ? EIO : 0;
    return fault && is_data(fd) ? fault : 0;
}

#define FAIL_IF(fault) do { int code = (fault); if (code) { errno = code; return -1; } } while (0)

ssize_t write(int fd, const void *bytes, size_t count) {
    FAIL_IF(write_fault(fd));
    return REAL(write)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    FAIL_IF(write_fault(fd));
    return REAL(pwrite)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    FAIL_IF(write_fault(fd));
    return REAL(pwrite64)(fd, bytes, count, offset);
}

int fsync(int fd) {
    FAIL_IF(triggered("unsynced") && is_data(fd) ? EIO : 0);
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    FAIL_IF(triggered("unsynced") && is_data(fd) ? EIO : 0);
    return REAL(fdatasync)(fd);
}

static int read_only(const char *path) {
    return below_data(path) && triggered("readonly") ? EROFS : 0;
}

static int open_fault(const char *path, int flags) {
    int missing_is_fine = (flags & O_CREAT) && REAL(access)(path, F_OK) != 0;
    return (flags & O_ACCMODE) != O_RDONLY || missing_is_fine ? read_only(path) : 0;
}

#define OPEN(name)                                        \
    int name(const char *path, int flags, ...) {          \
        va_list rest;                                     \
        va_start(rest, flags);                            \
        mode_t mode = va_arg(rest, mode_t);               \
        va_end(rest);                                     \
        FAIL_IF(open_fault(path, flags));                 \
        return REAL(name)(path, flags, mode);             \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                      \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest;                                     \
        va_start(rest, flags);                            \
        mode_t mode = va_arg(rest, mode_t);               \
        va_end(rest);                                     \
        FAIL_IF(open_fault(path, flags));                 \
        return REAL(name)(directory, path, flags, mode);  \
    }
OPENAT(openat)
OPENAT(openat64)

int mkdir(const char *path, mode_t mode) {
    FAIL_IF(read_only(path));
    return REAL(mkdir)(path, mode);
}

int unlink(const char *path) {
    FAIL_IF(read_only(path));
    return REAL(unlink)(path);
}

int rename(const char *from, const char *to) {
    FAIL_IF(read_only(from) ? EROFS : read_only(to));
    return REAL(rename)(from, to);
}
