// Package browser has tests only: they drive Jupyter in a real browser, as a person would. It is a module of its own,
// so that who imports dpnb does not get the requirements of a browser's driver.
package browser
