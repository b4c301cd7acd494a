package frame

// NewRecords is newRecords for the tests.
var NewRecords = newRecords
