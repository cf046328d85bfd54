package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// leastVersion is the first Redis with everything the scripts use: SPUBLISH, and
// writes after TIME.
const leastVersion = 7

// Connect connects to the store that a URL names and checks that it will do:
//
//	redis://[user:password@]host:port[/db]      one server, or one node of a Cluster
//	redis://host:port,host:port,...             nodes of a Cluster
//	redis://host:port,...?master_set=NAME       a Sentinel group
//
// rediss:// speaks TLS. It blocks until the server has answered, or ctx or ten
// seconds are over. Close the client to disconnect.
func Connect(ctx context.Context, rawURL string) (rueidis.Client, error) {
	option, err := clientOption(rawURL)
	if err != nil {
		return nil, err
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, fmt.Errorf("redis: cannot connect to %s: %w", redacted(rawURL), err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := checkVersion(ctx, client); err != nil {
		client.Close()
		return nil, fmt.Errorf("redis: %s: %w", redacted(rawURL), err)
	}
	return client, nil
}

// clientOption reads the URL. Nothing is retried by the client: an operation that
// may have run is not this package's to repeat.
func clientOption(rawURL string) (rueidis.ClientOption, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return rueidis.ClientOption{}, errors.New("redis: the URL must read redis://host:port or rediss://host:port")
	}
	o := rueidis.ClientOption{
		DisableRetry:      true,
		DisableCache:      true, // nothing is read twice
		ForceSingleClient: false,
		ClientName:        "headcount",
		Dialer:            net.Dialer{Timeout: time.Second, KeepAlive: 15 * time.Second},
		ConnWriteTimeout:  2 * time.Second,
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		if !strings.Contains(host, ":") {
			host += ":6379"
		}
		o.InitAddress = append(o.InitAddress, host)
	}
	if u.Scheme == "rediss" {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
		if len(o.InitAddress) > 1 {
			o.TLSConfig.ServerName = "" // each node is verified by the name it is dialled by
		}
	}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	if db := strings.Trim(u.Path, "/"); db != "" {
		if o.SelectDB, err = strconv.Atoi(db); err != nil {
			return o, fmt.Errorf("redis: %q is no number of a database", db)
		}
	}
	for key, values := range u.Query() {
		switch key {
		case "master_set":
			o.Sentinel.MasterSet = values[0]
			o.Sentinel.Username, o.Sentinel.Password = o.Username, o.Password
		default:
			return o, fmt.Errorf("redis: the URL has an unknown parameter %q; master_set names a Sentinel group", key)
		}
	}
	return o, nil
}

func checkVersion(ctx context.Context, c rueidis.Client) error {
	info, err := c.Do(ctx, c.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return err
	}
	for line := range strings.Lines(info) {
		// Valkey keeps this field at the version of Redis that it is compatible with.
		if version, found := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); found {
			major, _, _ := strings.Cut(version, ".")
			if n, err := strconv.Atoi(major); err != nil || n < leastVersion {
				return fmt.Errorf("the server is version %s; Redis %d or Valkey 8 is needed", version, leastVersion)
			}
			return nil
		}
	}
	return errors.New("the server does not tell its version")
}

// redacted is the URL without its password.
func redacted(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "the store"
	}
	return u.Redacted()
}
