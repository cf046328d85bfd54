-- The shape that most write: a sorted set of streams scored by expiry beside a hash
-- of their metadata.
-- KEYS  1 sorted set, 2 hash
-- ARGV  1 stream, 2 limit, 3 TTL in ms, 4 metadata; a renewal gives limit -1
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ttl = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if ARGV[2] == '-1' then return 0 end
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
end
redis.call('ZADD', KEYS[1], now + ttl, ARGV[1])
if ARGV[2] ~= '-1' then redis.call('HSET', KEYS[2], ARGV[1], ARGV[4]) end
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PEXPIRE', KEYS[2], ttl)
return 1
