// Package httpapi is the HTTP skin of headcount: it turns requests into calls of
// package gate and answers into bytes.
//
// A request takes one way. The mux finds its route in the table of routes.go by
// the literal segments of its path, reads the body up to the route's limit, and
// hands both to the route's function as an exchange. Route functions know
// nothing of net/http: they are functions from bytes to a status and bytes, so
// another front can call them. The scanner decodes bodies without reflection and
// without copying; what it hands on is valid until the exchange ends. Errors
// become answers in one place, errors.go.
package httpapi
