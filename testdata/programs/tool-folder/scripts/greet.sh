echo "Hello, $NAME"
