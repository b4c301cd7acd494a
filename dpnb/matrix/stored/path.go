package stored

// Path is where the file was when it was opened.
func (r *Rows) Path() string { return r.file.Name() }
