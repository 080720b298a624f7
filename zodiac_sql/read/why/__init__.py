"""Why a fact holds, and why another does not.

proof.py is what people get; find_proof.py walks down from a fact to explicit facts, by the rule
instances of instances.py and the paths of paths.py; check_proof.py looks at each step once more.
why_not.py tells what each rule lacks. show_*.py draw and print.
"""
