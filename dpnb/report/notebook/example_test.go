package notebook_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Parameters are the variables of the cell that is tagged so.
func ExampleNotebook_Inject() {
	nb, err := notebook.Parse([]byte(`{"nbformat": 4, "metadata": {}, "cells": [
		{"cell_type": "code", "source": "var epsilon = 1.0", "metadata": {"tags": ["parameters"]}}]}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(nb.Inject(map[string]string{"epsilon": "half"}))
	fmt.Println(nb.Inject(map[string]string{"epsilon": "0.5"}))
	fmt.Println(nb.Cells[1].Source())
	// Output:
	// parameter epsilon: "half" is no value of type float64
	// <nil>
	// // Parameters
	// var epsilon float64 = 0.5
}
