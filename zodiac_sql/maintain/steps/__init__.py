"""The steps that strategies are made of."""
