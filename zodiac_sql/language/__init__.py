"""What a text of rules says, and whether it says something: nothing here knows a database."""
