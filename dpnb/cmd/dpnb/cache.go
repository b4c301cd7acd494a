package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

func newCacheCommand() *cobra.Command {
	var where frame.Storage
	var checkpoints string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List the encoded records of large tables that are kept on this machine",
		Long: `List the files of encoded records that fits of scanned tables have left, so that the next fit
finds them, each with its table and what was learnt of it: every fit of other columns, options
or another version of the table leaves one more. They hold raw records, which only their user
may read; their sizes tell how many records there are. dpnb cache remove removes them all, with what programs that were
killed have left, and with the sums of passes that fits on a runner made and did not end:
--checkpoints names the folder of these if it was given for the fit.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := frame.ListStored(where)
			if err != nil {
				return err
			}
			it := shown.Item{Title: "Encoded records", Header: []string{"table", "to predict", "MB", "features",
				"last written", "file"}}
			for _, f := range files {
				features := fmt.Sprint(f.Features)
				switch {
				case f.Sums:
					features = "sums of a fit on a runner that is not done: the same fit goes on with them"
				case f.Part:
					features = "being written, or left by a program that was killed"
				case f.Features == 0:
					features = "not whole, or of an earlier version: it will be written anew"
				}
				name := filepath.Base(f.Path)
				if r := []rune(name); len(r) > 12 {
					name = string(r[:12]) + "…"
				}
				it.Row(cmp.Or(f.Table, "not known"), cmp.Or(f.Target, "–"), fmt.Sprintf("%.1f", float64(f.Bytes)/1e6),
					features, f.Changed.Format(time.DateTime), name)
			}
			if len(files) == 0 {
				it.Note("There are none.")
			} else {
				cure := "dpnb cache remove"
				if where.Dir != "" {
					cure += " --store " + where.Dir
				}
				it.Note("They are in %s and hold raw records: %s", filepath.Dir(files[0].Path), cure)
			}
			if n := len(sumsIn(checkpoints)); n > 0 {
				it.Note("%d sums of passes are in %s, as raw: dpnb cache remove --checkpoints %[2]s", n, checkpoints)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), it.Text())
			return err
		},
	}
	cmd.PersistentFlags().StringVar(&where.Dir, "store", "", "`folder` (default the user's folder for caches)")
	cmd.PersistentFlags().StringVar(&checkpoints, "checkpoints", "", "`folder` of the sums of a runner's passes")
	cmd.AddCommand(&cobra.Command{
		Use:   "remove",
		Short: "Remove them",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			err := frame.RemoveStored(where)
			if checkpoints != "" {
				err = errors.Join(err, removeSums(checkpoints))
			}
			return err
		},
	})
	return cmd
}
