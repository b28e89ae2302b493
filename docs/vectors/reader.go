// Run the vectors of a vocabulary: go run reader.go VECTORS.json. Put your tokenizer in here.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// encode gives the ids of bytes, and whether it takes them. (Here: a token is a byte.)
func encode(data []byte, mode string) (ids []uint32, taken bool) {
	for _, one := range data {
		ids = append(ids, uint32(one))
	}
	return ids, true
}

// decode gives the bytes of ids, and whether there are such ids.
func decode(ids []uint32) (data []byte, known bool) {
	for _, id := range ids {
		if id > 255 {
			return nil, false
		}
		data = append(data, byte(id))
	}
	return data, true
}

func main() {
	var file struct {
		Vectors []struct {
			Input, Mode, Why string
			Ids              []uint32
			Flags            []string
		}
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil || json.Unmarshal(text, &file) != nil {
		panic("no file of vectors")
	}
	failed := 0
	for number, one := range file.Vectors {
		has := func(name string) bool { return slices.Contains(one.Flags, name) }
		data, _ := hex.DecodeString(one.Input)
		ids, taken := encode(data, one.Mode)
		encodes := taken != has("rejected") && (!taken || slices.Equal(ids, one.Ids))
		text, known := decode(one.Ids)
		decodes := known != has("bad-ids") && (!known || bytes.Equal(text, data))
		if (encodes || has("decode-only") || has("bad-ids")) && (decodes || has("rejected") || has("encode-only")) {
			continue
		}
		failed++
		fmt.Printf("FAIL %d %s: %s\n", number, one.Mode, one.Why)
	}
	fmt.Printf("%d of %d passed\n", len(file.Vectors)-failed, len(file.Vectors))
	if failed > 0 {
		os.Exit(1)
	}
}
