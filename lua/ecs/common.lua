-- Functions that differ between Lua 5.4 and LuaJIT, or exist in only one of them.

local utf8 = rawget(_G, "utf8") or {}
local package = rawget(_G, "package")

local common = {}

--- Like math.type. In LuaJIT, a number without a fraction counts as an integer, up to 2^53.
---@type fun(value: any): "integer"|"float"|nil
common.kind = math.type or function(value)
  if type(value) ~= "number" then
    return nil
  end
  return math.floor(value) == value and math.abs(value) <= 2 ^ 53 and "integer" or "float"
end

---@type fun(value: any): integer?
common.tointeger = math.tointeger or function(value)
  return common.kind(value) == "integer" and value or nil
end

common.unpack = table.unpack or rawget(_G, "unpack")

--- The length of a table without __len, which LuaJIT does not use for tables anyway.
---@type fun(list: table): integer
common.rawlen = rawget(_G, "rawlen") or function(list) return #list end

--- The list of functions that `require` calls to find a module.
---@return function[]
function common.searchers()
  return package.searchers or package.loaders
end

-- The length in bytes of a character with this first byte, and the range of its second byte.
local function shape(byte)
  if byte < 0xC2 or byte > 0xF4 then
    return nil
  elseif byte < 0xE0 then
    return 2, 0x80, 0xBF
  elseif byte < 0xF0 then
    return 3, byte == 0xE0 and 0xA0 or 0x80, byte == 0xED and 0x9F or 0xBF
  end
  return 4, byte == 0xF0 and 0x90 or 0x80, byte == 0xF4 and 0x8F or 0xBF
end

--- The number of characters in a text; nil if it is not UTF-8.
---@type fun(text: string): integer?
common.utf8_len = utf8.len or function(text)
  local at, count = 1, 0
  while at <= #text do
    local byte, size = text:byte(at), 1
    if byte >= 0x80 then
      local least, most
      size, least, most = shape(byte)
      local second = size and text:byte(at + 1)
      if not second or second < least or second > most
          or not text:find("^" .. ("[\128-\191]"):rep(size - 2), at + 2) then
        return nil
      end
    end
    at, count = at + size, count + 1
  end
  return count
end

--- The UTF-8 bytes of a character.
---@type fun(code: integer): string
common.utf8_char = utf8.char or function(code)
  if code < 0x80 then
    return string.char(code)
  end
  local bytes, first = {}, 0x40
  repeat
    table.insert(bytes, 1, 0x80 + code % 0x40)
    code, first = math.floor(code / 0x40), first / 2
  until code < first
  return string.char(0x100 - 2 * first + code, common.unpack(bytes))
end

--- A message without the place at its beginning, if that is in our modules of a pattern: in a file,
--- or in what a host has embedded under the module's name.
---@param message string
---@param module string
---@return string
function common.without_place(message, module)
  return (message:gsub("^[^\n]-" .. module:gsub("%.", "[/\\.]") .. "[.lua]*:%d+: ", ""))
end

return common
