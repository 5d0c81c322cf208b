"""Overhead and capacity of training on a Ray cluster."""
