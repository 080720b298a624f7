"""One change of facts and rules, from the verbs to the file."""
