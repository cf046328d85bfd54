-- Decides a play-start in one step: drop what expired, look for the device, count,
-- decide, add.
-- KEYS[1] the account
-- ARGV    1 lease id, 2 device hash, 3 limit, 4 lease id to replace or '',
--         5 device_meta, 6 profile, 7 title, 8 TTL in ms, 9 clock offset in ms
-- Returns 1 admitted, 2 admitted by taking over; or, denied, the string of the
--         moment now (6 bytes) and the account's live leases as a value.
local key, id, device, limit, target = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local ttl = tonumber(ARGV[8])
local half = math.floor(ttl / 2)
local now = clock(ARGV[9])
local now6, ends6 = moment(now), moment(now + ttl)
local leases, tombs, watch = read(redis.call('GET', key), now6)

local short, rest = sub(device, 1, 4), sub(device, 5, 16)
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
  local fixed, texts = {}, {}
  for i = 1, #leases do fixed[i], texts[i] = leases[i][1], leases[i][2] end
  return now6 .. char(#leases, 0) .. NEVER .. NEVER .. table.concat(fixed) .. table.concat(texts)
end

local function stop(i, reason, by)
  local lid = sub(leases[i][1], 1, 16)
  tombs[#tombs + 1] = tombstone(lid, reason, now6, ends6, by)
  tell(key, watch, now6, lid)
end
if own then stop(own, 2, ARGV[5]) end
if named and named ~= own then stop(named, 1, '') end

local kept = {}
for i = 1, #leases do
  if i ~= own and i ~= named then kept[#kept + 1] = leases[i] end
end
kept[#kept + 1] = {
  id .. rest .. now6 .. now6 .. ends6 .. pack('>I2BB', #ARGV[5], #ARGV[6], #ARGV[7]),
  ARGV[5] .. ARGV[6] .. ARGV[7],
}
write(key, kept, tombs, watch, now, half)
return own and 2 or 1
