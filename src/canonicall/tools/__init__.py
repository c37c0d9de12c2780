"""Tools that can be run: what a model is offered, and what is done when it calls."""
