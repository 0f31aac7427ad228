-- Lua 5.4 as far as specs use it, on LuaJIT: chunks are translated before they are compiled, line
-- by line, and libraries get the functions that they lack there.
--
-- What is translated: `//`, operators on bits, `<close>` and `<const>`, and `for` over what has to
-- be closed. Such a variable is closed where its block ends, and by `return` and `break`, but not
-- by errors.

local ffi, bit = require "ffi", require "bit"

local dialect = {}

-- ---- what translated operators call ---------------------------------------------------------

-- They are found in every environment: as fields of strings.

local int64 = ffi.typeof "int64_t"
local uint64 = ffi.typeof "uint64_t"

local function integer(value)
  local number = tonumber(value)
  if not number then
    error(("attempt to perform bitwise operation on a %s value"):format(type(value)), 3)
  elseif number ~= math.floor(number) or number - number ~= 0 then
    error("number has no integer representation", 3)
  end
  return int64(number)
end

local function shift(value, count)
  if count <= -64 or count >= 64 then
    return 0
  elseif count < 0 then
    return tonumber(int64(bit.rshift(uint64(value), -count)))
  end
  return tonumber(int64(bit.lshift(value, count)))
end

function string.__idiv(a, b) return math.floor(a / b) end
function string.__band(a, b) return tonumber(bit.band(integer(a), integer(b))) end
function string.__bor(a, b) return tonumber(bit.bor(integer(a), integer(b))) end
function string.__bxor(a, b) return tonumber(bit.bxor(integer(a), integer(b))) end
function string.__bnot(a) return tonumber(bit.bnot(integer(a))) end
function string.__shl(a, b) return shift(integer(a), tonumber(integer(b))) end
function string.__shr(a, b) return shift(integer(a), -tonumber(integer(b))) end

local closers = {}   -- by metatables that Lua does not show: world and inspector objects

function string.__close(value)
  if value == nil or value == false then
    return
  end
  local meta = debug.getmetatable(value)
  local close = meta and (rawget(meta, "__close") or closers[meta])
  if io.type(value) then
    if io.type(value) == "file" then
      value:close()
    end
  elseif close then
    close(value, nil)
  end
end

-- Closes what a function has left to be closed, the last first, once its results are known.
function string.__return(left, ...)
  for i = #left, 1, -1 do
    string.__close(left[i])
  end
  return ...
end

-- ---- tokens -----------------------------------------------------------------------------------

local KEYWORDS = {}
local WORDS = "and,break,do,else,elseif,end,false,for,function,goto,if,in,local,nil,not,or,repeat,"
  .. "return,then,true,until,while"
for word in WORDS:gmatch "%a+" do
  KEYWORDS[word] = true
end

local function long_bracket(text, at)
  local level = text:match("^%[(=*)%[", at)
  if level then
    local _, stop = text:find("]" .. level .. "]", at, true)
    return stop or #text
  end
end

-- The end of white space and comments from `at` on.
local function skip(text, at)
  while true do
    at = text:match("^%s*()", at)
    if text:sub(at, at + 1) ~= "--" then
      return at
    end
    local stop = long_bracket(text, at + 2)
    at = (stop or text:find("\n", at, true) or #text) + 1
  end
end

local function quoted(text, at)
  local quote, stop = text:sub(at, at), at + 1
  while stop <= #text do
    local char = text:sub(stop, stop)
    if char == quote then
      return stop
    end
    stop = stop + (char == "\\" and 2 or 1)
  end
  return #text
end

-- The kind and the end of the token at `at`.
local function token(text, at)
  local char = text:sub(at, at)
  if char:find "[%a_]" then
    local word = text:match("^[%w_]+", at)
    return KEYWORDS[word] and word or "name", at + #word - 1
  elseif char:find "%d" or text:find("^%.%d", at) then
    local hex = text:find("^0[xX]", at)
    local stop = at
    while text:find("^[%w.]", stop)
        or text:find("^[+-]", stop) and text:find(hex and "^[pP]" or "^[eE]", stop - 1) do
      stop = stop + 1
    end
    return "number", stop - 1
  elseif char == '"' or char == "'" then
    return "string", quoted(text, at)
  elseif long_bracket(text, at) then
    return "string", long_bracket(text, at)
  end
  for _, three in ipairs { "...", "..", "==", "~=", "<=", ">=", "//", "<<", ">>", "::" } do
    if text:sub(at, at + #three - 1) == three then
      return three, at + #three - 1
    end
  end
  return char == "" and "end of file" or char, at
end

-- ---- the translation -----------------------------------------------------------------------

local Parser = {}
Parser.__index = Parser

-- Comes to the next token, and gives the one it was at with what stood before it.
function Parser:take()
  local taken = self.before .. self.text:sub(self.at, self.stop)
  local next_at = skip(self.text, self.stop + 1)
  self.before = self.text:sub(self.stop + 1, next_at - 1)
  self.at = next_at
  self.kind, self.stop = token(self.text, next_at)
  return taken
end

function Parser:expect(kind)
  if self.kind ~= kind then
    error({ unexpected = true }, 0)
  end
  return self:take()
end

-- Binary operators: how strongly they bind on both sides, and what they become.
local BINARY = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 }, ["<"] = { 3, 3 }, [">"] = { 3, 3 }, ["<="] = { 3, 3 },
  [">="] = { 3, 3 }, ["~="] = { 3, 3 }, ["=="] = { 3, 3 }, ["|"] = { 4, 4, "__bor" },
  ["~"] = { 5, 5, "__bxor" }, ["&"] = { 6, 6, "__band" }, ["<<"] = { 7, 7, "__shl" },
  [">>"] = { 7, 7, "__shr" }, [".."] = { 9, 8 }, ["+"] = { 10, 10 }, ["-"] = { 10, 10 },
  ["*"] = { 11, 11 }, ["/"] = { 11, 11 }, ["//"] = { 11, 11, "__idiv" }, ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}
