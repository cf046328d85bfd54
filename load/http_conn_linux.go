package load

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// connection is one kept-alive connection with at most one request under way.
type connection struct {
	fd    int // -1 while it is broken
	index int
	in    []byte // the answer so far, in[:got]
	got   int
	out   []byte // the request

	busy bool
	kind Kind
	slot uint32        // or session
	due  time.Duration // when the request should have been sent
	at   time.Duration // when it was
}

// errClosed is the end of a connection by the server.
var errClosed = errors.New("the server closed the connection")

// receive reads what has arrived and returns the answer once it is complete. The
// answer's body is valid until the next call. An incomplete answer is read on
// until nothing is left, as the poller tells each arrival once, and the end of
// the connection may have arrived with the last bytes.
func (c *connection) receive() (a answer, complete bool, err error) {
	for {
		if c.got == len(c.in) {
			if c.got > 2*maxBody {
				return a, false, errNotHTTP // headers or chunks without end
			}
			c.in = append(c.in, make([]byte, max(4096, len(c.in)))...)
		}
		n, errno := readSocket(c.fd, c.in[c.got:])
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			return a, false, nil
		case errno != 0, n == 0:
			return a, false, errClosed
		}
		c.got += n
		a, used, err := parseAnswer(c.in[:c.got])
		switch {
		case err != nil:
			return a, false, err
		case used == 0:
			continue
		case used != c.got:
			return a, false, errNotHTTP // more than was asked for
		}
		c.got = 0
		return a, true, nil
	}
}

// send writes the request in out. The socket's buffer is empty whenever that
// happens, as the last request has been answered, so it takes all at once.
func (c *connection) send() error {
	n, errno := writeSocket(c.fd, c.out)
	if errno != 0 || n < len(c.out) {
		return errClosed
	}
	return nil
}

// open connects anew.
func (c *connection) open(address string) (err error) {
	c.got = 0
	c.fd, err = dial(address)
	if err != nil {
		c.fd = -1
	}
	return err
}

func (c *connection) close() {
	if c.fd >= 0 {
		_ = unix.Close(c.fd) // which also takes it out of the poller
		c.fd = -1
	}
}
