package httpapi

import (
	"github.com/headcount-live/headcount"
)

// account returns the account that v names: a string, or an integer of plain
// digits that means its decimal string.
func (v *value) account() (string, *headcount.Error) {
	const field = "account_id"
	switch v.kind {
	case kindString:
		return v.id(field, headcount.MaxIDLen)
	case kindNumber:
		if !plainInteger(v.raw) {
			return "", headcount.FieldError(headcount.CodeInvalidField, field,
				"%s must be a string or an integer from 0 to 9223372036854775807", field)
		}
		return v.raw, nil
	}
	return "", v.absentOr(field, "a string or an integer")
}

// plainInteger reports whether a JSON number is written in digits alone and fits
// 63 bits.
func plainInteger(number string) bool {
	const largest = "9223372036854775807"
	for i := range len(number) {
		if !digit(number[i]) {
			return false
		}
	}
	return len(number) < len(largest) || len(number) == len(largest) && number <= largest
}

// id returns the required id that v holds, of at most limit bytes.
func (v *value) id(field string, limit int) (string, *headcount.Error) {
	if v.kind != kindString {
		return "", v.absentOr(field, "a string")
	}
	if err := headcount.CheckID(field, v.text, limit); err != nil {
		return "", asError(err)
	}
	return v.text, nil
}

// optionalID returns the id that v holds, "" where none was given.
func (v *value) optionalID(field string) (string, *headcount.Error) {
	if v.kind == kindAbsent || v.kind == kindNull {
		return "", nil
	}
	return v.id(field, headcount.MaxIDLen)
}

// str returns the string that v holds, whatever it says, "" where none was given.
func (v *value) str(field string) (string, *headcount.Error) {
	switch v.kind {
	case kindString:
		return v.text, nil
	case kindAbsent, kindNull:
		return "", nil
	}
	return "", v.absentOr(field, "a string")
}

// meta returns the JSON text of a string or an object, "" where none was given.
func (v *value) meta(field string) (string, *headcount.Error) {
	switch v.kind {
	case kindAbsent, kindNull:
		return "", nil
	case kindString, kindObject:
		if n := len(v.raw); n > headcount.MaxDeviceMetaLen {
			return "", headcount.FieldError(headcount.CodeInvalidField, field,
				"%s is %d bytes of JSON; at most %d are allowed", field, n, headcount.MaxDeviceMetaLen)
		}
		return v.raw, nil
	}
	return "", v.absentOr(field, "a string or an object")
}

// absentOr returns the error of a required field that is not there, or is not
// what it should be.
func (v *value) absentOr(field, expected string) *headcount.Error {
	switch v.kind {
	case kindAbsent, kindNull:
		return headcount.FieldError(headcount.CodeMissingField, field, "%s is required; give %s", field, expected)
	case kindTwice:
		return headcount.FieldError(headcount.CodeInvalidField, field, "%s is given twice", field)
	}
	return headcount.FieldError(headcount.CodeInvalidField, field, "%s must be %s", field, expected)
}
