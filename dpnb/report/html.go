package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"regexp"
	"slices"
)

//go:embed report.css
var reportCSS []byte

//go:embed index.css
var indexCSS []byte

// remoteLoader is what the template adds for widgets, which these notebooks do
// not have: a script from another host, which would make a report depend on it.
var remoteLoader = regexp.MustCompile(`(?i)<script[^>]*\bsrc="[^"]*require(?:\.min)?\.js"[^>]*></script>`)

// dress puts the project's style and a line about the report over the page that
// nbconvert made.
func dress(page []byte, r Record) []byte {
	page = remoteLoader.ReplaceAll(page, nil)
	style := fmt.Appendf(nil, "<style>\n%s</style>\n</head>", reportCSS)
	page = bytes.Replace(page, []byte("</head>"), style, 1)
	head := fmt.Sprintf(
		`<nav class="dpnb"><a href="index.html">All reports</a><span class="%s">%s in %.1f s</span></nav>`,
		r.Verdict(), r.Verdict(), r.Seconds)
	if r.Failure != nil {
		head += fmt.Sprintf(`<pre class="dpnb-failure">%s</pre>`, html.EscapeString(r.Failure.Error()))
	}
	body := bodyTag.FindIndex(page)
	if body == nil {
		return page
	}
	return slices.Concat(page[:body[1]], []byte(head), page[body[1]:])
}

var bodyTag = regexp.MustCompile(`<body[^>]*>`)
