//go:build race

package mcp_test

const raced = true
