func old() {}
