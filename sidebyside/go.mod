module github.com/dpnb/notebooks/sidebyside

go 1.26.0

require (
	github.com/dpnb/notebooks v0.0.0
	github.com/google/differential-privacy/go/v3 v3.0.0
)

require (
	github.com/go-gota/gota v0.12.0 // indirect
	github.com/golang/glog v1.2.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/dpnb/notebooks => ..
