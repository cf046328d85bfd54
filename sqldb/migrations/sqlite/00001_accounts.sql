-- +goose Up

-- Operators and other programs write this table with plain SQL: the defaults
-- fill in what they leave out, the checks refuse what no request could name or
-- no plan could mean.
CREATE TABLE IF NOT EXISTS accounts (
    account_id  TEXT PRIMARY KEY
                CHECK (length(CAST(account_id AS BLOB)) BETWEEN 1 AND 128)
                -- control characters: U+0001 to U+001F and U+007F to U+009F
                CHECK (account_id NOT GLOB '*[' || char(1, 45, 31, 127, 45, 159) || ']*'),
    plan        TEXT NOT NULL
                CHECK (length(CAST(plan AS BLOB)) BETWEEN 1 AND 128)
                CHECK (plan NOT GLOB '*[' || char(1, 45, 31, 127, 45, 159) || ']*'),
    max_streams INT NULL
                CHECK (max_streams BETWEEN 0 AND 64),
    status      TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'active'
                CHECK (status IN ('active', 'paused', 'churned')),
    updated_at  TEXT NOT NULL ON CONFLICT REPLACE DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS accounts_updated_at ON accounts (updated_at);

-- The change log that caches follow: one row a change, in commit order, written
-- by the triggers below so that a change by plain SQL is in it too. A row without
-- account_id says that any account may have changed.
CREATE TABLE plan_changes (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT, -- without gaps: what is missing was trimmed
    account_id TEXT
) STRICT;

-- An import of many rows sets quiet inside its transaction and logs one row for all.
CREATE TABLE plan_changes_quiet (
    quiet INTEGER NOT NULL
) STRICT;
INSERT INTO plan_changes_quiet VALUES (0);

-- +goose StatementBegin
CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts
WHEN (SELECT quiet FROM plan_changes_quiet) = 0
BEGIN
    INSERT INTO plan_changes (account_id) VALUES (NEW.account_id);
    DELETE FROM plan_changes WHERE seq <= last_insert_rowid() - 20000;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts
WHEN (SELECT quiet FROM plan_changes_quiet) = 0
BEGIN
    INSERT INTO plan_changes (account_id) VALUES (OLD.account_id);
    DELETE FROM plan_changes WHERE seq <= last_insert_rowid() - 20000;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER accounts_updated AFTER UPDATE OF account_id, plan, max_streams, status ON accounts
WHEN (SELECT quiet FROM plan_changes_quiet) = 0
BEGIN
    INSERT INTO plan_changes (account_id) SELECT OLD.account_id WHERE OLD.account_id <> NEW.account_id;
    INSERT INTO plan_changes (account_id) VALUES (NEW.account_id);
    DELETE FROM plan_changes WHERE seq <= last_insert_rowid() - 20000;
END;
-- +goose StatementEnd

-- An UPDATE by hand rarely thinks of updated_at.
-- +goose StatementBegin
CREATE TRIGGER accounts_touched AFTER UPDATE OF account_id, plan, max_streams, status ON accounts
WHEN NEW.updated_at = OLD.updated_at
BEGIN
    UPDATE accounts SET updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE account_id = NEW.account_id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER accounts_touched;
DROP TRIGGER accounts_updated;
DROP TRIGGER accounts_deleted;
DROP TRIGGER accounts_inserted;
DROP TABLE plan_changes_quiet;
DROP TABLE plan_changes;
DROP TABLE accounts;
