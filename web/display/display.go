// Package display is the hall's page, embedded in the binary.
package display

import "net/http"

// Handler serves the page.
func Handler() http.Handler { return http.NotFoundHandler() }
