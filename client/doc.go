// Package client calls a headcount server: [Client] its public API, [Admin] the
// administration of any account.
//
// Every call takes a context and may block for as long as that allows. Every
// error is a [*headcount.Error] with the code, the message and the facts that the
// server sent; a server that cannot be reached, or something else that answers in
// its place, is one with [headcount.CodeUnavailable]. Nothing is ever tried twice.
package client
