-- Notes that somebody watches the account for a while, and reads it.
-- KEYS[1] the account
-- ARGV    1 clock offset in ms, 2 how long in ms
-- Returns the moment now (6 bytes) and the account's value, expired parts included.
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[1]
local v = redis.call('GET', KEYS[1])
if not v then return struct.pack('>I6', now) end
local till = now + ARGV[2]
if struct.unpack('>I6', v, 3) < till then
  redis.call('SETRANGE', KEYS[1], 2, struct.pack('>I6', till))
end
return struct.pack('>I6', now) .. v
