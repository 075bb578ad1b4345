"""Ops that run eagerly: seen, watched, recorded, stopped at, and divided into runs."""
