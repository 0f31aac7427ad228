#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif

#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#undef near   /* names of ours */
#undef far
#else
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "core/base/base.h"
#include "lua/live/live.h"

/* How many names of temporary files are tried: a crash may have left some. */
#define NAMES 1000

/* Bytes of a path; links in a longer one are not followed. */
#ifdef PATH_MAX
#define PATH_SIZE PATH_MAX
#else
#define PATH_SIZE 4096
#endif

/* Bytes of one write; systems take 2^31 at most. */
#define PIECE ((size_t)1 << 30)

/* ---- the system ------------------------------------------------------------------------- */

#ifdef _WIN32

/* How often a rename is tried, 10 ms apart, while another process has the old file open. */
#define RENAMES 100

typedef HANDLE stream;
typedef DWORD reason;

static int replace_process(void) { return (int)GetCurrentProcessId(); }

static bool replace_create(const char *path, stream *out, bool *taken) {
  wchar_t wide[WIDE_PATH];
  bool known = files_widen(path, wide);
  *out = INVALID_HANDLE_VALUE;
  if (known)
    *out = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
  *taken = known && *out == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
  return *out != INVALID_HANDLE_VALUE;
}

static bool replace_put(stream out, const char *data, size_t size, size_t *written) {
  DWORD count = 0;
  bool ok = WriteFile(out, data, (DWORD)size, &count, NULL);
  *written = count;
  return ok;
}

static bool replace_settle(stream out) { return FlushFileBuffers(out); }

static bool replace_finish(stream out) { return CloseHandle(out); }

