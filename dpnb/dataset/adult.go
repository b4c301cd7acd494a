// Package dataset knows the public data sets that the notebooks use: where they come from, their checksums, and what is
// publicly known of their columns.
package dataset

import "github.com/dpnb/notebooks/dpnb/frame"

// adultHeader names the columns of the Adult census data, whose files have no header line. Source: adult.names of the
// UCI repository.
var adultHeader = []string{
	"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
	"relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
}

// AdultSchema returns what is publicly known of the Adult data: the categories that adult.names lists, and round bounds
// that common sense gives (ages in years, hours of a week, dollars). A value beyond its bounds counts as the bound: a
// capital gain above 20,000 dollars says nothing more about an income above 50,000. None of the bounds was computed
// from the records.
func AdultSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 17, 90),
		frame.CategoricalField("workclass", "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov",
			"State-gov", "Without-pay", "Never-worked").OrMissing(),
		frame.LogField("fnlwgt", 1e4, 1.5e6),
		frame.CategoricalField("education", "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm",
			"Assoc-voc", "9th", "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool"),
		frame.NumericField("education-num", 1, 16),
		frame.CategoricalField("marital-status", "Married-civ-spouse", "Divorced", "Never-married", "Separated",
			"Widowed",
			"Married-spouse-absent", "Married-AF-spouse"),
		frame.CategoricalField("occupation", "Tech-support", "Craft-repair", "Other-service", "Sales",
			"Exec-managerial",
			"Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing",
			"Transport-moving", "Priv-house-serv", "Protective-serv", "Armed-Forces").OrMissing(),
		frame.CategoricalField("relationship", "Wife", "Own-child", "Husband", "Not-in-family", "Other-relative",
			"Unmarried"),
		frame.CategoricalField("race", "White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
		frame.CategoricalField("sex", "Female", "Male"),
		frame.NumericField("capital-gain", 0, 20_000),
		frame.NumericField("capital-loss", 0, 5000),
		frame.NumericField("hours-per-week", 0, 99),
		frame.CategoricalField("native-country", "United-States", "Cambodia", "England", "Puerto-Rico", "Canada",
			"Germany",
			"Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras",
			"Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France",
			"Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua",
			"Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong",
			"Holand-Netherlands").OrMissing(),
		frame.CategoricalField("income", "<=50K", ">50K"),
	}}
}

// AdultCSV returns how the files of the Adult data are to be read: no header, "?" for missing, a comment line at the
// top of the test part, whose labels end in a full stop.
func AdultCSV() *frame.CSVSettings {
	return &frame.CSVSettings{Header: adultHeader, Comment: '|', TrimSuffix: "."}
}
