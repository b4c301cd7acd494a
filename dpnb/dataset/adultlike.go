package dataset

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// The sample that comes with the project: its file, size and seed.
const (
	AdultLikeFile = "adult-like.csv"
	AdultLikeRows = 2000
	AdultLikeSeed = 1994
)

// share is a category with its share of the invented population, in percent.
type share struct {
	name    string
	percent float64
	// odds is what the category adds to the log-odds of an income above 50,000.
	odds float64
}

// The marginals of the invented population: round numbers, chosen so that it
// looks like a workforce. They were not fitted to any records.
var (
	workclasses = []share{{"Private", 70, 0}, {"Self-emp-not-inc", 8, -0.4}, {"Self-emp-inc", 4, 0.3}, {"Local-gov", 7, -0.1},
		{"State-gov", 4, -0.2}, {"Federal-gov", 3, 0.4}, {"?", 4, -0.5}}
	educations = []share{{"HS-grad", 32, -0.7}, {"Some-college", 23, -0.4}, {"Bachelors", 17, 0.8}, {"Masters", 6, 1.2}, {"Assoc-voc", 4, 0},
		{"Assoc-acdm", 4, 0.1}, {"11th", 4, -1.4}, {"10th", 4, -1.5}, {"7th-8th", 3, -1.8}, {"Prof-school", 2, 1.8}, {"Doctorate", 1, 1.9}}
	maritals = []share{{"Married-civ-spouse", 46, 1.4}, {"Never-married", 33, -1.3}, {"Divorced", 14, -0.8}, {"Separated", 3, -1},
		{"Widowed", 3, -0.9}, {"Married-spouse-absent", 1, -1}}
	occupations = []share{{"Prof-specialty", 13, 0.6}, {"Craft-repair", 13, 0.1}, {"Exec-managerial", 13, 0.9}, {"Adm-clerical", 12, 0},
		{"Sales", 11, 0.3}, {"Other-service", 10, -0.9}, {"Machine-op-inspct", 6, -0.4}, {"Transport-moving", 5, -0.2},
		{"Handlers-cleaners", 4, -0.8}, {"Farming-fishing", 3, -1}, {"Tech-support", 3, 0.6}, {"Protective-serv", 2, 0.5}, {"?", 5, -0.5}}
	races     = []share{{"White", 85, 0.1}, {"Black", 10, -0.2}, {"Asian-Pac-Islander", 3, 0}, {"Amer-Indian-Eskimo", 1, -0.3}, {"Other", 1, -0.3}}
	sexes     = []share{{"Male", 66, 0.15}, {"Female", 34, -0.3}}
	countries = []share{{"United-States", 90, 0}, {"Mexico", 3, -0.4}, {"Philippines", 2, 0}, {"Germany", 1, 0.1}, {"Canada", 1, 0.2}, {"India", 1, 0.2}, {"?", 2, 0}}
	// educationYears is the schema's education-num of each education.
	educationYears = map[string]int{"7th-8th": 4, "10th": 6, "11th": 7, "HS-grad": 9, "Some-college": 10, "Assoc-voc": 11,
		"Assoc-acdm": 12, "Bachelors": 13, "Masters": 14, "Prof-school": 15, "Doctorate": 16}
)

// WriteAdultLike writes rows invented people in the columns of the Adult data,
// with a header. Columns are drawn one by one from the stated marginals; income
// follows a logistic model of them. The same seed gives the same file.
func WriteAdultLike(w io.Writer, rows int, seed uint64) error {
	rng := noise.NewSeeded(seed)
	out := csv.NewWriter(w)
	if err := out.Write(AdultHeader); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	for range rows {
		if err := out.Write(inventPerson(rng)); err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// inventPerson draws one record.
func inventPerson(rng *noise.Seeded) []string {
	odds := -1.6
	pick := func(shares []share) string {
		u := 100 * rng.Float64()
		for _, s := range shares {
			if u -= s.percent; u < 0 {
				odds += s.odds
				return s.name
			}
		}
		odds += shares[0].odds
		return shares[0].name
	}
	between := func(lo, hi, mean, deviation float64) int {
		return int(math.Round(math.Min(hi, math.Max(lo, mean+deviation*rng.NormFloat64()))))
	}
	age := between(17, 90, 39, 13)
	odds += 1.2 * (1 - math.Pow(float64(age-50)/33, 2))
	work, education, marital := pick(workclasses), pick(educations), pick(maritals)
	occupation := pick(occupations)
	if work == "?" {
		occupation = "?"
	}
	race, sex, country := pick(races), pick(sexes), pick(countries)
	relationship := "Not-in-family"
	switch {
	case marital == "Married-civ-spouse" && sex == "Male":
		relationship = "Husband"
	case marital == "Married-civ-spouse":
		relationship = "Wife"
	case age < 27 && rng.Float64() < 0.6:
		relationship = "Own-child"
	case rng.Float64() < 0.3:
		relationship = "Unmarried"
	}
	hours := between(1, 99, 40, 12)
	odds += 0.03 * float64(hours-40)
	gain, lost := 0, 0
	switch u := rng.Float64(); {
	case u < 0.08: // log-normal around 5,000 dollars
		gain = min(99_999, int(5000*math.Exp(0.9*rng.NormFloat64())))
		odds += float64(min(gain, 20_000)) / 5000
	case u < 0.13:
		lost = between(200, 4000, 1850, 400)
		odds += 0.6
	}
	income := "<=50K"
	if rng.Float64() < 1/(1+math.Exp(-odds)) {
		income = ">50K"
	}
	weight := between(1e4, 1.5e6, 190_000, 100_000)
	return []string{strconv.Itoa(age), work, strconv.Itoa(weight), education, strconv.Itoa(educationYears[education]), marital, occupation,
		relationship, race, sex, strconv.Itoa(gain), strconv.Itoa(lost), strconv.Itoa(hours), country, income}
}