static bool replace_is_directory(const wchar_t *path) {
  DWORD attributes = GetFileAttributesW(path);
  return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

/* Links are replaced; what is not a file cannot be. */
static const char *replace_target(const char *path, char *real) {
  (void)real;
  return path;
}

static bool replace_adopt(stream out, const char *path) {
  (void)out, (void)path;
  return true;
}

/* rename() fails here if the new name is taken. */
static bool replace_move(const char *from, const char *to) {
  wchar_t old[WIDE_PATH], new[WIDE_PATH];
  if (!files_widen(from, old) || !files_widen(to, new)) return false;
  for (int i = 0; i < RENAMES; i++) {
    if (MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
    DWORD why = GetLastError();
    bool held = why == ERROR_ACCESS_DENIED || why == ERROR_SHARING_VIOLATION;
    if (!held || replace_is_directory(new)) return SetLastError(why), false;
    Sleep(10);
    SetLastError(why);
  }
  return false;
}

static void replace_drop(const char *path) {
  wchar_t wide[WIDE_PATH];
  if (files_widen(path, wide)) DeleteFileW(wide);
}

static reason replace_last_reason(void) { return GetLastError(); }

static void replace_push_reason(lua_State *L, reason why) {
  char text[256];
  DWORD size = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                              why, 0, text, sizeof text, NULL);
  while (size && strchr("\r\n. ", text[size - 1])) size--;
  if (size)
    lua_pushlstring(L, text, size);
  else
    lua_pushfstring(L, "error %d", (int)why);
}

#else

typedef int stream;
typedef int reason;

static int replace_process(void) { return (int)getpid(); }

static bool replace_create(const char *path, stream *out, bool *taken) {
  *out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  *taken = *out < 0 && errno == EEXIST;
  return *out >= 0;
}

static bool replace_put(stream out, const char *data, size_t size, size_t *written) {
  ssize_t count = write(out, data, size);
  *written = count > 0 ? (size_t)count : 0;
  return count >= 0 || errno == EINTR;
}

/* Not every file can be synchronized. */
static bool replace_settle(stream out) {
  return fsync(out) == 0 || errno == EINVAL || errno == ENOTSUP;
}

static bool replace_finish(stream out) { return close(out) == 0; }

/* Replaces the file that a link leads to, not the link. */
static const char *replace_target(const char *path, char *real) {
  return realpath(path, real) ? real : path;
}

/* The new file gets the permissions of the old one. What is not a file, such as a device, is not
** replaced. */
static bool replace_adopt(stream out, const char *path) {
  struct stat old;
  if (stat(path, &old) != 0) return true;
  if (!S_ISREG(old.st_mode)) return errno = S_ISDIR(old.st_mode) ? EISDIR : EINVAL, false;
  (void)!fchmod(out, old.st_mode & 0777);
  return true;
}

static bool replace_move(const char *from, const char *to) { return rename(from, to) == 0; }

static void replace_drop(const char *path) { unlink(path); }

static reason replace_last_reason(void) { return errno; }

static void replace_push_reason(lua_State *L, reason why) { lua_pushstring(L, strerror(why)); }

#endif

/* ---- for Lua ---------------------------------------------------------------------------- */

/* Creates a new file beside another one, and pushes its name. Process numbers do not make names
** unique: other machines may write to the directory, and so may states on other threads of this
** process. What makes a name ours is that the file could be created. */
static bool replace_create_beside(lua_State *L, const char *path, stream *out) {
  bool taken = true;
  for (int i = 0; i < NAMES && taken; i++) {
    const char *name = lua_pushfstring(L, "%s.%d.%d.tmp", path, replace_process(), i);
    if (replace_create(name, out, &taken)) return true;
    if (i + 1 < NAMES && taken) lua_pop(L, 1);
  }
  return false;
}

/* Writes everything to the disk: otherwise, after a power cut, some file systems have the new name
** but not the bytes. The name itself is not waited for: until then the old file is whole. */
static bool replace_fill(stream out, const char *data, size_t size) {
  bool ok = true;
  while (ok && size) {
    size_t piece = size < PIECE ? size : PIECE, written;
    ok = replace_put(out, data, piece, &written);
    data += written;
    size -= written;
  }
  return ok && replace_settle(out);
}

static int replace_failed(lua_State *L, const char *path, reason why) {
  lua_pushnil(L);
  replace_push_reason(L, why);
  lua_pushfstring(L, "%s: %s", path, lua_tostring(L, -1));
  lua_remove(L, -2);
  return 2;
}

int ecs_native_replace(lua_State *L) {
  size_t size;
  const char *path = luaL_checklstring(L, 1, &size);
  luaL_argcheck(L, strlen(path) == size, 1, "path with a zero byte");
  luaL_checktype(L, 2, LUA_TSTRING);
  const char *data = lua_tolstring(L, 2, &size);
  stream out;
  char real[PATH_SIZE];
  const char *into = replace_target(path, real);
  if (!replace_create_beside(L, into, &out)) return replace_failed(L, path, replace_last_reason());
  const char *name = lua_tostring(L, -1);
  bool ok = replace_adopt(out, into) && replace_fill(out, data, size);
  reason why = replace_last_reason();
  /* Some file systems report only now that they are full. */
  bool finished = replace_finish(out);
  if (ok && !(finished && replace_move(name, into))) {
    ok = false;
    why = replace_last_reason();
  }
  if (!ok) {
    replace_drop(name);
    return replace_failed(L, path, why);
  }
  lua_pushboolean(L, 1);
  return 1;
}

#ifdef _WIN32

/* The room is made before the file is opened, as that may raise an error. */
int ecs_native_read(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  wchar_t wide[WIDE_PATH];
  WIN32_FILE_ATTRIBUTE_DATA known;
  if (!files_widen(path, wide) || !GetFileAttributesExW(wide, GetFileExInfoStandard, &known))
    return replace_failed(L, path, replace_last_reason());
  size_t room = (size_t)((ULONGLONG)known.nFileSizeHigh << 32 | known.nFileSizeLow), used = 0;
  char *data = lua_newuserdatauv(L, room, 0);
  HANDLE file = CreateFileW(wide, GENERIC_READ,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                            OPEN_EXISTING, 0, NULL);
  bool ok = file != INVALID_HANDLE_VALUE;
  for (DWORD got = 1; ok && got && used < room; used += got) {
    size_t piece = room - used < PIECE ? room - used : PIECE;
    ok = ReadFile(file, data + used, (DWORD)piece, &got, NULL);
  }
  reason why = replace_last_reason();
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  if (!ok) return replace_failed(L, path, why);
  lua_pushlstring(L, data, used);
  return 1;
}

#endif
