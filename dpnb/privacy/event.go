package privacy

// Event describes, immutably, one run of something private; how often it was run is the accountant's business and never
// the event's.
type Event interface {
	// Profile returns the privacy profile of one run under adj, or an error that wraps ErrUnsupported where there is
	// none.
	Profile(adj Adjacency) (Profile, error)
	// String describes the event and its parameters in a line.
	String() string
}
