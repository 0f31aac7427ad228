--- What random functions (rule_gen.lua) are made of: templates by kind.
---
--- What is in angle brackets is filled in: F a float, I an integer, V one that fits, M an integer
--- in some rows and a float in others, B a truth, E an id, L one that lives, X an index, C a cell
--- of the row's own, Fn, In, Bn and En what may be nil, S statements (Z: without more in them),
--- Opt a question whether the row has what is optional, Ret a return of what the function gives, N
--- a new name (T, K, O and A are names of a float, a counter, an id, a new entity, for statements
--- behind it; Ti, Tm, Tn of an integer, an M, an Fn; Ki and Kf count in any steps); PF, PI and so
--- on are places of these kinds, PJ those of any integer. The same letters with a digit are the
--- same text.
local words = {}

-- Lines of "a b: x | y; c: z", which spaces go on, as t.a.b = { "x", "y" }.
local function read(text)
  local found = {}
  for name, rest in text:gsub("\n +", " "):gmatch "(%w+) ([^\n]*)" do
    found[name] = {}
    for what, list in (rest .. ";"):gmatch "(%w+): (.-);" do
      local texts = {}
      for one in (list .. " | "):gmatch "(.-) | " do texts[#texts + 1] = one end
      found[name][what] = texts
    end
  end
  return found
end

words.fields = read [[
P F: x | x | y | m[1] | m[2] | far[<X> % 12 + 1] | bags[<X> % 4 + 1].w; I: n | n | c | big | u
  | tens[<X> % 10 + 1] | tens[3] | bags[<I> % 4 + 1].n | bags[2].n; J: big | u; B: on
  | bags[<X> % 4 + 1].on; E: kept | prey | pals[<X> % 9 + 1] | bags[<X> % 4 + 1].who; C: cell; W: w
H F: hp | hp | far[<X> % 5 + 1] | bags[<X> % 2 + 1].w; I: n | k | bags[<I> % 2 + 1].n; B: on;
  E: who; W: w
S F: v; I: n
Owes F: rate; I: amount
Held F: since
Said F: x; I: n; E: who
]]

-- What there is beside the views: what may be written, and what may be read only.
words.places = read [[
arrays F: floats[<X>] | floats[<X>]; I: ints[<X>] | bytes[<X>]; B: flags[<X>]; E: at[<X>];
  X: nxt[<X>]
score F: score.f | score.six[<X> % 6 + 1] | score.bags[<X> % 4 + 1].w;
  I: score.n | score.b | score.u | score.tens[<X> % 10 + 1]
  | score.tens[3]; B: score.on; E: score.who | score.pals[<I> % 9 + 1]
  | score.bags[<X> % 4 + 1].who
cells F: acc | stats.sum | same.sum; I: n | stats.kills | same.kills | total; B: seen | stats.on;
  E: who
tables F: sums[<X> % 4 + 1] | sums[<I> % 4 + 1] | had[<X>]; B: marks[<I> % 4 + 1]
  | marks[<X> % 4 + 1] | held[<X>]
texts F: tally[p.kind] | tally[p.kind]
map F: x; I: n; E: kept; C: cell
]]

words.readers = read [[
const F: 1.5 | 0.25 | 3.0; Fn: (<B> and <F> or nil); In: (<B> and <I> or nil); Bn: flip;
  En: (<B> and <E> or nil) | world:parent(<L>); I: 1 | 2 | 5; B: (<I> % 3 == 1) | (<F> > 2);
  E: boss | ecs.null; L: boss | mate; X: 1 | 2 | (<I> % 16 + 1); Q: 0.5 | 1.0 | 0.125; Few: 1 | 2
  | 3 | (<I> % 3); Rare: <I> == 7 | <F> > 11 | <L> == mate; Com: world:add(<L>, 'H')
  | world:remove(<L>, 'H') | world:add(<L>, 'S') | world:remove(<L>, 'S') | world:add(<L>, 'T')
  | world:remove(<L>, 'P') | world:add(<L>, 'Eats', <L>) | world:remove(<L>, 'Eats', <L>)
  | world:set(<L>, 'H.hp', <F>) | world:set(<L>, 'Owes', <L>, <V>)
  | world:set(<L>, 'Held', <L>, <F>) | world:add(<L>, 'Eats', 'T') | world:add(<L>, 'Held', 'T')
  | world:remove(<L>, 'Held') | world:set(<L>, 'H', <F>, <V>) | world:set(<L>, 'S', { v = <F> })
  | world:add(<L>, debt) | world:remove(<L>, debt) | world:set(<L>, debt, <V>, <F>)
  | world:add(<L>, world:pair('Owes', <L>)) | world:set(<L>, 'Owes', <L>, { rate = <F> })
  | world:set(<L>, 'Owes.amount', <L>, <V>) | world:set(<L>, 'Held', { since = <F>, target = <E> })
  | world:add(<L>, 'ChildOf', <L>) | world:add(<L>, 'Held', <L>) | world:remove(<L>, 'Held', <L>)
row Me: e; D: e; L: e | e; E: e; X: <C>
time F: dt
array I: i; X: i | i | i
numbers F: UF | 0.5 | 0.1 | (-3.25) | world:res('Score').f | config.f | config.list[2]
  | config.deep.f | 0.0 | (-0.0) | 2.0 | 1e300 | math.pi | math.huge; I: UI | config.n
  | config.deep.n | #config.list | config.list[1] | config.list[3.0] | (-7) | 63 | #'text'
  | math.maxinteger | math.mininteger; B: config.flag | true; M: 0; One: sqrt | exp | log | sin
  | cos | tan | asin | acos | atan | deg | rad | abs; Two: atan | fmod | log | min | max; Own: exp
  | log | log2 | log10 | sin | cos | tan | asin | acos | atan; Pair: atan | mod | pow; Base: 2 | 10
  | 2.0 | 10.0 | 0.5 | UF | 3; Op: + | - | * | / | // | % | ^; Whole: + | - | * | & | ~ | << | >>
  | |; By: 3 | (-7) | 16 | (-1) | math.mininteger; Cmp: < | <= | > | >= | == | ~=; Same: == | ~=;
  Kind: 'float' | 'integer' | nil; Soft: 0 | 1 | (-2) | UI | config.n | 9007199254740993
  | math.maxinteger | math.mininteger; Any: config.t | config.u | config.t | config.deep.t
  | config.deep | config.missing | config.late | f1 | f2 | config.fn | math.floor | math.sin
  | score | rival | config.score | world | 'text' | tag | 1 | UI | nil | config.flag | config.eq
  | config.eq2; Short: 1, 3 | 5, 1, -2 | 1, 0 | UI, UI + 2 | config.n + 2, config.n, -1
  | math.maxinteger - 1, math.maxinteger | math.mininteger + 1, math.mininteger, -1
  | config.flag and 3 or config.n, 4 | math.maxinteger, math.mininteger | 1, 3.75 | 1, 3.0
  | UI, UI + 1.5 | 2, config.f % 9 | 3, math.max(UF, -4), -1 | 0, -2.5, -1 | 1, 0/0 | 1, -math.huge
  | config.n, config.n - 0.5, -1 | 1, config.flag and 2.5 or 3; Long: 0, math.maxinteger
  | math.mininteger, math.maxinteger | -1, math.maxinteger | math.mininteger, -1
  | math.mininteger, 0 | 1, math.maxinteger - UI | -5, math.maxinteger, 2 | 1, math.huge
  | 0, -math.huge, -1 | 1, 0/0, -1 | -3, UF + 1e300 | math.maxinteger - 1, 2.0 ^ 63
views B: p.on | (<W> <Cmp> UF) | (<W> <Cmp> UI) | (p.kind == 'red') | (p.kind ~= tag)
  | (p.kept == e) | (p.kept == ecs.null); W: 0.25; F: world:random(e) | (p.big / 3) | (<W> + p.x)
  | (p.x - <W>); I: (e & 255) | #p.m | world:random(e, -3, 3); Any: p | p.m | p.on | p.x | p.bags
arrays Fn: floats[<X>] | floats[<I> % 20]; In: ints[<X>] | bytes[<I> % 18]; Bn: flags[<X>];
  En: at[<X>]; F: (floats[<X>] or 0.0) | (grids[<I> % 3 + 1][<X>] or 0.0)
others Fn: world:get(<L>, 'H.hp') | world:get(<L>, 'S.v'); In: world:get(<L>, 'H.n')
  | world:get(<L>, 'S.n'); Bn: world:get(<L>, 'H.on'); En: world:get(<L>, 'H.who')
  | world:target(<L>, 'Held'); F: (world:get(<L>, 'H.hp') or <F>)
  | (world:get(<L>, 'Held.since', <L>) or <F>) | world:get(boss, 'H.hp');
  I: (world:get(<L>, 'H.n') or 0) | (world:get(<L>, 'P.tens[3]') or 2);
  B: (world:get(<L>, 'H.on') == true); E: (world:get(<L>, 'P.kept') or <L>)
  | (world:get(<L>, 'H.who') or <L>)
spawns Spawn: world:spawn { H = { hp = <F>, who = <E> }, T = true } | world:spawn {}
  | world:spawn { S = { v = <F> } } | world:spawn { Held = <L>, Eats = <L>, H = { n = <V> } }
  | world:spawn { Owes = { <L>, 'T' }, Held = { <L>, <F> } } | make(<F>, <E>) | make(nil, <E>)
  | world:spawn { [debt] = { <V>, rate = <F> } } | breed(<F>, <V>) | breed(nil, <V>) | breed()
  | world:spawn { [world:pair('Owes', <L>)] = { <V> }, P = { x = <F>, kind = 'green' } }
cells Fn: best; F: mix | (best or 0.0); I: (flip or 0); B: (best == nil)
asks B: world:alive(<E>) | world:has(<L>, 'H') | world:has(<L>, 'T') | world:has(<L>, 'Eats', <L>)
  | world:enabled(<L>, 'H') | world:enabled(<L>, 'S');
  I: world:count 'T' | #floats
  | world:random(<L>, 6); F: world:read(boss, 'H').hp; E: (world:target(<L>, 'Held') or boss)
  | (world:parent(<L>) or boss) | world:lookup 'boss'
born B: world:alive(p.big) | world:alive(p.big)
texts B: (p.s == 'ann') | (p.s < 'b') | (#p.s > 2) | (p.s:sub(1, 2) == 'an') | (p.kind == 'red')
  | (world:get(<L>, 'P.s') == 'ann') | (fees[p.s] == nil)
  | (tints[<I> % 4 + 1] == p.kind) | (p.tint == p.kind); F: cost[p.kind] | gain[p.kind][p.tint]
  | odds[p.kind].by[p.tint] | odds[p.kind].at[<I> % 3 + 1] | odds[p.kind].by.red
  | (maps[p.kind] and maps[p.kind][<X>] or <F>) | (price[p.kind] or <F>)
  | (grade[p.tint] and grade[p.tint].w or <F>)
  | steps[<I> % 2 + 1][<I> % 3 + 1]; E: those[p.kind]; L: those[p.kind]
]]

words.deep = read [[
any F: (<Fn> or <F>) | (<F> + <F>) | (<F> - <F>) | (<F> * 0.5) | (<F> / 4) | math.min(<F>, <F>)
  | (<F> % 8) | math.max(<F>, <F>) | (<B> and <F> or <F>) | (<I> * 0.25)
  | math.abs(<F>) | math.sqrt(<F>); I: (<In> or <I>) | (<I> + <I>) | (<I> - <I>) | (<I> * 2)
  | (<I> // 3) | (<I> % 7) | (<I> & 15) | (<B> and <I> or <I>) | math.max(<I>, <I>)
  | math.floor(<F> % 50); B: (<I> > <I>) | (<I> == <I>) | (<Fn> == nil) | (not <In>)
  | (<En> ~= nil) | (<Bn> == true) | (<In> ~= <I>) | (<En> == <L>) | (<F> < <F>) | (<E> == <E>)
  | (<E> ~= ecs.null) | (not <B>) | (<B> and <B>) | (<B> or <B>) | (<I> % 3 == 1) | (<F> > 2);
  E: (<B> and <E> or <E>) | (<B> and <L> or <E>) | (<En> or <L>)
numbers F: (<F> <Op> <M>) | (<M> <Op> <F>) | (<F> <Op> <I>) | (<F> <Op> <F>) | (<F> <Op> <F>)
  | math.<One>(<F>) | math.<One>(<F>) | own.<Own>(<F>) | math.<Two>(<F>, <F>)
  | math.log(<F>, <Base>) | own.<Pair>(<F>, <F>) | frac(<M>) | (-<M>) | (<I> / <I>)
  | help(<F>, <F>) | math.<One>(<F>); I: (<I> <Whole> <I>) | (<I> <Whole> <I>) | (1 << <I>)
  | (<I> <Whole> 21) | (<I> << 3) | (<I> >> 2) | (<I> // <By>) | (<I> % <By>) | math.min(<I>, <I>)
  | math.abs(<I>) | (-<I>) | math.tointeger(<I>) | (~<I>) | math.fmod(<I>, 7) | math.fmod(<I>, -1)
  | whole(<M>) | whole(<F>) | (<I1> ~= 0 and <I> // <I1> or 0) | (<I1> ~= 0 and <I> % <I1> or 0)
  | help(<I>, <I>) | math.ceil(<F> % 64); M: (<B> and <F> or <Soft>) | (<B> and <Soft> or <F>)
  | math.max(<F>, <Soft>) | math.min(<Soft>, <F>) | (math.modf(<F>)) | math.abs(<M>)
  | (<B> and <I> or <F>) | math.max(<Soft>, config.f) | (<M> * <M>) | (<M> % <M>);
  B: (<F> <Cmp> <F>) | (<F> <Cmp> <I>) | (<I> <Cmp> <F>) | (<M> <Cmp> <F>) | (<F> <Cmp> <M>)
  | (<I> <Cmp> <I>) | (<Any> <Same> <Any>) | (not <Any>) | (math.type(<M>) == <Kind>)
  | math.ult(<I>, <I>) | (<B> <Same> <B>) | (config.t <Same> config.u)
  | (config.deep.t <Same> config.t) | (<Fn> <Same> <F>) | (<Fn> and true or false)
  | (<Fn> <Same> 0.5) | (<F> <Cmp> 0.5) | (<In> <Same> 1)
effects F: picks[<I> % 2 + 1](<F>)
]]

-- LuaJIT has no operators on bits, and no //.
local is_luajit = rawget(_G, "jit") ~= nil
words.small = is_luajit and "(<I> % 64)" or "(<I> & 63)"
if is_luajit then
  for i, text in ipairs(words.deep.any.I) do
    words.deep.any.I[i] = text:gsub("& 15", "%% 16"):gsub("// 3", "* 3")
  end
end

-- Kinds of statements with their weights. Those with stores have what is in `stores`, too.
words.kinds = read [[
own 10: stores
path 10: stores
numbers 16: stores | <PF> = <M> | <PF> = <F> | <PF> = <I> | <PI> = <I> | <PJ> = <I> | <PB> = <B>
  | <PI> = <I> % 100 | for <Ki> = <Short> do <S> end
  | for <Ki> = <Short> do <S> if <B> then break end <S> end
  | do local <N1> = 0 for <Ki> = <Long> do <N1> = <N1> + 1 <S> if <N1> >= 3 then break end end end
  | do local <N1> = 2 if <B> then <N1> = config.small end for <Ki> = 1, <N1> do <S> end end
  | for <Kf> = <I> % 3 + 0.5, <I> % 4 do <S> end | for <Kf> = <I> % 3, 0.0, -0.75 do <S> end
  | for <Ki> = <I> % 3, 6, <I> % 2 + 1 do <S> end | for <Ki> = <I> % 4, 0, -1 do <S> end
  | for <Kf> = <I> % 3, <I> % 6 + 0.5 do <S> end | for <Kf> = 0.0, 1.0, <I> % 2 + 0.5 do <S> end
  | local <Ti> = <I> | local <Tm> = <M> | local <Tm1> = <Soft> if <B> then <Tm1> = <F> end
  | local <Tn1> if <B> then <Tn1> = <F> end | <PW> = <F>
  | local <Tn1> for <N9> = <Short> do if <B> then <Tn1> = <F> end <S> end | <Ivar> = <I>
  | <Mvar> = <M> | <Nvar> = <Fn> | if <Any> then <S> else <S> end
  | if <B> then <S> elseif <B> then <S> else <S> end | local <N1> = { x = <F>, n = <I>, <B> } if
    <N1>[1] then <PF> = <N1>.x else <PI> = <N1>.n % 50 end
score 8: stores | for <K>, <T> in ipairs(score.six) do <S> end
  | local <N1> = score.bags[<X> % 4 + 1] if <N1>.on then <N1>.n = <N1>.n % 50 + 1 <S> end
  | local <N1> for <K>, <N2> in ipairs(score.bags) do
    if not <N1> or <N2>.w > <N1>.w then <N1> = <N2> end end <N1>.w = <F> <S> | score.six[<I>] = <F>
  | local <N1> = score.bags[<X> % 4 + 1] for <K> = 1, <Few> do <N1> = rival.bags[<X> % 4 + 1] end
    <PF> = <N1>.w <N1>.n = <V>
  | local <N1> = <B> and score.bags[<X1> % 4 + 1] or rival.bags[<X1> % 4 + 1] <N1>.w = <F>
arrays 12: stores | if <C1> ~= 16 then local <N1> = nxt[<C1>] if at[<N1>] == ecs.null then at[<N1>]
  = <Me> at[<C1>] = ecs.null <C1> = <N1> <S> end end | for <K> = 1, #floats do <Z> end
  | if not flags[<X1>] then flags[<X1>] = true <PC> = <X1> <S> end
  | grids[<I1> % 3 + 1][<X1>] = grids[<I1> % 3 + 1][<X1>] + 1 | grids[<I> % 3 + 1][<X>] = <F>
  | local <N1> = grids[<I1> % 3 + 1] for <N2> = 1, #<N1> do if <N1>[<N2>] > 9 then <N1>[<N2>] = <F>
  end end | local <N1> = floats for <N> = 1, 3 do <N1>[<X>] = <F> <N1> = grids[<I> % 3 + 1] <S> end
cells 10: stores | n = n + 1 | n = n + <I> | bump(<I>) | acc = acc + <F> | total = total + 1
  | stats.kills = stats.kills + 1 | if n < 5 then n = n + 1 <S> end | mix = mix + <F>
  | if <B> then mix = mix + 0.5 end | if <B> then mix = <I> end | stats.who = <E>
  | if best == nil or <F1> < best then best, who = <F1>, <L> end | best = nil
  | if not best or <I1> > best then best = <I1> end | flip = <B> and <I> or nil
  | flip = (flip or 0) + 1 | if <Rare> then flip = <B> end | same.kills = same.kills + stats.kills
tables 7: stores | sums[<I1> % 4 + 1] = sums[<I1> % 4 + 1] + 1 | sums[<X1> % 4 + 1] = <I>
  | local <N1> = <I> % #sums + 1 if sums[<N1>] >= 1 then sums[<N1>] = sums[<N1>] - 1 <S> end
  | for <N1>, <N2> in ipairs(sums) do sums[<N1>] = <N2> * 0.5 + <F> end
  | if <Rare> then sums[<I>] = <F> end
  | if not marks[<I1> % 4 + 1] then marks[<I1> % 4 + 1] = <B> <S> end
odd 6: <PF> = odd[<I>] | <PF> = odd[<I>] or <F> | <PF> = <F> + odd[<F>] | <PI> = odd[<I>] % 8
  | if odd[<I>] then <S> end | if not odd[<F>] then <S> else <PI> = 2 end | <PI> = -odd[<I>]
  | if odd[<I>] == true then <S> end | if odd[<I>] == nil then <S> end | <PF> = floats[odd[<I>] ]
  | <PF> = odd[<I>] - odd[<I>] | local <N1> = odd[<I>] <PB> = <N1> and true or false <PF> = <N1>
  | local <N1> = odd[<I>] or floats[<I>] if <N1> then <S> end <PB> = odd[<I>] == <N1>
  | local <N1>, <N2> for <N3> = 1, 4 do local <N4> = odd[<I> + <N3>] if <N4> then <N1> = <N4> else
    <N2> = nil end if not <N2> then <N2> = <N4> end if <B> then break end end
    <PB> = <N2> == nil if <N1> then <PF> = <N1> end
  | local <N1> if <B> then <N1> = floats[<I>] elseif <B> then <N1> = odd[<I>] end
    if <N1> ~= nil then <PF> = <N1> <S> end
others 10: world:set(<L1>, 'H.hp', (world:get(<L1>, 'H.hp') or 0.0) + <F>)
  | if world:alive(<E1>) and world:has(<E1>, 'H') then world:set(<E1>, 'H.hp', <F>) <S> end
  | local <N1> = world:get(<L1>, 'H.n') if <N1> and <N1> >= 2 then
    world:set(<L1>, 'H.n', <N1> - 2) <S> end | world:set(<L>, 'H.k', <V>)
  | world:set(<L>, 'H.who', <E>) | world:set(<L>, 'P.x', <F>) | world:set(<L>, 'P.far[2]', <F>)
  | world:set(<L>, 'S', <F>, <V>)
  | world:set(<L>, 'P', { far = { <F>, <F> }, bags = { {}, { w = <F> } } })
  | world:set(<L>, 'H', { hp = <F>, who = <E> }) | world:set(<L>, 'S', {})
  | if <B> then world:set(<L>, 'H', {}) end
  | if world:alive(<E1>) then <PF> = world:get(<E1>, 'H.hp') or <F> end
  | if world:get(<L1>, 'H.on') == false then world:set(<L1>, 'H.on', true) <S> end
  | local <N1>, <N2> = world:get(<L>, 'S') if <N1> then <PF> = <N1> <PI> = <N2> % 100 end
  | local <N1> = world:read(<L>, 'P') if <N1> then <PF> = <N1>.far[<X> % 12 + 1]
    <PI> = <N1>.tens[<I>] or #<N1>.m <PE> = <N1>.pals[<I> % 9 + 1] <PF> = <N1>.m[2] <S> end
  | local <N1> = world:read(<L>, 'H') local <N2> = <N1> and <B> and <F>
    if <N2> == nil then <PI> = 1 elseif <N2> then <PF> = <N2> <S> end
  | <PF> = world:read(mate, 'P').far[<I> % 12 + 1]
  | for <K>, <N1> in ipairs(world:read(mate, 'P').bags) do <PF1> = <PF1> + <N1>.w <S> end
commands 6: if world:has(<L1>, 'H') then world:disable(<L1>, 'H') end
  | if world:has(<L1>, 'S') and <B> then world:enable(<L1>, 'S') end
  | if <Rare> then world:clone(<L>) end | if <B> then world:after(0.25, 'Said', <L>, <F>) end
  | world:add(<L>, 'T') | world:remove(<L>, 'T') | if <B> then <Com> end
  | if <B> then <Com> <Com> end | if <B> then world:despawn(<D>) end
  | if <B> and world:alive(<E1>) and <E1> ~= boss and <E1> ~= mate then world:despawn(<E1>) end
spawns 8: if <B> then local <A> = <Spawn> <S> <S> end | if <B> then <Spawn> end
  | local <A> = <Spawn>
  | local <N1> if <B> then <N1> = <Spawn> end if <N1> then world:add(<N1>, 'Held', <L>) end | local
    <A1> = <Spawn> for <N> = 1, <Few> do local <N2> = <Spawn> world:add(<N2>, 'Held', <A1>) if <B>
    then <A1> = <N2> end end world:set(<A1>, 'H.who', <L>)
  | if <B> then local <A1> = <Spawn> <S> world:despawn(<A1>) end
  | local <A> = world:spawn { H = { hp = <F>, who = <E> }, T = true } | <PE> = world:spawn {}
  | at[<X>] = world:spawn { H = { n = <V> } }
  | local <A1> = world:spawn { S = { v = <F> } } <PE> = <A1> | local <A> = make(<F>, <E>)
  | local <A> = world:spawn { H = { n = <V> }, T = <B> or nil }
  | local <N1> = { H = { hp = <F> } } if <B> then <N1>.T = true end local <A> = world:spawn(<N1>) |
    local <N1> if <B> then <N1> = world:spawn { H = {} } end if <N1> then <PE> = <N1>
    world:set(<N1>, 'S', <F>) end
  | if <B> then local <A1> = world:spawn {} <S> world:add(<A1>, 'T') end | local <A1> = world:spawn
    { T = true } if <A1> == <E> then <PI1> = <PI1> + 1 end world:set(<L>, 'H.who', <A1>) | local
    <N1> = { <F>, 2 } <N1>[4] = <F> local <A> = world:spawn { P = { far = <N1>, x = <F>, bags = { {
    w = <F>, m = { 1, <V> % 9 } }, { on = <B> } } } }
  | world:spawn { P = { m = <B> and { <F> } or nil, tens = { 1, 2 } } }
  | if <B> then world:spawn { P = { x = <F>, cell = <X>, prey = <E> }, H = {} } end
emits 4: world:emit('Said', <L>, <F>, <V>) | world:emit('Said', { n = <V>, who = <L> })
  | if <B> then world:emit('Said', <E>, <F>) end | if world:count 'Said' < 20 then <PF> = <F> end
raises 3: if <Rare> then error('stop') end | assert(not (<Rare>), 'no')
fails 8: <PI> = <F> | <PI> = <I>
  | if <Rare> then <PI1> = <PI1> * 1000 end | if <Rare> then floats[0] = <F> end
  | <PF> = floats[<I>] + 1 | if <Rare> then <PF> = world:get(dead, 'H.hp') end | <PF> = 'x'
  | if <Rare> then world:set(ecs.null, 'H.hp', <F>) end | world:add(<E>, 'T')
  | <PF> = world:get(<E>, 'H.hp') | <PF> = price[p.kind] | <PF> = grade[p.tint].w
long 1: if <Rare> then for <N1> = 1, 5000 do floats[<N1> % 16 + 1] = <F> end end
  | if <Rare> then for <N> = 1, 300 do world:spawn { T = true } end end
  | if <Rare> then for <N> = 1, 66000 do <PI1> = (<PI1> + 1) % 100 end end
flow 7: <Opt> | <Opt> | if <B> then <S> end | if <B> then <S> else <S> end
  | for <K> = 1, <Few> do <S> end
  | local <N1> = 0 while <N1> < 3 and <B> do <N1> = <N1> + 1 <S> end | if <B> then <Ret> end
  | local <N1> = 0 repeat <N1> = <N1> + 1 <S> until <N1> > 3 or <B>
  | local <N1> = 0 while true do <N1> = <N1> + 1 <S> if <N1> > 2 or <B> then break end end
  | local <N1> = 0 ::<N2>:: <N1> = <N1> + 1 do <S> end if <N1> < 4 and <B> then goto <N2> end
  | do local <T1> = <Fn> if <T1> then <S> end end | do local <Ti1> = <In> if <Ti1> then <S> end end
  | do local <O1> = <En> if <O1> and world:alive(<O1>) then <S> end end
  | for <N> = 1, 3 do <S> if <B> then break end <S> end
  | for <N> = 1, 3 do <S> <PB1> = not <PB1> if <PB1> then break end <S> end
  | for <N> = 1, 2 do if <B> then goto <N1> end <S> ::<N1>:: end
  | local <N1> if <B> then <N1> = 'bob' end
    for <K> = 1, <Few> do if <B> then if <N1> then <S> elseif <B> then <N1> = 'ann' end end end
texts 8: stores | tally[p.kind] = tally[p.kind] + 1 | tally[p.kind] = <I>
  | tally[p.kind] = (tally[p.kind] or 0) + <F> | met[p.kind] = <B> | met[p.kind] = true
  | if not met[p.kind] then met[p.kind] = true <S> end | most[p.kind] = most[p.kind] or <I>
  | if not most[p.kind] or most[p.kind] < <F1> then most[p.kind] = <F1> <S> end
  | bill[p.s] = (bill[p.s] or 0) + <F> | bill[p.s] = <I> | owed[p.s] = <B>
  | if not owed[p.s] then owed[p.s] = true <S> end <PF> = bill[p.s] or <F>
  | p.kind = tints[<I> % 4 + 1] | p.tint = p.kind | p.s = p.kind | p.kind = turned[p.tint] or 'blue'
  | local <N1> = grade[p.tint] if <N1> then <PF> = <N1>.w * <N1>.at[2] <PI> = #<N1>.at <S> end
  | for <N1>, <N2> in ipairs(bag[p.kind].items) do <PF1> = <PF1> + <N2>.w * <N1> <S> end
  | for <K>, <T> in ipairs(bag[p.kind].nums) do <S> if <B> then break end end
  | local <N1> = bag[p.tint] if <N1> and #<N1>.nums > 1 then <PF> = <N1>.nums[2] end
  | local <N1> = acts[p.kind] if <N1> then <PF> = <N1>(p, <F>, <L>) <S> end
  | if p.kind ~= 'green' then acts[p.kind](p, <F>, <L>) <S> end
  | local <N1> = price[turned[p.tint] ] if <N1> then <PF> = <N1> <S> end
  | local <N1> = maps[p.kind] if <N1> then <PF> = <N1>[<X>] <N1>[<X>] = <F> <S> end
  | local <N1> = <B> and maps.red or maps[p.kind] if <N1> then <N1>[<X1>] = <N1>[<X1>] + 1 end
  | <PF> = bag[p.kind].items[1].w
  | tag = p.s | <PB> = tag == p.s word = p.kind | if <B> then word = nil end stats.name = tag
  | if word and #word > 3 or p.s < tag then tag = stats.name <S> end
  | local <N1> = <B> and p.s or tints[<I> % 4 + 1] <PB> = <N1> == 'ann' <S> p.s = <N1>
  | local <N1> = p.s for <K>, <N2> in ipairs(tints) do if <B> then <N1> = <N2> end <S> end
    if <N1> ~= p.s then p.s = <N1> <S> end
  | local <N1> = 'bob' for <K> = 1, <Few> do if <B> then <N1> = p.s end <S> end
    <PB> = <N1> < p.s p.s = <N1>
  | local <N1> = { p.s, 'cid' } <N1>[3] = p.kind <S> table.sort(<N1>) p.s = <N1>[<X> % 3 + 1]
  | local <N1> = {} <N1>[p.s] = <F> <N1>.ann = (<N1>.ann or 0) + 1 <N1>[p.kind] = <F> <S>
    <PF> = <N1>[p.s] <PF1> = <N1>['ann']
  | local <N1> = <B> and grade[p.kind] if <N1> then <PF> = <N1>.w <S> end
  | local <N1> = grade[p.tint] <S> if <B> then <N1> = grade.red end if <N1> then <PF> = <N1>.w end
  | local <N1> = odds[p.kind] for <K> = 1, <Few> do <PF> = <N1>.at[2] <S> <N1> = odds[p.kind] end
  | local <N1> = <B> and steps[1] or steps[<I> % 2 + 1] <PF> = <N1>[3]
  | local <N1> for <K>, <N2> in ipairs(walks) do if <B> then <N1> = <N2> end end
    if <N1> then <PF> = <N1>.w <PI> = <N1>.n % 9 end
  | local <N1> = walks[1] for <K> = 1, <Few> do <PF1> = <PF1> + <N1>.w <N1> = walks[<N1>.n] <S> end
  | p.far[<X1> % 12 + 1], p.far[<X2> % 12 + 1] = p.far[<X2> % 12 + 1], p.far[<X1> % 12 + 1]
  | for <K>, <T> in ipairs(p.m) do <S> if <B> then break end end
  | for <K>, <N1> in ipairs(p.tens) do if <B> then p.tens[<K>] = <N1> // 2 <S> end end
  | for <K>, <N1> in ipairs(p.bags) do if not <N1>.on then <N1>.on, <N1>.w = true, <F> <S> end end
  | for <K> = 1, #p.bags do local <N1> = p.bags[<K>] <N1>.n = (<N1>.n + <I>) % 90 <S> end
  | local <N1> = p.bags[1] for <K>, <N2> in ipairs(p.bags) do if <B> then <N1> = <N2> end end
    <N1>.who = <E> <N1>.m[<I> % 2 + 1] = <V>
  | local <N1> = p.bags[<I>] if <N1> then <N1>.w = <N1>.w + 1 <PI> = <N1>.m[<X> % 2 + 1] <S> end
  | local <N1> = seek(p.bags, <F>) if <N1> then <PF> = <N1>.w <N1>.n = <V> <S> end
  | local <N1> = pick(score.bags, rival.bags, <F>) if <N1> then <PF> = <N1>.w <S> end
  | local <N1> = pick(p.bags, p.bags, <F>) if <N1> then <PF> = <N1>.w <S> end
  | local <N1> = seek(walks, <F>) if <N1> then <PF> = <N1>.w <PI> = <N1>.n % 9 end
  | local <N1> = <B> and p.bags[1] or p.bags[<I> % 4 + 1] <N1>.w = <F>
  | local <N1> = p.tens for <N2> = #<N1>, 2, -1 do <N1>[<N2>] = <N1>[<N2> - 1] <S> end
  | <PF> = cards[<I> % 3 + 1].play(p, <F>, <L>) | local <N1> = cards[<I> % 3 + 1] <PF> = <N1>.w
    if <N1>.play then <PF> = <N1>.play(p, <F>, <L>) <S> end
  | if deeds[p.kind] then deeds[p.kind].play(p, <F>, <L>) <S> end
  | if <B> then deeds[p.kind].play(p, <F>, <L>) end
  | local <N1> = 'red' for <K> = 1, <Few> do if <B> then <N1> = p.kind <S> end
    if <B> then <N1> = 'green' end end p.kind = <N1>
  | local <N1> for <K>, <N2> in ipairs(NAMES) do if <B> then <N1> = <N2> <S> end end
    if <N1> then p[<N1>] = p[<N1>] % 30 end
  | local <N1> = p.tint while <N1> ~= 'black' and <B> do
    if <N1> == 'blue' then <N1> = 'black' else <N1> = 'blue' end <S> end p.tint = <N1>
  | local <N1> = 'blue' for <N2> = 1, 3 do if <B> then <N1> = tints[<N2>] break end end
    p.tint = <N1>
  | local <N1> = fees[p.s] if <N1> then <PF> = <N1> <S> end | p.s = world:get(<L>, 'P.s') or 'cat'
  | <PF> = fees[world:get(<L>, 'P.s') or 'bob'] or <F> | world:set(<L>, 'P.s', p.s)
  | for <K>, <N1> in ipairs(NAMES) do p[<N1>] = p[<N1>] % 50 <S> end | <PF> = p[<B> and 'x' or 'n']
  | p[<B> and 'n' or 'c'] = <V> | local <N1> = NAMES[<I> % 4 + 1] p[<N1>] = p[<N1>] % 20 + 1
  | world:set(<L>, 'H.' .. (<B> and 'n' or 'k'), <V>) | if 'x' .. p.kind == 'xred' then <S> end
  | local <N1> = world:get(<L>, 'H.' .. cards[<I> % 3 + 1].name) if <N1> then <PF> = <N1> end
  | <PF> = score[<B> and 'n' or 'f'] | score[<B> and 'n' or 'b'] = <V>
  | <PF> = p.far[<I> % 14] or <F> | if <Rare> then p.far[<I>] = <F> end
  | if p.kind ~= 'green' then <PF> = price[p.kind] end | p.tint = turned[p.kind] or 'black'
  | if p.tint ~= 'black' then p.kind = p.tint end | if <Rare> then p.kind = p.tint end
  | local <N1> = <B> and p.kind if <N1> == 'red' then <S> end
  | local <N1> = <B> and <F> if <N1> then <PF> = <N1> <S> end | local <N1> = <B> and <B> and <I>
    <PI> = (<N1> or 3) % 100 | local <N1> = <B> and 'red' or 'blue' <PF> = cost[<N1>] p.kind = <N1>
  | local <N1> if <B> then <N1> = 'green' end if <N1> then p.kind = <N1> <S> end
grown 6: many[#many + 1] = <F> | if <B> then many[#many + 1] = <F> <S> end
  | if <B> then ids[#ids + 1] = <L> end | if <B> then add(ids, <L>) <S> end | add(many, <V>)
  | <PF> = many[<I>] or <F> | if #many > 3 then many[<I> % #many + 1] = <F> end | <PI> = #ids % 100
  | for <K> = 1, <Few> do ids[#ids + 1] = <L> <S> end | if <Rare> then many[#many + 2] = <F> end
  | local <N1> = ids[#ids] if <N1> and world:alive(<N1>) then <PE> = <N1> <S> end
  | found[#found + 1] = { id = <L>, w = <F>, n = <I> } | <PI> = #found % 50
  | if <B> then add(taken, { <F>, id = <E>, on = <B> or nil, name = 'x' }) <S> end
  | if <B> then yes[#yes + 1] = <B> end | if yes[<X>] then <S> end | yes[#yes + 1] = <Rare>
keyed 7: marked[<L>] = <F> | if <B> then marked[<L>] = <V> <S> end | kin[<L>] = <L>
  | marked[<L1>] = (marked[<L1>] or 0) + 1 | if met2[<L1>] then <S> else met2[<L1>] = true end
  | met2[<L>] = <B> | if <B> then marked[<L>] = nil end | if <B> then met2[<L>] = nil <S> end
  | <PF> = marked[<L>] or <F> | local <N1> = kin[<L>] if <N1> then <PE> = <N1> <S> end
  | spots[<X> * 100] = (spots[<X> * 100] or 0) + <I> | <PF> = spots[<X> * 100] or 0.5
  | <PF> = old[<L>] or <F> | if old[<L>] then <S> end | <PI> = ages[<X> * 50] or 3
  | if marked[<E>] then <S> end | if <Rare> then marked[<I>] = <F> end
  | for <N1>, <N2> in pairs(cost) do <PF1> = (<PF1> * 3 + <N2>) % 64 if <N1> == 'red' then <S> end
    end
  | for <N1>, <N2> in pairs(old) do <PF1> = (<PF1> * 3 + <N2>) % 64 if <B> then <PE> = <N1> end <Z>
    end
  | for <N1>, <N2> in pairs(ages) do <PI1> = (<PI1> * 3 + <N2>) % 97 if <N1> > 100 then break end
    <S> end
made 8: do local <N1> = {} for <N9> = 1, <Few> do <N1>[#<N1> + 1] = <F> <S> end <PF> = <N1>[<I>]
    or <F> <PI> = #<N1> <S> end
  | do local <N1> = { <I>, <I>, 3 } for <N2> = 1, #<N1> do <N1>[<N2>] = <N1>[<N2>] + <I> <Z> end
    if <B> then <N1>[#<N1>] = nil end <PI> = <N1>[#<N1>] % 50 end
  | do local <N1> = {} for <N9> = 1, 5 do if <B> then add(<N1>, <L>) end end <S> for <N2>, <N3>
    in ipairs(<N1>) do if world:alive(<N3>) then <PE> = <N3> end <Z> end end
  | do local <N1> = {} for <N9> = 1, 4 do if <B> then <N1>[#<N1> + 1] = { w = <F>, id = <L>, n =
    <I>, on = <B> or nil } end end for <N2>, <N3> in ipairs(<N1>) do if <N3>.on then <N3>.w =
    <F> end <PF1> = (<PF1> + <N3>.w) % 64 <Z> end local <N4> = <N1>[<I>] if <N4> then <PE> =
    <N4>.id <PI> = <N4>.n % 9 <S> end end
  | do local <N1>, <N2> = {}, nil for <N5> = 1, 4 do <N1>[<N5>] = { w = <F>, n = <I> } end
    sort(<N1>, function(a, b) return a.w < b.w end) for <N3>, <N4> in ipairs(<N1>) do if <B>
    then <N2> = <N4> end <PI1> = (<PI1> * 3 + <N4>.n) % 97 end if <N2> then <PF> = <N2>.w end
    end
  | do local <N1> = {} for <N5> = 1, 6 do <N1>[<N5>] = (<I> * 7 + <N5>) % 9 end sort(<N1>) <S>
    for <N2>, <N3> in ipairs(<N1>) do <PI1> = (<PI1> * 3 + <N3> * <N2>) % 97 end end
  | do local <N1> = { <F>, <F>, <F>, <F> } sort(<N1>, function(a, b) return a > b end) <PF> =
    <N1>[2] end
  | do local <N1> = {} for <N9> = 1, <Few> do add(<N1>, 1, <F>) end local <N2> = remove(<N1>, 1)
    <S> if <N2> then <PF> = <N2> end add(<N1>, <F>) <PF> = remove(<N1>) + #<N1> end
  | do local <N1> = {} for <N5> = 1, 4 do <N1>[<L1>] = (<N1>[<L1>] or 0) + <I> <N1>[<L>] = <N5>
    end for <N2>, <N3> in pairs(<N1>) do <PF1> = (<PF1> * 3 + <N3>) % 64 <PE> = <N2> <Z> end end
  | do local <N1> = {} for <N9> = 1, 9 do <N1>[<I> * 512] = <B> if <N1>[<I> * 512] then <S> end
    end end
  | do local <N1> = {} <N1>[<X>] = { n = <I> } if <B> then <N1>[<X> + 3] = { n = <I> } end for
    <N2>, <N3> in pairs(<N1>) do <PI1> = (<PI1> + <N3>.n * <N2>) % 97 <Z> end end
  | do local <N1> = {} for <N9> = 1, 4 do <N1>[#<N1> + 1] = <B> and 'red' or 'blue' end if
    <N1>[<X> % 4 + 1] == 'red' then <S> end end
  | do local <N1> = <F> local function <N2>(x) <N1> = (<N1> + x) % 64 return <N1> end <PF> =
    <N2>(<F>) <S> <PF> = <N2>(1.5) + <N1> end
  | do local <N1>, <N2> = { 1 }, 1 while <N2> <= #<N1> and <N2> < 9 do if <B> then <N1>[#<N1> +
    1] = <N1>[<N2>] + <I> end <N2> = <N2> + 1 <Z> end <PI> = #<N1> end
  | do local <N1> = {} for <N9> = 1, <Few> do if <B> then <N1>[#<N1> + 1] = <F> else <N1>[#<N1>] =
    nil end end for <N2>, <N3> in pairs(<N1>) do <PF1> = (<PF1> + <N3> * <N2>) % 64 <Z> end <PI> =
    #<N1> end
strays 5: if <Rare> then log[#log + 1] = <F> <S> end | if <Rare> then tell(<F>, <E>) end
  | if <Rare> then <S> noted[<L>] = <F> end | if <Rare> and <B> then <PF> = #('s' .. <I>) end
  | if <Rare> then for <N1> in pairs(noted) do <PE> = <N1> break end <S> end
  | if <I> == 3 then local <N1> = {} <N1>[<X>] = <F> <PF> = <N1>[<X>] or <F> end
  | if not <B> then <S> elseif <Rare> then total = total + select('#', <E>) end
locals 3: local <T> = <F> | local <O> = <L> | <Var> = <F> | <Var1> = <Var1> + <F>
lists 3: for <O> in world:targets(<L>, 'Eats') do <S> end
  | for <O> in world:children(<L>) do <S> end | for <O> in world:sources(<L>, 'Eats') do <S> end
  | for <N1>, <N2>, <O> in near:within(<F>, 1.0, 2) do <PF1> = <PF1> + <N2>.hp * <N1>.x <S> end
  | for <N1>, <N2>, <O> in near:within(<F>, 1.0, 2) do <PF1> = <PF1> + <N2>.far[<X> % 5 + 1]
    for <K>, <N3> in ipairs(<N2>.bags) do <PF> = <N3>.w + <N2>.bags[<I> % 2 + 1].n <S> end end
  | for <N1>, <O> in aged:range(<I>, <I>) do <PI1> = <PI1> + <N1>.n <S> end
  | for <N1>, <O> in aged:lowest(<Few>) do <PF1> = <PF1> + <N1>.hp <S> end
  | local <N1>, <N2> = near:nearest(<F>, 1.0, 3, <E>) if <N1> then <PF> = <N2> <PE> = <N1> <S> end
  | for <K>, <T> in ipairs(weights) do <S> if <B> then break end <S> end
  | for <K>, <T> in ipairs(floats) do if <B> then goto <N1> end <S> ::<N1>:: end
  | for <K>, <N1> in ipairs(steps) do <PF> = <N1>[<I> % 3 + 1] end
  | for <K>, <N1> in ipairs(lanes[<I> % 3 + 1]) do <PF1> = <PF1> + <N1> <S> end
  | for <K>, <T> in ipairs { <F>, <F>, 2.5 } do <S> if <B> then break end end
  | for <K>, <N1> in ipairs { { <I>, <F> }, { 2, <F> } } do
    <PF> = <N1>[2] <PI> = <N1>[1] % 9 <S> end
  | for <N1>, <N2> in ipairs { 1.0, <B> and <F> or nil, 3.0 } do <PF> = <N2> <S> end
whole 4: floats:fill(<F>) | ints:write(nxt:read()) | ints:copy(nxt) | bytes:fill(<V>)
  | at:fill(<L>) | floats:read(had) | bytes:read(had) <PF> = had[<X>] | flags:read(held)
  | floats:read(had) had[<X>] = <F> | floats:write(floats:read()) | if <B> then bytes:fill(<I>) end
]]

words.stores = read([[
any all: <PF> = <F> | <PF> = <I> | <PF1> = <PF1> + <F> | <PF1> = <PF1> * 0.5
  | <PF1> = math.max(<PF1>, <F>) | <PI1> = <PI1> + 1 | <PI1> = <PI1> - 1 | <PI> = <V> | <PB> = <B>
  | <PB1> = not <PB1> | <PB1> = <PB1> or <B> | <PE> = <E> | <PW1> = <PW1> + <Q>
  | if <PI1> >= 2 then <PI1> = <PI1> - 2 <S> end | if not <PB1> then <PB1> = true <S> end
  | local <N1> = <PF1> <PF1> = <F> <S> <PF> = <N1>
  | if <PE1> == ecs.null then <PE1> = <L> <S> else <PE1> = ecs.null end
  | if <PF1> < <F1> then <PF1>, <PF> = <F1>, <PF1> end
]]).any.all

-- Terms beside P, and how many of a hundred queries have one of a group: of H, S, T, ties, or P.
words.terms = read [[
H 60: g=H | g=H? | g=H:in | h=P.prey->H | h=P.prey->H? | h=P.prey->H:in | h=P.prey->H:in?
  | h=Held->H | h=Held->H:in? | h=ChildOf->H | h=ChildOf*->H:in? | !H | h=H($p):in | g=H:off
  | g=H:any
S 30: s=S | s=S? | !S | s=S:in | with S | s=S:off | s=S:any? | s=P.prey->S? | s=Held->S:in
T 30: !T | with T | t=T? | t=T?
Ties 8: (Eats, *) | !(Eats, *) | (Eats, $p) | with (Held, *) | d=(Held, $p)
Up 15: u=ChildOf->P:in | u=ChildOf->P:in? | u=P.prey->P:in | u=Held->P:in?
]]

return words
