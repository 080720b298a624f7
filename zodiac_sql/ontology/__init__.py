"""OWL 2 RL and RDFS ontologies as rules: the axioms in RDF files become a set of rules."""
