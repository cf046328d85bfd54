package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/headcount-live/headcount"
)

// loadSecrets returns the signing secrets: those of the settings, else the one
// kept in the data directory, which is made at the first start.
func loadSecrets(s Secrets, dir *dataDir, rand io.Reader) ([][]byte, error) {
	if len(s.Secret) > 0 {
		secrets := make([][]byte, len(s.Secret))
		for i, secret := range s.Secret {
			secrets[i] = []byte(secret)
		}
		return secrets, nil
	}
	secret, err := keptSecret(dir.file("secret"), rand)
	if err != nil {
		return nil, err
	}
	return [][]byte{secret}, nil
}

// keptSecret reads the secret in path, or makes one there.
func keptSecret(path string, rand io.Reader) ([]byte, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeSecret(path, rand)
	case err != nil:
		return nil, fmt.Errorf("cannot read the signing secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < headcount.MinSecretLen {
		return nil, fmt.Errorf("the signing secret in %s is %d bytes long, at least %d are needed; restore it, or remove the file to have a new one made (players then start their streams again)", path, len(secret), headcount.MinSecretLen)
	}
	return []byte(secret), nil
}

// makeSecret writes a new secret to path. The file appears whole or not at all,
// so a crash never leaves a short secret behind.
func makeSecret(path string, rand io.Reader) ([]byte, error) {
	raw := make([]byte, headcount.MinSecretLen)
	if _, err := io.ReadFull(rand, raw); err != nil {
		return nil, fmt.Errorf("cannot make a signing secret: %w", err)
	}
	secret := hex.AppendEncode(nil, raw)
	if err := writeWhole(path, append(secret, '\n')); err != nil {
		return nil, fmt.Errorf("cannot keep the signing secret: %w", err)
	}
	return secret, nil
}

// writeWhole writes a file that only this user may read, and syncs it before it
// takes its name.
func writeWhole(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// hashKey returns the key of the hashes: the one given, else one derived from
// the last secret, which is the one that stays when a new secret is put first.
func hashKey(given string, secrets [][]byte) []byte {
	if given != "" {
		return []byte(given)
	}
	m := hmac.New(sha256.New, secrets[len(secrets)-1])
	m.Write([]byte("headcount hash key"))
	return m.Sum(nil)
}
