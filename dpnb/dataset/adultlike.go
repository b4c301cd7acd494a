package dataset

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// The invented people: how many to learn from and to test on, the seeds of the two parts, and the SHA-256 of each when
// it is written by writeAdultLike, header included. The rows of a smaller part are the first ones of the larger.
const (
	AdultLikeTrainRows   = 30_000
	AdultLikeTestRows    = 10_000
	adultLikeTrainSeed   = 1994
	adultLikeTestSeed    = 1995
	AdultLikeTrainSHA256 = "918fb1cccb386977e05191295f0a311c2d8915e982d03e2bb21de1c124bde495"
	adultLikeTestSHA256  = "62ce139d2df3e1741a92e372d0bd887272a2e352e9fa53ea64c050178ea216c3"
)

// clarity multiplies the log-odds of an income above 50,000: with it a good rule is right for about six of seven
// people, and about one of four earns more.
const clarity = 1.5

// share is a category with its share of the invented population, in percent.
type share struct {
	name    string
	percent float64
	// odds is what the category adds to the log-odds of an income above 50,000, before they are multiplied by clarity.
	odds float64
}

// The marginals of the invented population: round numbers, chosen so that it looks like a workforce. They were not
// fitted to any records.
var (
	workclasses = []share{{"Private", 70, 0}, {"Self-emp-not-inc", 8, -0.4}, {"Self-emp-inc", 4, 0.3},
		{"Local-gov", 7, -0.1},
		{"State-gov", 4, -0.2}, {"Federal-gov", 3, 0.4}, {"?", 4, -0.5}}
	educations = []share{{"HS-grad", 32, -0.7}, {"Some-college", 23, -0.4}, {"Bachelors", 17, 0.8}, {"Masters", 6, 1.2},
		{"Assoc-voc", 4, 0},
		{"Assoc-acdm", 4, 0.1}, {"11th", 4, -1.4}, {"10th", 4, -1.5}, {"7th-8th", 3, -1.8}, {"Prof-school", 2, 1.8},
		{"Doctorate", 1, 1.9}}
	maritals = []share{{"Married-civ-spouse", 46, 1.4}, {"Never-married", 33, -1.3}, {"Divorced", 14, -0.8},
		{"Separated", 3, -1},
		{"Widowed", 3, -0.9}, {"Married-spouse-absent", 1, -1}}
	occupations = []share{{"Prof-specialty", 13, 0.6}, {"Craft-repair", 13, 0.1}, {"Exec-managerial", 13, 0.9},
		{"Adm-clerical", 12, 0},
		{"Sales", 11, 0.3}, {"Other-service", 10, -0.9}, {"Machine-op-inspct", 6, -0.4}, {"Transport-moving", 5, -0.2},
		{"Handlers-cleaners", 4, -0.8}, {"Farming-fishing", 3, -1}, {"Tech-support", 3, 0.6},
		{"Protective-serv", 2, 0.5}, {"?", 5, -0.5}}
	races = []share{{"White", 85, 0.1}, {"Black", 10, -0.2}, {"Asian-Pac-Islander", 3, 0},
		{"Amer-Indian-Eskimo", 1, -0.3}, {"Other", 1, -0.3}}
	sexes     = []share{{"Male", 66, 0.15}, {"Female", 34, -0.3}}
	countries = []share{{"United-States", 90, 0}, {"Mexico", 3, -0.4}, {"Philippines", 2, 0}, {"Germany", 1, 0.1},
		{"Canada", 1, 0.2}, {"India", 1, 0.2}, {"?", 2, 0}}
	// educationYears is the schema's education-num of each education.
	educationYears = map[string]int{"7th-8th": 4, "10th": 6, "11th": 7, "HS-grad": 9, "Some-college": 10,
		"Assoc-voc":  11,
		"Assoc-acdm": 12, "Bachelors": 13, "Masters": 14, "Prof-school": 15, "Doctorate": 16}
)

// inventor draws uniform and normal numbers. It is a generator of its own, and not package noise, because the people
// must stay the same, to the last digit of the published checksum, whatever becomes of the noise.
type inventor struct{ rand.PCG }

// uniform returns a number in [0, 1), a multiple of 2⁻⁵³.
func (r *inventor) uniform() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// normal returns a standard normal number, by Box and Muller.
func (r *inventor) normal() float64 {
	radius := math.Sqrt(-2 * math.Log(1-r.uniform()))
	return radius * math.Cos(2*math.Pi*r.uniform())
}

// writeAdultLike writes rows invented people in the columns of the Adult data, with a header. Columns are drawn one by
// one from the stated marginals; income follows a logistic model of them. The same seed gives the same file.
func writeAdultLike(w io.Writer, rows int, seed uint64) error {
	rng := &inventor{}
	rng.Seed(seed, 0)
	out := csv.NewWriter(w)
	if err := out.Write(adultHeader); err != nil {
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
func inventPerson(rng *inventor) []string {
	odds := -2.45
	pick := func(shares []share) string {
		u := 100 * rng.uniform()
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
		return int(math.Round(math.Min(hi, math.Max(lo, mean+deviation*rng.normal()))))
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
	case age < 27 && rng.uniform() < 0.6:
		relationship = "Own-child"
	case rng.uniform() < 0.3:
		relationship = "Unmarried"
	}
	hours := between(1, 99, 40, 12)
	odds += 0.03 * float64(hours-40)
	gain, lost := 0, 0
	switch u := rng.uniform(); {
	case u < 0.08: // log-normal around 5,000 dollars
		gain = min(99_999, int(5000*math.Exp(0.9*rng.normal())))
		odds += float64(min(gain, 20_000)) / 5000
	case u < 0.13:
		lost = between(200, 4000, 1850, 400)
		odds += 0.6
	}
	income := "<=50K"
	if rng.uniform() < 1/(1+math.Exp(-clarity*odds)) {
		income = ">50K"
	}
	weight := between(1e4, 1.5e6, 190_000, 100_000)
	return []string{strconv.Itoa(age), work, strconv.Itoa(weight), education, strconv.Itoa(educationYears[education]),
		marital, occupation,
		relationship, race, sex, strconv.Itoa(gain), strconv.Itoa(lost), strconv.Itoa(hours), country, income}
}