local UNARY = 12

-- White space before an expression, and the rest of it.
local function split(text)
  local at = skip(text, 1)
  return text:sub(1, at - 1), text:sub(at)
end

function Parser:list(last)
  local out = self:expression(0)
  while self.kind == "," or self.kind == ";" and last do
    out = out .. self:take()
    if self.kind == last then
      break
    end
    out = out .. self:expression(0)
  end
  return out
end

function Parser:table()
  local out = self:expect "{"
  while self.kind ~= "}" do
    if self.kind == "[" then
      out = out .. self:take() .. self:expression(0) .. self:expect "]" .. self:expect "="
    elseif self.kind == "name" and self.text:find("^%s*=[^=]", self.stop + 1) then
      out = out .. self:take() .. self:take()
    end
    out = out .. self:expression(0)
    if self.kind == "," or self.kind == ";" then
      out = out .. self:take()
    elseif self.kind ~= "}" then
      self:expect "}"
    end
  end
  return out .. self:take()
end

-- The parameters and the block of a function, up to its `end`.
function Parser:body()
  local out = self:expect "("
  while self.kind ~= ")" do
    out = out .. self:take()
  end
  out = out .. self:take()
  local scopes = self.scopes
  self.scopes = {}
  out = out .. self:block() .. self:expect "end"
  self.scopes = scopes
  return out
end

function Parser:suffixed()
  local out
  if self.kind == "(" then
    out = self:take() .. self:expression(0) .. self:expect ")"
  else
    out = self:expect "name"
  end
  while true do
    local kind = self.kind
    if kind == "." or kind == ":" then
      out = out .. self:take() .. self:expect "name"
    elseif kind == "[" then
      out = out .. self:take() .. self:expression(0) .. self:expect "]"
    elseif kind == "(" then
      out = out .. self:take() .. (self.kind == ")" and "" or self:list()) .. self:expect ")"
    elseif kind == "{" then
      out = out .. self:table()
    elseif kind == "string" then
      out = out .. self:take()
    else
      return out
    end
  end
end

function Parser:simple()
  local kind = self.kind
  if kind == "{" then
    return self:table()
  elseif kind == "function" then
    return self:take() .. self:body()
  elseif kind == "number" or kind == "string" or kind == "nil" or kind == "true"
    or kind == "false" or kind == "..." then
    return self:take()
  end
  return self:suffixed()
end

function Parser:expression(limit)
  local out
  if self.kind == "~" then
    local space = self:take():sub(1, -2)
    out = ("%s(\"\").__bnot(%s)"):format(space, self:expression(UNARY))
  elseif self.kind == "not" or self.kind == "-" or self.kind == "#" then
    out = self:take() .. self:expression(UNARY)
  else
    out = self:simple()
  end
  while BINARY[self.kind] and BINARY[self.kind][1] > limit do
    local operator = BINARY[self.kind]
    local written = self:take()
    local right = self:expression(operator[2])
    if operator[3] then
      local space, left = split(out)
      local between = split(written)
      out = ("%s(\"\").%s(%s%s,%s)"):format(space, operator[3], left, between, right)
    else
      out = out .. written .. right
    end
  end
  return out
