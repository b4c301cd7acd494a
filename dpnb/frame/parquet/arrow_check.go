package parquet

import (
	"encoding/binary"
	"os"
)

// arrowFooter is what is at the end of an Arrow file, a flatbuffer. The library makes room for as many fields as it
// says there are, which no program survives if the number is damaged; so numbers are checked before. What is out of
// bounds panics, which table.use makes an error.
type arrowFooter []byte

// checkArrow refuses a file whose footer counts more fields, or bytes of metadata, than it has room for.
func checkArrow(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	const end = 10 // a length and the magic
	var tail [end]byte
	if _, err := f.ReadAt(tail[:], info.Size()-end); err != nil || string(tail[4:]) != "ARROW1" {
		return nil // the library says so better
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > info.Size()-end {
		return inputErrorf("the footer is longer than the file: it is damaged or cut short")
	}
	b := make(arrowFooter, length)
	if _, err := f.ReadAt(b, info.Size()-end-length); err != nil {
		return err
	}
	footer := b.follow(0)
	if at, ok := b.slot(footer, 1); ok {
		schema := b.follow(at)
		b.vector(schema, 2)
		left := len(b) / 4 // a field takes more
		b.checkFields(schema, 1, &left)
	}
	b.vector(footer, 4)
	return nil
}

// checkFields looks at the fields in a slot of a table, and at those within them: no more than are left.
func (b arrowFooter) checkFields(table, slot int, left *int) {
	for _, field := range b.vector(table, slot) {
		if *left--; *left < 0 {
			panic("fields within fields without end")
		}
		b.vector(field, 6)
		b.checkFields(field, 5, left)
	}
}

// follow returns where an offset leads.
func (b arrowFooter) follow(at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }

// slot returns where a table has the value of a slot, if it has one.
func (b arrowFooter) slot(table, slot int) (at int, ok bool) {
	layout := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
	if 4+2*slot >= int(binary.LittleEndian.Uint16(b[layout:])) {
		return 0, false
	}
	offset := int(binary.LittleEndian.Uint16(b[layout+4+2*slot:]))
	return table + offset, offset != 0
}

// vector returns where the tables of a vector are.
func (b arrowFooter) vector(table, slot int) (tables []int) {
	at, ok := b.slot(table, slot)
	if !ok {
		return nil
	}
	at = b.follow(at)
	n := int(binary.LittleEndian.Uint32(b[at:]))
	if n > (len(b)-at)/4 {
		panic("a list in the footer is longer than the footer")
	}
	for i := range n {
		tables = append(tables, b.follow(at+4+4*i))
	}
	return tables
}
