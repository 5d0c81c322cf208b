"""Configurations of training runs, one YAML file each."""
