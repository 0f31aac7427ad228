-- The ids that an iterator gives, as a list: collect(world:children(e)).
return function(...)
  local ids = {}
  for id in ... do
    ids[#ids + 1] = id
  end
  return ids
end
