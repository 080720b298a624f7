"""The command `zodiac`: what people type, and what they are told.

main.py             the program: its commands, the status it ends with, its messages
change_commands.py  run, add-rules, drop-rules, insert, delete, stream
read_commands.py    query, show, graph, verify, export
options.py          arguments and options that several commands have
databases.py        the database of a command, opened to be read or changed
stream.py           the work of `zodiac stream`, and its tally
exporting.py        export, on its own or after `zodiac run`
output.py           tables, JSON and CSV
progress.py         the bar on a terminal
endings.py          refusals and interruptions
"""
