#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#undef near   /* names of ours */
#undef far
#else
#include <dirent.h>
#include <sys/stat.h>
#endif

/* After the system's headers: what it declares is hidden. */
#include "lua/bind/status.h"
#include "lua/live/live.h"

struct state {
  lua_Integer time;      /* nanoseconds */
  lua_Integer change;    /* time of the last change of any kind, while programs can set `time`
                         ** freely; if the system tells none, `time` */
  lua_Integer size;
  lua_Integer inode;
  bool directory, plain;   /* plain: a file with an end, not a pipe or device */
};

/* ---- the system ------------------------------------------------------------------------- */

#ifdef _WIN32

bool files_widen(const char *path, wchar_t *wide) {
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

/* A file that cannot be read, since another program holds it, counts as changing. */
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
  LARGE_INTEGER ticks = basic.ChangeTime;   /* 0: the file system keeps none */
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

/* RtlGenRandom, which no header has under that name. */
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

typedef struct {
  DIR *stream;
} directory;

static bool files_open_directory(lua_State *L, const char *path, directory *dir) {
  (void)L;
  dir->stream = opendir(path);
  return dir->stream != NULL;
}

static const char *files_next_name(directory *dir) {
  const struct dirent *entry = readdir(dir->stream);
  return entry ? entry->d_name : NULL;
}

static void files_close_directory(directory *dir) { closedir(dir->stream); }

#endif

/* ---- for Lua ---------------------------------------------------------------------------- */

static const char *files_check_path(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TSTRING) luaL_typeerror(L, arg, "string");
  size_t size;
  const char *path = lua_tolstring(L, arg, &size);
  if (memchr(path, 0, size)) luaL_argerror(L, arg, "the string has a zero byte");
  return path;
}

int ecs_native_stat(lua_State *L) {
  struct state state;
  if (!files_look(files_check_path(L, 1), &state)) return 0;
  lua_pushinteger(L, state.time);
  lua_pushinteger(L, state.size);
  lua_pushinteger(L, state.inode);
  lua_pushboolean(L, state.directory);
  lua_pushboolean(L, state.plain);
  lua_pushinteger(L, state.change);
  return 6;
}

static bool files_is_number(lua_State *L, lua_Integer at, lua_Integer number) {
  lua_rawgeti(L, 2, at);
  lua_pushinteger(L, number);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* Whether the state with a number, from 0, in the list at 2 is this one; a missing file has
** none. */
static bool files_is_same(lua_State *L, lua_Integer at, const char *path) {
  struct state state;
  if (!files_look(path, &state)) {
    bool none = lua_rawgeti(L, 2, 4 * at + 1) != LUA_TNUMBER;
    lua_pop(L, 1);
    return none;
  }
  return files_is_number(L, 4 * at + 1, state.time) &&
         files_is_number(L, 4 * at + 2, state.size) &&
         files_is_number(L, 4 * at + 3, state.inode) &&
         files_is_number(L, 4 * at + 4, state.change);
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
    lua_rawseti(L, 3, (lua_Integer)lua_rawlen(L, 3) + 1);
  }
  return lua_gettop(L) - 2;
}

/* Reads the names, each ended by a zero byte: nothing is raised while the directory is open. NULL
** when out of memory. */
static char *files_read_names(directory *dir, lua_Alloc alloc, void *ud, size_t *size,
                              size_t *used) {
  char *names = NULL;
  const char *name;
  *size = *used = 0;
  while ((name = files_next_name(dir)) != NULL) {
    size_t length = strlen(name) + 1;
    if (length > *size - *used) {
      size_t grown = (*size + length) * 2;
      char *more = alloc(ud, names, *size, grown);
      if (!more) {
        if (names) alloc(ud, names, *size, 0);
        return NULL;
      }
      names = more;
      *size = grown;
    }
    memcpy(names + *used, name, length);
    *used += length;
  }
  return names;
}

struct name_list {
  const char *text;
  size_t used;
};

static int files_push_names(lua_State *L) {
  const struct name_list *names = lua_touserdata(L, 1);
  lua_newtable(L);
  for (size_t at = 0; at < names->used; at += strlen(names->text + at) + 1) {
    lua_pushstring(L, names->text + at);
    lua_rawseti(L, 2, (lua_Integer)lua_rawlen(L, 2) + 1);
  }
  return 1;
}

int ecs_native_list(lua_State *L) {
  directory dir;
  if (!files_open_directory(L, files_check_path(L, 1), &dir)) return 0;
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  size_t size, used;
  char *text = files_read_names(&dir, alloc, ud, &size, &used);
  files_close_directory(&dir);
  if (!text) raise_memory(L);
  struct name_list names = {text, used};
  lua_pushcfunction(L, files_push_names);
  lua_pushlightuserdata(L, &names);
  int status = lua_pcall(L, 1, 1, 0);
  alloc(ud, text, size, 0);
  return status == LUA_OK ? 1 : lua_error(L);
}

int ecs_native_now(lua_State *L) {
  lua_pushinteger(L, files_now());
  return 1;
}
