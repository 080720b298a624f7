"""The one door to DuckDB: connection, transactions, migrations, names of symbols, errors."""
