"""The command `zodiac`: its commands, options, messages and output.

main.py             the program: its commands, its exit status, its messages
change_commands.py  run, add-rules, drop-rules, insert, delete, stream
planning.py         what `zodiac run --plan` does
explain_command.py  explain
profile_command.py  profile
read_commands.py    query, sparql, show, graph, verify, export, backup
options.py          arguments and options that several commands have
limiting.py         the options for limits
databases.py        the database of a command, opened to be read or changed
stream.py           the work of `zodiac stream`, and its tally
exporting.py        export, as a command or after `zodiac run`
output.py           tables, JSON and CSV
progress.py         the bar on a terminal
no_pandas.py        keeps pandas from being imported
endings.py          refusals and interruptions
"""
