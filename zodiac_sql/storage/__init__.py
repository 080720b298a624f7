"""How a program and its tables are kept in the file, and published."""
