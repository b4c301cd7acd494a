package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/dataset/download"
)

func newDataCommand() *cobra.Command {
	var base, dir string
	names := slices.Sorted(maps.Keys(dataset.Sets))
	cmd := &cobra.Command{
		Use:   "data " + strings.Join(names, "|"),
		Short: "Fetch a public data set into data/",
		Long: `Fetch the files of a public data set into data/ and verify their checksums. A broken
download is taken up where it stopped.`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return fmt.Errorf("name one data set: %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				var err error
				if dir, err = dataset.Dir(); err != nil {
					return err
				}
			}
			for _, f := range dataset.Sets[args[0]] {
				show, end := transfer(f.Name)
				err := download.Fetch(cmd.Context(), f, dir, download.Settings{BaseURL: base, Progress: show})
				end(err == nil)
				if err != nil {
					return err
				}
				fmt.Println(filepath.Join(dir, f.Name))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "url", "", "fetch from this `address` of a folder instead of the original one")
	cmd.Flags().StringVar(&dir, "dir", "", "write to this `folder` (default data/)")
	return cmd
}

// transfer shows a download: a bar on a terminal, else a line every few seconds.
func transfer(name string) (show func(done, total int64), end func(ok bool)) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		last := time.Now()
		show = func(done, total int64) {
			if time.Since(last) > 2*time.Second {
				last = time.Now()
				fmt.Fprintf(os.Stderr, "%s: %.1f MB\n", name, float64(done)/1e6)
			}
		}
		return show, func(bool) {}
	}
	return moving(name, mpb.New(mpb.WithOutput(os.Stderr), mpb.WithWidth(30)))
}

// moving shows a download as one of bars.
func moving(name string, bars *mpb.Progress) (show func(done, total int64), end func(ok bool)) {
	var bar *mpb.Bar
	show = func(done, total int64) {
		if bar == nil {
			// One that begins with a total ends when that is reached, and else never.
			bar = bars.AddBar(0, mpb.PrependDecorators(decor.Name(name+" ")),
				mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
		}
		bar.SetTotal(total, false)
		bar.SetCurrent(done)
	}
	return show, func(ok bool) {
		if bar != nil {
			if ok {
				bar.SetTotal(-1, true)
			} else {
				bar.Abort(false)
			}
		}
		bars.Wait()
	}
}
