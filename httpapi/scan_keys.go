package httpapi

import "slices"

// keySet tells whether a key was seen before. A few keys are compared one by
// one; many, which only an odd client sends, go into a map, so that a body full
// of keys costs no quadratic time.
type keySet struct {
	few  [8]string
	n    int
	many map[string]struct{}
}

func (k *keySet) reset() {
	clear(k.few[:k.n])
	k.n, k.many = 0, nil
}

// add reports whether key is new, and keeps a view of it.
func (k *keySet) add(key string) bool {
	if slices.Contains(k.few[:k.n], key) {
		return false
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return true
	}
	if k.many == nil {
		k.many = make(map[string]struct{})
	}
	if _, seen := k.many[key]; seen {
		return false
	}
	k.many[key] = struct{}{}
	return true
}
