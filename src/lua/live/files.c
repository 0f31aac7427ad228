#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include <errno.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#undef near   /* names that we use */
#undef far
#else
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* After the system's headers, since it hides what they declare. */
#include "lua/bind/args.h"
#include "lua/live/live.h"

struct state {
  lua_Integer time;      /* nanoseconds */
  lua_Integer change;    /* time of the last change of any kind, while programs can freely set
                         ** `time`; equals `time` if the system does not record it */
  lua_Integer size;
  lua_Integer inode;
  bool directory, plain;   /* plain: a file with an end, not a pipe or device */
};

/* ---- the system ------------------------------------------------------------------------- */

#ifdef _WIN32

#define WIDE_PATH 4096

/* Converts a path from UTF-8 or, if it is not UTF-8, from the system's code page. */
static bool files_widen(const char *path, wchar_t *wide) {
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, WIDE_PATH)) return true;
  return GetLastError() == ERROR_NO_UNICODE_TRANSLATION &&
         MultiByteToWideChar(CP_ACP, 0, path, -1, wide, WIDE_PATH);
}

static HANDLE files_open(const wchar_t *path, DWORD access) {
  return CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                     OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

/* A FILETIME counts 100 ns since 1601. */
static lua_Integer files_nanoseconds(FILETIME time) {
  ULONGLONG ticks = (ULONGLONG)time.dwHighDateTime << 32 | time.dwLowDateTime;
  return (lua_Integer)((ticks - 116444736000000000ull) * 100);
}

static lua_Integer files_now(void) {
  FILETIME time;
  GetSystemTimeAsFileTime(&time);
  return files_nanoseconds(time);
}

/* Looks at a file. One that cannot be read, since another program holds it, counts as changing. */
static bool files_look(const char *path, struct state *state) {
  BY_HANDLE_FILE_INFORMATION info;
  wchar_t wide[WIDE_PATH];
  if (!files_widen(path, wide)) return false;
  HANDLE file = files_open(wide, GENERIC_READ);
  bool held = file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION;
  if (file == INVALID_HANDLE_VALUE) file = files_open(wide, 0);
  if (file == INVALID_HANDLE_VALUE) return false;
  BOOL known = GetFileInformationByHandle(file, &info);
  FILE_BASIC_INFO basic;
  memset(&basic, 0, sizeof basic);
  GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof basic);
  LARGE_INTEGER ticks = basic.ChangeTime;   /* 0: not recorded by the file system */
  bool disk = GetFileType(file) == FILE_TYPE_DISK;
  CloseHandle(file);
  if (!known) return false;
  state->time = files_nanoseconds(info.ftLastWriteTime);
  state->change = state->time;
  if (ticks.QuadPart)
    state->change = files_nanoseconds((FILETIME){ticks.LowPart, (DWORD)ticks.HighPart});
  if (held) state->change = files_now();
  state->size = (lua_Integer)((ULONGLONG)info.nFileSizeHigh << 32 | info.nFileSizeLow);
  state->inode = (lua_Integer)((ULONGLONG)info.nFileIndexHigh << 32 | info.nFileIndexLow);
  state->directory = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  state->plain = disk && !state->directory;
  return true;
}

typedef struct {
  HANDLE search;
  WIN32_FIND_DATAW entry;
  bool first;
  char name[3 * MAX_PATH];   /* in UTF-8 */
} directory;

static bool files_open_directory(lua_State *L, const char *path, directory *dir) {
  wchar_t wide[WIDE_PATH];
  const char *pattern = lua_pushfstring(L, "%s\\*", path);
  bool known = files_widen(pattern, wide);
  dir->search = known ? FindFirstFileW(wide, &dir->entry) : INVALID_HANDLE_VALUE;
  dir->first = true;
  lua_pop(L, 1);
  return dir->search != INVALID_HANDLE_VALUE;
}

static const char *files_next_name(directory *dir) {
  if (!dir->first && !FindNextFileW(dir->search, &dir->entry)) return NULL;
  dir->first = false;
  WideCharToMultiByte(CP_UTF8, 0, dir->entry.cFileName, -1, dir->name, sizeof dir->name, NULL,
                      NULL);
  return dir->name;
}

static void files_close_directory(directory *dir) { FindClose(dir->search); }

/* RtlGenRandom, which no header declares under that name. */
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG size);

int ecs_native_noise(lua_State *L) {
  char bytes[16];
  if (!SystemFunction036(bytes, sizeof bytes)) return 0;
  lua_pushlstring(L, bytes, sizeof bytes);
  return 1;
}

#else

static lua_Integer files_nanoseconds(struct timespec time) {
  return (lua_Integer)time.tv_sec * 1000000000 + (lua_Integer)time.tv_nsec;
}

