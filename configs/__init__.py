"""Configurations: one YAML file per thing a person would run."""
