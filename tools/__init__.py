"""Scripts for maintainers, run from the root of the repository; not part of the package."""
