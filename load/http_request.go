package load

import (
	"net/url"
	"strconv"
	"strings"
)

// requests builds the bytes of requests from parts made once. Ids have a fixed
// width and are derived from numbers, so that nothing is stored per viewer and
// Content-Length never changes.
type requests struct {
	seed  uint64
	pages int
	heads [kinds]string // up to the id in the path
	tails [kinds]string // from there to the body
}

const (
	accountDigits = 10
	deviceDigits  = 32
	pageDigits    = 19
	firstAccount  = 1_000_000_000
	maxAccounts   = 100_000_000 // of one seed, so that account ids keep their width
	seedAccounts  = 90          // ranges of that many accounts that seeds can name
)

func newRequests(target *url.URL, seed uint64, pages int) *requests {
	r := &requests{seed: seed, pages: pages}
	base := strings.TrimRight(target.EscapedPath(), "/")
	r.heads = [kinds]string{
		Play:  "POST " + base + "/v1/streams",
		Renew: "PUT " + base + "/v1/streams/",
		Stop:  "DELETE " + base + "/v1/streams/",
		List:  "GET " + base + "/v1/accounts/",
		Beat:  "POST " + base + "/api/v1/presence/heartbeat",
		Leave: "POST " + base + "/api/v1/presence/leave",
		Count: "GET " + base + "/api/v1/pages/",
	}
	plain := " HTTP/1.1\r\nHost: " + target.Host + "\r\n"
	json := func(body []byte) string {
		return plain + "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	}
	r.tails = [kinds]string{
		Play:  json(r.playBody(nil, 0)),
		Renew: "/heartbeat" + json(r.accountBody(nil, 0)),
		Stop:  json(r.accountBody(nil, 0)),
		List:  "/streams" + plain + "\r\n",
		Beat:  json(r.pageBody(nil, 0)),
		Leave: json(r.pageBody(nil, 0)),
		Count: "/viewer-count" + plain + "\r\n",
	}
	return r
}

// stream appends a request about a slot. streamID is that of its live lease, if
// the kind has one.
func (r *requests) stream(b []byte, k Kind, slot uint32, streamID []byte) []byte {
	b = append(b, r.heads[k]...)
	switch k {
	case Play:
		return r.playBody(append(b, r.tails[k]...), slot)
	case List:
		return append(r.account(b, slot), r.tails[k]...)
	default:
		b = append(b, streamID...)
		return r.accountBody(append(b, r.tails[k]...), slot)
	}
}

// page appends a request about a session on the page it looks at.
func (r *requests) page(b []byte, k Kind, session uint32) []byte {
	b = append(b, r.heads[k]...)
	if k == Count {
		return append(r.pageID(b, session), r.tails[k]...)
	}
	return r.pageBody(append(b, r.tails[k]...), session)
}

func (r *requests) playBody(b []byte, slot uint32) []byte {
	b = append(b, `{"account_id":"`...)
	b = r.account(b, slot)
	b = append(b, `","device_id":"`...)
	b = r.device(b, slot)
	return append(b, `","device_meta":{"name":"Living room 2"},"profile_id":"adult-01","title_id":"tt0944947-s1"}`...)
}

func (r *requests) accountBody(b []byte, slot uint32) []byte {
	return append(r.account(append(b, `{"account_id":"`...), slot), `"}`...)
}

func (r *requests) pageBody(b []byte, session uint32) []byte {
	b = r.pageID(append(b, `{"page_id":"`...), session)
	b = r.device(append(b, `","session_id":"`...), session)
	return append(b, `"}`...)
}

func (r *requests) account(b []byte, slot uint32) []byte {
	first := firstAccount + r.seed%seedAccounts*maxAccounts
	return appendDigits(b, first+uint64(slot/slotsPerAccount), accountDigits)
}

// device appends the id of a slot's device, or a session's id.
func (r *requests) device(b []byte, n uint32) []byte {
	return appendHex(b, uint64(n)^r.seed<<32, deviceDigits)
}

// pageID appends the page of a session.
func (r *requests) pageID(b []byte, session uint32) []byte {
	return appendDigits(append(b, "page-"...), ShopPage(session, r.pages), pageDigits)
}

// ShopPage returns the number of the page, from 0 to pages-1, that a session
// looks at. Two sessions in five look at one of the first thousandth of the
// pages, the rest at any, as in a shop.
func ShopPage(session uint32, pages int) uint64 {
	draw := mix64(uint64(session))
	of := uint64(pages)
	if draw%5 < 2 {
		of = max(1, of/1000)
	}
	return draw >> 8 % of
}

func appendDigits(b []byte, n uint64, width int) []byte {
	var text [20]byte
	for i := width - 1; i >= 0; i-- {
		text[i] = '0' + byte(n%10)
		n /= 10
	}
	return append(b, text[:width]...)
}

// appendHex appends width hexadecimal digits that n determines.
func appendHex(b []byte, n uint64, width int) []byte {
	const digits = "0123456789abcdef"
	for i := range width {
		if i%16 == 0 {
			n = mix64(n)
		}
		b = append(b, digits[n>>(i%16*4)&15])
	}
	return b
}

// mix64 is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014): neighbours
// in, nothing alike out.
func mix64(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
