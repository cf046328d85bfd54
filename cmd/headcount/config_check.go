package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// Check reports the first setting that cannot be, or contradicts another, as an
// error that names it and says what to do.
func (s *Settings) Check() error {
	for _, check := range []func() error{s.Listeners.check, s.Storage.check, s.Streams.check, s.Pages.check, s.Secrets.check} {
		if err := check(); err != nil {
			return &usageError{err}
		}
	}
	return nil
}

func (l *Listeners) check() error {
	for flag, address := range map[string]string{"--listen": l.Listen, "--admin-listen": l.AdminListen} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("%s %q is no address; write HOST:PORT or :PORT", flag, address)
		}
	}
	if !onLoopback(l.AdminListen) && l.AdminToken == "" {
		return fmt.Errorf("--admin-listen %s can be reached from other machines: give an --admin-token (make one with: openssl rand -hex 32), or listen on 127.0.0.1", l.AdminListen)
	}
	if l.Auth != "none" {
		return fmt.Errorf("--auth %q does not exist in this version; use none, behind a gateway that authenticates", l.Auth)
	}
	if l.MaxReaders < 1 {
		return fmt.Errorf("--max-readers %d must be at least 1", l.MaxReaders)
	}
	if l.MaxReadersPerAddress < 0 {
		return fmt.Errorf("--max-readers-per-address %d must not be negative; 0 is no limit", l.MaxReadersPerAddress)
	}
	for _, origin := range l.CORSOrigins {
		if err := checkOrigin("--cors-origins", origin); err != nil {
			return err
		}
	}
	return nil
}

// onLoopback reports whether only this machine can reach the address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func checkOrigin(flag, origin string) error {
	if origin == "*" {
		return nil
	}
	scheme, host, ok := strings.Cut(origin, "://")
	if !ok || scheme == "" || host == "" || strings.ContainsAny(host, "/?#* ") {
		return fmt.Errorf("%s: %q is no origin; write scheme, host and port as a browser sends them, such as https://shop.example", flag, origin)
	}
	return nil
}

func (s *Storage) check() error {
	if s.DataDir == "" {
		return fmt.Errorf("--data-dir must not be empty")
	}
	if kind, path, ok := strings.Cut(s.Plans, ":"); !ok || kind != "sqlite" || path == "" {
		return fmt.Errorf("--plans %q is not supported by this version; write sqlite:PATH", s.Plans)
	}
	return nil
}

func (s *Streams) check() error {
	if err := checkInterval("--lease-ttl", s.LeaseTTL, "--heartbeat-interval", s.HeartbeatInterval); err != nil {
		return err
	}
	if s.LeaseTTL < time.Second || s.LeaseTTL > 24*time.Hour {
		return fmt.Errorf("--lease-ttl %v is out of range; choose 1s to 24h", s.LeaseTTL)
	}
	if s.DenyStatus < 400 || s.DenyStatus > 499 {
		return fmt.Errorf("--deny-status %d is no client error; choose 400 to 499, such as 409 or 403", s.DenyStatus)
	}
	for name, n := range s.Catalogue {
		if err := headcount.CheckID("plan", name, headcount.MaxIDLen); err != nil {
			return fmt.Errorf("--catalogue: %w", err)
		}
		if n < 0 || n > headcount.MaxStreamsLimit {
			return fmt.Errorf("--catalogue: %s=%d is out of range; a plan allows 0 to %d streams", name, n, headcount.MaxStreamsLimit)
		}
	}
	if _, ok := s.Catalogue[s.DefaultPlan]; !ok {
		return fmt.Errorf("--default-plan %q is not in the --catalogue; add it there, or name a plan that is", s.DefaultPlan)
	}
	if s.PlanTimeout <= 0 {
		return fmt.Errorf("--plan-timeout %v must be above zero", s.PlanTimeout)
	}
	return nil
}

func (p *Pages) check() error {
	if err := checkInterval("--presence-window", p.PresenceWindow, "--presence-heartbeat-interval", p.PresenceHeartbeatInterval); err != nil {
		return err
	}
	if err := checkInterval("--presence-window", p.PresenceWindow, "--presence-report-interval", p.PresenceReportInterval); err != nil {
		return err
	}
	if p.PresenceWindow > 24*time.Hour {
		return fmt.Errorf("--presence-window %v is out of range; choose at most 24h", p.PresenceWindow)
	}
	if p.CountStaleAfter < 2*p.PresenceReportInterval {
		return fmt.Errorf("--count-stale-after %v is below twice --presence-report-interval %v, so counts would be withheld between two reports; raise the first or lower the second", p.CountStaleAfter, p.PresenceReportInterval)
	}
	if p.CountMaxAge < time.Second {
		return fmt.Errorf("--count-max-age %v is below one second, the least that a Cache-Control header can say", p.CountMaxAge)
	}
	for _, origin := range p.PresenceOrigins {
		if err := checkOrigin("--presence-origins", origin); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{
		{"--exact-threshold", p.ExactThreshold, 1},
		{"--partitions", p.Partitions, 1},
		{"--max-pages", p.MaxPages, 1},
		{"--max-sessions", p.MaxSessions, 1},
		{"--new-sessions-per-address", p.NewSessionsPerAddress, 0},
	} {
		if n.value < n.least {
			return fmt.Errorf("%s %d must be at least %d", n.flag, n.value, n.least)
		}
	}
	if p.Partitions > crowd.MaxPartitions {
		return fmt.Errorf("--partitions %d must be at most %d", p.Partitions, crowd.MaxPartitions)
	}
	return nil
}

// checkInterval demands that what lives for total hears at least two beats in it,
// because one lost beat must not end anything.
func checkInterval(totalFlag string, total time.Duration, intervalFlag string, interval time.Duration) error {
	if interval < time.Millisecond {
		return fmt.Errorf("%s %v must be at least 1ms", intervalFlag, interval)
	}
	if total < 2*interval {
		return fmt.Errorf("%s %v is below twice %s %v, so one lost beat would end it; raise the first or lower the second", totalFlag, total, intervalFlag, interval)
	}
	return nil
}

func (s *Secrets) check() error {
	for i, secret := range s.Secret {
		if len(secret) < headcount.MinSecretLen {
			return fmt.Errorf("--secret: number %d of the list is %d bytes long; at least %d are needed (make one with: openssl rand -hex 32)", i+1, len(secret), headcount.MinSecretLen)
		}
	}
	return nil
}
