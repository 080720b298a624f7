"""The ways to carry an update out (change/registry.py).

directly.py       facts that no rule has to do with are written
look_ups.py       few facts are followed in copies (lookups/)
beside_rules.py   those of them that no rule reads
hypernodes.py     the hypernodes that the update reaches are maintained in temporary tables
copied_first.py   rounds without end are begun anew, by look-ups
"""
