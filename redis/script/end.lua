-- Ends one lease or all of an account.
-- KEYS[1] the account
-- ARGV    1 lease id, or '' for all; 2 TTL of the tombstones in ms, 0 to leave none
--         (a release); 3 clock offset in ms; 4 TTL of leases in ms
-- Returns how many leases ended.
local key, id, keep = KEYS[1], ARGV[1], tonumber(ARGV[2])
local half = math.floor(tonumber(ARGV[4]) / 2)
local now = clock(ARGV[3])
local now6 = moment(now)
local v = redis.call('GET', key)
if not v then return 0 end
local leases, tombs, watch = read(v, now6)

local kept, ended = {}, 0
for i = 1, #leases do
  local lid = sub(leases[i][1], 1, 16)
  if id == '' or lid == id then
    ended = ended + 1
    if keep > 0 then tombs[#tombs + 1] = tombstone(lid, 1, now6, moment(now + keep), '') end
    tell(key, watch, now6, lid)
  else
    kept[#kept + 1] = leases[i]
  end
end
if ended > 0 then write(key, kept, tombs, watch, now, half) end
return ended
