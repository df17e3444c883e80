package main

import (
	"errors"
	"fmt"
	"os"
)

// configCmd is about the configuration file, without a daemon.
type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Check a file: every fault with its line and its remedy."`
	Print configPrintCmd `cmd:"" help:"Print what holds, and where each value comes from."`
}

// configCheckCmd names every fault of a file.
type configCheckCmd struct {
	File   string `arg:"" optional:"" help:"The file. Default: --config."`
	Config string `help:"The file."`
}

// Run checks. Faults found are errFaults, so that the exit code is 1.
func (c *configCheckCmd) Run(s *streams) error {
	path := c.Config
	if c.File != "" {
		path = c.File
	}
	if path == "" {
		return fmt.Errorf("%w: config check: name a file, or set --config", errUsage)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	conf, err := parseConfig(path, data)
	if err != nil {
		text, _ := errors.AsType[*fileError](err)
		fmt.Fprintln(s.out, text)
		return errFaults
	}
	fmt.Fprintf(s.out, "%s: good; %d categories, %d counters, %d resources\n", path, len(conf.Categories), len(conf.Counters), len(conf.Resources))
	return nil
}
