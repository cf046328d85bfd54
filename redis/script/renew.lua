-- Gives a lease one more TTL. The common renewal reads the value once and writes
-- twelve bytes of it.
-- KEYS[1] the account
-- ARGV    1 lease id, 2 TTL in ms, 3 slack in ms, 4 clock offset in ms, 5 Revive,
--         6 device_meta, 7 profile, 8 title ('' keeps what is there; 6-8 may be absent)
-- Returns 0 unknown, 1 renewed, 2 re-registered; or, stopped, {reason, stopped, by}.
local key, id = KEYS[1], ARGV[1]
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[4]
local ends = now + ARGV[2]
local v = redis.call('GET', key)

if v and not ARGV[6] then
  -- Ids are sought as bytes; a text that happens to hold them is not where one can be.
  local pos = string.find(v, id, 15, true)
  if pos and (pos - 15) % 50 == 0 and pos < 15 + 50 * string.byte(v, 1) and struct.unpack('>I6', v, pos + 40) > now then
    redis.call('SETRANGE', key, pos + 33, struct.pack('>I6I6', now, ends))
    if struct.unpack('>I6', v, 9) < ends then
      redis.call('SETRANGE', key, 8, struct.pack('>I6', ends + ARGV[3]))
      redis.call('PEXPIRE', key, ends + ARGV[3] - now)
    end
    return 1
  end
end
local revive = tonumber(ARGV[5])
if not v and revive == 0 then return 0 end
local slack = tonumber(ARGV[3])
--#prelude
local leases, tombs, watch = read(v)
local meta, profile, title = ARGV[6] or '', ARGV[7] or '', ARGV[8] or ''
local twin = false
for i = 1, #leases do
  local f, texts = leases[i][1], leases[i][2]
  if sub(f, 1, 16) == id then
    local m, p = unpack_('>I2BB', f, 47)
    if meta == '' then meta = sub(texts, 1, m) end
    if profile == '' then profile = sub(texts, m + 1, m + p) end
    if title == '' then title = sub(texts, m + p + 1) end
    leases[i] = {
      sub(f, 1, 34) .. pack('>I6I6I2BB', now, ends, #meta, #profile, #title),
      meta .. profile .. title,
    }
    write(leases, tombs, watch)
    return 1
  end
  if sub(f, 6, 9) == sub(id, 6, 9) then twin = true end
end
for i = 1, #tombs do
  local f = tombs[i][1]
  if sub(f, 1, 16) == id then
    local reason, stopped = unpack_('>BI6', f, 17)
    return {reason, stopped, tombs[i][2]}
  end
end
if twin or #leases >= revive then return 0 end

leases[#leases + 1] = {
  id .. '\0\0\0\0\0\0\0\0\0\0\0\0' .. pack('>I6I6I6I2BB', now, now, ends, #meta, #profile, #title),
  meta .. profile .. title,
}
write(leases, tombs, watch)
return 2
