package main

import (
	"os"

	"github.com/alecthomas/kong"
)

// fromFile lets the configuration file set the flags of serve that neither the command line nor the environment sets.
func fromFile(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	keys := map[string]func(*config) string{
		"grpc-addr": func(c *config) string { return c.GrpcAddr },
		"http-addr": func(c *config) string { return c.HTTPAddr },
		"data":      func(c *config) string { return c.Data },
	}
	value := keys[flag.Name]
	path := configPath(ctx)
	if value == nil || path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil // serve says so
	}
	c, err := parseConfig(path, data)
	if err != nil || value(c) == "" {
		return nil, nil // serve names the faults
	}
	return value(c), nil
}

// configPath is the file that --config or its environment variable names.
func configPath(ctx *kong.Context) string {
	for _, f := range ctx.Flags() {
		if f.Name == "config" {
			if s, ok := ctx.FlagValue(f).(string); ok && s != "" {
				return s
			}
		}
	}
	return os.Getenv("CALLERD_CONFIG")
}
