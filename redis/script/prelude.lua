-- Shared by the scripts: the layout of an account's value.
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
-- Numbers are big-endian. They are compared as numbers: Lua orders strings by the
-- server's locale. What comes before this text in a script answers the common case
-- without it, since making a function costs more than calling one.
--
-- It expects the locals key, now (ms) and slack (ms that a key outlives what it holds,
-- so that few renewals touch its TTL).
local sub, byte, char = string.sub, string.byte, string.char
local pack, unpack_ = struct.pack, struct.unpack
local HEAD, LEASE, TOMB, TOMBS = 14, 50, 31, 16

-- read returns the live leases, the live tombstones and the watch deadline (ms) of a
-- value, or of none. A lease is {fixed, texts}, a tombstone too.
local function read(v)
  local leases, tombs = {}, {}
  if not v then return leases, tombs, 0 end
  local nl, nt = byte(v, 1, 2)
  local pos, text = HEAD + 1, HEAD + 1 + nl * LEASE + nt * TOMB
  for _ = 1, nl do
    local expires, m, p, t = unpack_('>I6I2BB', v, pos + 40)
    local len = m + p + t
    if expires > now then
      leases[#leases + 1] = {sub(v, pos, pos + LEASE - 1), sub(v, text, text + len - 1)}
    end
    pos, text = pos + LEASE, text + len
  end
  for _ = 1, nt do
    local expires, len = unpack_('>I6I2', v, pos + 23)
    if expires > now then
      tombs[#tombs + 1] = {sub(v, pos, pos + TOMB - 1), sub(v, text, text + len - 1)}
    end
    pos, text = pos + TOMB, text + len
  end
  return leases, tombs, (unpack_('>I6', v, 3))
end

-- write stores the account, or deletes it when nothing is left.
local function write(leases, tombs, watch)
  local nl, nt = #leases, #tombs
  if nl == 0 and nt == 0 then
    redis.call('DEL', key)
    return
  end
  local first = nt > TOMBS and nt - TOMBS + 1 or 1
  local out, texts, last = {}, {}, 0
  for i = 1, nl do
    local l = leases[i]
    out[#out + 1], texts[#texts + 1] = l[1], l[2]
    last = math.max(last, (unpack_('>I6', l[1], 41)))
  end
  if nl > 0 then last = last + slack end
  for i = first, nt do
    local t = tombs[i]
    out[#out + 1], texts[#texts + 1] = t[1], t[2]
    last = math.max(last, (unpack_('>I6', t[1], 24)))
  end
  redis.call('SET', key, char(nl, nt - first + 1) .. pack('>I6I6', watch, last) ..
    table.concat(out) .. table.concat(texts), 'PX', last - now)
end

local function tombstone(id, reason, expires, by)
  return {id .. pack('>BI6I6I2', reason, now, expires, #by), by}
end

-- tell wakes the watchers of an account, if there are any.
local function tell(watch, id)
  if watch > now then redis.call('SPUBLISH', key, id) end
end
