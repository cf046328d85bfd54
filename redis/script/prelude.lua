-- Shared by every script: the layout of an account's value, and its clock.
--
--   1      leases (count)      2      tombstones (count)
--   3-8    somebody watches until (ms)      9-14   the key's own TTL ends (ms)
--   then per lease, oldest first, 50 bytes:
--          id 16 | device, bytes 5-16 of its hash, 12 | started 6 | seen 6 | expires 6
--          | length of device_meta 2, profile 1, title 1
--   then per tombstone, oldest first, 31 bytes:
--          id 16 | reason 1 | stopped 6 | expires 6 | length of by 2
--   then the texts: device_meta, profile and title of each lease, by of each tombstone.
--
-- Numbers are big-endian, so that moments compare as strings.
local sub, byte, char = string.sub, string.byte, string.char
local pack, unpack_ = struct.pack, struct.unpack
local HEAD, LEASE, TOMB, TOMBS = 14, 50, 31, 16
local NEVER = '\0\0\0\0\0\0'

local function clock(offset)
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000) + offset
end

local function moment(ms) return pack('>I6', ms) end

-- read returns the live leases, the live tombstones and the watch deadline of a
-- value (or of no value). A lease is {fixed, texts}, a tombstone too.
local function read(v, now6)
  local leases, tombs = {}, {}
  if not v then return leases, tombs, NEVER end
  local nl, nt = byte(v, 1), byte(v, 2)
  local pos, text = HEAD + 1, HEAD + 1 + nl * LEASE + nt * TOMB
  for _ = 1, nl do
    local f = sub(v, pos, pos + LEASE - 1)
    local m, p, t = unpack_('>I2BB', f, 47)
    local len = m + p + t
    if sub(f, 41, 46) > now6 then leases[#leases + 1] = {f, sub(v, text, text + len - 1)} end
    pos, text = pos + LEASE, text + len
  end
  for _ = 1, nt do
    local f = sub(v, pos, pos + TOMB - 1)
    local len = unpack_('>I2', f, 30)
    if sub(f, 24, 29) > now6 then tombs[#tombs + 1] = {f, sub(v, text, text + len - 1)} end
    pos, text = pos + TOMB, text + len
  end
  return leases, tombs, sub(v, 3, 8)
end

-- write stores the account, or deletes it when nothing is left. slack (ms) keeps
-- the key that much longer than what it holds, so that few renewals touch its TTL.
local function write(key, leases, tombs, watch, now, slack)
  local nl, nt = #leases, #tombs
  if nl == 0 and nt == 0 then
    redis.call('DEL', key)
    return
  end
  local first = nt > TOMBS and nt - TOMBS + 1 or 1
  local out, texts, last = {}, {}, NEVER
  for i = 1, nl do
    local l = leases[i]
    out[#out + 1], texts[#texts + 1] = l[1], l[2]
    local e = sub(l[1], 41, 46)
    if e > last then last = e end
  end
  if nl == 0 then slack = 0 end
  for i = first, nt do
    local t = tombs[i]
    out[#out + 1], texts[#texts + 1] = t[1], t[2]
    local e = sub(t[1], 24, 29)
    if e > last then last = e end
  end
  local ends = unpack_('>I6', last) + slack
  redis.call('SET', key, char(nl, nt - first + 1) .. watch .. moment(ends) ..
    table.concat(out) .. table.concat(texts), 'PX', ends - now)
end

local function tombstone(id, reason, now6, ends6, by)
  return {id .. char(reason) .. now6 .. ends6 .. pack('>I2', #by), by}
end

-- tell wakes the watchers of an account, if there are any.
local function tell(key, watch, now6, id)
  if watch > now6 then redis.call('SPUBLISH', key, id) end
end
