package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// redisCall returns the Redis commands of an operation. A read of a sorted set
// is two commands: what is older than the window goes, then it counts.
func redisCall(o options, v *viewers) call {
	const window = 30 * time.Second
	n := o.sessions
	switch o.op {
	case "pfadd":
		return call{func(b []byte, session int) []byte {
			return command(b, "PFADD", "h:", v.pages[session%n], v.names[session%n])
		}, readInteger}
	case "pfcount":
		return call{func(b []byte, session int) []byte {
			return command(b, "PFCOUNT", "h:", v.pages[session%n])
		}, readInteger}
	case "zadd":
		return call{func(b []byte, session int) []byte {
			return command(b, "ZADD", "z:", v.pages[session%n], millis(0), v.names[session%n])
		}, readInteger}
	default:
		return call{func(b []byte, session int) []byte {
			b = command(b, "ZREMRANGEBYSCORE", "z:", v.pages[session%n], "-inf", millis(-window))
			return command(b, "ZCARD", "z:", v.pages[session%n])
		}, func(in *bufio.Reader) error { return errors.Join(readInteger(in), readInteger(in)) }}
	}
}

// command appends a command about the key of a page in RESP, the protocol of
// Redis.
func command(b []byte, name, prefix, page string, args ...string) []byte {
	b = append(strconv.AppendInt(append(b, '*'), int64(2+len(args)), 10), "\r\n"...)
	b = word(b, name, "")
	b = word(b, prefix, page)
	for _, arg := range args {
		b = word(b, arg, "")
	}
	return b
}

// word appends one word, which is given in two parts.
func word(b []byte, first, second string) []byte {
	b = append(b, '$')
	b = strconv.AppendInt(b, int64(len(first)+len(second)), 10)
	b = append(b, "\r\n"...)
	b = append(b, first...)
	b = append(b, second...)
	return append(b, "\r\n"...)
}

func readInteger(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) == 0 || line[0] != ':' {
		return fmt.Errorf("the answer is %q, not an integer", line)
	}
	return nil
}

func millis(offset time.Duration) string {
	return strconv.FormatInt(time.Now().Add(offset).UnixMilli(), 10)
}
