"""What editors ask of texts of rules, and the language server that answers them."""
