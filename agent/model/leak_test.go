package model_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a request leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
