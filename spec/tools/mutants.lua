-- Small changes to C and Lua sources that a test should notice. A change concerns one line, which
-- stays one line, so that nothing behind it moves: { line =, kind =, before =, after = }.

local mutants = {}

-- ---- what is code ------------------------------------------------------------------------

local function blank(part)
  return (part:gsub("[^\n]", " "))
end

-- `assert (...)`: a change in there is none of the program.
local function without_asserts(text)
  return (text:gsub("%f[%w_]assert%s*%b()", blank))
end

-- The text with comments blanked, and with what strings hold replaced by spaces.
local function code_of_c(text)
  text = text:gsub("/%*.-%*/", blank)
  text = text:gsub("//[^\n]*", blank)
  text = text:gsub("\\[^\n]", "  ")
  text = text:gsub("'[^'\n]*'", blank)
  text = text:gsub('"[^"\n]*"', function(part) return '"' .. blank(part:sub(2, -2)) .. '"' end)
  return without_asserts(text)
end

local QUOTE = { ['"'] = true, ["'"] = true }

-- Where the string or comment that begins at `at` ends, and whether it is a comment; nil when
-- neither begins there.
local function opaque_end(text, at)
  local char, is_comment = text:sub(at, at), text:find("^%-%-", at) ~= nil
  local long = text:match("^%[(=*)%[", is_comment and at + 2 or at)
  if long then
    return select(2, text:find("]" .. long .. "]", at, true)), is_comment
  elseif is_comment then
    return (text:find("\n", at, true) or #text + 1) - 1, true
  elseif QUOTE[char] then
    local close = at + 1
    while text:sub(close, close) ~= char do
      close = close + (text:sub(close, close) == "\\" and 2 or 1)
    end
    return close, false
  end
end

local function code_of_lua(text)
  local parts, at = {}, 1
  while at <= #text do
    local last, is_comment = opaque_end(text, at)
    local part = text:sub(at, last or at)
    if is_comment then
      part = blank(part)
    elseif last then
      part = '"' .. blank(part:sub(2, -2)) .. '"'
    end
    parts[#parts + 1] = part
    at = at + #part
  end
  return without_asserts(table.concat(parts))
end

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  return lines
end
mutants.lines_of = lines_of

-- ---- tokens ------------------------------------------------------------------------------

local LONG = { "<<=", ">>=", "...", "==", "~=", "!=", "<=", ">=", "&&", "||", "++", "--", "+=",
  "-=", "*=", "/=", "|=", "&=", "<<", ">>", "->", "//", ".." }

local function operator_at(code, at)
  for _, text in ipairs(LONG) do
    if code:sub(at, at + #text - 1) == text then
      return text
    end
  end
  return code:sub(at, at)
end

-- { text, first, last } of each token of a line of code.
local function tokens_of(code)
  local tokens, at = {}, code:find "%S"
  while at do
    local text = code:match("^[%a_][%w_]*", at) or code:match("^%.?%d[%w_.]*", at)
      or code:match('^"%s*"', at) or operator_at(code, at)
    tokens[#tokens + 1] = { text = text, first = at, last = at + #text - 1 }
    at = code:find("%S", at + #text)
  end
  return tokens
end

-- ---- changes of a token ------------------------------------------------------------------

local COMPARED = {
  ["<"] = { "<=", ">=" }, ["<="] = { "<", ">" }, [">"] = { ">=", "<=" }, [">="] = { ">", "<" },
}
local SWAPPED = {
  c = {
    ["=="] = { "!=" }, ["!="] = { "==" }, ["&&"] = { "||" }, ["||"] = { "&&" }, ["!"] = { "" },
    ["++"] = { "--" }, ["--"] = { "++" }, ["+="] = { "-=" }, ["-="] = { "+=" },
    ["|="] = { "&=" }, ["&="] = { "|=" }, ["true"] = { "false" }, ["false"] = { "true" },
  },
  lua = {
    ["=="] = { "~=" }, ["~="] = { "==" }, ["and"] = { "or" }, ["or"] = { "and" },
    ["not"] = { "" }, ["true"] = { "false" }, ["false"] = { "true" },
  },
}
-- Only between blanks: elsewhere they are signs and stars.
local BETWEEN = {
  ["+"] = { "-" }, ["-"] = { "+" }, ["*"] = { "/" }, ["/"] = { "*" }, ["//"] = { "*" },
  ["%"] = { "*" }, ["&"] = { "|" }, ["|"] = { "&" }, ["<<"] = { ">>" }, [">>"] = { "<<" },
}

local function numbers_beside(text)
  local digits, suffix = text:match "^(%d+)([uUlL]*)$"
  if not digits then
    digits, suffix = text:match "^(0[xX]%x+)([uUlL]*)$"
  end
  local number = digits and math.tointeger(tonumber(digits))
  if not number then
    return nil
  elseif number == 0 then
    return { "1" .. suffix }
  end
  return { number - 1 .. suffix, number + 1 .. suffix }
end

local function replacements(language, code, token)
  local text = token.text
  if BETWEEN[text] and code:find("^ .* ", token.first - 1)
    and code:sub(token.last + 1, token.last + 1) == " " then
    return BETWEEN[text], "operator"
  end
  local to = COMPARED[text]
  if to then
    return to, "comparison"
  end
  to = SWAPPED[language][text]
  if to then
    return to, "operator"
  end
  return numbers_beside(text), "constant"
end

-- ---- changes of a part of a line ---------------------------------------------------------

local NO_CALL = { ["if"] = true, ["for"] = true, ["while"] = true, switch = true, sizeof = true,
  ["return"] = true, ["and"] = true, ["or"] = true, ["not"] = true, defined = true,
  ["function"] = true, ["elseif"] = true, ["in"] = true }

-- The arguments of a call whose bracket is a token: { { first, last }, ... }; nil when it is not
-- closed in the line.
local function arguments_of(tokens, open)
  local depth, list, start = 0, {}, open + 1
  for i = open, #tokens do
    local text = tokens[i].text
    if text == "(" or text == "[" or text == "{" then
      depth = depth + 1
    elseif text == ")" or text == "]" or text == "}" then
      depth = depth - 1
    end
    if depth == 0 or depth == 1 and text == "," then
      if i > start then
        list[#list + 1] = { tokens[start].first, tokens[i - 1].last }
      end
      start = i + 1
    end
    if depth == 0 then
      return list
    end
  end
end

local function swap_arguments(add, line, tokens)
  for i = 2, #tokens do
    local name, before = tokens[i - 1].text, tokens[i - 2] and tokens[i - 2].text
    local is_call = tokens[i].text == "(" and name:find "^[%a_]" and not NO_CALL[name]
      and before ~= "function"
    local list = is_call and arguments_of(tokens, i) or {}
    for at = 2, #list do
      local one, two = list[at - 1], list[at]
      local first, second = line:sub(one[1], one[2]), line:sub(two[1], two[2])
      if first ~= second then
        add("arguments", one[1], two[2], second .. line:sub(one[2] + 1, two[1] - 1) .. first)
      end
    end
  end
end

local function negate(add, line, code, language)
  if language == "lua" then
    for _, ends in ipairs { { "if", "then" }, { "elseif", "then" }, { "while", "do" } } do
      local first, condition, last =
        code:match(("%%f[%%w_]%s ()(.-)() %s%%f[^%%w_]"):format(ends[1], ends[2]))
      if condition then
        add("condition", first, last - 1, ("not (%s)"):format(line:sub(first, last - 1)))
      end
    end
    return
  end
  for first, last in code:gmatch "%f[%w_][iw][fh]i?l?e? ()%b()()" do
    add("condition", first, last - 1, ("(!%s)"):format(line:sub(first, last - 1)))
  end
end

local KEPT = { ["local"] = true, ["function"] = true, ["end"] = true, ["else"] = true,
  ["return"] = true, case = true, default = true, ["goto"] = true, static = true, const = true,
  ["for"] = true, ["elseif"] = true, typedef = true, struct = true, ["until"] = true }

-- Whether a line of C is a whole statement that is no declaration.
local function is_statement_of_c(code, tokens, before)
  if not code:find ";%s*$" or not before:find "[;{}:)]%s*$" and not before:find "else%s*$" then
    return false
  end
  local first, second, third = tokens[1].text, tokens[2].text, (tokens[3] or tokens[2]).text
  local declares = first:find "^[%a_]" and (second:find "^[%a_]"
    or second == "*" and third:find "^[%a_]")
  return not declares or NO_CALL[first]
end

local function is_statement_of_lua(code, tokens)
  local first = tokens[1].text
  return first:find "^[%a_]" and not code:find "[({,]%s*$"
    and (first ~= "if" and first ~= "while" or code:find "end%s*$")
end

local function drop(add, line, code, tokens, language, before)
  if #tokens < 2 or KEPT[tokens[1].text] then
    return
  end
  if language == "c" and is_statement_of_c(code, tokens, before) then
    add("statement", tokens[1].first, #line, ";")
  elseif language == "lua" and is_statement_of_lua(code, tokens) then
    add("statement", tokens[1].first, #line, ";")
  end
end

-- ---- all of them -------------------------------------------------------------------------

local function changes_of_line(list, number, line, code, language, before)
  local tokens = tokens_of(code)
  local function add(kind, first, last, text)
    local after = line:sub(1, first - 1) .. text .. line:sub(last + 1)
    list[#list + 1] = { line = number, kind = kind, before = line, after = after }
  end
  for _, token in ipairs(tokens) do
    local to, kind = replacements(language, code, token)
    for _, text in ipairs(to or {}) do
      add(kind, token.first, token.last, text)
    end
  end
  if #tokens > 0 then
    swap_arguments(add, line, tokens)
    negate(add, line, code, language)
    drop(add, line, code, tokens, language, before)
  end
end

-- Whether each line of C stands in a block or in the body of a macro; lines that begin with # and
-- those outside of blocks are declarations.
local function inside_of(codes)
  local inside, depth, macro = {}, 0, false
  for i, code in ipairs(codes) do
    local directive = code:find "^%s*#"
    inside[i] = not directive and (depth > 0 or macro)
    macro = (directive or macro) and code:find "\\$" ~= nil
    if not directive and not macro then
      for brace in code:gmatch "[{}]" do
        depth = depth + (brace == "{" and 1 or -1)
      end
    end
  end
  return inside
end

-- The changes of each line of a text in "c" or "lua", as a list by line: nil where there are none.
function mutants.of(text, language)
  local codes = lines_of(language == "c" and code_of_c(text) or code_of_lua(text))
  local lines, result = lines_of(text), {}
  local inside = language == "c" and inside_of(codes)
  local before = ""
  for i, code in ipairs(codes) do
    local list = {}
    if not inside or inside[i] then
      changes_of_line(list, i, lines[i], code, language, before)
    end
    result[i] = #list > 0 and list or nil
    before = code:find "%S" and code or before
  end
  return result, #lines
end

-- The text with one of its changes.
function mutants.apply(text, change)
  local lines = lines_of(text)
  assert(lines[change.line] == change.before, "the change is not one of this text")
  lines[change.line] = change.after
  return table.concat(lines, "\n", 1, #lines - (text:sub(-1) == "\n" and 1 or 0))
    .. (text:sub(-1) == "\n" and "\n" or "")
end

return mutants