static bool files_look(const char *path, struct state *state) {
  struct stat info;
  if (stat(path, &info) != 0) return false;
#ifdef __APPLE__
  state->time = files_nanoseconds(info.st_mtimespec);
  state->change = files_nanoseconds(info.st_ctimespec);
#else
  state->time = files_nanoseconds(info.st_mtim);
  state->change = files_nanoseconds(info.st_ctim);
#endif
  state->size = (lua_Integer)info.st_size;
  state->inode = (lua_Integer)info.st_ino;
  state->directory = S_ISDIR(info.st_mode);
  state->plain = S_ISREG(info.st_mode);
  return true;
}

static lua_Integer files_now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_REALTIME, &time) == 0 ? files_nanoseconds(time) : 0;
}

typedef DIR *directory;

static bool files_open_directory(lua_State *L, const char *path, directory *dir) {
  (void)L;
  *dir = opendir(path);
  return *dir != NULL;
}

static const char *files_next_name(directory *dir) {
  const struct dirent *entry = readdir(*dir);
  return entry ? entry->d_name : NULL;
}

static void files_close_directory(directory *dir) { closedir(*dir); }

#endif

/* ---- for Lua ---------------------------------------------------------------------------- */

int ecs_native_stat(lua_State *L) {
  struct state state;
  if (!files_look(check_text(L, 1, NULL), &state)) return 0;
  lua_pushinteger(L, state.time);
  lua_pushinteger(L, state.size);
  lua_pushinteger(L, state.inode);
  lua_pushboolean(L, state.directory);
  lua_pushboolean(L, state.plain);
  lua_pushinteger(L, state.change);
  return 6;
}

/* Whether the state with a number, from 0, in the list at 2 equals the current one; a missing file
** has no state. */
static bool files_is_same(lua_State *L, lua_Integer at, const char *path) {
  struct state state;
  if (!files_look(path, &state)) {
    bool none = lua_rawgeti(L, 2, 4 * at + 1) != LUA_TNUMBER;
    lua_pop(L, 1);
    return none;
  }
  const lua_Integer numbers[] = {state.time, state.size, state.inode, state.change};
  bool same = true;
  for (int i = 0; i < 4 && same; i++, lua_pop(L, 2)) {
    lua_rawgeti(L, 2, 4 * at + 1 + i);
    lua_pushinteger(L, numbers[i]);
    same = lua_rawequal(L, -1, -2);
  }
  return same;
}

int ecs_native_changes(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
  for (lua_Integer i = 0; i < count; i++) {
    if (lua_rawgeti(L, 1, i + 1) != LUA_TSTRING)
      return luaL_argerror(L, 1, "a list of paths expected");
    bool same = files_is_same(L, i, lua_tostring(L, -1));
    lua_pop(L, 1);
    if (same) continue;
    if (lua_gettop(L) == 2) lua_newtable(L);
    lua_pushinteger(L, i + 1);
    append_item(L);
  }
  return lua_gettop(L) - 2;
}

/* (directory): a list of the names. Protected, since the directory must be closed. */
static int files_push_names(lua_State *L) {
  directory *dir = lua_touserdata(L, 1);
  lua_newtable(L);
  for (const char *name; (name = files_next_name(dir)) != NULL;) {
    lua_pushstring(L, name);
    append_item(L);
  }
  return 1;
}

int ecs_native_list(lua_State *L) {
  directory dir;
  if (!files_open_directory(L, check_text(L, 1, NULL), &dir)) return 0;
  lua_pushcfunction(L, files_push_names);
  lua_pushlightuserdata(L, &dir);
  int status = lua_pcall(L, 1, 1, 0);
  files_close_directory(&dir);
  return status == LUA_OK ? 1 : lua_error(L);
}

int ecs_native_now(lua_State *L) {
  lua_pushinteger(L, files_now());
  return 1;
}

/* ---- replacing whole files ----------------------------------------------------------------- */

/* How many names of temporary files are tried, since a crash may have left some. */
#define NAMES 1000

/* Size of a path; links in a longer one are not followed. */
#ifdef PATH_MAX
#define PATH_SIZE PATH_MAX
#else
#define PATH_SIZE 4096
#endif

/* Bytes per write; systems take at most 2^31. */
#define PIECE ((size_t)1 << 30)

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

/* Checks the target: a link is replaced; anything else that is not a file cannot be. */
static const char *replace_target(const char *path, char *real) {
  (void)real;
  return path;
}

static bool replace_adopt(stream out, const char *path) {
  (void)out, (void)path;
  return true;
}

/* rename() fails on this system if the new name is taken. */
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

/* Gives the new file the permissions of the old one. Anything that is not a file, such as a device,
** is not replaced. */
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

/* Creates a new file next to another one, and pushes its name. Process numbers do not make names
** unique: other machines may write to the directory, and so may states on other threads of this
** process. A name is ours if creating the file has succeeded. */
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
** but not the bytes. The rename is not waited for: until then the old file is complete. */
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

/* Makes the room before the file is opened, since that may raise an error. */
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
