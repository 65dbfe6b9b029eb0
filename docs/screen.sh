#!/bin/sh
# Draws docs/screen.svg from the real program: it runs in tmux with the offline model, and what the
# terminal shows is turned into a picture. Needs tmux; freeze is run from its module.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'tmux -L parley-picture kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/parley" .
mkdir "$work/shop" && cd "$work/shop"
printf 'module shop\n\ngo 1.26\n' >go.mod
printf 'package shop\n\n// Total adds the prices up.\nfunc Total(prices []int) (sum int) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n' >shop.go
tmux -L parley-picture new-session -d -x 120 -y 34 \
  "HOME=$work/home COLORTERM=truecolor TERM=xterm-256color PARLEY_KEYRING=off $work/parley --theme dark"
say() { tmux -L parley-picture send-keys "$@"; }
until tmux -L parley-picture capture-pane -p | grep -q 'Ctrl+T'; do sleep 0.2; done
say 'list the files here and ask the tester to run `go vet ./...`' Enter
until tmux -L parley-picture capture-pane -p | grep -q 'authorize'; do sleep 0.2; done
sleep 1 # a question takes keys only after half a quiet second
say y
until tmux -L parley-picture capture-pane -p | grep -q 'tester says'; do sleep 0.2; done
say 'read shop.go and write "a shop" to README.md' Enter
until tmux -L parley-picture capture-pane -p | grep -q 'once'; do sleep 0.2; done
sleep 1
tmux -L parley-picture capture-pane -p -e >"$work/screen.ansi"
cd "$OLDPWD"
go run github.com/charmbracelet/freeze@v0.2.2 --language ansi --padding 12 --margin 0 --window=false \
  --background '#16181d' --font.size 13 -o docs/screen.svg "$work/screen.ansi"
