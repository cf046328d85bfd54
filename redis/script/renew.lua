-- Gives a lease one more TTL. The common renewal reads the value once and writes
-- twelve bytes of it.
-- KEYS[1] the account
-- ARGV    1 lease id, 2 TTL in ms, 3 clock offset in ms, 4 Revive,
--         5 device_meta, 6 profile, 7 title ('' keeps what is there; 5-7 may be absent)
-- Returns 0 unknown, 1 renewed, 2 re-registered; or, stopped, {reason, stopped, by}.
local key, id, ttl = KEYS[1], ARGV[1], tonumber(ARGV[2])
local half = math.floor(ttl / 2)
local now = clock(ARGV[3])
local now6, ends = moment(now), now + ttl
local v = redis.call('GET', key)

if v and not ARGV[5] then
  local pos = HEAD + 1
  for _ = 1, byte(v, 1) do
    if sub(v, pos, pos + 15) == id then
      if sub(v, pos + 40, pos + 45) <= now6 then break end
      redis.call('SETRANGE', key, pos + 33, now6 .. moment(ends))
      if unpack_('>I6', v, 9) < ends then
        redis.call('SETRANGE', key, 8, moment(ends + half))
        redis.call('PEXPIRE', key, ttl + half)
      end
      return 1
    end
    pos = pos + LEASE
  end
end

local revive = tonumber(ARGV[4])
if not v and revive == 0 then return 0 end
local leases, tombs, watch = read(v, now6)

local twin = false
for i = 1, #leases do
  local f, texts = leases[i][1], leases[i][2]
  if sub(f, 1, 16) == id then
    local m, p = unpack_('>I2BB', f, 47)
    local meta, profile, title = ARGV[5] or '', ARGV[6] or '', ARGV[7] or ''
    if meta == '' then meta = sub(texts, 1, m) end
    if profile == '' then profile = sub(texts, m + 1, m + p) end
    if title == '' then title = sub(texts, m + p + 1) end
    leases[i] = {
      sub(f, 1, 34) .. now6 .. moment(ends) .. pack('>I2BB', #meta, #profile, #title),
      meta .. profile .. title,
    }
    write(key, leases, tombs, watch, now, half)
    return 1
  end
  if sub(f, 6, 9) == sub(id, 6, 9) then twin = true end
end
for i = 1, #tombs do
  local f = tombs[i][1]
  if sub(f, 1, 16) == id then return {byte(f, 17), unpack_('>I6', f, 18), tombs[i][2]} end
end
if twin or #leases >= revive then return 0 end

local meta, profile, title = ARGV[5] or '', ARGV[6] or '', ARGV[7] or ''
leases[#leases + 1] = {
  id .. '\0\0\0\0\0\0\0\0\0\0\0\0' .. now6 .. now6 .. moment(ends) .. pack('>I2BB', #meta, #profile, #title),
  meta .. profile .. title,
}
write(key, leases, tombs, watch, now, half)
return 2
