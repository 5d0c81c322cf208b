"""Handlers of requests, one module for each part of the JSON API; each has a class that lists its routes."""
