package redis

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/headcount-live/headcount"
)

var (
	//go:embed script/prelude.lua
	prelude string
	//go:embed script/acquire.lua
	acquireLua string
	//go:embed script/renew.lua
	renewLua string
	//go:embed script/end.lua
	endLua string
	//go:embed script/list.lua
	listLua string
	//go:embed script/watch.lua
	watchLua string
)

// script is one operation: called by its hash, and sent whole to a server that
// does not know it (a new primary, or one whose scripts were flushed).
type script struct {
	text, sha string
}

// newScript puts the prelude where the operation asks for it.
func newScript(body string) script {
	text := strings.Replace(body, "--#prelude\n", prelude, 1)
	sum := sha1.Sum([]byte(text))
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

func (s script) run(ctx context.Context, c rueidis.Client, key string, args ...string) rueidis.RedisResult {
	res := c.Do(ctx, s.byHash(c, key, args))
	if unknownScript(res) {
		res = c.Do(ctx, s.whole(c, key, args))
	}
	return res
}

// runAll runs the script once per key, pipelined per shard.
func (s script) runAll(ctx context.Context, c rueidis.Client, keys []string, args [][]string) []rueidis.RedisResult {
	cmds := make(rueidis.Commands, len(keys))
	for i := range keys {
		cmds[i] = s.byHash(c, keys[i], args[i])
	}
	results := c.DoMulti(ctx, cmds...)
	var again []int
	var whole rueidis.Commands
	for i, res := range results {
		if unknownScript(res) {
			again = append(again, i)
			whole = append(whole, s.whole(c, keys[i], args[i]))
		}
	}
	if len(again) > 0 {
		for k, res := range c.DoMulti(ctx, whole...) {
			results[again[k]] = res
		}
	}
	return results
}

func (s script) byHash(c rueidis.Client, key string, args []string) rueidis.Completed {
	return c.B().Evalsha().Sha1(s.sha).Numkeys(1).Key(key).Arg(args...).Build()
}

func (s script) whole(c rueidis.Client, key string, args []string) rueidis.Completed {
	return c.B().Eval().Script(s.text).Numkeys(1).Key(key).Arg(args...).Build()
}

func unknownScript(res rueidis.RedisResult) bool {
	err, ok := rueidis.IsRedisErr(res.Error())
	return ok && err.IsNoScript()
}

// accountKey is the key of an account. The hash is text without braces, so an
// account id of any script is one hash tag and one slot.
func accountKey(a headcount.AccountHash) string {
	b := make([]byte, 0, 32)
	b = append(b, "hc1:{"...)
	b = base64.RawURLEncoding.AppendEncode(b, a[:])
	return string(append(b, '}'))
}

func millis(n int64) string { return strconv.FormatInt(n, 10) }
