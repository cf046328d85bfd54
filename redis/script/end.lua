-- Ends one lease or all of an account.
-- KEYS[1] the account
-- ARGV    1 lease id, or '' for all; 2 TTL of the tombstones in ms, 0 to leave none
--         (a release); 3 slack in ms; 4 clock offset in ms
-- Returns how many leases ended.
local key, id, keep = KEYS[1], ARGV[1], tonumber(ARGV[2])
local v = redis.call('GET', key)
if not v then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[4]
local slack = tonumber(ARGV[3])
--#prelude
local leases, tombs, watch = read(v)
local kept, ended = {}, 0
for i = 1, #leases do
  local lid = sub(leases[i][1], 1, 16)
  if id == '' or lid == id then
    ended = ended + 1
    if keep > 0 then tombs[#tombs + 1] = tombstone(lid, 1, now + keep, '') end
    tell(watch, lid)
  else
    kept[#kept + 1] = leases[i]
  end
end
if ended > 0 then write(kept, tombs, watch) end
return ended
