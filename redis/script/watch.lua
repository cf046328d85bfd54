-- Notes that somebody watches the account for a while, and reads it.
-- KEYS[1] the account
-- ARGV    1 clock offset in ms, 2 how long in ms
-- Returns the moment now (6 bytes) and the account's value, expired parts included.
local now = clock(ARGV[1])
local v = redis.call('GET', KEYS[1])
if not v then return moment(now) end
local until6 = moment(now + tonumber(ARGV[2]))
if sub(v, 3, 8) < until6 then redis.call('SETRANGE', KEYS[1], 2, until6) end
return moment(now) .. v
