package httpapi

const gridStreamPath = "/api/v1/pages/viewer-count:stream"

func streamPath(page string) string { return countPath(page) + "/stream" }
