-- Decides a play-start in one step: drop what expired, look for the device, count,
-- decide, add.
-- KEYS[1] the account
-- ARGV    1 lease id, 2 device hash, 3 limit, 4 lease id to replace or '',
--         5 device_meta, 6 profile, 7 title, 8 TTL in ms, 9 slack in ms,
--         10 clock offset in ms
-- Returns 1 admitted, 2 admitted by taking over; or, denied, the string of the
--         moment now (6 bytes) and a value that holds the account's live leases.
local key, id, device, limit, target = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[10]
local slack = tonumber(ARGV[9])
local ends = now + ARGV[8]
local v = redis.call('GET', key)
local short, rest = string.sub(device, 1, 4), string.sub(device, 5)
local fresh = id .. rest .. struct.pack('>I6I6I6I2BB', now, now, ends, #ARGV[5], #ARGV[6], #ARGV[7])
local texts = ARGV[5] .. ARGV[6] .. ARGV[7]

-- The common case: nothing expired, no tombstones, and no stream of this device or
-- to be replaced.
local nl, nt, plain = 0, 0, true
if v then
  nl, nt = string.byte(v, 1, 2)
  plain = nt == 0 and target == ''
  local pos = 15
  for _ = 1, plain and nl or 0 do
    if string.sub(v, pos + 5, pos + 8) == short or struct.unpack('>I6', v, pos + 40) <= now then
      plain = false
      break
    end
    pos = pos + 50
  end
end
if plain then
  if nl >= limit then return struct.pack('>I6', now) .. (v or '') end
  local last = ends + slack
  local before = string.rep('\0', 6)
  local body = fresh .. texts
  if v then
    last = math.max(last, (struct.unpack('>I6', v, 9)))
    before = string.sub(v, 3, 8)
    body = string.sub(v, 15, 14 + nl * 50) .. fresh .. string.sub(v, 15 + nl * 50) .. texts
  end
  redis.call('SET', key, string.char(nl + 1, 0) .. before .. struct.pack('>I6', last) .. body, 'PX', last - now)
  return 1
end
--#prelude
local leases, tombs, watch = read(v)
local own, named
for i = 1, #leases do
  local f = leases[i][1]
  local lid = sub(f, 1, 16)
  if lid == id then return 1 end
  if lid == target then named = i end
  local r = sub(f, 17, 28)
  -- A lease that re-registered knows only the device bytes of its id.
  if sub(f, 6, 9) == short and (r == rest or r == '\0\0\0\0\0\0\0\0\0\0\0\0') then own = i end
end

if not own and #leases - (named and 1 or 0) >= limit then
  local fixed, all = {}, {}
  for i = 1, #leases do fixed[i], all[i] = leases[i][1], leases[i][2] end
  return pack('>I6BBI6I6', now, #leases, 0, 0, 0) .. table.concat(fixed) .. table.concat(all)
end

local function stop(i, reason, by)
  local lid = sub(leases[i][1], 1, 16)
  tombs[#tombs + 1] = tombstone(lid, reason, ends, by)
  tell(watch, lid)
end
if named and named ~= own then stop(named, 1, '') end
if own then stop(own, 2, ARGV[5]) end

local kept = {}
for i = 1, #leases do
  if i ~= own and i ~= named then kept[#kept + 1] = leases[i] end
end
kept[#kept + 1] = {fresh, texts}
write(kept, tombs, watch)
return own and 2 or 1
