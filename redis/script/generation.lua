-- Tells which life of this shard's memory this is, and starts a new one when the
-- marker is gone or another primary holds it (which may have lost writes).
-- KEYS[1] the shard's marker
-- ARGV    1 four random bytes, 2 clock offset in ms
-- Returns {id (4 bytes), age in ms}.
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[2]
local replid = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
local v = redis.call('GET', KEYS[1])
if not v or string.sub(v, 11) ~= replid then
  v = ARGV[1] .. struct.pack('>I6', now) .. replid
  redis.call('SET', KEYS[1], v)
end
return {string.sub(v, 1, 4), now - struct.unpack('>I6', v, 5)}
