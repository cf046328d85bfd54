-- Tells which life of this shard's memory this is, and starts a new one when the
-- marker is gone or another primary holds it (which may have lost writes).
-- KEYS[1] the shard's marker
-- ARGV    1 four random bytes, 2 clock offset in ms
-- Returns {id (4 bytes), age in ms}.
local now = clock(ARGV[2])
local replid = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
local v = redis.call('GET', KEYS[1])
if not v or sub(v, 11) ~= replid then
  v = ARGV[1] .. moment(now) .. replid
  redis.call('SET', KEYS[1], v)
end
return {sub(v, 1, 4), now - unpack_('>I6', v, 5)}
