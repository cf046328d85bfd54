-- Reads an account on the store's clock.
-- KEYS[1] the account
-- ARGV    1 clock offset in ms
-- Returns the moment now (6 bytes) and the account's value, expired parts included.
return moment(clock(ARGV[1])) .. (redis.call('GET', KEYS[1]) or '')
