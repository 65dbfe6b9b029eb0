package mcp_test

func alive(int) bool { return true }
