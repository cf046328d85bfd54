-- Reads an account on the store's clock.
-- KEYS[1] the account
-- ARGV    1 clock offset in ms
-- Returns the moment now (6 bytes) and the account's value, expired parts included.
local t = redis.call('TIME')
local now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000 + ARGV[1]
return struct.pack('>I6', now) .. (redis.call('GET', KEYS[1]) or '')
