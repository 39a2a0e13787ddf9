"""Releases: version, manifest, lock, difference, gate and regeneration; and the Hub.

A release is bytes that passed their checks, with everything needed to make the same bytes again.
"""
