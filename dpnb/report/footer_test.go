package report

import (
	"context"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// What is read and drawn is in the footer although no notebook says a word of it: the log is written where data are
// made and seeded sources are opened.
func TestFooterTellsOfDataAndSeeds(t *testing.T) {
	for _, c := range []struct {
		name      string
		run       func() error
		has, lack []string
	}{
		{"nothing", func() error { return nil },
			[]string{"nothing was drawn from a seed", "none was read or drawn"}, nil},
		{"Adult, without its files", func() error { _, _, err := dataset.Adult(); return err },
			[]string{"adult-like.train: 30000 invented rows, drawn in memory, sha256 " + dataset.AdultLikeTrainSHA256,
				"adult-like.test: 10000"}, []string{"none was read"}},
		{"patients", func() error { _, err := dataset.Patients(10, 77); return err },
			[]string{"10 invented patients, seed 77: 10 invented rows", "77"},
			[]string{"none was read", "nothing was drawn"}},
		{"clusters", func() error {
			_, err := dataset.Clusters{Records: 10, Features: 3, Informative: 2, Separation: 2, Seed: 78}.Generate()
			return err
		}, []string{"Gaussian clusters of 3 features, seed 78: 10 invented rows", "78"},
			[]string{"none was read", "nothing was drawn"}},
		{"a simulation", func() error {
			_, err := population.Simulation{Population: population.Population{
				Records: 10, Features: 2, Design: population.Gaussian,
				Signal: population.OnSphere(1), Prob: population.Logistic},
				Estimator: population.ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 1}, Repetitions: 2,
				Seed: 79}.Run(context.Background())
			return err
		}, []string{"79", "none was read; the records of the simulations were drawn from the seeds"},
			[]string{"nothing was drawn"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(runlog.DirEnv, dir)
			t.Setenv(dataset.DirEnv, "")
			t.Chdir(t.TempDir())
			must.Do(c.run())
			log := must.Get(runlog.Read(dir))
			text := strings.Join(append(seedText(log), dataText(log)...), "\n")
			mustContain(t, "the footer", text, c.has...)
			for _, part := range c.lack {
				if strings.Contains(text, part) {
					t.Errorf("the footer says %q:\n%s", part, text)
				}
			}
		})
	}
}