end

-- What has to be closed in the scopes of the function, or of its innermost loop.
function Parser:left(loop_only)
  local names = {}
  for i = #self.scopes, 1, -1 do
    for at = #self.scopes[i], 1, -1 do
      table.insert(names, 1, self.scopes[i][at])
    end
    if loop_only and self.scopes[i].loop then
      break
    end
  end
  return names
end

local function closing(names)
  return #names == 0 and "" or (" do local _ = (\"\").__return({ %s }) end"):format(
    table.concat(names, ", "))
end

function Parser:attributes(names)
  local out = self:expect "name"
  local name = out:match "[%w_]+$"
  if self.kind == "<" then
    local space = self:take():sub(1, -2)
    local kind = self:expect "name":match "[%w_]+$"
    self:expect ">"
    if kind == "close" then
      names[#names + 1] = name
    end
    out = out .. space
  end
  return out
end

function Parser:local_statement()
  local out, names = self:take(), {}
  if self.kind == "function" then
    return out .. self:take() .. self:expect "name" .. self:body()
  end
  out = out .. self:attributes(names)
  while self.kind == "," do
    out = out .. self:take() .. self:attributes(names)
  end
  if self.kind == "=" then
    out = out .. self:take() .. self:list()
  end
  local scope = self.scopes[#self.scopes]
  for _, name in ipairs(names) do
    scope[#scope + 1] = name
  end
  return out
end

function Parser:return_statement()
  local out, names = self:take(), self:left(false)
  local rest = self.kind == "end" or self.kind == "else" or self.kind == "elseif"
    or self.kind == "until" or self.kind == "end of file" or self.kind == ";"
  local values = rest and "" or self:list()
  if #names > 0 then
    values = (" (\"\").__return({ %s }%s)"):format(table.concat(names, ", "),
      rest and "" or "," .. values)
  end
  return out .. values .. (self.kind == ";" and self:take() or "")
end

-- What `for` closes is the fourth value behind `in`.
function Parser:for_statement()
  local out = self:take() .. self:expect "name"
  while self.kind == "," do
    out = out .. self:take() .. self:expect "name"
  end
  if self.kind == "=" then
    return out .. self:take() .. self:list() .. self:expect "do" .. self:block(true)
      .. self:expect "end"
  end
  self.loops = self.loops + 1
  local name = "for_" .. self.loops
  local between = self:expect "in" .. " " .. name .. "_1, " .. name .. "_2, " .. name .. "_3"
  local values = self:list()
  self.scopes[#self.scopes + 1] = { loop = true, name .. "_4" }
  local block = self:expect "do" .. self:block() .. self:expect "end"
  self.scopes[#self.scopes] = nil
  local space, rest = split(out)
  return ("%sdo local %s_1, %s_2, %s_3, %s_4 =%s %s%s%s end"):format(space, name, name, name, name,
    values, rest, between, block)
end

function Parser:if_statement()
  local out = self:take() .. self:expression(0) .. self:expect "then" .. self:block()
  while self.kind == "elseif" do
    out = out .. self:take() .. self:expression(0) .. self:expect "then" .. self:block()
  end
  if self.kind == "else" then
    out = out .. self:take() .. self:block()
  end
  return out .. self:expect "end"
end

function Parser:function_statement()
  local out = self:take() .. self:expect "name"
  while self.kind == "." or self.kind == ":" do
    out = out .. self:take() .. self:expect "name"
  end
  return out .. self:body()
end

function Parser:break_statement()
  local names, out = self:left(true), self:take()
  return #names == 0 and out or closing(names) .. " do " .. out .. " end"
end

function Parser:assignment()
  local out = self:suffixed()
  while self.kind == "," do
    out = out .. self:take() .. self:suffixed()
  end
  if self.kind == "=" then
    out = out .. self:take() .. self:list()
  end
  return out
end

local STATEMENTS = {
  ["local"] = Parser.local_statement, ["for"] = Parser.for_statement,
  ["if"] = Parser.if_statement, ["function"] = Parser.function_statement,
  ["break"] = Parser.break_statement, ["return"] = Parser.return_statement,
  ["do"] = function(self) return self:take() .. self:block() .. self:expect "end" end,
  ["while"] = function(self)
    return self:take() .. self:expression(0) .. self:expect "do" .. self:block(true)
      .. self:expect "end"
  end,
  ["repeat"] = function(self)
    return self:take() .. self:block(true) .. self:expect "until" .. self:expression(0)
  end,
  ["goto"] = function(self) return self:take() .. self:expect "name" end,
  ["::"] = function(self) return self:take() .. self:expect "name" .. self:expect "::" end,
  [";"] = function(self)   -- not a statement of its own there
    return self:take():sub(1, -2) .. " "
  end,
}

local ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true,
  ["end of file"] = true }

function Parser:block(loop)
  local scope, out, last = { loop = loop }, {}, nil
  self.scopes[#self.scopes + 1] = scope
  while not ENDS[self.kind] do
    last = self.kind
    out[#out + 1] = (STATEMENTS[last] or self.assignment)(self)
    if self.kind == ";" and last ~= "return" then
      out[#out + 1] = self:take()
    end
  end
  self.scopes[#self.scopes] = nil
  local open = last ~= "return" and last ~= "break" and last ~= "goto"
  return table.concat(out) .. (open and closing(scope) or "")
end

--- Source of Lua 5.4 as source of LuaJIT; as it is where it is not a chunk, so that the compiler
--- says why.
---@param text string
---@return string
function dialect.translate(text)
  local hash = text:match "^#[^\n]*" or ""
  local rest = text:sub(#hash + 1)
  local self = setmetatable({ text = rest, stop = 0, before = "", scopes = {}, loops = 0 }, Parser)
  local ok, out = pcall(function()
    self.at = 1
    self:take()
    local block = self:block()
    if self.kind ~= "end of file" then
      self:expect "end of file"
    end
    return hash .. block .. self:take()
  end)
  if ok then
    return out
  end
  return type(out) == "table" and text or error(out, 0)
end

-- ---- libraries -----------------------------------------------------------------------------

local SIZES = { b = 1, h = 2, i = 4, j = 8, l = 8, T = 8, n = 8, f = 4, d = 8 }
local CTYPES = { f = "float", d = "double", n = "double" }

-- The options of a format of string.pack.
local function options(format)
  local out, little = {}, true
  for option, size in format:gmatch "([<>=!%a ])(%d*)" do
    if option == "<" or option == ">" or option == "=" then
      little = option ~= ">"
    elseif option ~= " " and option ~= "!" then
      local kind = option:lower()
      out[#out + 1] = { option = option, little = little, size = tonumber(size) or SIZES[option]
        or SIZES[kind] or 8, kind = option == "T" and "j" or kind }
    end
  end
  return out
end

local function bytes_of(value, option)
  local ctype = CTYPES[option.kind]
  local box = ctype and ffi.new(ctype .. "[1]", value) or ffi.new("int64_t[1]", value)
  local bytes = ffi.string(box, ctype and ffi.sizeof(ctype) or math.min(option.size, 8))
  return option.little and bytes or bytes:reverse()
end

local function pack(format, ...)
  local out, values, at = {}, { ... }, 1
  for _, option in ipairs(options(format)) do
    local value = values[at]
    at = at + 1
    if option.kind == "z" then
      out[#out + 1] = value .. "\0"
    elseif option.kind == "s" then
      out[#out + 1] = bytes_of(#value, option) .. value
    else
      out[#out + 1] = bytes_of(value, option)
    end
  end
  return table.concat(out)
end

local function number_at(text, at, option)
  local bytes = text:sub(at, at + option.size - 1)
  if #bytes < option.size then
    error("data string too short", 3)
  end
  bytes = option.little and bytes or bytes:reverse()
  local ctype = CTYPES[option.kind]
  local signed = option.option ~= option.option:upper() or option.kind == "j"
  local box = ffi.new((ctype or "int64_t") .. "[1]")
  if not ctype and signed and bytes:byte(-1) >= 128 then
    box[0] = -1
  end
  ffi.copy(box, bytes, #bytes)
  return tonumber(box[0])
end

local function unpack_bytes(format, text, at)
  local out = {}
  at = at or 1
  for _, option in ipairs(options(format)) do
    if option.kind == "z" then
      local stop = text:find("\0", at, true)
      out[#out + 1], at = text:sub(at, stop - 1), stop + 1
    else
      out[#out + 1] = number_at(text, at, option)
      at = at + option.size
      if option.kind == "s" then
        out[#out], at = text:sub(at, at + out[#out] - 1), at + out[#out]
      end
    end
  end
  out[#out + 1] = at
  return unpack(out)
end

local function utf8_char(...)
  local common, out = require "ecs.common", { ... }
  for i, code in ipairs(out) do
    out[i] = common.utf8_char(code)
  end
  return table.concat(out)
end

local plain_collect = collectgarbage

-- The collector's modes and parameters by the names that Lua 5.4 and 5.5 have for them.
local function collect(how, a, b, ...)
  if how == "incremental" or how == "generational" then
    if how == "incremental" and a then
      plain_collect("setpause", a)
      plain_collect("setstepmul", b)
    end
    return "incremental"
  elseif how == "param" then
    local name = a == "pause" and "setpause" or a == "stepmul" and "setstepmul"
    return name and b and plain_collect(name, b) or 0
  end
  return plain_collect(how, a, b, ...)
end

local function translated(chunk)
  if type(chunk) ~= "string" or chunk:byte() == 27 then
    return chunk
  end
  return dialect.translate(chunk)
end

-- ---- tests that are skipped ----------------------------------------------------------------

local within = {}

local function full_name(name)
  within[#within + 1] = name
  local full = table.concat(within, " ")
  within[#within] = nil
  return full
end

-- `describe` and `it` of a file of specs, which is prefixed by what takes them from here: the tests
-- that spec/support/luajit_skipped.lua lists by their full names are pending.
function string.__busted(describe, it, pending, file)
  local is_skipped = require "spec.support.luajit_skipped"
  return function(name, fn)
    return describe(name, function(...)
      within[#within + 1] = name
      fn(...)
      within[#within] = nil
    end)
  end, function(name, fn)
    if is_skipped(file, full_name(name)) then
      return pending(name, function() end)
    end
    return it(name, fn)
  end
end

local PREFIX = 'local describe, it = ("").__busted(describe, it, pending, %q) '

local plain_load, plain_pairs, plain_ipairs, plain_setmetatable = load, pairs, ipairs, setmetatable
local globals = { collectgarbage = collect, warn = function() end }

--- LuaJIT's own, which kernels know.
dialect.ipairs, dialect.pairs = plain_ipairs, plain_pairs

function globals.load(chunk, name, mode, ...)
  if type(chunk) == "string" and name == nil then
    name = chunk
  end
  if select("#", ...) == 0 then
    return plain_load(translated(chunk), name, mode)
  end
  return plain_load(translated(chunk), name, mode, (...))
end

function globals.loadfile(path, ...)
  local file, message = io.open(path, "rb")
  if not file then
    return nil, message
  end
  local text = file:read "*a"
  file:close()
  local specs = path:match "spec/(.+)_spec%.lua$"
  text = (specs and PREFIX:format(specs) or "") .. text:gsub("^#[^\n]*", "")
  return globals.load(text, "@" .. path, ...)
end

function globals.dofile(path)
  return assert(globals.loadfile(path))()
end

-- A table with a finalizer has a proxy with it, as its only key that nobody knows.
function globals.setmetatable(object, meta)
  local finalizer = type(object) == "table" and type(meta) == "table" and rawget(meta, "__gc")
  if finalizer then
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function() pcall(meta.__gc, object) end   -- as Lua 5.4, which warns
    rawset(object, proxy, true)
  end
  return plain_setmetatable(object, meta)
end

function globals.pairs(object)
  if type(object) == "userdata" then
    return require "ecs.native".fields(object)
  end
  return plain_pairs(object)
end

function globals.ipairs(object)
  if type(object) ~= "userdata" then
    return plain_ipairs(object)
  end
  return function(_, at)
    local value = object[at + 1]
    if value ~= nil then
      return at + 1, value
    end
  end, object, 0
end

-- For specs and examples.
local function search(name)
  local path = (name:find "^spec%." or name:find "^examples%.")
    and package.searchpath(name, package.path)
  return path and assert(globals.loadfile(path)) or nil
end

--- Gives the libraries what they lack, and has `load`, `loadfile`, `dofile` and, for specs and
--- examples, `require` take Lua 5.4.
function dialect.install()
  require "ecs.native"   -- which looks at the libraries as they are
  local common = require "ecs.common"
  math.type, math.tointeger = common.kind, common.tointeger
  math.maxinteger, math.mininteger = 2 ^ 63, -2 ^ 63
  function math.ult(a, b) return uint64(int64(a)) < uint64(int64(b)) end
  table.unpack, package.searchers = unpack, package.loaders
  function table.pack(...) return { n = select("#", ...), ... } end
  string.pack, string.unpack = pack, unpack_bytes
  globals.rawlen = common.rawlen
  globals.utf8 = { len = common.utf8_len, char = utf8_char,
    charpattern = "[%z\1-\127\194-\253][\128-\191]*" }
  for name, value in next, globals do
    rawset(_G, name, value)
  end
  table.insert(package.loaders, 2, search)
end

return dialect
