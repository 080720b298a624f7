"""One change of facts and rules, from the verbs to the file.

update.py             the verbs of an update
streamed_update.py    an update as a stream gives it
collected.py          what the verbs have said so far: the four files that follow
baseline.py           what an update begins with
request.py            the facts and rules that are to come and go
schema_edits.py       the predicates and prefixes, as the verbs have settled them so far
update_report.py      what there is to tell of an update
load_files.py         files whose facts enter, at once or when all rules are known
settings.py           the settings of `connect` for how changes are computed
apply.py              an update is carried out, previewed, or planned
check.py              the program after it, checked
prepared.py           the checked program, for all changes until rules or columns change
execution.py          an update that is to be carried out
registry.py           the ways to do that, of which the cheapest runs: one file each in operators/
kinds.py              what makes changes alike, for look-ups
write_moved.py        what look-ups have moved is written
copies_follow.py      copies for look-ups show what another way has changed
staged.py             what an update does to explicit facts
net_facts.py          which explicit facts enter and leave
not_explicit.py       facts to be deleted that are not explicit
begin.py              the extensions before any hypernode is looked at
workspace.py          what the change is computed with, and what came of the hypernodes
changed_extensions.py the extensions while the change is computed
materialise.py        what the change does to every hypernode
fresh.py              which hypernodes have to be evaluated from scratch
choose_rewrites.py    the modules and trees at work in a hypernode
make_task.py          a hypernode's task for its strategy
marks.py              what one update of a stream hands to the next
plan_sizes.py         what a change is expected to derive, before it is evaluated
difference.py         what the change did to each extension
state_after.py        the state of the program after the change
temporary_tables.py   which temporary tables go, and when
report.py             makes the answer to the user: a Change
change.py             the class Change
changed_facts.py      the facts of a change, which can be asked for until the next change
stats.py              what the change cost
rule_stats.py         what each rule took
times.py              the sum over all changes
"""
