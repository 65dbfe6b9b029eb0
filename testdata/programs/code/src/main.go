package main

func old() {}
