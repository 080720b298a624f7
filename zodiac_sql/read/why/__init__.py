"""Why a fact holds, and why another does not.

proof.py is what people get; find_proof.py walks down from a fact to explicit facts, by the rule
instances of asked.py and the paths of paths.py; check_proof.py looks at each step once more.
why_not.py tells what each rule lacks, why_changed.py why a fact moved. show_*.py draw and print.
"""
